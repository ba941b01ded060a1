"""The engine as a child process of ``reflexion``: it serves until its parent ends. Started by ``engine.py``."""

import argparse
import json
import os
import select
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

from reflexion.embedded.catalog import Catalog
from reflexion.embedded.packages import demo_file
from reflexion.embedded.pool import Pool
from reflexion.embedded.routes import Engine
from reflexion.embedded.server import EngineServer

PARENT_CHECK_S = 0.5


def main() -> None:
    """Serve until stdin closes (so also when the parent is killed) or SIGTERM; print the port when ready."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-loaded", type=int, default=3)
    parser.add_argument("--models", type=Path)
    arguments = parser.parse_args()
    engine = Engine(Catalog(demo_file(), arguments.models), Pool(arguments.max_loaded))
    server = EngineServer("127.0.0.1", 0, engine)

    def end(_signal: int, _frame: FrameType | None) -> None:
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    # Ctrl-C in a terminal reaches the whole group; the parent decides when the engine goes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 3600}, daemon=True).start()
    sys.stdout.write(json.dumps({"port": server.server_port}) + "\n")
    sys.stdout.flush()
    _wait_for_the_end_of_the_parent()
    # The workers end by themselves: their stdin closes with this process.
    os._exit(0)


def _wait_for_the_end_of_the_parent() -> None:
    # A process that the parent forked can hold the other end of stdin open, so that alone is no sign of life.
    parent = os.getppid()
    while os.getppid() == parent:
        if select.select([sys.stdin], [], [], PARENT_CHECK_S)[0] and not os.read(sys.stdin.fileno(), 1):
            return


if __name__ == "__main__":
    main()
