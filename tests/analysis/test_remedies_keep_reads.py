"""No remedy changes what is read: every proposed change of a program is replayed as a machine would run it.

The machine knows who wrote each register, which operations have returned, and how many barriers a wave has
passed.  Addresses are unknown, so all accesses of a memory may meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rcv_py.analysis.core.answers import InMemory
from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.findings.situation import FindingContext
from rcv_py.analysis.program.registers import registers
from rcv_py.analysis.waits.load_order import LOAD_ORDER
from rcv_py.analysis.waits.waitcnt.generations import generation_of
from rcv_py.analysis.whatif.changes import Change, Move, Relax
from rcv_py.analysis.whatif.hoist import Hoist, groups
from rcv_py.analysis.whatif.recording import Recording, recording, streams
from rcv_py.analysis.whatif.schedule_changes import MoveLater
from rcv_py.model.trace import Trace
from tests.support.opened import VARIED, sample_trace
from tests.support.pattern_kernels import ARITHMETIC, PATTERNS, captured, loop

WAVES = 3  # of a compute unit
SHARED = ("ds_permute", "ds_bpermute", "ds_swizzle")  # they touch no memory
MEETS = """ds_read_b128 v[4:7], v1
ds_read_b128 v[8:11], v1 offset:16
s_waitcnt lgkmcnt(0)
v_add_f32_e32 v2, v4, v5
{arithmetic}
s_barrier
ds_write_b128 v1, v[20:23]
v_add_f32_e32 v3, v8, v9
s_waitcnt lgkmcnt(0)
s_barrier"""


@dataclass
class Seen:
    """What the tokens of a wave saw."""

    reads: dict[int, list[tuple[object, int]]] = field(default_factory=dict)  # place and its writer, by token
    early: set[tuple[int, int]] = field(
        default_factory=set
    )  # token and an operation that it did not wait for
    issued: dict[int, int] = field(default_factory=dict)  # barriers before each operation
    returned: dict[int, int] = field(default_factory=dict)  # barriers before its return was waited for


@cache
def bits(value: int) -> tuple[int, ...]:
    return tuple(at for at in range(value.bit_length()) if value >> at & 1)


def memory_of(text: str) -> tuple[str, str]:
    """The memory that an instruction reads, and the one that it writes; "" for none."""
    if text.startswith("ds_") and not text.startswith(SHARED):
        return ("", "lds") if "write" in text or "store" in text else ("lds", "")
    if text.endswith(" lds"):
        return "memory", "lds"
    if text.startswith(("global_", "buffer_", "flat_", "scratch_")):
        return ("", "memory") if "store" in text or "atomic" in text else ("memory", "")
    return "", ""


class Machine:
    """One wave of a recording; waits in `own_waits` require only what the recording says."""

    def __init__(self, one: Recording, trace: Trace, own_waits: set[int], *, waits_at_use: bool) -> None:
        self._one, self._trace, self._own, self._waits_at_use = one, trace, own_waits, waits_at_use
        self._effect = generation_of(trace.architecture, trace.code.text).effect
        self._writer: dict[object, int] = {}
        self._pending: dict[int, set[str]] = {}
        self._barriers = 0
        self.seen = Seen()

    def run(self, wave: int) -> Seen:
        one = self._one
        for token in one.order[one.first[wave] : one.first[wave + 1]].tolist():
            if one.line[token] < len(self._trace.code):
                self._step(token, int(one.line[token]), self._trace.code.text[one.line[token]].strip())
        return self.seen

    def _step(self, token: int, line: int, text: str) -> None:
        one, touched, does = self._one, registers(text), self._effect(text)
        loads, stores = memory_of(text)
        uses = {self._writer.get(place, -1) for place in bits(touched.reads | touched.writes)}
        self._return(set(one.awaited[one.await_first[token] : one.await_first[token + 1]].tolist()))
        if line not in self._own:
            ready = {counter for counter, left in does.waits if left == 0}
            self._return({op for op, counters in self._pending.items() if counters <= ready})
        if self._waits_at_use:
            self._return(uses & set(self._pending))
        if loads == "lds":  # copies to LDS of its own wave
            uses |= {operation for operation in self._pending if one.line[operation] in copies(self._trace)}
        self.seen.early |= {(token, operation) for operation in uses & set(self._pending)}
        places: list[object] = [*bits(touched.reads), *filter(None, (loads,))]
        places += ["exec"] * text.startswith(("v_", "ds_", "global_", "buffer_", "flat_"))
        self.seen.reads[token] = [(place, self._writer.get(place, -1)) for place in places]
        written: list[object] = [*bits(touched.writes), *filter(None, (stores,))]
        written += ["exec"] * ("exec" in text.split(",", maxsplit=1)[0])
        self._writer |= dict.fromkeys(written, token)
        if counters := {counter for counter, _ in does.raises}:
            self._pending[token], self.seen.issued[token] = counters, self._barriers
        self._barriers += text.startswith("s_barrier")

    def _return(self, operations: set[int]) -> None:
        for operation in operations:
            self._pending.pop(operation, None)
            self.seen.returned.setdefault(operation, self._barriers)


@cache
def copies(trace: Trace) -> frozenset[int]:
    return frozenset(row for row, text in enumerate(trace.code.text) if text.strip().endswith(" lds"))


def assert_same(trace: Trace, changes: tuple[Change, ...]) -> None:
    """Nothing reads another value, earlier than it is there, or on the other side of a barrier."""
    hoists = [change for change in changes if isinstance(change, Hoist)]
    own = {change.line for change in changes if isinstance(change, Relax)} | {one.wait for one in hoists}
    is_relaxed = any(isinstance(change, Relax) for change in changes)
    is_renamed = any(one.registers for one in hoists)
    for before in recordings(trace):
        after = before
        for change in changes:
            after = change.of(after)
        for wave in range(min(WAVES, len(before.first) - 1)):
            old = Machine(before, trace, set(), waits_at_use=False).run(wave)
            new = Machine(after, trace, own, waits_at_use=is_relaxed).run(wave)
            assert set(new.reads) == set(old.reads)
            if not is_renamed:
                assert {one: new.reads[one] for one in old.reads} == old.reads, changes
                assert new.early <= old.early, changes
            assert new.issued == old.issued, changes
            late = [one for one, moment in old.returned.items() if new.returned.get(one, 1 << 30) > moment]
            assert not late, (changes, [int(before.line[one]) for one in late[:4]])


@cache
def recordings(trace: Trace) -> list[Recording]:
    rows = np.flatnonzero(trace.waves.se == trace.waves.se[0])[: 4 * WAVES]
    return [recording(one) for one in streams(trace, trace.reader.read(rows.tolist()).waves)]


def proposed(trace: Trace) -> Iterator[tuple[Change, ...]]:
    """The changes of all findings that name the new program, and the moves of inverted waits."""
    batch = trace.reader.read(list(range(len(trace.waves))))
    for one in findings(trace, [batch]).findings:
        if one.trial is None or one.remedy_id == "no-pointer-chase":  # that passes an argument instead
            continue
        if changes := tuple(c for c in one.trial.changes if isinstance(c, Move | MoveLater | Relax)):
            yield changes
    for group in groups(LOAD_ORDER.of(trace, [batch])):
        yield group.hoists


def possible(trace: Trace) -> Iterator[tuple[Change, ...]]:
    """Every operation as high, and every wait as low, as a remedy would ever say."""
    inputs = FindingInputs(InMemory(trace, [trace.reader.read(list(range(len(trace.waves))))]))
    nothing, code = inputs.claimed(inputs.rows_of()), trace.code
    effect = generation_of(trace.architecture, code.text).effect
    for row in np.flatnonzero(code.hits > 0).tolist():
        does = effect(code.text[row].strip())
        if does.raises and (up := FindingContext(inputs, nothing, (row,)).room_before):
            yield (Move(row, row - up),)
        case = FindingContext(inputs, replace(nothing, line=np.array([row])))
        if does.waits and case.room_after:
            yield (MoveLater(row, case.room_after),)


@pytest.mark.parametrize("name", VARIED)
def test_of_samples(name: str) -> None:
    trace = sample_trace(name)
    for changes in (*proposed(trace), *possible(trace)):
        assert_same(trace, changes)


@pytest.mark.parametrize("name", [*PATTERNS, "meets"])
def test_of_patterns(name: str, tmp_path: Path) -> None:
    text = PATTERNS.get(name) or loop(MEETS.format(arithmetic=ARITHMETIC))
    trace, _ = captured(text, tmp_path)
    for changes in (*proposed(trace), *possible(trace)):
        assert_same(trace, changes)


def test_the_machine_sees_what_a_barrier_protects(tmp_path: Path) -> None:
    """The wait of `MEETS` with one more outstanding, or below its barrier: both read too late."""
    trace, _ = captured(loop(MEETS.format(arithmetic=ARITHMETIC)), tmp_path)
    wait = next(row for row, text in enumerate(trace.code.text) if text.startswith("s_waitcnt"))
    for change in (Relax(wait, 1), MoveLater(wait, 15), Move(wait + 15, wait - 1)):
        with pytest.raises(AssertionError):
            assert_same(trace, (change,))
