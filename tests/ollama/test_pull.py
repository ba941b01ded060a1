"""Records of a pull: whatever a server sends becomes a record or one clear line."""

import json

from hypothesis import given
from hypothesis import strategies as st

from reflexion.errors import ModelMissing, NotOllama
from reflexion.ollama.pull import PullRecord, read_record, refused

numbers = st.integers(-(10**20), 10**20) | st.none() | st.booleans() | st.floats() | st.just("7")


@given(st.binary())
def test_no_line_raises(line: bytes) -> None:
    record = read_record(line.decode("utf-8", "replace"))
    assert record is None or record.status or record.error or record == PullRecord("")


@given(
    st.dictionaries(
        st.sampled_from(["status", "digest", "total", "completed", "error", "more"]),
        numbers | st.sampled_from(["success", "pulling", "", "sha256:1"]),
    )
)
def test_no_object_raises_and_counts_stay_in_range(item: dict[str, object]) -> None:
    record = read_record(json.dumps(item))
    if record is not None:
        assert record.completed >= 0
        assert record.completed <= record.total or record.total == 0
        assert not record.done or (item["status"] == "success" and not record.error)


@given(st.integers(1, 10**15), st.data())
def test_what_a_server_says_is_kept(total: int, data: st.DataObject) -> None:
    completed = data.draw(st.integers(0, total))
    said = {"status": "pulling abc", "digest": "sha256:abc", "total": total, "completed": completed}
    assert read_record(json.dumps(said)) == PullRecord("pulling abc", "sha256:abc", total, completed)


@given(st.binary())
def test_words_of_a_refusal_become_one_line(text: bytes) -> None:
    error = refused("a:1b", text.decode("utf-8", "replace"))
    assert str(error).startswith("a:1b: ")
    assert len(str(error).splitlines()) == 1
    assert not isinstance(error, NotOllama | ModelMissing)
