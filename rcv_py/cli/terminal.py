"""Output to the terminal: escapes, progress, line width and the pager.

Only our own control codes reach the terminal as codes: text of a capture is printed in hundreds of places,
and none of them has to escape it.
"""

import codecs
import os
import re
import shlex
import signal
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from typing import Any, TextIO, TypeVar, cast

from rcv_py.base.progress import Report, Stage, silent
from rcv_py.base.text import MAX_DIGITS, Message, cells, translated, visible
from rcv_py.cli.options.option import Options
from rcv_py.cli.options.shared import Forms

_LINK, _END = "\x1b]8;;", "\x1b\\"
BOLD, UPRIGHT, WIPE = "\x1b[1m", "\x1b[0m", "\r\x1b[K"
# Random, so that no capture can contain them.
_MARKS = {code: f"<{os.urandom(16).hex()}>" for code in (BOLD, UPRIGHT, WIPE)}

_ONE = "−–—×↑↓µμ·•▪●›▸▶►▼▾▲◀Σ“”¹²█▓▒░─│", "---x^vuu.***>>>>vv^<S''12##+.-|"
_ASCII = dict(zip(*_ONE, strict=True)) | {"→": "->", "←": "<-", "…": "...", "≤": "<=", "≥": ">=", "±": "+-"}
SIGNS = "rcv-signs"  # the error handler that writes them to streams of fewer characters, and ? for letters


def _stand_in(error: Any) -> tuple[str, int]:
    signs = error.object[error.start : error.end]
    return "".join(_ASCII.get(sign, "?") for sign in signs), error.end


codecs.register_error(SIGNS, _stand_in)


class SanitizedStream:
    """A stream that shows invisible characters as escapes; otherwise it behaves as the wrapped stream.

    If the reader, for example `head`, has closed the pipe, nothing more is written, and no error is raised:
    what else a command does, and its exit code, do not depend on readers.
    """

    def __init__(self, below: TextIO) -> None:
        self.below = below

    def write(self, text: str) -> int:
        """Write the text; lines and tabs stay, and a mark of `code` becomes its code."""
        shown = visible(text, "\n\t")
        for code, mark in _MARKS.items() if "<" in shown else ():
            shown = shown.replace(mark, code)
        self.send(shown)
        return len(text)

    def send(self, text: str) -> None:
        """Write the text as it is."""
        try:
            self.below.write(text)
        except BrokenPipeError:
            silence(self.below)

    def flush(self) -> None:
        """Write what is buffered."""
        try:
            self.below.flush()
        except BrokenPipeError:
            silence(self.below)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.below, name)


def silence(stream: TextIO) -> None:
    """Redirect a closed stream to the null device; otherwise the interpreter's last flush fails."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)


def code(which: str, stream: TextIO) -> str:
    """Return the text that writes BOLD, UPRIGHT or WIPE to a stream: a mark if an outlet converts it."""
    return _MARKS[which] if isinstance(stream, SanitizedStream) else which


def width_of(stream: TextIO) -> int | None:
    """Return the maximum line width in characters: $COLUMNS, the terminal's, or None for files and pipes."""
    columns = os.environ.get("COLUMNS", "")[:MAX_DIGITS]
    if columns.isascii() and columns.isdigit() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream.isatty() else None
    except (OSError, ValueError):
        return None


def has_style(stream: TextIO) -> bool:
    """Whether bold print is wanted: on a terminal or with $FORCE_COLOR, and never with $NO_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return os.environ["FORCE_COLOR"] != "0"
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def bold(text: str, stream: TextIO) -> str:
    """Return the text, on one line and in the selected language, in bold if bold is enabled."""
    line = visible(translated(text))
    return f"{code(BOLD, stream)}{line}{code(UPRIGHT, stream)}" if has_style(stream) else line


def at_words(text: str, width: int) -> list[str]:
    """Return the lines of a sentence that is broken at words, of at least 20 characters."""
    if cells(text) > len(text):
        return list(_at_letters(text, max(20, width)))
    return textwrap.wrap(text, max(20, width), break_long_words=False, break_on_hyphens=False)


_WHOLE = r"[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]|[^\s\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]+|\s+"
_NO_BEGIN = "，。；：）、？！"  # no line begins with these


def _at_letters(text: str, width: int) -> Iterator[str]:
    """Wrap a sentence in East Asian characters, which may break between any two."""
    line = ""
    for piece in re.findall(_WHOLE, text):
        if line.strip() and cells(line + piece.rstrip()) > width and piece not in _NO_BEGIN:
            yield line.rstrip()
            line = ""
        line += piece if line else piece.lstrip()
    if line.strip():
        yield line.rstrip()


@contextmanager
def outlets() -> Iterator[None]:
    """Send all output through outlets while the block runs."""
    streams = sys.stdout, sys.stderr
    try:
        sys.stdout, sys.stderr = (
            stream if isinstance(stream, SanitizedStream) else cast(TextIO, SanitizedStream(stream))
            for stream in streams
        )
        yield
    finally:
        sys.stdout, sys.stderr = streams


def complain(text: str, hint: str = "") -> None:
    """Print a sentence of rcv on stderr, and what to do about it."""
    print(f"rcv: {visible(translated(text))}", file=sys.stderr)
    if hint:
        print(f"     {visible(translated(hint))}", file=sys.stderr)


def complaints(sentences: Iterable[tuple[str, str]]) -> list[str]:
    """Print sentences about captures on stderr, but no empty ones; return them with the captures' names."""
    found = [Message("{0}: {1}", name, text) for name, text in sentences if text]
    for sentence in found:
        complain(sentence)
    return [*found]


EVERY_S = 0.1
Item = TypeVar("Item")


@contextmanager
def progress(stream: TextIO | None = None) -> Iterator[Report]:
    """Give a function that shows stages on stderr while the block runs; silent unless that is a terminal."""
    stream = stream or sys.stderr
    if not stream.isatty():
        yield silent
        return
    shown = 0.0

    def show(stage: Stage) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown >= EVERY_S or (stage.total and stage.done >= stage.total):
            shown = now
            stream.write(f"{code(WIPE, stream)}{visible(translated(str(stage)))}")
            stream.flush()

    try:
        yield show
    finally:
        stream.write(code(WIPE, stream))
        stream.flush()


def watched(
    items: Iterable[Item], name: str, total: int, size: Callable[[Item], int] = lambda item: 1
) -> Iterator[Item]:
    """Yield the items, and show how many of `total` are done; `size` is the weight of an item."""
    done = 0
    with progress() as report:
        report(Stage(name, done, total))
        for item in items:
            done += size(item)
            report(Stage(name, done, total))
            yield item


_PLACE = re.compile(r"(?<![^\s(])([^\s:()][^\s:]*):([1-9]\d{0,8})(?![\w:])")
MAX_LINKS = 2_000  # of a listing: each needs one look at the disk per file
Files = Callable[[str], Path | None]  # the file of this machine that a short path of a source names


def link_sources(files: Callable[[], Files]) -> None:
    """Link source places in the next output, if the terminal supports links."""
    held = getattr(sys.stdout, "below", None)
    if isinstance(held, _Held) and held.isatty() and knows_links(os.environ):
        held.files = files()


def linked(text: str, files: Files) -> str:
    """Return the text with links (OSC 8) around each `file.py:186` whose file is on this machine.

    An address is `file://HOST/PATH#186` with the whole path percent-encoded: no text of a capture enters an
    escape unencoded.
    """
    from urllib.parse import quote  # noqa: PLC0415 - pipes do not wait for it

    known: dict[str, str] = {}
    host = quote(os.uname().nodename, safe="") if hasattr(os, "uname") else ""
    count = 0

    def link(found: re.Match[str]) -> str:
        nonlocal count
        name = found[1]
        if name not in known:
            file = files(name) if len(known) < MAX_LINKS else None
            known[name] = "" if file is None else f"file://{host}{quote(os.fsencode(file.as_posix()))}"
        count += 1
        if not known[name] or count > MAX_LINKS:
            return found[0]
        return f"{_LINK}{known[name]}#{found[2]}{_END}{found[0]}{_LINK}{_END}"

    return _PLACE.sub(link, text)


def knows_links(environment: Mapping[str, str]) -> bool:
    """Whether links may be sent to a terminal: not without styles, nor to terminals that print them.

    $RCV_LINKS decides for all others; 0 disables links.
    """
    if environment.get("RCV_LINKS"):
        return environment["RCV_LINKS"] != "0"
    return not environment.get("NO_COLOR") and environment.get("TERM", "") not in ("dumb", "linux", "")


USUAL = "less -FRX"
LESS = "FRX"  # the options of a `less` that is given none, as of git
_COLUMNS = re.compile(r"(?<![.:;])  ")  # between two cells of a table
_CODES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class _Held(StringIO):
    """Buffered text for a terminal."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__()
        self.terminal = terminal
        self.files: Files | None = None  # of the capture that is printed

    def isatty(self) -> bool:
        return self.terminal.isatty()

    def fileno(self) -> int:
        return self.terminal.fileno()


@contextmanager
def on_a_terminal(options: Options) -> Iterator[None]:
    """Wrap and page the output of the block if it is a listing for a terminal."""
    outlet, width = sys.stdout, width_of(sys.stdout)
    prints = isinstance(options, Forms) and options.is_list and not options.form
    is_listing = options.command == "help" or (prints and not vars(options).get("like"))
    if width is None or not isinstance(outlet, SanitizedStream) or not is_listing:
        yield
        return
    held = _Held(outlet.below)
    sys.stdout = cast(TextIO, SanitizedStream(held))
    is_whole = False
    try:
        yield
        is_whole = True
    finally:
        sys.stdout = outlet
        text = wrapped(held.getvalue(), width)
        words = pager_words(os.environ) if is_whole and _is_long(text, held.terminal) else []
        if held.files is not None:
            text = linked(text, held.files)
        if not (words and _shown(text, words, held.terminal)):
            outlet.send(text)


def wrapped(text: str, width: int) -> str:
    """Return the text with sentences wrapped at words; rows of tables stay as they are."""
    found = []
    for line in text.splitlines(keepends=True):
        words, indent = line.strip(), line[: len(line) - len(line.lstrip(" "))]
        if cells(_CODES.sub("", line.rstrip("\n"))) <= width or _COLUMNS.search(words):
            found.append(line)
        else:
            found += [f"{indent}{part}\n" for part in at_words(words, width - len(indent))]
    return "".join(found)


def pager_words(environment: Mapping[str, str]) -> list[str]:
    """Return the command of the pager: $RCV_PAGER, else $PAGER, else less; empty if paging is off."""
    if environment.get("NO_PAGER") or environment.get("TERM") == "dumb":
        return []
    try:
        words = shlex.split(environment.get("RCV_PAGER", environment.get("PAGER", USUAL)))
    except ValueError:  # a quote is not closed
        return []
    return [] if words == ["cat"] else words


def _is_long(text: str, terminal: TextIO) -> bool:
    """Whether it takes more lines than the terminal has; false without a terminal."""
    try:
        columns, lines = os.get_terminal_size(terminal.fileno())
    except (OSError, ValueError):
        return False
    return sum(1 + max(0, cells(line) - 1) // max(1, columns) for line in text.splitlines()) >= max(1, lines)


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
            pager.communicate(text.encode(terminal.encoding, SIGNS))
    finally:
        signal.signal(signal.SIGINT, before)
    return True
