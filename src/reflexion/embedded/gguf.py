"""The header of a GGUF file: what a model says about itself, read without loading it."""

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

Value = str | int | float | bool | None

SCALAR_FORMATS: Mapping[int, str] = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
STRING, ARRAY = 8, 9
DEFAULT_WINDOW = 4096
MOST_DIMENSIONS = 8
QUANTISATIONS: Mapping[int, str] = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
    12: "Q3_K_M",
    13: "Q3_K_L",
    14: "Q4_K_S",
    15: "Q4_K_M",
    16: "Q5_K_S",
    17: "Q5_K_M",
    18: "Q6_K",
    25: "IQ4_NL",
    30: "IQ4_XS",
    32: "BF16",
}


@dataclass(frozen=True)
class Header:
    """Metadata by key (arrays are ``None``: only the tokenizer has long ones) and the number of weights."""

    metadata: Mapping[str, Value]
    parameters: int

    @property
    def architecture(self) -> str:
        """Name of the model's family, which is also the prefix of its own keys."""
        return str(self.metadata.get("general.architecture", "unknown"))

    @property
    def window(self) -> int:
        """The longest context in tokens that the model was made for; 4096 where the file does not say."""
        return self._own("context_length", DEFAULT_WINDOW)

    @property
    def quantisation(self) -> str:
        """How the weights are stored, such as ``Q4_1``."""
        kind = self.metadata.get("general.file_type")
        return QUANTISATIONS.get(kind, "unknown") if isinstance(kind, int) else "unknown"

    @property
    def embeds(self) -> bool:
        """Whether the model is made for embeddings, and for nothing else."""
        return f"{self.architecture}.pooling_type" in self.metadata

    @property
    def template(self) -> str:
        """The chat template (Jinja), empty for a model that is not made for chats."""
        return str(self.metadata.get("tokenizer.chat_template") or "")

    @property
    def cache_bytes_per_token(self) -> int:
        """Memory in bytes that one token of context takes in the key-value cache, stored in 16 bits."""
        heads = self._own("attention.head_count", 1)
        per_head = self._own("embedding_length", 0) // max(heads, 1)
        widths = self._own("attention.key_length", per_head) + self._own("attention.value_length", per_head)
        return self._own("block_count", 0) * self._own("attention.head_count_kv", heads) * widths * 2

    def _own(self, key: str, default: int) -> int:
        value = self.metadata.get(f"{self.architecture}.{key}")
        return value if isinstance(value, int) and value > 0 else default


class _Reader:
    """A cursor over the bytes of a file."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 0

    def number(self, layout: str) -> int:
        return int(self._scalar(layout))

    def text(self) -> str:
        length = self.number("<Q")
        start, self._at = self._at, self._at + length
        return self._data[start : self._at].decode("utf-8", "replace")

    def value(self, kind: int) -> Value:
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            self._skip_array()
            return None
        return self._scalar(SCALAR_FORMATS[kind])

    def reaches(self, offset: int) -> bool:
        """Whether there are bytes so far behind what was read."""
        return self._at + offset < len(self._data)

    def _scalar(self, layout: str) -> int | float | bool:
        value: int | float | bool = struct.unpack_from(layout, self._data, self._at)[0]
        self._at += struct.calcsize(layout)
        return value

    def _skip_array(self) -> None:
        kind, count = self.number("<I"), self.number("<Q")
        if kind in SCALAR_FORMATS:
            self._at += struct.calcsize(SCALAR_FORMATS[kind]) * count
            return
        for _ in range(count):
            if kind == STRING:
                self._at += 8 + struct.unpack_from("<Q", self._data, self._at)[0]
            else:
                self._skip_array()


def read_header(path: Path) -> Header:
    """Read the header of a GGUF file (version 2 or 3).

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not a GGUF file, or its header is damaged.
    """
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ValueError(f"{path} is not a GGUF file")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _parse(_Reader(data))
            except (struct.error, KeyError, IndexError, OverflowError, RecursionError) as error:
                raise ValueError(f"{path} has a damaged GGUF header") from error


def _parse(reader: _Reader) -> Header:
    reader.number("<I")
    version, tensors, pairs = reader.number("<I"), reader.number("<Q"), reader.number("<Q")
    if version not in {2, 3}:
        raise KeyError(version)
    metadata = {reader.text(): reader.value(reader.number("<I")) for _ in range(pairs)}
    weights = [_tensor(reader) for _ in range(tensors)]
    last = max((offset for _, offset in weights), default=-1)
    if not reader.reaches(last):  # A download that broke off, or that still goes on.
        raise IndexError(last)
    return Header(metadata, sum(count for count, _ in weights))


def _tensor(reader: _Reader) -> tuple[int, int]:
    """How many weights it has, and where they begin, counted from the end of the header."""
    reader.text()
    dimensions = reader.number("<I")
    if dimensions > MOST_DIMENSIONS:  # Else a damaged number is read as dimensions to the end of the file.
        raise IndexError(dimensions)
    size = prod(reader.number("<Q") for _ in range(dimensions))
    reader.number("<I")
    return size, reader.number("<Q")
