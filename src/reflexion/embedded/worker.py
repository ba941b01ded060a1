"""One loaded model in its own process, so that an abort inside llama.cpp takes nothing else along.

Started by ``runner.py`` with pipes. It imports llama.cpp, waits for one line of JSON on stdin (``path``, ``cells``,
``threads``, ``batch``, ``pool_last``, ``key``), loads the model, answers with one line of JSON on stdout (``address``
of llama.cpp's own HTTP server on loopback, guarded by ``key``) and then lives until stdin closes, as when the parent is
killed.
"""

import importlib
import json
import os
import sys
import threading
from typing import TypedDict

# What other prompts left behind, kept so that calls that take turns on one model find their prefix again: some 11,000
# tokens of the demo model. llama.cpp keeps the newest in any case, which may be all there is room for of a large one.
PROMPT_CACHE_MIB = 256
WARNINGS_ONLY = 2


class Order(TypedDict):
    """What to load and how: ``cells`` of context in tokens, ``batch`` in tokens; ``pool_last``: the embedding of a text
    is that of its last token, else what the model's file says.
    """

    path: str
    cells: int
    threads: int
    batch: int
    pool_last: bool
    key: str


def main() -> None:
    """Load what stdin asks for and serve it until stdin closes."""
    # llama.cpp and its libraries print as they like; only the answer may reach the parent's pipe.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    importlib.import_module("xllamacpp")
    line = sys.stdin.readline()
    if line:
        # Loading can take a minute; a parent that is gone must not have to wait for its end.
        ended = threading.Thread(target=_end_with_the_parent, daemon=True)
        ended.start()
        address, _server = _serve(json.loads(line))
        answers.write(json.dumps({"address": address}) + "\n")
        answers.flush()
        ended.join()


def _end_with_the_parent() -> None:
    sys.stdin.read()
    # Tearing llama.cpp down in order takes time and gains nothing: the system takes the memory back at once.
    os._exit(0)


def _serve(order: Order) -> tuple[str, object]:
    llama = importlib.import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = order["path"]
    params.n_ctx = order["cells"]
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = order["batch"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = order["threads"]
    params.api_keys = [order["key"]]
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.ctx_shift = True
    # Else the last message is gone on with where it is the assistant's, and two of them are an error.
    params.prefill_assistant = False
    params.fit_params = False
    params.warmup = False
    # Costs a completion nothing; without it the same process could not do both.
    params.embedding = True
    if order["pool_last"]:
        params.pooling_type = llama.llama_pooling_type.LLAMA_POOLING_TYPE_LAST
    params.ui = False
    params.verbosity = WARNINGS_ONLY
    server = llama.Server(params)
    return str(server.listening_address), server


if __name__ == "__main__":
    main()
