"""From what a command printed to what an agent reads: the same document, long lists shortened and told of."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from rcv_py.base.text import escaped_json
from rcv_py.cli.mcp.worker import USAGE, Answer

KB = 1000
_LENGTHS = (200, 100, 50, 25, 12, 6, 3, 1)  # of lists, tried until the document is small enough


@dataclass(frozen=True, slots=True)
class Reply:
    """A result: texts for reading, the document for programs, perhaps a picture; or a sentence of failure."""

    texts: tuple[str, ...]
    document: dict[str, Any] | None = None
    picture: bytes | None = None  # PNG
    is_error: bool = False
    meta: dict[str, Any] = field(default_factory=dict)


def failure(sentence: str, hint: str = "") -> Reply:
    """Return the result of a call that could not be done."""
    return Reply((f"{sentence} {hint}".strip(),), is_error=True)


def reply(answer: Answer, words: list[str], max_kb: int) -> Reply:
    """Return the result for what a command printed; `max_kb` 0: whatever its length."""
    meta = {"rcv/command": shlex.join(["rcv", *words]), "rcv/exit": answer.code}
    if answer.error and (not answer.text or answer.code == USAGE):
        printed = (answer.text.strip(),) if answer.text.strip() else ()
        return Reply((f"{answer.error} {answer.hint}".strip(), *printed), is_error=True, meta=meta)
    try:
        document = orjson.loads(answer.text)
    except orjson.JSONDecodeError:  # a command without JSON prints the names of its files
        return Reply((answer.text.strip(),), {"printed": answer.text.splitlines()}, meta=meta)
    document, cut = fitted(document, max_kb)
    texts = [_text(document)]
    if cut:
        texts.append(
            f"Lists were shortened to keep the answer below {max_kb} KB: {'; '.join(cut.values())}. "
            "Ask with a smaller top, a filter, or max_kb 0 for all."
        )
    return Reply(tuple(texts), document, meta=meta)


def fitted(document: dict[str, Any], max_kb: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the document with lists as long as fit, and what was shortened by its place.

    No number is changed; a shortened document has a key `shortened` that tells the same.
    """
    if not max_kb or len(_text(document)) <= max_kb * KB:
        return document, {}
    lengths = _longest(document)
    for length in _LENGTHS:
        shorter = _shortened(document, length)
        cut = {place: f"{place} {length:,} of {most:,}" for place, most in lengths.items() if most > length}
        shorter["shortened"] = list(cut.values())
        if len(_text(shorter)) <= max_kb * KB:
            break
    return shorter, cut


def _text(document: dict[str, Any]) -> str:
    return escaped_json(orjson.dumps(document).decode())


def _shortened(value: Any, length: int) -> Any:
    if isinstance(value, dict):
        return {key: _shortened(item, length) for key, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item, length) for item in value[:length]]
    return value


def _longest(document: dict[str, Any]) -> dict[str, int]:
    """Length of the longest list at each place, such as `rows[].parts`."""
    found: dict[str, int] = {}
    for place, length in _lists(document, ""):
        found[place] = max(length, found.get(place, 0))
    return found


def _lists(value: Any, place: str) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _lists(item, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        yield place, len(value)
        for item in value:
            yield from _lists(item, f"{place}[]")
