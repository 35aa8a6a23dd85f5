"""`rcv causes`: why waves stalled and idled, by cause, by line or by the instruction to blame."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from rcv_py.analysis.attribution.attribute import Attribution, attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.place_text import beside
from rcv_py.base.paths import short_place
from rcv_py.base.text import count, known_percent, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import if_known, in_order, nothing
from rcv_py.cli.options.wait_options import CausesOptions
from rcv_py.cli.places import short_sources, source_of
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.cli.wave_choice import choose_waves, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace

SCHEMA = "rcv.causes/2"
LISTED = 3  # parts of a row that the text shows

_NUMBERS = tuple(Column(name, True) for name in ("stall", "share", "idle", "times"))
_CAUSES = (*_NUMBERS, Column("cause"), Column("because", elastic="right"))
_LINES = (
    Column("line", True),
    *_NUMBERS,
    Column("instruction", elastic="right"),
    Column("source", elastic="left"),
)
_KEY = {"cause": "cause", "line": "line", "producer": "producer"}
_HEAD = (
    "line",
    "text",
    "cause",
    "producer_line",
    "producer",
    "stall",
    "idle",
    "count",
    "source",
    "producer_source",
    "guessed",
)


def run(arguments: CausesOptions) -> int:
    """Print the attribution of a capture as text, CSV or JSON."""
    trace = open_trace(arguments.folder)
    alarm = warn(trace)
    chosen = choose_waves(trace, arguments)
    table = attribution(trace, chosen.batches, chosen.rows)
    if arguments.line is not None:
        table = table.where((table.line == arguments.line) | (table.producer == arguments.line))
    printer = _Printer(trace, table, arguments)
    if arguments.csv:
        sys.stdout.write(csv_text(_HEAD, printer.flat(arguments.top or None)))
    elif arguments.json:
        shown = list(printer.rows(arguments.top or None))
        print(
            json_text(
                SCHEMA,
                printer.document() | {"rows": shown},
                about(arguments, trace, waves=chosen.about(), alarm=alarm),
            )
        )
    else:
        print_heading(chosen)
        printer.print(arguments.top or None, arguments)
    return 0


class _Printer:
    """The rows of a table by one of its columns, each with its parts."""

    def __init__(self, trace: Trace, table: Attribution, arguments: CausesOptions) -> None:
        self.trace, self.table, self.by = trace, table, arguments.by
        self.short = short_sources(trace)
        self.groups = getattr(table, f"by_{self.by}")()
        if arguments.sort:
            self.groups = self._in_order(self.groups, arguments)
        self.keys: np.ndarray = getattr(self.groups, _KEY[self.by])

    def _in_order(self, groups: Attribution, arguments: CausesOptions) -> Attribution:
        columns = {name: getattr(groups, name).tolist() for name in ("stall", "idle", "count", "cycles")}
        columns |= {_KEY[self.by]: getattr(groups, _KEY[self.by]).tolist()}
        rows = [{name: values[at] for name, values in columns.items()} for at in range(len(groups))]
        order = [row["at"] for row in in_order([row | {"at": at} for at, row in enumerate(rows)], arguments)]
        return groups.where(np.array(order, dtype=np.int64))

    def document(self) -> dict[str, Any]:
        """What JSON says besides the rows."""
        table = self.table
        return {
            "capture": self.trace.name,
            "by": self.by,
            "waves": table.waves,
            "totals": if_known(
                {
                    "stall": table.total_stall,
                    "idle": table.total_idle,
                    "explained": _rounded(table.explained),
                    "explained_idle": _rounded(table.explained_idle),
                },
                table.waves > 0,
            ),
            "assumption": table.assumption,
        }

    def rows(self, top: int | None) -> Iterator[dict[str, Any]]:
        """Yield the first rows, each with all its parts, as JSON values."""
        for at, key in enumerate(self.keys[:top].tolist()):
            part = self.parts(key)
            head = self._cause(key) if self.by == "cause" else self._line(key)
            yield {
                **head,
                **self._numbers(self.groups, at),
                "parts": [self._part(part, row) for row in range(len(part))],
            }

    def parts(self, key: int) -> Attribution:
        """The rows of the table that belong to a row."""
        return self.table.where(getattr(self.table, _KEY[self.by]) == key)

    def _part(self, part: Attribution, row: int) -> dict[str, Any]:
        return {
            "cause": Cause(int(part.cause[row])).name.lower(),
            "line": self._line(int(part.line[row])),
            "producer": self._line(int(part.producer[row])) if part.producer[row] >= 0 else None,
            **self._numbers(part, row),
        }

    def _numbers(self, table: Attribution, row: int) -> dict[str, Any]:
        whole = self.table.total_stall
        return {
            "stall": int(table.stall[row]),
            "share": round(int(table.stall[row]) / whole, 6) if whole else None,
            "idle": int(table.idle[row]),
            "count": int(table.count[row]),
            "guessed": int(table.guessed[row]),
        }

    def _cause(self, number: int) -> dict[str, Any]:
        cause = Cause(number)
        text = CAUSE_TEXT[cause]
        return {
            "cause": cause.name.lower(),
            "name": text.name,
            "because": text.sentence,
            "evidence": text.evidence,
            "is_certain": text.is_certain,
        }

    def _line(self, line: int) -> dict[str, Any]:
        if line < 0:
            return {"line": None, "text": "", "source": ""}
        return {"line": line, "text": self.trace.code.text[line], "source": self.source(line)}

    def source(self, line: int) -> str:
        """The innermost place of a code row, "" if it has none."""
        return source_of(self.trace, line)

    def shown(self, line: int) -> str:
        """The same as tables show it."""
        return short_place(self.source(line), self.short)

    def flat(self, top: int | None) -> Iterator[list[Any]]:
        """Yield a row a line, cause and producer, those of the first rows."""
        for row in self.rows(top):
            for part in row["parts"]:
                line, blamed = part["line"], part["producer"] or {"line": None, "text": "", "source": ""}
                numbers = [part[name] for name in ("stall", "idle", "count")]
                names = [line["line"], line["text"], part["cause"], blamed["line"], blamed["text"]]
                yield [*names, *numbers, line["source"], blamed["source"], part["guessed"]]

    def print(self, top: int | None, arguments: CausesOptions) -> None:
        """Print a table, the largest parts below each row."""
        table = self.table
        if not len(table):
            print(self._why_none(arguments))
            return
        columns = _CAUSES if self.by == "cause" else _LINES
        shown = self.keys[:top].tolist()
        print_table(columns, [cells for at, key in enumerate(shown) for cells in self._cells(at, key)])
        stall, idle = count(table.total_stall), count(table.total_idle)
        read = f"{table.waves:,} of " if table.waves < table.of else ""
        print(
            f"\n{known_percent(table.explained)} of {stall} stalled and "
            f"{known_percent(table.explained_idle)} of {idle} idle cycles explained in "
            f"{read}{plural(table.of, 'wave')}."
        )
        print(table.assumption)

    def _cells(self, at: int, key: int) -> Iterator[list[str]]:
        name = self._title(key)
        yield self._row(self.groups, at, *name, is_head=True, key=key)
        part = self.parts(key)
        for row in range(min(LISTED, len(part))):
            yield self._row(part, row, *self._below(part, row), is_head=False, key=int(part.line[row]))

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

    def _row(
        self, table: Attribution, row: int, one: str, other: str, *, is_head: bool, key: int
    ) -> list[str]:
        share = percent(int(table.stall[row]), self.table.total_stall) if self.table.total_stall else ""
        numbers = [
            count(int(table.stall[row])),
            share,
            count(int(table.idle[row])),
            count(int(table.count[row])),
        ]
        if self.by == "cause":
            return [*numbers, one, other]
        return [str(key) if is_head and key >= 0 else "", *numbers, one, other]

    def _why_none(self, arguments: CausesOptions) -> str:
        if not len(self.trace.waves):
            return "The capture has no traced waves, so nothing is known about stalls."
        if not self.table.waves:
            return "No wave could be read; `rcv info --check` says why."
        return nothing("stall and no idle time", arguments, "No wave ever stalled or idled.")


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 6)
