"""The panel of loops on a real capture whose iterations a reference measured."""

import pytest

from rcv_py.model.trace import Trace
from tests.features.loops.test_panel import loops, test_a_whole_capture  # noqa: F401
from tests.real import captures


@pytest.fixture
def looped() -> tuple[Trace, tuple[float, float, float]]:
    golden = captures.golden("beyond/pa_mqa_big.json")["loops"][0]["cycles_per_iter"]
    return captures.real_trace("pa_mqa_big"), (golden["min"], golden["median"], golden["max"])
