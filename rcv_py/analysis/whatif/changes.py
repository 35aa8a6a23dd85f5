"""Changes that can be applied to a recording before it is played: one class per kind of change.

A change selects instructions (code rows) and returns a recording in which all their executions are changed.
It changes distances, orders and dependencies; playing the recording then gives the times.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import asdict, replace

from rcv_py.analysis.attribution.lines import BRANCH, LDS, SMEM, VMEM
from rcv_py.analysis.whatif.wave_slots import LAUNCH, pooled, residents
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending, borders, ranges, starts_run
from rcv_py.base.text import Message, some

if TYPE_CHECKING:  # its import takes longer than to name a change
    from rcv_py.analysis.whatif.recording import Recording

NO_INDEX = -1  # no token, wave or meeting, as in a recording
UNITS = {"vmem": VMEM, "lds": LDS, "smem": SMEM}  # names of kinds of operations
BYTES_A_CYCLE = {VMEM: 64, LDS: 128, SMEM: 16}
RDNA_LATENCY = 4  # cycles that arithmetic waits for an arithmetic result, in addition to its own turn
NAMED = 3  # instructions that a text names at most
SHOWN = 6  # changes that a text describes at most


class Change(Value):
    """A change to a recording."""

    def of(self, recording: Recording) -> Recording:
        """Return the recording with the change."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """Describe the change in a few words."""
        raise NotImplementedError


class Latency(Change):
    """Operations return after a different latency: `factor` times their own, or `cycles`."""

    lines: tuple[int, ...] = ()  # instructions; (): all instructions of the units
    units: tuple[str, ...] = ()  # of UNITS; (): all units
    factor: float = 1.0
    cycles: int | None = None

    def of(self, recording: Recording) -> Recording:
        is_meant = chosen(recording, self.lines)
        if not self.lines:
            names = self.units or tuple(UNITS)
            is_meant = np.isin(recording.unit, [UNITS[name] for name in names])
        elif recording.is_held:
            is_meant = is_meant | held_up(recording, is_meant)
        rows = np.flatnonzero(is_meant)
        latency = recording.latency[rows]
        if self.cycles is None:
            latency = np.where(latency > 0, np.rint(latency * self.factor).astype(np.int64), latency)
        else:
            latency = np.minimum(latency, self.cycles)
        fits = np.can_cast(np.min_scalar_type(latency.max(initial=0)), recording.latency.dtype)
        changed = recording.latency.astype(recording.latency.dtype if fits else np.int64)
        changed[rows] = latency
        return replace(recording, latency=changed)

    @property
    def text(self) -> str:
        what = named(self.lines) or " and ".join(map(str.upper, self.units)) or "memory"
        if self.cycles is None:
            return Message("latency of {0} × {1:g}", what, self.factor)
        if not self.cycles:
            return Message("{0} at once", what)
        return Message("latency of {0} at most {1:,} cycles", what, self.cycles)


class Move(Change):
    """Move an instruction right before the last execution of another one, or else before the next one."""

    line: int
    before: int

    def of(self, recording: Recording) -> Recording:
        return moved(recording, (self.line,), self.before)

    @property
    def text(self) -> str:
        return moves_text((self.line,), self.before)


class Relax(Change):
    """A wait leaves `more` operations outstanding: the newest of the operations it waited for.

    Operations that return in any order cannot be relaxed: only a count of 0 shows that one of them returned.
    """

    line: int
    more: int

    def of(self, recording: Recording) -> Recording:
        counts = np.diff(recording.await_first)
        is_meant = chosen(recording, (self.line,)) & ~recording.is_loose
        kept = np.where(is_meant, np.maximum(counts - self.more, 0), counts)
        rows = ranges(recording.await_first[:-1], kept)
        return replace(recording, await_first=borders(kept), awaited=recording.awaited[rows])

    @property
    def text(self) -> str:
        return Message("wait {0} leaves {1} more outstanding", self.line, self.more)


class Only(Change):
    """A wait waits only for operations of given instructions, as if its count were set for them."""

    line: int
    needed: tuple[int, ...]

    def of(self, recording: Recording) -> Recording:
        is_meant = np.repeat(chosen(recording, (self.line,)), np.diff(recording.await_first))
        is_needed = chosen(recording, self.needed)[recording.awaited]
        return _awaiting(recording, ~is_meant | is_needed)

    @property
    def text(self) -> str:
        return Message("wait {0} only for {1}", self.line, named(self.needed))


class Dpp(Change):
    """Cross-lane moves through LDS become DPP operands of arithmetic, so that no wave waits for them.

    A move then costs only the distance that the program must keep between arithmetic and an operand from
    another lane: two turns on gfx9, the latency of arithmetic on later generations.
    """

    lines: tuple[int, ...]

    def of(self, recording: Recording) -> Recording:
        is_meant = chosen(recording, self.lines)
        waits = np.unique(recording.waiting[is_meant[recording.awaited]])
        without = _awaiting(recording, ~is_meant[recording.awaited])
        is_idle = np.zeros(len(is_meant), dtype=bool)
        is_idle[waits[np.diff(without.await_first)[waits] == 0]] = True
        gone = is_meant | is_idle
        distance = 2 * recording.step if recording.step > 1 else RDNA_LATENCY
        delay = np.where(gone, np.where(is_meant, distance, 0), recording.delay)
        return replace(_costless(without, gone), delay=delay)

    @property
    def text(self) -> str:
        return Message("{0} by DPP", named(self.lines))


class Merge(Change):
    """Merge accesses of some instructions into the first one, as wide as all together."""

    lines: tuple[int, ...]

    def of(self, recording: Recording) -> Recording:
        place = recording.place
        mine = np.flatnonzero(chosen(recording, self.lines))
        mine = mine[np.argsort(place[mine], kind="stable")]
        is_first = recording.line[mine] == self.lines[0]
        heads = np.flatnonzero(is_first)
        of = np.cumsum(is_first) - 1
        owner = recording.owner
        known = of >= 0
        known[known] &= owner[mine[known]] == owner[mine[heads[of[known]]]]
        mine, head = mine[known], mine[heads[of[known]]]
        rest = mine != head
        stand_in = np.arange(len(recording))
        stand_in[mine] = head
        gone = np.zeros(len(recording), dtype=bool)
        gone[mine[rest]] = True
        service, hold = recording.service.copy(), recording.hold.copy()
        np.add.at(service, head[rest], recording.service[mine[rest]])
        moved = np.bincount(head, recording.moves[mine], len(recording))
        wide = np.unique(head)
        speed = np.array([BYTES_A_CYCLE.get(unit, 1) for unit in range(int(recording.unit.max()) + 1)])
        needed = -(-moved[wide] // speed[recording.unit[wide]])
        hold[wide] = np.maximum(hold[wide], needed.astype(np.int64))
        key = ascending(recording.waiting * len(recording) + stand_in[recording.awaited])
        counts = np.bincount(key // len(recording), minlength=len(recording))
        changed = replace(
            recording, service=service, hold=hold, await_first=borders(counts), awaited=key % len(recording)
        )
        return replace(_costless(changed, gone), delay=np.where(gone, 0, changed.delay))

    @property
    def text(self) -> str:
        return Message("{0} as one access", named(self.lines))


class Free(Change):
    """Instructions cost nothing: they issue at once, wait for nothing, and hold no unit.

    Memory operations that other instructions wait for still take their time.
    """

    lines: tuple[int, ...]

    def of(self, recording: Recording) -> Recording:
        is_meant = chosen(recording, self.lines)
        free = _awaiting(recording, ~is_meant[recording.waiting])
        return replace(_costless(free, is_meant), delay=np.where(is_meant, 0, recording.delay))

    @property
    def text(self) -> str:
        return Message("{0} for nothing", named(self.lines))


class NoBarrier(Change):
    """Barriers do not block: waves continue at once."""

    lines: tuple[int, ...] = ()  # (): all barriers

    def of(self, recording: Recording) -> Recording:
        is_meant = recording.meeting >= 0
        if self.lines:
            is_meant &= chosen(recording, self.lines)
        return replace(
            recording,
            meeting=np.where(is_meant, NO_INDEX, recording.meeting),
            delay=np.where(is_meant, 0, recording.delay),
            least=np.where(is_meant, 0, recording.least),
        )

    @property
    def text(self) -> str:
        return Message("no wait at {0}", named(self.lines) or "any barrier")


class MoreWaves(Change):
    """A SIMD holds more waves, whole workgroups: each begins as early as the additional slots allow."""

    more: int
    most: int = 0  # waves that fit on a SIMD, 0: unknown

    def of(self, recording: Recording) -> Recording:
        """Return the recording with the change; nothing changes if all waves fit at once."""
        added = residents(recording, self.more, self.most).added
        if not added:
            return recording
        shared = pooled(recording, added)
        handover = np.where(shared.before >= 0, _usual_handover(recording), 0)
        is_same = (shared.before >= 0) & (recording.before >= 0)
        handover[is_same] = recording.handover[is_same]
        made = replace(recording, **asdict(shared), handover=handover)
        return replace(made, ruled=made.by_rule)

    @property
    def text(self) -> str:
        return Message("{0} more {1} per SIMD", self.more, "wave" if self.more == 1 else "waves")


class PrefetchIteration(Change):
    """Waits for an execution of an instruction wait for the previous one: data an iteration earlier.

    That is a second set of registers, or a second buffer: each iteration works on what the previous iteration
    loaded.  The first execution of a wave is waited for as before.
    """

    lines: tuple[int, ...]

    def of(self, recording: Recording) -> Recording:
        rows = np.flatnonzero(chosen(recording, self.lines))
        owner, line = recording.owner[rows], recording.line[rows]
        by_line = np.lexsort((rows, line, owner))
        rows, is_first = rows[by_line], starts_run(owner[by_line], line[by_line])
        earlier = np.arange(len(recording.line))
        earlier[rows[1:][~is_first[1:]]] = rows[:-1][~is_first[1:]]
        awaited = earlier[recording.awaited]
        return replace(recording, awaited=awaited[np.lexsort((awaited, recording.waiting))])

    @property
    def text(self) -> str:
        return Message("{0} an iteration ahead", named(self.lines))


class MoveLater(Change):
    """Move an instruction `by` executed instructions later, at most to the end of its wave."""

    line: int
    by: int

    def of(self, recording: Recording) -> Recording:
        place = np.arange(len(recording)) + 0.0
        is_meant = recording.line[recording.order] == self.line
        key = np.where(is_meant, place + self.by + 0.5, place)
        return replace(recording, order=recording.order[np.lexsort((key, recording.owner))])

    @property
    def text(self) -> str:
        how = "instruction" if self.by == 1 else "instructions"
        return Message("instruction {0} moved {1} {2} down", self.line, self.by, how)


class IssueWithoutGaps(Change):
    """Instructions issue as soon as their unit is free: no gap before them, no dependencies.

    Waits for counters and barriers remain.
    """

    lines: tuple[int, ...]

    def of(self, recording: Recording) -> Recording:
        is_meant = chosen(recording, self.lines)
        at = np.flatnonzero(is_meant[recording.order])
        at = at[~np.isin(at, recording.first)]
        before = recording.order[at - 1]
        pace = recording.pace.copy()
        pace[before] = np.minimum(pace[before], recording.busy[before])
        first = recording.first[np.flatnonzero(np.diff(recording.first))]
        begins = is_meant[recording.order[first]]
        lead = recording.lead.copy()
        lead[recording.owner[recording.order[first[begins]]]] = 0
        return replace(recording, pace=pace, lead=lead, delay=np.where(is_meant, 0, recording.delay))

    @property
    def text(self) -> str:
        return Message("{0} without delay", named(self.lines))


def held_up(recording: Recording, older: np.ndarray) -> np.ndarray:
    """Return which operations were issued while one of `older` was out that returns first, bool [tokens].

    Without it they might have returned much sooner: the recording does not show when.
    """
    rows = np.flatnonzero(recording.in_order > 0)
    group = recording.owner[rows] * (int(recording.in_order.max(initial=0)) + 1) + recording.in_order[rows]
    by_group = np.argsort(group, kind="stable")  # a wave's tokens are in order of issue
    rows, group = rows[by_group], group[by_group]
    issued = recording.issued[rows]
    until = np.where(older[rows], issued + recording.latency[rows], 0)
    shift = np.cumsum(starts_run(group)) * (int(until.max(initial=0)) + 1)
    latest = np.maximum.accumulate(until + shift) - shift
    found = np.zeros(len(older), dtype=bool)
    found[rows[latest > issued]] = True
    return found


def chosen(recording: Recording, lines: Collection[int]) -> np.ndarray:
    """Return which tokens are executions of the given instructions, bool."""
    is_meant = np.zeros(recording.rows + 1, dtype=bool)
    is_meant[[line for line in lines if 0 <= line < recording.rows]] = True
    return is_meant[recording.line]


def _awaiting(recording: Recording, kept: np.ndarray) -> Recording:
    """Return the recording with only the awaited operations that `kept` selects, bool [rows of `awaited`]."""
    counts = np.bincount(recording.waiting[kept], minlength=len(recording))
    return replace(recording, await_first=borders(counts), awaited=recording.awaited[kept])


def _costless(recording: Recording, gone: np.ndarray) -> Recording:
    """Return the recording with tokens `gone`, bool [tokens], that take no time and meet at no barrier.

    The gap before such a token goes with it: waves come to memory units later than to others.  After a
    branch, the gap is the branch's.
    """
    pace = np.where(gone, np.maximum(recording.pace - recording.busy, 0), recording.pace)
    at = np.flatnonzero(gone[recording.order])
    before = recording.order[at[~np.isin(at, recording.first)] - 1]
    before = before[(recording.unit[before] != BRANCH) & ~gone[before]]
    pace[before] = np.minimum(pace[before], recording.busy[before])
    return replace(
        recording,
        pace=pace,
        least=np.where(gone, 0, recording.least),
        resource=np.where(gone, NO_INDEX, recording.resource),
        service=np.where(gone, 0, recording.service),
        meeting=np.where(gone, NO_INDEX, recording.meeting),
    )


def moved(recording: Recording, lines: Sequence[int], before: int) -> Recording:
    """Return the recording with the executions of some instructions right before another one.

    An execution moves before the last execution of `before` since the previous execution of its line; if
    there is none, before the next one that comes ahead of the next execution of its line; else it stays.
    What moves to the same place keeps its order.
    """
    place, key = recording.place, recording.place.astype(np.float64)
    marks = np.sort(place[recording.line == before])
    for line in lines if len(marks) else ():
        mine = np.sort(place[recording.line == line])
        key[recording.order[mine]] = _targets(recording.first, mine, marks)
    return replace(recording, order=recording.order[np.lexsort((key[recording.order], recording.owner))])


def _targets(first: np.ndarray, mine: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Return the keys by which executions at some places sort to their new ones, float64."""
    owner = np.searchsorted(first, mine, side="right") - 1
    low, high = first[owner], first[owner + 1]
    is_first = starts_run(owner)
    previous = np.where(is_first, low - 1, np.append(-1, mine)[:-1])
    following = np.where(np.append(is_first, True)[1:], high, np.append(mine, 0)[1:])
    at = np.searchsorted(marks, mine)
    earlier, ahead = marks[np.maximum(at - 1, 0)], marks[np.minimum(at, len(marks) - 1)]
    has_earlier = (at > 0) & (earlier > previous)
    has_ahead = ~has_earlier & (at < len(marks)) & (ahead < following)
    return np.where(has_earlier, earlier - 0.5, np.where(has_ahead, ahead - 0.5, mine))


_REPEATED = (
    "line", "unit", "pace", "busy", "least", "delay", "resource", "hold", "queue", "service", "latency",
    "in_order", "moves", "is_measured", "is_loose", "issued", "opening", "members", "lead", "tail",
    "simd", "slot", "row", "pool", "turn",
)  # fmt: skip


def repeated(recording: Recording, times: int) -> Recording:
    """Return the recording with each wave repeated `times` times in its slot."""
    n, waves, meetings = len(recording.latency), len(recording.begin), len(recording.members)

    def tiled(column: np.ndarray, step: int = 0, *, keeps: bool = False) -> np.ndarray:
        parts = [column + step * turn for turn in range(times)]
        if keeps:  # NOBODY is kept as it is
            parts = [np.where(column < 0, column, part) for part in parts]
        return np.concatenate(parts).astype(column.dtype)

    def bordered(column: np.ndarray) -> np.ndarray:
        return borders(np.tile(np.diff(column), times))

    before = tiled(recording.before, waves, keeps=True)
    last = _last_of_slots(recording)
    heads = np.flatnonzero(recording.before < 0)
    for turn in range(1, times):
        before[heads + turn * waves] = last[heads] + (turn - 1) * waves
    handover = tiled(recording.handover)
    handover[np.flatnonzero((handover == 0) & (before >= 0))] = _usual_handover(recording)
    same: dict[str, Any] = {name: tiled(getattr(recording, name)) for name in _REPEATED}
    turn_takes = int(np.ptp(recording.begin)) + 1 if waves else 0  # for the order in which waves queue
    made = replace(
        recording,
        **same,
        first=bordered(recording.first),
        order=tiled(recording.order, n),
        rank=tiled(recording.rank, n),
        await_first=bordered(recording.await_first),
        awaited=tiled(recording.awaited, n),
        meeting=tiled(recording.meeting, meetings, keeps=True),
        signals=tiled(recording.signals, meetings, keeps=True),
        before=before,
        begin=tiled(recording.begin, turn_takes),
        handover=handover,
    )
    return replace(made, ruled=made.by_rule)


def _last_of_slots(recording: Recording) -> np.ndarray:
    """The last wave in the slot of each wave."""
    last = np.arange(len(recording.begin))
    after = np.full(len(last), NO_INDEX)
    followed = np.flatnonzero(recording.before >= 0)
    after[recording.before[followed]] = followed
    while (more := after[last] >= 0).any():
        last[more] = after[last[more]]
    return last


def _usual_handover(recording: Recording) -> int:
    known = recording.handover[recording.before >= 0]
    return int(np.median(known)) if len(known) else LAUNCH


def changes_text(changes: Sequence[Change]) -> str:
    """Describe changes on one line: moves to one place are named together, and only the first of many."""
    before: dict[int, list[int]] = {}
    texts: dict[object, str] = {}
    for change in changes:
        if isinstance(change, Move):
            before.setdefault(change.before, []).append(change.line)
            texts[change.before] = moves_text(before[change.before], change.before)
        else:
            texts[change.text, ""] = change.text
    return some([*texts.values()], SHOWN, "; ")


def moves_text(lines: Sequence[int], before: int) -> str:
    """Return `instruction 4 moved before 2`, only the first ones of many."""
    return Message("{0} moved before {1}", named(lines), before)


def named(lines: Sequence[int]) -> str:
    """Return `instructions 4, 7`, only the first ones of many; "" for none."""
    if not lines:
        return ""
    noun = "instruction" if len(lines) == 1 else "instructions"
    return Message("{0} {1}", noun, some([*map(str, lines)], NAMED))
