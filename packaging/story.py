"""Draw the pictures of docs/story.md: mouse clicks drive a window from a folder to a picture for a report."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QColor, QImage, QPainter, QPen
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QLineEdit, QTabWidget, QWidget

from rcv_py.synth.samples import SAMPLES
from rcv_py.ui.app import App, start
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.shell.export_dialog import ExportDialog
from rcv_py.ui.shot import wait_until_idle
from rcv_py.ui.table.rows_view import RowsView

CAPTURES = ("matmul_tiled", "tutorial_before", "gfx12")
SIZES = ((1280, 800), (1920, 1080))
PARENT = Path(tempfile.gettempdir()) / "captures"  # its name is in a picture
COLORS = 64  # of a picture: a palette makes its file a quarter as large
FREQUENT, UNLIKE = 24, 20  # colours of a palette as they are, distance of others from all before
RING_PX, DIALOG_MS, AROUND_PX = 12, 200, 40


class Story:
    """One window in one size, and the pictures of it."""

    def __init__(self, app: App, size: tuple[int, int], out: Path) -> None:
        self._app, self._window, self._out = app, app.window, out
        self._size = f"{size[0]}x{size[1]}"
        self._errors: list[BaseException] = []
        app.ui.tasks.failed.connect(lambda error, _: self._errors.append(error))
        app.ui.settings["look.theme"] = "light"
        self._window.resize(*size)
        self._window.show()
        self._window.activateWindow()
        self._rest()

    # -- the steps ------------------------------------------------------------------------------------

    def open_folder(self, parent: Path) -> None:
        """File › Open folder, with the folder typed into the dialog."""

        def type_name() -> None:
            dialog = QApplication.activeModalWidget()
            assert isinstance(dialog, QFileDialog)
            field = dialog.findChild(QLineEdit, "fileNameEdit")
            assert field is not None
            field.setText(str(parent))
            dialog.done(QDialog.DialogCode.Accepted)

        QTimer.singleShot(DIALOG_MS, type_name)
        self._window.actions_["file.open"].trigger()
        self._rest()

    def choose(self, name: str) -> None:
        """Open a capture of the list with a double click."""
        chooser = self._window.pages.chooser
        at = next(at for at, entry in enumerate(chooser.entries) if entry.path.name == name)
        index = chooser.model.index(chooser.model.view_row(at), 0)
        view, place = chooser.table.viewport(), chooser.table.visualRect(index).center()
        self._click(view, place)
        if name == CAPTURES[0]:
            self._take("open", view, place)
        QTest.mouseDClick(view, Qt.MouseButton.LeftButton, pos=place)
        self._rest()
        self._window.workspace.reset_layout()
        self._rest()
        self._take(f"{name}-1-first-view")

    def click_bar(self, name: str) -> None:
        """Click the highest bar of Hotspot; its tab first, if it is folded."""
        panel = self._panel("hotspot")
        if not panel.isVisible():
            tabs = self._tabs_of(panel)
            at = next(at for at in range(tabs.count()) if tabs.widget(at).isAncestorOf(panel))
            self._click(tabs.tabBar(), tabs.tabBar().tabRect(at).center())
        plot = panel.plot
        bar = int(np.argmax(plot.totals))
        place = QPoint(round(plot.x_of(bar + 0.5)), round(plot.area.center().y()))
        self._click(plot, place)
        self._take(f"{name}-2-bar", plot, place)

    def click_row(self, name: str) -> None:
        """Click the costliest row of the listing in sight, other than the selected row."""
        self._click_costliest(self._panel("isa").view, "latency", f"{name}-3-row")

    def click_line(self, name: str) -> None:
        """Click the costliest line of the source in sight, other than the selected line."""
        self._click_costliest(self._panel("source").view, "cost", f"{name}-4-line")

    def save(self, name: str) -> None:
        """Save the listing around the selected row with the dialog, in light colours."""
        self._window.actions_["export.dialog"].trigger()
        self._rest()
        dialog = next(one for one in self._window.findChildren(ExportDialog) if one.isVisible())
        for box, value in ((dialog.what, "isa"), (dialog.rows, 20), (dialog.colors, True)):
            box.setCurrentIndex(box.findData(value))
        path = Path(dialog.path.text()).name
        dialog.path.setText(f"~/report/{path}")
        self._rest()
        self._take(f"{name}-5-save", dialog=dialog)
        picture = self._out / f"{self._size}-{name}-6-picture.png"
        picture.unlink(missing_ok=True)
        dialog.path.setText(str(picture))
        dialog.save()
        assert not dialog.error.text(), dialog.error.text()
        _write(QImage(str(picture)), picture)
        self._rest()

    # -- parts ----------------------------------------------------------------------------------------

    def _panel(self, name: str) -> Panel:
        panel = self._window.workspace.panel(name)
        assert panel is not None, name
        return panel

    def _tabs_of(self, panel: QWidget) -> QTabWidget:
        parent = panel.parentWidget()
        while not isinstance(parent, QTabWidget):
            parent = parent.parentWidget()
        return parent

    def _click_costliest(self, view: RowsView, column: str, name: str) -> None:
        cost = np.asarray(view.table.columns[view.table.column_of(column)].values)
        top, stop = view.covered_px, view.viewport().height() - view.row_height
        rows = [row for row in view.table.data_rows.tolist() if top <= view.row_rect(row).top() <= stop]
        costs = [0 if row == view.current else int(cost[row]) for row in rows]
        row = rows[int(np.argmax(costs))] if any(costs) else view.current
        place = view.row_rect(row).center()
        self._click(view.viewport(), place)
        self._take(name, view.viewport(), QPoint(place.x(), view.row_rect(row).center().y()))

    def _click(self, widget: QWidget, place: QPoint) -> None:
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=place)
        self._rest()

    def _rest(self) -> None:
        wait_until_idle(self._app, self._errors)

    def _take(
        self,
        name: str,
        clicked: QWidget | None = None,
        place: QPoint | None = None,
        *,
        dialog: QWidget | None = None,
    ) -> None:
        """Write a picture of the window with a ring at the click, or of a dialog and what is around it."""
        image = self._window.grab().toImage()
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if clicked is not None and place is not None:
            painter.setPen(QPen(QColor("#d0006f"), 3))
            painter.drawEllipse(clicked.mapTo(self._window, place), RING_PX, RING_PX)
        if dialog is not None:
            box = dialog.rect()
            box.moveCenter(self._window.rect().center())
            painter.drawPixmap(box.topLeft(), dialog.grab())
            painter.setPen(QPen(QColor("#606060"), 1))
            painter.drawRect(box)
        painter.end()
        if dialog is not None:
            image = image.copy(box.adjusted(-AROUND_PX, -AROUND_PX, AROUND_PX, AROUND_PX))
        _write(image, self._out / f"{self._size}-{name}.png")


def _write(image: QImage, path: Path) -> None:
    """Write a picture with a palette: frequent colours, then colours unlike these; others: the nearest."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), dtype=np.uint32).reshape(image.height(), -1)
    colors, at, counts = np.unique(pixels[:, : image.width()], return_inverse=True, return_counts=True)
    parts = (colors[:, None] >> np.array([16, 8, 0], dtype=np.uint32) & 0xFF).astype(np.int32)
    order = np.argsort(counts, kind="stable")[::-1].tolist()
    kept = order[:FREQUENT]
    for color in order[FREQUENT:]:
        if len(kept) < COLORS and np.square(parts[kept] - parts[color]).sum(axis=1).min() > UNLIKE**2:
            kept.append(color)
    nearest = np.concatenate(
        [
            np.argmin(np.square(some[:, None] - parts[kept]).sum(axis=2), axis=1)
            for some in np.array_split(parts, len(parts) // 1000 + 1)
        ]
    )
    table = nearest[at].reshape(image.height(), image.width()).astype(np.uint8)
    small = QImage(
        table.tobytes(), image.width(), image.height(), image.width(), QImage.Format.Format_Indexed8
    )
    small.setColorTable([int(color) for color in colors[kept]])
    small.save(str(path), "PNG", 0)


def draw(out: Path) -> None:
    """Draw all pictures of the story."""
    out.mkdir(parents=True, exist_ok=True)
    for name in CAPTURES:
        SAMPLES[name].write(PARENT / name)
    for size in SIZES:
        for name in CAPTURES:
            _play(name, size, out)
    for name in CAPTURES:
        shutil.rmtree(PARENT / name)


def _play(name: str, size: tuple[int, int], out: Path) -> None:
    app = start(None)  # as on the first day: without settings
    try:
        story = Story(app, size, out)
        story.open_folder(PARENT)
        story.choose(name)
        story.click_bar(name)
        story.click_row(name)
        story.click_line(name)
        story.save(name)
    finally:
        app.close()


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
