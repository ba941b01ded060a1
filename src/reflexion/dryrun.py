"""``--dry-run``: what would be done, and about what it would cost; no server is asked and nothing is written."""

from collections.abc import Collection

from reflexion.config import Config
from reflexion.errors import InputError
from reflexion.evidence.assemble import outline
from reflexion.evidence.rules.context import required_symbols
from reflexion.evidence.rules.names import Source as Names
from reflexion.loaders import printable
from reflexion.manifest import Manifest
from reflexion.ollama.window import estimate_tokens
from reflexion.plan import Job, Plan
from reflexion.wording import counted


def describe_plan(plan: Plan, config: Config, skipped: Collection[str]) -> str:
    """Return the plan as lines: each file with its symbols and tokens, then the sums and the model loads.

    Tokens are those of source and facts, by the estimate, which every prompt about the file holds. A file counts as
    done before when the manifest has it with one of the ``skipped`` outcomes; whether source, settings and models are
    still the same is only known in a run. Raises InputError for a manifest that cannot be read.
    """
    manifest = Manifest(plan.folder) if plan.folder is not None and plan.root is not None else None
    lines, sums, done = [], [0, 0], 0
    for job in plan.jobs:
        entry = manifest.entry(job.name) if manifest else None
        before = entry.outcome if entry and entry.outcome in skipped else ""
        done += bool(before)
        symbols, tokens, told = _cost(job)
        sums = [sums[0] + symbols, sums[1] + tokens]
        target = printable(job.output) if job.output else "standard output"
        lines.append(f"{job.label} -> {target}: {told}{f'; {before} before' if before else ''}")
    sizes = f"{counted(len(plan.jobs), 'file')}, {counted(sums[0], 'symbol')}, about {counted(sums[1], 'token')}"
    total = f"{sizes} of source and facts in every prompt"
    return "\n".join([*plan.notes, *lines, f"{total}; {done} done before", _loads(len(plan.jobs), config)]) + "\n"


def _cost(job: Job) -> tuple[int, int, str]:
    """Symbols, tokens, and both in words; a file that cannot be read says why."""
    try:
        source = job.load()
    except InputError as error:
        return 0, 0, f"cannot be used: {error}"
    symbols = len(required_symbols(Names(source.facts))) if source.facts else 0
    tokens = estimate_tokens([source.text, outline(source.facts) if source.facts else ""])
    kind = counted(symbols, "symbol") if source.facts else "not Python, no facts"
    return symbols, tokens, f"{kind}, about {counted(tokens, 'token')}"


def _loads(files: int, config: Config) -> str:
    windows = -(-files // config.jobs)
    rounds = config.max_attempts
    apart = len(set(config.model_registry.values()))
    most = windows * (2 * rounds + 1) if apart > 1 else 1
    return (
        f"{counted(windows, 'window')} of up to {counted(config.jobs, 'file')}, {counted(rounds, 'round')} at most:"
        f" {counted(most, 'model load')} at most,"
        f" {apart} where all stay loaded together"
    )
