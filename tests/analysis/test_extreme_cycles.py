"""Any number of cycles that a damaged file may hold: sums are exact until int64 ends, nothing is raised."""

from functools import cache

import numpy as np
import pytest

from rcv_py.analysis.attribution.attribute import ATTRIBUTION, token_causes
from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.wait_costs import LOAD_TO_USE, WAITS
from rcv_py.analysis.core.reduction import InMemory
from rcv_py.analysis.core.saturated import MAX_CYCLES
from rcv_py.analysis.device.pipe_use import PIPE_USE, PIPES
from rcv_py.analysis.device.simd_work import SimdWork
from rcv_py.analysis.findings.bounds import Exposure
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.latency.bubbles import BUBBLES, Bubbles
from rcv_py.model.ids import WaveId
from rcv_py.model.kinds import TokenKind as K
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.tokens import Tokens
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch
from tests.analysis import build
from tests.analysis.in_memory import simd_work
from tests.support import drawing
from tests.support.columns import in_rows

TEXTS = [
    "; k",
    "v_mfma_f32_32x32x8_f16 v[0:15], v[20:21], v[22:23], v[0:15]",
    "global_load_dword v1, v0, s[0:1]",
    "ds_read_b32 v2, v3",
    "s_waitcnt vmcnt(0)",
    "s_waitcnt lgkmcnt(0)",
    "s_barrier",
    "v_add_f32_e32 v4, v1, v2",
    "s_nop 7",
    "s_endpgm",
]
KINDS = [0, K.MATRIX, K.FLAT, K.LDS, K.IMMED, K.IMMED, K.IMMED, K.VALU, K.IMMED, K.MSG]
STALLS = [*(1 << power for power in (41, 45, 52, 55, 58, 60, 62)), (1 << 60) - 1, MAX_CYCLES - 1_000_000]


def hostile(stall: int, where: int, waves: int = 40) -> tuple[Trace, WaveBatch]:
    """Waves of ordinary tokens, of which the first has one that stalls so long."""
    made = []
    for number in range(waves):
        line = np.arange(1, len(TEXTS))
        cycles = np.full(len(line), 40, dtype=np.int64)
        if not number:
            cycles[where] = stall
        offset = np.cumsum(np.append(0, np.minimum(cycles, MAX_CYCLES - 900_000 - 60 * len(line)) + 8))[:-1]
        busy = np.full(len(line), 4, dtype=np.int64)
        kind = np.array([KINDS[one] for one in line.tolist()], dtype=np.uint8)
        base = 100 * number
        tokens = Tokens(base, offset, cycles, busy, kind, line.astype(np.int16))
        place = WaveId(0, number % 4, number // 4, 0)
        made.append(TracedWave(number, place, 1, base, base + 1_000, tokens, drawing.states("E", base), None))
    trace = build.trace(build.code(TEXTS, kinds=KINDS), made)
    return trace, build.batch(*made)


@cache
def without_the_first() -> tuple[Trace, WaveBatch]:
    """The trace with the waves beside the one that stalls, which are the same whatever that one does."""
    trace, batch = hostile(40, 0)
    return trace, build.batch(*batch.waves[1:])


@cache
def of_the_others() -> tuple[Bubbles, SimdWork, Exposure]:
    """What SIMDs do while these run."""
    trace, others = without_the_first()
    inputs = FindingInputs(InMemory(trace, [others]), waves="all")
    return BUBBLES[ReferenceRule.OURS].of(trace, [others]), simd_work(trace, [others]), inputs.exposure


def summed(batch: WaveBatch) -> int:
    """The stall of a batch by Python's numbers, which have no limit."""
    return sum(sum(wave.tokens.stall.tolist()) for wave in batch.waves)


@pytest.mark.parametrize("where", range(len(TEXTS) - 1))
@pytest.mark.parametrize("stall", STALLS)
def test_attribution_of_any_stall_adds_up(stall: int, where: int) -> None:
    trace, batch = hostile(stall, where)
    table = ATTRIBUTION.of(trace, [batch])
    assert table.total_stall == min(MAX_CYCLES, summed(batch))
    assert table.by_cause().total_stall == table.by_line().total_stall == table.total_stall
    assert (table.stall >= 0).all()
    assert (table.idle >= 0).all()
    assert 0 <= table.explained <= 1
    causes = token_causes(trace, [batch], batch.waves[0], where)
    assert sum(one.cycles for one in causes if not one.is_idle) == stall


def test_a_long_stall_keeps_its_cause_and_its_producer() -> None:
    trace, batch = hostile(1 << 58, 3)
    table = ATTRIBUTION.of(trace, [batch])
    assert (table.line[0], table.cause[0], table.producer[0]) == (4, Cause.WAIT_LOAD, 2)
    assert int(table.stall[0]) == (1 << 58) + 39 * 40


@pytest.mark.parametrize("stall", STALLS)
def test_units_are_busy_as_long_as_without_the_stall(stall: int) -> None:
    """Only the tokens of the other waves, and those in front of the stall, are at the same time as before."""
    _, batch = hostile(stall, 5)
    found, usual = build.of(PIPE_USE, [batch]), build.of(PIPE_USE, [hostile(40, 5)[1]])
    others = found.simd != 0
    assert np.array_equal(found.pipes[others], usual.pipes[others])
    assert (found.resident >= 0).all()
    assert (found.pipes >= 0).all()
    matrix = PIPES.index("Matrix")
    assert found.pipes[0, matrix] == usual.pipes[0, matrix], "it is in front of the stall"


@pytest.mark.parametrize("where", [3, 4])
@pytest.mark.parametrize("stall", STALLS)
def test_waits_of_any_stall_add_up(stall: int, where: int) -> None:
    trace, batch = hostile(stall, where)
    found = WAITS.of(trace, [batch])
    row = found.blocking.line.tolist().index(where + 1)
    assert int(found.blocking.stall[row]) == stall + 39 * 40
    assert int(found.blocking.charged.sum()) == int(found.blocking.stall.sum())
    latency = found.latency
    assert set(latency.line.tolist()) == {2, 3}, "no other line has a latency"
    assert (latency.p90 >= latency.median).all()
    uses = LOAD_TO_USE.of(trace, [batch])
    assert int(uses.stall.max()) == stall + 39 * 40
    assert set(uses.line.tolist()) == {2, 3}


@pytest.mark.parametrize("power", [41, 58, 62])
def test_gaps_of_any_length_add_up(power: int) -> None:
    trace, batch = hostile(1 << power, 5)
    table = ATTRIBUTION.of(trace, [batch])
    by_hand = 0
    for wave in batch.waves:
        latest, tokens = wave.begin, wave.tokens
        for start, stall, busy in in_rows(tokens.start, tokens.stall, tokens.busy):
            by_hand += max(0, start - latest)
            latest = max(latest, start + stall + busy)
    assert table.total_idle == by_hand


@pytest.mark.parametrize("where", range(len(TEXTS) - 1))
@pytest.mark.parametrize("stall", [one for one in STALLS if one >= 1 << 52])
@pytest.mark.filterwarnings("error")
def test_what_simds_do_is_counted_without_a_wave_of_impossible_times(stall: int, where: int) -> None:
    """Its times wrapped the axis that all SIMDs share, and every count was wrong."""
    trace, batch = hostile(stall, where)
    right, whole, true = of_the_others()
    found = BUBBLES[ReferenceRule.OURS].of(trace, [batch])
    assert (found.resident, found.issuing, found.bubble) == (right.resident, right.issuing, right.bubble)
    assert (found.matrix, found.total.sum()) == (right.matrix, right.total.sum())
    assert "1 wave left out" in found.assumption
    assert "left out" not in right.assumption
    work = simd_work(trace, [batch])
    assert work.left_out == {0}
    assert work.nothing.total == whole.nothing.total
    seen = FindingInputs(InMemory(trace, [batch]), waves="all").exposure
    assert (seen.resident, seen.nothing, seen.waves) == (true.resident, true.nothing, true.waves)


def test_long_waves_are_no_damage() -> None:
    trace, batch = hostile(1 << 41, 3)
    assert not simd_work(trace, [batch]).left_out


@pytest.mark.filterwarnings("error")
def test_when_no_wave_is_possible_nothing_is_counted() -> None:
    trace, batch = hostile(1 << 60, 3, waves=1)
    assert BUBBLES[ReferenceRule.OURS].of(trace, [batch]).resident == 0
    assert simd_work(trace, [batch]).resident.total == 0
