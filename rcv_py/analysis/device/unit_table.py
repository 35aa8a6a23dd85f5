"""A table with one row a compute unit: its waves, and its counters if the capture has any."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies, residencies, resident
from rcv_py.analysis.core.saturated import sums
from rcv_py.analysis.counters.counter_shares import CounterShares
from rcv_py.base.runs import ascending
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveIndex


@dataclass(frozen=True, eq=False)
class UnitTable:
    """Rows sorted by (se, sa, cu).

    Columns are int64 or float64, NaN if unknown: se, sa (if any is not 0) and cu; of the waves `waves` that
    lived on the unit, `traced` waves, `mean` and `peak` of resident waves, their `cycles`, and `start` and
    `end` in cycles after the first start on any unit; of each pipe, `share_` in percent of the unit's busy
    time; of each counter, `sum_` over all samples.
    """

    columns: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.columns["se"])


def unit_table(trace: Trace, counted: CounterShares | None = None) -> UnitTable | None:
    """Return the table of all compute units with waves or counts, None if there are none."""
    lives = residencies(trace.occupancy)
    parts = [_waves(trace.waves, lives)] if len(lives) else []
    if counted is not None and len(counted):
        shares = {f"share_{pipe}": counted.share(pipe) for pipe in counted.utilized}
        totals = {f"sum_{name}": total for name, total in zip(counted.names, counted.total.T, strict=True)}
        parts.append((_key(counted.se, np.zeros_like(counted.se), counted.cu), shares | totals))
    if not parts:
        return None
    keys = ascending(np.concatenate([key for key, _ in parts]))

    def spread(key: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Expand values of some units to a column of all units, NaN where missing."""
        column = np.full(len(keys), np.nan) if len(key) < len(keys) else np.empty_like(values)
        column[np.searchsorted(keys, key)] = values
        return column

    array = keys >> 24 & 0xFF
    places = {"se": keys >> 32, **({"sa": array} if array.any() else {}), "cu": keys & 0xFFFFFF}
    known = {name: spread(key, values) for key, columns in parts for name, values in columns.items()}
    return UnitTable(places | known)


def _waves(index: WaveIndex, lives: Residencies) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The key of each unit with waves, and the columns about these waves."""
    units, group = np.unique(_key(lives.se, lives.sa, lives.cu), return_inverse=True)
    n, origin = len(units), int(lives.begin.min())
    begin, end = np.full(n, lives.begin.max()), np.full(n, lives.end.min())
    np.minimum.at(begin, group, lives.begin)
    np.maximum.at(end, group, lives.end)
    cycles = sums(group, lives.end - lives.begin, n)
    curves = resident(lives, group)
    own = _key(index.se, index.sa, index.cu)[index.cu >= 0]
    at = np.minimum(np.searchsorted(units, own), n - 1)
    return units, {
        "waves": np.bincount(group),
        "traced": np.bincount(at[units[at] == own], minlength=n),
        "mean": cycles / max(1, int(lives.end.max()) - origin),
        "peak": np.array([int(curves[unit].value.max()) for unit in range(n)]),
        "cycles": cycles,
        "start": begin - origin,
        "end": end - origin,
    }


def _key(se: np.ndarray, sa: np.ndarray, cu: np.ndarray) -> np.ndarray:
    """A key for each compute unit, int64, ordered like (se, sa, cu).  Counters have no `sa`: 0."""
    se, sa, cu = (column.astype(np.int64) for column in (se, sa, cu))
    return (se << 32) + (sa << 24) + cu
