"""Work in threads of its own."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def start(work: Callable[[], T]) -> Future[T]:
    """Begin ``work`` in a thread, and return what it will give or raise.

    A daemon, unlike those of an executor: when a person says stop twice, no call under way may hold the process.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  # Whoever waits for it gets it.
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future
