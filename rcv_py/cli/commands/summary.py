"""`rcv summary`: the capture on one page, as the panel of that name shows it."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.cost.place_text import NO_PLACE
from rcv_py.analysis.device.pipe_use import PipeUse
from rcv_py.analysis.device.unit_table import UnitTable
from rcv_py.analysis.overview.device_summary import DeviceSummary, device_summary
from rcv_py.base.text import count, percent
from rcv_py.cli.about import about
from rcv_py.cli.options.capture_options import SummaryOptions
from rcv_py.cli.report import Column, json_text, plain, print_facts, print_table
from rcv_py.cli.results import print_csv
from rcv_py.cli.wave_choice import ChosenWaves, choose_waves
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.results.summary import (
    parts,
    pipe_rows,
    plain_number,
    simd_title,
    summary_document,
    summary_table,
)

NOTHING = "There is nothing to sum up: no instruction ran, no wave was seen, and there are no PC samples."


def run(arguments: SummaryOptions) -> int:
    """Print the summary of a capture as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    alarm = warn(trace)
    chosen = choose_waves(trace, arguments)
    found = device_summary(trace, chosen.batches, chosen.rows)
    if arguments.csv:
        print_csv(summary_table(found))
    elif arguments.json:
        document = summary_document(trace.name, found)
        print(
            json_text("rcv.summary/1", document, about(arguments, trace, waves=chosen.about(), alarm=alarm))
        )
    else:
        _print(trace.name, found, chosen)
    return 0


def _print(name: str, found: DeviceSummary, chosen: ChosenWaves) -> None:
    print(plain(name))
    if chosen.heading:
        print(plain(chosen.heading))
    print_facts([(fact.name.lower(), f"{fact.text}  {fact.of}".rstrip()) for fact in found.facts])
    if found.is_empty:
        print(f"\n{NOTHING}")
    for title, rows in parts(found):
        whole = sum(value for _, value in rows)
        whose = "the traced waves" if chosen.rows is None else chosen.choice.text
        unit = "samples" if title == "stall reasons" else f"cycles of {whose}"
        print("\n" + plain(f"{title[:1].upper()}{title[1:]}, of {count(whole)} {unit}"))
        cells = [(row, count(value), percent(value, whole)) for row, value in rows]
        print_table((Column(""), Column("count", True), Column("share", True)), cells)
    if found.states is None and found.read:
        print(f"\nStates: {NO_PLACE} the waves have no timelines.")
    if found.pipes is not None:
        _print_pipes(found, found.pipes)
    if found.counters is not None and found.counters.bars:
        print("\nHardware counters, share of the busy time; peaks: at the moment of the largest value")
        print_facts([(bar.name, f"{bar.value:.1f} %") for bar in found.counters.bars])
    if found.units is not None:
        _print_units(found.units)


def _print_pipes(found: DeviceSummary, pipes: PipeUse) -> None:
    print("\nShare of the cycles in which a SIMD had a traced wave; of kinds of instruction: cycles of")
    print("issue, and in Other also those of s_endpgm while the last operations of its wave are on the way")
    names = ("issuing", "working", "matrix_busy", "no_issue", "nothing", *pipes.used)
    rows: list[tuple[str, list[int]]] = []  # a SIMD: its cycles, then those of each column
    for place, resident, columns in pipe_rows(found):
        columns["issuing"] = resident - columns["no_issue"]
        rows.append((place, [resident, *(columns[name] for name in names)]))
    rows.append(("all", [sum(column) for column in zip(*(cycles for _, cycles in rows), strict=True)]))
    cells = [
        (place, count(resident), *(percent(cycles, resident) for cycles in parts))
        for place, (resident, *parts) in rows
    ]
    titles = [simd_title(name) for name in ("place", "resident", *names)]
    print_table([Column(title, at > 0) for at, title in enumerate(titles)], cells)


def _print_units(units: UnitTable) -> None:
    print("\nCompute units")
    rows = [[_cell(column.values[row]) for column in units.columns] for row in range(len(units))]
    print_table([Column(column.title, True) for column in units.columns], rows)


def _cell(value: np.generic) -> str:
    plain = plain_number(value)
    if plain is None:
        return ""
    return f"{plain:,.1f}".removesuffix(".0") if isinstance(plain, float) else count(plain)
