"""Pictures and tables: their size, their caption, their text, and why they cannot be written."""

import csv
import io
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PySide6.QtGui import QDesktopServices, QImage
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from rcv_py.base.errors import ExportError
from rcv_py.base.whole_files import whole_file
from rcv_py.formats.open import open_trace
from rcv_py.ui.app import App
from rcv_py.ui.core import export
from rcv_py.ui.core.panel import Sheet, UiContext
from rcv_py.ui.shell.export_dialog import ExportDialog
from rcv_py.ui.shell.exporter import PictureLook
from tests.support.paths import ROOT
from tests.support.window_fixtures import Reused
from tests.ui.window import SAMPLE, open_sample, settle, show_panel


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


def test_a_long_caption_has_as_many_lines_as_it_needs(ui: UiContext, qtbot: QtBot) -> None:
    label = QLabel("x")
    qtbot.addWidget(label)
    label.resize(200, 50)
    words = "kernel · dispatch 44 · folder of the capture  ·  cycles 1 to 2"
    text = export.svg_bytes(label, ui.theme, words).decode().partition("</title>")[2]
    assert "…" not in text
    for word in words.split():
        assert word in text
    assert export.size_of(label, words).height() > 50 + 2 * export.CAPTION_PX
    assert "…" in export.svg_bytes(label, ui.theme, "w" * 80).decode(), "a word that has no room is elided"


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


def test_copying_and_the_dialog(app: App, tmp_path: Path) -> None:
    exporter = app.window.exporter
    exporter.copy_picture("isa", 1)
    assert app.qt.clipboard().image().width() == app.window.workspace.docks["isa"].panel.canvas().width()
    show_panel(app, "history")
    exporter.copy_table("history")
    assert app.qt.clipboard().text().startswith("\tplace\twave")
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


TWICE = {"window": 2, "isa": 2}  # how large their pictures are; others are painted in the same way


def test_every_panel_can_be_exported(tmp_path: Path, reused: Reused) -> None:
    with reused(size=(1280, 600), sample=True) as app:
        exporter = app.window.exporter
        for name in exporter.names():
            app.window.workspace.show_panel(name)
            settle(app) if name in ("isa", "global_timeline") else None
            scale = TWICE.get(name, 1)
            exporter.save(name, tmp_path / f"{name}.png", PictureLook(scale))
            image = QImage(str(tmp_path / f"{name}.png"))
            with exporter.posing(name) as legend:
                widget, _, text = exporter.subject(name)
                size = export.size_of(widget, text, legend)
                said = size.height() - export.size_of(widget, text).height()
            assert image.size() == scale * size, name
            assert size.width() == widget.width()
            assert bool(legend) == (said > 0)
        for name in ("isa", "compute_unit"):
            exporter.save(name, tmp_path / f"{name}.svg")
            ET.fromstring((tmp_path / f"{name}.svg").read_text())
        exporter.save("isa", tmp_path / "isa.csv")
        rows = list(csv.reader(io.StringIO((tmp_path / "isa.csv").read_text())))
        assert len(rows) == len(app.ui.session.trace.value.code) + 1
        with pytest.raises(ExportError, match="no table"):
            exporter.save("window", tmp_path / "w.csv")
        with pytest.raises(ExportError, match="not a kind of file"):
            exporter.save("isa", tmp_path / "isa.gif")


def test_the_caption_names_trace_wave_and_range(blank: App) -> None:
    assert export.caption(blank.ui.session) == "No capture"
    open_sample(blank)
    text = export.caption(blank.ui.session, "extra")
    session = blank.ui.session
    for part in (
        session.trace.value.name,
        str(session.selection.value.wave),
        str(session.window.value),
        "extra",
    ):
        assert part in text


def dialog_of(app: App) -> ExportDialog:
    return ExportDialog(app.window.exporter, app.window)


def test_the_dialog_begins_with_the_panel_that_had_the_focus(app: App, qtbot: QtBot) -> None:
    window = app.window
    window.activateWindow()
    window.workspace.show_main()
    qtbot.waitUntil(lambda: window.exporter.current() == "isa")
    window.top_bar.capture.setFocus()  # as a menu does, or the field of the palette
    dialog = dialog_of(app)
    assert dialog.what.currentData() == "isa"
    dialog.close()


def test_what_is_in_sight_can_be_saved(app: App) -> None:
    show_panel(app, "history")
    dialog = dialog_of(app)
    entries = {dialog.what.itemData(at): dialog.what.itemText(at) for at in range(dialog.what.count())}
    assert next(iter(entries)) == "window"
    seen = {"isa": "ISA", "compute_unit": "Compute Unit", "history": "History"}
    assert entries.items() >= seen.items()
    assert "global_timeline" not in entries
    dialog.close()


def test_files_and_captions_name_the_kernel(blank: App, tmp_path: Path) -> None:
    folder = tmp_path / "before" / "ui_output_agent_38430_dispatch_44"
    shutil.copytree(SAMPLE, folder)
    open_sample(blank, folder)
    trace = blank.ui.session.trace.value
    dialog = dialog_of(blank)
    dialog.what.setCurrentIndex(dialog.what.findData("isa"))
    name = Path(dialog.path.text()).name
    assert name == "matmul_tiled_dispatch_44_before_isa.png"
    assert blank.window.exporter.subject("isa")[2].startswith(trace.title)
    dialog.close()


def test_a_caption_names_a_wave_only_where_the_picture_is_of_it(app: App) -> None:
    exporter, wave = app.window.exporter, str(app.ui.session.selection.value.wave)
    show_panel(app, "utilization")
    assert wave in exporter.subject("utilization")[2]
    for name in ("triage", "hotspot", "occupancy"):
        assert wave not in exporter.subject(name)[2], name
    assert "cycles " in exporter.subject("compute_unit")[2]
    assert "cycles " not in exporter.subject("hotspot")[2].partition("·")[2].partition("·")[0]


def test_a_caption_of_many_words_gets_more_lines(ui: UiContext, qtbot: QtBot) -> None:
    label = QLabel("x")
    qtbot.addWidget(label)
    label.resize(200, 50)
    text = export.SEPARATOR.join(["a capture of a kernel", "cycles 1 to 2", "what is shown"])
    assert export.size_of(label, text).height() > export.size_of(label, "a capture").height()
    svg = export.svg_bytes(label, ui.theme, text).decode()
    assert "…" not in svg
    assert all(part in svg for part in text.split(export.SEPARATOR))


def test_a_picture_of_the_listing_has_as_many_rows_as_wanted(reused: Reused) -> None:
    with reused(size=(1280, 600), sample=True) as app:
        app.ui.session.select_line(100)
        settle(app)
        view = app.window.workspace.panel("isa").view
        before = view.verticalScrollBar().value(), view.size()
        exporter = app.window.exporter
        with exporter.posing("isa", PictureLook(rows=60)):
            assert view.viewport().height() >= 60 * view.row_height
            seen = [view.table.view_row(row) * view.row_height for row in (71, 100, 129)]
            top = view.verticalScrollBar().value()
            assert all(top <= at <= top + view.viewport().height() - view.row_height for at in seen)
        assert (view.verticalScrollBar().value(), view.size()) == before


def test_a_saved_picture_can_be_opened_and_its_path_copied(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    dialog, path = dialog_of(app), tmp_path / "a.png"
    dialog.path.setText(str(path))
    dialog.save()
    saved = app.window.status.saved
    assert saved.isVisibleTo(app.window.status)
    for link in ("file", "folder", "path"):
        assert f'href="{link}"' in saved.text()
        saved.linkActivated.emit(link)
    assert opened == [str(path), str(tmp_path)]
    assert app.qt.clipboard().text() == str(path)
