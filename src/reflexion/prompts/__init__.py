"""Prompts are data: TOML files beside this module, which a user's own folder can replace by role."""

import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from string import Template
from typing import NamedTuple

from reflexion.config import LoadedConfig
from reflexion.errors import ConfigError


class Prompts(NamedTuple):
    """The words of one pipeline: role -> key -> template. ``origin`` says where each came from."""

    words: Mapping[str, Mapping[str, str]]
    origin: Mapping[tuple[str, str], str]

    def fill(self, role: str, key: str, **values: object) -> str:
        """Return the role's text with its placeholders filled in. What is filled in is never read as a template."""
        return Template(self.words[role][key]).substitute({name: str(value) for name, value in values.items()}).strip()


def load_prompts(pipeline: str, folder: Path | None) -> Prompts:
    """Return the built-in words of a pipeline with those of ``folder``/PIPELINE.toml, if any, laid over them.

    Raises ConfigError naming file, role and key: what the built-in file does not have, a placeholder that it does
    not know, or one of its own that is missing.
    """
    built_in = resources.files(__package__).joinpath(f"{pipeline}.toml").read_text(encoding="utf-8")
    words: dict[str, dict[str, str]] = tomllib.loads(built_in)
    origin = {(role, key): "built in" for role, texts in words.items() for key in texts}
    path = folder / f"{pipeline}.toml" if folder is not None else None
    # A folder may replace the words of another pipeline alone.
    if path is not None and (path.exists() or not any(path.parent.glob("*.toml"))):
        for role, key, text in _own_words(path):
            words[role][key] = _checked(path, role, key, text, words)
            origin[role, key] = str(path)
    return Prompts(words, origin)


def _own_words(path: Path) -> list[tuple[str, str, object]]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"prompts: {path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"prompts: {path} is not TOML: {error}") from error
    stray = [role for role, texts in tables.items() if not isinstance(texts, dict)]
    if stray:
        raise ConfigError(f"prompts: {path}: {stray[0]} should be a table such as [GENERATOR]")
    return [(role, key, text) for role, texts in tables.items() for key, text in texts.items()]


def _checked(path: Path, role: str, key: str, text: object, built_in: Mapping[str, Mapping[str, str]]) -> str:
    where = f"prompts: {path}: [{role}] {key}"
    if role not in built_in:
        raise ConfigError(f"{where}: unknown role; valid are {', '.join(built_in)}")
    if key not in built_in[role]:
        raise ConfigError(f"{where}: unknown key; valid are {', '.join(built_in[role])}")
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(f"{where}: should be a text that is not empty")
    template = Template(text)
    if not template.is_valid():
        raise ConfigError(f"{where}: a $ that starts no placeholder; write $$ for a dollar sign")
    wanted, given = set(Template(built_in[role][key]).get_identifiers()), set(template.get_identifiers())
    if given - wanted:
        known = ", ".join(f"${name}" for name in sorted(wanted)) or "none"
        raise ConfigError(f"{where}: unknown placeholder ${min(given - wanted)}; known are {known}")
    if wanted - given:
        raise ConfigError(f"{where}: the placeholder ${min(wanted - given)} is missing")
    return text


def prompts_folder(loaded: LoadedConfig) -> Path | None:
    """Return the user's own prompt folder, relative to the configuration file that names it."""
    if loaded.config.prompts is None:
        return None
    return Path(loaded.origin).parent / loaded.config.prompts


def as_toml(prompts: Prompts) -> str:
    """Return prompts as a TOML file; a comment over each text says where it comes from."""
    lines: list[str] = []
    for role, texts in prompts.words.items():
        lines.append(f"[{role}]")
        for key, text in texts.items():
            escaped = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
            lines += [f"# {prompts.origin[role, key]}", f'{key} = """', escaped, '"""']
        lines.append("")
    return "\n".join(lines)
