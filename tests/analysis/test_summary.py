"""Facts about a capture, and how far to trust it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rcv_py.analysis.cost.activity import activity
from rcv_py.analysis.health.capture_health import problems, table_problems
from rcv_py.analysis.health.mapping import mapping
from rcv_py.model.code import SourceFile
from rcv_py.model.trace import Trace
from rcv_py.results.info import info
from tests.analysis import build, plain
from tests.support import captures


def texts(trace: Trace) -> str:
    return " ".join(problem.text for problem in table_problems(trace))


def test_a_pie_of_nothing_is_all_zero() -> None:
    assert activity(build.code(["v_a"])).percent == (0, 0, 0)


def test_a_pie_adds_up() -> None:
    code = build.code(["v_a", "v_b"], latency=[60, 20], stall=[30, 0], idle=[0, 20])
    assert activity(code).percent == (20, 30, 50)


@pytest.mark.parametrize("name", [*captures.GOLDEN, "mla_decode", "vec_add"])
def test_facts_are_plain_values(name: str) -> None:
    trace, _ = plain.read(captures.trace_path(name))
    facts = info(trace)
    assert json.loads(json.dumps(facts)) == facts
    assert facts["waves"]["count"] == len(trace.waves)
    assert facts["code"]["issue"] + facts["code"]["stall"] == facts["code"]["latency"]


def test_occupancy_of_the_whole_device_equals_independent_numbers() -> None:
    for name in captures.GOLDEN:
        golden = captures.golden("summary.json")[name]
        trace, _ = plain.read(captures.trace_path(name))
        assert info(trace)["occupancy"]["mean"] == pytest.approx(golden["avg_waves"], abs=0.01)


def test_collapsed_source_places_are_noticed_before_but_hardly_after_the_fix() -> None:
    before, after = (
        mapping(plain.read(captures.trace_path(f"flash_attn_small_{name}"))[0].code)
        for name in ("before", "after")
    )
    assert before.top_share > 0.9 > after.top_share
    assert before.effective < after.effective < after.source_lines
    trace, _ = plain.read(captures.trace_path("flash_attn_small_before"))
    assert "90.8 % of the instructions" in texts(trace)
    assert "flash_attn_func.py:257" in texts(trace)


def test_evenly_used_lines_are_as_many_as_there_are() -> None:
    code = build.code(["v_a"] * 4, chains=[[(0, line)] for line in (1, 2, 3, 4)], hits=[1, 1, 1, 0])
    spread = mapping(code)
    assert (spread.code_lines, spread.source_lines) == (3, 3)
    assert spread.effective == pytest.approx(3)


def test_what_the_captures_suffer_from() -> None:
    def told(name: str) -> str:
        return texts(plain.read(captures.trace_path(name))[0])

    assert "17 of 4,948 instructions ran" in told("mla_decode")
    assert "42.3 % of the latency is s_endpgm" in told("vec_add")
    assert told("pa_mqa_big") == ""


def test_a_placeholder_is_told_once_and_has_facts() -> None:
    life = build.events([(0, 1, 0, 1, 0, 0, 1), (9, 0, 0, 1, 0, 0, 1)])
    facts = info(build.trace(build.code([]), [], occupancy=life))
    assert (facts["waves"]["count"], facts["occupancy"]["waves"], facts["problems"]) == (0, 1, [])


def test_each_sentence_is_told_once() -> None:
    trace, _ = plain.read(captures.trace_path("vec_add"))
    assert len(problems(replace(trace, problems=table_problems(trace)))) == len(table_problems(trace)) == 1


def test_a_clean_trace_has_nothing_to_say() -> None:
    code = build.code(["v_a"] * 60, chains=[[(0, line + 1)] for line in range(60)], hits=[1] * 60)
    trace = build.trace(code, [build.wave("VV")], sources=[SourceFile("/a.py", None)])
    assert table_problems(trace) == ()
