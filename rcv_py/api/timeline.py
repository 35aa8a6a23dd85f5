"""Timelines as pictures: one row per SIMD slot with its waves in order, for notebooks and files."""

from __future__ import annotations  # the reference prints them as they are written

import struct
import zlib
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path

import numpy as np

from rcv_py.analysis.timeline.pixels import Pixels
from rcv_py.analysis.timeline.raster import RowSegment, TokenRow, raster, visible_rows
from rcv_py.analysis.timeline.stack import stacked
from rcv_py.base.colors import ROLES, TOKEN_KINDS, mixed, rgb
from rcv_py.base.text import Message, count, plural
from rcv_py.base.whole_files import whole_file
from rcv_py.model.activity import ACTIVITIES, ACTIVITY_COUNT
from rcv_py.model.ids import place_name
from rcv_py.model.kinds import KIND_TEXT
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.model.window import TimeWindow

MAX_ROWS = 64
THEMES = ("light", "dark")
_GAP = 2  # lines between rows
_FONT = "font:11px system-ui,sans-serif"


class Timeline:
    """What waves did over time, as a picture.

    `rows` are the names of the slots, `span` the cycles shown, and `pixels` the image: uint8 [lines, width],
    indices into `palette`, uint8 [colours, 3].
    """

    def __init__(
        self, rows: Sequence[str], span: TimeWindow, pixels: np.ndarray, palette: np.ndarray, left_out: int
    ) -> None:
        self.rows = tuple(rows)
        self.span = span
        self.pixels = pixels
        self.palette = palette
        self.left_out = left_out  # slots that had no room

    @cached_property
    def png(self) -> bytes:
        """The picture as PNG."""
        height, width = self.pixels.shape
        head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
        lines = np.zeros((height, width + 1), dtype=np.uint8)  # each begins with its filter, none
        lines[:, 1:] = self.pixels
        parts = (
            (b"IHDR", head),
            (b"PLTE", self.palette.tobytes()),
            (b"IDAT", zlib.compress(lines.tobytes(), 9)),
            (b"IEND", b""),
        )
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture as a PNG file; raise ExportError."""
        target = Path(path)
        with whole_file(target) as file:
            file.write(self.png)
        return target

    def __repr__(self) -> str:
        slots, span = plural(len(self.rows), "slot"), self.span
        return Message("<Timeline of {0}, cycles {1} to {2}>", slots, count(span.begin), count(span.end))

    def _repr_png_(self) -> bytes:
        return self.png

    def _repr_html_(self) -> str:
        height, width = self.pixels.shape
        each = height // max(1, len(self.rows))
        names = "".join(
            f'<div style="height:{each}px;line-height:{each}px">{escape(one)}</div>' for one in self.rows
        )
        data = b64encode(self.png).decode()
        label = escape(repr(self)[1:-1])
        picture = f'<img alt="{label}" width="{width}" height="{height}" src="data:image/png;base64,{data}">'
        times = f"<span>{count(self.span.begin)}</span><span>{count(self.span.end)} cycles</span>"
        more = Message("<div>and {0}</div>", plural(self.left_out, "more slot")) if self.left_out else ""
        return (
            f'<div style="display:flex;gap:8px;{_FONT}"><div style="white-space:nowrap">{names}</div>'
            f"<div>{picture}"
            f'<div style="display:flex;justify-content:space-between;width:{width}px">{times}</div>'
            f"{self._legend}{more}</div></div>"
        )

    @property
    def _legend(self) -> str:
        """The visible kinds, with their colours; stall is paler."""
        kinds = dict.fromkeys(ACTIVITIES[code][0] for code in np.unique(self.pixels) if code < ACTIVITY_COUNT)
        known = {kind: "#" + bytes(self.palette[_of(kind)]).hex() for kind in kinds}
        square = '<i style="display:inline-block;width:9px;height:9px;margin-right:4px;background:{}"></i>'
        parts = (
            f"<span>{square.format(color)}{escape(KIND_TEXT[kind])}</span>" for kind, color in known.items()
        )
        style = "display:flex;flex-wrap:wrap;gap:0 12px"
        return Message('<div style="{0}">{1}<span>paler: stall</span></div>', style, "".join(parts))


def _of(kind: int) -> int:
    """The first code of a kind: its work, or its stall if that is all it does."""
    return next(code for code, (known, _) in enumerate(ACTIVITIES) if known == kind)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def timeline(
    trace: Trace,
    batches: Iterable[WaveBatch],
    span: TimeWindow | None = None,
    *,
    width: int = 1000,
    row_height: int = 14,
    theme: str = "light",
) -> Timeline:
    """Return the timeline of waves in memory; by default from their first start to their last end."""
    waves = sorted(
        (wave for batch in batches for wave in batch.waves), key=lambda wave: (wave.begin, wave.row)
    )
    slots: dict[tuple[int, int, int, int], list[RowSegment]] = {}
    for wave in waves:
        key = (wave.id.se, wave.cu, wave.id.simd, wave.id.slot)
        segment = RowSegment.of(wave.tokens, wave.states, None, TimeWindow(wave.begin, wave.end), wave.row)
        slots.setdefault(key, []).append(segment)
    keys = sorted(slots)
    shown = keys[:MAX_ROWS]
    if span is None:
        begin = min((wave.begin for wave in waves), default=trace.span.begin)
        span = TimeWindow(begin, max((wave.end for wave in waves), default=begin + 1))
    several, unit = len({key[:2] for key in shown}) > 1, trace.architecture.unit_name
    names = [
        place_name(se, cu=cu if several else -1, simd=simd, slot=slot, unit=unit)
        for se, cu, simd, slot in shown
    ]
    pixels = Pixels(span, width)
    view = visible_rows([TokenRow(tuple(slots[key])) for key in shown], pixels)
    lines = max(1, row_height - _GAP)
    codes = (
        stacked(raster(view, with_states=False).kind, lines, pixels) if shown else np.zeros((0, lines, width))
    )
    picture = np.full((len(shown), lines + _GAP, width), ACTIVITY_COUNT, dtype=np.uint8)
    picture[:, :lines] = codes
    picture = picture.reshape(-1, width) if shown else np.full((1, width), ACTIVITY_COUNT, dtype=np.uint8)
    return Timeline(names, span, picture, _palette(THEMES.index(theme)), len(keys) - len(shown))


def _palette(theme: int) -> np.ndarray:
    """A colour for each activity, stall paler, and the background at the end; uint8 [n, 3]."""
    ground = ROLES["canvas"][theme]
    colors = [
        mixed(own, ground, 0.5) if is_stall else own
        for kind, is_stall in ACTIVITIES
        for own in (TOKEN_KINDS[kind.name][theme],)
    ]
    return np.array([rgb(color) for color in (*colors, ground)], dtype=np.uint8)
