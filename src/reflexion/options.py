"""The options of the command line: how each is written, and what its help says. Nothing heavy is imported."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

Config = Annotated[
    Path | None,
    Option(
        "--config", "-c", metavar="FILE", help="Configuration file. Default: ./config.json, else built-in defaults."
    ),
]

# ------------------------------------------------------------------ docs

Inputs = Annotated[
    list[str],
    Option("--input", "-i", metavar="PATH", help="A source file (repeatable), a folder, or - for standard input."),
]
Output = Annotated[
    str | None,
    Option(
        "--output", "-o", metavar="PATH", help="A file, a folder, or - for standard output. Default: output/NAME.md."
    ),
]
Engine = Annotated[str | None, Option(metavar="NAME", help="ollama, or embedded: a small demo model of our own.")]
MaxAttempts = Annotated[int | None, Option(metavar="N", help="Rounds per file at most.")]
Bar = Annotated[int | None, Option(metavar="N", help="Score to reach, 0 to 100.")]
Model = Annotated[list[str] | None, Option(metavar="ROLE=NAME", help="Bind a role to a model (repeatable).")]
Jobs = Annotated[int | None, Option("--jobs", "-j", metavar="N", help="Files under way at once. Default 16.")]
Include = Annotated[
    list[str] | None, Option(metavar="GLOB", help="Take only these files of a folder (repeatable), as in .gitignore.")
]
Exclude = Annotated[list[str] | None, Option(metavar="GLOB", help="Leave these files of a folder out (repeatable).")]
MaxBytes = Annotated[int | None, Option(metavar="N", help="Larger files of a folder are passed over. Default 1000000.")]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace pages that were edited or are not ours.")]
Force = Annotated[bool, Option("--force", help="Do the unchanged files of a folder anew.")]
Retry = Annotated[bool, Option("--retry", help="Do unchanged files that were not accepted anew.")]
FailFast = Annotated[bool, Option("--fail-fast", help="Stop at the first file that fails.")]
MaxSeconds = Annotated[float | None, Option(metavar="N", help="Begin no model call after that time.")]
MaxTokens = Annotated[int | None, Option(metavar="N", help="Begin no model call after that many tokens.")]
DryRun = Annotated[bool, Option("--dry-run", help="Show what would be done, and about what it would cost.")]
DocsFormat = Annotated[str, Option("--format", metavar="NAME", help="text, or json: one event a line.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Show only how it ended.")]
Verbose = Annotated[bool, Option("--verbose", "-v", help="Show fixes in full.")]

# ------------------------------------------------------------------ code

Prompt = Annotated[str | None, Option("--prompt", "-p", metavar="TEXT", help="What the code is to do, in words.")]
TaskInput = Annotated[
    str | None,
    Option("--input", "-i", metavar="PATH", help="A file that says it, a folder of .md and .txt files, or -."),
]
TaskOutput = Annotated[
    str | None,
    Option(
        "--output",
        "-o",
        metavar="FOLDER",
        help="The result's folder; of several, the folder of theirs. Default: output/NAME.",
    ),
]
MaxDebugIterations = Annotated[int | None, Option(metavar="N", help="Replies after the first candidate at most.")]
AllowImport = Annotated[
    list[str] | None, Option(metavar="NAME", help="Let a candidate import this module too (repeatable).")
]
OverwriteTask = Annotated[
    bool, Option("--overwrite", help="Write into a folder with files that are not as we wrote them.")
]
Fix = Annotated[
    str | None, Option(metavar="PATH", help="Heal this module, or those of a folder; nothing is written anew.")
]
Tests = Annotated[
    str | None, Option(metavar="PATH", help="With --fix: your tests of it, a file or a folder. They stay as they are.")
]
ApplyFix = Annotated[bool, Option("--apply", help="With --fix: write what passes its tests.")]
VerboseTask = Annotated[bool, Option("--verbose", "-v", help="Show every suite and candidate in full.")]

# ------------------------------------------------------------------ prompts

PipelineName = Annotated[str, Argument(metavar="[PIPELINE]", help="docs or code.")]

# ------------------------------------------------------------------ check, repair

Documents = Annotated[list[Path], Argument(metavar="DOC...", help="Markdown files or folders of them.")]
Sources = Annotated[
    list[Path] | None,
    Option(
        "--source", "-s", metavar="PATH", help="The source of each document, in order. Default: what the page names."
    ),
]
Examples = Annotated[bool, Option("--examples", help="Also run the documents' Python examples, in the sandbox.")]
ExamplesToo = Annotated[bool, Option("--examples/--no-examples", help="Run the documents' examples in the sandbox.")]
RequireExamples = Annotated[bool, Option("--require-examples", help="Exit 2 where no sandbox can run the examples.")]

# ------------------------------------------------------------------ runs, resume

OutputFolder = Annotated[Path, Option("--output", "-o", metavar="FOLDER", help="The output folder of the run.")]
Run = Annotated[str, Argument(metavar="ID", help="A run, or the beginning of its name; reflexion runs lists them.")]
SameFolder = Annotated[Path | None, Option("--output", "-o", metavar="FOLDER", help="The output folder of the run.")]
RunFormat = Annotated[str, Option("--format", metavar="NAME", help="text, or json: the whole record.")]

# ------------------------------------------------------------------ doctor, models

CheckedFolder = Annotated[Path, Option("--output", "-o", metavar="FOLDER", help="The output folder to look at.")]
DoctorFormat = Annotated[str, Option("--format", metavar="NAME", help="text, or json: one object.")]

# ------------------------------------------------------------------ engine

EngineHost = Annotated[str, Option("--host", metavar="ADDRESS", help="Where to listen.")]
EnginePort = Annotated[int, Option("--port", metavar="N", min=0, max=65535, help="0 takes any free one.")]
MaxLoaded = Annotated[int, Option(metavar="N", min=1, help="Models in memory at once.")]
ModelsFolder = Annotated[Path | None, Option("--models", metavar="FOLDER", help="Serve its *.gguf files too.")]
AllowRemote = Annotated[bool, Option("--allow-remote", help="Allow a host beyond this machine.")]
