"""Bars beside instructions: cut as they should be."""

from types import SimpleNamespace

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.core.cost_columns import cost_columns, split_cycles
from rcv_py.analysis.cost.annotations import Annotation, Ingredients, LineBars, annotation, why_not
from rcv_py.analysis.cost.hotspot import HotspotBins
from rcv_py.analysis.latency.hidden_latency import HIDDEN, HiddenLatency
from rcv_py.model.kinds import KIND_COUNT, StallReason, TokenKind
from rcv_py.model.modes import LatencyMode, ReferenceRule
from tests.analysis import build
from tests.analysis.in_memory import kind_latency
from tests.support.read_twice import Case

CYCLES = {"latency": [0, 100, -5, 40], "stall": [0, 30, 9, 90], "idle": [7, 10, -3, 0]}
CODE = build.code(["; k", "v_a", "v_b", "s_c"], hits=[0, 2, 1, 1], **CYCLES)


def costs(code=CODE):
    return cost_columns(code, LatencyMode.SUM_ALL, None, None)


def named(bars: LineBars) -> dict[str, list[float]]:
    rows = zip(bars.parts, bars.value, strict=True)
    return {f"{part.name}{part.lane or ''}": row.tolist() for part, row in rows}


def test_parts_are_cut_so_that_they_add_up() -> None:
    idle, stall, issue = split_cycles(CODE.latency, CODE.stall, CODE.idle, True)
    assert (idle.tolist(), stall.tolist(), issue.tolist()) == ([7, 10, 0, 0], [0, 30, 0, 40], [0, 70, 0, 0])
    assert not split_cycles(CODE.latency, CODE.stall, CODE.idle, False)[0].any()
    hidden = HiddenLatency(np.full(4, 8), np.full(4, 99), np.full(4, -1), "").parts(CODE)
    assert [part.tolist() for part in hidden] == [[7, 8, 0, 0], [0, 30, 0, 40], [0, 0, 0, 0]]


def test_total_latency_has_no_label_and_idle_only_if_it_counts() -> None:
    bars = annotation(Annotation.TOTAL, Ingredients(CODE, costs()))
    assert named(bars) == {"stall": [0, 30, 0, 40], "issue": [0, 70, 0, 0], "idle": [0, 10, 0, 0]}
    assert bars.largest == 110
    assert named(annotation(Annotation.TOTAL, Ingredients(CODE, costs(), False))).keys() == {"stall", "issue"}


def test_what_is_hidden_is_drawn_apart_and_the_bar_keeps_its_length() -> None:
    idle, stall, issue = np.array([[0, 4, 0, 0], [0, 50, 0, 1], [0, 20, 0, 0]])
    hidden = HiddenLatency(idle, stall, issue, "")
    has = Ingredients(CODE, costs(), hidden=hidden)
    bars = annotation(Annotation.NONHIDDEN, has)
    shown = {"stall": [0, 0, 0, 39], "issue": [0, 50, 0, 0], "idle": [0, 6, 0, 0]}
    assert named(bars) == shown | {"hidden": [0, 54, 0, 1]}
    np.testing.assert_array_equal(bars.total, annotation(Annotation.TOTAL, has).total)


def test_kinds_show_those_that_occur() -> None:
    kinds = np.zeros((4, KIND_COUNT), dtype=np.int64)
    kinds[1, TokenKind.VALU], kinds[3, TokenKind.SALU] = 100, 40
    rows = np.arange(len(CODE))
    bins = HotspotBins(rows, rows + 1, kinds, 1)
    bars = annotation(Annotation.KINDS, Ingredients(CODE, costs(), kinds=bins))
    assert named(bars) == {"SALU": [0, 0, 0, 40], "VALU": [0, 100, 0, 0], "idle": [0, 10, 0, 0]}
    assert {part.table for part in bars.parts} == {"kind", "role"}


def test_latency_and_stall_are_two_bars() -> None:
    bars = annotation(Annotation.LATENCY_STALL, Ingredients(CODE, costs()))
    assert bars.lanes == 2
    assert named(bars) == {"latency": [0, 100, 0, 40], "idle": [0, 10, 0, 0], "stall1": [0, 30, 0, 40]}
    assert bars.total.tolist() == [0, 110, 0, 40]


def test_memory_latency_has_whiskers_where_there_is_a_spread() -> None:
    mean, std, issue, stall = np.array([[500.0, 80.0], [60.0, 0.0], [4.0, 4.0], [10.0, 0.0]])
    memory = SimpleNamespace(line=np.array([1, 3]), mean=mean, std=std, issue=issue, stall=stall)
    bars = annotation(Annotation.MEMORY, Ingredients(CODE, costs(), memory=memory))
    assert named(bars) == {"stall": [0, 10, 0, 0], "issue": [0, 4, 0, 4], "memory": [0, 500, 0, 80]}
    assert (bars.low[1], bars.high[1]) == (454, 574)
    assert np.isnan(bars.low[[0, 2, 3]]).all()
    assert bars.largest == 574
    assert not bars.is_sum


def test_memory_latency_by_waits_reaches_to_the_90th_percentile() -> None:
    waits = SimpleNamespace(line=np.array([2]), median=np.array([300.0]), p90=np.array([900.0]))
    bars = annotation(Annotation.MEMORY_WAITS, Ingredients(CODE, costs(), waits=waits))
    assert named(bars) == {"memory": [0, 0, 300, 0]}
    assert (bars.low[2], bars.high[2], bars.largest) == (300, 900, 900)


def test_samples_have_reasons_and_no_cycles() -> None:
    nothing = np.zeros(4, dtype=np.int64)
    reasons = np.zeros((4, len(StallReason)), dtype=np.int64)
    reasons[1, StallReason.WAITCNT], reasons[2, StallReason.BARRIER] = 5, 2
    code = replace(CODE, latency=nothing, samples_issued=np.array([0, 1, 1, 1]))
    code = replace(code, samples_stalled=reasons.sum(axis=1), stall_reasons=reasons)
    has = Ingredients(code, costs(code))
    bars = annotation(Annotation.REASONS, has)
    assert named(bars) == {"wait count": [0, 5, 0, 0], "barrier": [0, 0, 2, 0], "issued": [0, 1, 1, 1]}
    assert bars.unit == annotation(Annotation.TOTAL, has).unit == "samples"
    assert bars.total.tolist() == annotation(Annotation.TOTAL, has).total.tolist() == [0, 6, 3, 1]
    assert "no cycles" in why_not(Annotation.KINDS, has)


def test_causes_split_the_stall_and_idle_closes_the_bar() -> None:
    """Rows of a table of causes: line, cause, stall, idle."""
    rows = [(1, Cause.WAIT_LOAD, 8, 0), (1, Cause.OWN, 2, 0), (1, Cause.FETCH, 0, 5)]
    rows += [(2, Cause.WAIT_LOAD, 3, 0), (-1, 0, 9, 9)]
    line, cause, stall, idle = np.array(rows).T
    causes = SimpleNamespace(line=line, cause=cause, stall=stall, idle=idle)
    bars = annotation(Annotation.CAUSES, Ingredients(CODE, costs(), causes=causes))
    assert [part.name for part in bars.parts] == ["the wait itself", "vector load", "idle"]
    assert bars.value[:, 1].tolist() == [2, 8, 5]
    assert bars.value[:, 2].tolist() == [0, 3, 0]
    without = annotation(Annotation.CAUSES, Ingredients(CODE, costs(), False, causes=causes))
    assert [part.name for part in without.parts] == ["the wait itself", "vector load"]


@pytest.mark.parametrize("mode", Annotation)
def test_what_is_missing_is_said_and_the_total_shown(mode: Annotation) -> None:
    has = Ingredients(CODE, costs())
    why = why_not(mode, has)
    assert bool(why) is (mode not in (Annotation.TOTAL, Annotation.LATENCY_STALL))
    assert not why or why.endswith(".")
    assert annotation(mode, has).mode is (Annotation.TOTAL if why else mode)


def test_counters_that_told_nothing_are_an_objection() -> None:
    memory = SimpleNamespace(line=np.zeros(0, dtype=np.int32))
    assert "SQ_INST_LEVEL" in why_not(Annotation.MEMORY, Ingredients(CODE, costs(), memory=memory))


def test_scales_and_hidden_cycles_are_those_of_the_rows(case: Case) -> None:
    """Row by row: each hidden part is at most what it is a part of, and nothing of a row is lost."""
    code = case.trace.code
    hidden = HIDDEN[ReferenceRule.REFERENCE].of(case.trace, case.batches)
    has = Ingredients(code, costs(code), hidden=hidden, kinds=kind_latency(case.batches, len(code)))
    covered = left = longest = 0
    columns = (code.idle, code.stall, code.latency, hidden.idle, hidden.stall, hidden.issue)
    for idle, stall, latency, *away in zip(*(column.tolist() for column in columns), strict=True):
        parts = (idle, stall, latency - stall)
        gone = sum(min(max(part, 0), whole) for part, whole in zip(away, parts, strict=True))
        covered, left, longest = covered + gone, left + sum(parts) - gone, max(longest, sum(parts))
    for mode in (Annotation.TOTAL, Annotation.KINDS, Annotation.LATENCY_STALL):
        assert annotation(mode, has).largest == longest > 0
    bars = annotation(Annotation.NONHIDDEN, has)
    assert (int(bars.value[3].sum()), int(bars.value[:3].sum())) == (covered, left)
    assert covered
