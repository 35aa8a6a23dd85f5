"""Adding a column is one line in one file: every outlet takes it from the declaration."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import rcv_py
from rcv_py.export.report.cells import report_table
from rcv_py.export.report.html import html
from rcv_py.export.report.markdown import markdown
from rcv_py.export.report.model import Report, ReportSection
from rcv_py.features.loops import result as loops
from rcv_py.formats.open import open_trace
from rcv_py.results.field import Field
from rcv_py.results.kinds import CYCLES
from rcv_py.results.table import ResultTable, Schema, form
from rcv_py.ui.table.result_columns import result_columns
from tests.support.command_runs import printed, refused
from tests.ui.window import SAMPLES

FOLDER = SAMPLES / "matmul_tiled"
NEW = Field("tea_time", CYCLES, "Time that was spent on tea")  # the line
VALUES = (70_000, 90_000)


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The loops with a column more."""
    spec, make = loops.TABLES["loops"]
    longer = spec.with_field(NEW)

    def with_tea(inputs: loops.Inputs) -> ResultTable:
        table = make(inputs)
        return ResultTable(longer, {**table.columns, NEW.name: np.resize(VALUES, len(table))})

    monkeypatch.setitem(loops.TABLES, "loops", (longer, with_tea))
    yield
    monkeypatch.undo()


@pytest.fixture
def table() -> ResultTable:
    """Two loops."""
    loop = rcv_py.open(FOLDER).loops().result
    found = loops.loop_table(open_trace(FOLDER), loop.loops.table)[:2]
    return ResultTable(found.spec.with_field(NEW), {**found.columns, NEW.name: VALUES[: len(found)]})


def test_the_command_prints_it(planted: None) -> None:
    rows = json.loads(printed("loops", str(FOLDER), "--json"))["rows"]
    assert rows[0][NEW.name] == VALUES[0]
    row, *_ = csv.DictReader(io.StringIO(printed("loops", str(FOLDER), "--csv")))
    assert row[NEW.name] == str(VALUES[0])
    text = printed("loops", str(FOLDER))
    assert "tea time" in text
    assert "70,000" in text


def test_its_rows_can_be_sorted_by_it(planted: None) -> None:
    rows = json.loads(printed("loops", str(FOLDER), "--json", "--sort", NEW.name))["rows"]
    assert rows[0][NEW.name] == (VALUES[1] if len(rows) > 1 else VALUES[0])
    assert NEW.name in refused("loops", FOLDER, "--sort", "coffee")


def test_the_schema_demands_it() -> None:
    spec = loops.TABLES["loops"][0].with_field(NEW)
    planted = Schema("planted", "Loops.", forms=(form("Loops.", loops.FACTS, "show", "loops", spec),))
    shape = planted.as_json()["anyOf"][0]["properties"]["rows"]["items"]
    assert shape["properties"][NEW.name]["description"] == "Time that was spent on tea, in cycles."
    assert NEW.name in shape["required"]


def test_the_api_and_its_reference_explain_it(planted: None, monkeypatch: pytest.MonkeyPatch) -> None:
    table = rcv_py.open(FOLDER).loops()
    row = next(row for row in table.help.rows() if row["column"] == NEW.name)
    assert (row["type"], row["unit"], row["meaning"]) == ("int64", "cycles", NEW.meaning)
    assert table[NEW.name][0] == VALUES[0]
    page = "\n".join(packaging(monkeypatch, "api_reference")._columns(table))
    assert f"| `{NEW.name}` | int64 | cycles | {NEW.meaning} |" in page


def test_reports_have_it(table: ResultTable) -> None:
    part = report_table(table, open_trace(FOLDER), "Loops")
    report = Report("Title", "", (ReportSection("loops", "Loops", (part,)),), "rcv")
    for page in (markdown(report), html(report)):
        assert "tea time" in page
        assert "70,000" in page


def test_the_window_has_it_and_copies_a_command_that_sorts_by_it(table: ResultTable) -> None:
    column = next(one for one in result_columns(table, open_trace(FOLDER)) if one.id == NEW.name)
    assert (column.title, column.tip) == ("tea time", "Time that was spent on tea, in cycles.")
    assert column.is_number
    assert column.text(column.values[0]) == "70,000"
    assert column.sort == NEW.name


def packaging(monkeypatch: pytest.MonkeyPatch, name: str) -> ModuleType:
    """A module that writes the reference pages."""
    monkeypatch.setattr(sys, "path", [str(Path(rcv_py.__file__).parents[1] / "packaging"), *sys.path])
    return import_module(name)
