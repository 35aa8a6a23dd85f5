"""Edge cases of places that a real capture has."""

import pytest

from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, Stage, stoppable
from rcv_py.formats.open import open_trace
from rcv_py.work.load import batches
from tests.real.captures import trace_path


def test_edge_25_thousands_of_waves_open_without_their_files_and_can_be_stopped() -> None:
    trace = open_trace(trace_path("moe_reduce"))
    assert len(trace.waves) == 4112
    assert int(trace.waves.wid.max()) == 47
    stop = CancelFlag()
    stages: list[Stage] = []
    reading = batches(trace, workers=0, report=stages.append)
    assert len(next(reading).waves) < 4112
    stop.set()
    with pytest.raises(Cancelled), stoppable(stop):
        next(reading)
    assert stages[0].total == 4112
    assert stages[0].done == 0
