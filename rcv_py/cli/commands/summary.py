"""`rcv summary`: the capture on one page, as the panel of that name shows it."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np

from rcv_py.analysis.activity import Activity
from rcv_py.analysis.device_summary import DeviceSummary, device_summary
from rcv_py.analysis.pipe_use import PIPES, PipeUse
from rcv_py.analysis.stall_reasons import StallReasons, reason_name
from rcv_py.analysis.state_shares import SHOWN, StateShares
from rcv_py.analysis.unit_table import UnitTable
from rcv_py.base.text import count, percent
from rcv_py.cli.about import about
from rcv_py.cli.opening import batches
from rcv_py.cli.report import Column, csv_text, json_text, print_facts, print_table
from rcv_py.formats.open import open_trace

_HEAD = ("section", "name", "value", "of")
NOTHING = "There is nothing to sum up: no instruction ran, no wave was seen, and there are no PC samples."


def run(arguments: Namespace) -> int:
    """Print the summary of a capture as text, CSV or JSON."""
    trace = open_trace(arguments.folder)
    found = device_summary(trace, tuple(batches(trace)))
    if arguments.csv:
        sys.stdout.write(csv_text(_HEAD, _values(found)))
    elif arguments.json:
        document = {"capture": trace.name, **_document(found)}
        print(json_text("rcv.summary/1", document, about(arguments, trace)))
    else:
        _print(trace.name, found)
    return 0


def _values(found: DeviceSummary) -> Iterator[tuple[Any, ...]]:
    """Every number in one long table: what it belongs to, its name, its value, what it is a part of."""
    yield from (("capture", fact.name, fact.value, fact.of) for fact in found.facts)
    for title, rows in _parts(found):
        whole = sum(value for _, value in rows)
        yield from ((title, name, value, whole) for name, value in rows)
    if found.pipes is not None:
        for place, resident, columns in _pipe_rows(found.pipes):
            yield from ((place, f"{name} cycles", cycles, resident) for name, cycles in columns.items())
    if found.counters is not None:
        bars = found.counters.bars
        yield from (("counters", f"{bar.name} %", round(bar.value, 4), "busy time") for bar in bars)
    if found.units is not None:
        yield from _unit_values(found.units)


def _unit_values(units: UnitTable) -> Iterator[tuple[Any, ...]]:
    for row in range(len(units)):
        name = _unit(units, row)
        for column in units.columns:
            if column.id not in ("se", "sa", "cu"):
                yield name, column.title, _plain(column.values[row]), ""


def _parts(found: DeviceSummary) -> list[tuple[str, list[tuple[str, int]]]]:
    parts: list[tuple[str, list[tuple[str, int]]]] = []
    if found.activity is not None:
        parts.append(("activity", _activity(found.activity)))
    if found.states is not None:
        parts.append(("states", _states(found.states)))
    if found.reasons is not None:
        parts.append(("stall reasons", _reasons(found.reasons)))
    return parts


def _activity(activity: Activity) -> list[tuple[str, int]]:
    return [("issue", activity.issue), ("stall", activity.stall), ("idle", activity.idle)]


def _states(states: StateShares) -> list[tuple[str, int]]:
    return [(state.name, int(states.cycles[state])) for state in SHOWN]


def _reasons(reasons: StallReasons) -> list[tuple[str, int]]:
    rows = [("issued", reasons.issued)]
    rows += [(reason_name(reason), samples) for reason, samples in reasons.ranked()]
    return rows + ([("no reason given", reasons.unknown)] if reasons.unknown else [])


def _pipe_rows(pipes: PipeUse) -> Iterator[tuple[str, int, dict[str, int]]]:
    for row in range(len(pipes)):
        place = f"SE{pipes.se[row]} CU{pipes.cu[row]} SIMD{pipes.simd[row]}"
        columns = {"busy": int(pipes.busy[row]), "working": int(pipes.working[row])}
        columns |= {name: int(pipes.pipes[row, PIPES.index(name)]) for name in pipes.used}
        yield place, int(pipes.resident[row]), columns


def _unit(units: UnitTable, row: int) -> str:
    parts = {column.id: int(column.values[row]) for column in units.columns[:3]}
    array = f" SA{parts['sa']}" if "sa" in parts else ""
    return f"SE{parts['se']}{array} CU{int(units.column('cu')[row])}"


def _document(found: DeviceSummary) -> dict[str, Any]:
    document: dict[str, Any] = {
        "facts": [
            {"id": fact.id, "name": fact.name, "value": fact.value, "of": fact.of} for fact in found.facts
        ],
        "waves": {"traced": found.waves, "read": found.read},
    }
    document |= {title.replace(" ", "_"): dict(rows) for title, rows in _parts(found)}
    if found.pipes is not None:
        document["simds"] = [
            {"place": place, "resident": resident, **columns}
            for place, resident, columns in _pipe_rows(found.pipes)
        ]
    if found.counters is not None:
        document["counters"] = {bar.name: round(bar.value, 4) for bar in found.counters.bars}
    if found.units is not None:
        document["units"] = [
            {column.id: _plain(column.values[row]) for column in found.units.columns}
            for row in range(len(found.units))
        ]
    return document


def _plain(value: np.generic) -> Any:
    plain = value.item()
    if isinstance(plain, float):
        return None if np.isnan(plain) else round(plain, 4)
    return plain


def _print(name: str, found: DeviceSummary) -> None:
    print(name)
    print_facts([(fact.name.lower(), f"{fact.text}  {fact.of}".rstrip()) for fact in found.facts])
    if found.is_empty:
        print(f"\n{NOTHING}")
    for title, rows in _parts(found):
        whole = sum(value for _, value in rows)
        unit = "samples" if title == "stall reasons" else "cycles of the traced waves"
        print(f"\n{title[:1].upper()}{title[1:]}, of {count(whole)} {unit}")
        cells = [(row, count(value), percent(value, whole)) for row, value in rows]
        print_table((Column(""), Column("count", True), Column("share", True)), cells)
    if found.pipes is not None:
        _print_pipes(found.pipes)
    if found.counters is not None and found.counters.bars:
        print("\nHardware counters, share of the busy time; peaks: at the moment of the largest value")
        print_facts([(bar.name, f"{bar.value:.1f} %") for bar in found.counters.bars])
    if found.units is not None:
        _print_units(found.units)


def _print_pipes(pipes: PipeUse) -> None:
    print("\nBusy share of the cycles in which a SIMD had a traced wave")
    names = ("busy", "working", *pipes.used)
    rows = [
        (place, count(resident), *(percent(columns[name], resident) for name in names))
        for place, resident, columns in _pipe_rows(pipes)
    ]
    whole = pipes.resident.sum()
    totals = [pipes.share(), pipes.share_of(pipes.working), *(pipes.share(name) for name in pipes.used)]
    rows.append(("all", count(int(whole)), *(percent(share, 1) for share in totals)))
    print_table((Column("SIMD"), *(Column(name, True) for name in ("cycles", *names))), rows)


def _print_units(units: UnitTable) -> None:
    print("\nCompute units")
    rows = [[_cell(column.values[row]) for column in units.columns] for row in range(len(units))]
    print_table([Column(column.title, True) for column in units.columns], rows)


def _cell(value: np.generic) -> str:
    plain = _plain(value)
    if plain is None:
        return ""
    return f"{plain:,.1f}".removesuffix(".0") if isinstance(plain, float) else count(plain)
