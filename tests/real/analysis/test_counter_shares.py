"""Counters in a few numbers: the totals of the reference."""

import numpy as np
import pytest

from rcv_py.analysis.counters.counter_shares import counter_shares
from rcv_py.model.trace import Trace
from tests.real import captures
from tests.support.fixtures import fixture_of
from tests.support.read_twice import opened

golden = fixture_of(lambda: captures.golden("synthetic/counters_gfx9.rcv.json")["counters"])
capture = fixture_of(lambda: opened(captures.synthetic_path("counters_gfx9"))[0])


def test_bars_are_the_reference_s(capture: Trace, golden) -> None:
    found = counter_shares(capture)
    assert [bar.name for bar in found.bars] == [name for name, _, _ in golden["bars"]]
    totals = {bar.name: bar.value for bar in found.bars if not bar.name.endswith("Peak")}
    expected = {name: value for name, value, _ in golden["bars"] if name in totals}
    assert {name: np.float32(value) for name, value in totals.items()} == pytest.approx(
        expected, rel=1e-7, abs=1e-5
    )


def test_sums_and_peaks_of_every_counter(capture: Trace, golden) -> None:
    found = counter_shares(capture)
    factor = np.array([2 if name in ("ACTIVE_INST_LDS", "ACTIVE_INST_VMEM") else 1 for name in found.names])
    assert list(found.names) == golden["names"]
    assert (found.peak * factor).tolist() == golden["peak"]
    table = np.array(golden["avg"]["data"]).reshape(golden["avg"]["shape"])[0]
    for se, cu, row in zip(found.se, found.cu, found.total, strict=True):
        assert (row * factor).tolist() == table[se, cu].tolist()
    assert table.sum() == pytest.approx((found.total * factor).sum())
