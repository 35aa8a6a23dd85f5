"""Hidden latency, by the reference's rule and by ours: cycle for cycle what the definitions say."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from rcv_py.analysis.core.intervals import owned, serial_busy
from rcv_py.analysis.latency.hidden_latency import HIDDEN, HiddenLatency
from rcv_py.analysis.program.matrix_forms import matrix_passes
from rcv_py.model.device import OtherSimd
from rcv_py.model.ids import WaveId
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.tokens import Tokens
from rcv_py.model.waves import TracedWave, WaveBatch
from tests.support.code_samples import batch, code_table, trace
from tests.support.columns import in_rows
from tests.support.drawing import states
from tests.support.read_twice import Case

KINDS = (TokenKind.MATRIX, TokenKind.VALU, TokenKind.VMEM, TokenKind.LDS, TokenKind.SALU, TokenKind.IMMED)
MATRIX_LINE = 4  # of the code sample: 32 cycles


# -- the reference's rule ------------------------------------------------------------------------------

UNIT = {
    TokenKind.MATRIX: "matrix", TokenKind.VALU: "vector", TokenKind.VMEM: "memory", TokenKind.FLAT: "memory",
    TokenKind.LDS: "memory", TokenKind.SALU: "scalar", TokenKind.SMEM: "scalar",
}  # fmt: skip
# Of an instruction's unit: the lists that may hide it, and whether each does so for its issue, too.
HIDES = {
    "matrix": (("vector", False), ("matrix", False)),
    "vector": (("vector", False), ("matrix", True)),
    "memory": (("math", True), ("memory", False)),
    "scalar": (("important", True), ("scalar", False)),
    "other": (("all", True),),
}


def queued(work: list[tuple[int, int]], cycles: int) -> np.ndarray:
    """Whether a unit is busy in each cycle: what comes while it is makes that last longer."""
    busy = np.zeros(cycles, dtype=bool)
    end = -1
    for start, length in sorted(work, key=lambda one: one[0]):
        first = start if start > end else end
        end = first + length
        busy[first:end] = True
    return busy


def executed(wave: TracedWave) -> list[tuple[int, ...]]:
    """Start, stall, issue, kind and line of every instruction."""
    one = wave.tokens
    return in_rows(one.start, one.stall, one.busy, one.kind, one.line)


def by_queues(waves: list[TracedWave], lines: int) -> np.ndarray:
    """Hidden idle, stall and issue of each code line by the waves of one SIMD, cycle by cycle."""
    base = min(wave.begin for wave in waves)
    rows = [
        (wave.row, wave.begin - base, UNIT.get(TokenKind(kind), "other"), start - base, stall, busy, line)
        for wave in waves
        for start, stall, busy, kind, line in executed(wave)
    ]
    work: dict[str, list[tuple[int, int]]] = {unit: [] for unit in ("matrix", "vector", "memory", "scalar")}
    for _, _, unit, start, stall, busy, _ in rows:
        if unit != "other":
            work[unit].append((start + stall, busy))
        if unit == "matrix":
            work["vector"].append((start + stall, busy * 3 // 4))
    cycles = max(start + stall for _, _, _, start, stall, _, _ in rows)
    cycles += sum(length for own in work.values() for _, length in own) + 1
    lists = {unit: queued(own, cycles) for unit, own in work.items()}
    lists["math"] = lists["vector"] | lists["matrix"]
    lists["important"] = lists["math"] | lists["memory"]
    lists["all"] = lists["important"] | lists["scalar"]
    until = {name: [0, *np.cumsum(busy).tolist()] for name, busy in lists.items()}
    found = np.zeros((3, lines), dtype=np.int64)
    latest: dict[int, int] = {}
    for wave, begin, unit, start, stall, busy, line in rows:
        edges = (latest.get(wave, begin), start, start + stall, start + stall + busy)
        best = [0, 0, 0]
        for name, hides_issue in reversed(HIDES[unit]):
            parts = [max(0, until[name][max(a, b)] - until[name][a]) for a, b in pairwise(edges)]
            parts[2] *= hides_issue
            best = parts if sum(parts) > sum(best) else best
        found[:, line] += best
        latest[wave] = edges[-1]
    return found


def test_the_reference_rule_lets_work_queue(case: Case) -> None:
    found = HIDDEN[ReferenceRule.REFERENCE].of(case.trace, case.batches)
    simds: dict[tuple[int, int], list[TracedWave]] = {}
    for wave in case.waves:
        simds.setdefault((wave.id.se, wave.id.simd), []).append(wave)
    code = case.trace.code
    expected = sum(by_queues(waves, len(code)) for waves in simds.values())
    np.testing.assert_array_equal(np.stack([found.idle, found.stall, found.issue]), expected)
    assert expected.any(axis=1).all()
    parts = zip(expected.tolist(), (code.idle, code.stall, code.latency - code.stall), strict=True)
    hidden = sum(min(one, int(most)) for part, whole in parts for one, most in zip(part, whole, strict=True))
    assert int(found.hidden(code).sum()) == hidden
    assert int(found.nonhidden(code).sum()) == int(code.latency.sum() + code.idle.sum()) - hidden


def test_a_wave_that_is_alone_hides_nothing(case: Case) -> None:
    found = HIDDEN[ReferenceRule.OURS].of(replace(case.trace, other_simd=()), case.batches)
    alone = len({(wave.id.se, wave.id.simd) for wave in case.waves}) == len(case.waves)
    assert (int(found.hidden(case.trace.code).sum()) == 0) == alone


# -- our rule against the definition, cycle by cycle ---------------------------------------------------


def tokens_of(rows: list[tuple[int, int, int, int, int]], begin: int) -> Tokens:
    """Tokens from (gap in front, stall, busy, kind, step back): gaps may be negative."""
    start, at = [], begin
    for gap, stall, busy, _, back in rows:
        at = max([begin, *start[-1:], at + gap - back])
        start.append(at)
        at += stall + busy
    column = np.array(rows, dtype=np.int32).reshape(-1, 5).T
    kinds = np.array([KINDS[kind] for kind in column[3]], dtype=np.uint8)
    lines = np.where(kinds == TokenKind.MATRIX, MATRIX_LINE, column[3] + 1 + (column[3] >= MATRIX_LINE - 1))
    offset = np.array(start, dtype=np.int32) - begin
    return Tokens(begin, offset.astype(np.int32), column[1], column[2], kinds, lines.astype(np.int32))


def wave_of(row: int, simd: int, tokens: Tokens) -> TracedWave:
    begin, place = tokens.base, WaveId(0, simd, row, 0)
    return TracedWave(row, place, 0, begin, begin + 500, tokens, states("E", begin), None)


row = st.tuples(*(st.integers(0, most) for most in (6, 12, 9, len(KINDS) - 1, 9)))
wave = st.tuples(st.integers(0, 1), st.integers(0, 40), st.lists(row, max_size=7))
waves = st.lists(wave, min_size=1, max_size=4)


def batch_from(drawn: list[tuple[int, int, list]]) -> WaveBatch:
    return batch(*(wave_of(i, simd, tokens_of(rows, begin)) for i, (simd, begin, rows) in enumerate(drawn)))


def by_cycle(loaded: WaveBatch, cycles: np.ndarray) -> np.ndarray:
    """Hidden idle, stall and issue by code line, one cycle after the other."""
    unit = {TokenKind.MATRIX: 0, TokenKind.VALU: 1, TokenKind.VMEM: 2, TokenKind.LDS: 2, TokenKind.SALU: 3}
    busy: set[tuple[int, int, int, int]] = set()  # simd, wave, unit, cycle
    for wave in loaded.waves:
        for start, stall, length, kind, line in executed(wave):
            if kind in unit:
                work = max(length, int(cycles[line]) if kind == TokenKind.MATRIX else 0)
                for cycle in range(start + stall, start + stall + work):
                    busy.add((wave.id.simd, wave.row, unit[kind], cycle))
    found = np.zeros((3, len(cycles)), dtype=np.int64)
    for wave in loaded.waves:
        latest = wave.begin
        for start, stall, length, kind, line in executed(wave):
            own = unit.get(kind, 4)
            wait, issue = (1, 1, 2, 3, 3)[own], (-1, 0, 1, 2, 3)[own]
            edges = (latest, start, start + stall, start + stall + length)
            parts = zip(pairwise(edges), (wait, wait, issue), strict=True)
            for part, ((begin, end), least) in enumerate(parts):
                found[part, line] += sum(
                    any(
                        (wave.id.simd, other.row, level, cycle) in busy
                        for other in loaded.waves
                        if other.row != wave.row
                        for level in range(least + 1)
                    )
                    for cycle in range(begin, end)
                )
            latest = max(latest, start + stall + length)
    return found


@settings(max_examples=60, deadline=None)
@given(waves)
def test_our_rule_counts_the_cycles_that_others_cover(drawn: list) -> None:
    loaded = batch_from(drawn)
    capture = trace()
    found = HIDDEN[ReferenceRule.OURS].of(capture, [loaded])
    expected = by_cycle(loaded, matrix_passes(capture.code, capture.target).cycles)
    np.testing.assert_array_equal(np.stack([found.idle, found.stall, found.issue]), expected)


@settings(max_examples=30, deadline=None)
@given(waves)
def test_how_waves_are_batched_changes_nothing(drawn: list) -> None:
    together = batch_from(drawn)
    apart = [batch(wave) for wave in reversed(together.waves)]
    for rule in ReferenceRule:
        one, many = (HIDDEN[rule].of(trace(), parts) for parts in ([together], apart))
        for name in ("idle", "stall", "issue"):
            np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


def test_the_sibling_simd_covers_memory_stalls() -> None:
    loaded = batch(wave_of(0, 0, tokens_of([(0, 10, 4, 2, 0)], 100)))  # vector memory: stalls from 100 to 110
    records = OtherSimd(0, 0, 1, np.array([102, 104]), np.array([4, 4]), np.array([3, 3], dtype=np.uint8))
    assert HIDDEN[ReferenceRule.OURS].of(trace(other_simd=(records,)), [loaded]).stall.sum() == 6
    own = replace(records, simd=0)
    assert HIDDEN[ReferenceRule.OURS].of(trace(other_simd=(own,)), [loaded]).stall.sum() == 0
    assert HIDDEN[ReferenceRule.REFERENCE].of(trace(other_simd=(records,)), [loaded]).stall.sum() == 0


def test_nothing_loaded_hides_nothing_and_says_so() -> None:
    for rule in ReferenceRule:
        found = HIDDEN[rule].of(trace(), [])
        assert not found.hidden(trace().code).any()
        assert "Only 0 of 2 waves" in found.assumption


def test_no_line_hides_more_than_it_has() -> None:
    code = code_table()
    much = np.full(len(code), 10**6, dtype=np.int64)
    found = HiddenLatency(much, much, much, "")
    np.testing.assert_array_equal(found.hidden(code), code.latency + code.idle)
    np.testing.assert_array_equal(found.hidden(code, show_idle=False), code.latency)
    assert not found.nonhidden(code).any()


# -- intervals -----------------------------------------------------------------------------------------

spans = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 12)), max_size=12)


def arrays(drawn: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(drawn, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def cells(begin: np.ndarray, end: np.ndarray) -> set[int]:
    return {cycle for a, b in in_rows(begin, end) for cycle in range(a, b)}


@given(spans)
def test_queued_work_keeps_all_its_length(drawn: list) -> None:
    begin, length = arrays(drawn)
    found = serial_busy(begin, length)
    stretches: list[list[int]] = []
    for start, work in sorted(drawn, key=lambda span: span[0]):
        if stretches and start <= stretches[-1][1]:
            stretches[-1][1] += work
        else:
            stretches.append([start, start + work])
    busy = [tuple(stretch) for stretch in stretches if stretch[1] > stretch[0]]
    assert in_rows(found.begin, found.end) == busy
    assert found.total == int(length.sum())


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9), st.integers(0, 3)), max_size=14))
def test_time_is_told_apart_by_who_covers_it(drawn: list) -> None:
    table = np.array(drawn, dtype=np.int64).reshape(-1, 3)
    begin, length, owner = table.T
    lane, stride = np.array([0, 0, 1, 0]), 64
    found = owned(begin, begin + length, owner, stride, lane)
    who: dict[int, set[int]] = {}
    for start, work, by in drawn:
        for cycle in range(start, start + work):
            who.setdefault(int(lane[by]) * stride + cycle, set()).add(by)
    assert cells(found.all.begin, found.all.end) == set(who)
    alone = {next(iter(by)) * stride + cell % stride for cell, by in who.items() if len(by) == 1}
    assert cells(found.alone.begin, found.alone.end) == alone


@pytest.mark.parametrize("rule", list(ReferenceRule))
def test_waves_of_two_simds_do_not_hide_each_other(rule: ReferenceRule) -> None:
    busy = [(0, 0, 9, 1, 0)] * 3
    waiting = [(0, 27, 1, 5, 0)]
    apart = batch(wave_of(0, 0, tokens_of(busy, 0)), wave_of(1, 1, tokens_of(waiting, 0)))
    together = batch(wave_of(0, 0, tokens_of(busy, 0)), wave_of(1, 0, tokens_of(waiting, 0)))
    assert HIDDEN[rule].of(trace(), [apart]).stall.sum() == 0
    assert HIDDEN[rule].of(trace(), [together]).stall.sum() == 27
