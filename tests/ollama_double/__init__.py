"""A real HTTP server on loopback that speaks Ollama's protocol and plays scripted replies.

::

    double = OllamaDouble(models={"gen:1b": ModelInfo(), "critic:1b": ModelInfo(context_length=4096)})
    double.script("gen:1b", reply("# Title"), status(503, times=2), reply("cut", done_reason="length"))
    double.script("critic:1b", lambda body: reply(f"{len(body['messages'])} messages"))
    ... talk to double.base_url ...
    double.chats("gen:1b")        # the bodies of the chat requests for one model, in order
    double.loads                  # the models that were loaded, in order (max_loaded, load_s)
    double.assert_all_played()    # no scripted reply is left
    double.check()                # raises ScriptExhausted when a model was asked more often than scripted
    double.close()

The fixtures ``ollama_double`` (models gen:1b, critic:1b, adj:1b) and ``make_ollama_double`` call ``check`` and
``close`` at teardown. As a process of its own: ``python -m tests.ollama_double --help``.

Reply kinds: `reply`, `leaked_thinking`, `slow`, `no_final`, `eof`, `error_record`, `half_json`, `bad_utf8`,
`status`, `html`, `reset`, `refuse`, `silence`, `runaway`, `dropped`. A script also takes a
function from the request body to one of them. ``double.interfere("/api/tags", html())`` plays one before the normal
answers of any other path. ``double.registry`` holds the models that ``/api/pull`` can fetch; `dropped` ends a pull
in the middle.

A script answers `/api/chat` and `/api/generate`; what `/api/embed` gives depends on the text alone.

Answered without a script, as docs/ollama.md says of the real server and tests/conformance/ checks: bodies that are no
request, unknown models, loads and unloads, ``keep_alive``, what a model cannot do, bad options, formats and schemas,
a prompt longer than the window (cut in silence, or refused with ``truncate: false``).
"""

from tests.ollama_double.double import OllamaDouble
from tests.ollama_double.models import ModelInfo
from tests.ollama_double.records import Request, ScriptExhausted
from tests.ollama_double.replies import (
    KINDS,
    Act,
    bad_utf8,
    dropped,
    eof,
    error_record,
    half_json,
    html,
    leaked_thinking,
    no_final,
    refuse,
    reply,
    reset,
    runaway,
    silence,
    slow,
    status,
)

__all__ = [
    "KINDS",
    "Act",
    "ModelInfo",
    "OllamaDouble",
    "Request",
    "ScriptExhausted",
    "bad_utf8",
    "dropped",
    "eof",
    "error_record",
    "half_json",
    "html",
    "leaked_thinking",
    "no_final",
    "refuse",
    "reply",
    "reset",
    "runaway",
    "silence",
    "slow",
    "status",
]
