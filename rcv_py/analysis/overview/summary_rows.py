"""The summary of a capture as rows of plain values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rcv_py.analysis.core.state_shares import SHOWN, StateShares
from rcv_py.analysis.cost.activity import Activity
from rcv_py.analysis.cost.stall_reasons import StallReasons, reason_name
from rcv_py.analysis.device.pipe_use import PIPES
from rcv_py.analysis.device.unit_table import UnitTable
from rcv_py.analysis.overview.device_summary import DeviceSummary

NAMES = ("section", "name", "value", "of")
_PLACES = ("se", "sa", "cu")


def summary_rows(found: DeviceSummary) -> Iterator[tuple[Any, ...]]:
    """Every number in one long table: what it belongs to, its name, its value, what it is a part of."""
    yield from (("capture", fact.name, fact.value, fact.of) for fact in found.facts)
    for title, rows in parts(found):
        whole = sum(value for _, value in rows)
        yield from ((title, name, value, whole) for name, value in rows)
    if found.pipes is not None:
        for place, resident, columns in pipe_rows(found):
            yield from ((place, f"{name} cycles", cycles, resident) for name, cycles in columns.items())
    if found.counters is not None:
        bars = found.counters.bars
        yield from (("counters", f"{bar.name} %", round(bar.value, 4), "busy time") for bar in bars)
    if found.units is not None:
        yield from _unit_rows(found.units)


def _unit_rows(units: UnitTable) -> Iterator[tuple[Any, ...]]:
    for row in range(len(units)):
        name = _unit(units, row)
        for column in units.columns:
            if column.id not in _PLACES:
                yield name, column.title, plain_number(column.values[row]), ""


def parts(found: DeviceSummary) -> list[tuple[str, list[tuple[str, int]]]]:
    """Return each split of a whole: its title, and names with cycles or samples."""
    found_parts: list[tuple[str, list[tuple[str, int]]]] = []
    if found.activity is not None:
        found_parts.append(("activity", _activity(found.activity)))
    if found.states is not None:
        found_parts.append(("states", _states(found.states)))
    if found.reasons is not None:
        found_parts.append(("stall reasons", _reasons(found.reasons)))
    return found_parts


def _activity(activity: Activity) -> list[tuple[str, int]]:
    return [("issue", activity.issue), ("stall", activity.stall), ("idle", activity.idle)]


def _states(states: StateShares) -> list[tuple[str, int]]:
    return [(state.name, int(states.cycles[state])) for state in SHOWN]


def _reasons(reasons: StallReasons) -> list[tuple[str, int]]:
    rows = [("issued", reasons.issued)]
    rows += [(reason_name(reason), samples) for reason, samples in reasons.ranked()]
    return rows + ([("no reason given", reasons.unknown)] if reasons.unknown else [])


def pipe_rows(found: DeviceSummary) -> Iterator[tuple[str, int, dict[str, int]]]:
    """Yield the place of each SIMD, its resident cycles, and the cycles of other columns by name."""
    pipes, work = found.pipes, found.work
    if pipes is None or work is None:
        return
    of = np.searchsorted(work.axis.place, pipes.se * 256 + pipes.simd)
    unions = {"matrix_busy": work.resident_matrix, "no_issue": work.no_issue, "nothing": work.nothing}
    more = {name: work.axis.by_simd(covered)[of] for name, covered in unions.items()}
    for row in range(len(pipes)):
        place = f"SE{pipes.se[row]} CU{pipes.cu[row]} SIMD{pipes.simd[row]}"
        columns = {"busy": int(pipes.busy[row]), "working": int(pipes.working[row])}
        columns |= {name: int(column[row]) for name, column in more.items()}
        columns |= {name: int(pipes.pipes[row, PIPES.index(name)]) for name in pipes.used}
        yield place, int(pipes.resident[row]), columns


def _unit(units: UnitTable, row: int) -> str:
    place = {one.id: int(one.values[row]) for one in units.columns if one.id in _PLACES}
    array = f" SA{place['sa']}" if "sa" in place else ""
    return f"SE{place['se']}{array} CU{place['cu']}"


def plain_number(value: np.generic) -> Any:
    """Return a number for programs: rounded to four digits, None where there is none."""
    plain = value.item()
    if isinstance(plain, float):
        return None if np.isnan(plain) else round(plain, 4)
    return plain
