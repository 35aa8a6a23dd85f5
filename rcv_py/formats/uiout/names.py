"""Kernel names as people write them: a symbol without its mangling, arguments left out."""

from __future__ import annotations

import re

_LENGTH = re.compile(r"\d{1,4}")
_NESTED = re.compile(r"N[rVK]*[RO]?")  # members may be const, volatile, or for one kind of reference
_LITERAL = re.compile(r"L[a-z]n?\d+E")


def demangled(symbol: str) -> str:
    """Return `foo::bar` for `_ZN3foo3barEi`; the symbol itself if it is not mangled or too intricate."""
    if not symbol.startswith("_Z"):
        return symbol
    body = symbol[2:].removeprefix("L")
    parts: list[str] = []
    nested = _NESTED.match(body)
    is_nested = nested is not None
    at = nested.end() if nested else 0
    while at < len(body):
        at = _past_template(body, at) if body[at] == "I" and parts else at
        match = _LENGTH.match(body, at)
        if match is None:
            break
        stop = match.end() + int(match.group())
        parts.append(body[match.end() : stop])
        at = stop
        if not is_nested:
            break
    is_whole = bool(parts) and at <= len(body) and all(parts)
    return "::".join(_plain(part) for part in parts) if is_whole else symbol


def _plain(part: str) -> str:
    return "(anonymous)" if part.startswith("_GLOBAL__N") else part


def _past_template(body: str, at: int) -> int:
    """Position after the template arguments that begin at `at`."""
    depth = 0
    while at < len(body):
        if literal := _LITERAL.match(body, at):
            at = literal.end()
            continue
        if name := _LENGTH.match(body, at):
            at = name.end() + int(name.group())
            continue
        depth += (body[at] in "INXJF") - (body[at] == "E")
        at += 1
        if depth == 0:
            break
    return at
