"""The instructions of one wave, as columns."""

from typing import Literal

import numpy as np

from rcv_py.base.record import Record
from rcv_py.model.columns import ColumnTable
from rcv_py.model.window import TimeWindow

_LIMITS = {size: (-(1 << (8 * size - 1)), (1 << (8 * size - 1)) - 1) for size in (1, 2, 4, 8)}


def find(column: np.ndarray, value: int, side: Literal["left", "right"]) -> int:
    """`np.searchsorted` for one number, which must not be wider than the column.

    With a Python int numpy would first copy the whole column to 64 bits, at every look-up.
    """
    low, high = _LIMITS[column.dtype.itemsize]
    if value > high:
        return len(column)
    return int(column.searchsorted(column.dtype.type(max(value, low)), side))


class Executions(ColumnTable):
    """The executions of an instruction by a wave, in order."""

    rows: np.ndarray  # int64, ascending: rows of the wave's tokens

    def token(self, hit: int | None) -> int | None:
        """Row of the n-th execution, from 0; None if there are not as many, or for None."""
        return int(self.rows[hit]) if hit is not None and 0 <= hit < len(self.rows) else None

    def before(self, token: int) -> int:
        """Executions before a token: the number, from 0, of a token that is an execution itself."""
        return find(self.rows, token, "left")


class Tokens(Record):
    """The instructions that a wave issued, one row each, sorted by start.  15 to 21 bytes a row.

    Starts are relative to `base` so that 32 bits suffice; all columns are read-only.
    """

    base: int  # cycles, aligned: what `offset` counts from
    offset: np.ndarray  # int32 (int64 if needed), cycles: start of the first attempt to issue
    stall: np.ndarray  # int32 (int64 if needed), cycles it had to wait
    busy: np.ndarray  # int32 (int64 if needed), cycles issuing (gfx9) or executing (gfx10 and later)
    kind: np.ndarray  # uint8, TokenKind; unknown numbers are kept
    line: np.ndarray  # int16 or int32, row of the code table; -1 if none matched
    lane: np.ndarray | None = None  # uint8, sub-row for tokens that overlap; None if none do

    def __len__(self) -> int:
        return len(self.offset)

    @property
    def start(self) -> np.ndarray:
        """Starts in aligned cycles, int64."""
        return self.offset.astype(np.int64) + self.base

    @property
    def duration(self) -> np.ndarray:
        """Stall plus busy, int64: the latency shown on screen."""
        return self.stall.astype(np.int64) + self.busy

    @property
    def end(self) -> np.ndarray:
        """Ends in aligned cycles, int64."""
        return self.start + self.duration

    def span(self, row: int) -> TimeWindow:
        """The cycles of one token, stall included."""
        begin = self.base + int(self.offset[row])
        return TimeWindow(begin, begin + int(self.stall[row]) + int(self.busy[row]))

    def at(self, time: int) -> int:
        """Row of the last token that started at or before `time`; -1 before the first."""
        return find(self.offset, time - self.base, "right") - 1

    def rows_in(self, window: TimeWindow, reach: int | None = None) -> slice:
        """The rows that may touch the window: exact without lanes, a superset with them.

        `reach`, if known, is the longest time before a window at which a token that reaches into it starts.
        """
        if reach is None:
            reach = 0 if self.lane is None else self.longest
        first = find(self.offset, window.begin - self.base - reach, "right") - 1
        last = find(self.offset, window.end - self.base, "left")
        return slice(max(0, first), max(0, last))

    @property
    def longest(self) -> int:
        """Cycles of the longest token."""
        return int(self.duration.max()) if len(self) else 0


class States(Record):
    """The wave-state timeline of one wave: segment i lasts from offset[i] to offset[i + 1].

    Segments of no length, and neighbours in the same state, are kept as recorded.
    """

    base: int  # cycles, aligned
    offset: np.ndarray  # int32 or int64 [n], cycles since base
    state: np.ndarray  # uint8 [n], WaveState
    length: int  # cycles from base to the end of the last segment

    def __len__(self) -> int:
        return len(self.state)

    @property
    def duration(self) -> np.ndarray:
        """Cycles of each segment, int64."""
        return np.diff(self.offset.astype(np.int64), append=self.length)

    @property
    def start(self) -> np.ndarray:
        """Starts in aligned cycles, int64."""
        return self.offset.astype(np.int64) + self.base

    def at(self, time: int) -> int:
        """Row of the segment that holds the cycle; -1 outside."""
        if not 0 <= time - self.base < self.length:
            return -1
        return find(self.offset, time - self.base, "right") - 1


class Waits(Record):
    """Producers of executed waits, one row a wait, in execution order."""

    line: np.ndarray  # int32 [n], row of the code table of the wait; -1 if none matched
    first: np.ndarray  # int32 [n + 1], where the row's producers begin in `depends_on`
    depends_on: np.ndarray  # int32, rows of the code table; -1 if none matched

    def __len__(self) -> int:
        return len(self.line)

    def producers(self, row: int) -> np.ndarray:
        """Rows of the code table that the given wait waited for."""
        return self.depends_on[self.first[row] : self.first[row + 1]]
