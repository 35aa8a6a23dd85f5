"""A report as Markdown, for repositories: all of the HTML page, with the same folding; plots become tables.

Text of a capture can neither end a cell nor start markup: it is escaped, code stands between backticks.
"""

import os
from typing import assert_never
from urllib.parse import quote

from rcv_py.base.markdown import md_code, md_in_tags, md_table, md_text
from rcv_py.base.text import Message, percent, translated, visible
from rcv_py.export.report import model

_POINTS = 12  # of a curve
_WEIGHTS = {"info": "NOTE", "warning": "WARNING", "error": "CAUTION"}  # what GitHub colours


def markdown(report: model.Report) -> str:
    """Return the text; every table has a heading line and the same number of cells in every row."""
    anchors = _Anchors(report.anchors())
    lines = [f"# {_said(report.title)}", "", _said(report.subtitle), ""]
    lines += [f"- [{_said(one.title)}](#{one.id})" for one in report.sections]
    for section in report.sections:
        lines += ["", anchors.tag(section.id), "", f"## {_said(section.title)}", ""]
        lines += [_said(section.intro), ""] if section.intro else []
        for part in section.parts:
            lines += [*_part(part, anchors), ""]
    return "\n".join([*lines, "", "---", "", md_text(report.made_with), ""])


class _Anchors:
    """Places that the text has, and which of them have been written."""

    def __init__(self, known: set[str]) -> None:
        self.known, self._written = known, set[str]()

    def tag(self, anchor: str) -> str:
        if anchor not in self.known or anchor in self._written:
            return ""
        self._written.add(anchor)
        return f'<a id="{anchor}"></a>'


def _part(part: model.Part, anchors: _Anchors) -> list[str]:
    match part:
        case model.ReportTable():
            return _table(part, anchors)
        case model.ReportNote():
            return [f"> [!{_WEIGHTS.get(part.weight, 'NOTE')}]", f"> {_said(part.text)}"]
        case model.Prose():
            return [_prose(part)]
        case model.ReportListing():
            fence = "```"
            while any(fence in line for line in part.lines):
                fence += "`"
            lines = [f"{fence}{part.language}", *(visible(line, "\t") for line in part.lines), fence]
            return _folded(part.caption, lines) if part.caption else lines
        case model.Subheading():
            place = [anchors.tag(part.anchor), ""] if part.anchor else []
            return [*place, f"### {_said(part.text)}"]
        case model.Stacked() | model.ReportCurve() | model.ReportHistogram() | model.ReportBars():
            return [f"**{_said(part.title)}**", "", *_plot(part)]
        case _:
            assert_never(part)


def _said(text: str) -> str:
    """A text of rcv, in the selected language, escaped."""
    return md_text(translated(text))


def _table_of(headings: tuple[tuple[str, bool], ...], rows: list[list[str]]) -> list[str]:
    return md_table(((translated(title), is_number) for title, is_number in headings), rows)


def _prose(part: model.Prose) -> str:
    text = _said(part.text)
    if part.is_lead:
        return f"**{text}**"
    if part.is_quiet and not part.label:
        return f"*{text}*"
    return f"**{_said(part.label)}:** {text}" if part.label else text


def _folded(caption: str, lines: list[str]) -> list[str]:
    """A folded part; blank lines around its contents, or they would not be read as Markdown."""
    summary = f"<summary>{md_in_tags(translated(caption))}</summary>"
    return ["<details>", summary, "", *lines, "", "</details>"]


def _table(table: model.ReportTable, anchors: _Anchors) -> list[str]:
    headings = ((translated(column.title), column.is_number) for column in table.columns)
    lines = md_table(headings, [[_cell(cell, anchors) for cell in row] for row in table.rows])
    if table.is_folded:
        return _folded(table.caption or "Show", lines)
    return [*([_said(table.caption), ""] if table.caption else []), *lines]


def _cell(cell: model.ReportCell, anchors: _Anchors) -> str:
    text = md_code(cell.text) if cell.is_code else _said(cell.text)
    place = anchors.tag(cell.anchor) if cell.anchor else ""
    if cell.file:
        return f"{place}[{text}](./{quote(os.fsencode(cell.file))})"
    return place + (f"[{text}](#{cell.link})" if text and cell.link in anchors.known else text)


def _plot(plot: model.Plot) -> list[str]:
    """The numbers of a plot; for a curve, at a few points."""
    match plot:
        case model.Stacked():
            total = sum(part.value for part in plot.parts)
            parts = ((_said(part.name), part.value) for part in plot.parts)
            rows = [[name, f"{value:,.0f}", percent(value, total)] for name, value in parts]
            return _table_of((("part", False), (plot.unit, True), ("share", True)), rows)
        case model.ReportBars():
            bars = enumerate(plot.names)
            rows = [[md_code(name), *(f"{one.value:,.0f}" for one in plot.parts(row))] for row, name in bars]
            return _table_of((("", False), *((series.name, True) for series in plot.series)), rows)
        case model.ReportHistogram():
            spans = [one for one in zip(plot.edges, plot.edges[1:], plot.counts, strict=False) if one[2]]
            rows = [[translated(Message("{0:,} to {1:,}", low, high)), f"{n:,}"] for low, high, n in spans]
            return _table_of(((plot.unit, False), ("count", True)), rows)
        case model.ReportCurve():
            last = len(plot.times) - 1
            points = sorted({at * last // (_POINTS - 1) for at in range(_POINTS)}) if plot.times else []
            rows = [[f"{plot.times[at]:,}", f"{plot.values[at]:,.0f}"] for at in points]
            return _table_of((("cycle", True), (plot.unit, True)), rows)
