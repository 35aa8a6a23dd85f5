"""Which earlier instruction wrote the registers that an executed instruction reads.

That depends only on the code lines that ran before, so tokens with the same last lines are analysed once, and
the results are kept for later waves.  A result further back than WINDOW instructions is never waited for: on
gfx9 the longest distance is 21 turns, and on later generations a matrix instruction takes 32 cycles.

Most tokens follow the WINDOW lines that precede them in the program; then the line alone is the key.  After
a jump the key is the line, the distance to the jump, and the lines that ran before the jump.
"""

from functools import cached_property, lru_cache

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.lines import LineTraits
from rcv_py.base.record import Value
from rcv_py.base.runs import ODD, borders, of_ranges, order, ranges, scrambled, starts_run
from rcv_py.model.columns import memoized

WINDOW = 32  # instructions
_NO_LINE = 1 << 40  # numbers from here on are not lines, so their random values differ from those of lines
_MAX_KNOWN = 1 << 14  # sequences of lines that are cached
_AT_ONCE = 1 << 15  # tokens whose last lines are summed up at a time


class Uses(Value):
    """One row per reader and writer, nearest writers first within a reader."""

    row: np.ndarray  # int64, index in the readers
    writer: np.ndarray  # int64, token


class _Known(Value):
    """For each sequence of lines, how far back the registers it wants were last offered."""

    context: np.ndarray  # uint64, ascending, a hash of each sequence
    first: np.ndarray  # int64 [n + 1]
    back: np.ndarray  # int64, instructions, ascending within a sequence

    def place(self, context: np.ndarray) -> np.ndarray:
        """The row of each sequence, int64, -1: unknown."""
        if not len(self.context):
            return np.full(len(context), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.context, context), len(self.context) - 1)
        return np.where(self.context[at] == context, at, -1)


_NOTHING_KNOWN = _Known(*(np.zeros(n, dtype=kind) for n, kind in ((0, np.uint64), (1, int), (0, int))))


class LineHistory:
    """The lines that ran before each token of some waves."""

    def __init__(self, line: np.ndarray, first: np.ndarray) -> None:
        """`line` are rows of Lines, `first` (int64 [waves + 1]) the first token of each wave."""
        self.line, self._first = line, first

    @cached_property
    def _lines(self) -> int:
        """A number greater than the row of any line that ran."""
        return int(self.line.max(initial=0)) + 1

    @cached_property
    def _jumps(self) -> np.ndarray:
        """Tokens whose line does not follow the previous line in the program, int64."""
        is_jump = np.ones(len(self.line) + 1, dtype=bool)
        np.not_equal(self.line[1:] - self.line[:-1], 1, out=is_jump[1:-1])
        is_jump[self._first] = True
        return np.flatnonzero(is_jump[:-1])

    @cached_property
    def _run(self) -> np.ndarray:
        """The index in `_jumps` of the last jump up to each token, int32."""
        place = np.arange(len(self._jumps), dtype=np.int32)
        return np.repeat(place, np.diff(self._jumps, append=len(self.line)))

    def start(self, token: np.ndarray) -> np.ndarray:
        """The first token of each given token's wave, int64."""
        return self._first[np.searchsorted(self._first, token, side="right") - 1]

    @cached_property
    def _sequences(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the hash of each sequence of last lines before a jump, and each jump's sequence (row).

        The hash sums a random number per line, multiplied by a power that depends on the line's distance.
        """
        random = scrambled(np.arange(self._lines))
        power, inverse = _powers()
        jump, first = self._jumps, np.maximum(self._jumps - WINDOW, self.start(self._jumps))
        number = np.zeros(len(jump), dtype=np.uint64)
        cuts = np.arange(0, len(self.line), _AT_ONCE)
        for base, low, high in zip(
            np.maximum(cuts - WINDOW, 0).tolist(),
            np.searchsorted(jump, cuts).tolist(),
            np.searchsorted(jump, cuts + _AT_ONCE).tolist(),
            strict=True,
        ):
            if low == high:
                continue
            value = random.take(self.line[base : int(jump[high - 1]) + 1])
            before = np.zeros(len(value) + 1, dtype=np.uint64)
            np.cumsum(value * power[: len(value)], out=before[1:])
            at = jump[low:high] - base
            number[low:high] = (before[at + 1] - before[first[low:high] - base]) * inverse[at]
        known, place = np.unique(number, return_inverse=True)
        return known, place.reshape(-1)

    def contexts(self, readers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the sequences of last lines: hash, one token of each, and each token's sequence.

        `readers` is not empty.
        """
        known, place = self._sequences
        run, lines = self._run.take(readers), self._lines
        apart = readers - self._jumps.take(run)
        after_jump = lines + place.take(run) * WINDOW + apart
        number = np.where(apart < WINDOW, after_jump, self.line.take(readers))
        rows = order(number)
        number = number.take(rows)
        is_first = starts_run(number)
        of = np.empty(len(rows), dtype=np.int64)
        of[rows] = borders(is_first)[1:] - 1
        at = np.flatnonzero(is_first)
        jump, depth = np.divmod(number[at] - lines, WINDOW)
        after_jump = np.append(known, np.uint64(0))[np.where(jump < 0, len(known), jump)]
        context = scrambled(after_jump ^ scrambled(_NO_LINE + np.where(jump < 0, WINDOW + number[at], depth)))
        return context, readers[rows[at]], of


@lru_cache(maxsize=1)
def _powers() -> tuple[np.ndarray, np.ndarray]:
    """Powers of an odd number and of its inverse, from 0 on, as many as needed at once; uint64."""
    shape = (2, _AT_ONCE + WINDOW)
    powers = np.full(shape, [[ODD], [pow(ODD, -1, 1 << 64)]], dtype=np.uint64)
    powers[:, 0] = 1
    one, other = np.multiply.accumulate(powers, axis=1)
    return one, other


class _Registers:
    """Registers that lines want from earlier lines, and offer to later lines.

    Results for a sequence of lines are cached.
    """

    def __init__(self, wanted: np.ndarray, offered: np.ndarray, is_meant: np.ndarray) -> None:
        """`wanted` and `offered` are uint64 [rows of Lines, words]; offers of lines not in `is_meant` only
        hide earlier offers."""
        self._wanted, self._offered, self._is_meant = wanted, offered, is_meant
        self._known = _NOTHING_KNOWN

    def pairs(self, history: LineHistory, readers: np.ndarray) -> Uses:
        """Return the tokens that last offered the registers each reader wants, each pair once."""
        if not len(readers):
            return Uses(readers, readers)
        context, one, of = history.contexts(readers)
        known, place = self._looked_up(history, context, one)
        first, count = known.first[place].take(of), np.diff(known.first)[place].take(of)
        row, at = of_ranges(first, count)
        return Uses(row, readers.take(row) - known.back.take(at))

    def _looked_up(
        self, history: LineHistory, context: np.ndarray, readers: np.ndarray
    ) -> tuple[_Known, np.ndarray]:
        """Return the cache, with the sequences that end with `readers` added, and the row of each."""
        known = self._known
        if len(known.context) > _MAX_KNOWN:
            known = _NOTHING_KNOWN
        place = known.place(context)
        new = np.flatnonzero(place < 0)
        if len(new):
            row, back = self._backs(history, readers[new])
            counts = np.append(np.diff(known.first), np.bincount(row, minlength=len(new)))
            every, backs = np.append(known.context, context[new]), np.append(known.back, back)
            rows = np.argsort(every, kind="stable")
            first = borders(counts)[:-1]
            backs = backs[ranges(first[rows], counts[rows])]
            self._known = known = _Known(every[rows], borders(counts[rows]), backs)
            place = known.place(context)
        return known, place

    def _backs(self, history: LineHistory, readers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (index in readers, instructions back) of every last offer of a wanted register."""
        missing = self._wanted[history.line[readers]].copy()
        start = history.start(readers)
        places, backs = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for back in range(1, WINDOW + 1):
            at = readers - back
            there = np.flatnonzero((at >= start) & missing.any(axis=1))
            if not len(there):
                break
            line = history.line[at[there]]
            is_found = (missing[there] & self._offered[line]).any(axis=1) & self._is_meant[line]
            missing[there] &= ~self._offered[line]
            places.append(there[is_found])
            backs.append(np.full(len(places[-1]), back))
        place, back_ = np.concatenate(places), np.concatenate(backs)
        rows = np.argsort(place, kind="stable")
        return place[rows], back_[rows]


@memoized
def _tables(lines: LineTraits) -> dict[object, _Registers]:
    return {}


def uses(lines: LineTraits, history: LineHistory, readers: np.ndarray, units: tuple[int, ...]) -> Uses:
    """Return for each reader (token) the last writer of each register it reads, each pair once.

    Pairs with writers of units not in `units` are left out; those writers still overwrite.
    """
    tables = _tables(lines)
    if units not in tables:
        tables[units] = _Registers(lines.reads, lines.writes, np.isin(lines.unit, units))
    return tables[units].pairs(history, readers)


def overwritten(lines: LineTraits, history: LineHistory, writers: np.ndarray, form: Cause) -> Uses:
    """Return for each token the last reader before it of each register it writes, each pair once.

    Only readers whose waits have the cause `form` count; `Uses.writer` is the reader here.
    """
    tables = _tables(lines)
    if form not in tables:
        is_reader = lines.form == form
        read = np.where(is_reader[:, None], lines.reads, np.uint64(0))
        tables[form] = _Registers(lines.writes, read, is_reader)
    return tables[form].pairs(history, writers)
