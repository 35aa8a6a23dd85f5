"""The numbers of tests/cli/test_numbers.py, of real captures."""

from pathlib import Path

import pytest

from tests.cli.test_numbers import (  # noqa: F401
    Library,
    test_barriers_measure_arrivals,
    test_bounds_of_waits_are_below_what_there_is,
    test_bubbles_charge_cycles_in_which_nothing_happens_one_by_one,
    test_causes_share_out_every_cycle_once,
    test_check_counts_what_it_shows,
    test_compare_puts_cycles_against_waves,
    test_counters_are_added_up,
    test_flame_loses_nothing_and_nests,
    test_hotspot_by_source_kind_and_class_loses_nothing,
    test_hotspot_sums_executions_and_ranks_them,
    test_index_adds_up_every_capture,
    test_isa_lines_blocks_and_branches,
    test_latency_splits_what_was_spent,
    test_line_tells_the_hits_of_the_costliest_instruction,
    test_loops_count_jumps_back_and_the_time_between,
    test_occupancy_counts_the_waves_of_the_device,
    test_pc_samples_are_added_up,
    test_summary_adds_states_and_lives,
    test_triage_claims_no_more_than_there_is_and_shows_where,
    test_waits_charge_stall_to_what_the_files_name,
)
from tests.real import captures
from tests.support.fixtures import fixture_of, fixture_of_each

NAMES = ("pa_mqa_small", "flash_attn_small_before", "pa_mqa_big", "vec_add")


folder = fixture_of_each(captures.trace_path, NAMES)
short = fixture_of_each(captures.trace_path, NAMES[:2])
meeting = fixture_of_each(captures.trace_path, NAMES)
# But that which takes as long as all others
varied = fixture_of_each(
    captures.trace_path, [name for name in captures.THREAD_TRACES if name != "moe_reduce"]
)
bounded = fixture_of_each(captures.synthetic_path, captures.SYNTHETIC)
noted = fixture_of_each(captures.trace_path, NAMES[1:2])


@pytest.fixture
def pair() -> tuple[Path, Path]:
    a, b = (captures.trace_path(f"flash_attn_small_{which}") for which in ("before", "after"))
    return a, b


sampled = fixture_of(captures.trace_path, "pcsampling")
counted = fixture_of(captures.synthetic_path, "counters_gfx9")


@pytest.fixture
def library(pair: tuple[Path, Path]) -> Library:
    folders = [captures.trace_path(name) for name in captures.TRACES]
    summed = [captures.trace_path(name) for name in NAMES]
    names = {path.name: path for path in folders}
    return Library(captures.SHARED / "traces", names, summed, (pair[0].name, pair[1].name))
