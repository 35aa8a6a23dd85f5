"""Draw instructions: text coloured by unit and operand, and the bars next to it with their legend."""

import re
from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from rcv_py.analysis.cost.annotations import Annotation, LineBars, Part
from rcv_py.analysis.program.blocks import Blocks
from rcv_py.base.text import Message, elide_right, percent
from rcv_py.model.code import CodeTable
from rcv_py.ui.core.plain_text import draw_data, rich
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.column_widths import PAD
from rcv_py.ui.table.cost_bars import draw_bar, draw_whisker

_TOKEN = re.compile(
    r"(?P<comment>(//|;).*)"
    r"|(?P<mnemonic>(?<=::\s)v_\w+)"  # the second half of a dual instruction
    r"|(?P<vector>\b[va](\d+|\[[^\]]*\]))"
    r"|(?P<scalar>\b(s(\d+|\[[^\]]*\])|ttmp(\d+|\[[^\]]*\])|vcc(_lo|_hi)?|exec(_lo|_hi)?|m0|scc|null|off)\b)"
    r"|(?P<modifier>\b[a-z_][a-z0-9_]*:\[?)"
    r"|(?P<number>(?<![\w.])-?(0x[0-9a-fA-F]+|\d+(\.\d+)?(e-?\d+)?)\b)"
    r"|(?P<label>(?<!\w)([.@<][A-Za-z_][\w.$]*>?|(label|BB|L)_?\d\w*))"
    r"|(?P<word>(?<!\w)[A-Za-z_]\w*)"
)
_SCALAR_BRACKET = re.compile(r"\b(s|ttmp)\[[^\]]*\]")  # the bracket at the end is not a word boundary

# Colour of each class of operand: a class of source text, "" for the row's own colour.
_SYNTAX = {
    "mnemonic": "",  # has the colour of its unit
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
        bracket, token = _SCALAR_BRACKET.search(text, at), _TOKEN.search(text, at)
        if token is None:
            break
        name = next(name for name in _SYNTAX if name != "plain" and token[name] is not None)
        if bracket is not None and bracket.start() <= token.start():
            token, name = bracket, "scalar"
        if token.start() > at:
            parts.append((at, token.start(), "plain"))
        parts.append((*token.span(), name))
        at = token.end()
    if at < len(text):
        parts.append((at, len(text), "plain"))
    return tuple(parts)


def draw_instruction(
    painter: QPainter,
    theme: Theme,
    at: QPointF,
    text: str,
    *,
    kind: int,
    room: int,
    char_px: float,
    plain: bool,
) -> None:
    """Draw the part of an instruction that fits into `room` characters, each `char_px` wide.

    It uses the font of the painter, and a single colour if `plain`.
    """
    cut, ink = elide_right(text, room), painter.pen().color()
    if plain:
        draw_data(painter, at, cut)
        return
    for start, stop, name in pieces(text):
        if start >= len(cut):
            break
        syntax = _SYNTAX[name]
        own = theme.kind_text(kind) if name == "mnemonic" else ink
        painter.setPen(theme.syntax(syntax) if syntax else own)
        draw_data(painter, QPointF(at.x() + start * char_px, at.y()), cut[start:stop])
    painter.setPen(ink)


INSET = 3  # px above and below a bar
LANE_GAP = 1  # px between two bars of a row


class BarInk:
    """Paints bars in the colours of the theme; `show` sets their data."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self.bars: LineBars | None = None
        self._code: CodeTable | None = None
        self._total, self._largest = np.zeros(0), 0.0
        self._sum_key: Blocks | None = None
        self._sums = np.zeros((0, 0))

    def show(self, bars: LineBars, code: CodeTable) -> None:
        """Set other bars."""
        self.bars, self._code, self._sum_key = bars, code, None
        self._total, self._largest = bars.total, bars.largest

    def paint(self, painter: QPainter, cell: QRect, row: int) -> None:
        """Paint the bars of a code row."""
        bars = self.bars
        if bars is None or self._code is None or self._code.is_label[row] or not self._total[row]:
            return
        self._paint(painter, cell, bars.value[:, row], self._largest, int(self._code.kind[row]))
        if bars.high is not None and bars.low is not None and np.isfinite(bars.high[row]):
            painter.setPen(QPen(self._theme.role("text"), 1))
            box = QRectF(cell).adjusted(PAD, 0, -PAD, 0)
            draw_whisker(painter, box, (float(bars.low[row]), float(bars.high[row])), self._largest)

    def paint_section(self, painter: QPainter, cell: QRect, parts: Blocks, section: int) -> None:
        """Paint the sum over a folded section, scaled by the costliest; nothing for values without a sum."""
        if self.bars is None or not self.bars.is_sum or not len(self.bars.parts):
            return
        if self._sum_key is not parts:
            self._sums = np.add.reduceat(self.bars.value, parts.first, axis=1)
            self._sum_key = parts
        first = np.array([part.lane == 0 for part in self.bars.parts], dtype=bool)
        largest = float(self._sums[first].sum(axis=0).max(initial=0))
        self._paint(painter, cell, self._sums[:, section], largest, -1)

    def _paint(self, painter: QPainter, cell: QRect, values: np.ndarray, most: float, own_kind: int) -> None:
        assert self.bars is not None
        box = QRectF(cell).adjusted(PAD, INSET, -PAD, -INSET)
        lanes = self.bars.lanes
        height = (box.height() - LANE_GAP * (lanes - 1)) / lanes
        for lane in range(lanes):
            own = (one for one in zip(values, self.bars.parts, strict=True) if one[1].lane == lane)
            parts = [(float(value), self.color(part, own_kind)) for value, part in own]
            place = QRectF(box.left(), box.top() + lane * (height + LANE_GAP), box.width(), height)
            draw_bar(painter, place, parts, most)

    def color(self, part: Part, own_kind: int = -1) -> QColor:
        """Return the colour of a part."""
        theme = self._theme
        if part.table == "own_kind":
            return theme.kind(own_kind) if own_kind >= 0 else theme.role("issue")
        if part.table == "role":
            return theme.role(str(part.key))
        color: QColor = getattr(theme, part.table)(int(part.key))  # of a kind, reason or cause
        return color

    def legend(self) -> tuple[tuple[QColor, str, str], ...]:
        """Return colour, name and meaning of every part."""
        if self.bars is None:
            return ()
        return tuple((self.color(part), part.name, part.meaning) for part in self.bars.parts)

    def tip(self, row: int) -> list[str]:
        """Return the exact numbers of a row, line by line; none if it has no bar."""
        bars = self.bars
        if bars is None or row >= len(self._total) or not self._total[row]:
            return []
        own = float(self._total[row])
        lines: list[str] = [rich("<b>{}</b>, {}: {}", bars.mode.value, bars.unit, bars.of)]
        for part, value in zip(bars.parts, bars.value[:, row], strict=True):
            if value:
                share = percent(float(value), own)
                lines.append(Message("{0} {1} ({2} of the instruction)", part.name, _number(value), share))
        if bars.is_sum:
            share = percent(own, float(self._total.sum()))
            lines.append(Message("together {0}, {1} of all", _number(own), share))
        if bars.high is not None and bars.low is not None and np.isfinite(bars.high[row]):
            what = "90th percentile" if bars.mode is Annotation.MEMORY_WAITS else "one standard deviation to"
            lines.append(f"{what} {_number(bars.high[row])}")
        return lines


def _number(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.1f}"
