"""Remedies of findings: rows with preconditions that are tested against program and launch.

The rows are in `resources/tables/remedies.toml`.  A finding gets the first of its rows whose preconditions
all hold; if none does, the finding says so.  `docs/findings.md` shows the same table, which a test compares.

A trial is a change of a recording that predicts the gain of a remedy when it is replayed.  A remedy that
moves given instructions is replayed as stated, with all operations that it speaks of.  For a finding also its
limit is replayed: the cost in question becomes zero for all operations of its kind.  Changes of the launch or
of the computation cannot be replayed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from msgspec.structs import asdict, replace

from rcv_py.analysis.findings.finding import Finding, RemedyAdvice, RemedyExperiment
from rcv_py.analysis.findings.situation import PRECONDITIONS, ROOM, FindingContext
from rcv_py.analysis.latency.access_widths import MAX_BYTES_PER_LANE, is_scalar
from rcv_py.analysis.program.instruction_classes import InstructionClass, instruction_class
from rcv_py.analysis.program.registers import SPECIAL, registers
from rcv_py.analysis.program.scratch import scratch_accesses
from rcv_py.analysis.whatif import changes
from rcv_py.analysis.whatif.changes import Change, Free, Latency, MoreWaves, Move, MoveLater, NoBarrier
from rcv_py.analysis.whatif.hoist import hoisted
from rcv_py.base.record import Value
from rcv_py.base.tables import table
from rcv_py.base.text import Message, join_texts
from rcv_py.model.code import has_known_operands

MAX_MOVED = 8  # instructions, each with its group, that one trial moves
NEAR = 16  # instructions that may stand between accesses that become one

_C = InstructionClass
_PASSED = frozenset((_C.CROSS_LANE, _C.MATRIX, _C.VALU, _C.TRANSCENDENTAL, _C.SALU, _C.NOP, _C.OTHER))

Changes = Iterable[Change]
Plays = Callable[[FindingContext], Changes]


def _hoisted(case: FindingContext) -> Iterator[Change]:
    """Move each producer up as far as its operands allow, with what its wait requires."""
    done = set[int]()
    for row in case.producers[:MAX_MOVED]:
        own = replace(case, producers=(row,))
        target, group = own.early
        if own.room_before >= ROOM and not done & {*group}:
            done |= {*group}
            yield from (Move(one, target) for one in group)


def _widened(case: FindingContext) -> Iterator[Change]:
    """Merge neighbours of one kind and width into the widest access, as if their addresses were adjacent.

    Only accesses that could stand beside the first become one with it.
    """
    width = case.inputs.widths.width
    rows = [row for row in sorted(set(case.accesses.tolist())) if width[row] == case.width]
    many = MAX_BYTES_PER_LANE // max(1, case.width)
    group: list[int] = []
    for row in rows:
        is_next = group and row - group[-1] <= NEAR and _mnemonic(case, row) == _mnemonic(case, group[0])
        if not is_next or len(group) == many or not _joins(case, group, row):
            if len(group) > 1:
                yield changes.Merge(tuple(group))
            group = []
        group.append(row)
    if len(group) > 1:
        yield changes.Merge(tuple(group))


def _joins(case: FindingContext, group: list[int], row: int) -> bool:
    """Whether an access could stand right after the first of a group, and then access the same."""
    code, own = case.inputs.trace.code, registers(case.text(row))
    reads = own.reads | 1 << SPECIAL["exec"]
    for at in range(group[0], row):
        text, other = case.text(at), registers(case.text(at))
        if code.is_label[at] or not has_known_operands(text):
            return False
        if other.writes & reads or (other.reads | other.writes) & own.writes:
            return False
        kind = instruction_class(text)
        is_load = kind in (_C.VMEM_LOAD, _C.LDS, _C.SMEM) and bool(other.writes)
        # Moved before a wait, an access must not read a register that the wait made ready.
        is_ready = text.startswith("s_wait") and not own.reads & ~registers(case.text(group[0])).reads
        if not (at in group or kind in _PASSED or (is_load and own.writes) or is_ready):
            return False
    return True


def _mnemonic(case: FindingContext, row: int) -> str:
    return case.text(row).split(" ")[0]


def _lines(case: FindingContext) -> tuple[int, ...]:
    return tuple(line for line in case.claimed.line.tolist() if line >= 0)


def _ahead(case: FindingContext) -> Changes:
    return [changes.PrefetchIteration(tuple(sorted({*case.producers, *case.awaited} & {*_operations(case)})))]


def _operations(case: FindingContext) -> tuple[int, ...]:
    """All executed operations of the kinds waited for: a wait is charged to the newest of them only."""
    classes, hits = case.inputs.classes, case.inputs.trace.code.hits
    kinds = {int(classes[row]) for row in case.producers}
    return tuple(np.flatnonzero(np.isin(classes, list(kinds)) & (hits > 0)).tolist())


def _at_once(case: FindingContext) -> Changes:
    return [Latency(lines=_operations(case), cycles=0)]


def _arguments_at_once(case: FindingContext) -> Changes:
    """All scalar loads through bases that the launch set."""
    rows = [
        row
        for row in _operations(case)
        if is_scalar(case.text(row)) and replace(case, producers=(row,)).base_writer < 0
    ]
    return [Latency(lines=tuple(rows), cycles=0)]


def _no_barriers(case: FindingContext) -> Changes:
    code = case.inputs.trace.code
    rows = [row for row in np.flatnonzero(code.hits > 0).tolist() if case.text(row).startswith("s_barrier")]
    return [NoBarrier(tuple(rows))]


def _spills_left_out(case: FindingContext) -> Changes:
    """Leave out the accesses to scratch memory; loads that the same waits cover stay."""
    lines = tuple(case.accesses[scratch_accesses(case.inputs.trace.code)[case.accesses]].tolist())
    return [Free(lines), Latency(lines=lines, cycles=0)]


def _waits_relaxed(case: FindingContext) -> Changes:
    return [changes.Relax(line, 1) for line in case.claimed.line.tolist()]


def _all_left_out(case: FindingContext) -> Changes:
    return [Free(_lines(case))]


def _prompt(case: FindingContext) -> Changes:
    return [changes.IssueWithoutGaps(_lines(case))]


def _drained(unit: str) -> tuple[Plays, ...]:
    """Ways to the limit of a full queue: instructions issue at once, operations return at once, or both."""
    at_once = Latency(units=(unit,), cycles=0)
    return _prompt, lambda case: [at_once], lambda case: [*_prompt(case), at_once]


# By the id of a remedy: the change that it makes itself.  Changes of no instruction are left out.
PLAYED: Mapping[str, Plays] = {
    "hoist-batch": lambda case: map(hoisted, case.batches),
    "hoist": _hoisted,
    "prefetch-registers": _ahead,
    "second-lds-buffer": _ahead,
    "read-ahead": _ahead,
    "fewer-registers": _ahead,
    "wait-later": lambda case: [MoveLater(case.top, case.room_after)],
    "more-waves": lambda case: [MoreWaves(max(1, case.inputs.attainable - case.inputs.limits.resident.peak))],
    "smaller-footprint": lambda case: [
        MoreWaves(max(1, case.inputs.limits.goal - case.inputs.limits.waves), most=case.inputs.limits.goal)
    ],
    "dpp": lambda case: [changes.Dpp(case.producers)],
    "preload-arguments": _arguments_at_once,
    "no-pointer-chase": lambda case: [Move(case.producer, case.base_writer)],
    "one-wait": lambda case: [
        Move(row, case.loads_of_base[0]) for row in case.loads_of_base[1 : 1 + MAX_MOVED]
    ],
    "no-wait-at-end": lambda case: [Free((case.top,))],
    "no-return": _at_once,
    "loads-first": _at_once,
    "write-next-buffer": _at_once,
    "fewer-live-values": _spills_left_out,
    "partial-count": _waits_relaxed,
    "fill-nops": _all_left_out,
    "double-buffer-lds": lambda case: [NoBarrier((case.top,))],
    "widen": _widened,
}
# By the name of a finding: the limit of what can be done about it, in ways of which the best counts.
LIMITS: Mapping[str, tuple[Plays, ...]] = {
    **dict.fromkeys(
        (
            "exposed-vector-load",
            "exposed-lds-dma",
            "exposed-lds",
            "exposed-cross-lane",
            "exposed-scalar-load",
            "serial-cross-lane-chain",
            "waits-for-stores",
            "atomics",
            "cache-maintenance",
            "scratch-spills",
        ),
        (_at_once,),
    ),
    "memory-back-pressure": _drained("vmem"),
    "lds-back-pressure": _drained("lds"),
    "scalar-back-pressure": _drained("smem"),
    **dict.fromkeys(
        ("matrix-dependency", "instruction-fetch", "wave-launch", "dependent-arithmetic"), (_prompt,)
    ),
    "redundant-wait": (_waits_relaxed,),
    "hazard-nops": (_all_left_out,),
    "barrier-skew": (_no_barriers,),
}


def trial_of(name: str, remedy: str, case: FindingContext) -> RemedyExperiment | None:
    """Return the trial for a finding with a remedy (an id, "" for none); None if it cannot be replayed."""
    own = _changes(PLAYED[remedy], case) if remedy in PLAYED else ()
    limits = tuple(filter(None, (_changes(plays, case) for plays in LIMITS.get(name, ()))))
    changes = own or (limits[0] if limits else ())
    return RemedyExperiment(changes, is_limit=not own, limits=limits) if changes else None


def _changes(plays: Plays, case: FindingContext) -> tuple[Change, ...]:
    return tuple(one for one in plays(case) if getattr(one, "lines", 1) or getattr(one, "units", ()))


class Remedy(Value):
    """What to do about a finding."""

    id: str
    effort: str  # low, medium or high
    needs: list[str]  # names of preconditions, all of them
    text: str  # sentences; words in braces are filled in


@cache
def remedies() -> Mapping[str, tuple[Remedy, ...]]:
    """Return the remedies of each finding, by its name, in the order in which they are tried."""
    tables = dict(table("remedies"))
    shared = tables.pop("shared")
    return {
        name: tuple(Remedy(id, **(own.get(id) or shared[id])) for id in own.get("order", own))
        for name, own in tables.items()
    }


_WORDS = re.compile(r"\{(\w+)\}")
NONE_FITS = "No remedy that is known for it can be applied here: {reasons}."


def remedy_fields(name: str, case: FindingContext) -> dict[str, Any]:
    """Return the first remedy of a finding whose preconditions all hold, or why none fits.

    The result is fields of a finding, including the trial to replay and the remedies that fit as well, up to
    the first that cannot be replayed; id and effort are left out if no remedy fits.
    """
    failed: dict[str, None] = {}  # the first precondition of each remedy that does not hold, in that order
    fitting: list[RemedyAdvice] = []
    for remedy in remedies().get(name, ()):
        lacking = next((need for need in remedy.needs if not PRECONDITIONS[need].holds(case)), None)
        if lacking is None:
            words = {word: case[word] for word in _WORDS.findall(remedy.text)}
            text, trial = Message(remedy.text, **words), trial_of(name, remedy.id, case)
            fitting.append(RemedyAdvice(text, remedy.id, remedy.effort, trial))
            if trial is None or trial.is_limit:  # no replay will say that it slows the kernel
                break
        else:
            failed[lacking] = None
    if fitting:
        first, *others = fitting
        advice = {"remedy": first.text, "remedy_id": first.id, "effort": first.effort, "trial": first.trial}
        return {**advice, "others": tuple(others)}
    wrong = (Message("that {0} is not so", PRECONDITIONS[need].text) for need in list(failed)[:3])
    reasons = join_texts("; ", wrong)
    limit = trial_of(name, "", case)
    known = {} if limit is None else {"trial": limit}
    return {"remedy": Message(NONE_FITS, reasons=reasons or "none is known"), **known}


def finding_of(case: FindingContext, name: str, **words: Any) -> Finding:
    """Return a finding whose cycles are the bound of a situation, with the remedy that fits.

    `words` are all other fields, but those in `resources/tables/findings.toml`; they may also replace the
    numbers or the remedy.
    """
    said = {key: text for key, text in table("findings").get(name, {}).items() if key != "what"}
    claimed, words = case.claimed, {**said, **words}
    remedy = {} if "remedy" in words else remedy_fields(name, case)
    numbers = {**asdict(claimed.bound), "attributed": int(claimed.attributed.sum()), "is_upper_bound": True}
    hot = case.inputs.hot_lines(claimed.rows)
    return Finding(name=name, **{**numbers, **remedy, "hot": hot, **words})
