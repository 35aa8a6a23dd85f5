"""A listing on a terminal: sentences are wrapped at words, and what is long goes through a pager."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import StringIO
from typing import TextIO, cast

from rcv_py.cli.options.option import Options
from rcv_py.cli.options.shared import Forms
from rcv_py.cli.outlet import Outlet
from rcv_py.cli.report import at_words, width_of

USUAL = "less -FRX"
LESS = "FRX"  # the options of a `less` that is given none, as of git
_WRITERS = ("report", "synth", "schema")  # they print names while they work, or a document
_COLUMNS = re.compile(r"(?<![.:;])  ")  # between two cells of a table
_CODES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class _Held(StringIO):
    """Text for a terminal that waits until all of it is known."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        """Whether the terminal is one."""
        return self.terminal.isatty()

    def fileno(self) -> int:
        """Return the number of the terminal."""
        return self.terminal.fileno()


@contextmanager
def on_a_terminal(options: Options) -> Iterator[None]:
    """Show what the block prints as a terminal needs it, if it is a listing and goes to one."""
    outlet = sys.stdout
    width = width_of(outlet)
    if width is None or not isinstance(outlet, Outlet) or not _is_listing(options):
        yield
        return
    held = _Held(outlet.below)
    sys.stdout = cast(TextIO, Outlet(held))
    is_whole = False
    try:
        yield
        is_whole = True
    finally:
        sys.stdout = outlet
        text = wrapped(held.getvalue(), width)
        words = pager_words(os.environ) if is_whole and _is_long(text, held.terminal) else []
        if not (words and _shown(text, words, held.terminal)):
            held.terminal.write(text)


def wrapped(text: str, width: int) -> str:
    """Return the text with the lines of sentences broken at words; rows of tables stay as they are."""
    return "".join(_wrapped(line, width) for line in text.splitlines(keepends=True))


def _wrapped(line: str, width: int) -> str:
    seen = _CODES.sub("", line.rstrip("\n"))
    words = line.strip()
    if len(seen) <= width or _COLUMNS.search(words):
        return line
    indent = line[: len(line) - len(line.lstrip(" "))]
    return "".join(f"{indent}{part}\n" for part in at_words(words, width - len(indent)))


def pager_words(environment: Mapping[str, str]) -> list[str]:
    """Return the command of the pager: $RCV_PAGER, else $PAGER, else less; none if there shall be none."""
    if environment.get("NO_PAGER") or environment.get("TERM") == "dumb":
        return []
    try:
        words = shlex.split(environment.get("RCV_PAGER", environment.get("PAGER", USUAL)))
    except ValueError:  # a quote is not closed
        return []
    return [] if words == ["cat"] else words


def _is_listing(options: Options) -> bool:
    if options.command == "help":
        return True
    is_other = options.command in _WRITERS or vars(options).get("like")
    return isinstance(options, Forms) and not is_other and not options.form


def _is_long(text: str, terminal: TextIO) -> bool:
    """Whether it takes more lines than the terminal has; never if there is none."""
    if not terminal.isatty():
        return False
    try:
        columns, lines = os.get_terminal_size(terminal.fileno())
    except (OSError, ValueError):
        return False
    return sum(1 + max(0, len(line) - 1) // max(1, columns) for line in text.splitlines()) >= max(1, lines)


def _shown(text: str, words: list[str], terminal: TextIO) -> bool:
    """Run the pager until it ends; return whether there is one."""
    import subprocess  # noqa: PLC0415 - short listings do not wait for it

    terminal.flush()
    environment = {**os.environ, "LESS": os.environ.get("LESS", LESS)}
    try:
        pager = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=terminal.fileno(), env=environment)
    except OSError:
        return False
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the pager
    try:
        with suppress(BrokenPipeError):  # it was left before its end
            pager.communicate(text.encode(errors="replace"))
    finally:
        signal.signal(signal.SIGINT, before)
    return True
