"""More of the edge cases of places, clocks, counters, size and loss, by their numbers."""

import pytest

from rcv_py.analysis.core.occupancy import residencies
from rcv_py.analysis.health.buffer import ENDS, cut
from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, stoppable
from rcv_py.formats.open import open_trace
from rcv_py.model.device import Clock
from rcv_py.work import load
from rcv_py.work.load import batches
from tests.support.samples import write_sample
from tests.support.whole_capture import (
    ADD,
    PLACES,
    capture,
    default_waves,
    name_of,
    of_code,
    opened,
    read_all,
    row,
    tokens,
    told,
    wave,
)

FIRST = name_of(PLACES[0])


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


def test_edge_25_hundreds_of_waves_open_without_their_files_and_can_be_stopped(monkeypatch, tmp_path):
    monkeypatch.setattr(load, "SMALL_JOB_BYTES", 100_000)
    truth = write_sample("vector_add", tmp_path)
    trace = open_trace(tmp_path)
    assert len(trace.waves) == len(truth.waves) == 384
    assert int(trace.waves.wid.max()) == max(wid for *_, wid in truth.waves)
    for file in tmp_path.glob("se*_wv*.json"):
        file.rename(file.with_suffix(".gone"))
    assert open_trace(tmp_path).waves.begin.tolist() == trace.waves.begin.tolist()
    for file in tmp_path.glob("*.gone"):
        file.rename(file.with_suffix(".json"))
    stop = CancelFlag()
    stages = []
    reading = batches(trace, workers=0, report=stages.append)
    assert 0 < len(next(reading).waves) < 384
    stop.set()
    with pytest.raises(Cancelled), stoppable(stop):
        next(reading)
    assert stages[0].total == 384
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


def test_edge_28_a_wave_that_ends_before_it_begins_lived_as_the_index_says(tmp_path):
    files = capture()
    life = files[FIRST]["wave"]
    life["begin"], life["end"] = life["end"], life["begin"]
    batch = read_all(opened(tmp_path, files))
    assert (batch.waves[0].begin, batch.waves[0].end) == (2000, 2120)  # aligned
    said = f"{FIRST} lets its wave end before it begins; the times that filenames.json lists count."
    assert batch.notes == ((0, said),)


def test_edge_28_of_two_waves_with_one_place_the_index_keeps_the_first(tmp_path):
    files = capture({PLACES[0]: wave(1000)})
    tree = files["filenames.json"]["wave_filenames"]
    tree["00"] = {"0": {"0": {"0": ["second.json", 5000, 5120]}}}
    trace = opened(tmp_path, files)
    assert (trace.waves.file, trace.waves.begin.tolist()) == ((FIRST,), [1000])


# -- 29 to 35: clocks, counters, size, loss -----------------------------------------------------------


@pytest.mark.parametrize("frequency", [0, -1, "x", "1e8", {}, True, 1e30, 1e300, 999_999, 10**10 + 1, 10**17])
def test_edge_29_with_an_impossible_frequency_no_time_is_known(tmp_path, frequency):
    files = capture()
    files["realtime.json"]["metadata"] = {"frequency": frequency}
    trace = opened(tmp_path, files)
    assert trace.clock.ns(2000) is None
    said = "realtime.json has a constant clock without a usable frequency"
    assert any(problem.text.startswith(said) for problem in trace.problems)


@pytest.mark.parametrize("ticks", [1, 250_000])  # for 2,000 cycles, at 100 MHz: 200 GHz and 800 kHz
def test_edge_29_samples_of_a_shader_clock_that_no_gpu_has_give_no_time(tmp_path, ticks):
    files = capture({PLACES[0]: wave(1000)})
    files["realtime.json"] = {"SE0": [[1000, 500], [3000, 500 + ticks]]}
    trace = opened(tmp_path, files)
    assert (trace.clock.shader_hz, trace.clock.ticks_per_cycle, trace.clock.ns(2000)) == (0.0, 0.0, None)
    (problem,) = trace.problems
    said = "realtime.json gives the shader clock a rate that no GPU has: no time in seconds is known."
    assert problem.text == said


def test_edge_29_a_clock_record_with_an_impossible_rate_gives_no_time():
    rates = (1e6, 1e6 - 1, 1e10, 1e10 + 1, 0, -1, float("nan"), float("inf"), 1e30)
    found = [Clock(frequency=rate, ticks_per_cycle=1.0).shader_hz for rate in rates]
    assert found == [1e6, 0, 1e10, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("frequency", [None, 1e8])
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
    signs = cut(trace, ENDS.of(trace, [read_all(trace)]))
    assert (signs.unfinished, signs.of, signs.without_file) == (1, 3, 1)
