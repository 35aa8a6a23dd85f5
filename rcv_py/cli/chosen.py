"""Which waves count, whose costs are shown, and in which order: the options that say what a panel shows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from rcv_py.analysis.core.cost_columns import CostColumns, all_lines, cost_columns
from rcv_py.analysis.core.search import find
from rcv_py.analysis.cost.hotspot import counted_rows
from rcv_py.base.errors import UsageError
from rcv_py.cli.opening import batches
from rcv_py.cli.options.option import Options, flag_of
from rcv_py.cli.options.shared import WithIdle, WithMatch, WithSort, WithTop
from rcv_py.model.modes import LatencyMode
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave, WaveBatch
from rcv_py.model.window import TimeWindow

_RANGES = ("clock", "within", "loop")
_FILTERS = (
    "match", "line", "wave", "clock", "within", "se", "cu", "simd", "unit_of", "without_kernel", "without_se",
    "loop", "rounds_of", "outliers", "kind", "only", "file", "beyond_noise", "kernel",
)  # fmt: skip
OF_ALL_WAVES = (LatencyMode.SUM_ALL, LatencyMode.MEAN_ALL)
MODES = {
    "sum": LatencyMode.SUM_ALL,
    "mean": LatencyMode.MEAN_ALL,
    "hit": LatencyMode.ITERATION,
    "wave-sum": LatencyMode.SUM_WAVE,
    "wave-mean": LatencyMode.MEAN_WAVE,
    "wave-max": LatencyMode.MAX_WAVE,
}


def window_of(asked: tuple[int, int] | None) -> TimeWindow | None:
    """Return the window of `A:B`, None if none was given."""
    return None if asked is None else TimeWindow(*asked)


def check_engine(trace: Trace, se: int | None, which: str) -> None:
    """Raise UsageError if no traced, or no resident, wave is of a shader engine."""
    column = trace.waves.se if which == "traced" else trace.occupancy.se
    there = np.unique(column).tolist()
    if se is not None and there and se not in there:
        names = ", ".join(map(str, there))
        raise UsageError(f"No {which} wave is on shader engine {se}.", hint=f"There are: {names}.")


def counted(trace: Trace, clock: tuple[int, int] | None, se: int | None = None) -> set[int] | None:
    """Return the index rows of the waves that count, None for all."""
    window = window_of(clock)
    return None if window is None and se is None else counted_rows(trace.waves, se, window)


def counted_batches(trace: Trace, rows: set[int] | None) -> Iterator[WaveBatch]:
    """Read the waves that count, some at a time; None: all of them."""
    return batches(trace) if rows is None else iter([trace.reader.read(sorted(rows))] if rows else [])


def wave_of(trace: Trace, name: str) -> Wave:
    """Read one wave; raise UsageError if there is none of that name, or if it cannot be read."""
    row = trace.wave_row(name)
    batch = trace.reader.read([row])
    if not batch.waves:
        why = next((text for _, text in batch.missing), "")
        raise UsageError(f"The wave {name} cannot be read.", hint=why)
    return batch.waves[0]


def asked_costs(
    trace: Trace,
    clock: tuple[int, int] | None = None,
    mode: LatencyMode = LatencyMode.SUM_ALL,
    wave: str | None = None,
    hit: int | None = None,
    *,
    rows: Collection[int] | None = None,
) -> CostColumns:
    """Return the costs of all code lines in a mode, of all waves or of those that touch a clock range.

    Of a clock range only the waves in `rows` (None: all) count; without one totals are the trace's.
    """
    if mode not in OF_ALL_WAVES:
        if wave is None:
            raise UsageError("This mode is about one wave.", hint="Name it with --wave se0/simd2/slot1/wv0.")
        return cost_columns(trace.code, mode, wave_of(trace, wave), hit)
    stats = None
    if clock is not None:
        inside = counted(trace, clock) or set()
        inside = inside if rows is None else inside & set(rows)
        stats = all_lines(counted_batches(trace, inside), len(trace.code), inside)
    return cost_columns(trace.code, mode, None, None, stats)


def matched(texts: Sequence[str], arguments: WithMatch) -> set[int] | None:
    """Return the rows whose text matches `--match`, None if nothing is looked for."""
    if not arguments.match:
        return None
    return set(find(texts, arguments.match, arguments.case, arguments.regex).tolist())


def most_nested(arguments: WithTop) -> int | None:
    """Return how many rows a list inside a row of a document has: `--top`, None for all without it."""
    return arguments.top or None if "top" in arguments.given else None


def if_known(numbers: dict[str, Any], is_known: bool) -> dict[str, Any]:
    """Return the numbers, or null for each of them: sums over nothing that was read are not 0."""
    return numbers if is_known else dict.fromkeys(numbers)


def filters(arguments: Options) -> str:
    """Return the filters that were given as they are written, `--match foo --se 1`; "" if there are none."""
    words = [_written(name, getattr(arguments, name)) for name in _FILTERS if name in arguments.given]
    return " ".join(words)


def _written(name: str, value: object) -> str:
    option = flag_of(name)
    if isinstance(value, list):
        return " ".join(f"{option} {one}" for one in value)
    if isinstance(value, tuple):
        return f"{option} {':'.join(map(str, value)) if name in _RANGES else ','.join(map(str, value))}"
    return option if value is True else f"{option} {value}"


def nothing(what: str, arguments: Options, without: str) -> str:
    """Return why a table is empty: `No branch matches --match foo.`, or `without` if nothing was filtered."""
    asked = filters(arguments)
    return f"No {what} matches {asked}." if asked else without


def in_order(rows: list[dict[str, Any]], arguments: WithSort) -> list[dict[str, Any]]:
    """Return the rows by the column that `--sort` names; equal ones, and all without it, stay as they are."""
    key = arguments.sort
    if not key or not rows:
        return rows
    if key not in rows[0] or isinstance(rows[0][key], list | dict):
        names = ", ".join(name for name, value in rows[0].items() if not isinstance(value, list | dict))
        raise UsageError(f"There is no column {key!r} to sort by.", hint=f"Columns: {names}.")
    known = [row for row in rows if row[key] is not None]
    known.sort(key=lambda row: row[key], reverse=not arguments.ascending)
    return known + [row for row in rows if row[key] is None]


def charged(costs: CostColumns, arguments: WithIdle) -> np.ndarray:
    """Return what each code line is charged with: latency, and idle time unless `--no-idle` says no."""
    return costs.latency if arguments.no_idle else costs.cost
