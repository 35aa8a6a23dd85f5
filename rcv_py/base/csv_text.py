"""CSV of all outputs: commands, reports, exported tables and the clipboard of the window.

Lines end with a line feed; texts stay on one line, have only visible characters, and no spreadsheet evaluates
them.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TextIO

from rcv_py.base.text import no_formula, visible


class CsvWriter:
    """Writes rows to a stream; `separator` is a comma, or a tab for the clipboard."""

    def __init__(self, stream: TextIO, separator: str = ",") -> None:
        self._rows = csv.writer(stream, delimiter=separator, lineterminator="\n")
        self._keep = "" if separator == "\t" else "\t"  # a tab inside of a text would end its cell

    def row(self, cells: Iterable[object]) -> None:
        """Write one row with escaped texts."""
        self._rows.writerow([csv_cell(cell, self._keep) for cell in cells])

    def safe_rows(self, rows: Iterable[Sequence[object]]) -> None:
        """Write rows whose texts have been through `csv_cell`."""
        self._rows.writerows(rows)


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]], separator: str = ",") -> str:
    """Return a line of headings and the rows."""
    target = io.StringIO()
    writer = CsvWriter(target, separator)
    for row in (head, *rows):
        writer.row(row)
    return target.getvalue()


def csv_cell(value: object, keep: str = "\t") -> object:
    """Return a CSV cell: texts on one line, visible, and no formula; other values unchanged."""
    return no_formula(visible(value, keep)) if isinstance(value, str) else value
