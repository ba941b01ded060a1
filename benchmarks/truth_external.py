"""Reference pages of public packages against their own sources: a corpus that the rules were not made on.

``python -m benchmarks.truth_external`` downloads source distributions (nothing of them is kept here), checks each
page and lists every error finding. What a person made of the list stands in ``benchmarks/README.md``.

A page speaks about a package, not a module, so the facts of all modules are joined; where two modules define the same
name, the module that is called like the page wins. Pages leave symbols out on purpose (they are guides, one page for
each topic), so the rule about undocumented symbols is off. Versions and dates may come from the package's metadata and
changelog, which therefore count as source text.
"""

import argparse
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reflexion.errors import ReflexionError
from reflexion.evidence.document import read_claims
from reflexion.evidence.facts import Facts, Symbol
from reflexion.evidence.finding import Finding
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify

PARTIAL = frozenset({"undocumented-symbol"})
METADATA = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "CHANGELOG*",
    "CHANGES*",
    "docs/changelog.md",
    "docs/release-notes.md",
    "PKG-INFO",
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A source distribution: what to download, its pages and its sources (globs below its top folder)."""

    requirement: str
    pages: tuple[str, ...]
    sources: tuple[str, ...]
    skipped: tuple[str, ...] = ()


REFERENCES = (
    Reference(
        "starlette==1.10.0",
        ("docs/*.md",),
        ("starlette/**/*.py",),
        skipped=("release-notes", "contributing", "third-party-packages"),
    ),
    Reference("markdown==3.11.3", ("docs/library.md", "docs/extensions/*.md"), ("markdown/**/*.py",)),
    Reference("python-slugify==9.2.0", ("README.md",), ("slugify/*.py",)),
    Reference("tabulate==0.10.0", ("README.md",), ("tabulate/**/*.py",)),
    Reference("python-fsutil==0.18.0", ("README.md",), ("src/fsutil/*.py",)),
    Reference("halo==0.0.31", ("README.md",), ("halo/*.py",)),
    Reference("cachetools==8.0.2", ("docs/index.rst",), ("src/cachetools/*.py",)),
)


def download(requirement: str, folder: Path) -> Path:
    """Download one source distribution with pip and unpack it; returns its top folder."""
    target = folder / requirement.partition("==")[0]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--no-binary", ":all:", "--dest", str(target), requirement], check=True)
    archive = next(target.glob("*.tar.gz"))
    with tarfile.open(archive) as packed:
        packed.extractall(target, filter="data")
    return next(path for path in target.iterdir() if path.is_dir())


def joined_facts(paths: list[Path], page: str) -> Facts:
    """Join the facts of several modules; the module that has the page's name comes first and wins."""
    modules = [
        facts for path in sorted(paths, key=lambda path: (path.stem != page, str(path))) for facts in _read(path)
    ]
    symbols: dict[str, Symbol] = {}
    for module in modules:
        for symbol in module.symbols:
            symbols.setdefault(symbol.qualname, symbol)
    imports = {one.name: one for module in modules for one in module.imports}
    return modules[0]._replace(
        symbols=tuple(symbols.values()),
        exports=None,
        imports=tuple(imports.values()),
        star_imports=(),
        text="\n".join(module.text for module in modules),
    )


def _read(path: Path) -> Iterator[Facts]:
    try:
        yield facts_of_python(path.read_text(encoding="utf-8"), path.stem, str(path))
    except (ReflexionError, UnicodeDecodeError) as error:
        print(f"{path.name}: skipped, {error}", file=sys.stderr)


def check_package(reference: Reference, top: Path) -> Iterator[tuple[str, int, list[Finding]]]:
    """Yield each page's name, its number of claims and its findings."""
    sources = [path for pattern in reference.sources for path in top.glob(pattern)]
    known = "\n".join(
        path.read_text(encoding="utf-8", errors="replace") for pattern in METADATA for path in top.glob(pattern)
    )
    pages = [path for pattern in reference.pages for path in sorted(top.glob(pattern))]
    for path in (page for page in pages if page.stem not in reference.skipped):
        text = path.read_text(encoding="utf-8")
        facts = joined_facts(sources, path.stem)
        found = verify(text, facts, off=PARTIAL, source_text=facts.text + known)
        yield str(path.relative_to(top)), read_claims(text).count(), found


def report(folder: Path) -> int:
    """Check all packages and print every error finding; returns how many there were."""
    errors: Counter[str] = Counter()
    rows = ["| package | pages | claims | errors | warnings |", "|---|--:|--:|--:|--:|"]
    for reference in REFERENCES:
        checked = list(check_package(reference, download(reference.requirement, folder)))
        found = [(name, finding) for name, _, findings in checked for finding in findings]
        wrong = [(name, finding) for name, finding in found if finding.level == "error"]
        for name, finding in wrong:
            print(f"{reference.requirement} {name}:{finding.line} {finding.rule} {finding.message}")
            print(f"    {finding.evidence}")
        errors.update(finding.rule for _, finding in wrong)
        claims = sum(number for _, number, _ in checked)
        rows.append(
            f"| {reference.requirement} | {len(checked)} | {claims} | {len(wrong)} | {len(found) - len(wrong)} |"
        )
    print("\n".join(["", *rows, "", *(f"{rule}: {number}" for rule, number in sorted(errors.items()))]))
    return errors.total()


def main() -> int:
    """Run in a temporary folder, or in one that keeps the downloads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where to keep the downloads; default: a temporary folder")
    options = parser.parse_args()
    if options.folder:
        report(options.folder)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        report(Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
