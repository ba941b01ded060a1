"""The project around a module that is to be healed: its folder, its tests, and the files that decide how they run."""

import ast
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from reflexion.errors import InputError
from reflexion.healing.module import Module
from reflexion.loaders import printable
from reflexion.sandbox.tree import PASSED_OVER, files_below

SETTINGS = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
ROOTS = ("pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini", ".git")
MOST_TESTS = 2_000
_PLUGIN = re.compile(r"-p[ =]?([A-Za-z_][\w.]*)")


@dataclass(frozen=True, slots=True)
class Project:
    """``root`` is the folder of all, ``tests`` are what pytest is given: POSIX paths relative to it.

    ``lock`` has the digest of every file that decides what the tests are: the tests, ``conftest.py``, settings, plugins
    of the project's own. ``paths`` are the folders, relative to the root, from which modules are imported.
    """

    root: Path
    module: Module
    tests: tuple[str, ...]
    lock: Mapping[Path, str]
    paths: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the module's path in the project."""
        return self.module.path.relative_to(self.root).as_posix()

    @property
    def sha256(self) -> str:
        """Return the digest of all that a result depends on."""
        whole = "\n".join([self.module.sha256, *self.tests, *(f"{path} {one}" for path, one in self.lock.items())])
        return sha256(whole.encode("utf-8", "surrogateescape")).hexdigest()

    def require_unchanged(self) -> None:
        """Raise InputError when a file is not as it was when the run began."""
        for path, digest in self.lock.items():
            if _digest(path) != digest:
                name = printable(path.relative_to(self.root))
                raise InputError(f"{name}: changed while the tests ran, so their result does not count; start again")

    def test_files(self) -> list[Path]:
        """Return the files with tests, as pytest looks for them by default; a file that is named is always one."""
        found: list[Path] = []
        for one in map(self.root.joinpath, self.tests):
            below = files_below(one) if one.is_dir() else [one]
            found += [path for path in below if not one.is_dir() or is_test(path)]
        return found

    def tests_text(self, failing: Iterable[str]) -> str:
        """Return the text of the files with these tests, else of all; each below its name where there are several."""
        names = {name.partition("::")[0] for name in failing}
        folder = self.root / self.tests[0]
        there = [path for path in self.lock if path.suffix == ".py" and path.is_relative_to(folder)]
        files = [path for path in there if any(path.as_posix().endswith(f"/{name}") for name in names)]
        files = files or self.test_files() or there
        texts = [path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n") for path in files]
        if len(files) == 1:
            return texts[0]
        return "\n".join(
            f"# {path.relative_to(self.root).as_posix()}\n{text}" for path, text in zip(files, texts, strict=True)
        )


def find_project(module: Module, tests: Path, above: Path | None = None) -> Project:
    """Return the project of a module and its tests; ``above`` is a folder that it holds as well. Raises InputError."""
    try:
        real = Path(os.path.realpath(tests, strict=True))
    except FileNotFoundError as error:
        raise InputError(f"{printable(tests)}: no such file or folder") from error
    except OSError as error:
        raise InputError(f"{printable(tests)}: cannot be read: {error.strerror}") from error
    if module.path.name == "conftest.py":
        raise InputError(f"{module.label}: decides how the tests run, so they cannot judge it")
    if real == module.path:
        raise InputError(f"{module.label}: is both the module and its tests; the tests have to be another file")
    if real.is_file() and real.suffix != ".py":
        raise InputError(f"{printable(tests)}: --tests takes a file of pytest tests, or a folder of them")
    root = _root(above or module.path.parent, real if real.is_dir() else real.parent)
    project = Project(root, module, (real.relative_to(root).as_posix(),), {}, _paths(root, module.path))
    lock = {path: _digest(path) for path in sorted(set(_locked(project)) - {module.path})}
    return Project(root, module, project.tests, lock, project.paths)


def _root(of_module: Path, of_tests: Path) -> Path:
    """Return the nearest folder above both that is a project's, else the nearest one above both."""
    above = [one for one in (of_module, *of_module.parents) if of_tests.is_relative_to(one)]
    home = Path.home().resolve()
    for folder in above:
        if home.is_relative_to(folder):
            break
        if any((folder / name).exists() for name in ROOTS):
            return folder
    if home.is_relative_to(above[0]):
        raise InputError(
            f"{above[0]}: would be shown to the tests as a whole; put module and tests into a folder of their own"
        )
    return above[0]


def _paths(root: Path, module: Path) -> tuple[str, ...]:
    if module.is_relative_to(root / "src"):
        return "src", "."
    folder = module.parent
    while folder != root and (folder / "__init__.py").is_file():
        folder = folder.parent
    return tuple(dict.fromkeys((folder.relative_to(root).as_posix(), ".")))


def _locked(project: Project) -> Iterator[Path]:
    tests = project.root / project.tests[0]
    folders = [one for one in (tests, *tests.parents) if one.is_relative_to(project.root) and one.is_dir()]
    deciding = [folder / name for folder in folders for name in (*SETTINGS, "conftest.py")]
    below = [path for path in files_below(tests) if path.suffix == ".py"] if tests.is_dir() else [tests]
    if len(below) > MOST_TESTS:
        raise InputError(f"{printable(tests)}: more than {MOST_TESTS} files; name a smaller folder of tests")
    files = [path for path in [*deciding, *below] if path.is_file()]
    yield from files
    for name in _plugins(files):
        for base in (*folders, *(project.root / one for one in project.paths)):
            found = base.joinpath(*name.split("."))
            yield from (path for path in (found.with_suffix(".py"), found / "__init__.py") if path.is_file())


def _plugins(files: Iterable[Path]) -> set[str]:
    """Return the names of plugins that settings load with ``-p``, and tests with ``pytest_plugins``."""
    names: set[str] = set()
    for path in files:
        text = path.read_bytes().decode("utf-8", "replace")
        if path.suffix != ".py":
            names |= set(_PLUGIN.findall(text))
        elif "pytest_plugins" in text:
            names |= set(_named_plugins(text))
    return names


def _named_plugins(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.Assign) and any(
            isinstance(one, ast.Name) and one.id == "pytest_plugins" for one in targets
        ):
            for one in ast.walk(node.value):
                if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value:
                    yield one.value


def is_test(path: Path) -> bool:
    """Return whether pytest takes a file for one of tests, unless it is told otherwise."""
    is_one = path.name.startswith("test_") or path.stem.endswith("_test")
    return path.suffix == ".py" and is_one and not PASSED_OVER & set(path.parts)


def _digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""  # gone, which is a change
