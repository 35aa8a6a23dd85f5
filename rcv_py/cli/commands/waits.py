"""`rcv waits`: what each wait waited for, and the memory latency that waits tell."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

from rcv_py.analysis.waits.wait_summary import WaitSummary, wait_summary
from rcv_py.base.paths import short_place
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import counted, counted_batches, if_known, in_order, nothing
from rcv_py.cli.options.wait_options import WaitsOptions
from rcv_py.cli.places import short_sources, source_of
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.cli.wave_choice import choose_waves, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace

SCHEMA = "rcv.waits/1"
LISTED = 4  # producers of a wait that the text shows

_WAITS = (
    Column("line", True),
    Column("times", True),
    Column("stall", True),
    Column("share", True),
    Column("latency", True),
    Column("instruction", elastic="right"),
    Column("source", elastic="left"),
)
_LATENCIES = (
    Column("line", True),
    *(Column(name, True) for name in ("exact", "bounds", "p10", "median", "p90", "mean")),
    Column("instruction", elastic="right"),
    Column("source", elastic="left"),
)
_HEAD = (
    "line",
    "wait",
    "hits",
    "stall",
    "share",
    "exact",
    "producer_line",
    "producer",
    "n",
    "charged",
    "median_latency",
    "source",
    "wait_source",
)
_LATENCY_HEAD = ("line", "text", "exact", "bounds", "p10", "median", "p90", "mean", "source")
_STATISTICS = ("p10", "median", "p90", "mean")


def run(arguments: WaitsOptions) -> int:
    """Print the waits of a capture, or the latencies, as text, CSV or JSON."""
    trace = open_trace(arguments.folder)
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
    make = _Latencies if arguments.latency else _Waits
    printer = make(trace, summary, len(trace.waves) if rows is None else len(rows))
    found = [row for row in printer.rows(None) if _is_about(row, arguments.line)]
    shown = in_order(found, arguments)[: arguments.top or None]
    if arguments.csv:
        sys.stdout.write(csv_text(printer.head, printer.csv(shown)))
    elif arguments.json:
        document = _document(trace, summary, arguments) | {printer.name: shown}
        waves = None if chosen is None else chosen.about()
        print(json_text(SCHEMA, document, about(arguments, trace, waves=waves, alarm=alarm)))
    else:
        if chosen is not None and summary.waves:
            print_heading(chosen)
        printer.print(shown, arguments)
    return 0


def _is_about(row: dict[str, Any], line: int | None) -> bool:
    """Whether a row is of a line, or waited for it."""
    return line is None or line in (row["line"], *(one["line"] for one in row.get("producers", ())))


def _document(trace: Trace, summary: WaitSummary, arguments: WaitsOptions) -> dict[str, Any]:
    table = summary.blocking
    return {
        "capture": trace.name,
        "wave": arguments.wave,
        "waves": summary.waves,
        "totals": if_known(
            {
                "waits": len(table),
                "hits": int(table.hits.sum()),
                "stall": int(table.stall.sum()),
                "charged": int(table.charged.sum()),
            },
            summary.waves > 0,
        ),
    }


class _Printer:
    """What both tables need: texts and places of code lines, latencies by line."""

    def __init__(self, trace: Trace, summary: WaitSummary, asked: int) -> None:
        self.trace, self.summary, self.asked = trace, summary, asked
        self.short = short_sources(trace)
        self.place = {int(line): row for row, line in enumerate(summary.latency.line.tolist())}

    def source(self, line: int) -> str:
        return source_of(self.trace, line)

    def waves(self) -> str:
        """How many waves were read, and of how many if some could not be."""
        read, asked = self.summary.waves, self.asked
        return plural(read, "wave") if read == asked else f"{read:,} of {plural(asked, 'wave')}"

    def latency(self, line: int) -> dict[str, Any]:
        table, row = self.summary.latency, self.place.get(line)
        if row is None:
            return {"exact": 0, "bounds": 0, **dict.fromkeys(_STATISTICS)}
        numbers = {name: float(getattr(table, name)[row]) for name in _STATISTICS}
        known = {name: None if math.isnan(value) else round(value, 1) for name, value in numbers.items()}
        return {"exact": int(table.exact[row]), "bounds": int(table.censored[row]), **known}


class _Waits(_Printer):
    """Waits by stall, each with what it waited for."""

    name, head = "waits", _HEAD

    def rows(self, top: int | None) -> Iterator[dict[str, Any]]:
        """Yield the first waits as JSON values."""
        table, code = self.summary.blocking, self.trace.code
        whole = max(1, int(table.stall.sum()))
        for row in range(len(table))[:top]:
            line, stall = int(table.line[row]), int(table.stall[row])
            yield {
                "line": line,
                "text": code.text[line],
                "source": self.source(line),
                "hits": int(table.hits[row]),
                "stall": stall,
                "share": round(stall / whole, 6),
                "exact": int(table.blocked[row]),
                "producers": list(self._producers(row, max(1, stall))),
            }

    def _producers(self, row: int, stall: int) -> Iterator[dict[str, Any]]:
        table, part = self.summary.blocking, self.summary.blocking.producers(row)
        columns = (table.producer[part].tolist(), table.n[part].tolist(), table.charged[part].tolist())
        for line, n, charged in zip(*columns, strict=True):
            yield {
                "line": line,
                "text": self.trace.code.text[line],
                "source": self.source(line),
                "n": n,
                "stall": charged,
                "share": round(charged / stall, 6),
                "latency": self.latency(line),
            }

    def csv(self, shown: list[dict[str, Any]]) -> Iterator[list[Any]]:
        """Yield a row a producer; a wait that waited for nothing has one without."""
        for wait in shown:
            head = [wait[name] for name in ("line", "text", "hits", "stall", "share", "exact")]
            for one in wait["producers"]:
                median = one["latency"]["median"]
                numbers = [one["n"], one["stall"], median]
                yield [*head, one["line"], one["text"], *numbers, one["source"], wait["source"]]
            if not wait["producers"]:
                yield [*head, "", "", 0, 0, None, "", wait["source"]]

    def print(self, shown: list[dict[str, Any]], arguments: WaitsOptions) -> None:
        """Print a table, producers below their wait."""
        if not shown:
            print(_why_none(self.trace, self.summary, self.asked, arguments))
            return
        print_table(_WAITS, [cells for wait in shown for cells in self._cells(wait)])
        table = self.summary.blocking
        whole, part = int(table.stall.sum()), sum(wait["stall"] for wait in shown)
        share = f"{percent(part, whole)} of " if whole else ""
        print(
            f"\n{len(shown):,} of {plural(len(table), 'wait')}: {share}{count(whole)} cycles of stall", end=""
        )
        print(f" in {self.waves()}.")
        print(
            "Stall is charged to the newest of what a wait required; latency is the median of exact samples."
        )

    def _cells(self, wait: dict[str, Any]) -> Iterator[list[str]]:
        share = f"{100 * wait['share']:.1f} %"
        yield [
            str(wait["line"]),
            count(wait["hits"]),
            count(wait["stall"]),
            share,
            "",
            wait["text"],
            short_place(wait["source"], self.short),
        ]
        for one in wait["producers"][:LISTED]:
            part = f"{100 * one['share']:.1f} %"
            median = one["latency"]["median"]
            yield [
                str(one["line"]),
                count(one["n"]),
                count(one["stall"]),
                part,
                "" if median is None else f"{median:,.0f}",
                f"  ← {one['text']}",
                short_place(one["source"], self.short),
            ]
        more = len(wait["producers"]) - LISTED
        if more > 0:
            yield ["", "", "", "", "", f"  ← and {plural(more, 'more instruction')}", ""]


class _Latencies(_Printer):
    """Instructions by how often their latency was told exactly."""

    name, head = "latency", _LATENCY_HEAD

    def rows(self, top: int | None) -> Iterator[dict[str, Any]]:
        """Yield the first lines as JSON values."""
        for line in self.summary.latency.line.tolist()[:top]:
            yield {
                "line": line,
                "text": self.trace.code.text[line],
                "source": self.source(line),
                **self.latency(line),
            }

    def csv(self, shown: list[dict[str, Any]]) -> Iterator[list[Any]]:
        """Yield a row an instruction."""
        for row in shown:
            yield [row[name] for name in _LATENCY_HEAD]

    def print(self, shown: list[dict[str, Any]], arguments: WaitsOptions) -> None:
        """Print a table."""
        if not shown:
            print(_why_none(self.trace, self.summary, self.asked, arguments))
            return
        rows = []
        for row in shown:
            numbers = ["" if row[name] is None else f"{row[name]:,.0f}" for name in _STATISTICS]
            head = [str(row["line"]), count(row["exact"]), count(row["bounds"])]
            rows.append([*head, *numbers, row["text"], short_place(row["source"], self.short)])
        print_table(_LATENCIES, rows)
        lines = plural(len(self.summary.latency), "instruction")
        print(f"\n{len(shown):,} of {lines} in {self.waves()}, cycles from issue to result.")
        print("Exact: a wait stalled until the result was there.  Bounds: it had come back before.")


def _why_none(trace: Trace, summary: WaitSummary, asked: int, arguments: WaitsOptions) -> str:
    if not len(trace.waves):
        return "The capture has no traced waves, so nothing is known about waits."
    if not asked:
        return nothing("wave", arguments, "No wave touches this range.")
    if not summary.waves:
        return "No wave could be read; `rcv info --check` says why."
    return nothing("wait", arguments, "No wave waited for an operation of memory, LDS or messages.")
