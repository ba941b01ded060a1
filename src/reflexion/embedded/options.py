"""The ``options`` of a request: Ollama's names, types and defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from reflexion.embedded.wire import ApiError

INTEGERS = frozenset(
    [
        *["num_ctx", "num_batch", "num_gpu", "main_gpu", "num_thread"],
        *["num_keep", "num_predict", "repeat_last_n", "seed", "top_k"],
    ]
)
FLOATS = frozenset(
    [
        *["temperature", "top_p", "min_p", "typical_p"],
        *["repeat_penalty", "presence_penalty", "frequency_penalty"],
    ]
)
SMALLEST_WINDOW = 4
LARGEST = 2**63


@dataclass(frozen=True)
class Options:
    """How to write one reply. Counts are tokens; ``seed`` -1 means another one each time; ``num_predict`` at most 0
    means no limit of the caller's own; ``repeat_last_n`` at most 0 means that repetition costs nothing.
    """

    num_ctx: int = 4096
    num_keep: int = 4
    num_predict: int = -1
    seed: int = -1
    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.9
    min_p: float = 0.0
    typical_p: float = 1.0
    repeat_last_n: int = 64
    repeat_penalty: float = 1.1
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    stop: tuple[str, ...] = ()

    def window(self, longest: int) -> int:
        """The window to load a model with that was made for ``longest`` tokens."""
        return min(max(self.num_ctx, SMALLEST_WINDOW), longest)

    def sampling(self) -> dict[str, object]:
        """What llama.cpp is told about choosing tokens; it uses the same names."""
        settings: dict[str, object] = {name: getattr(self, name) for name in sorted(FLOATS | {"top_k"})}
        settings["repeat_last_n"] = max(0, self.repeat_last_n)
        settings["stop"] = [text for text in self.stop if text]
        if self.seed != -1:
            settings["seed"] = self.seed & 0xFFFFFFFF
        return settings


def parse_options(raw: Mapping[str, object]) -> Options:
    """The options of a request over the defaults; unknown names and ``null`` are ignored.

    Raises:
        ApiError: 500 for a value of the wrong type, as Ollama answers.
    """
    checked = {name: _checked(name, value) for name, value in raw.items() if value is not None}
    known = {name: value for name, value in checked.items() if name in Options.__dataclass_fields__}
    return replace(Options(), **known)  # type: ignore[arg-type]


def _checked(name: str, value: object) -> int | float | bool | tuple[str, ...] | None:
    if name in INTEGERS:
        return int(_number(name, value, "integer"))
    if name in FLOATS:
        return _number(name, value, "float32")
    if name == "use_mmap" and not isinstance(value, bool):
        raise ApiError(500, f'option "{name}" must be of type boolean')
    return _texts(name, value) if name == "stop" else None


def _number(name: str, value: object, kind: str) -> int | float:
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST:
        return value
    raise ApiError(500, f'option "{name}" must be of type {kind}')


def _texts(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ApiError(500, f'option "{name}" must be of type array')
    if not all(isinstance(item, str) for item in value):
        raise ApiError(500, f'option "{name}" must be of an array of strings')
    return tuple(value)
