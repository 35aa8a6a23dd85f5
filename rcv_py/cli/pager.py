"""Long listings on a terminal go through a pager, as git shows them."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from rcv_py.cli.options.option import Options, form_of
from rcv_py.cli.outlet import Outlet

USUAL = "less -FRX"
LESS = "FRX"  # what a pager that is `less` without options is told, as git does
_WRITERS = ("report", "export", "synth")  # they print names while they work


class _Held:
    """Text for a terminal that waits until all of it is known; the terminal in all else."""

    def __init__(self, terminal: TextIO) -> None:
        self.terminal = terminal
        self.parts: list[str] = []

    def write(self, text: str) -> int:
        """Keep the text; return its length."""
        self.parts.append(text)
        return len(text)

    def flush(self) -> None:
        """Do nothing: the text is not complete."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.terminal, name)


@contextmanager
def paged(options: Options) -> Iterator[None]:
    """Show what the block prints through a pager if it is a listing longer than the terminal."""
    outlet, words = sys.stdout, pager_words(os.environ)
    if not (words and isinstance(outlet, Outlet) and outlet.isatty() and _is_listing(options)):
        yield
        return
    held = _Held(outlet.below)
    sys.stdout = cast(TextIO, Outlet(cast(TextIO, held)))
    is_whole = False
    try:
        yield
        is_whole = True
    finally:
        sys.stdout = outlet
        text = "".join(held.parts)
        if not (is_whole and _is_long(text, held.terminal) and _shown(text, words, held.terminal)):
            held.terminal.write(text)


def pager_words(environment: Mapping[str, str]) -> list[str]:
    """Return the command of the pager: $RCV_PAGER, else $PAGER, else less; none if there shall be none."""
    if environment.get("NO_PAGER") or environment.get("TERM") == "dumb":
        return []
    asked = environment.get("RCV_PAGER", environment.get("PAGER", USUAL))
    try:
        words = shlex.split(asked)
    except ValueError:  # a quote is not closed
        return []
    return [] if words == ["cat"] else words


def _is_listing(options: Options) -> bool:
    has_forms = hasattr(options, "json")  # what prints a result for programs prints a listing without it
    return has_forms and options.command not in _WRITERS and not form_of(options)


def _is_long(text: str, terminal: TextIO) -> bool:
    """Whether it takes more lines than the terminal has."""
    try:
        columns, lines = os.get_terminal_size(terminal.fileno())
    except (OSError, ValueError):
        return False
    return sum(1 + max(0, len(line) - 1) // max(1, columns) for line in text.splitlines()) >= max(1, lines)


def _shown(text: str, words: list[str], terminal: TextIO) -> bool:
    """Run the pager until it ends; return whether there is one."""
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
