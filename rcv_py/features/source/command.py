"""`rcv source`: source files ranked, a file with what its lines cost, or the instructions of one line."""

from collections.abc import Iterator, Sequence

import numpy as np

from rcv_py.analysis.attribution.attribute import ATTRIBUTION
from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns, cost_columns
from rcv_py.analysis.cost.source_costs import SourceLines, reasons, source_lines
from rcv_py.base.errors import UsageError
from rcv_py.base.record import Record
from rcv_py.base.text import MAX_DIGITS, Message, count, percent, plural, short_paths, some
from rcv_py.cli.answer import CommandAnswer, Part, TextColumn, TextGrid, TextTable, heading, listing
from rcv_py.cli.opening import ChosenWaves, counted_waves, opened
from rcv_py.features.source.options import SourceOptions
from rcv_py.features.source.result import SCHEMA, file_table, instruction_table, line_table, text_of
from rcv_py.features.source.static_result import SCHEMA as PROGRAM_SCHEMA
from rcv_py.features.source.static_result import program_lines
from rcv_py.model.code import SourceFile
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import NOT_RUN, Trace
from rcv_py.results.common import known
from rcv_py.results.field import ShownIn
from rcv_py.results.table import ResultTable

TOP = {"files": 20, "lines": 10, "instructions": 20}
CONTEXT = 3
MAX_NAMES = 5  # of files in a hint
_GAP = "⋮"


class _Costs(Record, kw_only=True):
    """The common inputs of all three forms."""

    options: SourceOptions
    trace: Trace
    costs: CostColumns
    lines: SourceLines
    file: int  # -1 for all of them
    line: int  # 0 for all of them
    table: ResultTable  # every row

    @property
    def kind(self) -> str:
        return "files" if self.file < 0 else "instructions" if self.line else "lines"


def run(options: SourceOptions) -> CommandAnswer:
    """Return one of the three forms, or open the place in an editor."""
    if options.edit:
        return _edited(options)
    waves = counted_waves(options, () if options.no_causes else (ATTRIBUTION,))
    trace = waves.trace
    file, line = find_place(trace.sources, options.place) if options.place else (-1, 0)
    if trace.is_static:
        return _program(trace, options, program_lines(trace, file, line))
    made = _costs(waves, options, file, line)
    table = made.table.sorted(options.sort, descending=not options.ascending)
    shown = table.head(options.top if "top" in options.given else TOP[made.kind])
    return CommandAnswer.of_table(
        SCHEMA,
        shown,
        lambda: [*heading(waves), *_text(made, shown, waves.whose)],
        lambda: {
            "kind": made.kind,
            "file": trace.sources[file].path if file >= 0 else None,
            "source_line": line or None,
            "is_inlined": options.inlined,
            "measure": made.costs.label,
            **known({"total": made.lines.whole, "unmapped": made.lines.unmapped}, len(trace.code) > 0),
            "total_rows": len(made.table),
        },
        of=waves,
    )


def _program(trace: Trace, options: SourceOptions, table: ResultTable) -> CommandAnswer:
    """Lines of a program that has not run, or the instructions of one."""
    noun = table.spec.noun

    def footer(shown: ResultTable) -> str:
        return Message("\n{0} of {1}. {2}", count(len(shown)), plural(len(table), noun), NOT_RUN)

    document = {"kind": "lines" if noun == "source line" else "instructions"}
    shown, why = table if "top" in options.given else table.head(TOP["files"]), table.spec.nothing
    why_none = "" if len(table) else why
    return listing(options, trace, shown, PROGRAM_SCHEMA, lambda: document, footer=footer, why_none=why_none)


def _edited(options: SourceOptions) -> CommandAnswer:
    """Open the place in an editor and report the file; without a line, open its start."""
    import os  # noqa: PLC0415 - who reads numbers does not wait for it

    from rcv_py.base.machine.editors import is_in_terminal, start, usual, words_for  # noqa: PLC0415 - as above
    from rcv_py.formats.raw.options import chosen  # noqa: PLC0415 - as above
    from rcv_py.formats.uiout.local_sources import local_file  # noqa: PLC0415 - as above

    trace = opened(options)
    file, line = find_place(trace.sources, options.place or "")
    path = trace.sources[file].path
    here = local_file(path, chosen().source_map)
    if here is None:
        what = Message("There is no source file {0} on this machine.", path)
        raise UsageError(what, hint="Say where it lies: --source-map FROM=TO.")
    template = options.editor or usual(os.environ, in_terminal=True)
    if not template:
        raise UsageError("No editor was found.", hint="Name one: --editor code, or $RCV_EDITOR.")
    start(words_for(template, here, line), waits=is_in_terminal(template))
    said = f"{here}:{line}\n" if line else f"{here}\n"
    return CommandAnswer(schema=SCHEMA, document=dict, forms={"edit": lambda: said}, of=trace)


def _costs(waves: ChosenWaves, options: SourceOptions, file: int, line: int) -> _Costs:
    trace = waves.trace
    costs = cost_columns(trace.code)
    how = SourceCost.INCLUSIVE if options.inlined else SourceCost.SELF
    why = reasons(trace.code, waves.of(ATTRIBUTION) if len(trace.waves) and not options.no_causes else None)
    lines = source_lines(trace.code, costs, how, why)
    if file < 0:
        table = file_table(trace, costs, lines, how, why)
    elif line:
        table = instruction_table(trace, costs, (file, line), how, why)
    else:
        table = line_table(trace, costs, lines, lines.ranked(file))
    return _Costs(options=options, trace=trace, costs=costs, lines=lines, file=file, line=line, table=table)


def _text(made: _Costs, table: ResultTable, whose: str) -> Iterator[Part]:
    if made.kind != "files":
        source = made.trace.sources[made.file]
        yield source.path
        if source.lines is None:
            yield source.note or "The capture has no copy of it."
        yield ""
    if made.kind == "instructions":
        yield from (_lines(made, [made.line]), "")
    if not len(table):
        yield _why_none(made)
        return
    if made.kind == "lines":
        yield _lines(made, table.plain("source_line"))
    else:
        yield TextTable(_without_empty(table), made.trace)
    yield Message("\n{0}", _footer(made, len(table), whose))


def _without_empty(table: ResultTable) -> ResultTable:
    """Return the table without causes and frames if no row has any."""
    names = [name for name in ("cause", "inlined_into") if name in table.columns]
    empty = [name for name in names if not any(table.plain(name))]
    return ResultTable(table.spec.hide(ShownIn.TEXT, *empty), table.columns)


def _lines(made: _Costs, wanted: Sequence[int]) -> TextGrid:
    """The requested lines in the order of the file, with context lines, gaps marked."""
    trace, lines, file = made.trace, made.lines, made.file
    known = {int(lines.line[row]): row for row in lines.lines_of(file)}
    near = sorted(wanted)
    if (text := trace.sources[file].lines) is not None:
        context = CONTEXT if made.options.context is None else made.options.context
        around = {at for line in wanted for at in range(line - context, line + context + 1) if line}
        near = sorted({at for at in around if 1 <= at <= len(text)} | set(wanted))
    rows_near = [known[line] for line in near if line in known]
    table = _without_empty(line_table(trace, made.costs, lines, rows_near))
    fields = table.fields(ShownIn.TEXT)
    cells = dict(zip(table.plain("source_line"), table.cells(ShownIn.TEXT), strict=True))
    rows: list[list[str]] = []
    for before, line in zip([None, *near], near, strict=False):
        if before is not None and line != before + 1:
            rows.append([_GAP if field.name == "text" else "" for field in fields])
        empty = [text_of(trace, file, line) if field.name == "text" else "" for field in fields]
        mark = "> " if line in wanted and len(wanted) == 1 else ""
        rows.append([f"{mark}{line}", *cells.get(line, empty)[1:]])
    return TextGrid([TextColumn(field.title, field.is_number, field.kind.elastic) for field in fields], rows)


def _footer(made: _Costs, shown: int, whose: str) -> str:
    lines, code = made.lines, made.trace.code
    cycles = Message("cycles of latency and idle time of {0}", whose)
    what = "samples" if made.costs.label == SAMPLES else cycles
    rows = plural(len(made.table), made.table.spec.noun)
    text = Message("{0:,} of {1}. Shares are of {2} {3}", shown, rows, count(lines.whole), what)
    unmapped = Message(", of which {0} have no source place.", percent(lines.unmapped, lines.whole))
    text += unmapped if lines.unmapped else "."
    lost = sum(map(bool, made.table.plain("note"))) if made.kind == "files" else 0
    if lost:
        text += Message(" There is no copy of the text of {0}.", plural(lost, "file"))
    if not made.options.inlined:
        return text
    if int(np.diff(code.chain_first).max(initial=0)) < 2:
        return Message("{0} No instruction was inlined, so --inlined changes nothing.", text)
    sums = "{0} Lines hold what was inlined into them, so shares can add up to more than the total."
    return Message(sums, text)


def _why_none(made: _Costs) -> str:
    if not made.costs.cost.any():
        return "No instruction has any cycles."
    if not len(made.trace.code.chain_file):
        return "No instruction has a source place: compile with line tables (-g, -gline-tables-only)."
    if made.kind == "instructions":
        return "No instruction comes from this line."
    return "None of its lines has a cost."


def find_place(sources: Sequence[SourceFile], text: str) -> tuple[int, int]:
    """Return the file and the line (0: none) of `kernel.py`, `kernels/kernel.py` or `kernel.py:62`.

    A path may be given from its end.  Raise UsageError if no file or several fit.
    """
    path, _, number = text.rpartition(":")
    fits = _fitting(sources, text)
    line = 0
    if not fits and path and number.isascii() and number.isdigit() and len(number) <= MAX_DIGITS:
        fits, line = _fitting(sources, path), int(number)
    files = [sources[file] for file in fits] or sources
    names = some(list(short_paths(source.path for source in files).values()), MAX_NAMES)
    if not fits:
        hint = Message("There are {0}.", names) if sources else "No instruction has a source place."
        raise UsageError(Message("No instruction comes from a file {0!r}.", text), hint=hint)
    if len(fits) > 1:
        what = Message("{0} names {1:,} files.", text, len(fits))
        raise UsageError(what, hint=Message("Add a folder: {0}.", names))
    lines = files[0].lines
    if line and lines is not None and line > len(lines):
        last = Message("The last one is {0:,}.", len(lines))
        raise UsageError(Message("{0} has no line {1:,}.", path, line), hint=last)
    return fits[0], line


def _fitting(sources: Sequence[SourceFile], path: str) -> list[int]:
    exact = [file for file, source in enumerate(sources) if source.path == path]
    wanted = _parts(path)
    if exact or not wanted:
        return exact
    return [file for file, source in enumerate(sources) if _parts(source.path)[-len(wanted) :] == wanted]


def _parts(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
