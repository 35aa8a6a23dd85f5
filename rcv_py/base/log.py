"""The log of recent events, as lines: for the log window, for `--log FILE` and for bug reports.

Lines name files and captures, and hold nothing else of them.  The home folder is written as `~`.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import IO

from rcv_py.base.problems import Severity
from rcv_py.base.record import Value
from rcv_py.base.text import visible
from rcv_py.base.whole_files import unwritable

MAX_LINES = 2_000  # that are kept in memory
IN_REPORT = 30  # last lines of a bug report


class LogEntry(Value):
    """One line: seconds since the program began, severity, source, and a sentence."""

    seconds: float
    severity: Severity
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.seconds:9.3f} {self.severity:<7} {self.where}: {self.text}"


class Log:
    """The last lines, and a file that gets all of them; any thread may add lines."""

    def __init__(self) -> None:
        self._begin = monotonic()
        self._lock = Lock()
        self._lines: deque[LogEntry] = deque(maxlen=MAX_LINES)
        self._file: IO[str] | None = None

    def add(self, where: str, text: str, severity: Severity = Severity.INFO) -> None:
        """Add a line; if the file cannot be written, it is still kept in memory."""
        seconds = monotonic() - self._begin
        entry = LogEntry(seconds, severity, where, visible(without_home(text.strip()), "\n\t"))
        with self._lock:
            self._lines.append(entry)
            if self._file is not None:
                try:
                    self._file.write(f"{entry}\n")
                    self._file.flush()  # after a crash the last line matters most
                except OSError:  # a full disk
                    self._file = None

    @contextmanager
    def written_to(self, path: Path | None, head: Callable[[], str]) -> Iterator[None]:
        """Write a text and all lines added while the block runs into a new file; without a path do nothing.

        Raise ExportError if the file cannot be written.
        """
        if path is None:
            yield
            return
        try:
            file = path.open("w", encoding="utf-8", errors="backslashreplace")
            file.write(f"{head()}\n")
            file.flush()
        except (OSError, ValueError) as error:
            raise unwritable(path, error) from error
        with file:
            with self._lock:
                self._file = file
            try:
                yield
            finally:
                with self._lock:
                    self._file = None

    def lines(self) -> tuple[LogEntry, ...]:
        """The lines in memory, the oldest first."""
        with self._lock:
            return tuple(self._lines)

    def text(self, most: int = MAX_LINES) -> str:
        """The newest lines as a text."""
        return "\n".join(map(str, self.lines()[-most:]))


LOG = Log()


def without_home(text: str) -> str:
    """Return a text with `~` for the user's home folder, whose path contains the user's name."""
    try:
        home = str(Path.home())
    except RuntimeError:  # a user without one
        return text
    return text if len(home) < 3 else text.replace(home, "~")
