"""Names that cannot be one, and models that are not there: no model is loaded."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexion.embedded import names
from reflexion.embedded.catalog import Catalog, Model
from reflexion.embedded.wire import ApiError
from tests.embedded.test_catalog import write_model

Find = Callable[[Catalog, str], Model]
NOTHING = Catalog(None, None)


@pytest.mark.parametrize(
    ("find", "name", "refusal"),
    [
        (names.of_chat, "a/b/c:d", (404, "model 'a/b/c:d' not found")),
        (names.of_chat, "a/b/c/d", (400, "model is required")),
        (names.of_chat, "-a", (400, "model is required")),
        (names.of_generate, "a b", (404, "model 'a b' not found")),
        (names.of_show, "zz:1:2", (500, "unqualified name: zz:1:2")),
        (names.of_show, "a b", (500, "unqualified name: a b:latest")),
        (names.of_show, "", (400, "model is required")),
        (names.of_embed, "", (500, "unqualified name: !MISSING!:latest")),
        (names.of_embed, "zz", (404, 'model "zz" not found, try pulling it first')),
        (names.of_embeddings, "", (400, "model is required")),
        (names.of_embeddings, "zz", (404, 'model "zz" not found, try pulling it first')),
    ],
)
def test_what_is_not_there_is_refused_in_the_words_of_its_endpoint(
    find: Find, name: str, refusal: tuple[int, str]
) -> None:
    with pytest.raises(ApiError) as caught:
        find(NOTHING, name)
    assert (caught.value.status, str(caught.value)) == refusal


def test_a_file_is_found_also_under_a_name_that_ollama_could_not_have(tmp_path: Path) -> None:
    write_model(tmp_path / "a model (1).gguf")
    assert names.of_chat(Catalog(None, tmp_path), "a model (1)").name == "a model (1):latest"


@pytest.mark.parametrize("find", [names.of_chat, names.of_generate, names.of_show, names.of_embed, names.of_embeddings])
@given(name=st.text(max_size=100))
def test_any_text_is_refused_with_a_status(find: Find, name: str) -> None:
    with pytest.raises(ApiError) as caught:
        find(NOTHING, name)
    assert caught.value.status in {400, 404, 500}
