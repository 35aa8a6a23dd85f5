"""No remedy changes what is read: every proposed change of a program is replayed as a machine would run it.

The machine knows who wrote each register, which operations have returned, and how many barriers a wave has
passed.  Addresses are unknown, so all accesses of a memory may meet.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.core.reduction import InMemory
from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.findings.remedies import PLAYED
from rcv_py.analysis.findings.situation import FindingContext
from rcv_py.analysis.program.registers import registers
from rcv_py.analysis.waits.load_batch import load_batch
from rcv_py.analysis.waits.load_order import LOAD_ORDER
from rcv_py.analysis.waits.waitcnt.generations import generation_of
from rcv_py.analysis.whatif.changes import Change, Latency, Merge, Move, MoveLater, Relax
from rcv_py.analysis.whatif.hoist import Hoist, groups, hoisted
from rcv_py.analysis.whatif.recording import Recording, recording, streams
from rcv_py.model.trace import Trace
from tests.support.opened import VARIED, all_waves, sample_trace
from tests.support.pattern_kernels import ARITHMETIC, PATTERNS, TILES, captured, loop

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
    early: set[tuple[int, int]] = field(default_factory=set)  # token, operation that it did not wait for
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
        self._has_shared = False
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
            # A load from memory may pass barriers while nothing was written there, nor seen of others.
            is_free = (loads, stores) == ("memory", "") and not self._has_shared
            self._pending[token], self.seen.issued[token] = counters, 0 if is_free else self._barriers
        self._has_shared |= stores == "memory" or " glc" in text
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
    own = {change.line for change in changes if isinstance(change, Relax)}
    own |= {wait for one in hoists for wait in (one.wait, *one.between)}
    is_relaxed = any(isinstance(change, Relax) for change in changes)
    is_renamed = any(one.registers for one in hoists)
    for before, waves in zip(recordings(trace), unchanged(trace), strict=True):
        after = before
        for change in changes:
            after = change.of(after)
        for wave, old in enumerate(waves):
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


@cache
def unchanged(trace: Trace) -> list[list[Seen]]:
    """What the waves of each recording see."""
    return [
        [
            Machine(one, trace, set(), waits_at_use=False).run(wave)
            for wave in range(min(WAVES, len(one.first) - 1))
        ]
        for one in recordings(trace)
    ]


def proposed(trace: Trace) -> Iterator[tuple[Change, ...]]:
    """The changes of all findings that name the new program, and the moves of inverted waits."""
    batch = all_waves(trace)
    for one in findings(trace, [batch]).findings:
        for remedy, trial in ((one.remedy_id, one.trial), *((other.id, other.trial) for other in one.others)):
            if trial is None or remedy == "no-pointer-chase":  # that passes an argument instead
                continue
            if changes := tuple(c for c in trial.changes if isinstance(c, Move | MoveLater | Relax | Hoist)):
                yield changes
            for merge in (c for c in trial.changes if isinstance(c, Merge)):
                yield together(merge)
    for group in groups(LOAD_ORDER.of(trace, [batch])):
        yield group.hoists


def together(merge: Merge) -> tuple[Change, ...]:
    """Accesses that become one are issued where the first stands."""
    return tuple(Move(row, merge.lines[0] + 1) for row in merge.lines[1:])


def preloaded(trace: Trace) -> Iterator[int]:
    """The loads that a launch could do instead of the program."""
    batch = all_waves(trace)
    for one in findings(trace, [batch]).findings:
        for remedy, trial in ((one.remedy_id, one.trial), *((other.id, other.trial) for other in one.others)):
            if trial is not None and remedy == "preload-arguments":
                loads = (change for change in trial.changes if isinstance(change, Latency))
                yield from (row for change in loads for row in change.lines)


def possible(trace: Trace) -> Iterator[tuple[Change, ...]]:
    """Every operation as high, and every wait as low, as a remedy would ever say."""
    inputs = FindingInputs(InMemory(trace, [all_waves(trace)]))
    nothing, code = inputs.claimed(inputs.rows_of()), trace.code
    effect = generation_of(trace.architecture, code.text).effect
    for row in np.flatnonzero(code.hits > 0).tolist():
        does = effect(code.text[row].strip())
        if does.raises and (up := FindingContext(inputs, nothing, (row,)).reach_before):
            yield (Move(row, row - up),)
        case = FindingContext(inputs, replace(nothing, line=np.array([row])))
        if does.waits and case.room_after:
            yield (MoveLater(row, case.room_after),)


def batches(trace: Trace) -> Iterator[tuple[Change, ...]]:
    """The loads below each wait that may be issued before it."""
    effect = generation_of(trace.architecture, trace.code.text).effect
    for row in np.flatnonzero(trace.code.hits > 0).tolist():
        for counter, _ in effect(trace.code.text[row].strip()).waits:
            if batch := load_batch(trace.code, trace.architecture, row, counter):
                yield (hoisted(batch),)


@pytest.mark.parametrize("name", VARIED)
def test_of_samples(name: str) -> None:
    trace = sample_trace(name)
    for changes in (*proposed(trace), *possible(trace), *batches(trace)):
        assert_same(trace, changes)


@pytest.mark.parametrize("name", [*PATTERNS, *TILES, "meets"])
def test_of_patterns(name: str, tmp_path: Path) -> None:
    text = PATTERNS.get(name) or TILES.get(name) or loop(MEETS.format(arithmetic=ARITHMETIC))
    trace, _ = captured(text, tmp_path)
    for changes in (*proposed(trace), *possible(trace), *batches(trace)):
        assert_same(trace, changes)


@pytest.mark.parametrize("name", [*VARIED, "exposed-scalar-load"])
def test_arguments_that_a_launch_could_load_depend_on_no_instruction(name: str, tmp_path: Path) -> None:
    trace = captured(PATTERNS[name], tmp_path)[0] if name in PATTERNS else sample_trace(name)
    assert_preloaded(trace, list(preloaded(trace)))


def assert_preloaded(trace: Trace, rows: list[int]) -> None:
    """No register that these loads read was written before, in any execution."""
    for one, waves in zip(recordings(trace), unchanged(trace), strict=True):
        for seen in waves:
            of = {token: places for token, places in seen.reads.items() if int(one.line[token]) in rows}
            assert not [place for places in of.values() for place in places if place[1] >= 0]


ACCESSES = {  # two accesses of 4 bytes, and whether one of 8 in the place of the first reads the same
    "loads": ("global_load_dword v4, v1, s[4:5]\n{0}\nglobal_load_dword v5, v1, s[4:5] offset:4", {
        "v_add_f32_e32 v9, v8, v8": True,
        "v_add_f32_e32 v5, v8, v8\nv_add_f32_e32 v9, v5, v5": False,
        "v_add_u32_e32 v1, 8, v1": False,
        "global_store_dword v1, v9, s[4:5]": False,
        "s_barrier": False,
    }),
    "LDS reads": ("ds_read_b32 v4, v1\n{0}\nds_read_b32 v5, v1 offset:4", {
        "v_add_f32_e32 v9, v8, v8": True,
        "ds_write_b32 v1, v9": False,
        "s_waitcnt lgkmcnt(0)\ns_barrier": False,
    }),
    "stores": ("global_store_dword v1, v4, s[4:5]\n{0}\nglobal_store_dword v1, v5, s[4:5] offset:4", {
        "v_add_f32_e32 v9, v8, v8": True,
        "v_add_f32_e32 v5, v8, v8": False,
        "global_load_dword v9, v1, s[4:5]": False,
        "s_barrier": False,
    }),
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "between"), [(kind, between) for kind, (_, each) in ACCESSES.items() for between in each]
)
def test_accesses_become_one_only_where_the_same_is_read(kind: str, between: str, tmp_path: Path) -> None:
    body, each = ACCESSES[kind]
    after = "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_f32_e32 v7, v4, v5"
    trace, batch = captured(loop(f"{body.format(between)}\n{after}"), tmp_path)
    inputs = FindingInputs(InMemory(trace, [batch]))
    texts, memory = trace.code.text, np.flatnonzero(inputs.widths.width > 0).tolist()
    rows = [row for row in memory if texts[row].split()[1] in ("v4,", "v5,", "v1,")]
    case = FindingContext(inputs, inputs.claimed(inputs.rows_of()), tuple(rows))
    merges = [one.lines for one in PLAYED["widen"](case)]
    first = next(row for row, text in enumerate(trace.code.text) if text.strip().startswith(body.split()[0]))
    assert any(lines[0] == first for lines in merges) == each[between], (trace.code.text, merges)
    for one in merges:
        assert_same(trace, together(Merge(one)))


def test_the_machine_sees_what_a_barrier_protects(tmp_path: Path) -> None:
    """The wait of `MEETS` with one more outstanding, or below its barrier: both read too late."""
    trace, _ = captured(loop(MEETS.format(arithmetic=ARITHMETIC)), tmp_path)
    wait = next(row for row, text in enumerate(trace.code.text) if text.startswith("s_waitcnt"))
    for change in (Relax(wait, 1), MoveLater(wait, 15), Move(wait + 15, wait - 1)):
        with pytest.raises(AssertionError):
            assert_same(trace, (change,))
