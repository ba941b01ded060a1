"""What has to lie in a sandbox so that a source can be imported there."""

import os
from pathlib import Path

import pytest

from reflexion.importable import MAX_FILES, importable


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def tree_of(path: Path) -> tuple[str, set[str]]:
    found = importable(path, path.read_text(encoding="utf-8"), path.stem)
    assert found is not None
    return found.module, set(found.files)


def test_text_alone_lies_under_its_own_name() -> None:
    found = importable(None, "X = 1\n", "pkg.bank")
    assert found is not None
    assert (found.module, dict(found.files)) == ("bank", {"bank.py": b"X = 1\n"})
    assert importable(None, "X = 1\n", "not a name") is None


def test_a_module_brings_exactly_the_local_files_that_it_imports(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "bank.py": "import json\nimport money\nfrom tools.text import tidy\n\ndef late():\n    import other\n",
            "money.py": "import rates\n",
            "rates.py": "import bank\n",
            "other.py": "",
            "unused.py": "",
            "json.py": "raise SystemExit\n",
            "tools/__init__.py": "",
            "tools/text.py": "from . import marks\nfrom .deep import more\n",
            "tools/marks.py": "",
            "tools/deep/__init__.py": "",
            "tools/deep/more.py": "from ..marks import x\nfrom ....outside import y\n",
            "tools/unused.py": "",
        },
    )
    module, files = tree_of(tmp_path / "bank.py")
    assert module == "bank"
    assert files == {
        "bank.py", "money.py", "rates.py", "other.py", "tools/__init__.py", "tools/text.py", "tools/marks.py",
        "tools/deep/__init__.py", "tools/deep/more.py",
    }  # fmt: skip


def test_a_module_in_a_package_lies_under_its_dotted_name(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "shop/__init__.py": "from shop.prices import price\n",
            "shop/core/__init__.py": "",
            "shop/core/bank.py": "from ..money import Money\n",
            "shop/money.py": "",
            "shop/prices.py": "",
            "shop/unused.py": "",
            "beside.py": "",
        },
    )
    module, files = tree_of(tmp_path / "shop" / "core" / "bank.py")
    assert module == "shop.core.bank"
    assert files == {
        "shop/__init__.py",
        "shop/core/__init__.py",
        "shop/core/bank.py",
        "shop/money.py",
        "shop/prices.py",
    }
    assert tree_of(tmp_path / "shop" / "__init__.py") == ("shop", {"shop/__init__.py", "shop/prices.py"})


def test_only_python_is_importable(tmp_path: Path) -> None:
    for name in ("notes.ipynb", "page.md", "stub.pyi", "two words.py"):
        (tmp_path / name).write_text("X = 1\n", encoding="utf-8")
        assert importable(tmp_path / name, "X = 1\n", "notes") is None
    (tmp_path / "window.pyw").write_text("X = 1\n", encoding="utf-8")
    assert tree_of(tmp_path / "window.pyw") == ("window", {"window.py"})


def test_the_text_that_was_read_is_imported_in_its_own_encoding(tmp_path: Path) -> None:
    path = tmp_path / "bank.py"
    text = "# -*- coding: latin-1 -*-\nNAME = 'é'\n"
    path.write_bytes(b"X = 'changed since'\n")
    found = importable(path, text, "bank")
    assert found is not None
    assert found.files["bank.py"] == text.encode("latin-1")


def test_a_source_that_does_not_parse_is_still_itself(tmp_path: Path) -> None:
    path = tmp_path / "bank.py"
    path.write_text("def (:\n", encoding="utf-8")
    assert tree_of(path) == ("bank", {"bank.py"})


def test_files_are_bounded_in_number(tmp_path: Path) -> None:
    write(tmp_path, {f"m{number}.py": f"import m{number + 1}\n" for number in range(MAX_FILES + 20)})
    _, files = tree_of(tmp_path / "m0.py")
    assert len(files) == MAX_FILES


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_nothing_outside_of_the_folder_is_taken(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    write(outside, {"secret.py": "KEY = 1\n"})
    write(inside, {"bank.py": "import secret\nimport loop.loop.loop\n"})
    (inside / "secret.py").symlink_to(outside / "secret.py")
    (inside / "loop").symlink_to(inside)
    _, files = tree_of(inside / "bank.py")
    assert files == {"bank.py"}
