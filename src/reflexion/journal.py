"""Answers of models, on disk as soon as they are whole: a kill before the next checkpoint costs none of them.

A step that was killed is run again from its beginning and asks its questions again; those that were answered get the
same answers, without a model. The checkpoint at a step's end makes its answers superfluous, so they go with it.
"""

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager

# The checkpoint and the end of its step's answers are one commit, so no answer can outlive its step.
_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    number INTEGER PRIMARY KEY, thread_id TEXT NOT NULL, question TEXT NOT NULL, answer TEXT NOT NULL,
    used INTEGER NOT NULL
);
CREATE TRIGGER IF NOT EXISTS end_of_step AFTER INSERT ON checkpoints BEGIN
    DELETE FROM answers WHERE thread_id = NEW.thread_id;
END;
"""


Cursor = Callable[[], AbstractContextManager[sqlite3.Cursor]]


class Journal:
    """The answers of the steps under way, each step named by the thread of its checkpoints.

    ``cursor`` gives a cursor whose changes are committed at its end, to one thread at a time. The table "checkpoints"
    has to be there. Raises sqlite3.Error.
    """

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        with cursor() as opened:
            opened.executescript(_TABLE)

    def begin(self, thread: str) -> "Answers":
        """Return the answers of a thread whose step begins, or begins again, so that each can be had once more."""
        with self._cursor() as cursor:
            cursor.execute("UPDATE answers SET used = 0 WHERE thread_id = ?", (thread,))
        return Answers(self._cursor, thread)


class Answers:
    """The answers of one thread. Its methods may be called from any thread of the process, and raise sqlite3.Error."""

    def __init__(self, cursor: Cursor, thread: str) -> None:
        self._cursor = cursor
        self._thread = thread

    def find(self, question: str) -> str | None:
        """Return the first answer to a question that the step has not had since it began, None where there is none."""
        with self._cursor() as cursor:
            wanted = "SELECT number, answer FROM answers WHERE thread_id = ? AND question = ? AND NOT used"
            found = cursor.execute(f"{wanted} ORDER BY number LIMIT 1", (self._thread, question)).fetchone()
            if found is None:
                return None
            cursor.execute("UPDATE answers SET used = 1 WHERE number = ?", found[:1])
        return str(found[1])

    def keep(self, question: str, answer: str) -> None:
        """Put an answer on disk."""
        with self._cursor() as cursor:
            row = (self._thread, question, answer)
            cursor.execute("INSERT INTO answers (thread_id, question, answer, used) VALUES (?, ?, ?, 1)", row)
