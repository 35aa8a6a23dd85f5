"""Trials: changes of a recording that predict the gain of a remedy when it is replayed.

A remedy that moves given instructions is replayed as stated.  For a remedy that states an aim (less skew,
fewer conflicts) its limit is replayed: the cost in question becomes zero.  Changes of the launch or of the
computation cannot be replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from rcv_py.analysis.findings.finding import Trial
from rcv_py.analysis.findings.situation import ROOM, Situation
from rcv_py.analysis.latency.access_widths import WIDEST, is_scalar
from rcv_py.analysis.program.registers import registers
from rcv_py.analysis.whatif.changes import (
    Change,
    Dpp,
    Free,
    Latency,
    Merge,
    Move,
    NoBarrier,
    Relax,
    Waves,
)
from rcv_py.analysis.whatif.schedule_changes import Ahead, Later, Prompt

MAX_MOVED = 8  # instructions that one trial moves
NEAR = 16  # instructions that may stand between accesses that become one

Changes = Iterable[Change]
Plays = Callable[[Situation], Changes]


def _hoisted(case: Situation) -> Iterator[Change]:
    """Move each producer up as far as its operands allow."""
    for row in case.producers[:MAX_MOVED]:
        room = replace(case, producers=(row,)).room_before
        if room >= ROOM:
            yield Move(row, row - room)


def _ahead(case: Situation) -> Iterator[Change]:
    if case.producers:
        yield Ahead(case.producers)


def _at_once(case: Situation) -> Iterator[Change]:
    if case.producers:
        yield Latency(lines=case.producers, cycles=0)


def _dpp(case: Situation) -> Iterator[Change]:
    if case.producers:
        yield Dpp(case.producers)


def _later(case: Situation) -> Iterator[Change]:
    yield Later(case.top, case.room_after)


def _more_waves(case: Situation) -> Iterator[Change]:
    limits = case.inputs.limits
    yield Waves(max(1, limits.waves - limits.resident.peak))


def _smaller_footprint(case: Situation) -> Iterator[Change]:
    limits = case.inputs.limits
    yield Waves(max(1, limits.goal - limits.waves))


def _first_of_base(case: Situation) -> Iterator[Change]:
    """Move the executed scalar loads with the same base right before the first of them."""
    code = case.inputs.trace.code
    base = registers(case.text(case.producer)).reads
    loads = [
        row
        for row in np.flatnonzero(code.hits > 0).tolist()
        if is_scalar(case.text(row)) and registers(case.text(row)).reads == base
    ]
    for row in loads[1 : 1 + MAX_MOVED]:
        yield Move(row, loads[0])


def _before_its_base(case: Situation) -> Iterator[Change]:
    yield Move(case.producer, case.base_writer)


def _left_out(case: Situation) -> Iterator[Change]:
    yield Free((case.top,))


def _accesses_left_out(case: Situation) -> Iterator[Change]:
    lines = tuple(case.accesses.tolist())
    if lines:
        yield Free(lines)
        yield Latency(lines=lines, cycles=0)


def _waits_relaxed(case: Situation) -> Iterator[Change]:
    for line in case.claimed.line.tolist():
        yield Relax(line, 1)


def _all_left_out(case: Situation) -> Iterator[Change]:
    if lines := _lines(case):
        yield Free(lines)


def _widened(case: Situation) -> Iterator[Change]:
    """Merge neighbours of one kind and width into the widest access, as if their addresses were adjacent."""
    width = case.inputs.widths.width
    rows = [row for row in sorted(set(case.accesses.tolist())) if width[row] == case.width]
    many = WIDEST // max(1, case.width)
    group: list[int] = []
    for row in rows:
        is_next = group and row - group[-1] <= NEAR and _mnemonic(case, row) == _mnemonic(case, group[0])
        if not is_next or len(group) == many:
            if len(group) > 1:
                yield Merge(tuple(group))
            group = []
        group.append(row)
    if len(group) > 1:
        yield Merge(tuple(group))


def _mnemonic(case: Situation, row: int) -> str:
    return case.text(row).split(" ")[0]


def _one_barrier_less(case: Situation) -> Iterator[Change]:
    yield NoBarrier((case.top,))


def _no_skew(case: Situation) -> Iterator[Change]:
    if lines := _lines(case):
        yield NoBarrier(lines)


def _prompt(case: Situation) -> Iterator[Change]:
    if lines := _lines(case):
        yield Prompt(lines)


def _lines(case: Situation) -> tuple[int, ...]:
    return tuple(line for line in case.claimed.line.tolist() if line >= 0)


# By the id of a remedy: the change that it makes itself.
PLAYED: Mapping[str, Plays] = {
    "hoist": _hoisted,
    "prefetch-registers": _ahead,
    "second-lds-buffer": _ahead,
    "read-ahead": _ahead,
    "fewer-registers": _ahead,
    "wait-later": _later,
    "more-waves": _more_waves,
    "smaller-footprint": _smaller_footprint,
    "dpp": _dpp,
    "preload-arguments": _at_once,
    "no-pointer-chase": _before_its_base,
    "one-wait": _first_of_base,
    "no-wait-at-end": _left_out,
    "no-return": _at_once,
    "loads-first": _at_once,
    "write-next-buffer": _at_once,
    "fewer-live-values": _accesses_left_out,
    "partial-count": _waits_relaxed,
    "fill-nops": _all_left_out,
    "double-buffer-lds": _one_barrier_less,
    "widen": _widened,
}
# By the name of a finding whose remedy is not in PLAYED: the limit of what can be done about it.
LIMITS: Mapping[str, Plays] = {
    **dict.fromkeys(
        (
            "exposed-vector-load",
            "exposed-lds-dma",
            "exposed-lds",
            "exposed-cross-lane",
            "exposed-scalar-load",
        ),
        _at_once,
    ),
    **dict.fromkeys(("serial-cross-lane-chain", "waits-for-stores", "atomics", "scratch-spills"), _at_once),
    **dict.fromkeys(
        ("memory-back-pressure", "lds-back-pressure", "scalar-back-pressure", "matrix-dependency"), _prompt
    ),
    **dict.fromkeys(("instruction-fetch", "wave-launch", "dependent-arithmetic"), _prompt),
    "redundant-wait": _waits_relaxed,
    "hazard-nops": _all_left_out,
    "barrier-skew": _no_skew,
}


def trial_of(name: str, remedy: str, case: Situation) -> Trial | None:
    """Return the trial for a finding with a remedy (an id, "" for none); None if it cannot be replayed."""
    for table, key, is_limit in ((PLAYED, remedy, False), (LIMITS, name, True)):
        if key in table and (changes := tuple(table[key](case))):
            return Trial(changes, is_limit)
    return None
