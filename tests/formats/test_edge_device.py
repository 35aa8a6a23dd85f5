"""The edge cases of compute units, kernels and clocks, by their numbers."""

from __future__ import annotations

import numpy as np
import orjson
import pytest

from rcv_py.analysis.core.occupancy import residencies
from rcv_py.work.load import batches
from tests.analysis.in_memory import check_waves
from tests.support.folders import OCCUPANCY, REALTIME, code, one_wave, only_wave, opened, row, texts, waves
from tests.support.wave_folder import wave


def test_edge_23_sparse_engines_and_high_slots_sort_by_number(tmp_path):
    tree = {
        se: {"5": {"19": {wv: [f"se{se}_sm5_sl19_wv{wv}.json", 1, 2] for wv in ("10", "9")}}}
        for se in ("31", "8", "0")
    }
    index = opened(tmp_path, {"filenames.json": waves(tree, gfxip=11)}).waves
    assert [str(index.id(i)) for i in range(3)] == [
        "se0/simd5/slot19/wv9",
        "se0/simd5/slot19/wv10",
        "se8/simd5/slot19/wv9",
    ]
    assert index.se[-1] == 31


def test_edge_24_bit_7_of_the_unit_is_the_shader_array(tmp_path):
    occupancy = {"0": [[80, 0x83, 0, 0, 1, 1], [140, 0x83, 0, 0, 0, 1]]}
    trace = opened(tmp_path, {"filenames.json": waves(one_wave(), gfxip=12), "occupancy.json": occupancy})
    assert (trace.occupancy.cu[0], trace.occupancy.sa[0]) == (3, 1)
    assert (trace.waves.cu[0], trace.waves.sa[0]) == (3, 1)


def test_edge_24_each_engine_may_trace_another_unit(tmp_path):
    tree = one_wave() | {"1": {"0": {"0": {"0": ["b.json", 90, 150]}}}}
    occupancy = {"0": OCCUPANCY["0"], "1": [[90, 6, 0, 0, 1, 1], [90, 7, 1, 0, 1, 1], [150, 6, 0, 0, 0, 1]]}
    trace = opened(
        tmp_path,
        {"filenames.json": waves(tree), "occupancy.json": occupancy, "b.json": wave(begin=90, end=150)},
    )
    assert trace.waves.cu.tolist() == [1, 6]


def test_edge_24_twins_on_other_units_do_not_take_a_wave(tmp_path):
    tree = {"0": {"0": {"0": {str(i): [f"w{i}.json", 100 * i, 100 * i + 50] for i in range(4)}}}}
    events = [
        [100 * i + end, cu, 0, 0, 1 - end // 50, 1]
        for i in range(4)
        for end in (0, 50)
        for cu in (2, 5)
        if cu == 2 or i == 1
    ]
    index = opened(tmp_path, {"filenames.json": waves(tree), "occupancy.json": {"0": events}}).waves
    assert index.cu.tolist() == [2, 2, 2, 2]


def test_edge_25_many_waves_in_one_slot_open_without_their_files(tmp_path):
    tree = {
        "0": {"0": {"0": {str(i): [f"se0_sm0_sl0_wv{i}.json", 100 * i, 100 * i + 60] for i in range(3000)}}}
    }
    index = opened(tmp_path, {"filenames.json": waves(tree)}).waves
    assert index.wid.tolist() == list(range(3000))
    assert index.size.tolist() == [len(orjson.dumps(wave()))] + [0] * 2999


def test_edge_26_kernel_ids_without_events_names_and_with_equal_names(tmp_path):
    rows = [[10 * i, 1, 0, i, 1, kernel] for i, kernel in enumerate([1, 2, 9])]
    names = {"0": "0 / 0x0", "1": "k", "2": "k", "3": "unused", "x": "bad", "4": None}
    trace = opened(tmp_path, {"occupancy.json": {"0": rows, "dispatches": names}})
    assert trace.occupancy.names == {0: "0 / 0x0", 1: "k", 2: "k", 3: "unused", 9: "kernel_9"}


def test_edge_26_rows_of_several_kernels_and_called_functions(tmp_path):
    rows = [
        row("; a", 0, "", 512),
        row("s_nop 0", 1, "", 512),
        row("; f", 2, "", 256),
        row("s_nop 1", 3, "", 256),
    ]
    rows += [row("s_endpgm", 4, "", 516)]  # belongs to a, though it was touched after the call of f
    table = opened(tmp_path, {"code.json": code(*rows)}).code
    assert table.text == ("; a", "s_nop 0", "s_endpgm", "; f", "s_nop 1")
    assert [(kernel.name, kernel.first, kernel.stop) for kernel in table.kernels] == [
        ("a", 0, 3),
        ("f", 3, 5),
    ]


def test_edge_27_unpaired_events_are_kept_for_the_occupancy(tmp_path):
    rows = [[10, 1, 0, 0, 0, 1], [20, 1, 0, 1, 1, 1], [30, 1, 0, 1, 1, 1], [40, 1, 0, 2, 1, 1]]
    trace = opened(tmp_path, {"occupancy.json": {"0": rows}})
    assert trace.occupancy.is_start.tolist() == [False, True, True, True]
    assert len(residencies(trace.occupancy, None).begin) >= 3


def test_edge_27_an_end_comes_before_a_start_at_the_same_time(tmp_path):
    rows = [[10, 1, 0, 0, 1, 1], [20, 1, 0, 0, 1, 1], [20, 1, 0, 0, 0, 1], [30, 1, 0, 0, 0, 1]]
    events = opened(tmp_path, {"occupancy.json": {"0": rows}}).occupancy
    assert events.is_start.tolist() == [True, False, True, False]


def test_edge_28_the_wave_file_wins_over_the_index_and_a_problem_says_so(tmp_path):
    trace = opened(tmp_path, {"filenames.json": waves(one_wave(8000, 9000))})
    one = only_wave(trace)
    assert (one.begin, one.end) == (80, 140)
    assert "filenames.json" in " ".join(map(str, check_waves(trace, batches(trace, workers=0))))


TWO_ENGINES = {"filenames.json": waves(one_wave() | {"1": {"0": {"0": {"0": ["b.json", 80, 140]}}}})}


def test_edge_29_frequency_zero_is_taken_as_100_mhz(tmp_path):
    clock = opened(tmp_path, {"realtime.json": {**REALTIME, "metadata": {"frequency": 0}}}).clock
    assert (clock.frequency, round(clock.shader_hz)) == (100_000_000, 2_000_000_000)


def test_edge_29_single_samples_align_at_a_nominal_rate(tmp_path):
    realtime = {"SE0": [[1000, 900_000]], "SE1": [[600, 900_000]]}
    clock = opened(tmp_path, {**TWO_ENGINES, "realtime.json": realtime}).clock
    assert (clock.offsets, clock.shader_hz) == ({0: 0, 1: 400}, 0.0)


def test_edge_29_an_engine_without_samples_stays_and_the_others_align(tmp_path):
    tree = one_wave() | {se: {"0": {"0": {"0": ["b.json", 80, 140]}}} for se in "12"}
    realtime = {**REALTIME, "SE1": [[200, 900_000], [8200, 900_400]]}
    trace = opened(tmp_path, {"filenames.json": waves(tree), "realtime.json": realtime})
    assert trace.clock.offsets == {0: 0, 1: 800}
    assert trace.waves.begin.tolist() == [80, 880, 80]
    assert "no clock samples for SE2" in texts(trace)


@pytest.mark.parametrize(
    "realtime",
    [
        {"SE0": [[1000, 900_400], [9000, 900_000]], "SE1": [[200, 900_400], [8200, 900_000]]},
        {"SE0": [[1, 1 << 59], [1 << 59, (1 << 59) + 1]], "SE1": [[1, 0], [1 << 59, 1]]},
        {"SE0": None, "SE1": "x", "metadata": []},
        [],
    ],
)
def test_edge_29_backward_and_absurd_clocks_do_no_harm(tmp_path, realtime):
    trace = opened(tmp_path, {**TWO_ENGINES, "realtime.json": realtime})
    assert trace.problems
    assert np.all(np.abs(trace.waves.begin) < 1 << 53)


def test_edge_29_a_single_engine_needs_no_file(tmp_path):
    trace = opened(tmp_path, {"realtime.json": None})
    assert (trace.problems, trace.clock.shader_hz) == ((), 0.0)


def test_edge_30_every_time_of_an_engine_moves(tmp_path):
    changes = {
        **TWO_ENGINES,
        "realtime.json": {**REALTIME, "SE1": [[200, 900_000], [8200, 900_400]]},
        "occupancy.json": {
            "0": [[80, 1, 0, 0, 1, 1]],
            "1": [[80, 1, 0, 0, 1, 1], [140, 1, 0, 0, 0, 1]],
            "events": {"1": [{"type": 1, "time": 5}, {"kind": "dispatch", "time": 6}]},
        },
        "se1_perfcounter.json": {"data": [[10, 1, 2, 3, 4, 1, 0]]},
        "b.json": wave(),
    }
    trace = opened(tmp_path, changes)
    assert trace.clock.is_aligned
    assert trace.waves.begin.tolist() == [80, 880]
    assert trace.occupancy.time.tolist() == [80, 880, 940]
    assert (trace.events.time.tolist(), trace.dispatches[0].time) == ([805], 806)
    assert trace.counters[0].time.tolist() == [810]
    assert trace.reader.read([1]).waves[0].tokens.base == 900
    assert trace.waves.cu.tolist() == [-1, 1]
