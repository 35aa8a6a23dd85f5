"""The edge cases of compute units, kernels and clocks, by their numbers."""

import numpy as np
import pytest

from tests.support.folders import REALTIME, code, one_wave, opened, row, texts, waves
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


def test_edge_27_an_end_comes_before_a_start_at_the_same_time(tmp_path):
    rows = [[10, 1, 0, 0, 1, 1], [20, 1, 0, 0, 1, 1], [20, 1, 0, 0, 0, 1], [30, 1, 0, 0, 0, 1]]
    events = opened(tmp_path, {"occupancy.json": {"0": rows}}).occupancy
    assert events.is_start.tolist() == [True, False, True, False]


TWO_ENGINES = {"filenames.json": waves(one_wave() | {"1": {"0": {"0": {"0": ["b.json", 80, 140]}}}})}


def test_edge_29_single_samples_align_at_a_nominal_rate(tmp_path):
    realtime = {"SE0": [[1000, 900_000]], "SE1": [[600, 900_000]]}
    clock = opened(tmp_path, {**TWO_ENGINES, "realtime.json": realtime}).clock
    assert (clock.offsets, clock.shader_hz) == ({0: 0, 1: 400}, 0.0)


def test_edge_29_an_engine_without_samples_begins_with_the_others_that_align(tmp_path):
    tree = one_wave() | {se: {"0": {"0": {"0": ["b.json", 80, 140]}}} for se in "12"}
    tree["2"]["0"]["0"]["0"] = ["b.json", 500, 560]
    realtime = {**REALTIME, "SE1": [[200, 900_000], [8200, 900_400]]}
    trace = opened(tmp_path, {"filenames.json": waves(tree), "realtime.json": realtime})
    assert trace.clock.offsets == {0: 0, 1: 800, 2: -420}
    assert trace.waves.begin.tolist() == [80, 880, 80]
    assert (trace.clock.is_aligned, trace.clock.apart) == (False, (2,))
    assert "no clock samples for SE2" in texts(trace)


def test_edge_30_engines_of_one_recording_do_not_start_hours_apart(tmp_path):
    hours = 3 * 3600 * 100_000_000
    realtime = {**REALTIME, "SE1": [[200, 900_000 + hours], [8200, 900_400 + hours]]}
    trace = opened(tmp_path, {**TWO_ENGINES, "realtime.json": realtime})
    assert (trace.clock.is_aligned, trace.clock.apart) == (False, (0, 1))
    assert trace.waves.begin.tolist() == [80, 80]
    assert "puts the shader engines too far apart" in texts(trace)


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


def test_edge_29_without_samples_engines_begin_together(tmp_path):
    tree = one_wave() | {"1": {"0": {"0": {"0": ["b.json", 9000, 9060]}}}}
    trace = opened(tmp_path, {"filenames.json": waves(tree), "realtime.json": None})
    assert trace.waves.begin.tolist() == [9000, 9000]
    assert (trace.clock.is_aligned, trace.clock.apart) == (False, (0, 1))
    (problem,) = (one for one in trace.problems if one.where == "realtime.json")
    assert problem.severity == "warning"


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
