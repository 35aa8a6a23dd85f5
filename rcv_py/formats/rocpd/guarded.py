"""Read an untrusted SQLite file: read only, table by table, without running any code in it.

A database may define views, virtual tables, triggers and expressions, which SQLite would run; this module
allows only plain columns of plain tables.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rcv_py.base.errors import BrokenFile
from rcv_py.base.progress import checkpoint
from rcv_py.base.text import Message
from rcv_py.formats.input.files import system_errors

MAGIC = b"SQLite format 3\0"
STEPS = 20_000  # steps of SQLite's machine between two checks for cancellation
MAX_STEPS = 2_000_000_000  # steps of a whole read: some minutes
VALUE_BYTES = 64 << 20  # of a text or blob
ROWS = 4_000_000  # of a table
TABLES = 4_096
_AT_ONCE = 20_000  # rows
_FUNCTIONS = ("length", "substr", "typeof")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,127}", re.ASCII)


class Guarded:
    """The plain tables of a database; `guarded` opens it."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection
        self._steps = 0
        self._allowed: frozenset[str] = frozenset(("sqlite_master",))
        connection.set_authorizer(self._authorize)
        connection.set_progress_handler(self._progress, STEPS)
        tables = 'SELECT "name" FROM "sqlite_master" WHERE "type" = \'table\' AND "rootpage" > 0'
        names = (name for (name,) in self._fetched(tables) if isinstance(name, str))
        self.tables = tuple(list(filter(_PLAIN.fullmatch, names))[:TABLES])
        self._allowed |= frozenset(self.tables)

    def columns(self, table: str) -> tuple[str, ...]:
        """Return the names of the columns of a table, without unusual names."""
        with self._errors_as_sentences(table):
            cursor = self._connection.execute(f'SELECT * FROM "{table}" LIMIT 0')
            names = (str(column[0]) for column in cursor.description)
            return tuple(name for name in names if _PLAIN.fullmatch(name))

    def rows(self, table: str, wanted: Sequence[str], where: str = "") -> Iterator[tuple[Any, ...]]:
        """Yield the wanted columns of a table, None for those that it lacks; at most ROWS rows."""
        there = set(self.columns(table))
        columns = ", ".join(f'"{name}"' if name in there else "NULL" for name in wanted)
        yield from self._fetched(f'SELECT {columns} FROM "{table}" {where} LIMIT {ROWS}', table)

    def part(self, table: str, column: str, row: int, size: int) -> bytes:
        """Return at most the first `size` bytes of a blob."""
        with (
            self._errors_as_sentences(table),
            self._connection.blobopen(table, column, row, readonly=True) as blob,
        ):
            return blob.read(min(size, len(blob)))

    def blobs(self, table: str, column: str, size: int) -> Iterator[tuple[int, int, bytes]]:
        """Yield row id, bytes and the first `size` bytes of every blob of a column."""
        yield from self._fetched(
            f'SELECT "rowid", length("{column}"), substr("{column}", 1, {size}) FROM "{table}"'
            f" WHERE typeof(\"{column}\") = 'blob' LIMIT {ROWS}",
            table,
        )

    def _fetched(self, text: str, table: str = "") -> Iterator[tuple[Any, ...]]:
        with self._errors_as_sentences(table):
            cursor = self._connection.execute(text)
            while rows := cursor.fetchmany(_AT_ONCE):
                yield from rows

    @contextmanager
    def _errors_as_sentences(self, table: str) -> Iterator[None]:
        where = Message("The table {0} of {1}", table, self.path.name) if table else self.path.name
        try:
            yield
        except sqlite3.DatabaseError as error:
            checkpoint()  # our own handler stopped it
            why = "reading it takes too long" if self._steps >= MAX_STEPS else "it cannot be read"
            raise BrokenFile(where, why, repr(error)) from error

    def _progress(self) -> bool:
        self._steps += STEPS
        try:
            checkpoint()
        except Exception:  # `_errors_as_sentences` raises it again, outside of SQLite
            return True
        return self._steps >= MAX_STEPS

    def _authorize(self, action: int, one: str | None, two: str | None, *_: object) -> int:
        is_allowed = action == sqlite3.SQLITE_SELECT
        is_allowed |= action == sqlite3.SQLITE_READ and one in self._allowed
        is_allowed |= action == sqlite3.SQLITE_FUNCTION and two in _FUNCTIONS
        return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


@contextmanager
def guarded(path: Path) -> Iterator[Guarded]:
    """Open a database; raise BrokenFile, MissingFile or the exception that cancels the work."""
    with system_errors(path.name), path.open("rb") as stream:
        head = stream.read(len(MAGIC))
    if head != MAGIC:
        raise BrokenFile(path.name, "it is not a SQLite database")
    try:
        # Immutable: no lock, no replay of another program's journal, and nothing is written next to it.
        address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    except sqlite3.Error as error:
        raise BrokenFile(path.name, "it cannot be read", repr(error)) from error
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        for setting in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
            connection.execute(f"PRAGMA {setting}")
        yield Guarded(path, connection)
    except sqlite3.Error as error:
        raise BrokenFile(path.name, "it cannot be read", repr(error)) from error
    finally:
        connection.close()
