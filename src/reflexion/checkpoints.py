"""Checkpoints of the files under way, in SQLite: where a run that was killed or stopped is taken up again.

Each file has a thread of its own, named by a digest of everything that its page depends on. So the same command finds
it again, and a source, setting or model that changed meanwhile begins anew. A file that is done loses its checkpoints.
"""

import contextlib
import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from reflexion.errors import InputError
from reflexion.journal import Journal
from reflexion.runs import RECORD_FOLDER
from reflexion.wording import MAKE_ROOM, advice_on

if TYPE_CHECKING:
    from reflexion.manifest import Basis

NAME = "checkpoints.sqlite"
# Pages of the write-ahead log, 4 KiB each, after which it is folded into the database and begun anew.
LOG_PAGES = 64
_REMOVE = "; remove it to begin anew"


class Checkpoints:
    """The checkpoints of an output folder. A context manager; its methods may be called from several threads."""

    def __init__(self, folder: Path) -> None:
        """Open them. Raises InputError when the database cannot be used."""
        self.path = folder / RECORD_FOLDER / NAME
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.parent.chmod(0o700)
            self.path.touch(mode=0o600)
            self._connection = sqlite3.connect(self.path, check_same_thread=False)
            # A page given back is reused, so the file does not grow with the number of files done.
            self._connection.execute("PRAGMA auto_vacuum = FULL")
            # What is committed outlives a killed process all the same, and each of the ten commits or more that a file
            # takes waits for the disk no longer. After a power cut the database is sound, if perhaps a step older.
            self._connection.execute("PRAGMA synchronous = NORMAL")
            # By default it grows to 4 MB, nearly all of it of steps that are over, which a full disk cannot spare.
            self._connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
            # Strict: plain values only. A checkpoint is data from disk, and must not be able to make objects.
            serde = JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)
            self.saver = SqliteSaver(self._connection, serde=serde)
            self.saver.setup()
            self.journal = Journal(self.saver.cursor)
            with self.saver.cursor() as cursor:
                cursor.execute("CREATE TABLE IF NOT EXISTS cuts (thread_id TEXT PRIMARY KEY, cut TEXT NOT NULL)")
            self._require_sound()
            self._fold_log()
        except OSError as error:
            raise InputError(f"{self.path}: cannot be used: {error}{advice_on(error, _REMOVE)}") from error
        except sqlite3.Error as error:
            is_full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
            raise InputError(f"{self.path}: cannot be used: {error}{MAKE_ROOM if is_full else _REMOVE}") from error

    def _require_sound(self) -> None:
        """Raise sqlite3.Error for a database that is damaged, or somebody else's, before anything relies on it."""
        with self.saver.cursor(transaction=False) as cursor:
            [found] = cursor.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise sqlite3.DatabaseError("database disk image is malformed")
            for columns in (
                "thread_id FROM checkpoints",
                "thread_id FROM writes",
                "used FROM answers",
                "cut FROM cuts",
            ):
                cursor.execute(f"SELECT {columns} LIMIT 0")

    def _fold_log(self) -> None:
        """Put into the database what a run that was killed, or had no room, left in the log, whose room is then free.

        Raises sqlite3.Error where there is no room even for that: no step could be kept.
        """
        with self.saver.cursor(transaction=False) as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def __enter__(self) -> "Checkpoints":
        return self

    def __exit__(self, *_: object) -> None:
        """Close the database, and remove it when nothing is under way any more."""
        empty = False
        # Without room, or without its folder, it cannot be asked; then it stays, and the next run sees to it.
        with contextlib.closing(self._connection), contextlib.suppress(sqlite3.Error):
            empty = self._connection.execute("SELECT NOT EXISTS (SELECT 1 FROM checkpoints)").fetchone()[0]
        if empty:
            for name in (NAME, f"{NAME}-wal", f"{NAME}-shm"):
                self.path.with_name(name).unlink(missing_ok=True)

    def threads(self) -> frozenset[str]:
        """Return the names of all threads that have checkpoints."""
        with self.saver.cursor(transaction=False) as cursor:
            return frozenset(row[0] for row in cursor.execute("SELECT DISTINCT thread_id FROM checkpoints"))

    def cut_of(self, thread: str) -> str:
        """Return what ``keep_cut`` was given for a file, "" where it was given nothing."""
        with self.saver.cursor(transaction=False) as cursor:
            found = cursor.execute("SELECT cut FROM cuts WHERE thread_id = ?", (thread,)).fetchone()
        return str(found[0]) if found else ""

    def keep_cut(self, thread: str, cut: str) -> None:
        """Keep how a file was cut into pieces, as long as its checkpoints."""
        with self.saver.cursor() as cursor:
            cursor.execute("INSERT OR REPLACE INTO cuts VALUES (?, ?)", (thread, cut))

    def forget(self, thread: str) -> None:
        """Drop the checkpoints of a file that is done, those of its pieces included."""
        with self.saver.cursor() as cursor:
            for table in ("checkpoints", "writes", "answers", "cuts"):
                cursor.execute(
                    f"DELETE FROM {table} WHERE thread_id = ? OR thread_id GLOB ?",  # noqa: S608  # Fixed names.
                    (thread, f"{thread}/*"),
                )


def thread_of(label: str, basis: "Basis") -> str:
    """Return the name of a file's thread; pieces of it are called ``NAME/1`` and so on."""
    return sha256(f"{label}\n{basis.model_dump_json()}".encode(errors="surrogateescape")).hexdigest()
