"""The main job, whole: from the slow bar to the source line to a picture, with real clicks."""

import csv
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog

from rcv_py.model.kinds import TokenKind
from rcv_py.ui.app import App
from rcv_py.ui.core.panel import Panel
from tests.support.fixtures import fixture_of
from tests.support.mouse import left_click
from tests.support.window_fixtures import Reused
from tests.ui.window import SAMPLE, settle, show_panel

IS_PAINTED = True


path = fixture_of(lambda: SAMPLE)  # The capture that is opened


def panel(app: App, name: str) -> Panel:
    found = app.window.workspace.panel(name)
    assert isinstance(found, Panel)
    return found


def open_from_the_menu(app: App, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """File › Open folder, with the folder chosen in the dialog."""
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *args: str(path))
    app.window.actions_["file.open"].trigger()
    settle(app)
    assert app.ui.session.trace.value.path == path


def assert_everything_follows(app: App) -> int:
    """ISA and source show the selected instruction; return it."""
    selection, trace = app.ui.session.selection.value, app.ui.session.trace.value
    assert trace is not None
    assert selection.line is not None
    isa, source = panel(app, "isa"), panel(app, "source")
    assert isa.view.current == selection.line
    assert isa.view.viewport().rect().contains(isa.view.row_rect(selection.line).center())
    row = source.view.lines.row_of(selection.source[1])
    assert source.view.current == row
    assert source.view.viewport().rect().contains(source.view.row_rect(row).center())
    return selection.line


def click_highest_bar(app: App) -> None:
    hotspot = panel(app, "hotspot")
    show_panel(app, "hotspot")
    plot = hotspot.plot
    highest = int(np.argmax(plot.bins.totals))
    at = QPoint(round(plot.x_of(highest + 0.5)), plot.height() // 2)
    left_click(plot, at)
    settle(app)
    first, stop = int(plot.bins.first[highest]), int(plot.bins.stop[highest])
    chosen = app.ui.session.selection.value
    assert chosen.lines == (first, min(stop, len(app.ui.session.trace.value.code)))
    assert first <= chosen.line < stop


def test_from_the_slow_bar_to_the_source_line(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reused: Reused
) -> None:
    with reused(size=(1920, 1080)) as app:
        open_from_the_menu(app, path, monkeypatch)
        session = app.ui.session
        code = session.trace.value.code

        click_highest_bar(app)
        assert_everything_follows(app)

        # Files: a click on its costliest line.
        files = panel(app, "explorer")
        show_panel(app, "explorer")
        places = [place for place in files.tree.rows.tree.root.walk() if not place.children and place.cost]
        best = max(places, key=lambda place: place.cost)
        index = files.tree.rows.index_of(best)
        files.tree.scrollTo(index)
        left_click(files.tree.viewport(), files.tree.visualRect(index).center())
        settle(app)
        assert_everything_follows(app)

        # The listing, sorted by latency: its first row is the costliest instruction.
        isa = panel(app, "isa")
        isa.view.header.setSortIndicator(isa.view.table.column_of("latency"), Qt.SortOrder.DescendingOrder)
        settle(app)
        place = QPoint(isa.view.columnViewportPosition(2) + 20, isa.view.row_height // 2)
        left_click(isa.view.viewport(), place)
        settle(app)
        assert session.selection.value.line == int(np.argmax(np.where(code.is_label, -1, code.latency)))
        isa.view.header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        settle(app)
        line = assert_everything_follows(app)

        # A wait has arrows from what it waited for.
        assert code.kind[line] == TokenKind.IMMED
        assert line in isa.view.arrows.target
        session.back()
        settle(app)
        assert session.selection.value.line != line or session.selection.value.lines is not None
        session.forward()

        app.window.exporter.save("window", tmp_path / "window.png")
        picture = QImage(str(tmp_path / "window.png"))
        assert picture.width() == app.window.width()
        app.window.exporter.save("isa", tmp_path / "isa.csv")
        rows = list(csv.reader((tmp_path / "isa.csv").read_text().splitlines()))
        assert len(rows) == len(code) + 1
