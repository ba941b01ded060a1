"""Cleaning replies: what must go, what must stay, and that no text can break it."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.errors import ReplyEmpty, ReplyRejected
from reflexion.text import (
    clean_markdown,
    extract_code,
    fence_for,
    fences,
    json_objects,
    strip_thinking,
)

PAGE = "# Title\n\nAdds two numbers.\n\n```python\n# add(1, 2)\nadd(1, 2)\n```\n\n- one\n- two\n\nIt never rounds.\n"
PREAMBLES = [
    "Sure! Here is the documentation for `add.py`:",
    "Sure, here's the updated Markdown documentation:",
    "Certainly! Below is the complete Markdown document.",
    "Okay, I'll write the documentation now.",
    "Here is the revised version:",
    "Of course!",
    "I have updated the documentation as requested.",
    "Based on the provided source code, here is the documentation:",
    "The following is the Markdown documentation for the module.",
    "**Documentation:**",
    "APPROVED",
]
SIGN_OFFS = [
    "Let me know if you need any changes!",
    "I hope this helps!",
    "Please feel free to ask if anything is unclear.",
    "If you have any questions, let me know.",
    "Would you like me to add more examples?",
    "Note: I have kept the original order of the functions.",
    "I've fixed the default value as requested.",
    "*End of documentation*",
    "This documentation has been revised to include the missing exception.",
]
VERDICTS = [
    "No formatting errors or contradictions were found.",
    "There are no factual errors or inconsistencies.",
    "Technical accuracy: 100/100",
    "**Technical Accuracy:** 98%\n**Completeness:** 95",
    "APPROVED",
    "**Verdict:** APPROVED",
    "Score: 97",
    "Single critical fix: none",
    "The document is accurate and complete.",
    "The documentation is accurate and complete. Score: 98/100.",
    "The document is correct. **Score:** 98",
    '{"technical_accuracy": 100, "completeness": 95, "single_critical_fix": "none"}',
    '{\n  "technical_accuracy": 100,\n  "completeness": 95,\n  "single_critical_fix": "a } b"\n}',
]


@pytest.mark.parametrize("preamble", PREAMBLES)
@pytest.mark.parametrize("gap", ["\n\n", "\n", "\n\n---\n\n"])
def test_an_announcement_goes(preamble: str, gap: str) -> None:
    assert clean_markdown(preamble + gap + PAGE) == PAGE


@pytest.mark.parametrize("ending", SIGN_OFFS + VERDICTS)
@pytest.mark.parametrize("gap", ["\n", "\n\n---\n\n", "\n\n\n"])
def test_a_farewell_or_verdict_goes(ending: str, gap: str) -> None:
    assert clean_markdown(PAGE + gap + ending + "\n") == PAGE


def test_a_farewell_goes_where_a_list_or_table_would_swallow_it() -> None:
    assert clean_markdown("# T\n\n- a\n- b\nLet me know if you need more.\n") == "# T\n\n- a\n- b\n"
    table = "# T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert clean_markdown(table + "Score: 97\n") == table


def test_only_the_chatty_sentences_of_a_paragraph_go() -> None:
    text = "Sure! Here is the documentation. The module adds numbers. I hope this helps!\n"
    assert clean_markdown(text) == "The module adds numbers.\n"


CONTENT = [
    "Works from C# too.\n\n# Title\n\nText.\n",
    "```python\n#!/usr/bin/env python\n# not a heading\nx = 1\n```\n\nText.\n",
    "```sh\n# comment\nls\n```\n",
    "# T\n\nNote: `add` returns `None` for an empty list.\n",
    "# T\n\nNote that the order of the items is kept.\n",
    "# T\n\n## Scores\n\n- Score: 97\n",
    "# T\n\n```python\nprint('Sure! Here is the documentation:')\n# Let me know if it fails.\n```\n",
    "# T\n\n```text\nAPPROVED\n```\n",
    "# T\n\nNo errors are raised for an empty list.\n",
    "# T\n\nReturns `None` if no errors were found.\n",
    "Here is how the cache works in short.\n\n# T\n\nText.\n",
    "Below is an example:\n\n```python\nx = 1\n```\n",
    "# T\n\nFeel free to pass any iterable.\n",
    "# T\n\nIf you have a large file, open it in binary mode.\n",
    "---\ntitle: Module\n---\n\n# T\n\nText.\n",
    "    indented code first\n\nText.\n",
    "# T\n\n| a |\n|---|\n| Let me know |\n",
    "# T\n\n- item\n\n  Let me know is what the button says.\n",
    "# T\n\nText <think> and </think> are the tags.\n",
    "# T\n\nUse `<think>` and `</think>`.\n\n```xml\n<think>\nplan\n</think>\n```\n",
    "```markdown\n# x\n```\n\ntext\n\n```python\ncode\n```\n",
    "```markdown\n# x\n```\n\ntext\n\n```\ncode\n```\n",
    "# Title\n\nText that ends in two spaces  \n",
    "Sure! " + "This long first paragraph describes the module. " * 5 + "\n\n# T\n\nText.\n",
]


@pytest.mark.parametrize("document", CONTENT)
def test_content_stays(document: str) -> None:
    assert clean_markdown(document) == document


def test_an_announcement_before_front_matter_leaves_it_whole() -> None:
    matter = "---\ntitle: Module\n---\n\n# T\n\nText.\n"
    assert clean_markdown("Sure!\n\n" + matter) == matter


WRAPPED = [
    f"```markdown\n{PAGE}```\n",
    f"```md\n{PAGE}\n```",
    f"````markdown\n{PAGE}````\n",
    f"~~~markdown\n{PAGE}~~~\n",
    f"Sure! Here it is:\n\n```markdown\n{PAGE}```\n\nLet me know if you need changes.\n",
    f"In my own words:\n\n```markdown\n{PAGE}```\n",
    f"```markdown\n{PAGE}```\nNo formatting errors or contradictions were found.\n",
    f"```markdown\n<think>\nplan\n</think>\n\n{PAGE}```\n",
    f"````\n```markdown\n{PAGE}```\n````\n".replace("````\n", "````markdown\n", 1),
    f"```\n{PAGE}\n## More\n```\n".replace("\n## More\n", ""),
]


@pytest.mark.parametrize("reply", WRAPPED)
def test_a_page_in_a_fence_is_unwrapped(reply: str) -> None:
    assert clean_markdown(reply) == PAGE


def test_an_inner_bare_fence_of_the_same_length_does_not_hide_the_wrapper() -> None:
    page = "# T\n\nText.\n\n```\ncode\n```\n\nMore.\n"
    assert clean_markdown(f"```markdown\n{page}```\n") == page


def test_a_wrapper_whose_inside_does_not_balance_stays() -> None:
    reply = "````markdown\n# T\n\n```python\nx = 1\n````\n"
    assert clean_markdown(reply) == reply


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("<think>\nplan\n</think>\n\n# T\n", "# T\n"),
        ("<THINKING>plan</THINKING># T\n", "# T\n"),
        ("[THINK]plan[/THINK]\n# T\n", "# T\n"),
        ("The user wants a page.\n</think>\n\n# T\n", "# T\n"),
        ("I will write ```python\n</think>\n\n# T\n\n```py\nx\n```\n", "# T\n\n```py\nx\n```\n"),
        ("<think>maybe ```python\nx\n</think>\n# T\n", "# T\n"),
        ("<think>it strips `</think>` tags</think>\n# T\n", "# T\n"),
        ("<think>only this, never closed", ""),
        ("# T\n\nText.\n\n<think>\nplan\n</think>\n\nMore.\n", "# T\n\nText.\n\nMore.\n"),
        ("# T\n\nText.\n\n<think>\nwas that all", "# T\n\nText.\n"),
        ("# T\n\nText.\n</think>\n", "# T\n\nText.\n\n"),
        ('{"a": 1}', '{"a": 1}'),
        ("<think></think>" * 500 + "x", "x"),
    ],
)
def test_thinking_goes(reply: str, answer: str) -> None:
    assert strip_thinking(reply) == answer


def test_line_ends_byte_order_marks_and_surrogates() -> None:
    assert clean_markdown("\ufeff# T\r\n\r\nA\rB\r\n") == "# T\n\nA\nB\n"
    assert clean_markdown("# T\n\n\ud83d\ude00 \ud800 \0\n") == "# T\n\n\U0001f600 \ufffd \ufffd\n"
    assert clean_markdown("") == clean_markdown(" \n\t\n") == clean_markdown("Sure!\n\nAPPROVED\n") == ""


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("Sure!\n\n```python\nx = 1\n```\nDone.", "x = 1\n"),
        ("```py title='a'\nx = 1\n```", "x = 1\n"),
        ("~~~Python3\nx = 1\n~~~", "x = 1\n"),
        ("```{.python}\nx = 1\n```", "x = 1\n"),
        ("```\nimport x\n```", "import x\n"),
        ("x = 1\nprint(x)\n", "x = 1\nprint(x)\n"),
        ("Here is the code:\n\nimport os\n\nprint(os)\n", "import os\n\nprint(os)\n"),
        ("```bash\npip install x\n```\n\n```python\nx = 1\n```\n\n```\nout = 2\n```", "x = 1\n"),
        ("```python\nx = 1\n```\nagain:\n```python\nx = 1\n\n```", "x = 1\n"),
        ('```python\n"""\n```\nexample\n```\n"""\nx = 1\n```\n\nUse it.', '"""\n```\nexample\n```\n"""\nx = 1\n'),
        (
            "```python\ndef f():\n    '''\n    ```\n    a\n    ```\n    '''\n```",
            "def f():\n    '''\n    ```\n    a\n    ```\n    '''\n",
        ),
        ("````markdown\n# T\n\n```python\nx = 1\n```\n````", "x = 1\n"),
        ("```markdown\n```python\nx = 1\n```\n```", "x = 1\n"),
        ("```python\nx = 1\n``", "x = 1\n"),
        ("```python\nx = 1\n", "x = 1\n"),
        ("1. Like this:\n   ```python\n   if x:\n       y()\n   ```\n", "if x:\n    y()\n"),
        ("<think>```python\nbad\n```</think>\n```python\nx = 1\n```", "x = 1\n"),
        ("\ufeff```python\r\nx = 1\r\n```\r\n", "x = 1\n"),
        (
            "```python\n#!/usr/bin/env python\n# Sure! Here is it.\nx = 1  # Let me know\n```",
            "#!/usr/bin/env python\n# Sure! Here is it.\nx = 1  # Let me know\n",
        ),
        ('TAG = "</think>"\nprint(TAG)\n', 'TAG = "</think>"\nprint(TAG)\n'),
    ],
)
def test_code_is_found(reply: str, code: str) -> None:
    assert extract_code(reply) == code


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("Sorry", "no python code"),
        ("```\nls\n```", "no python code"),
        ("Use `x = 1` for that.", "no python code"),
        ("```python\nx = (\n```", "does not parse (line 1"),
        ("```python\nx = (\n", "ends inside"),
        ("```python\nx = 1\n```\n```py\ny = 1\n```", "2 different python blocks"),
        ("```python\n```", "it is empty"),
        ("```python\nx = '\0'\n```", "does not parse"),
    ],
)
def test_code_that_must_not_be_used_is_refused(reply: str, reason: str) -> None:
    with pytest.raises(ReplyRejected) as caught:
        extract_code(reply)
    assert reason in str(caught.value)
    assert caught.value.text == reply


def test_no_text_at_all_is_an_empty_reply() -> None:
    for reply in ("", " \n", "<think>plan</think>"):
        with pytest.raises(ReplyEmpty):
            extract_code(reply)


def test_other_languages_go_by_their_tag_or_parser() -> None:
    assert extract_code("```cpp\nint x;\n```", "C++") == "int x;\n"
    assert extract_code('Here:\n```\n{"a": 1}\n```', "json") == '{"a": 1}\n'
    with pytest.raises(ReplyRejected, match="ends inside"):
        extract_code("```c++\nint x;\n", "cpp")


def test_fences_have_lines_language_and_content() -> None:
    first, second = fences("a\n\n```Python title=x\n# b\n```\n\n- c\n  ~~~~\n  ```\n")
    assert (first.start_line, first.end_line, first.info, first.language) == (3, 5, "Python title=x", "python")
    assert (first.content, first.closed, first.depth) == ("# b\n", True, 0)
    assert (second.start_line, second.content, second.closed, second.depth) == (8, "```\n", False, 1)


structure = st.lists(
    st.one_of(
        st.sampled_from(["# Title", "## Raises", "### `add(a, b)`"]),
        st.sampled_from(
            ["```python\n# Sure! Here is it.\nx = 1\n```", "~~~\n</think>\nAPPROVED\n~~~", "````md\n```py\n```\n````"]
        ),
        st.sampled_from(
            ["| a | b |\n|---|---|\n| 1 | 2 |", "- one\n- two\n  - three", "1. first\n2. second", "> quoted"]
        ),
        st.sampled_from(["Adds two numbers.", "Note: it rounds.", "Works from C# too.", "Use `<think>` in code."]),
    ),
    min_size=1,
    max_size=8,
).map("\n\n".join)
around = st.lists(st.sampled_from(PREAMBLES), max_size=3)
after = st.lists(st.sampled_from(SIGN_OFFS + VERDICTS), max_size=3)


@settings(max_examples=150, deadline=None)
@given(structure, around, after, st.booleans(), st.booleans())
def test_structure_survives_any_chatter(body: str, before: list[str], ends: list[str], wrap: bool, crlf: bool) -> None:
    page = f"# Page\n\n{body}\n"
    reply = "\n\n".join([*before, fence_for(page, "markdown").rstrip() if wrap else page, *ends])
    assert clean_markdown(reply.replace("\n", "\r\n") if crlf else reply) == page


EMPTIES = [
    "```\n```",
    "```python\n```",
    "~~~\n\n  \n~~~",
    "````\n\n````",
    '"',
    "`",
    "''",
    '"""',
    "\u201c\u201d",
]


messy = st.lists(
    st.sampled_from(
        [*PREAMBLES, *SIGN_OFFS, *VERDICTS, *EMPTIES, "```markdown", "```", "````", "~~~", "<think>", "</think>", "# T"]
    ),
    max_size=12,
).flatmap(lambda parts: st.sampled_from(["\n", "\n\n", " "]).map(lambda gap: gap.join(parts)))


@settings(max_examples=300, deadline=None)
@given(st.one_of(messy, st.text(), st.text(st.sampled_from("`~<>/think|[]{}\"'#-*_ \n\t\r\0\ud800"))))
def test_cleaning_twice_is_cleaning_once_and_nothing_raises(text: str) -> None:
    once = clean_markdown(text)
    assert clean_markdown(once) == once
    once.encode()
    thought = strip_thinking(text)
    assert strip_thinking(thought) == thought
    assert all(isinstance(item, str) for item in json_objects(text))
    with suppress(ReplyRejected):
        extract_code(text)


@pytest.mark.parametrize(
    "page",
    [
        "We need to call `open` first.\n\n## `open`\n\nOpens it.\n",
        "The user wants to sort: this is what the module does.\n\n## `sort`\n\nSorts.\n",
        "This is the documentation for the `sort` module. It sorts lists.\n\n## `sort`\n\nSorts.\n",
        "Output:\n\n```text\n1\n```\n",
        "# A\n\nThe page is complete. A score: 3 of them.\n",
        "# A\n\nThe page is complete. Score: 3 points are taken off.\n",
    ],
)
def test_sentences_that_could_be_about_the_code_stay(page: str) -> None:
    assert clean_markdown(page) == page


@pytest.mark.parametrize(
    "chatter",
    [
        "We need to write documentation for this module.",
        "The user wants a Markdown page.",
        "This is the updated document:",
    ],
)
def test_sentences_about_the_task_go(chatter: str) -> None:
    page = "# sort\n\nSorts lists.\n"
    assert clean_markdown(f"{chatter}\n\n{page}") == page
