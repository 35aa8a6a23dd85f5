"""Units of a compute unit: how long each was busy with traced waves."""

import numpy as np

from rcv_py.analysis.device.utilization import UnitBusy, unit_title
from rcv_py.model.window import TimeWindow
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import DATA
from rcv_py.results.schema import Schema
from rcv_py.results.table import Columns, ResultTable, Spec

UNITS = Spec(
    "units",
    "One row per unit that was used.",
    "unit",
    kinds.TEXT._replace(text=unit_title)(
        "unit", "Name of the unit with the number of its SIMD; shared units have none"
    ),
    kinds.CYCLES(
        "busy", "Time in which any instruction issued (gfx9) or executed on it; of a matrix pipe, passes"
    ),
    kinds.CYCLES("cycles", "Length of the range", at=DATA),
    kinds.SHARE("share_of_range", "Busy part of the range", "share"),
)
FACTS = (
    CAPTURE,
    kinds.TEXT("place", "The compute unit, such as SE1 CU3"),
    kinds.WAVES("waves", "Traced waves of it that could be read"),
    kinds.TEXT("missing", "Which of its waves could not be read, a sentence; empty if all could"),
    kinds.CYCLE_RANGE("range", "The range that counts; the whole capture if none was given"),
)
UNITS_SCHEMA = Schema(
    "units",
    "For how long each unit of a compute unit was busy with traced waves.",
    (*FACTS, UNITS.field()),
    command="summary",
)


def units(found: UnitBusy, window: TimeWindow) -> ResultTable:
    """Return one row per used unit, from the result of `unit_busy` in the window."""
    busy = np.array([cycles for _, cycles in found], dtype=np.int64)
    columns: Columns = {
        "unit": [name for name, _ in found],
        "busy": busy,
        "cycles": np.full(len(busy), window.width),
        "share_of_range": busy / max(1, window.width),
    }
    return ResultTable(UNITS, columns)
