"""One shader engine of a raw capture: the bytes of its `.att` file to columns, in any process.

```
bytes ─ decode ─► waves in memory or a file, addresses as the stream has them
      ─ AddressMap ─► code object and address inside of it
            ┌ stitch ─► the instruction of each token
  a parcel ─┤
  of waves  └ derived ─► totals, waits, columns ─► `Engine`, which `assemble.py` puts together with the others
```
Intermediate data of a token takes many times the memory of the result: so waves are processed in parcels, by
several threads if any are free.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, starmap
from typing import Any, NamedTuple, Protocol

import numpy as np
from msgspec.structs import replace

from rcv_py.base.problems import Problem
from rcv_py.base.progress import checkpoint
from rcv_py.base.record import Value
from rcv_py.base.runs import borders, ranges
from rcv_py.formats.derived.totals import Totals, totals
from rcv_py.formats.derived.waits import wait_lists
from rcv_py.formats.input.columns import fit, frozen, tight
from rcv_py.formats.isa.program import Program
from rcv_py.formats.raw import stitch
from rcv_py.formats.raw.objects import Claim, Places
from rcv_py.formats.raw.spill import Spill
from rcv_py.formats.sqtt.records import OF_BORDERS, DecodedStream, RecordedWaves, WaveRecords, joined
from rcv_py.model.waves import FACTS, WaveColumns, facts_of

MIN_SPANS = 3  # of a wave without instructions that is kept; other such waves are dropped
_TOKEN_BYTES, _SPAN_BYTES = 16, 5
PARCEL_TOKENS = 1 << 18  # and segments: their intermediate data fits into caches
Programs = Mapping[tuple[int, int], Program]  # by code object and first address


class Where(Protocol):
    """Maps addresses of a stream to code objects."""

    def find(self, addresses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return code object (int64, UNKNOWN: none) and address inside it (uint64) of each address."""


class Engine(Value):
    """The contents of one `.att` file; times count its own clock."""

    name: str  # of the file
    se: int
    stream: DecodedStream  # without tokens
    columns: (
        list[WaveColumns] | Spill
    )  # the waves that are kept, by (SIMD, slot, wave); lines are rows of all code
    line: np.ndarray  # int32 [rows of all code + 1], row of `places`; -1: none, which the last one is for
    facts: np.ndarray  # FACTS [waves], of all columns
    size: np.ndarray  # int64, bytes of the columns of each of these waves, about
    arrays: np.ndarray  # int16, shader array of each of these waves
    entry: Places  # of each of these waves
    places: Places  # with a token
    programs: Programs  # those that hold `places`
    totals: Totals  # of `places`
    started: Places  # of each row of `stream.occupancy`
    launched: Places  # of each of `stream.dispatches`
    tokens: int  # that waves issued
    lost: int  # of them without an instruction
    lost_waves: int  # that have some of these
    problems: tuple[Problem, ...] = ()
    is_sure: bool = True  # decoding it again gives the same: no tool timed out or was unavailable
    doubts: tuple[int, ...] = ()  # addresses where waves begin that several kernels claim
    claims: tuple[Claim, ...] = ()  # where several kernels fit, in doubt or not
    disassemblers: frozenset[str] = frozenset()  # of its texts
    hidden: np.ndarray | None = None  # int64 [places, 3], as `CodeTable.hidden`
    offset: int = 0  # cycles that align its times with those of the others, once they are known


Walk = Callable[[np.ndarray], tuple[WaveRecords, np.ndarray]]
"""Returns the waves at some rows, corrected by their programs, and the row of all code of each of their
tokens, -1 if it has none."""


def known(waves: RecordedWaves, row: np.ndarray) -> Walk:
    """Return the walk over waves whose tokens have known rows."""

    def walk(rows: np.ndarray) -> tuple[WaveRecords, np.ndarray]:
        count = np.diff(waves.token_first)[rows]
        return waves.at(rows), row[ranges(waves.token_first[:-1][rows], count)]

    return walk


class FoundCode(NamedTuple):
    """A stream, all instructions that its tokens may belong to, and the walk that finds them."""

    stream: DecodedStream
    code: Places
    texts: Sequence[str]
    walk: Walk
    where: Where
    hidden: np.ndarray | None = None  # int64 [code, 3], as `CodeTable.hidden`


def engine_of(
    name: str,
    se: int,
    found: FoundCode,
    programs_at: Callable[[Places], Programs],
    *,
    columns: Spill | None = None,
    threads: int = 1,
) -> Engine:
    """Build the engine from its decoded stream.

    Columns of waves are appended to `columns`, which must be empty; None: a list.
    """
    stream, code, texts, walk, where, hidden = found
    waves = stream.waves
    order, wid = retained_waves(waves)

    def parcel(begin: int, stop: int) -> _Parcel:
        """The results of waves begin…stop of the order; any thread may call it."""
        some, row = _by_time(*walk(order[begin:stop]))
        sums = totals(  # first: columns are read-only later, a type that would need another compilation
            row,
            first=some.token_first,
            begin=some.begin,
            time=some.time,
            stall=some.stall,
            duration=some.duration,
            rows=len(texts),
        )
        lost = np.diff(borders(row < 0)[some.token_first])
        names = {"se": se, "row": np.arange(begin, stop), "wid": wid[begin:stop]}
        return _Parcel(_columns(some, row, texts, stream.gfxip, names), sums, lost)

    sums, all_rows = Totals.none(len(code)), np.arange(len(code))
    held: list[WaveColumns] | Spill = [] if columns is None else columns
    facts, nothing = [np.zeros(0, dtype=FACTS)], np.zeros(0, dtype=np.int64)
    sizes, lost, tokens = [nothing], [nothing], 0
    for part in _parcels(parcel, waves, order, threads):
        checkpoint()
        sums.add(all_rows, part.totals)
        held.append(part.columns)
        facts.append(part.columns.facts)
        first, segment_first = part.columns.token_first, part.columns.state_first
        sizes.append(1 + _TOKEN_BYTES * np.diff(first) + _SPAN_BYTES * np.diff(segment_first))
        lost.append(part.lost)
        tokens += len(part.columns.line)
    used = np.flatnonzero(sums.hits)
    places = Places(code.codeobj[used], code.address[used])
    line = np.full(len(code) + 1, -1, dtype=np.int32)
    line[used] = np.arange(len(used))
    entries = np.array([one.entry for one in stream.dispatches], dtype=np.uint64)
    return Engine(
        name=name,
        se=se,
        stream=replace(stream, waves=joined(())),
        columns=held,
        line=line,
        facts=np.concatenate(facts),
        size=np.concatenate(sizes),
        arrays=fit(waves.cu[order] >> 7 & 1, np.int16),
        entry=Places(*where.find(waves.entry[order])),
        places=places,
        programs=programs_at(places),
        totals=sums.at(used),
        started=Places(*where.find(stream.occupancy.entry)),
        launched=Places(*where.find(entries)),
        tokens=tokens,
        lost=sum(int(one.sum()) for one in lost),
        lost_waves=sum(map(np.count_nonzero, lost)),
        hidden=None if hidden is None else hidden[used],
    )


def _parcels(
    make: Callable[[int, int], _Parcel], waves: RecordedWaves, order: np.ndarray, threads: int
) -> Iterator[_Parcel]:
    """Columns of consecutive waves, in order, in parcels of about PARCEL_TOKENS tokens."""
    weight = (np.diff(waves.token_first) + np.diff(waves.state_first))[order]
    edges = np.flatnonzero(np.diff(borders(weight)[:-1] // PARCEL_TOKENS, prepend=-1)).tolist()
    jobs = list(pairwise([*edges, len(order)]))
    if threads < 2 or len(jobs) < 2:
        yield from starmap(make, jobs)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting = deque(pool.submit(make, *job) for job in jobs)
        try:
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def prepare() -> None:
    """Compile the code that waves go through, so that one process can do so while another decodes."""
    stitch.prepare()
    none, first = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    line = np.zeros(0, dtype=np.int32)
    totals(line, first=first, begin=none, time=none, stall=none, duration=none, rows=0)
    wait_lists(line, first, (), 0)


def entries_of(stream: DecodedStream) -> np.ndarray:
    """The addresses in the stream where kernels begin, uint64."""
    launched = np.array([one.entry for one in stream.dispatches], dtype=np.uint64)
    return np.concatenate([stream.waves.entry, stream.occupancy.entry, launched])


def retained_waves(waves: RecordedWaves) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the waves that are kept, by (SIMD, slot, wave), and their number in the slot.

    They are numbered in the order of their ends; dropped waves (no token, hardly a state) take no number.
    """
    is_kept = (np.diff(waves.token_first) > 0) | (np.diff(waves.state_first) >= MIN_SPANS)
    rows = np.flatnonzero(is_kept)
    rows = rows[np.lexsort((rows, waves.slot[rows], waves.simd[rows]))]
    slot = waves.simd[rows].astype(np.int64) << 16 | waves.slot[rows]
    heads = np.flatnonzero(np.diff(slot, prepend=-1))
    return rows, ranges(0, np.diff(np.append(heads, len(rows)))) if len(rows) else rows


def texts_of(places: Places, programs: Programs) -> list[str]:
    """The text of the instruction at each place, "" if no program has it; programs are not empty."""
    texts = [""] * len(places)
    for (codeobj, _), program in programs.items():
        rows = np.flatnonzero(places.codeobj == codeobj)
        at = np.minimum(np.searchsorted(program.address, places.address[rows]), len(program) - 1)
        fits = program.address[at] == places.address[rows]
        for row, place in zip(rows[fits].tolist(), at[fits].tolist(), strict=True):
            texts[row] = program.text[place]
    return texts


class _Parcel(Value):
    """The results of some waves; lines are rows of all code."""

    columns: WaveColumns
    totals: Totals
    lost: np.ndarray  # int64, tokens of each wave without an instruction


def _by_time(waves: WaveRecords, line: np.ndarray) -> tuple[WaveRecords, np.ndarray]:
    """The waves with the tokens of each by their start, and the lines of these."""
    first, time = waves.token_first, waves.time
    is_back = time[1:] < time[:-1]
    is_back[first[(first > 0) & (first < len(time))] - 1] = False  # the next wave begins
    if not is_back.any():
        return waves, line
    rows = np.lexsort((time, np.repeat(np.arange(len(waves)), np.diff(first))))
    columns = {name: getattr(waves, name)[rows] for name in OF_BORDERS["token_first"]}
    return replace(waves, **columns), line[rows]


def _columns(
    waves: WaveRecords, line: np.ndarray, texts: Sequence[str], gfxip: int, names: Mapping[str, Any]
) -> WaveColumns:
    """The columns of consecutive waves; `names` are the facts that name them."""
    first, count = waves.token_first, np.diff(waves.token_first)
    begin, end = waves.begin, np.maximum(waves.begin, waves.end)
    base = begin.copy()
    base[count > 0] = waves.time[first[:-1][count > 0]]
    state_first, total = waves.state_first, borders(np.maximum(waves.state_duration, 0))
    stall = tight(np.maximum(waves.stall, 0))
    lists = wait_lists(line, first, texts, gfxip)
    waited = np.diff(lists.wave_first)
    # Edges count from 0 in every wave, and there is one more than rows.
    edge = lists.first[ranges(lists.wave_first[:-1], waited + 1)]
    edge -= np.repeat(lists.first[lists.wave_first[:-1]], waited + 1)
    recorded = ("simd", "slot", "workgroup", "cluster", "me", "pipe")
    facts: dict[str, Any] = {name: getattr(waves, name) for name in recorded}
    facts |= {"cu": waves.cu & 0x7F, "begin": begin, "end": end, "base": base, "state_base": begin}
    facts |= {"length": np.diff(total[state_first]), "waits": waited, **names}
    return WaveColumns(
        facts=facts_of(len(waves), **facts),
        token_first=first,
        offset=tight(waves.time - np.repeat(base, count)),
        stall=stall,
        busy=frozen(np.maximum(tight(np.maximum(waves.duration, 0)), stall) - stall),
        kind=frozen(waves.kind.astype(np.uint8)),
        line=frozen(line),
        state_first=state_first,
        state_offset=tight(total[:-1] - np.repeat(total[state_first[:-1]], np.diff(state_first))),
        state=frozen(waves.state.astype(np.uint8)),
        wait_line=fit(line[lists.token], np.int32),
        wait_first=fit(edge, np.int32),
        depends_on=fit(line[lists.producers], np.int32),
    )
