"""Busy SIMDs and the summary of real captures, against the reference results."""

from typing import Any

import pytest

from rcv_py.analysis.core.occupancy import all_resident
from rcv_py.analysis.device.occupancy_curves import unit_table
from rcv_py.analysis.device.pipe_use import PIPE_USE
from rcv_py.analysis.overview.device_summary import summary_by
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.analysis import build
from tests.analysis.test_activity import (
    test_issue_and_work_stand_side_by_side_in_the_summary,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of_each
from tests.support.read_twice import opened

name = fixture_of_each(lambda name: name, captures.GOLDEN)


@pytest.fixture
def trace(name: str) -> Trace:
    return opened(captures.trace_path(name))[0]


@pytest.fixture
def batches(name: str) -> tuple[WaveBatch, ...]:
    return opened(captures.trace_path(name))[1]


@pytest.fixture
def beyond(name: str) -> Any:
    """What is known of the capture beyond what the reference viewer shows."""
    return captures.golden(f"beyond/{name}.json")


def test_busy_cycles_of_simds(batches: tuple[WaveBatch, ...], beyond: Any) -> None:
    found, golden = build.of(PIPE_USE, batches), beyond["simd_issue"]
    assert int(found.resident.sum()) == golden["resident"]
    assert int(found.busy.sum()) == golden["issue"]
    assert 100 * found.share() == pytest.approx(golden["busy_pct"], abs=0.005)


def test_occupancy_in_the_summary(trace: Trace, batches: tuple[WaveBatch, ...], beyond: Any) -> None:
    summary = summary_by(None).of(trace, batches)
    value = {fact.id: fact.value for fact in summary.facts}
    assert summary.fact("waves_traced").of == f"of {beyond['waves_total']} waves that the trace saw"
    assert (value["duration"], value["peak_waves"]) == (beyond["span"], beyond["peak_waves"])
    assert value["mean_waves"] == pytest.approx(beyond["avg_waves"], abs=0.005)
    assert 100 * value["tail"] / value["duration"] == pytest.approx(beyond["tail_below_half_pct"], abs=0.005)


def test_issue_and_matrix_work(trace: Trace, batches: tuple[WaveBatch, ...], beyond: Any) -> None:
    """The reference also counts the time in which a wave waits in s_endpgm as issue."""
    value = {fact.id: fact.value for fact in summary_by(None).of(trace, batches).facts}
    assert value["simd_busy"] < beyond["simd_issue"]["busy_pct"] / 100
    assert 100 * value["matrix_busy"] == pytest.approx(
        beyond["mfma_model"]["pct_of_resident_simd_cycles"], abs=0.005
    )


def test_units_add_up_to_the_curve(trace: Trace, beyond: Any) -> None:
    table = unit_table(trace)
    assert table is not None
    curve = all_resident(trace.occupancy)
    assert int(table.columns["cycles"].sum()) == curve.area
    assert int(table.columns["waves"].sum()) == beyond["waves_total"]
    assert float(table.columns["mean"].sum()) == pytest.approx(beyond["avg_waves"], abs=0.005)
    assert (table.columns["peak"] <= table.columns["waves"]).all()
    assert int(table.columns["traced"].sum()) == len(trace.waves)
