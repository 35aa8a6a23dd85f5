"""`rcv index`: all captures below a folder, ranked, in one table."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path
from typing import TextIO

from rcv_py.analysis.overview.library import FIELDS, ranked_rows, with_twins
from rcv_py.base.errors import NotATrace
from rcv_py.base.text import visible
from rcv_py.base.whole_files import whole_file
from rcv_py.cli.about import about
from rcv_py.cli.options.capture_options import IndexOptions
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.export.report.library import HEADINGS, Library, cells, library_markdown, library_page
from rcv_py.formats.locate import locate
from rcv_py.work.library import library_rows

_ELASTIC = {"capture": "left", "twin": "left"}
_COLUMNS = tuple(
    Column(title, is_number, "" if is_number else _ELASTIC.get(title, "right"))
    for title, is_number in HEADINGS
)


def run(arguments: IndexOptions) -> int:
    """Print the library as text, CSV, JSON, Markdown or HTML, or write it into a file."""
    library = _library(arguments)
    if arguments.out is None:
        _put(library, arguments, sys.stdout)
        return 0
    text = StringIO()
    _put(library, arguments, text)
    with whole_file(arguments.out, makes_folders=False) as target:
        target.write(visible(text.getvalue(), "\n\t").encode())
    return 0


def _put(library: Library, arguments: IndexOptions, stream: TextIO) -> None:
    if arguments.json:
        names = [row.name for row in library.rows]
        problems = [f"{row.name}: {row.error}" for row in library.rows if row.error]
        described = about(arguments, names=names, problems=problems)
        print(json_text("rcv.index/1", _document(library), described), file=stream)
    elif arguments.csv:
        rows = ([value(row) for _, value in FIELDS] for row in library.rows)
        stream.write(csv_text([name for name, _ in FIELDS], rows))
    elif arguments.markdown:
        stream.write(library_markdown(library))
    elif arguments.html:
        stream.write(library_page(library))
    else:
        print(library.heading, file=stream)
        print_table(_COLUMNS, [cells(library, row) for row in library.rows], stream)


def _library(arguments: IndexOptions) -> Library:
    root: Path = arguments.folder
    paths = locate(root).captures(max(1, arguments.depth))
    if not paths:
        raise NotATrace(root, f"no capture lies up to {max(1, arguments.depth)} folders below it")
    chosen = paths[: arguments.limit or None]
    rows = with_twins(
        list(library_rows(chosen, arguments.jobs, has_findings=arguments.findings, cache=arguments.cache))
    )
    return Library(root, ranked_rows(rows, arguments.sort), len(paths) - len(chosen))


def _document(library: Library) -> dict[str, object]:
    return {
        "folder": str(library.root),
        "left_out": library.more,
        "captures": [{name: value(row) for name, value in FIELDS} for row in library.rows],
    }
