"""Units of a compute unit: for how long each was busy with traced waves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.device.utilization import unit_title, utilization
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave
from rcv_py.model.window import TimeWindow
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import At, Field
from rcv_py.results.table import Spec, Table
from rcv_py.results.unit import CYCLE_RANGE, CYCLES, SHARE, TEXT, WAVES

UNITS = Spec(
    "units",
    "One row a unit that was used.",
    "unit",
    (
        Field(
            "unit",
            replace(TEXT, text=unit_title),
            "Name of the unit with the number of its SIMD; shared units have none",
        ),
        Field("busy", CYCLES, "Time in which any instruction issued (gfx9) or executed on it"),
        Field("cycles", CYCLES, "Length of the range", at=At.DATA),
        Field("share_of_range", SHARE, "Busy part of the range", "share"),
    ),
)
FACTS = (
    CAPTURE,
    Field("place", TEXT, "The compute unit, such as SE1 CU3"),
    Field("waves", WAVES, "Traced waves of it that could be read"),
    Field("missing", TEXT, "Which of its waves could not be read, a sentence; empty if all could"),
    Field("range", CYCLE_RANGE, "The range that counts; the whole capture if none was asked for"),
)


def units(trace: Trace, waves: Sequence[Wave], window: TimeWindow) -> Table:
    """Return one row a unit that the waves used."""
    tracks = utilization(waves, trace) if waves else ()
    busy = np.array(
        [IntervalSet.of(track.start, track.end).inside(window) for track in tracks], dtype=np.int64
    )
    return Table(
        UNITS,
        {
            "unit": [track.name for track in tracks],
            "busy": busy,
            "cycles": np.full(len(busy), window.width),
            "share_of_range": busy / max(1, window.width),
        },
    )
