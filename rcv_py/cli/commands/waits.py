"""`rcv waits`: what each wait waited for, and the memory latency that waits tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rcv_py.analysis.waits.wait_latency import WaitSummary, wait_summary
from rcv_py.base.paths import short_place
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import counted, counted_batches, if_known, most_nested, nothing
from rcv_py.cli.options.wait_options import WaitsOptions
from rcv_py.cli.report import Column, json_text, print_table
from rcv_py.cli.results import print_csv, print_result
from rcv_py.cli.wave_choice import choose_waves, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.results.places import short_sources
from rcv_py.results.table import Table
from rcv_py.results.waits import (
    SHARE_OF_STALL,
    STALL,
    TIMES,
    WAITS,
    flat_table,
    latency_documents,
    latency_table,
    totals,
    wait_documents,
    wait_table,
    waits_about,
)

SCHEMA = "rcv.waits/1"
LISTED = 4  # producers of a wait that the text shows

_COLUMNS = (
    Column("line", True),
    *(Column(field.title, True) for field in (TIMES, STALL, SHARE_OF_STALL)),
    Column("latency", True),
    Column("instruction", elastic="right"),
    Column("source", elastic="left"),
)


def run(arguments: WaitsOptions) -> int:
    """Print the waits of a capture, or the latencies, as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    alarm = warn(trace)
    chosen = None
    if arguments.wave is None or arguments.waves is not None:
        chosen = choose_waves(trace, arguments)
        rows, read = chosen.touching(arguments.clock), chosen.batches
    else:
        rows, inside = {trace.wave_row(arguments.wave)}, counted(trace, arguments.clock)
        rows = rows if inside is None else rows & inside
        read = tuple(counted_batches(trace, rows))
    summary = wait_summary(trace, read, rows)
    table, shown = _chosen(trace, summary, arguments)
    if arguments.csv:
        print_csv(table[shown] if arguments.latency else flat_table(trace, summary, shown))
    elif arguments.json:
        document: dict[str, Any] = {"capture": trace.name, "wave": arguments.wave, "waves": summary.waves}
        document["totals"] = if_known(totals(summary), summary.waves > 0)
        if arguments.latency:
            document["latency"] = latency_documents(table[shown])
        else:
            document["waits"] = wait_documents(trace, summary, shown, most_nested(arguments))
        waves = None if chosen is None else chosen.about()
        print(json_text(SCHEMA, document, about(arguments, trace, waves=waves, alarm=alarm)))
    else:
        if chosen is not None and summary.waves:
            print_heading(chosen)
        of = len(trace.waves) if rows is None else len(rows)
        if not len(shown):
            print(_why_none(trace, summary, of, arguments))
        elif arguments.latency:
            _print_latencies(trace, summary, table[shown], of)
        else:
            _print_waits(trace, summary, shown, of)
    return 0


def _chosen(trace: Trace, summary: WaitSummary, arguments: WaitsOptions) -> tuple[Table, np.ndarray]:
    """Return the table, and which of its rows are shown, in their order."""
    line = arguments.line
    if arguments.latency:
        table, rows = latency_table(trace, summary), np.arange(len(summary.latency))
        rows = rows if line is None else np.flatnonzero(summary.latency.line == line)
    else:
        table, rows = wait_table(trace, summary), waits_about(summary, line)
    if arguments.sort:
        rows = rows[table[rows].order(arguments.sort, descending=not arguments.ascending)]
    return table, rows[: arguments.top or None]


def _waves(summary: WaitSummary, of: int) -> str:
    """How many waves were read, and of how many if some could not be."""
    read = summary.waves
    return plural(read, "wave") if read == of else f"{read:,} of {plural(of, 'wave')}"


def _print_waits(trace: Trace, summary: WaitSummary, shown: np.ndarray, of: int) -> None:
    """Print a table, producers below their wait."""
    waits, short, table = wait_documents(trace, summary, shown), short_sources(trace), summary.blocking
    print_table(_COLUMNS, [cells for wait in waits for cells in _cells(wait, short)])
    whole, part = int(table.stall.sum()), int(table.stall[shown].sum())
    share = f"{percent(part, whole)} of " if whole else ""
    print(
        f"\n{len(shown):,} of {plural(len(table), 'wait')}: {share}{count(whole)} cycles of stall in "
        f"{_waves(summary, of)}."
    )
    print("Stall is charged to the newest of what a wait required; latency is the median of exact samples.")


def _cells(wait: dict[str, Any], short: dict[str, str]) -> Iterator[list[str]]:
    yield _row(wait, wait["hits"], wait["text"], short)
    for one in wait["producers"][:LISTED]:
        yield _row(one, one["n"], f"  ← {one['text']}", short, one["latency"]["median"])
    more = len(wait["producers"]) - LISTED
    if more > 0:
        yield ["", "", "", "", "", f"  ← and {plural(more, 'more instruction')}", ""]


def _row(
    one: dict[str, Any], times: int, text: str, short: dict[str, str], median: float | None = None
) -> list[str]:
    return [
        str(one["line"]),
        count(times),
        count(one["stall"]),
        SHARE_OF_STALL.text(one["share"]),
        "" if median is None else f"{median:,.0f}",
        text,
        short_place(one["source"], short),
    ]


def _print_latencies(trace: Trace, summary: WaitSummary, table: Table, of: int) -> None:
    print_result(table, trace)
    lines = plural(len(summary.latency), "instruction")
    print(f"\n{len(table):,} of {lines} in {_waves(summary, of)}, cycles from issue to result.")
    print("Exact: a wait stalled until the result was there.  Bounds: it had come back before.")


def _why_none(trace: Trace, summary: WaitSummary, of: int, arguments: WaitsOptions) -> str:
    if not len(trace.waves):
        return "The capture has no traced waves, so nothing is known about waits."
    if not of:
        return nothing("wave", arguments, "No wave touches this range.")
    if not summary.waves:
        return "No wave could be read; `rcv info --check` says why."
    return nothing("wait", arguments, WAITS.nothing)
