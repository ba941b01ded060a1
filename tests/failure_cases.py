"""What goes wrong with a model server and what becomes of it, a row a case: for the tests, and for docs/failures.md.

The tests play each case and compare outcome, exit code and message with its row; ``scripts/failures_page.py`` prints
the rows. So the page says what happens.
"""

import re
from string import Formatter
from typing import Literal, NamedTuple

GOES_ON = "goes on"
# What stands for the fields of a message on the page, and what a field may be where a test knows no better.
SHOWN = {
    "url": "http://127.0.0.1:11434", "model": "qwen3.5:9b", "pid": "4711", "n": "512", "s": "120", "size": "720.1",
    "text": "'The dog runs. '", "words": "Connection refused", "errno": "111", "rounds": "4", "pieces": "3",
    "able": "embedding", "ollama": "ollama", "tensor": "blk.0.attn_k.weight",
    "size_n": "91726592", "end_n": "91730848", "fault": "StreamBroken",
}  # fmt: skip
ANYTHING = {
    "text": ".+",
    "words": ".+",
    "able": ".+",
    "tensor": ".+",
    "fault": r"\w+",
    "url": r"\S+",
    "model": r"\S+",
    "ollama": r"OLLAMA_HOST=\S+ ollama",
}
NUMBER = r"[\d.,]+"


class Case(NamedTuple):
    """A row. ``outcome`` is what the record says, "refused" where there is none, or ``GOES_ON``.

    ``message`` is the whole line that a person reads, with fields in braces; "" where no line is about it. ``played``
    says on which server the test plays it.
    """

    name: str
    group: str
    what: str
    outcome: str
    code: int
    message: str
    help: str
    played: Literal["real", "double"] = "real"

    def shown(self) -> str:
        """The message with examples for its fields."""
        return self.message.format(**SHOWN)

    def pattern(self, **known: str) -> str:
        """A regular expression for the message; what is not ``known`` may be anything of its kind."""
        parts = []
        for literal, field, _, _ in Formatter().parse(self.message):
            parts.append(re.escape(literal))
            if field is not None:
                parts.append(re.escape(known[field]) if field in known else ANYTHING.get(field, NUMBER))
        return "".join(parts)


AWAY, HANGS, MODEL, WINDOW, REPLY, RUN = (
    "A server that is not there, or goes away",
    "A server that hangs",
    "A model that cannot be used",
    "A window that is too small",
    "A reply that must not be used",
    "Two runs at once",
)
NO_SERVER = (
    "no model server at {url} ([Errno {errno}] {words}): start it with `{ollama} serve`, or use --engine embedded"
)
NO_DRAFT = "no usable draft in {rounds} rounds; the last trouble: GENERATOR ({model}): "
TAKES_UP = "Start the server and give the same command: what is finished stays."
NOTHING = "Nothing to do."
PULL = "The command in the message."

CASES = (
    Case("never_started", AWAY, "no server runs", "refused", 3, NO_SERVER, "The command in the message."),
    Case("killed_for_good", AWAY, "the server is killed in the middle of a reply and stays away longer than"
         " `server.away_s`", "failed", 3, NO_SERVER, TAKES_UP),
    Case("killed_and_back", AWAY, "the server is killed in the middle of a reply and comes back within `server.away_s`",
         GOES_ON, 0, NO_SERVER + "; waiting up to {n} s for it", NOTHING),
    Case("restarted_at_once", AWAY, "the server is restarted in the middle of a reply", GOES_ON, 0,
         "GENERATOR {model}: StreamBroken after {n} tokens, {s} s", NOTHING),
    Case("restarted_between_rounds", AWAY, "the server is restarted between two rounds", GOES_ON, 0, "", NOTHING),
    Case("runner_killed", AWAY, "the process that holds the model is killed in the middle of a reply", GOES_ON, 0,
         "GENERATOR {model}: {fault} after {n} tokens, {s} s",
         "Nothing to do; when it comes again, a smaller `num_ctx` or model."),
    Case("a_web_server", AWAY, "something else that speaks HTTP listens at the address", "refused", 3,
         "{url} answers with an HTML page: not Ollama, maybe a proxy; check server.base_url",
         "Correct `server.base_url` or `OLLAMA_HOST`."),
    Case("another_protocol", AWAY, "something else that does not speak HTTP listens at the address", "refused", 3,
         "no model server at {url} ({words}): start it with `{ollama} serve`, or use --engine embedded",
         "Correct `server.base_url` or `OLLAMA_HOST`."),
    Case("a proxy in the way", AWAY, "a proxy answers with a page in the middle of a run", "failed", 3,
         "{url} answers with an HTML page: not Ollama, maybe a proxy; check server.base_url",
         "Unset the proxy variables for the server's host.", "double"),
    Case("reset", AWAY, "a connection is reset", GOES_ON, 0, "", NOTHING, "double"),
    Case("refused for a while", AWAY, "connections are refused for a second", GOES_ON, 0, "", NOTHING, "double"),
    Case("busy twice", AWAY, "the server is busy (503) twice", GOES_ON, 0, "", NOTHING, "double"),
    Case("its process died", AWAY, "the server says that the process with the model died (500)", GOES_ON, 0, "",
         NOTHING, "double"),
    Case("stream ends early", AWAY, "the connection ends in the middle of a reply", GOES_ON, 0, "", NOTHING, "double"),
    Case("no final record", AWAY, "a reply ends in good order without its final record", GOES_ON, 0, "", NOTHING,
         "double"),
    Case("a record cut", AWAY, "a reply ends in the middle of a record", GOES_ON, 0, "", NOTHING, "double"),
    Case("an error in the stream", AWAY, "an error comes in the middle of a reply", "failed", 4,
         "{model}: the server answered an error: unknown fault", "Look at the server's log.", "double"),
    Case("stopped_mid_stream", HANGS, "the server stops in the middle of a reply", "failed", 4,
         "GENERATOR ({model}): no token for 2 s; see the server's log, or raise server.idle_s",
         "Restart the server; the same command takes up the file."),
    Case("stopped_before_the_first_token", HANGS, "the server takes a call and stops before the first token", "failed",
         4, "GENERATOR ({model}): no token within 2 s, loading included; see the server's log, or raise"
         " server.first_token_s", "Restart the server, or give a slow disk more time with `server.first_token_s`."),
    Case("total_deadline", HANGS, "tokens still come at the end of `server.total_s`; the call is ended, and the server"
         " stops computing", "failed", 4,
         "GENERATOR ({model}): not finished after 3 s; lower num_predict or raise server.total_s",
         "As the message says."),
    Case("no answer", HANGS, "a call is never answered", "failed", 4,
         "GENERATOR ({model}): no token within 1.2 s, loading included; see the server's log, or raise"
         " server.first_token_s", "Restart the server.", "double"),
    Case("a slow drip", HANGS, "tokens come more slowly than `server.idle_s`", "failed", 4,
         "GENERATOR ({model}): no token for 1 s; see the server's log, or raise server.idle_s",
         "A smaller model, or a larger `server.idle_s`.", "double"),
    Case("model_missing", MODEL, "a model is not installed", "refused", 3,
         "not installed on {url}: CRITIC {model}; get them with: {ollama} pull {model}", PULL),
    Case("model_deleted", MODEL, "a model is deleted in the middle of a reply: that one comes whole, the next does"
         " not", "failed", 3,
         "model {model} is not installed: {ollama} pull {model}", PULL),
    Case("model gone", MODEL, "the server says in a run that there is no such model (404)", "failed", 3,
         "model {model} is not installed: {ollama} pull {model}", PULL, "double"),
    Case("model_cannot_write", MODEL, "a model that makes no text, such as one for embeddings", "refused", 2,
         "model_registry: {model} cannot write text (it can: {able}); name another model",
         "Another model in `model_registry`.", "double"),
    Case("model_damaged", MODEL, "a model's file is cut short", "refused", 3,
         '{model}: the server cannot read this model (tensor "{tensor}" offset+size ({end_n}) exceeds file size'
         ' ({size_n}));'
         " get it again: {ollama} rm {model} && {ollama} pull {model}", PULL),
    Case("model_emptied", MODEL, "a model's file is empty", "refused", 3,
         "{model}: the server cannot read this model (EOF); get it again: {ollama} rm {model} && {ollama} pull {model}",
         PULL),
    Case("model_file_gone", MODEL, "a model's file is gone, though the model is listed", "refused", 3,
         "not installed on {url}: GENERATOR {model}, CRITIC {model}, ADJUDICATOR {model}; get them with:"
         " {ollama} pull {model}",
         PULL),
    Case("model_damaged_in_a_run", MODEL, "a model's file is cut short between two loads", "failed", 4,
         '{model}: the server cannot read this model (tensor "{tensor}" offset+size ({end_n}) exceeds file size'
         ' ({size_n}));'
         " get it again: {ollama} rm {model} && {ollama} pull {model}", PULL),
    Case("out_of_memory", MODEL, "a model needs more memory than there is", "failed", 4,
         "{model}: out of memory; use a smaller model or num_ctx (model requires more system memory ({size} GiB) than"
         " is available ({n} GiB))", "A smaller model or `num_ctx`, or a smaller OLLAMA_NUM_PARALLEL of the server."),
    Case("out of memory", MODEL, "the graphics card has no memory left", "failed", 4,
         "{model}: out of memory; use a smaller model or num_ctx (CUDA error: out of memory)",
         "A smaller model or `num_ctx`.", "double"),
    Case("out of memory at the end", MODEL, "the same for ADJUDICATOR, after all rounds", "failed", 4,
         "{model}: out of memory; use a smaller model or num_ctx (out of memory)",
         "A smaller model; the same command begins after the last round.", "double"),
    Case("store_full", MODEL, "the disk with the server's models is full", GOES_ON, 0, "",
         "Nothing to do for a run, which only reads; a pull needs room."),
    Case("window_too_small", WINDOW, "the window is too small for the words of a prompt", "failed", 4,
         "GENERATOR ({model}): the prompt is about {n} tokens, too many for a window of 512 with room for a reply of"
         " {n}; raise num_ctx or split the file", "A larger `num_ctx`."),
    Case("in_pieces", WINDOW, "the window is too small for the source", GOES_ON, 0,
         "one.py: does not fit the window whole; goes in {pieces} pieces",
         "Nothing to do; a larger `num_ctx` makes better pages."),
    Case("cut_at_its_limit", REPLY, "every reply reaches `num_predict`", "failed", 4,
         "no usable draft in 1 rounds; the last trouble: GENERATOR ({model}): the reply was cut at 64 tokens; a larger"
         " num_predict may help", "A larger `num_predict`."),
    Case("runaway", REPLY, "a model repeats itself without end", "failed", 4,
         "no usable draft in 1 rounds; the last trouble: GENERATOR ({model}): the reply repeats {text} without end and"
         " was cut; another model may do better", "Another model, or a higher temperature."),
    Case("too long once", REPLY, "a reply reaches `num_predict` once", GOES_ON, 0, "", NOTHING, "double"),
    Case("empty once", REPLY, "a reply is empty", GOES_ON, 0, "", NOTHING, "double"),
    Case("only thinking once", REPLY, "a reply holds nothing but thinking", GOES_ON, 0, "", NOTHING, "double"),
    Case("runaway once", REPLY, "a draft repeats itself without end", GOES_ON, 0, "", NOTHING, "double"),
    Case("runaway verdict", REPLY, "a verdict repeats itself without end", GOES_ON, 0, "", NOTHING, "double"),
    Case("verdict cut", REPLY, "a verdict reaches `num_predict`", GOES_ON, 0, "", NOTHING, "double"),
    Case("runaway at the end", REPLY, "ADJUDICATOR repeats itself without end: the best draft settles", GOES_ON, 0, "",
         NOTHING, "double"),
    Case("cut for ever", REPLY, "every draft reaches `num_predict`", "failed", 4,
         NO_DRAFT + "the reply was cut at {n} tokens; a larger num_predict may help", "A larger `num_predict`.",
         "double"),
    Case("empty for ever", REPLY, "every draft is empty", "failed", 4,
         NO_DRAFT + "the reply is empty; another model may do better", "Another model.", "double"),
    Case("runaway for ever", REPLY, "every draft repeats itself without end", "failed", 4,
         NO_DRAFT + "the reply repeats {text} without end and was cut; another model may do better", "Another model.",
         "double"),
    Case("two_folders", RUN, "two runs on one server, each with an output folder of its own", GOES_ON, 0, "",
         "Nothing to do; each waits for the other's calls, which counts against its deadlines."),
    Case("one_folder", RUN, "two runs with the same output folder", "refused", 2,
         "output: another run is writing here (process {pid}); wait for it", "Another `--output`, or wait."),
)  # fmt: skip
BY_NAME = {case.name: case for case in CASES}
