"""`rcv causes`: why waves stalled and idled, by cause, by line or by the instruction to blame."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.attribution.attribute import Attribution, attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.place_text import beside, source_of
from rcv_py.base.paths import short_place
from rcv_py.base.text import count, known_percent, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import most_nested, nothing
from rcv_py.cli.options.wait_options import CausesOptions
from rcv_py.cli.report import Column, json_text, print_table
from rcv_py.cli.results import print_csv
from rcv_py.cli.wave_choice import choose_waves, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.results.causes import (
    BY,
    SHARE_OF_STALL,
    TIMES,
    cause_table,
    documents,
    facts,
    flat_table,
    in_order,
)
from rcv_py.results.common import IDLE, STALL
from rcv_py.results.places import short_sources

SCHEMA = "rcv.causes/2"
LISTED = 3  # parts of a row that the text shows

_NUMBERS = tuple(Column(field.title, True) for field in (STALL, SHARE_OF_STALL, IDLE, TIMES))
_CAUSES = (*_NUMBERS, Column("cause"), Column("because", elastic="right"))
_LINES = (
    Column("line", True),
    *_NUMBERS,
    Column("instruction", elastic="right"),
    Column("source", elastic="left"),
)


def run(arguments: CausesOptions) -> int:
    """Print the attribution of a capture as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    alarm = warn(trace)
    chosen = choose_waves(trace, arguments)
    table = attribution(trace, chosen.batches, chosen.rows)
    if arguments.line is not None:
        table = table.where((table.line == arguments.line) | (table.producer == arguments.line))
    groups = getattr(table, f"by_{arguments.by}")()
    if arguments.sort:
        whole = cause_table(trace, groups, arguments.by, table.total_stall)
        groups = in_order(groups, whole, arguments.sort, descending=not arguments.ascending)
    groups = groups.where(np.arange(len(groups))[: arguments.top or None])
    if arguments.csv:
        print_csv(flat_table(trace, table, groups, arguments.by))
    elif arguments.json:
        rows = documents(trace, table, groups, arguments.by, most_nested(arguments))
        document = {"capture": trace.name, "by": arguments.by} | facts(table) | {"rows": rows}
        print(json_text(SCHEMA, document, about(arguments, trace, waves=chosen.about(), alarm=alarm)))
    else:
        print_heading(chosen)
        _Printer(trace, table, groups, arguments).print()
    return 0


class _Printer:
    """The rows of a table by one of its columns, with the largest parts below each."""

    def __init__(
        self, trace: Trace, table: Attribution, groups: Attribution, arguments: CausesOptions
    ) -> None:
        self.trace, self.table, self.groups, self.arguments = trace, table, groups, arguments
        self.by = arguments.by
        self.short = short_sources(trace)

    def print(self) -> None:
        """Print a table, the largest parts below each row."""
        table = self.table
        if not len(table):
            print(self._why_none())
            return
        columns = _CAUSES if self.by == "cause" else _LINES
        keys = getattr(self.groups, self.by).tolist()
        print_table(columns, [cells for at, key in enumerate(keys) for cells in self._cells(at, key)])
        stall, idle = count(table.total_stall), count(table.total_idle)
        read = f"{table.waves:,} of " if table.waves < table.of else ""
        print(
            f"\n{known_percent(table.explained)} of {stall} stalled and "
            f"{known_percent(table.explained_idle)} of {idle} idle cycles explained in "
            f"{read}{plural(table.of, 'wave')}."
        )
        print(table.assumption)

    def shown(self, line: int) -> str:
        """The source place of a row of code as tables show it."""
        return short_place(source_of(self.trace, line), self.short)

    def _cells(self, at: int, key: int) -> Iterator[list[str]]:
        yield self._row(self.groups, at, *self._title(key), key=key)
        part = self.table.where(getattr(self.table, self.by) == key)
        for row in range(min(LISTED, len(part))):
            yield self._row(part, row, *self._below(part, row), key=-1)

    def _title(self, key: int) -> tuple[str, str]:
        if self.by == "cause":
            return CAUSE_TEXT[Cause(key)].name, CAUSE_TEXT[Cause(key)].sentence
        return (self.trace.code.text[key], self.shown(key)) if key >= 0 else ("(no known instruction)", "")

    def _below(self, part: Attribution, row: int) -> tuple[str, str]:
        line, blamed = int(part.line[row]), int(part.producer[row])
        text, cause = self.trace.code.text, CAUSE_TEXT[Cause(int(part.cause[row]))].name
        arrow = " ← perhaps" if part.is_guess[row] else " ←"
        by = f"{arrow} {blamed} {text[blamed]}" if blamed >= 0 else ""
        own = f"{line} {text[line]}" if line >= 0 else "(no instruction)"
        if self.by == "cause":
            return "", f"  {own}{beside(self.trace, line)}{by}{beside(self.trace, blamed)}"
        if self.by == "line":
            return f"  {cause}{by}", self.shown(blamed)
        return f"  → {'perhaps ' if part.is_guess[row] else ''}{own}: {cause}", self.shown(line)

    def _row(self, table: Attribution, row: int, one: str, other: str, *, key: int) -> list[str]:
        share = percent(int(table.stall[row]), self.table.total_stall) if self.table.total_stall else ""
        numbers = [
            count(int(table.stall[row])),
            share,
            count(int(table.idle[row])),
            count(int(table.count[row])),
        ]
        if self.by == "cause":
            return [*numbers, one, other]
        return [str(key) if key >= 0 else "", *numbers, one, other]

    def _why_none(self) -> str:
        if not len(self.trace.waves):
            return "The capture has no traced waves, so nothing is known about stalls."
        if not self.table.waves:
            return "No wave could be read; `rcv info --check` says why."
        return nothing("stall and no idle time", self.arguments, BY[self.by].nothing)
