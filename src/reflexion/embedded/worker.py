"""One loaded model in its own process, so that an abort inside llama.cpp takes nothing else along.

Started by ``runner.py`` with pipes. It imports llama.cpp, waits for one line of JSON on stdin (``path``, ``cells``,
``threads``, ``batch``, ``key``), loads the model, answers with one line of JSON on stdout (``address`` of llama.cpp's own
HTTP server on loopback, guarded by ``key``) and then lives until stdin closes, which also happens when its parent is killed.
"""

import importlib
import json
import os
import sys
from typing import Any

# What other prompts left behind, kept so that calls that take turns on one model find their prefix again.
PROMPT_CACHE_MIB = 256
WARNINGS_ONLY = 2


def main() -> None:
    """Load what stdin asks for and serve it until stdin closes."""
    # llama.cpp and its libraries print as they like; only the answer may reach the parent's pipe.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    llama = importlib.import_module("xllamacpp")
    order = sys.stdin.readline()
    if order:
        server = llama.Server(_parameters(llama, json.loads(order)))
        print(json.dumps({"address": server.listening_address}), file=answers, flush=True)
        sys.stdin.read()
    # Tearing llama.cpp down in order takes time and gains nothing: the system takes the memory back at once.
    os._exit(0)


def _parameters(llama: Any, order: dict[str, Any]) -> Any:
    params = llama.CommonParams()
    params.model.path = order["path"]
    params.n_ctx = order["cells"]
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = order["batch"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = order["threads"]
    params.api_keys = [order["key"]]
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.ctx_shift = True
    params.fit_params = False
    params.warmup = False
    params.ui = False
    params.verbosity = WARNINGS_ONLY
    return params


if __name__ == "__main__":
    main()
