"""One shader engine of a raw capture: the bytes of its `.att` file to columns, in any process.

```
bytes ─ decode ─► waves, addresses as the stream has them
      ─ AddressMap ─► code object and address inside of it
      ─ stitch ─► the instruction of each token
      ─ derived ─► totals, waits ─► `Engine`, which `assemble.py` puts together with the others
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from rcv_py.base.problems import Problem, Problems
from rcv_py.base.progress import checkpoint
from rcv_py.base.records import dataclass
from rcv_py.base.runs import borders, ranges
from rcv_py.formats.derived.totals import Totals, totals
from rcv_py.formats.derived.waits import wait_lists
from rcv_py.formats.input.columns import fit, frozen, tight
from rcv_py.formats.isa.program import Program
from rcv_py.formats.sqtt.records import Stream, WaveRecords
from rcv_py.model.waves import WAVE_FACTS, WaveColumns

FEWEST_SPANS = 3  # of a wave without instructions that is kept nevertheless: others were only passing
Programs = Mapping[tuple[int, int], Program]  # by code object and first address


class Where(Protocol):
    """Knows what lies at addresses of a stream."""

    def find(self, addresses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the code object (int64, UNKNOWN: none) and the address inside of it (uint64) of each."""


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where in the code: the rows of a table that one engine makes for itself."""

    codeobj: np.ndarray  # int64 [n]
    address: np.ndarray  # uint64 [n]

    def __len__(self) -> int:
        return len(self.codeobj)


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """What one `.att` file says; times are those of its own clock."""

    name: str  # of the file
    se: int
    stream: Stream  # without tokens
    columns: (
        WaveColumns  # of the waves that are kept, sorted by (SIMD, slot, wave); lines are rows of `places`
    )
    arrays: np.ndarray  # int16, shader array of each of these waves
    entry: Places  # likewise
    places: Places  # with a token
    programs: Programs  # those that hold `places`
    totals: Totals  # of `places`
    started: Places  # of each row of `stream.occupancy`
    launched: Places  # of each of `stream.dispatches`
    problems: tuple[Problem, ...]


def engine_of(
    name: str,
    se: int,
    stream: Stream,
    *,
    code: Places,
    row: np.ndarray,
    where: Where,
    programs: Programs,
    problems: Problems,
) -> Engine:
    """Put together what is known of a shader engine.

    `row` is the row of `code` that each token of the stream stands at, -1 if it stands nowhere.
    """
    waves = stream.waves
    order, wid = kept_waves(waves)
    places, line = used(code, row)
    taken = _taken(waves, line, order)
    checkpoint()
    sums = totals(
        taken.line,
        first=taken.first,
        begin=waves.begin[order],
        time=taken.time,
        stall=taken.stall,
        duration=taken.duration,
        rows=len(places),
    )
    checkpoint()
    texts = texts_of(places, programs)
    columns = _columns(se, stream, taken, (order, wid), texts)
    entries = np.array([one.entry for one in stream.dispatches], dtype=np.uint64)
    return Engine(
        name=name,
        se=se,
        stream=replace(stream, waves=_without_tokens(waves)),
        columns=columns,
        arrays=fit(waves.cu[order] >> 7 & 1, np.int16),
        entry=Places(*where.find(waves.entry[order])),
        places=places,
        programs=programs,
        totals=sums,
        started=Places(*where.find(stream.occupancy.entry)),
        launched=Places(*where.find(entries)),
        problems=tuple(problems),
    )


def entries_of(stream: Stream) -> np.ndarray:
    """The addresses where the stream says that kernels begin, uint64."""
    launched = np.array([one.entry for one in stream.dispatches], dtype=np.uint64)
    return np.concatenate([stream.waves.entry, stream.occupancy.entry, launched])


def kept_waves(waves: WaveRecords) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the waves that are kept, by (SIMD, slot, wave), and their number in the slot.

    They are numbered as they ended; those without a token, and with hardly a state, leave no number.
    """
    is_kept = (np.diff(waves.token_first) > 0) | (np.diff(waves.state_first) >= FEWEST_SPANS)
    rows = np.flatnonzero(is_kept)
    rows = rows[np.lexsort((rows, waves.slot[rows], waves.simd[rows]))]
    slot = waves.simd[rows].astype(np.int64) << 16 | waves.slot[rows]
    heads = np.flatnonzero(np.diff(slot, prepend=-1))
    return rows, ranges(0, np.diff(np.append(heads, len(rows)))) if len(rows) else rows


def texts_of(places: Places, programs: Programs) -> list[str]:
    """The instruction at each place, "" if no program has it."""
    texts = [""] * len(places)
    for (codeobj, _), program in programs.items():
        rows = np.flatnonzero(places.codeobj == codeobj)
        at = np.searchsorted(program.address, places.address[rows])
        at = np.minimum(at, max(len(program) - 1, 0))
        fits = (
            program.address[at] == places.address[rows] if len(program) else np.zeros(len(rows), dtype=bool)
        )
        for row, place in zip(rows[fits].tolist(), at[fits].tolist(), strict=True):
            texts[row] = program.text[place]
    return texts


def used(code: Places, row: np.ndarray) -> tuple[Places, np.ndarray]:
    """Return the rows of a table that tokens stand at, and the row of these for each token; -1 stays."""
    rows = np.flatnonzero(np.bincount(row + 1, minlength=1)[1:])
    number = np.full(len(code) + 1, -1, dtype=np.int32)  # the last one is for tokens that stand nowhere
    number[rows] = np.arange(len(rows))
    return Places(code.codeobj[rows], code.address[rows]), number[row]


@dataclass(frozen=True, slots=True, eq=False)
class _Taken:
    """The tokens of the waves that are kept, in their order."""

    first: np.ndarray
    time: np.ndarray
    kind: np.ndarray
    stall: np.ndarray
    duration: np.ndarray
    line: np.ndarray


def _taken(waves: WaveRecords, line: np.ndarray, order: np.ndarray) -> _Taken:
    """The tokens of some waves, in their order and, within a wave, sorted by start."""
    count = np.diff(waves.token_first)[order]
    first = borders(count)
    rows = ranges(waves.token_first[:-1][order], count)
    time = waves.time[rows]
    is_back = time[1:] < time[:-1]
    is_back[first[(first > 0) & (first < len(time))] - 1] = False  # the next wave begins
    if is_back.any():
        rows = rows[np.lexsort((time, np.repeat(np.arange(len(count)), count)))]
    return _Taken(
        first=first,
        time=waves.time[rows],
        kind=waves.kind[rows],
        stall=waves.stall[rows],
        duration=waves.duration[rows],
        line=line[rows],
    )


def _columns(
    se: int, stream: Stream, tokens: _Taken, ids: tuple[np.ndarray, np.ndarray], texts: Sequence[str]
) -> WaveColumns:
    order, wid = ids
    waves, line = stream.waves, tokens.line
    count = np.diff(tokens.first)
    begin, end = waves.begin[order], np.maximum(waves.begin[order], waves.end[order])
    base = begin.copy()
    base[count > 0] = tokens.time[tokens.first[:-1][count > 0]]
    spans = np.diff(waves.state_first)[order]
    state_first = borders(spans)
    rows = ranges(waves.state_first[:-1][order], spans)
    total = borders(np.maximum(waves.state_duration[rows], 0))
    stall = tight(np.maximum(tokens.stall, 0))
    lists = wait_lists(line, tokens.first, texts, stream.gfxip)
    checkpoint()
    owner = np.searchsorted(tokens.first, lists.token, side="right") - 1
    waited = np.bincount(owner, minlength=len(order))
    released = np.diff(lists.first)
    # Edges count from 0 in every wave, and there is one more than rows.
    edge_row = np.repeat(np.arange(len(order)), waited + 1)
    edge = np.zeros(len(edge_row), dtype=np.int64)
    is_head = np.diff(edge_row, prepend=-1) > 0
    edge[~is_head] = released
    running = np.cumsum(edge)
    edge = running - running[np.flatnonzero(is_head)][edge_row] if len(order) else edge
    facts = np.zeros((len(order), WAVE_FACTS), dtype=np.int64)
    for place, column in enumerate(
        (
            np.arange(len(order)),
            np.full(len(order), se),
            waves.simd[order],
            waves.slot[order],
            wid,
            waves.cu[order] & 0x7F,
            begin,
            end,
            waves.workgroup[order],
            waves.cluster[order],
            waves.me[order],
            waves.pipe[order],
            base,
            begin,
            np.diff(total[state_first]),
            waited,
        )
    ):
        facts[:, place] = column
    return WaveColumns(
        facts=facts,
        token_first=tokens.first,
        offset=tight(tokens.time - np.repeat(base, count)),
        stall=stall,
        busy=frozen(_busy(tokens.duration, stall)),
        kind=frozen(tokens.kind.astype(np.uint8)),
        line=fit(line, np.int16 if len(texts) < 1 << 15 else np.int32),
        state_first=state_first,
        state_offset=tight(total[:-1] - np.repeat(total[state_first[:-1]], spans)),
        state=frozen(waves.state[rows].astype(np.uint8)),
        wait_line=fit(line[lists.token], np.int32),
        wait_first=fit(edge, np.int32),
        depends_on=fit(line[lists.producers], np.int32),
    )


def _busy(duration: np.ndarray, stall: np.ndarray) -> np.ndarray:
    busy = np.maximum(tight(np.maximum(duration, 0)), stall)
    busy -= stall
    return busy


def _without_tokens(waves: WaveRecords) -> WaveRecords:
    none = {
        name: getattr(waves, name)[:0]
        for name in (
            "time", "kind", "stall", "duration", "flags", "state", "state_duration", "break_token",
            "break_address",
        )
    }  # fmt: skip
    return replace(waves, **none)
