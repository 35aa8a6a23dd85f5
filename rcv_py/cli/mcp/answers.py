"""From how a command ended to what an agent reads: its document, long lists shortened, and a short text."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import Any

import orjson

from rcv_py.base.text import count, elide_right, visible
from rcv_py.cli.exit_codes import ExitCode

KB = 1000
MAX_ITEMS = 200  # of a list in a document that is shortened
_TEXT_ROOM = 0.1  # part of an answer that its short text may take
_VALUE_LETTERS = 160
_NOT_SAID = ("schema", "rcv")
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


@dataclass(frozen=True, slots=True)
class Reply:
    """A result: a short text, the document, perhaps a picture; or a sentence of failure."""

    text: str
    document: dict[str, Any] | None = None
    picture: bytes | None = None  # PNG
    is_error: bool = False
    meta: dict[str, Any] = field(default_factory=dict)


def failure(sentence: str, hint: str = "") -> Reply:
    """Return the result of a call that failed."""
    return Reply(f"{sentence} {hint}".strip(), is_error=True)


def reply(outcome: Outcome, words: list[str], max_kb: int) -> Reply:
    """Return the result for how a command ended; its document has been shortened to `max_kb` KB, 0: not."""
    meta = {"rcv/command": shlex.join(["rcv", *words]), "rcv/exit": outcome.code}
    has_nothing = outcome.document is None and not outcome.text
    if outcome.error and (has_nothing or outcome.code == ExitCode.USAGE):
        texts = (f"{outcome.error} {outcome.hint}".strip(), outcome.text.strip())
        return Reply("\n".join(filter(None, texts)), is_error=True, meta=meta)
    if outcome.document is None:
        return Reply(outcome.text.strip(), {"printed": outcome.text.splitlines()}, meta=meta)
    said = sentences(outcome.document)
    if outcome.cut:
        cut = ", ".join(outcome.cut)
        said += f" Shortened to {max_kb} KB: {cut}. For more: a filter, top, or max_kb (0: all)."
    return Reply(visible(said), outcome.document, meta=meta)


def sentences(document: dict[str, Any]) -> str:
    """Return what a document is about: its single values, and how long its lists are."""
    parts = []
    for key, value in document.items():
        if isinstance(value, list):
            parts.append(f"{key}: {count(len(value))}")
        elif isinstance(value, str | int | float) and value not in ("", True, False) and key not in _NOT_SAID:
            parts.append(f"{key}: {elide_right(str(value), _VALUE_LETTERS)}")
    return f"{document.get('schema', 'a document')}; {'; '.join(parts)}." if parts else "A document."


# -- shortening -------------------------------------------------------------------------------------


def fitted(document: dict[str, Any], max_kb: int) -> tuple[dict[str, Any], list[str]]:
    """Return the document with lists as long as fit into `max_kb` KB, and what was shortened.

    The latter in texts such as `rows 5 of 40`, which a shortened document has as `shortened`, too.  No number
    is changed.  The list that takes most room, lists inside of it aside, is shortened first; where that is
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
