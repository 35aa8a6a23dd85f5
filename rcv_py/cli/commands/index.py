"""`rcv index`: all captures below a folder, ranked, in one table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TextIO

from rcv_py.analysis.overview.library import LibraryRow, ranked_rows, with_twins
from rcv_py.base.csv_text import csv_text
from rcv_py.base.errors import NotATrace
from rcv_py.base.text import count, plural, visible
from rcv_py.base.whole_files import whole_file
from rcv_py.cli.about import about
from rcv_py.cli.options.capture_options import IndexOptions
from rcv_py.cli.progress import watched
from rcv_py.cli.report import json_text
from rcv_py.cli.results import print_shown
from rcv_py.export.report.index import library_markdown, library_page
from rcv_py.formats.locate import locate
from rcv_py.results.library import library_table
from rcv_py.work.library import library_rows


@dataclass(frozen=True, slots=True)
class Library:
    """The captures that were found below a folder."""

    root: Path
    rows: Sequence[LibraryRow]
    more: int = 0  # captures left out because of the limit

    @property
    def heading(self) -> str:
        """How many captures there are."""
        bad = sum(bool(row.error) for row in self.rows)
        text = f"{plural(len(self.rows), 'capture')} below {self.root}"
        text += f", {count(bad)} of which cannot be opened" if bad else ""
        return text + (f"; {count(self.more)} more were left out" if self.more else "")


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
    table = library_table(library.rows, library.root)
    if arguments.json:
        names = [row.name for row in library.rows]
        problems = [f"{row.name}: {row.error}" for row in library.rows if row.error]
        described = about(arguments, names=names, problems=problems)
        content = {"folder": str(library.root), "left_out": library.more, "captures": table.rows()}
        print(json_text("rcv.index/1", content, described), file=stream)
    elif arguments.csv:
        stream.write(csv_text(*table.csv()))
    elif arguments.markdown:
        stream.write(library_markdown(library.heading, table))
    elif arguments.html:
        stream.write(library_page(library.heading, table))
    else:
        print(library.heading, file=stream)
        print_shown(table, stream=stream)


def _library(arguments: IndexOptions) -> Library:
    root: Path = arguments.folder
    paths = locate(root).captures(max(1, arguments.depth))
    if not paths:
        raise NotATrace(root, f"no capture lies up to {max(1, arguments.depth)} folders below it")
    chosen = paths[: arguments.limit or None]
    found = library_rows(chosen, arguments.jobs, has_findings=arguments.findings, cache=arguments.cache)
    rows = with_twins(list(watched(found, "Captures", len(chosen))))
    return Library(root, ranked_rows(rows, arguments.sort), len(paths) - len(chosen))
