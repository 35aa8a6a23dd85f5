"""Colours of an instruction's text: mnemonic by unit, operands by what they are."""

from __future__ import annotations

import re
from functools import lru_cache

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter

from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.theme import Theme

_TOKEN = re.compile(
    r"(?P<comment>(//|;).*)"
    r"|(?P<vector>\b[va](\d+|\[[^\]]*\]))"
    r"|(?P<scalar>\b(s(\d+|\[[^\]]*\])|ttmp(\d+|\[[^\]]*\])|vcc(_lo|_hi)?|exec(_lo|_hi)?|m0|scc|null|off)\b)"
    r"|(?P<modifier>\b[a-z_][a-z0-9_]*:\[?)"
    r"|(?P<number>(?<![\w.])-?(0x[0-9a-fA-F]+|\d+(\.\d+)?(e-?\d+)?)\b)"
    r"|(?P<label>(?<!\w)([.@<][A-Za-z_][\w.$]*>?|(label|BB|L)_?\d\w*))"
    r"|(?P<word>(?<!\w)[A-Za-z_]\w*)"
)
_SCALAR_BRACKET = re.compile(r"\b(s|ttmp)\[[^\]]*\]")  # ends in a bracket, where no word ends

# What each class of operand is drawn with: a class of source text, "" for the ink of the row.
_SYNTAX = {
    "vector": "",
    "scalar": "function",
    "modifier": "comment",
    "number": "number",
    "label": "keyword",
    "word": "comment",
    "comment": "comment",
    "plain": "",
}

Piece = tuple[int, int, str]  # start, stop, class


@lru_cache(maxsize=16384)
def pieces(text: str) -> tuple[Piece, ...]:
    """Return the pieces of an instruction in order, without gaps: `mnemonic`, then operands by class."""
    word = text.find(" ")
    word = len(text) if word < 0 else word
    parts: list[Piece] = [(0, word, "mnemonic")] if word else []
    at = word
    while at < len(text):
        match = _SCALAR_BRACKET.search(text, at)
        token = _TOKEN.search(text, at)
        if token is None:
            break
        if match is not None and match.start() <= token.start():
            start, stop, name = match.start(), match.end(), "scalar"
        else:
            start, stop, name = token.start(), token.end(), str(token.lastgroup and _class(token))
        if start > at:
            parts.append((at, start, "plain"))
        parts.append((start, stop, name))
        at = stop
    if at < len(text):
        parts.append((at, len(text), "plain"))
    return tuple(parts)


def _class(token: re.Match[str]) -> str:
    return next(name for name in _SYNTAX if name != "plain" and token[name] is not None)


class TextInk:
    """Draws instructions in the colours of the theme."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme

    def color(self, name: str, kind: int, ink: QColor) -> QColor:
        """The colour of a class of text."""
        if name == "mnemonic":
            return self._theme.kind_text(kind)
        syntax = _SYNTAX[name]
        return self._theme.syntax(syntax) if syntax else ink

    def draw(
        self, painter: QPainter, at: QPointF, text: str, *, kind: int, room: int, char_px: float, plain: bool
    ) -> None:
        """Draw as much of an instruction as fits into `room` characters; all in the pen's ink if `plain`."""
        cut = text if len(text) <= room else text[: room - 1] + "…"
        ink = painter.pen().color()
        if plain:
            draw_text(painter, at, cut)
            return
        for start, stop, name in pieces(text):
            if start >= len(cut):
                break
            painter.setPen(self.color(name, kind, ink))
            draw_text(painter, QPointF(at.x() + start * char_px, at.y()), cut[start:stop])
        painter.setPen(ink)
        if len(cut) == room and len(text) > room:
            draw_text(painter, QPointF(at.x() + (room - 1) * char_px, at.y()), "…")
