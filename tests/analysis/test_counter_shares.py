"""Counters in a few numbers: the reference's totals, and right where it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rcv_py.analysis.counters.counter_shares import counter_shares
from rcv_py.analysis.device.unit_table import unit_table
from rcv_py.model.device import CounterSamples
from rcv_py.model.trace import Trace
from tests.analysis import build
from tests.support import captures
from tests.support.counter_reference import reference_table
from tests.support.read_twice import opened

NAMES = ("SQ_BUSY_CU_CYCLES", "SQ_ACTIVE_INST_VALU", "SQ_ACTIVE_INST_LDS", "SQ_VALU_MFMA_BUSY_CYCLES")


@pytest.fixture
def golden():
    return captures.golden("synthetic/counters_gfx9.rcv.json")["counters"]


@pytest.fixture
def capture() -> Trace:
    return opened(captures.synthetic_path("counters_gfx9"))[0]


def counted(*samples: tuple[int, int, tuple[int, int, int, int]]) -> Trace:
    """A trace whose shader engine 0 has these samples (time, cu, values)."""
    time, cu, value = (np.array([sample[i] for sample in samples]) for i in range(3))
    table = CounterSamples(
        0, time.astype(np.int64), value.astype(np.int32), cu.astype(np.int16), np.zeros(len(time), np.int16)
    )
    trace = build.trace(build.code(["v_a"]), [build.wave("VV")])
    return replace(trace, counter_names=NAMES, counters=(table,))


def test_bars_are_the_reference_s(capture: Trace, golden) -> None:
    found = counter_shares(capture)
    assert [bar.name for bar in found.bars] == [name for name, _, _ in golden["bars"]]
    totals = {bar.name: bar.value for bar in found.bars if not bar.name.endswith("Peak")}
    expected = {name: value for name, value, _ in golden["bars"] if name in totals}
    assert {name: np.float32(value) for name, value in totals.items()} == pytest.approx(
        expected, rel=1e-7, abs=1e-5
    )


def test_the_table_is_the_reference_s_to_the_letter(capture: Trace, golden) -> None:
    headers, rows = reference_table(counter_shares(capture))
    assert list(headers) == golden["table"]["cols"]
    assert [list(row) for row in rows] == golden["table"]["rows"]


def test_sums_and_peaks_of_every_counter(capture: Trace, golden) -> None:
    found = counter_shares(capture)
    factor = np.array([2 if name in ("ACTIVE_INST_LDS", "ACTIVE_INST_VMEM") else 1 for name in found.names])
    assert list(found.names) == golden["names"]
    assert (found.peak * factor).tolist() == golden["peak"]
    table = np.array(golden["avg"]["data"]).reshape(golden["avg"]["shape"])[0]
    for se, cu, row in zip(found.se, found.cu, found.total, strict=True):
        assert (row * factor).tolist() == table[se, cu].tolist()
    assert table.sum() == pytest.approx((found.total * factor).sum())


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
    assert table is not None
    assert table.column("cu").tolist() == [1, 2]
    assert np.array_equal(table.column("waves"), [1, np.nan], equal_nan=True)
    assert table.column("share_VALU").tolist() == [50.0, 10.0]
    assert table.column("share_MFMA").tolist() == [20.0, 0.0]
    assert table.column("sum_ACTIVE_INST_VALU").tolist() == [5.0, 1.0]


def test_without_counters_there_is_no_summary() -> None:
    assert counter_shares(build.trace(build.code(["v_a"]), [])) is None
