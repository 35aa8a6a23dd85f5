"""`rcv source`: source files ranked, a file with what its lines cost, or the instructions of one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rcv_py.analysis.attribution.attribute import attribution
from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns, cost_columns
from rcv_py.analysis.cost.source_costs import Reasons, SourceLines, reasons, source_lines
from rcv_py.analysis.waves.populations import ALL
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.opening import batches
from rcv_py.cli.options.cost_options import SourceOptions
from rcv_py.cli.report import Column, json_text, plain, print_table, print_wrapped
from rcv_py.cli.results import print_csv, print_result
from rcv_py.cli.source_files import find_place
from rcv_py.cli.wave_choice import ChosenWaves, counted_trace, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.modes import LatencyMode, SourceCost
from rcv_py.model.trace import Trace
from rcv_py.results.field import At
from rcv_py.results.source import file_table, instruction_table, line_table, text_of
from rcv_py.results.table import Table

SCHEMA = "rcv.source/1"
TOP = {"files": 20, "lines": 10, "instructions": 20}
CONTEXT = 3
_GAP = "⋮"


@dataclass(frozen=True, eq=False)
class _Shown:
    """What all three forms are printed from."""

    arguments: SourceOptions
    trace: Trace
    costs: CostColumns
    lines: SourceLines
    place: tuple[int, int]  # file, -1 for all of them, and line, 0 for all of it
    table: Table  # every row

    @property
    def kind(self) -> str:
        """What a row is."""
        file, line = self.place
        return "files" if file < 0 else "instructions" if line else "lines"

    @property
    def top(self) -> int:
        """How many rows are wanted, 0 for all."""
        return TOP[self.kind] if self.arguments.top is None else self.arguments.top


def run(arguments: SourceOptions) -> int:
    """Print one of the three forms as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    alarm = warn(trace)
    trace, chosen = counted_trace(trace, arguments)
    file, line = find_place(trace.sources, arguments.place) if arguments.place else (-1, 0)
    shown = _shown(trace, arguments, chosen, (file, line))
    table = shown.table.head(shown.top)
    if arguments.csv:
        print_csv(table)
    elif arguments.json:
        document = {
            "capture": trace.name,
            "kind": shown.kind,
            "file": trace.sources[file].path if file >= 0 else None,
            "line": line or None,
            "inlined": arguments.inlined,
            "measure": shown.costs.label,
            "whole": shown.lines.whole,
            "unmapped": shown.lines.unmapped,
            "of": len(shown.table),
            "rows": table.rows(),
        }
        waves = None if chosen is None else chosen.about()
        print(json_text(SCHEMA, document, about(arguments, trace, waves=waves, alarm=alarm)))
    else:
        if chosen is not None:
            print_heading(chosen)
        _print(shown, table)
    return 0


def _shown(
    trace: Trace, arguments: SourceOptions, chosen: ChosenWaves | None, place: tuple[int, int]
) -> _Shown:
    file, line = place
    costs = cost_columns(trace.code, LatencyMode.SUM_ALL, None, None)
    how = SourceCost.INCLUSIVE if arguments.inlined else SourceCost.SELF
    why = _why(trace, arguments, chosen)
    lines = source_lines(trace.code, costs, how, why)
    if file < 0:
        table = file_table(trace, costs, lines, how, why)
    elif line:
        table = instruction_table(trace, costs, place, how, why)
    else:
        table = line_table(trace, costs, lines, lines.ranked(file))
    return _Shown(arguments, trace, costs, lines, place, table)


def _why(trace: Trace, arguments: SourceOptions, chosen: ChosenWaves | None) -> Reasons | None:
    if not len(trace.waves) or arguments.no_causes:
        causes = None
    elif chosen is None:
        causes = attribution(trace, batches(trace))
    else:
        causes = attribution(trace, chosen.batches, chosen.rows)
    return reasons(trace.code, causes)


def _print(shown: _Shown, table: Table) -> None:
    trace, (file, line) = shown.trace, shown.place
    if shown.kind != "files":
        source = trace.sources[file]
        print(plain(source.path))
        if source.lines is None:
            print_wrapped(source.note or "The capture has no copy of it.")
        print()
    if shown.kind == "instructions":
        _print_lines(shown, file, [line])
        print()
    if not len(table):
        print(_why_none(shown))
        return
    if shown.kind == "lines":
        _print_lines(shown, file, table.plain("line"))
    else:
        print_result(_without_empty(table), trace)
    print()
    print_wrapped(_footer(shown, len(table)))


def _without_empty(table: Table) -> Table:
    """Return the table without causes and frames if no row has any."""
    names = ("cause", "inlined_into")
    empty = [name for name in names if name in table.columns and not any(table.plain(name))]
    return Table(table.spec.hide(At.TEXT, *empty), table.columns)


def _print_lines(shown: _Shown, file: int, wanted: Sequence[int]) -> None:
    """Print the wanted lines in the order of the file, with lines around them, gaps marked."""
    trace, lines = shown.trace, shown.lines
    known = {int(lines.line[row]): row for row in lines.lines_of(file)}
    near = list(_around(shown, file, wanted))
    rows = [known[line] for line in near if line in known]
    table = _without_empty(line_table(trace, shown.costs, lines, rows))
    fields = table.fields(At.TEXT)
    cells = dict(zip(table.plain("line"), table.cells(At.TEXT), strict=True))
    printed: list[list[str]] = []
    for before, line in zip([None, *near], near, strict=False):
        if before is not None and line != before + 1:
            printed.append([_GAP if field.name == "text" else "" for field in fields])
        empty = [text_of(trace, file, line) if field.name == "text" else "" for field in fields]
        mark = "> " if line in wanted and len(wanted) == 1 else ""
        printed.append([f"{mark}{line}", *cells.get(line, empty)[1:]])
    print_table([Column(field.title, field.is_number, field.elastic) for field in fields], printed)


def _around(shown: _Shown, file: int, wanted: Sequence[int]) -> Iterator[int]:
    context = CONTEXT if shown.arguments.context is None else shown.arguments.context
    text = shown.trace.sources[file].lines
    if text is None:
        yield from sorted(wanted)
        return
    near = {at for line in wanted for at in range(line - context, line + context + 1) if line}
    yield from sorted({at for at in near if 1 <= at <= len(text)} | set(wanted))


def _footer(shown: _Shown, count_shown: int) -> str:
    trace, lines, arguments = shown.trace, shown.lines, shown.arguments
    whose = "all waves" if arguments.waves in (None, ALL) else "these waves"
    what = "samples" if shown.costs.label == SAMPLES else f"cycles of latency and idle time of {whose}"
    rows = plural(len(shown.table), shown.table.spec.noun)
    text = f"{count_shown:,} of {rows}. Shares are of {count(lines.whole)} {what}"
    text += (
        f", of which {percent(lines.unmapped, lines.whole)} have no source place." if lines.unmapped else "."
    )
    lost = sum(map(bool, shown.table.plain("note"))) if shown.kind == "files" else 0
    if lost:
        text += f" There is no copy of the text of {plural(lost, 'file')}."
    if not arguments.inlined:
        return text
    if int((trace.code.chain_first[1:] - trace.code.chain_first[:-1]).max(initial=0)) < 2:
        return f"{text} No instruction was inlined, so --inlined changes nothing."
    return f"{text} Lines hold what was inlined into them, so shares can add up to more than the whole."


def _why_none(shown: _Shown) -> str:
    code = shown.trace.code
    if not shown.costs.cost.any():
        return "No instruction has any cycles."
    if not len(code.chain_file):
        return "No instruction has a source place: compile with line tables (-g, -gline-tables-only)."
    return (
        "No instruction comes from this line."
        if shown.kind == "instructions"
        else "None of its lines has a cost."
    )
