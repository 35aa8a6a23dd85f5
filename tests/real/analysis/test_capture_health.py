"""What is known of real captures, found among the doubts about them."""

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.core.occupancy import residencies
from rcv_py.analysis.health.mapping import effective_lines
from rcv_py.analysis.health.representative import representation
from rcv_py.model.trace import Trace
from tests.analysis.test_capture_health import (
    SERIOUS_OF_THE_RECORD,
    checked,
    notes_of,
    test_effective_lines_are_those_of_the_definition,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of_each

trace = fixture_of_each(captures.real_trace, captures.THREAD_TRACES)


def flash_attention() -> list[Trace]:
    """Two captures of the same instructions, before and after the compiler kept their locations."""
    return [captures.real_trace(f"flash_attn_small_{name}") for name in ("before", "after")]


@pytest.mark.parametrize("name", captures.TRACES)
def test_real_captures_are_whole(name: str) -> None:
    assert not SERIOUS_OF_THE_RECORD & set(notes_of(captures.trace_path(name)))


def test_an_early_exit_is_no_reason_to_try_another_unit_if_all_left_early() -> None:
    note = notes_of(captures.trace_path("mla_decode"))["hardly_ran"]
    assert note.number("instructions that ran") == 17
    assert note.settings == {"kernel_iteration_range": "[2]"}


def test_an_early_exit_here_but_not_there() -> None:
    trace = captures.real_trace("mla_decode")
    events = trace.occupancy
    later = np.where((events.cu == 3) & ~events.is_start, events.time + 50_000, events.time)
    note = notes_of(replace(trace, occupancy=replace(events, time=later)))["hardly_ran"]
    assert note.settings == {"att_target_cu": 3}


def test_keeping_locations_helped() -> None:
    before, after = map(effective_lines, flash_attention())
    assert before < 2.5 < 3 * before < after
    before, after = (notes_of(trace)["mapping"] for trace in flash_attention())
    assert before.number("what it is") == "a decorator"
    assert [one.number("source lines") for one in (before, after)] == [7, 31]
    assert all(one.title.endswith("a decorator") for one in (before, after))
    assert before.number("instructions on it") > after.number("instructions on it")
    assert before.number("effective lines") < after.number("effective lines")


def test_debug_information_of_real_captures() -> None:
    assert notes_of(captures.trace_path("pa_mqa_big"))["debug_info"].number("instructions with a line") == 0
    assert "debug_info" not in notes_of(captures.trace_path("moe_reduce"))
    assert "sources" not in notes_of(captures.trace_path("flash_attn_small_after"))


GAPS = {"flash_attn_small_before": 8.6, "flash_attn_small_after": -9.4, "pa_mqa_big": 0.5}  # percent


@pytest.mark.parametrize("name", GAPS)
def test_how_far_the_traced_unit_is_off(name: str) -> None:
    found = representation(captures.real_trace(name))
    assert round(100 * found.gap, 1) == GAPS[name]
    assert ("representative" in notes_of(captures.trace_path(name))) is (abs(GAPS[name]) > 5)


def test_the_wave_of_median_life_is_a_traced_wave_of_middling_life() -> None:
    trace = captures.real_trace("moe_reduce")
    found = representation(trace)
    assert found is not None
    life = trace.waves.end - trace.waves.begin
    lives = residencies(trace.occupancy)
    middle = np.median(lives.end - lives.begin)
    assert abs(int(life[found.typical]) - middle) < 0.05 * middle


@pytest.mark.parametrize("name", ["moe_reduce", "vec_add", "preshuffle_gemm"])
def test_grids_of_several_rounds_fill_the_machine(name: str) -> None:
    assert "grid" not in notes_of(captures.trace_path(name))


def test_a_grid_that_leaves_places_empty() -> None:
    note = notes_of(captures.trace_path("fused_rope_cache"))["grid"]
    assert (note.number("waves"), note.number("most waves on one")) == (32, 1)
    assert note.number("slots on the compute units they used") == 32 * 4 * 8


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_the_tail_is_that_of_the_reference(name: str) -> None:
    tail = captures.golden(f"beyond/{name}.json")["tail_below_half_pct"] / 100
    note = notes_of(captures.trace_path(name)).get("tail")
    assert (note is not None) is (tail >= 0.25)
    if note is not None:
        assert note.number("with at most half of the peak") == pytest.approx(tail, abs=0.0001)


def test_replicates_differ_by_what_is_known_of_them() -> None:
    before, after = flash_attention()
    note = notes_of(before, replicate=after)["twin"]
    assert round(100 * note.number("difference per execution"), 1) == 5.8
    assert note.number("executions") == pytest.approx(43_360 / 26_412)
    assert "twin" not in notes_of(before, replicate=captures.real_trace("pa_mqa_big"))


@pytest.mark.parametrize("name", captures.TRACES)
def test_input_files_for_real_captures(name: str) -> None:
    trace = captures.real_trace(name)
    job = checked(trace)
    assert job["kernel_include_regex"] in trace.kernel_name
    if trace.has_thread_trace:
        assert job["att_activity"] == 8
        assert int(job["att_shader_engine_mask"], 16) == 15
