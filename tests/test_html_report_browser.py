"""The report of a run in a real Chromium: looks, keyboard, contrast, and that nothing in it runs or loads."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflexion.html_report import render_report
from tests.browser import Chromium, Tab, find_chromium, running_chromium
from tests.report_records import HOSTILE, hostile_record, make_record


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with running_chromium(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages on disk: of 3 files, of 1,000, of texts that try to run, and of such texts that were not escaped."""
    folder = tmp_path_factory.mktemp("reports")
    unescaped = "".join(HOSTILE[:5])
    pages = {"3": render_report(make_record(3)), "1000": render_report(make_record(1_000))}
    pages["hostile"] = render_report(hostile_record())
    pages["unescaped"] = pages["3"].replace("<main>", f"<main>{unescaped}")
    for name, page in pages.items():
        (folder / f"{name}.html").write_bytes(page.encode())
    return {name: folder / f"{name}.html" for name in pages}


in_browser = pytest.mark.xdist_group("browser")
WIDE, PHONE = (1280, 900), (390, 844)
OPEN_ALL = "document.querySelectorAll('details').forEach((item) => { item.open = true; })"
WIDTHS = "[document.documentElement.scrollWidth, innerWidth]"


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["3", "1000", "hostile"])
def test_a_report_in_chromium(
    chromium: Chromium, written: dict[str, Path], tmp_path: Path, name: str, scheme: str
) -> None:
    address = written[name].as_uri()
    tab = Tab(chromium, address, WIDE, scheme)
    try:
        if name != "1000":
            tab.value(OPEN_ALL)
        for size in (WIDE, PHONE):
            tab.resize(size)
            assert tab.value(WIDTHS) == [size[0], size[0]]
            tab.screenshot(tmp_path / f"{size[0]}.png")
            assert (tmp_path / f"{size[0]}.png").stat().st_size > 10_000
        bright = tab.value("getComputedStyle(document.body).backgroundColor")
        assert bright == {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 19, 24)"}[scheme]
        assert tab.value("[typeof window.ran, document.scripts.length]") == ["undefined", 1]
        assert tab.requests == [address]
        assert tab.complaints == []
    finally:
        tab.close()


@in_browser
def test_the_policy_holds_where_escaping_would_fail(chromium: Chromium, written: dict[str, Path]) -> None:
    tab = Tab(chromium, written["unescaped"].as_uri(), WIDE, "light")
    try:
        tab.value("document.querySelector('main > a').click()")
        assert tab.value("[typeof window.ran, document.scripts.length]") == ["undefined", 2]
        assert tab.answered == [tab.requests[0]]
        refused = [complaint for complaint in tab.complaints if "Content Security Policy" in complaint]
        assert len(refused) >= 4
    finally:
        tab.close()


@in_browser
def test_files_are_sorted_and_filtered_with_the_keyboard(chromium: Chromium, written: dict[str, Path]) -> None:
    tab = Tab(chromium, written["1000"].as_uri(), WIDE, "light")
    shown = "[...document.querySelectorAll('#files tbody tr')].filter((row) => !row.hidden)"
    try:
        tab.value("document.getElementById('words').focus()")
        tab.ask("Input.insertText", text="QUEUE")
        assert tab.value("document.getElementById('count').textContent").endswith(" of 1,000 files shown")
        found = tab.value(f"{shown}.map((row) => row.textContent)")
        assert 50 < len(found) < 500
        assert all("queue" in text for text in found)
        # From the text to the choice of an outcome, over Source and Outcome, to the heading Score.
        tab.press("Tab", "Tab", "Tab", "Tab", "Enter")
        scores = tab.value(f"{shown}.map((row) => Number(row.cells[2].dataset.value))")
        assert scores == sorted(scores)
        assert tab.value("document.querySelector('[aria-sort]').textContent") == "Score"
        tab.press("Enter")
        assert tab.value(f"{shown}.map((row) => Number(row.cells[2].dataset.value))") == scores[::-1]
        tab.value("document.getElementById('outcome').value = 'failed'")
        tab.value("document.getElementById('outcome').dispatchEvent(new Event('change'))")
        outcomes = tab.value(f"{shown}.map((row) => row.cells[1].textContent.trim())")
        assert 0 < len(outcomes) < len(found)
        assert set(outcomes) == {"✕ failed"}
    finally:
        tab.close()


@in_browser
@pytest.mark.parametrize("scripts", [True, False])
def test_a_link_opens_the_details_with_and_without_script(
    chromium: Chromium, written: dict[str, Path], scripts: bool
) -> None:
    tab = Tab(chromium, f"{written['3'].as_uri()}#file-2", WIDE, "light", scripts=scripts)
    try:
        # Without script its tools are out of sight, and all rows are there.
        assert tab.value("document.getElementById('tools').checkVisibility()") is scripts
        assert tab.value("document.querySelectorAll('#files tbody tr').length") == 3
        assert tab.value("[...document.querySelectorAll('.file')].map((item) => item.open)") == [False, True, False]
        assert tab.value("document.getElementById('file-2').checkVisibility()")
    finally:
        tab.close()


# The ratio of luminances as WCAG 2 defines it, for every element that holds text itself.
CONTRAST = """
(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const low = [];
  let count = 0;
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || element.closest("script") || !element.checkVisibility()) continue;
    const [one, two] = [parse(getComputedStyle(element).color), behind(element)].map(light);
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    count += 1;
    if (ratio < 4.5) low.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
  }
  return [count, [...new Set(low)]];
})()
"""


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(chromium: Chromium, written: dict[str, Path], scheme: str) -> None:
    tab = Tab(chromium, written["3"].as_uri(), WIDE, scheme)
    try:
        tab.value(OPEN_ALL)
        count, low = tab.value(CONTRAST)
        assert count > 300
        assert low == []
    finally:
        tab.close()


@in_browser
def test_paper_is_white_and_the_page_prints(chromium: Chromium, written: dict[str, Path], tmp_path: Path) -> None:
    tab = Tab(chromium, written["3"].as_uri(), WIDE, "dark")
    try:
        dark = [{"name": "prefers-color-scheme", "value": "dark"}]
        tab.ask("Emulation.setEmulatedMedia", media="print", features=dark)
        assert tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert tab.value("document.getElementById('tools').checkVisibility()") is False
        tab.print(tmp_path / "report.pdf")
        assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")
    finally:
        tab.close()


@in_browser
def test_tables_stay_tables_for_a_screen_reader_on_a_phone(chromium: Chromium, written: dict[str, Path]) -> None:
    tab = Tab(chromium, written["3"].as_uri(), PHONE, "light")
    try:
        tab.ask("Accessibility.enable")
        nodes = tab.ask("Accessibility.getFullAXTree")["nodes"]
        roles = Counter(node["role"]["value"] for node in nodes if not node["ignored"])
        # Models, time, rules and files; each row of files has its own heading and eight cells.
        assert roles["table"] == 4
        assert roles["rowheader"] >= 3 + 3 + 3
        assert roles["cell"] >= 3 * 8
        assert roles["columnheader"] >= 12
        assert all(roles[landmark] == 1 for landmark in ("main", "navigation", "banner"))
    finally:
        tab.close()


@pytest.mark.parametrize(("demanded", "ends"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_a_missing_chromium_is_a_failure_in_ci_and_a_skip_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, demanded: str, ends: type[BaseException]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", demanded)
    with pytest.raises(ends, match="no Chromium on PATH"):
        find_chromium()
