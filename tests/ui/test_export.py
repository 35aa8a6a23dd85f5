"""Pictures and tables: their size, their caption, their text, and why they cannot be written."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from rcv_py.base.errors import ExportError
from rcv_py.base.whole_files import whole_file
from rcv_py.formats.open import open_trace
from rcv_py.ui.core import export
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Sheet
from rcv_py.ui.shell.exporter import ExportDialog
from tests.support.paths import ROOT
from tests.support.window_fixtures import Reused
from tests.ui.window import open_sample, settle


@pytest.mark.parametrize("scale", [1, 2, 3])
def test_a_picture_is_painted_again_at_its_scale(scale: int, ui: UiContext, qtbot: QtBot) -> None:
    label = QLabel("MMMM WWWW @@@@")
    qtbot.addWidget(label)
    label.resize(200, 50)
    image = export.picture(label, ui.theme, "caption", scale)
    assert (image.width(), image.height()) == (200 * scale, (50 + export.CAPTION_PX) * scale)
    if scale > 1:
        small = export.picture(label, ui.theme, "caption", 1)
        small.setDevicePixelRatio(1)
        enlarged = small.scaled(image.size())
        image.setDevicePixelRatio(1)
        assert enlarged != image, "not enlarged but painted"


def test_the_caption_is_in_the_picture(ui: UiContext, qtbot: QtBot) -> None:
    label = QLabel("x")
    qtbot.addWidget(label)
    label.resize(200, 50)
    empty = export.picture(label, ui.theme, "")
    full = export.picture(label, ui.theme, "a trace")
    assert empty.copy(0, 0, 200, 50) == full.copy(0, 0, 200, 50)
    assert empty.copy(0, 52, 200, 24) != full.copy(0, 52, 200, 24)


def test_a_giant_picture_is_refused(ui: UiContext, qtbot: QtBot) -> None:
    label = QLabel("x")
    qtbot.addWidget(label)
    label.resize(9000, 50)
    with pytest.raises(ExportError, match="too large"):
        export.picture(label, ui.theme, "", 3)


def test_svg_holds_shapes_and_the_caption(ui: UiContext, qtbot: QtBot) -> None:
    label = QLabel("hello")
    qtbot.addWidget(label)
    label.resize(200, 50)
    text = export.svg_bytes(label, ui.theme, "my caption").decode()
    assert ET.fromstring(text).tag.endswith("svg")
    assert "hello" in text
    assert "my caption" in text


def test_csv_quotes_what_must_be() -> None:
    sheet = Sheet("t", ("name", "cycles"), [('a,"b"', 1200), ("c", 3)])
    assert list(csv.reader(io.StringIO(sheet.csv()))) == [
        ["name", "cycles"],
        ['a,"b"', "1200"],
        ["c", "3"],
    ]


def test_a_place_that_cannot_be_written_gets_a_sentence(tmp_path: Path) -> None:
    missing = whole_file(tmp_path / "no" / "x.png", makes_folders=False)
    with pytest.raises(ExportError, match=r"cannot be written: no such file") as error, missing:
        pass
    assert error.value.hint


def test_a_capture_without_times_has_no_range_in_its_caption(ui: UiContext) -> None:
    ui.session.open(open_trace(ROOT / "sample_traces" / "pc_sampling"))
    assert "cycles" not in export.caption(ui.session)


def test_a_panel_behind_a_tab_is_computed_before_it_is_exported(qtbot: QtBot, reused: Reused) -> None:
    with reused() as app:
        open_sample(app, qtbot)  # anew: a test before may have looked at it
        app.window.workspace.show_panel("hotspot")
        causes = app.window.workspace.panel("causes")
        qtbot.waitUntil(lambda: causes.visibility.is_asleep)
        assert app.ui.results.cell("attribution").value is None, "nobody looked"
        app.window.exporter.copy_table("causes")
        rows = app.qt.clipboard().text().splitlines()
        assert len(rows) > 2


def test_copying_and_the_dialog(tmp_path: Path, qtbot: QtBot, reused: Reused) -> None:
    with reused(sample=qtbot) as app:
        exporter = app.window.exporter
        exporter.copy_picture("isa", 1)
        assert app.qt.clipboard().image().width() == app.window.workspace.docks["isa"].panel.canvas().width()
        exporter.copy_table("labels")
        assert app.qt.clipboard().text().startswith("label\t")
        dialog = ExportDialog(exporter, app.window)
        dialog.what.setCurrentIndex(dialog.what.findData("isa"))
        dialog.form.setCurrentIndex(2)
        dialog.path.setText(str(tmp_path / "no" / "isa.csv"))
        dialog.save()
        assert "cannot be written" in dialog.error.text()
        written = tmp_path / "isa.csv"
        dialog.path.setText(str(written))
        dialog.save()
        assert written.stat().st_size > 100
        written.write_text("mine")
        again = ExportDialog(exporter, app.window)
        again.what.setCurrentIndex(again.what.findData("isa"))
        again.form.setCurrentIndex(2)
        again.path.setText(str(written))
        again.save()
        assert written.read_text() == "mine", "a file that is there is not replaced by one click"
        assert "exists already" in again.error.text()
        again.save()
        assert written.stat().st_size > 100


CUT = ("compute_unit", "global_timeline", "utilization")  # of which a picture shows whole rows
TWICE = {"window": 2, "isa": 2}  # how large their pictures are; others are painted in the same way


def test_every_panel_can_be_exported(tmp_path: Path, qtbot: QtBot, reused: Reused) -> None:
    with reused(size=(1280, 600), sample=qtbot) as app:
        exporter = app.window.exporter
        for name in exporter.names():
            app.window.workspace.show_panel(name)
            settle(app, qtbot) if name in ("isa", "global_timeline") else None
            scale = TWICE.get(name, 1)
            exporter.save(name, tmp_path / f"{name}.png", scale)
            image = QImage(str(tmp_path / f"{name}.png"))
            with exporter.posing(name) as legend:
                widget, _, _ = exporter.subject(name)
                size = export.size_of(widget, legend)
            assert image.size() == scale * size
            assert size.width() == widget.width()
            assert bool(legend) == (size.height() > widget.height() + export.CAPTION_PX) or name in CUT
        for name in ("isa", "compute_unit"):
            exporter.save(name, tmp_path / f"{name}.svg")
            ET.fromstring((tmp_path / f"{name}.svg").read_text())
        exporter.save("isa", tmp_path / "isa.csv")
        rows = list(csv.reader(io.StringIO((tmp_path / "isa.csv").read_text())))
        assert len(rows) == len(app.ui.session.trace.value.code) + 1
        with pytest.raises(ExportError, match="no table"):
            exporter.save("window", tmp_path / "w.csv")
        with pytest.raises(ExportError, match="no kind of file"):
            exporter.save("isa", tmp_path / "isa.gif")


def test_the_caption_names_trace_wave_and_range(qtbot: QtBot, reused: Reused) -> None:
    with reused() as app:
        assert export.caption(app.ui.session) == "No capture"
        open_sample(app, qtbot)
        text = export.caption(app.ui.session, "extra")
        session = app.ui.session
        for part in (
            session.trace.value.name,
            str(session.selection.value.wave),
            str(session.window.value),
            "extra",
        ):
            assert part in text
