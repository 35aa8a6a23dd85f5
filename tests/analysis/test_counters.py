"""Raw counters: exact against the simulator."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.counters.counter_sets import BUILT_IN
from rcv_py.analysis.counters.counter_tensor import MAX_CELLS, Tensors, grid_of, simd_names, tensor
from rcv_py.analysis.counters.counters import (
    CounterFamily,
    Counters,
    RawCounter,
    Samples,
    counters,
    raw_curve,
    silences,
)
from rcv_py.analysis.counters.derived_counters import DerivedSet, curves, derived_counters
from rcv_py.analysis.counters.formula.evaluate import read_definitions
from rcv_py.analysis.counters.formula.parser import FormulaError
from rcv_py.base.problems import Affects
from rcv_py.formats.open import open_trace
from rcv_py.model.architecture import architecture_of
from rcv_py.model.device import CounterSamples, SpmSeries
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.synth.samplers import COUNTERS, SAMPLE_INTERVAL
from rcv_py.synth.samplers import MONITOR_INTERVAL as INTERVAL
from tests.support.code_samples import trace as small_trace
from tests.support.opened import sample_trace
from tests.support.python_calls import python_calls
from tests.support.samples import write_sample


def value_of(found: DerivedSet, name: str) -> np.ndarray | FormulaError:
    """The value of a name in the first family of counters that has it, else why it has none."""
    results = [evaluator.result(name) for evaluator in found.evaluators.values()]
    return next((one for one in results if not isinstance(one, FormulaError)), results[0])


def named(found: Counters, name: str) -> RawCounter:
    return next(counter for counter in found.raw if counter.name == name)


def test_interval_and_names_are_the_recorded_ones() -> None:
    found = counters(sample_trace("counters"))
    assert [counter.name for counter in found.raw] == [name.removeprefix("SQ_") for name in COUNTERS]
    assert {counter.interval for counter in found.raw} == {SAMPLE_INTERVAL}


@pytest.fixture
def operations() -> Trace:
    """A capture with a clock, one of whose counters is of matrix operations."""
    trace = sample_trace("counters")
    other = {"SQ_ACTIVE_INST_LDS": "SQ_INSTS_VALU_MFMA_MOPS_F16"}
    names = tuple(other.get(name, name) for name in trace.counter_names)
    return replace(trace, counter_names=names)


# -- truth --------------------------------------------------------------------------------------------


def issued(trace: Trace, se: int, kinds: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """When tokens of an engine issued, and their busy cycles, from the wave files."""
    batch = trace.reader.read([row for row in range(len(trace.waves)) if trace.waves.se[row] == se])
    chosen = [(wave.tokens, np.isin(wave.tokens.kind, kinds)) for wave in batch.waves]
    time = np.concatenate([(tokens.start + tokens.stall)[rows] for tokens, rows in chosen])
    return time, np.concatenate([tokens.busy[rows].astype(np.int64) for tokens, rows in chosen])


def area(curve: StepCurve, begin: int, end: int) -> float:
    """The value of a step function at every cycle of a span, summed up."""
    time = np.arange(begin, end)
    at = np.searchsorted(curve.time, time, side="right") - 1
    return float(np.where(at >= 0, curve.value[at], 0).sum())


@pytest.mark.parametrize("se", [0, 1])
def test_a_value_belongs_to_the_interval_before_its_sample(se: int) -> None:
    trace = sample_trace("counters")
    counter = named(counters(trace), "ACTIVE_INST_VALU")
    assert counter.interval == SAMPLE_INTERVAL
    time, busy = issued(trace, se, (TokenKind.VALU, TokenKind.MATRIX))
    curve = raw_curve(counter, engines=[se])
    own = counter.samples.at(counter.samples.se == se)
    for stop in own.time.tolist()[:: max(1, len(own) // 60)]:
        inside = (time > stop - SAMPLE_INTERVAL) & (time <= stop)
        counted = int((busy[inside] // 4).sum())
        middle = np.searchsorted(curve.time, stop - SAMPLE_INTERVAL // 2, side="right") - 1
        assert curve.value[middle] == counted, stop


def test_no_count_is_lost_or_invented() -> None:
    trace = sample_trace("counters")
    found = counters(trace)
    tensors = Tensors(found, CounterFamily.SQ, trace.clock)
    names = {"ACTIVE_INST_VALU": (TokenKind.VALU, TokenKind.MATRIX), "ACTIVE_INST_LDS": (TokenKind.LDS,)}
    for name, kinds in names.items():
        for se in (0, 1):
            _, busy = issued(trace, se, kinds)
            assert tensors[name][0, se].sum() == (busy // 4).sum() > 0
        curve = raw_curve(named(found, name))
        total = tensors[name].sum() * SAMPLE_INTERVAL
        assert area(curve, int(curve.time[0]), int(curve.time[-1])) == total


def test_several_engines_and_units_of_both_banks(tmp_path: Path) -> None:
    write_sample("counters_units", tmp_path, seed=3)  # in which the first and the last unit count alike
    trace = open_trace(tmp_path)
    found = counters(trace)
    assert len(found.raw) == 8
    assert found.engines() == [0, 1]
    first, *others = found.units()
    assert others == [first + 1, first + 2]
    alone = Tensors(found, CounterFamily.SQ, trace.clock, units=[first])
    everyone = Tensors(found, CounterFamily.SQ, trace.clock)
    assert everyone.grid == alone.grid, "a choice of places does not move the grid"
    for counter in found.raw:
        whole, one = everyone[counter.name], alone[counter.name]
        assert whole.shape[1:3] == (2, first + 3)
        assert whole.sum() == 3 * one.sum() == counter.samples.value.sum()
        np.testing.assert_array_equal(whole[:, :, first], one[:, :, first])
        np.testing.assert_array_equal(whole[:, :, first], whole[:, :, first + 2])
        curve = raw_curve(counter, [1], [first, first + 1])
        chosen = counter.samples.value[(counter.samples.se == 1) & (counter.samples.cu <= first + 1)]
        assert area(curve, int(curve.time[0]), int(curve.time[-1])) == chosen.sum() * SAMPLE_INTERVAL


def test_utilisation_is_that_of_the_tokens() -> None:
    trace = sample_trace("counters")
    found = derived_counters(counters(trace), trace.clock)
    value = value_of(found, "VALU_util")
    quads = sum((issued(trace, se, (TokenKind.VALU, TokenKind.MATRIX))[1] // 4).sum() for se in (0, 1))
    simds = 4  # busy cycles, like active ones, are counted on each and summed
    assert value.sum() == pytest.approx(100 * quads / (2 * simds * SAMPLE_INTERVAL / 4))
    assert {row.name for row in found.rows} >= {"VALU_util", "MFMA_util", "LDS_util", "FLAT_util", "GPUutil"}
    assert not [row for row in found.rows if row.error is not None]
    assert found.left_out > 0


def test_one_tflops_curve_at_the_rate_the_trace_states(operations: Trace) -> None:
    trace = operations
    found = derived_counters(counters(trace), trace.clock)
    value = value_of(found, "F16_TFLOPS")
    assert value.shape[:3] == (1, 1, 1)
    grid = found.grid(CounterFamily.SQ)
    seconds = grid.step * grid.length / trace.clock.shader_hz
    flops = 512 * named(counters(trace), "INSTS_VALU_MFMA_MOPS_F16").samples.value.sum()
    assert value.mean() == pytest.approx(flops / seconds / 1e12)
    slower = replace(trace.clock, frequency=50_000_000)
    half = value_of(derived_counters(counters(trace), slower), "F16_TFLOPS")
    np.testing.assert_allclose(half, value / 2)


def test_monitors_of_gfx12() -> None:
    trace = sample_trace("spm_gfx12")
    found = counters(trace)
    assert {counter.family for counter in found.raw} == {CounterFamily.SPM}
    assert {counter.interval for counter in found.raw} == {INTERVAL}
    assert found.notes == ()
    counter = named(found, "SQ_INSTS_LDS")
    for se in (0, 1):
        time, _ = issued(trace, se, (TokenKind.LDS,))
        curve = raw_curve(counter, [se])
        own = counter.samples.at(counter.samples.se == se)
        assert own.value.sum() == len(time)
        for stop, value in zip(own.time.tolist(), own.value.tolist(), strict=True):
            assert value == np.count_nonzero((time >= stop - INTERVAL) & (time < stop))
            assert curve.value[np.searchsorted(curve.time, stop - 1, side="right") - 1] == value
    derived = derived_counters(found, trace.clock, architecture=architecture_of(12))
    names = ("WAIT_share", "Waves_resident", "VALU_per_cycle", "SALU_per_cycle", "LDS_per_cycle")
    assert {row.name: row.error for row in derived.rows} == dict.fromkeys(names)
    resident = value_of(derived, "Waves_resident")
    assert 1 <= resident[resident > 0].min() <= resident.max() <= 32


# -- odd captures ---------------------------------------------------------------------------------------


def made(name: str, time: list[int], value: list[float], **more: object) -> RawCounter:
    count = len(time)
    place = {"xcc": 0, "se": 0, "cu": 0} | more
    columns = [np.full(count, place[axis], np.int32) for axis in ("xcc", "se", "cu")]
    samples = Samples(np.array(time, np.int64), *columns, np.array(value, float))
    return RawCounter(name, CounterFamily.SQ, 15, samples, 40)


def test_silence_is_zero_and_is_told() -> None:
    counter = made("A", [40, 80, 200], [1, 2, 3])
    curve = raw_curve(counter)
    assert curve.time.tolist() == [0, 40, 80, 160, 200]
    assert curve.value.tolist() == [1, 2, 0, 3, 0]
    assert silences(counter) == 1


def test_late_and_early_samples_keep_their_interval() -> None:
    counter = made("A", [40, 85, 118, 160], [1, 2, 3, 4])
    curve = raw_curve(counter)
    assert curve.time.tolist() == [0, 40, 85, 118, 160]
    grid = grid_of((counter,))
    assert tensor(counter.samples, grid)[0, 0, 0].tolist() == [1, 2, 3, 4]


def test_long_captures_join_intervals() -> None:
    counter = made("A", [40, 40 + 40 * 3 * MAX_CELLS], [1, 2])
    grid = grid_of((counter,))
    assert np.prod(grid.shape) <= MAX_CELLS
    assert grid.step == 4 * 40
    assert tensor(counter.samples, grid).sum() == 3


def counted(names: tuple[str, ...], rows: list[list[int]]) -> Counters:
    table = np.array(rows)
    cu, bank = table[:, 5:7].T.astype(np.int16)
    samples = CounterSamples(0, table[:, 0], table[:, 1:5].astype(np.int32), cu, bank)
    return counters(replace(small_trace(), counter_names=names, counters=(samples,)))


def test_numbers_are_not_folded_and_unnamed_zeros_left_out() -> None:
    found = counted(("SQ_A",), [[40, 1, 7, 0, 0, 17, 0], [80, 1, 7, 0, 0, 1, 0]])
    assert [counter.name for counter in found.raw] == ["A", "UNK_1"]
    assert found.units() == [1, 17]
    assert "does not name 1 counter" in found.notes[0]


def test_masks_of_simds() -> None:
    names = ("SQ_LDS_BANK_CONFLICT:0x1", "SQ_LDS_BANK_CONFLICT:2", "SQ_X:3", "SQ_X:2")
    found = counted(names, [[40, 1, 2, 3, 4, 1, 0], [80, 5, 6, 7, 8, 1, 0]])
    assert [counter.name for counter in found.raw] == [name.removeprefix("SQ_") for name in names]
    assert [counter.simds for counter in found.raw] == [1, 2, 3, 2]
    tensors = Tensors(found, CounterFamily.SQ, small_trace().clock)
    assert tensors["LDS_BANK_CONFLICT"][0, 0, 1].tolist() == [3, 11]
    assert tensors["SQ_LDS_BANK_CONFLICT:2"][0, 0, 1].tolist() == [2, 6]
    assert "X" not in tensors, "SIMD 1 would be counted twice"
    assert (simd_names(15), simd_names(5)) == ("all SIMDs", "SIMD0, SIMD2")


def test_equal_names_are_told_apart() -> None:
    found = counted(("SQ_A", "SQ_A"), [[40, 1, 2, 0, 0, 1, 0]])
    assert [counter.name for counter in found.raw] == ["A", "A_2"]


def monitors(trace: Trace, time: list[int], is_xcc: bool = False) -> Counters:
    series = SpmSeries("SQ_WAVES", 1, 0, np.array(time, np.int64), np.ones(len(time)), is_xcc)
    return counters(replace(trace, spm=(series,), counters=()))


def test_clocks_of_monitors() -> None:
    trace = sample_trace("counters")
    inside = trace.span.begin + 1000
    found = monitors(trace, [inside, inside + 1024])
    shift = trace.clock.offsets[1]
    assert found.raw[0].samples.time.tolist() == [inside + shift, inside + 1024 + shift]
    ticks = int(trace.clock.samples[1].realtime[0]) + 100
    found = monitors(trace, [ticks, ticks + 50])
    cycles = trace.clock.samples[1].shader[0] + shift + 100 / trace.clock.ticks_per_cycle
    assert found.raw[0].samples.time[0] == pytest.approx(cycles, abs=1)
    assert "converted" in found.notes[0]
    found = monitors(trace, [10**15, 10**15 + 1024])
    assert found.raw[0].samples.time.tolist() == [trace.span.begin, trace.span.begin + 1024]
    assert "unknown" in found.notes[0]
    assert monitors(trace, [inside], is_xcc=True).raw[0].samples.xcc.tolist() == [1]


def test_formulas_use_one_family() -> None:
    trace = replace(sample_trace("counters"), spm=sample_trace("spm").spm)
    text = "P := sum[SQ_WAVES]\nQ := sum[ACTIVE_INST_VALU]\nR := SQ_WAVES + ACTIVE_INST_VALU"
    found = derived_counters(counters(trace), trace.clock, [read_definitions(text)])
    rows = {row.name: row for row in found.rows if row.file != BUILT_IN}
    assert rows["P"].family is CounterFamily.SPM
    assert rows["Q"].family is CounterFamily.SQ
    assert "performance monitors, at other times" in str(rows["R"].error)


def test_without_a_clock_a_rate_says_why(operations: Trace) -> None:
    clock = replace(operations.clock, ticks_per_cycle=0.0)
    found = derived_counters(counters(operations), clock, [read_definitions("X := SHADER_HZ")])
    assert "realtime.json" in str(found.rows[-1].error)
    assert "F16_TFLOPS" not in [row.name for row in found.rows]


def test_a_frequency_that_is_not_known_is_no_number(operations: Trace) -> None:
    clock = replace(operations.clock, frequency=0)
    found = derived_counters(counters(operations), clock, [read_definitions("X := FREQUENCY")])
    assert str(found.rows[-1].error) == "The capture does not state a usable frequency of the constant clock."


def test_an_engine_with_fewer_clock_samples_is_no_garbage(operations: Trace) -> None:
    trace = operations
    one, two = trace.clock.samples[0], trace.clock.samples[1]
    later = int(one.realtime[-1]) + 500
    shader = np.append(one.shader, one.shader[-1] + 10_000)
    longer = replace(one, shader=shader, realtime=np.append(one.realtime, later))
    clock = replace(trace.clock, samples={**trace.clock.samples, 0: longer})
    text = read_definitions("D := select[RCLOCK, -1] - select[RCLOCK, 0]")
    value = value_of(derived_counters(counters(trace), clock, [text]), "D")
    assert value[0, :, 1, 0].tolist() == [later - one.realtime[0], two.realtime[-1] - two.realtime[0]]


def test_curves_of_results() -> None:
    grid = grid_of((made("A", [40, 80, 120], [1, 2, 3], se=1, cu=2),))
    value = np.zeros(grid.shape)
    value[0, 1, 2] = [1, 2, 3]
    ((suffix, curve),) = curves(value, grid)
    assert suffix == "_SE1_CU2"
    assert curve.time.tolist() == [0, 40, 80, 120]
    assert curve.value.tolist() == [1, 2, 3, 0]
    ((suffix, curve),) = curves(np.full((1, 1, 1, 1), 5.0), grid)
    assert (suffix, curve.time.tolist(), curve.value.tolist()) == ("", [0, 120], [5, 5])
    assert len(list(curves(np.ones((1, 4, 16, 3)), grid))) == 10
    assert list(curves(np.zeros((1, 1, 1, 0)), grid)) == []


@pytest.mark.parametrize("gfxip", [9, 10, 11, 12, 13])
def test_built_in_sets_are_formulas(gfxip: int) -> None:
    from rcv_py.analysis.counters.counter_sets import built_in

    found = built_in(architecture_of(gfxip))
    assert not found.errors
    assert len(found.by_name) == len(found.rows) > 5
    assert all(row.is_hidden or row.comment for row in found.rows)


def test_half_written_files_cost_only_themselves(tmp_path: Path) -> None:
    write_sample("counters", tmp_path, seed=3)
    whole = len(counters(open_trace(tmp_path)).raw[0].samples)
    (tmp_path / "se0_perfcounter.json").write_text('{"data": [[1, 2, 3, 4, 5, 1]]}')
    (tmp_path / "spm.json").write_text('{"SQ_WAVES": {"values": ')
    trace = open_trace(tmp_path)
    assert 0 < len(counters(trace).raw[0].samples) < whole
    told = [str(problem) for problem in trace.problems_about(Affects.COUNTERS)]
    assert any("spm.json is damaged" in text for text in told)
    assert any("se0_perfcounter.json holds no counter sample" in text for text in told), told


def test_a_formula_does_not_replace_what_was_recorded() -> None:
    found = counted(("SQ_A",), [[40, 1, 0, 0, 0, 1, 0], [80, 5, 0, 0, 0, 1, 0]])
    derived = derived_counters(found, small_trace().clock, [read_definitions("A := 3", "mine")])
    told = [("mine", "A is the name of a recorded value, which counts; choose another name.")]
    assert [(name, str(error)) for name, error in derived.mistakes] == told


NUMBERS = st.one_of(st.integers(-5, 200), st.integers(-(2**31), 2**31 - 1))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[NUMBERS] * 7), min_size=1, max_size=12))
def test_no_table_of_samples_is_too_odd(rows: list[tuple[int, ...]]) -> None:
    table = np.array(rows, dtype=np.int64)
    place = np.clip(table[:, 5:], -1, 32767).astype(np.int16)
    samples = CounterSamples(9_999, table[:, 0], table[:, 1:5].astype(np.int32), place[:, 0], place[:, 1])
    near = replace(samples, se=1)
    names = ("SQ_BUSY_CU_CYCLES", "SQ_ACTIVE_INST_VALU", "SQ_X:1")
    trace = replace(small_trace(), counter_names=names, counters=(near, samples))
    found = counters(trace)
    derived = derived_counters(found, trace.clock)
    for counter in found.raw:
        curve = raw_curve(counter)
        assert np.all(np.diff(curve.time) > 0)
        tensors = derived.tensors[CounterFamily.SQ]
        assert tensors[counter.name].sum() == pytest.approx(counter.samples.value.sum())
        assert tensors[counter.name].size <= MAX_CELLS + 128 * 512
    if found.raw:
        assert any("no device has" in note for note in found.notes)


def test_a_long_trace_takes_no_step_a_sample() -> None:
    rng = np.random.default_rng(1)
    count = 400_000
    stamps = np.repeat(np.arange(count // 8, dtype=np.int64) * 40, 8)
    table = CounterSamples(
        0,
        stamps,
        rng.integers(0, 10, (count, 4), np.int32),
        np.tile(np.repeat(np.arange(4), 2), count // 8).astype(np.int16),
        np.tile([0, 1], count // 2).astype(np.int16),
    )
    names = tuple(f"SQ_{name}" for name in ("BUSY_CU_CYCLES", "ACTIVE_INST_VALU", *"CDEFGH"))
    trace = replace(sample_trace("counters"), counter_names=names, counters=(table,))

    def all_curves() -> None:
        found = counters(trace)
        derived_counters(found, trace.clock)
        for counter in found.raw:
            raw_curve(counter)

    assert python_calls(all_curves) < 100_000
