"""How a command prints a result: the order that is asked for, aligned text, CSV."""

from __future__ import annotations

import sys
from typing import TextIO

from rcv_py.base.csv_text import csv_text
from rcv_py.cli.options.shared import WithSort
from rcv_py.cli.report import Column, print_table
from rcv_py.model.trace import Trace
from rcv_py.results.field import At
from rcv_py.results.places import with_short_sources
from rcv_py.results.table import Table


def ordered(table: Table, arguments: WithSort) -> Table:
    """Return the table in the order of `--sort` and `--ascending`; UsageError for a field that has none."""
    return table.sorted(arguments.sort, descending=not arguments.ascending)


def print_result(table: Table, trace: Trace, unknown: str = "", stream: TextIO | None = None) -> None:
    """Print the fields that are for people; source places are as short as is unambiguous."""
    print_shown(with_short_sources(table, trace), unknown, stream)


def print_shown(table: Table, unknown: str = "", stream: TextIO | None = None) -> None:
    """Print the fields that are for people as they are."""
    columns = [Column(field.title, field.is_number, field.elastic) for field in table.fields(At.TEXT)]
    print_table(columns, table.cells(At.TEXT, unknown), stream)


def print_csv(table: Table) -> None:
    """Print comma-separated values, headings too if there are no rows."""
    sys.stdout.write(csv_text(*table.csv()))
