"""The waves of a capture: read when first needed, cached within a memory budget, as tables and pictures."""

from __future__ import annotations  # the reference prints them as they are written

import struct
import zlib
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from html import escape
from itertools import pairwise
from os import PathLike
from pathlib import Path

import numpy as np

from rcv_py.analysis.core.token_columns import batch_of
from rcv_py.analysis.timeline.pixels import Pixels
from rcv_py.analysis.timeline.raster import RowSegment, TokenRow, raster, visible_rows
from rcv_py.analysis.timeline.stack import stacked
from rcv_py.analysis.waves.populations import only
from rcv_py.api.errors import TooLarge
from rcv_py.api.table import Table, joined
from rcv_py.base.colors import ROLES, TOKEN_KINDS, mixed, rgb
from rcv_py.base.text import Message, count, plural
from rcv_py.base.whole_files import whole_file
from rcv_py.export.tables import NO_WAVES, TABLES, Column
from rcv_py.model.activity import ACTIVITIES, ACTIVITY_COUNT
from rcv_py.model.ids import WaveId, place_name
from rcv_py.model.kinds import KIND_TEXT
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch
from rcv_py.model.window import TimeWindow
from rcv_py.results.table import DictionaryColumn
from rcv_py.work.load import batches, plan

DEFAULT_GB = 4.0
MAX_ROWS = 64
THEMES = ("light", "dark")
_GAP = 2  # lines between rows
_FONT = "font:11px system-ui,sans-serif"
OF_WAVES = tuple(name for name, table in TABLES.items() if table.part is not None)


class Wave:
    """One traced wave with tables of its activity; `record` is the loader's object with all data."""

    def __init__(self, trace: Trace, record: TracedWave) -> None:
        self._trace, self.record = trace, record

    @property
    def id(self) -> WaveId:
        """The name of the wave."""
        return self.record.id

    @property
    def row(self) -> int:
        """Its place in the table `waves`."""
        return self.record.row

    @property
    def cu(self) -> int:
        """The compute unit it ran on."""
        return self.record.cu

    @property
    def begin(self) -> int:
        """The cycle when it began."""
        return self.record.begin

    @property
    def end(self) -> int:
        """The cycle when it ended."""
        return self.record.end

    @property
    def workgroup(self) -> int:
        """The number of its workgroup, -1 if unknown."""
        return self.record.workgroup

    @property
    def cluster(self) -> int:
        """The number of its cluster, -1 if unknown."""
        return self.record.cluster

    @cached_property
    def tokens(self) -> Table:
        """One row per executed instruction, in order of time."""
        return batch_table(self._trace, "tokens", batch_of([self.record]))

    @cached_property
    def states(self) -> Table:
        """One row per segment of its timeline: what it was doing."""
        return batch_table(self._trace, "states", batch_of([self.record]))

    @cached_property
    def waits(self) -> Table:
        """One row for each executed wait and each instruction that it waited for."""
        return batch_table(self._trace, "waits", batch_of([self.record]))

    def __repr__(self) -> str:
        return Message("<Wave {0}: {1:,} instructions>", self.id, len(self.record.tokens))

    def timeline(self, *, width: int = 1000, row_height: int = 40) -> Timeline:
        """Return a picture of what the wave did over time."""
        return timeline(self._trace, [batch_of([self.record])], width=width, row_height=row_height)

    def _repr_png_(self) -> bytes:
        return self.timeline().png

    def _repr_html_(self) -> str:
        return self.timeline()._repr_html_()


class WaveCache:
    """Waves of a trace, each read once while all of them fit in `budget` bytes."""

    def __init__(self, trace: Trace, budget: float, workers: int | None) -> None:
        self._trace, self._budget = trace, budget
        self._workers = workers  # processes that read large captures; None: as the machine has room, 0: none
        self._held: list[WaveBatch] = []
        self._known: set[int] = set()  # rows of waves that are held or cannot be read
        self._bytes = 0
        self.unreadable: dict[int, str] = {}  # row → why it could not be read

    def batches(self, rows: Collection[int] | None = None) -> Iterator[WaveBatch]:
        """Yield the waves of these rows of the index (None: all) in no particular order."""
        wanted = set(range(len(self._trace.waves)) if rows is None else rows)
        missing = sorted(wanted - self._known)
        held = tuple(self._held) if rows is None else only(self._held, wanted)
        yield from sorted(held, key=lambda batch: batch.waves[0].row)
        if not missing:
            return
        for batch in batches(self._trace, missing, workers=self._workers):
            self._hold(batch)
            yield batch

    def in_turn(self, rows: Collection[int] | None = None) -> Iterator[WaveBatch]:
        """Yield the same in order of the index; waves not in memory are read in batches, and not kept."""
        for job in plan(self._trace.waves, None if rows is None else sorted(rows)):
            missing = [row for row in job if row not in self._known]
            read = [self._trace.reader.read(missing)] if missing else []
            self.unreadable |= {row: why for batch in read for row, why in batch.missing}
            yield from in_order([*only(self._held, set(job)), *read])

    @property
    def held(self) -> tuple[WaveBatch, ...]:
        """The waves that are in memory."""
        return tuple(self._held)

    def _hold(self, batch: WaveBatch) -> None:
        self.unreadable |= dict(batch.missing)
        self._known |= {row for row, _ in batch.missing}
        size = batch.nbytes or sum(one.nbytes for one in (batch.stall, batch.busy, batch.kind, batch.line))
        if batch.waves and self._bytes + size <= self._budget:
            self._held.append(batch)
            self._bytes += size
            self._known |= {wave.row for wave in batch.waves}


def in_order(batches: Iterable[WaveBatch]) -> tuple[WaveBatch, ...]:
    """Return batches whose waves are in index order; rebuilt if they were mixed."""
    ordered = sorted((batch for batch in batches if batch.waves), key=lambda batch: batch.waves[0].row)
    all_waves = [wave for batch in ordered for wave in batch.waves]
    if all(a.row < b.row for a, b in pairwise(all_waves)):
        return tuple(ordered)
    return (batch_of(sorted(all_waves, key=lambda wave: wave.row)),)


def batch_table(trace: Trace, name: str, batch: WaveBatch) -> Table:
    """Return `tokens`, `states` or `waits` of the waves of a batch."""
    table = TABLES[name]
    assert table.part is not None
    return Table({key: _tight(column) for key, column in table.part(trace, batch).items()}, spec=table.spec)


def wave_table(trace: Trace, name: str, batches: Iterable[WaveBatch], limit: float) -> Table:
    """Return the same of all batches; raise TooLarge if it would take more than `limit` bytes."""
    tables, size = [], 0
    for batch in batches:
        table = batch_table(trace, name, batch)
        for column in map(table.raw, table):
            size += column.code.nbytes if isinstance(column, DictionaryColumn) else column.nbytes
        if size > limit:
            raise TooLarge(name, limit)
        tables.append(table)
    # Columns of a table without rows would widen the columns of the others.
    return joined(tables or [batch_table(trace, name, NO_WAVES)])


def _tight(column: Column) -> Column:
    """Store text codes in the smallest integer type."""
    if not isinstance(column, DictionaryColumn):
        return column
    kind = np.uint8 if len(column.texts) < 256 else np.int32
    return DictionaryColumn(column.texts, column.code.astype(kind))


class Timeline:
    """What waves did over time, as a picture.

    `rows` are the names of the slots, `span` the cycles shown, and `pixels` the image: uint8 [lines, width],
    indices into `palette`, uint8 [colours, 3].
    """

    def __init__(
        self, rows: Sequence[str], span: TimeWindow, pixels: np.ndarray, palette: np.ndarray, left_out: int
    ) -> None:
        self.rows, self.span = tuple(rows), span
        self.pixels, self.palette = pixels, palette
        self.left_out = left_out  # slots that had no room

    @cached_property
    def png(self) -> bytes:
        """The picture as PNG."""
        height, width = self.pixels.shape
        head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
        lines = np.zeros((height, width + 1), dtype=np.uint8)  # each begins with its filter, none
        lines[:, 1:] = self.pixels
        png, data = b"\x89PNG\r\n\x1a\n", zlib.compress(lines.tobytes(), 9)
        parts = {b"IHDR": head, b"PLTE": self.palette.tobytes(), b"IDAT": data, b"IEND": b""}
        for name, part in parts.items():
            png += struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part))
        return png

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
        size = f"height:{each}px;line-height:{each}px"
        names = "".join(f'<div style="{size}">{escape(one)}</div>' for one in self.rows)
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
        parts = ""
        for kind, color in known.items():
            parts += f"<span>{square.format(color)}{escape(KIND_TEXT[kind])}</span>"
        style = "display:flex;flex-wrap:wrap;gap:0 12px"
        return Message('<div style="{0}">{1}<span>paler: stall</span></div>', style, parts)


def _of(kind: int) -> int:
    """The first code of a kind: its work, or its stall if that is all it does."""
    return next(code for code, (known, _) in enumerate(ACTIVITIES) if known == kind)


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
    every = (wave for batch in batches for wave in batch.waves)
    waves = sorted(every, key=lambda wave: (wave.begin, wave.row))
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
    units = [(se, cu if several else -1, simd, slot) for se, cu, simd, slot in shown]
    names = [place_name(se, cu=cu, simd=simd, slot=slot, unit=unit) for se, cu, simd, slot in units]
    pixels = Pixels(span, width)
    lines = max(1, row_height - _GAP)
    picture = np.full((len(shown), lines + _GAP, width), ACTIVITY_COUNT, dtype=np.uint8)
    if shown:
        view = visible_rows([TokenRow(tuple(slots[key])) for key in shown], pixels)
        picture[:, :lines] = stacked(raster(view, with_states=False).kind, lines, pixels)
    image = picture.reshape(-1, width) if shown else np.full((1, width), ACTIVITY_COUNT, dtype=np.uint8)
    return Timeline(names, span, image, _palette(THEMES.index(theme)), len(keys) - len(shown))


def _palette(theme: int) -> np.ndarray:
    """A colour for each activity, stall paler, and the background at the end; uint8 [n, 3]."""
    ground = ROLES["canvas"][theme]
    own = ((TOKEN_KINDS[kind.name][theme], is_stall) for kind, is_stall in ACTIVITIES)
    colors = (mixed(color, ground, 0.5) if is_stall else color for color, is_stall in own)
    return np.array([rgb(color) for color in (*colors, ground)], dtype=np.uint8)
