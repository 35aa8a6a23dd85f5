"""More of the edge cases of code, tokens, states and waits, by their numbers."""

import numpy as np
import pytest

from rcv_py.analysis.cost.source_costs import source_costs
from rcv_py.analysis.health.buffer import ENDS
from rcv_py.analysis.waits.program_waits import wait_pairs
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import SourceCost
from rcv_py.work.load import prepare
from tests.analysis.in_memory import all_lines
from tests.support.whole_capture import (
    ADD,
    BRANCH,
    END,
    LABEL,
    LIFE,
    LOAD,
    MFMA,
    PLACES,
    STORE,
    WAIT,
    capture,
    name_of,
    of_code,
    only_wave,
    opened,
    read_all,
    row,
    sentences,
    tokens,
    wave,
)

FIRST = name_of(PLACES[0])


# -- 12 to 15: code ---------------------------------------------------------------------------------


def test_edge_12_rows_that_never_ran_between_rows_that_did(tmp_path):
    trace = opened(tmp_path, capture())
    assert trace.code.hits.tolist() == [0, 4, 4, 4, 4, 4, 0, 4]
    stats = all_lines([read_all(trace)], len(trace.code))
    assert stats.hits.tolist() == trace.code.hits.tolist()
    assert trace.code.kernel.tolist() == [0] * 8


def test_edge_13_unresolved_tokens_fill_time_but_are_counted_nowhere(tmp_path):
    lines = (LOAD, LABEL, -1, 99, 1 << 40, END)
    rows = [(32 + 8 * i, 6, 0, 8, line) for i, line in enumerate(lines)]
    trace, one = only_wave(tmp_path, instructions=tokens(1000, rows))
    assert one.tokens.line.tolist() == [LOAD, -1, -1, -1, -1, END]
    stats = all_lines([read_all(trace)], len(trace.code))
    assert (stats.latency.sum(), stats.idle.tolist()[END]) == (16, 0)


def test_edge_13_numbers_far_apart_find_their_rows(tmp_path):
    rows = [row("s_nop 0", 70_000, at=0), row("s_nop 1", 9, at=4), row("s_endpgm", 4_000_000, at=8)]
    trace = of_code(tmp_path, *rows)
    assert trace.code.row_of_number[[70_000, 9, 4_000_000, 10]].tolist() == [0, 1, 2, -1]


def test_edge_13_a_number_too_large_to_be_a_key_is_told(tmp_path):
    rows = [row("s_nop 0", 0, at=0), row("s_nop 1", 5_000_000_000, at=4), row("s_nop 2", 1 << 62, at=8)]
    trace = of_code(tmp_path, *rows)
    assert trace.code.row_of_number.tolist() == [0]
    assert sentences([p for p in trace.problems if p.where == "code.json"])[0] == (
        "code.json has 2 rows without a usable line number; no token can be counted for them."
    )


def test_edge_14_a_token_at_the_label_of_its_own_kernel_is_unresolved(tmp_path):
    files = capture()
    for content in files.values():
        if isinstance(content, dict) and "wave" in content:
            content["wave"]["instructions"][0][4] = LABEL
    assert read_all(opened(tmp_path, files)).line.tolist()[:6] == [-1, WAIT, MFMA, ADD, BRANCH, END]


def test_edge_15_a_place_twice_in_a_chain_is_charged_once(tmp_path):
    source = "/r.h:2 -> /r.h:2 -> /k.cpp:9"
    trace = of_code(tmp_path, row("s_nop 0", 1, 3, 30, source=source))
    assert trace.code.chain(0) == [(0, 2), (0, 2), (1, 9)]
    inclusive = source_costs(trace.code, trace.code.latency, SourceCost.INCLUSIVE)
    own = source_costs(trace.code, trace.code.latency, SourceCost.SELF)
    assert (inclusive.line.tolist(), inclusive.cost.tolist()) == ([2, 9], [30, 30])
    assert (own.line.tolist(), own.cost.tolist()) == ([2], [30])


def test_edge_15_the_name_of_a_label_is_no_path(tmp_path):
    label = row("; _ZN1a1kEv", 0, source="a::k<std::pair<int, int> >(void)", at=0)
    trace = of_code(tmp_path, label, row("s_endpgm", 1, source="/k.cpp:1", at=0))
    assert [source.path for source in trace.sources] == ["/k.cpp"]
    assert trace.code.kernels[0].demangled == "a::k<std::pair<int, int> >(void)"


# -- 16 to 22: tokens, states, waits ----------------------------------------------------------------


@pytest.mark.parametrize(("gfxip", "lane"), [(9, None), (11, [0, 1, 0])])
def test_edge_16_four_cycles_are_no_overlap_on_gfx9(tmp_path, gfxip, lane):
    rows = [(32, 2, 0, 12, ADD), (40, 9, 0, 4, WAIT), (44, 11, 0, 20, END)]
    files = capture({PLACES[0]: wave(1000, instructions=tokens(1000, rows))})
    files["filenames.json"]["gfxip"] = gfxip
    (one,) = prepare(opened(tmp_path, files).reader, [0]).waves
    found = one.tokens.lane
    assert (None if found is None else found.tolist()) == lane
    assert one.tokens.end.tolist() == [1044, 1044, 1064]


@pytest.mark.parametrize("last", [LIFE + 4, LIFE - 28])
def test_edge_16_the_last_token_may_end_after_or_before_its_wave(tmp_path, last):
    _, one = only_wave(tmp_path, instructions=tokens(1000, [(32, 11, 0, last - 32, END)]), timeline=None)
    assert int(one.tokens.end[-1]) - one.begin == last
    assert one.end - one.begin == LIFE


def test_edge_17_latency_is_the_larger_of_stall_and_duration(tmp_path):
    rows = [(32, 6, 40, 4, ADD), (72, 6, 0, 0, MFMA), (72, 6, 4, 4, ADD), (60, 9, 4, 4, WAIT)]
    _, one = only_wave(tmp_path, instructions=tokens(1000, rows))
    assert one.tokens.start.tolist() == [1032, 1060, 1072, 1072]
    assert one.tokens.duration.tolist() == [40, 4, 0, 4]
    assert one.tokens.busy.tolist() == [0, 0, 0, 0]
    assert one.tokens.line.tolist() == [ADD, WAIT, MFMA, ADD]  # equal times stay in the order of the file


def test_edge_17_many_tokens_at_one_time_stay_in_the_order_of_the_file(tmp_path):
    lines = [ADD, MFMA, WAIT, BRANCH, LOAD] * 40
    rows = [(50, 6, 0, 0, line) for line in lines] + [(40, 6, 0, 4, END)]
    _, one = only_wave(tmp_path, instructions=tokens(1000, rows))
    assert one.tokens.line.tolist() == [END, *lines]


def test_edge_17_negative_numbers_count_as_zero_and_are_told(tmp_path):
    files = capture(
        {PLACES[0]: wave(1000, instructions=tokens(1000, [(32, 6, -8, 4, ADD), (40, 6, 0, -4, ADD)]))}
    )
    files["code.json"]["code"] = [row("s_nop 0", 1, -5, -1, -2, -3)]
    trace = opened(tmp_path, files)
    batch = read_all(trace)
    assert (batch.stall.tolist(), batch.busy.tolist()) == ([0, 0], [4, 0])
    assert batch.notes == ((0, f"{FIRST} has negative durations; they count as 0."),)
    table = trace.code
    assert [int(column[0]) for column in (table.hits, table.latency, table.stall, table.idle)] == [0] * 4


@pytest.mark.parametrize("begin", [-500, (1 << 31) + 4, (1 << 53) + 1, (1 << 59) + 3])
def test_edge_18_times_are_exact_wherever_they_lie(tmp_path, begin):
    trace = opened(tmp_path, capture({PLACES[0]: wave(begin)}))
    offset = trace.clock.offsets.get(0, 0)
    assert offset == 0
    assert (trace.waves.begin.tolist(), trace.waves.end.tolist()) == ([begin], [begin + LIFE])
    assert trace.waves.cu.tolist() == [1]
    (one,) = read_all(trace).waves
    assert one.tokens.start.tolist() == [begin + time for time in (32, 36, 76, 92, 96, 100)]
    assert one.states.start.tolist()[-1] == begin + 100
    assert one.tokens.offset.dtype == np.int32  # only the base is large


def test_edge_18_a_time_beyond_all_reason_is_refused_in_a_sentence(tmp_path):
    files = capture() | {FIRST: wave(1000, instructions=[[1 << 60, 6, 0, 4, ADD]])}
    ((_, text),) = read_all(opened(tmp_path, files)).missing
    assert text.startswith(f"{FIRST} is damaged: the rows of its instructions are not 5 whole numbers each")
    assert text.endswith("(a number is too large).")


@pytest.mark.parametrize("cycles", [65_535, 65_536, (1 << 31) - 1, 1 << 31, 1 << 40])
def test_edge_18_a_long_stall_neither_wraps_nor_is_cut(tmp_path, cycles):
    _, one = only_wave(tmp_path, instructions=tokens(1000, [(32, 9, cycles, cycles + 4, WAIT)]))
    assert (int(one.tokens.stall[0]), int(one.tokens.duration[0])) == (cycles, cycles + 4)


def test_edge_18_totals_beyond_2_to_the_53(tmp_path):
    odd = (1 << 53) + 1
    table = of_code(tmp_path, row("s_nop 0", 1, odd, odd, odd, odd)).code
    assert [int(column[0]) for column in (table.hits, table.latency, table.stall, table.idle)] == [odd] * 4


def test_edge_19_states_that_do_not_fill_the_wave(tmp_path):
    _, one = only_wave(tmp_path, timeline=[[1, 32], [2, 0], [2, 4], [2, 4]])
    assert one.states.duration.tolist() == [32, 0, 4, 4]
    assert [one.states.at(1000 + time) for time in (0, 31, 32, 36, 40)] == [0, 0, 2, 3, -1]


@pytest.mark.parametrize(("kind", "shown"), [(14, 14), (16, 16), (255, 255), (256, 0), (-1, 0), (10**6, 0)])
def test_edge_20_an_unknown_category_is_kept_or_becomes_none(tmp_path, kind, shown):
    trace, one = only_wave(tmp_path, instructions=tokens(1000, [(32, kind, 0, 88, ADD)]))
    assert one.tokens.kind.tolist() == [shown]
    assert len(prepare(trace.reader, [0]).lod) == 1  # and can be drawn


@pytest.mark.parametrize(("state", "shown"), [(0, 0), (5, 5), (255, 255), (256, 0), (-1, 0)])
def test_edge_20_an_unknown_state_is_kept_or_becomes_empty(tmp_path, state, shown):
    trace, one = only_wave(tmp_path, timeline=[[state, LIFE]])
    assert one.states.state.tolist() == [shown]
    assert len(prepare(trace.reader, [0]).lod) == 1


def test_edge_21_waits_that_never_ran_or_wait_for_nothing_draw_no_arrow(tmp_path):
    waits = [[WAIT, []], [STORE, [[LOAD, 0]]], [WAIT, [[999, 0], [LOAD, 0], [WAIT, 0]]], [777, [[LOAD, 0]]]]
    _, one = only_wave(tmp_path, waitcnt=waits)
    assert one.waits.line.tolist() == [WAIT, STORE, WAIT, -1]
    assert one.waits.producers(2).tolist() == [-1, LOAD, WAIT]
    wait, producer = wait_pairs(one.waits)
    assert list(zip(wait.tolist(), producer.tolist(), strict=True)) == [(WAIT, LOAD), (STORE, LOAD)]


def test_edge_22_a_wave_that_was_saved_and_continues_in_its_slot(tmp_path):
    saved = [(32, 6, 0, 4, ADD), (36, 10, 0, 84, ADD)]
    restored = [(0, 10, 0, 100, ADD), (100, 11, 0, 20, END)]
    waves = {
        PLACES[0]: wave(1000, instructions=tokens(1000, saved), waitcnt=[]),
        PLACES[1]: wave(1120, PLACES[1], instructions=tokens(1120, restored), waitcnt=[]),
    }
    trace = opened(tmp_path, capture(waves))
    first, second = read_all(trace).waves
    assert (first.end, second.begin) == (1120, 1120)  # no pause between them, yet both have their place
    assert trace.waves.cu.tolist() == [1, 1]
    assert [wave.tokens.kind.tolist() for wave in (first, second)] == [
        [TokenKind.VALU, TokenKind.TRAP],
        [TokenKind.TRAP, TokenKind.MSG],
    ]
    assert ENDS.of(trace, [read_all(trace)]).unfinished == 1
