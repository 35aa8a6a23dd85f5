"""What a process of the server does: it runs commands, shortens documents, and keeps captures open.

Commands run in processes because a process can be stopped at any moment, prints to a stream of its own, and
cannot take the server with it.
"""

from __future__ import annotations

import io
import shlex
import traceback
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

import orjson

from rcv_py.base.errors import RcvError
from rcv_py.cli.arguments import parse
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.main import run_command
from rcv_py.formats.capture_cache import CaptureCache

CAPTURES = 8  # that a process keeps open
KB = 1000
MAX_ITEMS = 200  # of a list in a document that is shortened
_TEXT_ROOM = 0.1  # part of an answer that its short text may take
_LEFT_ALONE = ("schema", "rcv", "capture", "totals", "shortened")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended: exit code, its document or what else it printed, and the sentence if it failed."""

    code: int
    document: dict[str, Any] | None = None
    text: str = ""
    error: str = ""
    hint: str = ""
    cut: tuple[str, ...] = ()  # what was shortened in the document, such as `rows 5 of 40`


class CommandRunner:
    """Runs command lines; each process has one of its own."""

    def __init__(self) -> None:
        self._cache: CaptureCache | None = None  # made in the process

    def __call__(self, words: list[str], max_kb: int) -> Outcome:
        """Run one command line; its document is shortened to `max_kb` KB, 0: not.

        The outcome says what goes wrong; nothing but being stopped gets out of here.
        """
        self._cache = self._cache or CaptureCache(CAPTURES)
        out, err = io.StringIO(), io.StringIO()
        try:
            with redirect_stdout(out), redirect_stderr(err):
                options = parse(words).but(cache=self._cache)
                code = run_command(options)
        except RcvError as error:
            return Outcome(ExitCode.USAGE, error=str(error), hint=error.hint)
        except SystemExit:
            return Outcome(ExitCode.USAGE, error=_refusal(err.getvalue()))
        except Exception as error:  # the last place that can say which words lead to the bug
            traceback.print_exc()
            line = shlex.join(["rcv", *words])
            sentence, hint = f"This is a bug of rcv ({error!r}).", f"Please report it with: {line}"
            return Outcome(ExitCode.BUG, error=sentence, hint=hint)
        return _outcome(code, out.getvalue(), err.getvalue(), max_kb)


def _outcome(code: int, printed: str, complaints: str, max_kb: int) -> Outcome:
    error = _complaint(complaints) if code == ExitCode.USAGE else ""
    try:
        document, cut = fitted(orjson.loads(printed), max_kb)
    except orjson.JSONDecodeError:  # a command without JSON prints the names of its files
        return Outcome(code, text=printed, error=error)
    return Outcome(code, document, error=error, cut=tuple(cut))


def _refusal(usage: str) -> str:
    """The sentence in what argparse prints: `rcv hotspot: error: argument --by: …`."""
    text = usage.strip().rpartition("error: ")[2] or "the arguments do not fit"
    return f"{text[:1].upper()}{text[1:]}."


def _complaint(text: str) -> str:
    """What a command said of the parts that failed."""
    lines = (line.strip().removeprefix("rcv: ") for line in text.splitlines())
    return " ".join(line for line in lines if line)


def fitted(document: dict[str, Any], max_kb: int) -> tuple[dict[str, Any], list[str]]:
    """Return the document with lists as long as fit into `max_kb` KB, and what was shortened.

    The latter in texts such as `rows 5 of 40`, which a shortened document has as `shortened`, too.  No number
    is changed.  The list that takes most room, without lists inside of it, is shortened first; where that is
    not enough, the largest parts are left out.
    """
    room = int(max_kb * KB * (1 - _TEXT_ROOM))
    if not max_kb or _size(document) <= room:
        return document, []
    lists = _lists(document)
    limits = {place: min(one.length, MAX_ITEMS) for place, one in lists.items()}
    while True:
        shorter = _shortened(document, limits, "")
        cut = [
            f"{place} {limits[place]:,} of {one.length:,}"
            for place, one in lists.items()
            if one.length > limits[place]
        ]
        shorter["shortened"] = cut
        if _size(shorter) <= room:
            return shorter, cut
        left = {place: one.weight for place, one in _lists(shorter).items() if limits.get(place, 0) > 1}
        if not any(left.values()):
            return _without_largest(shorter, cut, room)
        place = max(left, key=lambda name: left[name])
        limits[place] = limits[place] * 3 // 4


def _without_largest(document: dict[str, Any], cut: list[str], room: int) -> tuple[dict[str, Any], list[str]]:
    sizes = {key: _size(value) for key, value in document.items() if key not in _LEFT_ALONE}
    for key in sorted(sizes, key=lambda one: -sizes[one]):
        del document[key]
        cut.append(f"{key} left out")
        if _size(document) <= room:
            break
    return document, cut


def _size(value: object) -> int:
    """Bytes of JSON."""
    return len(orjson.dumps(value))


def _shortened(value: Any, limits: dict[str, int], place: str) -> Any:
    if isinstance(value, dict):
        return {
            key: _shortened(item, limits, f"{place}.{key}" if place else key) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_shortened(item, limits, f"{place}[]") for item in value[: limits[place]]]
    return value


@dataclass(slots=True)
class _List:
    """All lists at one place of a document: the longest, and the bytes of items without lists inside."""

    length: int = 0
    weight: int = 0


def _lists(document: dict[str, Any]) -> dict[str, _List]:
    found: dict[str, _List] = {}

    def weigh(value: Any, place: str) -> int:
        if isinstance(value, dict):
            parts = ((key, f"{place}.{key}" if place else key) for key in value)
            return sum(len(key) + 4 + weigh(value[key], inside) for key, inside in parts)
        if not isinstance(value, list):
            return _size(value)
        own = found.setdefault(place, _List())
        own.length = max(own.length, len(value))
        own.weight += sum(weigh(item, f"{place}[]") for item in value)
        return 2

    weigh(document, "")
    return found
