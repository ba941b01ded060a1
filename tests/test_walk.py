"""The walk: what is taken and what is passed over, ignore files as git reads them, and the names of pages."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexion.errors import InputError
from reflexion.walk import MAX_BYTES, Reason, Walk, WalkRules, generated_sign, walk

DEEP_WALK = """
import sys
from pathlib import Path
from reflexion.walk import walk
sys.setrecursionlimit(150)
print(*(item.relative for item in walk(Path(sys.argv[1])).kept))
"""
GIT_ENVIRONMENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}


def write(folder: Path, *names: str, data: bytes = b"x = 1\n") -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def names(found: Walk) -> list[str]:
    return [item.relative.as_posix() for item in found.kept]


def reasons(found: Walk) -> dict[str, Reason]:
    return {item.relative.as_posix(): item.reason for item in found.passed}


def test_it_takes_sources_in_order_and_says_why_it_passes_over_the_rest(tmp_path: Path) -> None:
    write(tmp_path, "b.py", "a/c.py", "a/d.js", "a.py", "n.ipynb", "a/.hidden.py")
    write(tmp_path, "a/README.md", "a/.hidden/f.py", "node_modules/g.js", "x/__pycache__/h.py", "x/y.egg-info/z.py")
    write(tmp_path, "my-env/pyvenv.cfg", "my-env/lib/i.py", "conda/conda-meta/history", "conda/j.py")
    write(tmp_path, "cache/CACHEDIR.TAG", data=b"Signature: 8a477f597d28d172789f06886806bc55\n# Cache\n")
    write(tmp_path, "untagged/CACHEDIR.TAG", "untagged/k.py")
    write(tmp_path, "a/__init__.py", data=b" \n")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "broken.py").symlink_to(tmp_path / "nowhere.py")
    os.mkfifo(tmp_path / "pipe.py")
    found = walk(tmp_path)
    assert names(found) == ["a/.hidden.py", "a/c.py", "a/d.js", "a.py", "b.py", "n.ipynb", "untagged/k.py"]
    assert all(item.path == tmp_path / item.relative for item in found.kept)
    assert reasons(found) == {
        "a/README.md": Reason.NOT_A_SOURCE,
        "a/.hidden": Reason.HIDDEN,
        "a/__init__.py": Reason.EMPTY,
        "a/loop": Reason.LINK,
        "broken.py": Reason.NOT_A_FILE,
        "cache": Reason.DEPENDENCIES,
        "conda": Reason.ENVIRONMENT,
        "my-env": Reason.ENVIRONMENT,
        "node_modules": Reason.DEPENDENCIES,
        "pipe.py": Reason.NOT_A_FILE,
        "untagged/CACHEDIR.TAG": Reason.NOT_A_SOURCE,
        "x/__pycache__": Reason.DEPENDENCIES,
        "x/y.egg-info": Reason.DEPENDENCIES,
    }
    assert found.counts() == {
        Reason.NOT_A_SOURCE: 2,
        Reason.NOT_A_FILE: 2,
        Reason.LINK: 1,
        Reason.HIDDEN: 1,
        Reason.DEPENDENCIES: 4,
        Reason.ENVIRONMENT: 2,
        Reason.EMPTY: 1,
    }
    assert list(found.counts()) == [reason for reason in Reason if reason in found.counts()]


def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone: cannot be read: No such file"):
        walk(tmp_path / "gone")


@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_a_folder_that_nobody_may_look_into_is_named_and_can_be_left_out(tmp_path: Path, mode: int) -> None:
    write(tmp_path, "src/a.py", "src/secret/b.py")
    # Root reads everything, unless it gives up just that.
    without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if without and not shutil.which("setpriv"):
        pytest.skip("no setpriv")

    def run(*args: str) -> "subprocess.CompletedProcess[str]":
        command = [*without, sys.executable, "-m", "reflexion", "-i", "src", "--dry-run", *args]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    (tmp_path / "src" / "secret").chmod(mode)
    refused, done = run(), run("--exclude", "secret/")
    (tmp_path / "src" / "secret").chmod(0o755)
    assert refused.returncode == 2
    assert refused.stderr == "reflexion: src/secret: cannot be read: Permission denied; leave it out with --exclude\n"
    assert done.returncode == 0
    assert "1 file, 0 symbols" in done.stdout


def test_a_pipe_in_the_place_of_a_cache_tag_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "sub/a.py")
    tag = tmp_path / "sub" / "CACHEDIR.TAG"
    os.mkfifo(tag)
    with tag.open("r+b", buffering=0) as pipe:  # Or whoever reads it would wait for ever.
        pipe.write(b"Signature: 8a477f597d28d172789f06886806bc55")
        assert names(walk(tmp_path)) == ["sub/a.py"]


def test_a_tree_deeper_than_the_stack_of_python_is_walked(tmp_path: Path) -> None:
    deep = Path(*"d" * (200))
    write(tmp_path, (deep / "a.py").as_posix())
    found = subprocess.run(
        [sys.executable, "-c", DEEP_WALK, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout == f"{deep / 'a.py'}\n"


def test_the_output_folder_is_never_walked_but_by_name(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "docs/conf.py", "docs/deep/b.py")
    (tmp_path / "link").symlink_to(tmp_path / "docs")
    for output in (tmp_path / "docs", tmp_path / "link", tmp_path / "docs" / ".." / "docs"):
        found = walk(tmp_path, WalkRules(output=output))
        assert names(found) == ["a.py"]
        assert reasons(found)["docs"] is Reason.OUTPUT
    assert names(walk(tmp_path / "docs", WalkRules(output=tmp_path / "docs"))) == ["conf.py", "deep/b.py"]
    assert names(walk(tmp_path, WalkRules(output=tmp_path / "new"))) == ["a.py", "docs/conf.py", "docs/deep/b.py"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a_pb2.py", "x = 1\n"),
        ("a_pb2_grpc.py", "x = 1\n"),
        ("a_pb2.pyi", "x: int\n"),
        ("jquery.min.js", "let x\n"),
        ("a.py", "# Generated by Django 4.2 on 2024-01-01 10:00\n"),
        ("a.py", "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.\n"),
        ("a.py", "# This file was automatically generated by SWIG.\n"),
        ("a.py", "# file generated by setuptools_scm\n"),
        ("a.py", '"""Auto-generated from schema.json."""\n'),
        ("a.py", "# @generated by pegen from python.gram\n"),
        ("a.go", "// Code generated by stringer; DO NOT EDIT.\n"),
        ("a.c", "/*\n * Automatically generated by re2c\n */\n"),
        ("a.sql", "-- Schema, do not edit this file\n"),
        ("a.js", "let a=1;" * 1000),
        ("a.mjs", "/* licence */\n" + "let a=1;" * 1000),
    ],
)
def test_generated_files_are_known_by_what_they_say(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, "hand.py", data=text.encode())
    assert generated_sign(tmp_path / name)
    if name != "a.py":
        write(tmp_path, "hand.py")
        found = walk(tmp_path)
        assert (names(found), reasons(found)) == (["hand.py"], {name: Reason.GENERATED})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", '"""Read reports generated by pytest."""\n'),
        ("a.py", "# Walk the tree and skip what was generated by others.\n"),
        ("a.py", "# Do not edit global state in here.\n"),
        ("a.py", 'HEADER = "# Generated by us. DO NOT EDIT"\n'),
        ("a.py", "x = 1\n" * 12 + "# Generated by a tool\n"),
        ("a.py", '"""Generate code by templates."""\n'),
        ("a.js", "let a = 1;\n" * 1000),
        ("a.js", "let a=1;" * 100),
        ("pb2.py", "x = 1\n"),
    ],
)
def test_files_by_hand_are_not_taken_for_generated(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, data=text.encode())
    assert generated_sign(tmp_path / name) == ""


def test_a_file_over_the_limit_is_passed_over_with_both_figures(tmp_path: Path) -> None:
    write(tmp_path, "at.py", data=b"#" * MAX_BYTES)
    write(tmp_path, "over.py", data=b"#" * (MAX_BYTES + 1))
    found = walk(tmp_path)
    assert names(found) == ["at.py"]
    assert found.passed[0].detail == "1,000,001 bytes, the limit is 1,000,000"
    assert names(walk(tmp_path, WalkRules(max_bytes=MAX_BYTES + 1))) == ["at.py", "over.py"]


def test_a_pattern_with_a_bang_takes_a_file_expressly(tmp_path: Path) -> None:
    write(tmp_path, "a_pb2.py", "b_pb2.py", "big.py")
    write(tmp_path, ".reflexionignore", data=b"!a_pb2.py\n!big.py\n")
    assert names(walk(tmp_path, WalkRules(max_bytes=3))) == ["a_pb2.py", "big.py"]
    assert names(walk(tmp_path, WalkRules(exclude=("!b_pb2.py",), max_bytes=100))) == ["a_pb2.py", "b_pb2.py", "big.py"]


def test_include_narrows_and_exclude_wins(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "b.js", "src/c.py", "src/old/d.py", "src/e.js", "notes.txt")
    assert names(walk(tmp_path, WalkRules(include=("*.py",)))) == ["a.py", "src/c.py", "src/old/d.py"]
    assert names(walk(tmp_path, WalkRules(include=("src/", "!src/old/")))) == ["src/c.py", "src/e.js"]
    assert names(walk(tmp_path, WalkRules(include=("/*.py", "notes.txt")))) == ["a.py"]
    found = walk(tmp_path, WalkRules(include=("*.py",), exclude=("old/", "/a.*")))
    assert names(found) == ["src/c.py"]
    assert reasons(found) == {
        "a.py": Reason.EXCLUDED,
        "b.js": Reason.NOT_INCLUDED,
        "notes.txt": Reason.NOT_A_SOURCE,
        "src/e.js": Reason.NOT_INCLUDED,
        "src/old": Reason.EXCLUDED,
    }


@pytest.mark.parametrize("pattern", ["", "  ", "# all", "!", "/", "a\\", "[z-a]", "[a"])
@pytest.mark.parametrize("option", ["include", "exclude"])
def test_a_pattern_that_can_never_match_is_refused(tmp_path: Path, option: str, pattern: str) -> None:
    rules = WalkRules(include=(pattern,)) if option == "include" else WalkRules(exclude=(pattern,))
    with pytest.raises(InputError, match=f'--{option} ".*": is no pattern'):
        walk(tmp_path, rules)


def test_own_ignore_files_go_before_those_of_git_and_exclude_before_both(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "b.py", "sub/a.py", "sub/c.py")
    write(tmp_path, ".reflexionignore", data=b"c.py\n!a.py\n")
    write(tmp_path, "sub/.gitignore", data=b"a.py\n!c.py\n")
    write(tmp_path, ".gitignore", data=b"\xef\xbb\xbfb.py\r\n\xff.py\r\n")
    found = walk(tmp_path)
    assert names(found) == ["a.py", "sub/a.py"]
    assert {
        item.relative.as_posix(): item.detail.rpartition("/")[2] for item in found.passed if "by" in item.detail
    } == {
        "b.py": ".gitignore",
        "sub/c.py": ".reflexionignore",
    }
    assert names(walk(tmp_path, WalkRules(exclude=("sub/a.py", "!b.py")))) == ["a.py", "b.py"]


def test_ignore_files_above_count_up_to_the_root_of_the_repository_and_no_further(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", data=b"a.py\n")
    write(tmp_path, "repo/.gitignore", data=b"/pkg/b.py\nsub/c.py\n")
    write(tmp_path, "repo/.reflexionignore", data=b"d.py\n")
    write(tmp_path, "repo/pkg/a.py", "repo/pkg/b.py", "repo/pkg/sub/c.py", "repo/pkg/d.py", "repo/pkg/sub/b.py")
    everything = ["a.py", "b.py", "d.py", "sub/b.py", "sub/c.py"]
    assert names(walk(tmp_path / "repo" / "pkg")) == everything
    write(tmp_path, "repo/.git", data=b"gitdir: elsewhere\n")
    assert names(walk(tmp_path / "repo" / "pkg")) == ["a.py", "sub/b.py", "sub/c.py"]


def test_a_folder_that_was_named_is_walked_though_it_is_ignored(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", data=b"build/\n")
    write(tmp_path, "build/a.py", "build/x/b.py")
    (tmp_path / ".git").mkdir()
    assert names(walk(tmp_path)) == []
    assert names(walk(tmp_path / "build")) == ["a.py", "x/b.py"]


def test_a_linked_ignore_file_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "a.py")
    write(tmp_path, "rules", data=b"*.py\n")
    (tmp_path / ".gitignore").symlink_to(tmp_path / "rules")
    (tmp_path / ".reflexionignore").mkdir()
    assert names(walk(tmp_path)) == ["a.py"]


SEGMENT = st.sampled_from(
    ["a", "b", "ab", "a*", "*", "?", "**", "[ab]", "[!a]", "*.py", "a.py", "b.py", "a?py", "?b", "\\a", "**a", "x y"]
)
PATTERN = st.one_of(
    st.sampled_from(["a", "b", "!a", "!b", "a/", "!a/", "*.py", "!a.py", "b*", "!b.py", "*", "!*/"]),
    st.builds(
        lambda bang, front, segments, back, blank: bang + front + "/".join(segments) + back + blank,
        st.sampled_from(["", "", "!"]),
        st.sampled_from(["", "", "/", "**/", "#", "\\!"]),
        st.lists(SEGMENT, min_size=1, max_size=3),
        st.sampled_from(["", "", "/", "/**", "/**/", "\\"]),
        st.sampled_from(["", "", " ", "\r", "\\ "]),
    ),
)
FOLDERS = (
    "",
    "a/",
    "b/",
    "ab/",
    "x y/",
    "a/a/",
    "a/b/",
    "a/ab/",
    "b/a/",
    "b/b/",
    "a/b/a/",
    "a/b/b/",
    "b/a/a/",
    "x y/a/",
)
FILES = ("a.py", "b.py", "ab.py", "!a.py", "#a.py", "x y.py", "_.py")
IGNORES = st.dictionaries(
    st.sampled_from(FOLDERS[:9]), st.lists(PATTERN, min_size=1, max_size=6), min_size=1, max_size=4
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(root)], check=True, env=GIT_ENVIRONMENT, timeout=20)
    write(root, *(folder + name for folder in FOLDERS for name in FILES))
    return root


def git_ignores(root: Path, paths: Sequence[str]) -> set[str]:
    """What git itself says, for paths below a repository's root."""
    done = subprocess.run(
        ["git", "check-ignore", "-z", "--stdin"],
        input="\0".join(paths).encode(),
        capture_output=True,
        cwd=root,
        env=GIT_ENVIRONMENT,
        timeout=20,
    )
    assert done.returncode in (0, 1), done.stderr
    return {path for path in done.stdout.decode().split("\0") if path}


@settings(max_examples=120, deadline=None)
@given(IGNORES, st.sampled_from(["", "", "", "a/", "b/a/"]))
def test_ignore_files_mean_what_they_mean_to_git(repository: Path, ignores: dict[str, list[str]], start: str) -> None:
    for old in repository.rglob(".gitignore"):
        old.unlink()
    for folder, lines in ignores.items():
        write(repository, f"{folder}.gitignore", data="\n".join(lines).encode())
    above = [parent.as_posix() for parent in Path(start, "x").parents if parent.name]
    if above and git_ignores(repository, above):
        return  # A folder that was named is walked, whatever git would say.
    inside = {folder + name for folder in FOLDERS for name in FILES if folder.startswith(start)}
    found = {start + item.relative.as_posix() for item in walk(repository / start).kept}
    assert found == inside - git_ignores(repository, sorted(inside))
