"""Places and numbers of a capture in a report: cells, columns, tables, and the names of anchors.

Places are written so that the window's *Go to place* finds them again.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rcv_py.analysis.cost.place_text import beside
from rcv_py.base.text import Message, percent
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import ReportCell, ReportColumn, ReportTable
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace
from rcv_py.results import table as results
from rcv_py.results.field import Field, ShownIn
from rcv_py.results.kinds import INSTRUCTION, ROW, ROW_OR_NONE, SHARE, SOURCE
from rcv_py.results.places import with_short_sources

NOTHING = ReportCell("")


def place_text(
    wave: WaveId | None = None, line: int | None = None, hit: int | None = None, cycle: int | None = None
) -> str:
    """Return `se0/simd2/slot5/wv3:instruction 118 hit 8@126704`; any part may be absent, `hit` is from 0."""
    at = "" if line is None else f":instruction {line}"
    when = "" if cycle is None else f"@{cycle}"
    return f"{wave or ''}{at}{'' if hit is None or not at else f' hit {hit + 1}'}{when}"


def line_anchor(line: int) -> str:
    """The anchor of an instruction inside a report."""
    return f"line-{line}"


def wave_anchor(wave: WaveId) -> str:
    """The anchor of a wave inside a report; it is spelt like the wave's file."""
    return f"wave-se{wave.se}-sm{wave.simd}-sl{wave.slot}-wv{wave.wid}"


def cycle_anchor(cycle: int, wave: WaveId | None = None) -> str:
    """The anchor of a cycle inside a report, of a wave if there is one: `wave-se3-sm1-sl0-wv0@126704`."""
    return f"{wave_anchor(wave) if wave is not None else ''}@{cycle}"


def number(value: float | None, link: str = "", anchor: str = "") -> ReportCell:
    """Return a cell with a whole number, grouped by thousands; None is unknown."""
    if value is None:
        return NOTHING
    return ReportCell(f"{value:,}", anchor=anchor, link=link, value=float(value))


def share(part: float | None, total: float) -> ReportCell:
    """Return a cell with a share in percent and a bar of that length; None is unknown."""
    if part is None:
        return NOTHING
    value = part / total if total else 0.0
    return ReportCell(percent(part, total), value=value, share=min(1.0, max(0.0, value)) if total else None)


def code(text: str, link: str = "", anchor: str = "", tip: str = "") -> ReportCell:
    """Return a cell with text of the program."""
    return ReportCell(text, anchor, link, is_code=True, tip=tip)


def table(*columns: ReportColumn, caption: str = "", is_folded: bool = False) -> ReportTable:
    """Return a table of columns of equal length."""
    return ReportTable(columns, caption, is_folded)


def column(
    title: str, cells: Iterable[ReportCell], tip: str = "", *, is_number: bool = False
) -> ReportColumn:
    """Return a column of cells that exists only in this report."""
    return ReportColumn(title, tuple(cells), tip, is_number)


def texts(title: str, values: Iterable[str], tip: str = "") -> ReportColumn:
    """Return a column of texts."""
    return column(title, map(ReportCell, values), tip)


def text_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> ReportTable:
    """Return a table of texts."""
    found = list(rows)
    return table(*(texts(title, [row[at] for row in found]) for at, title in enumerate(titles)))


def numbers(title: str, values: Iterable[float | None], tip: str = "") -> ReportColumn:
    """Return a column of whole numbers."""
    return column(title, map(number, _plain(values)), tip, is_number=True)


def shares(title: str, parts: Iterable[float | None], total: float, tip: str = "") -> ReportColumn:
    """Return a column of shares of a total."""
    return column(title, (share(part, total) for part in _plain(parts)), tip, is_number=True)


def links(inputs: ReportInputs, rows: Iterable[int], title: str = "#") -> ReportColumn:
    """Return a column of links to instructions; nothing for -1."""
    size = len(inputs.trace.code)
    cells = (number(row, line_anchor(row)) if 0 <= row < size else NOTHING for row in rows)
    return column(title, cells, is_number=True)


def places(rows: Iterable[int]) -> ReportColumn:
    """Return a column of instructions that are link targets."""
    return column("#", (number(row, anchor=line_anchor(row)) for row in rows), is_number=True)


def instructions(
    inputs: ReportInputs,
    rows: Sequence[int],
    title: str = "instruction",
    link: str = "#",
    guesses: Iterable[bool] = (),
) -> tuple[ReportColumn, ReportColumn]:
    """Return columns of links to instructions and of their texts with source places; guesses are marked."""
    trace, guess = inputs.trace, iter(guesses)

    def cell(row: int, is_guess: bool) -> ReportCell:
        if not 0 <= row < len(trace.code):
            return NOTHING
        text = f"{trace.code.text[row]}{beside(trace, row)}"
        if is_guess:
            return code(Message("perhaps {0}", text), tip="A guess among several that fit.")
        return code(text)

    return links(inputs, rows, link), column(title, (cell(row, next(guess, False)) for row in rows))


def sources(inputs: ReportInputs, rows: Iterable[int]) -> ReportColumn:
    """Return a column of source places: short, with the full path as a tooltip."""
    return column("source", (code(inputs.short_sources[row], tip=inputs.sources[row]) for row in rows))


def declared(field: Field, values: Iterable[Any]) -> ReportColumn:
    """Return a column that a result declares."""
    cells = (_cell(field, value) for value in _plain(values))
    return column(field.title, cells, field.sentence, is_number=field.is_number)


def report_table(result: results.ResultTable, trace: Trace, caption: str = "") -> ReportTable:
    """Return a result as a table: the fields that reports show, for all of its rows."""
    shown = with_short_sources(result, trace)
    records = shown.records()
    columns = []
    for field in shown.fields(ShownIn.REPORT):
        columns.append(declared(field, records if field.of else [record[field.name] for record in records]))
    return table(*columns, caption=caption)


def _plain(values: Iterable[Any]) -> Iterable[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else values


def _cell(field: Field, value: Any) -> ReportCell:
    """The value of a field, or all values of its row if its text is derived from them."""
    if field.of is not None:
        return ReportCell(field.of(value))
    if value is None or (field.kind is ROW_OR_NONE and value < 0):
        return NOTHING
    if field.kind is SHARE:
        return share(value, 1.0)
    if field.kind in (INSTRUCTION, SOURCE):
        return code(value)
    link = line_anchor(value) if field.kind in (ROW, ROW_OR_NONE) else ""
    return ReportCell(field.text(value), link=link, value=float(value) if field.is_number else None)
