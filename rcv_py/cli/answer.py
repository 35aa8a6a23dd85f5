"""What a command answers, and how that is printed: as aligned text, CSV, JSON or in another form."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, Self, TypeVar

from msgspec import field
from msgspec.structs import replace

from rcv_py import __version__
from rcv_py.analysis.core.search import find
from rcv_py.base import text as words
from rcv_py.base.csv_text import csv_text
from rcv_py.base.record import Value
from rcv_py.base.text import Message, translated
from rcv_py.base.whole_files import whole_file
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.opening import ChosenWaves, all_captures
from rcv_py.cli.options.option import EVER, FORM, Options, written
from rcv_py.cli.options.shared import ALL, Matched, OfCaptures, RowOptions
from rcv_py.cli.terminal import at_words, bold, link_sources, width_of
from rcv_py.model.trace import Trace
from rcv_py.results.field import TEXT
from rcv_py.results.places import with_short_sources
from rcv_py.results.table import ResultTable, Schema

GAP = "  "
NARROWEST = 12  # characters that an elastic column keeps
ARROW = " ← "  # separates an instruction from its producer
NAME = 24  # characters kept of a name that is neither a path nor a long text
_STEPS = ((False, GAP), (True, GAP), (True, " "))  # whether headings are in lines of one word, and the gap


class TextColumn(Value):
    """How a column is printed: numbers to the right; `elastic` is the end that may be cut to fit."""

    title: str
    is_number: bool = False
    elastic: str = ""  # "", "left" (paths keep their end) or "right"
    is_data: bool = False  # its texts come from the capture and are never translated


def plain(text: object) -> str:
    """Return the text on one line, with escapes for control characters that a capture could smuggle in."""
    return words.visible(" ".join(str(text).split("\n")).expandtabs(4))


def tables(
    columns: Sequence[TextColumn], rows: Iterable[Sequence[object]], width: int | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield aligned tables of all columns: how many lines the headings take, and all lines.

    No line is longer than `width`: paths are cut first, then other texts; then headings of several words take
    several lines, gaps get narrower, and finally columns move to further tables, each with the first column.
    """
    texts = [[plain(cell) for cell in row] for row in rows]
    cells = [[row[at] for row in texts] for at in range(len(columns))]
    longest = [max(map(words.cells, column), default=0) for column in cells]
    rest = list(zip(columns, longest, cells, strict=True))
    while rest:
        for count in range(len(rest), 0, -1):
            heads, widths, gap = _layout(rest[:count], width)
            if width is None or _size(widths, gap) <= width or count <= 2:
                break
        height = max(map(len, heads))
        stacked = [[""] * (height - len(head)) + head for head in heads]
        lines = zip(*(head + own for head, (_, _, own) in zip(stacked, rest, strict=False)), strict=True)
        chosen = [column for column, _, _ in rest[:count]]
        yield height, [_line(chosen, line, widths, gap) for line in lines]
        rest = [rest[0], *rest[count:]] if count < len(rest) else []


def _size(widths: Sequence[int], gap: str) -> int:
    return sum(widths) + len(gap) * (len(widths) - 1)


def _layout(
    columns: Sequence[tuple[TextColumn, int, list[str]]], width: int | None
) -> tuple[list[list[str]], list[int], str]:
    """The first layout that fits, or the narrowest: headings in lines, widths of columns, and the gap."""
    chosen = [column for column, _, _ in columns]
    for is_stacked, gap in _STEPS if width is not None else _STEPS[:1]:
        heads = [column.title.split(" ") if is_stacked else [column.title] for column in chosen]
        sizes = (size for _, size, _ in columns)
        widths = [max(size, *map(words.cells, head)) for head, size in zip(heads, sizes, strict=True)]
        if width is not None:
            widths = _fitted(chosen, widths, width - len(gap) * (len(chosen) - 1))
        if width is None or _size(widths, gap) <= width:
            break
    return heads, widths, gap


def _fitted(columns: Sequence[TextColumn], full: list[int], width: int) -> list[int]:
    """Take what is more than `width` from paths, then from all elastic columns, then from other texts."""
    fitted = list(full)
    stages = (
        ([i for i, column in enumerate(columns) if column.elastic == "left"], NARROWEST),
        ([i for i, column in enumerate(columns) if column.elastic], NARROWEST),
        ([i for i, column in enumerate(columns) if not column.is_number], NAME),
    )
    for chosen, floor in stages:
        while sum(fitted) > width:
            wide = [i for i in chosen if fitted[i] > floor]
            if not wide:
                break
            fitted[max(wide, key=lambda i: fitted[i])] -= 1
    return fitted


def _line(columns: Sequence[TextColumn], row: Sequence[str], widths: Sequence[int], gap: str) -> str:
    cells = []
    for column, cell, width in zip(columns, row, widths, strict=True):
        short = cell
        if words.cells(cell) > width:  # as few are
            short = words.elide_left(cell, width) if column.elastic == "left" else _short(cell, width)
        cells.append(words.padded(short, width, is_right=column.is_number))
    return gap.join(cells).rstrip()


def _short(cell: str, width: int) -> str:
    """Cut a text at its end; in `what ← producer` the part before the arrow is cut first."""
    before, arrow, after = cell.partition(ARROW)
    if not arrow:
        return words.elide_right(cell, width)
    kept = max(NARROWEST, width - len(arrow) - words.cells(after))
    if kept >= words.cells(before):
        return words.elide_right(cell, width)
    return words.elide_right(words.elide_right(before, kept) + arrow + after, width)


def print_table(columns: Sequence[TextColumn], rows: Iterable[Sequence[object]]) -> None:
    """Print an aligned table that fits the screen; a column of paths without any path is omitted."""
    stream, cells = sys.stdout, list(rows)
    if not words.is_english():
        columns, cells = _translated(columns, cells)
    is_path = [column.elastic == "left" for column in columns]
    kept = [i for i, path in enumerate(is_path) if not cells or not path or any(str(row[i]) for row in cells)]
    shown, cells = [columns[i] for i in kept], [[row[i] for i in kept] for row in cells]
    for at, (height, lines) in enumerate(tables(shown, cells, width_of(stream))):
        heads = (bold(line, stream) for line in lines[:height])
        print(*([""] if at else []), *heads, *lines[height:], sep="\n")


def _translated(
    columns: Sequence[TextColumn], rows: Iterable[Sequence[object]]
) -> tuple[list[TextColumn], list[Sequence[object]]]:
    """Titles and cells in the selected language; texts of the capture stay as they are."""
    titled = [replace(column, title=translated(column.title)) for column in columns]
    is_data = [column.is_data or column.elastic == "left" for column in columns]
    said: list[Sequence[object]] = [
        [cell if as_is else translated(str(cell)) for cell, as_is in zip(row, is_data, strict=True)]
        for row in rows
    ]
    return titled, said


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print names and values, aligned; long values are wrapped at words to fit the screen."""
    width = width_of(sys.stdout)
    names = [translated(name) for name, _ in facts]
    left = max(map(words.cells, names), default=0)
    for name, (_, value) in zip(names, facts, strict=True):
        text, indent = plain(translated(str(value))), " " * (left + 4)
        if width is not None:
            text = f"\n{indent}".join(at_words(text, width - left - 4))
        print(f"  {words.padded(name, left)}  {text}")


def json_text(document: Mapping[str, Any]) -> str:
    r"""Return JSON for people and programs; terminal control characters are written as `\u202e`."""
    import orjson  # noqa: PLC0415 - text and CSV do not wait for it

    return words.escaped_json(words.json_bytes(document, orjson.OPT_INDENT_2).decode())


_FILTERS = (
    "match", "line", "wave", "clock", "within", "se", "cu", "simd", "unit_of", "without_kernel", "without_se",
    "loop", "iterations_of", "outliers", "kind", "only", "file", "beyond_noise", "kernel",
)  # fmt: skip


class Facts(Value):
    """Names and values, printed as two columns."""

    rows: Sequence[tuple[str, str]]


class TextGrid(Value):
    """Cells that are not the table of a result, printed below their headings."""

    columns: Sequence[TextColumn]
    rows: Sequence[Sequence[object]]


class TextTable(Value):
    """A table for people; unknown values read as `unknown`, source paths of the trace are shortened."""

    table: ResultTable
    trace: Trace | None = None
    unknown: str = ""


CapturesOptions = TypeVar("CapturesOptions", bound=OfCaptures)
Part = str | Facts | TextGrid | TextTable
Csv = tuple[Sequence[str], Iterable[Sequence[Any]]]


class CommandAnswer(Value, kw_only=True):
    """The answer of a command; only the form that is printed is made."""

    schema: Schema  # of the document
    document: Callable[[], Mapping[str, Any]]
    csv: Callable[[], Csv] = lambda: ((), ())
    text: Callable[[], Iterable[Part]] = lambda: ()  # lines and tables, one below the other
    of: Trace | ChosenWaves | None = None  # its capture, or the counted waves of the capture
    forms: Mapping[str, Callable[[], str]] = field(default_factory=dict)  # others, by the name of the option
    about: Mapping[str, Any] = field(default_factory=dict)  # further arguments of `about`
    code: int = ExitCode.DONE
    is_written: bool = False  # whether the command itself wrote to `--out`

    @classmethod
    def of_table(
        cls,
        schema: Schema,
        table: ResultTable,
        text: Callable[[], Iterable[Part]] | None = None,
        facts: Callable[[], Mapping[str, Any]] = dict,
        *,
        rows: str = "rows",
        **more: Any,
    ) -> Self:
        """Return the answer whose CSV is a table, and whose document is facts and, as `rows`, the same table.

        `text` is by default the table; `more` are further attributes.
        """
        return cls(
            schema=schema,
            document=lambda: {**facts(), rows: table.rows()},
            csv=table.csv,
            text=text or (lambda: [TextTable(table)]),
            **more,
        )

    def show(self, options: Options) -> int:
        """Print it in the form that the options name, or write it into `--out`; return its exit code."""
        out: Path | None = vars(options).get("out")
        if out is None or self.is_written:
            self._print(options)
            return self.code
        text = StringIO()
        with redirect_stdout(text):
            self._print(options)
        with whole_file(out, makes_folders=False) as target:
            target.write(words.visible(text.getvalue(), "\n\t").encode())
        return self.code

    def json(self, options: Options) -> dict[str, Any]:
        """Return the whole document: name and version of its schema, the version of rcv, and the rest."""
        head, trace, facts = {"schema": self.schema.id, "rcv": __version__}, self.of, {**self.about}
        if isinstance(trace, ChosenWaves):
            facts = {"waves": trace.about, "alarm": trace.alarm, **facts}
            if trace.answers is not None and trace.answers.doubt:
                facts["problems"] = [*facts.get("problems", ()), trace.answers.doubt]
            trace = trace.trace
        if trace is None:
            return {**head, "about": about(options, **facts), **self.document()}
        return {**head, "about": about(options, (trace,), **facts), "capture": trace.name, **self.document()}

    def _print(self, options: Options) -> None:
        form = options.form
        if form == "json":
            print(json_text(self.json(options)))
        elif form == "csv":
            sys.stdout.write(csv_text(*self.csv()))
        elif form:
            sys.stdout.write(self.forms[form]())
        else:
            trace = self.of.trace if isinstance(self.of, ChosenWaves) else self.of
            if trace is not None:
                link_sources(partial(_files_of, trace))
            for part in self.text():
                put(part)


def _files_of(trace: Trace) -> Callable[[str], Path | None]:
    """Map a source, by its path or as tables print it, to a file of this machine."""
    from rcv_py.formats.raw.options import chosen  # noqa: PLC0415 - only a terminal asks
    from rcv_py.formats.uiout.local_sources import local_file  # noqa: PLC0415 - as above

    rules = chosen().source_map  # of this command alone
    short = words.short_paths(source.path for source in trace.sources)
    paths = {shown: path for path, shown in short.items()} | {path: path for path in short}

    def file_of(name: str) -> Path | None:
        path = paths.get(name)
        return None if path is None else local_file(path, rules)

    return file_of


def each(options: CapturesOptions, make: Callable[[CapturesOptions], CommandAnswer]) -> CommandAnswer:
    """Return the answer of a command about its capture; with several captures, all answers in order."""
    if not options.more:
        return make(options)
    alone = [options.but(folder=path, more=[]) for path in all_captures([options.folder, *options.more])]
    answers = [make(one) for one in alone]

    def document() -> dict[str, Any]:
        return {"documents": [answer.json(one) for answer, one in zip(answers, alone, strict=True)]}

    def csv() -> Csv:
        tables = [answer.csv() for answer in answers]
        rows = [(one.folder.name, *row) for one, (_, rows) in zip(alone, tables, strict=True) for row in rows]
        return ("capture", *tables[0][0]), rows

    def text() -> Iterator[Part]:
        for at, answer in enumerate(answers):
            yield from ["", ""] if at else []
            yield from answer.text()

    def joined(form: str) -> str:
        return "\n".join(answer.forms[form]() for answer in answers)

    from rcv_py.results.written import DOCUMENTS_SCHEMA  # noqa: PLC0415 - most commands read one capture

    return CommandAnswer(
        schema=DOCUMENTS_SCHEMA,
        document=document,
        csv=csv,
        text=text,
        forms={name: partial(joined, name) for name in answers[0].forms},
        about={"names": [one.folder.name for one in alone]},
        code=max(answer.code for answer in answers),
    )


def put(part: Part) -> None:
    """Print a part of a text; a string is one line, after an empty line if it begins with a line feed."""
    if isinstance(part, str):
        text = translated(part)
        print(("\n" if text.startswith("\n") else "") + plain(text.removeprefix("\n")))
    elif isinstance(part, Facts):
        print_facts(part.rows)
    elif isinstance(part, TextGrid):
        print_table(part.columns, part.rows)
    else:
        table = part.table if part.trace is None else with_short_sources(part.table, part.trace)
        columns = [
            TextColumn(one.title, one.is_number, one.kind.elastic, one.kind.is_data)
            for one in table.fields(TEXT)
        ]
        print_table(columns, table.cells(TEXT, part.unknown))


def listing(
    options: Options,
    capture: Trace | ChosenWaves,
    table: ResultTable,
    schema: Schema,
    document: Callable[[], Mapping[str, Any]] | None = None,
    *,
    footer: Callable[[ResultTable], str | Iterable[Part]],
    above: Iterable[Part] = (),
    why_none: str = "",
    unknown: str = "",
    about: Mapping[str, Any] | None = None,
    is_shown_empty: bool = False,
) -> CommandAnswer:
    """Return the answer of a command that lists rows of a table, with the requested number and order.

    `document` has the fields besides the capture and the rows; `footer` takes the shown rows; `why_none` is
    why nothing is known at all; a table that is shown empty has headings and no reason.
    """
    trace = capture if isinstance(capture, Trace) else capture.trace
    rows = limited(table, options)

    def text() -> Iterable[Part]:
        if why_none:
            yield why_none
            return
        yield from heading(capture)
        if not (len(table) or is_shown_empty):
            yield nothing(table.spec.noun, options, table.spec.nothing)
            return
        yield from above
        yield TextTable(rows, trace, unknown)
        below = footer(rows)
        yield from [below] if isinstance(below, str) else below

    return CommandAnswer.of_table(schema, rows, text, document or dict, of=capture, about=about or {})


def limited(table: ResultTable, options: Options) -> ResultTable:
    """Return the rows that `--sort`, `--ascending` and `--top` leave, where a command has them."""
    if not isinstance(options, RowOptions):
        return table
    return table.sorted(options.sort, descending=not options.ascending).head(options.top)


def heading(capture: Trace | ChosenWaves) -> list[Part]:
    """Return which waves a table covers and an empty line; nothing if it covers all of them."""
    return [capture.heading, ""] if isinstance(capture, ChosenWaves) and capture.heading else []


def nothing(what: str, options: Options, without: str) -> str:
    """Return why a table is empty: `No branch matches --match foo.`, or `without` if nothing was filtered."""
    filters = [written(name, options.values[name]) for name in _FILTERS if name in options.given]
    return Message("No {0} matches {1}.", what, " ".join(filters)) if filters else without


def matched(texts: Sequence[str], options: Matched) -> set[int] | None:
    """Return the rows whose text matches `--match`, None if nothing is looked for."""
    if not options.match:
        return None
    return set(find(texts, options.match, options.case, options.regex).tolist())


def max_nested(options: RowOptions) -> int | None:
    """Return how many rows a list inside a row of a document has: `--top`, None for all without it."""
    return options.top or None if "top" in options.given else None


def about(
    options: Options,
    traces: Sequence[Trace] = (),
    *,
    names: Iterable[str] = (),
    problems: Iterable[str] = (),
    waves: dict[str, Any] | None = None,
    files: Iterable[str] | None = None,
    alarm: str | None = None,
) -> dict[str, Any]:
    """Return the description of a run, which every document has.

    The names and problems of open captures are taken from them; `names` and `problems` are for captures that
    are only listed.  With several captures a problem begins with the name of its capture.  `files` are the
    tables of the run that were used, None for a command that uses none.  `waves` says whose costs are summed,
    where that can be chosen.  `alarm` says that the instruction texts belong to other code, "" that they fit;
    None for a command that does not check.
    """
    every = [(f"{trace.name}: " if len(traces) > 1 else "", trace.problems) for trace in traces]
    texts = [f"{name}{problem}" for name, own in every for problem in own]
    return ({} if waves is None else {"waves": waves}) | {
        "command": options.command,
        "arguments": _arguments(options, waves),
        "captures": [*(trace.name for trace in traces), *names],
        "problems": list(dict.fromkeys([*texts, *problems])),
        **({} if files is None else {"run_files": list(files)}),
        **({} if alarm is None else {"alarm": alarm}),
    }


def _arguments(options: Options, waves: dict[str, Any] | None) -> dict[str, Any]:
    """The options by name, without forms; `waves` is never null where a population was summed."""
    out = {"out", "more", *(name for name, one in options.arguments.items() if one.one_of == FORM)}
    values = {name: _simple(value) for name, value in options.values.items() if name not in out}
    usual = options.usual_waves
    if usual is not None and values["waves"] is None:
        # Without a choice no wave was read: the totals are the totals of the capture.
        values["waves"] = waves["chosen"] if waves is not None else ALL if usual == ALL else None
    return values


def _simple(value: object) -> Any:
    """Paths become texts and the open end of a range null; numbers, texts, flags and lists stay."""
    if isinstance(value, list | tuple):
        return [_simple(item) for item in value]
    value = None if value in EVER else value
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
