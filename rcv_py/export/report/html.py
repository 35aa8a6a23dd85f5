"""A report as one HTML page: no network, no other files; a few lines of script sort its tables.

Everything that comes from a capture is escaped, in text and in attributes.
"""

import os
import re
from html import escape
from itertools import count
from typing import assert_never
from urllib.parse import quote

from rcv_py.base.text import spoken_language, translated
from rcv_py.export.report import model
from rcv_py.export.report.style import MAX_COLUMNS, script, style
from rcv_py.export.report.svg import svg

_OPTION = re.compile(r"--[a-z0-9]+(?:-[a-z0-9]+)+")  # a browser would break it at its hyphens
LONG = 60  # characters: longer sentences are wrapped in their cell
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"  # nothing from outside


def html(report: model.Report) -> str:
    """Return the page."""
    page = _Page(report)
    links = "".join(f'<li><a href="#{escape(one.id)}">{_said(one.title)}</a></li>' for one in report.sections)
    nav = f'<nav aria-label="{_said("Sections")}"><ol>{links}</ol></nav>' if len(report.sections) > 1 else ""
    sections = "\n".join(page.section(one) for one in report.sections)
    lang = spoken_language().replace("_", "-")
    return (
        f'<!DOCTYPE html>\n<html lang="{lang}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="color-scheme" content="light dark">'
        f'<meta name="generator" content="{escape(report.made_with)}">'
        f"<title>{_said(report.title)}</title>\n<style>{style()}</style></head>\n"
        f'<body><div class="page"><header><h1>{_said(report.title)}</h1>'
        f"<p>{_said(report.subtitle)}</p></header>"
        f"\n{nav}\n<main>\n{sections}\n"
        f'<p class="foot">{escape(report.made_with)}</p></main></div>\n'
        f"<script>{script()}</script></body></html>\n"
    )


class _Page:
    """Writes parts; remembers which anchors exist and which have been written."""

    def __init__(self, report: model.Report) -> None:
        self._anchors = report.anchors()
        self._written = {section.id for section in report.sections}

    def section(self, section: model.ReportSection) -> str:
        intro = f'<p class="intro">{_said(section.intro)}</p>' if section.intro else ""
        parts = "\n".join(self._part(part) for part in section.parts)
        return f'<section id="{escape(section.id)}"><h2>{_said(section.title)}</h2>{intro}{parts}</section>'

    def _part(self, part: model.Part) -> str:
        match part:
            case model.ReportTable():
                return self._table(part)
            case model.ReportNote():
                return f'<p class="note {escape(part.weight)}">{_sentence(part.text)}</p>'
            case model.Prose():
                kind = "lead" if part.is_lead else "quiet" if part.is_quiet else ""
                group = f' class="{kind}"' if kind else ""
                label = f"<strong>{_said(part.label)}:</strong> " if part.label else ""
                return f"<p{group}>{label}{_sentence(part.text)}</p>"
            case model.ReportListing():
                lines = f"<pre>{escape(chr(10).join(part.lines))}</pre>"
                return _folded(part.caption, lines) if part.caption else lines
            case model.Subheading():
                return f"<h3{self._id(part.anchor)}>{_said(part.text)}</h3>"
            case model.Stacked() | model.ReportCurve() | model.ReportHistogram() | model.ReportBars():
                drawn = svg(part, self._anchors)
                return f"<figure><figcaption>{_said(part.title)}</figcaption>{drawn}</figure>"
            case _:
                assert_never(part)

    def _table(self, table: model.ReportTable) -> str:
        kinds = list(map(_kind, table.columns))
        named = [f"{kind}{at}" for at, kind in enumerate(kinds, 1) if kind and at <= MAX_COLUMNS]
        group = f' class="{" ".join(named)}"' if named else ""
        heads = "".join(map(_head, table.columns))
        rows = [f"<tr>{''.join(map(self._cell, count(), kinds, row))}</tr>" for row in table.rows]
        body = (
            f'<div class="scroll"><table{group}><thead><tr>{heads}</tr></thead>'
            f"<tbody>{chr(10).join(rows)}</tbody></table></div>"
        )
        if table.is_folded:
            return _folded(table.caption or "Show", body)
        return (f'<p class="caption">{_said(table.caption)}</p>' if table.caption else "") + body

    def _cell(self, at: int, column: str, cell: model.ReportCell) -> str:
        kind = column or ("c" if cell.is_code else "w" if len(cell.text) > LONG else "")
        if kind == column and at < MAX_COLUMNS:
            kind = ""  # the class of the table says it
        kind = f"{kind} {cell.weight}".strip()
        shown = escape(cell.text) if cell.is_code else _said(cell.text)
        if cell.file:
            shown = f'<a href="./{quote(os.fsencode(cell.file))}">{shown}</a>'
        elif cell.link and cell.link in self._anchors:
            shown = f'<a href="#{escape(cell.link)}">{shown}</a>'
        if cell.share is not None:
            shown = f'<span class="bar" style="width:{60 * cell.share:.1f}px"></span>{shown}'
        if cell.is_strong:
            shown = f"<b>{shown}</b>"
        value = "" if cell.value is None or _is_sortable(cell) else f' data-v="{cell.value:.12g}"'
        tip = f' title="{_said(cell.tip)}"' if cell.tip and cell.tip != cell.text else ""
        group = f' class="{kind}"' if kind else ""
        return f"<td{group}{self._id(cell.anchor)}{value}{tip}>{shown}</td>"

    def _id(self, anchor: str) -> str:
        if not anchor or anchor in self._written:
            return ""
        self._written.add(anchor)
        return f' id="{escape(anchor)}"'


def _said(text: str) -> str:
    """A text of rcv, in the selected language, escaped."""
    return escape(translated(text))


def _sentence(text: str) -> str:
    """A text of rcv as markup, without line breaks inside options."""
    return _OPTION.sub(r'<span class="option">\g<0></span>', _said(text))


def _folded(caption: str, body: str) -> str:
    return f"<details><summary>{_said(caption)}</summary>{body}</details>"


def _kind(column: model.ReportColumn) -> str:
    """The kind of all cells of a column: `n` numbers, `c` code, or "" if mixed."""
    shown = [cell for cell in column.cells if cell.text or cell.is_code]
    return "n" if column.is_number else "c" if shown and all(cell.is_code for cell in shown) else ""


def _is_sortable(cell: model.ReportCell) -> bool:
    """Whether the text of a cell is enough to sort it by."""
    text = cell.text.replace(",", "").removesuffix("%").strip()
    try:
        float(text)
    except ValueError:
        return not text
    return True


def _head(column: model.ReportColumn) -> str:
    kind = " data-n" if column.is_number else ""
    tip = f' title="{_said(column.tip)}"' if column.tip else ""
    return f"<th{kind}{tip}>{_said(column.title)}</th>"
