"""Counters in a few numbers: against the samples one after the other, and in odd cases."""

import json
from collections import Counter

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.counters.counter_shares import counter_shares
from rcv_py.analysis.device.occupancy_curves import unit_table
from rcv_py.model.device import CounterSamples
from rcv_py.model.trace import Trace
from rcv_py.synth.samplers import COUNTERS, SAMPLE_INTERVAL, UNIT_SKEW
from tests.analysis import build
from tests.support.opened import sample_trace
from tests.support.samples import sample

NAMES = ("SQ_BUSY_CU_CYCLES", "SQ_ACTIVE_INST_VALU", "SQ_ACTIVE_INST_LDS", "SQ_VALU_MFMA_BUSY_CYCLES")


def counted(*samples: tuple[int, int, tuple[int, int, int, int]]) -> Trace:
    """A trace whose shader engine 0 has these samples (time, cu, values)."""
    time, cu, value = (np.array([sample[i] for sample in samples]) for i in range(3))
    none = np.zeros(len(time), np.int16)
    table = CounterSamples(0, time.astype(np.int64), value.astype(np.int32), cu.astype(np.int16), none)
    trace = build.trace(build.code(["v_a"]), [build.wave("VV")])
    return replace(trace, counter_names=NAMES, counters=(table,))


Rows = list[tuple[int, int, int, list[int]]]  # engine, compute unit, time on one clock, values of a bank


def recorded(name: str) -> dict[int, Rows]:
    """The samples of each bank of counters, as the files of a capture have them."""
    folder, truth = sample(name)
    found: dict[int, Rows] = {}
    for se, shift in truth.offset_of_se.items():
        for time, *values, cu, bank in json.loads((folder / f"se{se}_perfcounter.json").read_text())["data"]:
            found.setdefault(bank, []).append((se, cu, time + shift, values))
    return found


@pytest.mark.parametrize("name", ["counters", "counters_units"])
def test_sums_and_peaks_of_every_counter(name: str) -> None:
    """Sums one sample after the other; peaks cycle by cycle, a sample being of the cycles before it."""
    found, banks = counter_shares(sample_trace(name)), recorded(name)
    assert list(found.names) == [counter.removeprefix("SQ_") for counter in COUNTERS]
    busy = per_cycle(banks[0], 0)
    for at in range(len(COUNTERS)):
        bank, column = divmod(at, 4)
        total: Counter[tuple[int, int]] = Counter()
        for se, cu, _, values in banks[bank]:
            total[se, cu] += values[column]
        places = zip(found.se.tolist(), found.cu.tolist(), strict=True)
        assert dict(zip(places, found.total[:, at].tolist(), strict=True)) == dict(total)
        cycles = per_cycle(banks[bank], column)
        assert found.peak[at] == cycles.max() > 0
        assert found.busy_then[at] == busy[cycles.argmax()]


def per_cycle(rows: Rows, column: int) -> np.ndarray:
    """A counter in every cycle since the first one that is counted, summed over all units."""
    low = min(time for _, _, time, _ in rows) - SAMPLE_INTERVAL - UNIT_SKEW
    cycles = np.zeros(max(time for _, _, time, _ in rows) - low, dtype=np.int64)
    for _, _, time, values in rows:
        cycles[time - SAMPLE_INTERVAL - low : time - low] += values[column]
    return cycles


def test_bars_are_shares_of_the_busy_steps() -> None:
    """Half-rate pipes take two steps an instruction; the counter of matrix pipes counts cycles."""
    found, banks = counter_shares(sample_trace("counters")), recorded("counters")
    steps = sum(values[0] for *_, values in banks[0])
    matrix, valu, lds, flat = (sum(values[at] for *_, values in banks[1]) for at in range(4))
    pipes = {"VALU": valu, "LDS": 2 * lds, "FLAT": 2 * flat, "MFMA": matrix / 4}
    bars = {bar.name: bar.value for bar in found.bars}
    assert set(bars) == {*pipes, "VALU Peak", "MFMA Peak"}
    shares = {name: 100 * part / steps for name, part in pipes.items()}
    assert {name: bars[name] for name in pipes} == pytest.approx(shares)
    assert bars["VALU Peak"] >= bars["VALU"]


def test_a_peak_is_divided_by_what_was_busy_then() -> None:
    trace = counted((100, 1, (10, 8, 0, 0)), (140, 1, (20, 5, 0, 0)), (180, 1, (20, 5, 0, 0)))
    found = counter_shares(trace)
    assert next(bar.value for bar in found.bars if bar.name == "VALU Peak") == 80.0


def test_nothing_is_divided_by_zero() -> None:
    trace = counted((100, 1, (0, 8, 2, 0)), (140, 1, (0, 8, 2, 0)))
    found = counter_shares(trace)
    assert found.bars == ()
    assert np.isnan(found.share("VALU")).all()


def test_compute_units_beyond_fifteen_keep_their_number() -> None:
    trace = counted((100, 1, (10, 2, 0, 0)), (100, 17, (10, 6, 0, 0)), (140, 17, (10, 6, 0, 0)))
    assert counter_shares(trace).cu.tolist() == [1, 17]


def test_counters_join_the_table_of_units() -> None:
    trace = counted((100, 1, (10, 5, 0, 8)), (100, 2, (10, 1, 0, 0)))
    table = unit_table(trace, counter_shares(trace))
    assert table.columns["cu"].tolist() == [1, 2]
    assert np.array_equal(table.columns["waves"], [1, np.nan], equal_nan=True)
    assert table.columns["share_VALU"].tolist() == [50.0, 10.0]
    assert table.columns["share_MFMA"].tolist() == [20.0, 0.0]
    assert table.columns["sum_ACTIVE_INST_VALU"].tolist() == [5.0, 1.0]


def test_without_counters_there_is_no_summary() -> None:
    assert counter_shares(build.trace(build.code(["v_a"]), [])) is None
