"""More of the edge cases of what waves did, where and when, by their numbers."""

import numpy as np
import pytest

from rcv_py.analysis.check import check_waves
from rcv_py.analysis.line_stats import all_lines
from rcv_py.analysis.occupancy import residencies
from rcv_py.analysis.source_costs import source_costs
from rcv_py.analysis.waits import wait_pairs
from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag
from rcv_py.formats.open import open_trace
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import SourceCost
from rcv_py.work.jobs import prepare
from rcv_py.work.load import batches
from tests.support.captures import trace_path
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
    check_sentence,
    default_waves,
    name_of,
    only_wave,
    opened,
    read_all,
    row,
    tokens,
    told,
    wave,
)

FIRST = name_of(PLACES[0])


def of_code(folder, *rows, **more):
    """The default capture with these rows of code."""
    files = capture()
    files["code.json"] |= {"code": list(rows)} | more
    return opened(folder, files)


def sentences(problems):
    for problem in problems:
        check_sentence(problem)
    return [problem.text for problem in problems]


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
    (text, *_) = sentences(check_waves(trace, [read_all(trace)]))
    assert (
        text == "4 executed instructions of 6 match no line of code.json: 32 cycles are charged to no code."
    )


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


def test_edge_14_a_symbol_with_quotes_and_commas_keeps_them(tmp_path):
    text = """; void k<"a, b", 'c'>(int, float*)"""
    table = of_code(tmp_path, row(text, 0, at=0), row("s_endpgm", 1, at=0)).code
    assert table.text[0] == text
    assert (table.kernels[0].name, table.is_label.tolist()) == (text[2:], [True, False])


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
    trace, one = only_wave(tmp_path, instructions=tokens(1000, [(32, 11, 0, last - 32, END)]), timeline=None)
    assert int(one.tokens.end[-1]) - one.begin == last
    assert one.end - one.begin == LIFE
    assert not [text for text in sentences(check_waves(trace, [read_all(trace)])) if "outside" in text]


def test_edge_17_latency_is_the_larger_of_stall_and_duration(tmp_path):
    rows = [(32, 6, 40, 4, ADD), (72, 6, 0, 0, MFMA), (72, 6, 4, 4, ADD), (60, 9, 4, 4, WAIT)]
    _, one = only_wave(tmp_path, instructions=tokens(1000, rows))
    assert one.tokens.start.tolist() == [1032, 1060, 1072, 1072]
    assert one.tokens.duration.tolist() == [40, 4, 0, 4]
    assert one.tokens.busy.tolist() == [0, 0, 0, 0]
    assert one.tokens.line.tolist() == [ADD, WAIT, MFMA, ADD]  # equal times stay in the order of the file


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
    assert text.startswith(f"{FIRST} is damaged: its instructions are not rows of 5 whole numbers")
    assert text.endswith("(a number is too large).")


@pytest.mark.parametrize("cycles", [65_535, 65_536, (1 << 31) - 1, 1 << 31, 1 << 40])
def test_edge_18_a_long_stall_neither_wraps_nor_is_cut(tmp_path, cycles):
    _, one = only_wave(tmp_path, instructions=tokens(1000, [(32, 9, cycles, cycles + 4, WAIT)]))
    assert (int(one.tokens.stall[0]), int(one.tokens.duration[0])) == (cycles, cycles + 4)


def test_edge_18_totals_beyond_2_to_the_53(tmp_path):
    odd = (1 << 53) + 1
    table = of_code(tmp_path, row("s_nop 0", 1, odd, odd, odd, odd)).code
    assert [int(column[0]) for column in (table.hits, table.latency, table.stall, table.idle)] == [odd] * 4


def test_edge_19_states_that_do_not_fill_the_wave_are_told(tmp_path):
    trace, one = only_wave(tmp_path, timeline=[[1, 32], [2, 0], [2, 4], [2, 4]])
    assert one.states.duration.tolist() == [32, 0, 4, 4]
    assert [one.states.at(1000 + time) for time in (0, 31, 32, 36, 40)] == [0, 0, 2, 3, -1]
    texts = sentences(check_waves(trace, [read_all(trace)]))
    assert "The states of 1 wave do not last as long as the wave, first se0/simd0/slot0/wv0." in texts


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
    waves = {
        PLACES[0]: wave(1000, instructions=tokens(1000, saved)),
        PLACES[1]: wave(
            1120, PLACES[1], instructions=tokens(1120, [(0, 10, 0, 100, ADD), (100, 11, 0, 20, END)])
        ),
    }
    trace = opened(tmp_path, capture(waves))
    first, second = read_all(trace).waves
    assert (first.end, second.begin) == (1120, 1120)  # no pause between them, yet both have their place
    assert trace.waves.cu.tolist() == [1, 1]
    assert [wave.tokens.kind.tolist() for wave in (first, second)] == [
        [TokenKind.VALU, TokenKind.TRAP],
        [TokenKind.TRAP, TokenKind.MSG],
    ]
    assert sentences(check_waves(trace, [read_all(trace)])) == ["1 wave of 2 does not end with s_endpgm."]


# -- 23 to 28: places -------------------------------------------------------------------------------


def test_edge_23_engines_far_apart_keep_their_own_times(tmp_path):
    places = [(0, 0, 0, 0), (4, 1, 7, 0), (8, 3, 8, 0), (31, 5, 19, 12)]
    waves = {place: wave(1000 * (i + 1), place) for i, place in enumerate(places)}
    realtime = {
        f"SE{se}": [[1000 * (i + 1), 500], [1000 * (i + 3), 600]] for i, (se, *_) in enumerate(places)
    }
    trace = opened(tmp_path, capture(waves) | {"realtime.json": realtime})
    assert trace.problems == ()
    assert trace.clock.offsets == {0: 3000, 4: 2000, 8: 1000, 31: 0}
    assert trace.waves.begin.tolist() == [4000] * 4
    assert trace.waves.cu.tolist() == [1] * 4
    assert [str(one.id) for one in read_all(trace).waves][-1] == "se31/simd5/slot19/wv12"
    assert {one.tokens.base for one in read_all(trace).waves} == {4032}


def test_edge_24_the_shader_array_tells_equal_units_apart(tmp_path):
    waves = {
        place: wave(begin, place, cu=cu)
        for place, begin, cu in zip(PLACES[::2], (1000, 2000), (0x83, 5), strict=True)
    }
    trace = opened(tmp_path, capture(waves))
    assert (trace.waves.cu.tolist(), trace.waves.sa.tolist()) == ([3, 5], [1, 0])
    assert [one.cu for one in read_all(trace).waves] == [3, 5]
    assert trace.problems == ()
    assert check_waves(trace, [read_all(trace)]) == ()


def test_edge_25_thousands_of_waves_open_without_their_files_and_can_be_stopped():
    trace = open_trace(trace_path("moe_reduce"))
    assert len(trace.waves) == 4112
    assert int(trace.waves.wid.max()) == 47
    stop = CancelFlag()
    stages = []
    reading = batches(trace, workers=0, cancel=stop, report=stages.append)
    assert len(next(reading).waves) < 4112
    stop.set()
    with pytest.raises(Cancelled):
        next(reading)
    assert stages[0].total == 4112
    assert stages[0].done == 0


def test_edge_26_waves_of_different_kernels(tmp_path):
    waves = default_waves()
    files = capture(waves)
    for events in (files["occupancy.json"]["0"], files["occupancy.json"]["1"]):
        for event in events:
            event[5] = {0: 1, 1: 7}[event[0] % 1000 >= 200]
    trace = opened(tmp_path, files)
    assert trace.waves.kernel.tolist() == [1, 7, 1, 7]
    assert trace.occupancy.names == {0: "0 / 0x0", 1: "my_kernel", 7: "kernel_7"}


def test_edge_27_waves_that_nobody_saw_begin_or_end(tmp_path):
    files = capture({PLACES[0]: wave(1000)})
    files["occupancy.json"]["0"] = [
        [900, 2, 0, 0, 0, 1],  # was there before the trace
        [1000, 1, 0, 0, 1, 1],
        [1050, 2, 1, 0, 1, 1],
        [1080, 2, 1, 0, 1, 1],  # on a slot in use
        [1120, 1, 0, 0, 0, 1],
        [1200, 2, 1, 0, 0, 1],
        [1210, 2, 2, 0, 1, 1],  # still there at the end
        [1300, 2, 3, 0, 0, 1],
    ]
    trace = opened(tmp_path, files)
    found = residencies(trace.occupancy)
    rows = zip(found.cu.tolist(), found.simd.tolist(), found.begin.tolist(), found.end.tolist(), strict=True)
    assert list(rows) == [
        (1, 0, 1000, 1120),
        (2, 0, 900, 900),
        (2, 1, 1050, 1080),
        (2, 1, 1080, 1200),
        (2, 2, 1210, 1300),
        (2, 3, 900, 1300),
    ]
    assert found.is_open_start.tolist() == [False, True, False, False, False, True]
    assert found.is_open_end.tolist() == [False, False, True, False, True, False]
    assert trace.waves.cu.tolist() == [1]


def test_edge_27_a_traced_wave_without_an_end_has_no_unit_until_its_file_is_read(tmp_path):
    files = capture({PLACES[0]: wave(1000)})
    files["occupancy.json"]["0"] = [[1000, 1, 0, 0, 1, 1]]
    trace = opened(tmp_path, files)
    assert trace.waves.cu.tolist() == [-1]
    assert read_all(trace).waves[0].cu == 1


def test_edge_28_the_note_tells_both_times_as_the_files_have_them(tmp_path):
    files = capture() | {FIRST: wave(5000)}
    batch = read_all(opened(tmp_path, files))
    assert (batch.waves[0].begin, batch.waves[0].end) == (6000, 6120)  # aligned
    assert batch.waves[0].tokens.base == 6032
    assert batch.notes == (
        (
            0,
            f"{FIRST} holds a wave that ran from cycle 5,000 to 5,120,"
            " but filenames.json lists 1,000 to 1,120; the wave file is right.",
        ),
    )


# -- 29 to 35: clocks, counters, size, loss -----------------------------------------------------------


@pytest.mark.parametrize("frequency", [0, None, -1, "x", 1e8, {}])
def test_edge_29_without_a_frequency_it_is_100_mhz(tmp_path, frequency):
    files = capture()
    files["realtime.json"]["metadata"] = {"frequency": frequency}
    clock = opened(tmp_path, files).clock
    assert clock.frequency == 100_000_000
    assert clock.ns(2000) == 1000.0


def test_edge_29_samples_of_an_engine_without_data_do_not_align_it(tmp_path):
    files = capture({PLACES[0]: wave(1000)})
    files["realtime.json"] = {"SE0": [[1000, 500], [3000, 600]], "metadata": {"frequency": 100_000_000}}
    trace = opened(tmp_path, files)
    assert trace.waves.begin.tolist() == [1000]
    assert trace.clock.shader_hz == 2e9
    assert trace.problems == ()


def test_edge_30_offsets_of_any_size(tmp_path):
    far = 10**12
    files = capture()
    files["realtime.json"]["SE0"] = [[1000, 500 + far // 20], [3000, 600 + far // 20]]
    trace = opened(tmp_path, files)
    assert trace.clock.offsets == {0: far + 1000, 1: 0}
    assert trace.waves.begin.tolist() == [far + 2000, far + 2200, 2000, 2200]
    assert read_all(trace).waves[0].tokens.base == far + 2032


def test_edge_31_counters_of_each_engine_move_with_it(tmp_path):
    rows = [[1000, 1, 2, 3, 65_535, 17, 1], [1040, 0, 0, 0, 0, 1, 0]]
    files = capture() | {f"se{se}_perfcounter.json": {"data": rows} for se in (0, 1)}
    first, second = opened(tmp_path, files).counters
    assert (first.time.tolist(), second.time.tolist()) == ([2000, 2040], [1000, 1040])
    assert (first.cu.tolist(), first.bank.tolist()) == ([17, 1], [1, 0])
    assert first.value.tolist() == [[1, 2, 3, 65_535], [0, 0, 0, 0]]


def test_edge_32_samples_stay_in_the_order_and_distance_of_the_file(tmp_path):
    rows = [[time, 1, 1, 1, 1, 1, 0] for time in (5, 45, 40, 4000, 4000)]
    files = capture() | {"se1_perfcounter.json": {"data": [*rows, [1, 2], None, [1.5] * 7]}}
    trace = opened(tmp_path, files)
    assert trace.counters[0].time.tolist() == [5, 45, 40, 4000, 4000]
    text = told(trace, "se1_perfcounter.json").text
    assert text == "se1_perfcounter.json has 3 unusable samples; the rest is shown."


def test_edge_33_a_token_costs_at_most_21_bytes(tmp_path):
    rows = [(4 * i, 6, 0, 4, ADD) for i in range(100_000)]
    files = capture() | {FIRST: wave(1000, instructions=tokens(1000, rows), timeline=None, waitcnt=None)}
    batch = opened(tmp_path, files).reader.read([0])
    assert len(batch.waves[0].tokens) == 100_000
    assert batch.nbytes <= 21 * 100_000 + 1000


def test_edge_34_a_kernel_with_a_chain_at_each_of_many_rows(tmp_path):
    chain = " -> ".join(f"/include/depth{level}.h:{level + 1}" for level in range(12))
    trace = of_code(tmp_path, *(row("v_nop", i, 1, 4, source=f"/k.cpp:{i} -> {chain}") for i in range(6000)))
    assert (len(trace.code), len(trace.code.chain(5999)), len(trace.sources)) == (6000, 13, 13)
    assert trace.code.chain(5999)[0] == (0, 5999)


def test_edge_35_suspicions_of_lost_data(tmp_path):
    waves = default_waves()
    body = waves[PLACES[0]]["wave"]
    body["instructions"] = body["instructions"][:-1]
    files = capture(waves)
    lost = name_of(PLACES[3])
    del files[lost], files["filenames.json"]["wave_filenames"]["1"]["0"]["0"]["1"]
    trace = opened(tmp_path, files)
    texts = sentences(check_waves(trace, [read_all(trace)]))
    assert "1 wave of 3 does not end with s_endpgm." in texts
    assert "1 wave ran on a traced compute unit but left no wave file." in texts


def test_edge_35_totals_of_the_code_that_the_waves_do_not_have(tmp_path):
    files = capture()
    files["code.json"]["code"][MFMA][7] += 40
    trace = opened(tmp_path, files)
    assert sentences(check_waves(trace, [read_all(trace)])) == [
        "code.json and the waves disagree on latency of 1 code line:"
        " latency of line 3 is 88 in one and 48 in the other."
    ]
