"""Errors whose text is a sentence for the user.

RcvError
├── TraceError           the folder or one of its files cannot be used
│   ├── NotATrace        the path holds no capture
│   ├── BrokenFile       a file exists but its contents are invalid, or (ClosedFile) it may not be read
│   └── MissingFile      a file the index names does not exist
├── ExportError          a picture or a table cannot be written
├── UsageError           the command line or a search text is invalid
└── Cancelled            the user stopped it
"""

from typing import Any

from rcv_py.base.text import Message


class RcvError(Exception):
    """An error (`str(error)`) with a remedy (`hint`) and data for a bug report (`detail`)."""

    def __init__(self, text: str, hint: str = "", detail: str = "") -> None:
        super().__init__(text)
        self.hint, self.detail = hint, detail
        if hint:
            self.add_note(hint)  # a script's traceback shows the hint

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions cross process borders; the default would call __init__ with the text alone,
        # which breaks the whole pool for a subclass that takes other arguments.
        return (_rebuild, (type(self), str(self), dict(self.__dict__)))


def _rebuild(kind: type[RcvError], text: str, state: dict[str, Any]) -> RcvError:
    error = kind.__new__(kind)
    Exception.__init__(error, text)
    error.__dict__.update(state)
    return error


class TraceError(RcvError):
    """The folder or one of its files cannot be used."""


class NotATrace(TraceError):
    """The path holds no capture."""

    def __init__(self, path: object, reason: str = "it has no filenames.json") -> None:
        super().__init__(
            Message("{0} is not a decoded thread trace: {1}.", path, reason),
            hint="Choose a ui_output_* folder, .att files, an .rcvz file, or a folder with some of them.",
        )


class BrokenFile(TraceError):
    """A file of the trace exists but its contents are invalid."""

    def __init__(self, name: str, problem: str, detail: str = "") -> None:
        super().__init__(
            Message("{0} is damaged: {1}.", name, problem),
            hint="Record the trace again, or copy the folder again if it was moved.",
            detail=detail,
        )
        self.name = name


class ClosedFile(BrokenFile):
    """A file of the trace may not be read."""

    def __init__(self, name: str) -> None:
        TraceError.__init__(self, Message("{0} may not be read.", name), "Ask its owner for access.")
        self.name = name


class MissingFile(TraceError):
    """A file the index names does not exist."""

    def __init__(self, name: str) -> None:
        text = Message("{0} is missing.", name)
        super().__init__(text, hint="Copy the whole capture folder, not a part of it.")
        self.name = name


class ExportError(RcvError):
    """A picture or a table cannot be written."""


class UsageError(RcvError):
    """The command line or a search text is invalid."""


class Cancelled(RcvError):
    """The user stopped it."""

    def __init__(self) -> None:
        super().__init__("Stopped.")
