"""Facts about a capture, and how far to trust it."""

import json

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.cost.activity import activity
from rcv_py.analysis.health.capture_health import problems, table_problems
from rcv_py.analysis.health.mapping import mapping
from rcv_py.features.summary.info_result import info
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.trace import Trace
from tests.analysis import build
from tests.support.fixtures import fixture_of_each
from tests.support.opened import VARIED
from tests.support.read_twice import opened_plainly
from tests.support.samples import sample_path


def texts(trace: Trace) -> str:
    return " ".join(problem.text for problem in table_problems(trace))


def test_a_pie_of_nothing_is_all_zero() -> None:
    assert activity(build.code(["v_a"])).percent == (0, 0, 0)


def test_a_pie_adds_up() -> None:
    code = build.code(["v_a", "v_b"], latency=[60, 20], stall=[30, 0], idle=[0, 20])
    assert activity(code).percent == (20, 30, 50)


trace = fixture_of_each(lambda name: opened_plainly(sample_path(name))[0], VARIED)


def test_facts_are_plain_values(trace: Trace) -> None:
    facts = info(trace)
    assert json.loads(json.dumps(facts)) == facts
    assert facts["waves"]["count"] == len(trace.waves)
    assert facts["code"]["issue"] + facts["code"]["stall"] == facts["code"]["latency"]


def test_occupancy_of_the_whole_device_is_that_of_all_lives(trace: Trace) -> None:
    events, lives = trace.occupancy, 0
    for time, is_start in zip(events.time.tolist(), events.is_start.tolist(), strict=True):
        lives += -time if is_start else time
    span = int(events.time.max() - events.time.min())
    assert info(trace)["occupancy"]["mean"] == pytest.approx(lives / span, abs=0.01)


def test_places_that_collapsed_are_counted_and_told() -> None:
    """Of a hundred instructions ninety carry the line of a decorator, the others a line each."""
    lines = [7] * 90 + list(range(20, 30))
    code = build.code(["v_a"] * 100, chains=[[(0, line)] for line in lines], hits=[1] * 100)
    spread = mapping(code)
    assert (spread.top_line, spread.top_share, spread.source_lines) == (7, 0.9, 11)
    assert spread.effective == pytest.approx(0.9**-0.9 * 0.01 ** (-0.01 * 10))
    source = SourceFile("/src/k.py", ("",) * 6 + ("@jit",) + ("",) * 30)
    told = texts(build.trace(code, [build.wave("VV")], sources=[source]))
    assert "90.0 % of the instructions" in told
    assert "k.py:7" in told


def test_evenly_used_lines_are_as_many_as_there_are() -> None:
    code = build.code(["v_a"] * 4, chains=[[(0, line)] for line in (1, 2, 3, 4)], hits=[1, 1, 1, 0])
    spread = mapping(code)
    assert (spread.code_lines, spread.source_lines) == (3, 3)
    assert spread.effective == pytest.approx(3)


ENDS = build.code(["v_a"] * 60 + ["s_endpgm"], latency=[1] * 60 + [40], hits=[1] * 61,
                  chains=[[(0, line + 1)] for line in range(61)])  # fmt: skip


def about(code: CodeTable) -> Trace:
    return build.trace(code, [build.wave("VV")], sources=[SourceFile("/a.py", None)])


def test_what_captures_suffer_from() -> None:
    """Waves that left at once, and those that wait for their stores at the end."""
    assert "40.0 % of the latency is s_endpgm" in texts(about(ENDS))
    few = replace(ENDS, hits=np.where(np.arange(61) < 2, 4, 0))
    assert "2 of 61 instructions ran" in texts(about(few))


def test_a_placeholder_is_told_once_and_has_facts() -> None:
    life = build.events([(0, 1, 0, 1, 0, 0, 1), (9, 0, 0, 1, 0, 0, 1)])
    facts = info(build.trace(build.code([]), [], occupancy=life))
    assert (facts["waves"]["count"], facts["occupancy"]["waves"], facts["problems"]) == (0, 1, [])


def test_each_sentence_is_told_once() -> None:
    trace = about(ENDS)
    assert len(problems(replace(trace, problems=table_problems(trace)))) == len(table_problems(trace)) == 1


def test_a_clean_trace_has_nothing_to_say() -> None:
    code = build.code(["v_a"] * 60, chains=[[(0, line + 1)] for line in range(60)], hits=[1] * 60)
    trace = build.trace(code, [build.wave("VV")], sources=[SourceFile("/a.py", None)])
    assert table_problems(trace) == ()
