"""Waves: the index of all, a wave with its tokens, and batches of waves as a few long arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from rcv_py.base.record import Record, Value
from rcv_py.base.runs import borders
from rcv_py.base.text import Message
from rcv_py.model.columns import ColumnTable
from rcv_py.model.device import NEVER
from rcv_py.model.ids import WaveId
from rcv_py.model.tokens import Executions, States, Tokens, Waits
from rcv_py.model.window import TimeWindow


class WaveIndex(ColumnTable):
    """One row a traced wave, known before any wave file is opened; sorted by (se, simd, slot, wid)."""

    se: np.ndarray  # int16
    simd: np.ndarray  # int16
    slot: np.ndarray  # int16
    wid: np.ndarray  # int32, ordinal in its slot
    begin: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles, aligned
    cu: np.ndarray  # int16, compute unit (bits 0-6); -1 until known
    sa: np.ndarray  # int16, shader array
    kernel: np.ndarray  # int32, kernel id of the occupancy record; -1 if none matched
    size: np.ndarray  # int64, bytes of its file; 0 if it is missing
    file: tuple[str, ...]  # name inside the folder

    @property
    def extent(self) -> dict[str, Any]:
        """The `start` and `stop` of WaveEvents: the first begin and the last end."""
        return {"start": int(self.begin.min(initial=NEVER)), "stop": int(self.end.max(initial=0))}

    def id(self, row: int) -> WaveId:
        """The name of a wave."""
        return WaveId(int(self.se[row]), int(self.simd[row]), int(self.slot[row]), int(self.wid[row]))

    @cached_property
    def _row_of(self) -> dict[tuple[int, int, int, int], int]:
        keys = zip(self.se.tolist(), self.simd.tolist(), self.slot.tolist(), self.wid.tolist(), strict=True)
        return {key: row for row, key in enumerate(keys)}

    def row(self, wave: WaveId) -> int | None:
        """The row of a wave, or None if there is no such wave."""
        return self._row_of.get((wave.se, wave.simd, wave.slot, wave.wid))

    def span(self, row: int) -> TimeWindow:
        """The life of a wave."""
        return TimeWindow(int(self.begin[row]), int(self.end[row]))


class TracedWave(NamedTuple):
    """A traced wave with all content of its file."""

    row: int  # of the index
    id: WaveId
    cu: int
    begin: int  # cycles, aligned
    end: int  # cycles, aligned
    tokens: Tokens
    states: States
    waits: Waits | None  # None: the file has no waits (as opposed to: the wave never waited)
    workgroup: int = -1
    cluster: int = -1
    me: int = -1
    pipe: int = -1

    def executions(self, line: int) -> Executions:
        """The executions of a row of the code table."""
        return Executions(np.flatnonzero(self.tokens.line == line))


def unrecorded(waves: Iterable[TracedWave], index: WaveIndex) -> dict[int, str]:
    """Return a sentence by row for each wave without an instruction: what it executed is not known."""
    text = "{0} lists no instructions: what the wave executed is not known."
    return {wave.row: Message(text, index.file[wave.row]) for wave in waves if not len(wave.tokens)}


class WaveBatch(Record):
    """The waves that a loader job read.

    `columns` are the concatenated token columns of all waves, so that analyses run over a few hundred batches
    instead of thousands of waves; wave i owns rows `first[i]:first[i + 1]` and its own tables are views into
    them.  `missing` lists (index row, sentence) of waves that could not be read, `notes` of waves that were
    read but are doubtful.
    """

    waves: tuple[TracedWave, ...]
    first: np.ndarray  # int64 [waves + 1]
    stall: np.ndarray  # int32 or int64
    busy: np.ndarray  # int32 or int64
    kind: np.ndarray  # uint8
    line: np.ndarray  # int16 or int32
    missing: tuple[tuple[int, str], ...] = ()
    nbytes: int = 0  # resident bytes of all columns
    lod: tuple[WaveLod, ...] = ()  # of each wave, once built
    notes: tuple[tuple[int, str], ...] = ()

    @property
    def _source(self) -> WaveColumns | None:
        """The columns that it was made of; None after `replace`."""
        return vars(self).get("source")

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Pickle as a few long arrays, not as several for each wave."""
        if self._source is not None:
            return WaveColumns.batch, (self._source,)
        return super().__reduce_ex__(protocol)

    @classmethod
    def empty(cls, missing: tuple[tuple[int, str], ...] = ()) -> WaveBatch:
        """A batch without waves; `missing` lists waves that could not be read."""
        first, column, kind = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint8)
        return cls((), first, stall=column, busy=column, kind=kind, line=column, missing=missing)

    @property
    def rows(self) -> np.ndarray:
        """Index rows of the waves, int64."""
        return np.array([wave.row for wave in self.waves], dtype=np.int64)

    def some(self, rows: np.ndarray) -> Iterable[TracedWave]:
        """The waves at these rows of the index, to iterate over, perhaps in another process.

        In another process only these become objects, and levels of detail are not sent.
        """
        at = np.flatnonzero(np.isin(self.rows, rows))
        if self._source is None:
            return tuple(self.waves[place] for place in at.tolist())
        return _SomeWaves(self._source._replace(lod=None), at)


class WaveFacts(NamedTuple):
    """The numbers of a wave, declared here alone; -1 if one is not known.

    Packed captures store them in this order: a new one goes to the end, with -1 as its default.
    """

    row: int  # of the index
    se: int
    simd: int
    slot: int
    wid: int  # ordinal in the slot
    cu: int
    begin: int  # cycles, aligned
    end: int  # cycles, aligned
    workgroup: int
    cluster: int
    me: int
    pipe: int
    base: int  # cycles, aligned: what starts of tokens count from
    state_base: int  # cycles, aligned: what starts of states count from
    length: int  # cycles of its states
    waits: int  # how many it has; -1: its file has none


FACTS: np.dtype[Any] = np.dtype([(name, np.int64) for name in WaveFacts._fields])
TIMES = ("begin", "end", "base", "state_base")  # facts that move with the clock of the shader engine
_PLAIN = tuple(name for name in TracedWave._fields if name in WaveFacts._fields and name != "waits")
_plain, _id, _bases = (
    itemgetter(*map(WaveFacts._fields.index, names))
    for names in (_PLAIN, ("se", "simd", "slot", "wid"), ("base", "state_base", "length"))
)


def facts_of(waves: int, **known: np.ndarray | int) -> np.ndarray:
    """Return facts of so many waves, rows of type FACTS; those that are not given are not known."""
    facts = np.full(waves, -1, dtype=FACTS)
    for name, column in known.items():
        facts[name] = column
    return facts


def stored_facts(facts: np.ndarray) -> np.ndarray:
    """Return rows of type FACTS as a plain table, int64 [waves, facts], to be stored."""
    return np.ascontiguousarray(facts).view(np.int64).reshape(len(facts), len(WaveFacts._fields))


def restored_facts(table: np.ndarray) -> np.ndarray:
    """Undo `stored_facts`, also for tables of other versions: facts that they lack are not known."""
    count = len(WaveFacts._fields)
    if (lacks := count - table.shape[1]) > 0:
        table = np.pad(table, ((0, 0), (0, lacks)), constant_values=-1)
    return np.ascontiguousarray(table[:, :count]).view(FACTS).reshape(-1)


class WaveColumns(NamedTuple):
    """The waves of a batch as a few long arrays, the form in which they are prepared and sent to processes.

    Wave i owns `token_first[i]:token_first[i + 1]`, and so on.
    """

    facts: np.ndarray  # FACTS [waves]
    token_first: np.ndarray  # int64 [waves + 1]
    offset: np.ndarray  # int32 or int64, and so are `stall` and `busy`
    stall: np.ndarray
    busy: np.ndarray
    kind: np.ndarray  # uint8
    line: np.ndarray  # int16 or int32
    state_first: np.ndarray  # int64 [waves + 1]
    state_offset: np.ndarray  # int32 or int64
    state: np.ndarray  # uint8
    wait_line: np.ndarray  # int32, all waits of all waves
    wait_first: np.ndarray  # int32, concatenated `Waits.first` of all waves with waits
    depends_on: np.ndarray  # int32
    lane: np.ndarray | None = None  # uint8, of the waves with `has_lanes`
    has_lanes: np.ndarray | None = None  # bool [waves]
    lod: LodColumns | None = None  # None: not built
    missing: tuple[tuple[int, str], ...] = ()
    notes: tuple[tuple[int, str], ...] = ()

    def batch(self) -> WaveBatch:
        """The waves as objects; all their arrays are read-only views of the columns."""
        arrays = [value for value in (*self, *(self.lod or ())) if isinstance(value, np.ndarray)]
        for array in arrays:
            array.flags.writeable = False
        batch = WaveBatch(
            waves=tuple(self.waves(range(len(self.facts)))),
            first=self.token_first,
            **{name: getattr(self, name) for name in ("stall", "busy", "kind", "line", "missing", "notes")},
            nbytes=sum(array.nbytes for array in arrays),
            lod=() if self.lod is None else self.lod.tables(),
        )
        vars(batch)["source"] = self
        return batch

    def waves(self, at: Iterable[int]) -> Iterator[TracedWave]:
        """The waves at these positions as objects; all their arrays are views of the columns."""
        table = stored_facts(self.facts).tolist()
        tokens, states = _slices(self.token_first), _slices(self.state_first)
        waits, lanes = self._waits(), self._lanes()
        for i in at:
            facts, own, spent = table[i], tokens[i], states[i]
            base, state_base, length = _bases(facts)
            yield TracedWave(
                id=WaveId(*_id(facts)),
                tokens=Tokens(
                    base=base,
                    offset=self.offset[own],
                    stall=self.stall[own],
                    busy=self.busy[own],
                    kind=self.kind[own],
                    line=self.line[own],
                    lane=lanes[i],
                ),
                states=States(state_base, self.state_offset[spent], self.state[spent], length),
                waits=waits(i),
                **dict(zip(_PLAIN, _plain(facts), strict=True)),
            )

    def _waits(self) -> Callable[[int], Waits | None]:
        """A function that returns the waits of the wave at a position."""
        count = self.facts["waits"]
        has_waits = count >= 0
        line, edge = borders(np.maximum(count, 0)), borders(count + 1)
        made = np.zeros(len(count), dtype=np.int64)
        made[has_waits] = self.wait_first[edge[1:][has_waits] - 1]
        lines, edges, producers = _slices(line), _slices(edge), _slices(borders(made))
        known = has_waits.tolist()

        def waits(i: int) -> Waits | None:
            if not known[i]:
                return None
            return Waits(self.wait_line[lines[i]], self.wait_first[edges[i]], self.depends_on[producers[i]])

        return waits

    def _lanes(self) -> Sequence[np.ndarray | None]:
        """The lanes of each wave's tokens; None if none of them overlap."""
        lane, has_lanes = self.lane, self.has_lanes
        if lane is None or has_lanes is None:
            return [None] * len(self.facts)
        own = _slices(borders(np.where(has_lanes, np.diff(self.token_first), 0)))
        return [lane[place] if has else None for place, has in zip(own, has_lanes.tolist(), strict=True)]


class _SomeWaves(Record):
    """Some waves of a batch, which become objects each time they are iterated over."""

    columns: WaveColumns
    at: np.ndarray  # int64, positions in the columns

    def __iter__(self) -> Iterator[TracedWave]:
        return self.columns.waves(self.at.tolist())


class WaveLod(Value):
    """Buckets of 2^(shift + level) cycles, aligned to absolute time, halved in number at every level.

    Bucket i of level k covers the cycles of number `(base >> (shift + k)) + i`, that is from
    `number << (shift + k)` up to the next bucket.  Both tables hold running shares of the bucket in 1/255, so
    that the last column is the filled part: `kind[k]` (uint8 [n, ACTIVITY_COUNT]) of `activity.ACTIVITIES`,
    `state[k]` (uint8 [n, 4]) of `activity.STATE_ORDER`.  Remainders below 1/255 are rounded up in a
    proportional number of buckets, so that no rare activity is lost in a long row.
    """

    base: int  # cycles, aligned
    shift: int
    kind: tuple[np.ndarray, ...]
    state: tuple[np.ndarray, ...]

    @property
    def nbytes(self) -> int:
        """Bytes held in memory."""
        return sum(level.nbytes for level in (*self.kind, *self.state))

    def level(self, cycles_per_px: float) -> int:
        """The coarsest level whose bucket is not wider than a pixel; -1: use tokens."""
        return min(int(cycles_per_px).bit_length() - 1 - self.shift, len(self.kind) - 1)


class LodColumns(NamedTuple):
    """The level-of-detail tables of many waves as four arrays: the finest level of all, then the next."""

    facts: np.ndarray  # int64 [waves, 3]: base, shift, levels
    sizes: np.ndarray  # int64, buckets of each wave that has the level, level by level
    kind: np.ndarray  # uint8 [buckets, ACTIVITY_COUNT]
    state: np.ndarray  # uint8 [buckets, 4]

    def tables(self) -> tuple[WaveLod, ...]:
        """The tables of each wave; their arrays are views."""
        facts = self.facts.tolist()
        kinds: list[list[np.ndarray]] = [[] for _ in facts]
        states: list[list[np.ndarray]] = [[] for _ in facts]
        place = iter(_slices(borders(self.sizes)))
        for level in range(max((levels for *_, levels in facts), default=0)):
            for wave, (_, _, levels) in enumerate(facts):
                if level < levels:
                    rows = next(place)
                    kinds[wave].append(self.kind[rows])
                    states[wave].append(self.state[rows])
        return tuple(
            WaveLod(base, shift, tuple(kind), tuple(state))
            for (base, shift, _), kind, state in zip(facts, kinds, states, strict=True)
        )


def _slices(first: np.ndarray) -> list[slice]:
    return [slice(begin, end) for begin, end in pairwise(first.tolist())]
