"""Pictures, tables and commands of panels: making them, the export dialog, and menu commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QDeadlineTimer, QEventLoop, QObject, QSize, Qt, QThread, Signal
from PySide6.QtGui import QImage, QStandardItemModel
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QComboBox,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLayout,
    QLineEdit,
    QMainWindow,
    QPushButton,
    QStackedLayout,
    QWidget,
)

from rcv_py.base.errors import ExportError, RcvError, UsageError
from rcv_py.base.progress import CancelFlag, Report, Stage
from rcv_py.base.text import Message, translated
from rcv_py.base.whole_files import whole_file
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.state.commands import Command, commands
from rcv_py.state.session import Session
from rcv_py.ui.core import export
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.export import SCALES
from rcv_py.ui.core.layout import Dialog, row
from rcv_py.ui.core.panel import COPY_AS_COMMAND, Panel, Sheet
from rcv_py.ui.core.plain_text import PlainLabel, allow, copy_text
from rcv_py.ui.core.swatches import Swatch, unlike
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.shell.dialogs.error_box import ErrorReporter
from rcv_py.ui.shell.go_commands import area_title, needs, panels_by_area
from rcv_py.ui.shell.workspace import Workspace
from rcv_py.ui.table import command_text
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.widgets.legend import Legend
from rcv_py.work.load import batches as read_batches

WINDOW = "window"  # id of the whole window
TIMEOUT_MS = 20_000  # to wait for the numbers of a panel that slept
TURN_MS = 10
APART_SIZE = QSize(900, 560)  # px of a picture of a hidden panel


@dataclass(frozen=True, eq=False)
class Exporter:
    """Makes pictures and tables of panels and the window."""

    ui: UiContext
    window: QMainWindow
    workspace: Workspace
    errors: ErrorReporter
    saved: Callable[[Path], None]  # reports a written file
    _last: list[str] = field(default_factory=list)  # id of the panel that had the focus last

    # -- what there is -------------------------------------------------------------------------------

    def names(self) -> dict[str, str]:
        """Return titles of everything that can be exported as a picture, by id: the window first."""
        return {WINDOW: "Whole window"} | self.workspace.names()

    def check_name(self, name: str) -> None:
        """Raise UsageError if there is no panel with that id."""
        if name not in self.names():
            raise UsageError(
                Message("There is no panel {0!r}.", name),
                hint=Message("Panels: {0}.", ", ".join(self.names())),
            )

    def groups(self) -> dict[str, dict[str, str]]:
        """Return the titles of `names` by the title of their area, in the order of the menus."""
        found: dict[str, dict[str, str]] = {"": {WINDOW: "Whole window"}}
        for info in panels_by_area(self.workspace.docks.values()):
            found.setdefault(area_title(info), {})[info.id] = info.title
        return found

    def current(self) -> str:
        """Return the id of the panel with the focus, or that had it last and is visible; else the window."""
        docks = self.workspace.docks
        focused = next((name for name, dock in docks.items() if dock.has_focus()), "")
        if focused:
            self._last[:] = [focused]
        return next((name for name in self._last if name in docks and docks[name].is_seen), WINDOW)

    def in_front(self) -> str:
        """Return the id of what that panel shows: itself, or its chosen part."""
        name = self.current()
        panel = self._made(name)
        return name if panel is None else panel.chosen_part or name

    def sheet(self, name: str) -> Sheet:
        """Return the table of a panel; raise ExportError if it has none."""
        panel = self._panel(name)
        sheet = None if panel is None else panel.sheet()
        if sheet is None:
            raise ExportError(
                Message("{0} has no table.", self.names()[name]),
                hint="Choose a panel that shows a table, such as ISA.",
            )
        return sheet

    def has_sheet(self, name: str) -> bool:
        """Return whether a panel has a table now; a hidden panel may have a table."""
        panel = self._made(name)
        if panel is None:
            return name != WINDOW
        return panel.chosen_panel.visibility.is_asleep or panel.sheet() is not None

    def why_no_rows(self, name: str) -> str:
        """Return why a picture cannot show rows around the selected row, "" if it can."""
        panel = self._made(name)
        return "" if panel is not None and row_views(panel) else "Select a row of a list first."

    # -- making --------------------------------------------------------------------------------------

    def content(self, name: str, suffix: str, look: PictureLook | None = None) -> bytes:
        """Return the contents of a file: `.png`, `.svg` or `.csv` of a panel or the window."""
        look = look or PictureLook()
        makers: dict[str, Callable[[], bytes]] = {
            ".png": lambda: export.png_bytes(self.image(name, look)),
            ".svg": lambda: self.svg(name, look),
            ".csv": lambda: self.sheet(name).csv().encode(),
        }
        if suffix.lower() not in makers:
            raise ExportError(
                Message("{0} is no kind of file that can be written.", suffix or "A name without an ending"),
                hint=Message("Use a name that ends in {0}.", ", ".join(makers)),
            )
        with self._awake(name, is_drawn=suffix.lower() != ".csv"):
            return makers[suffix.lower()]()

    def image(self, name: str, look: PictureLook) -> QImage:
        """Return the picture of a panel or the window."""
        with self.posing(name, look) as legend:
            return export.picture(*self.subject(name), look.scale, legend=legend, size=look.size)

    def svg(self, name: str, look: PictureLook) -> bytes:
        """Return the picture of a panel or the window as an SVG file."""
        with self.posing(name, look) as legend:
            return export.svg_bytes(*self.subject(name), legend=legend, size=look.size)

    def size(self, name: str) -> QSize:
        """Return the size, at scale 1, that a picture of a panel or the window would have now."""
        with self.posing(name) as legend:
            widget, _, text = self.subject(name)
            return export.size_of(widget, text, legend)

    @contextmanager
    def posing(self, name: str, look: PictureLook | None = None) -> Iterator[tuple[Swatch, ...]]:
        """Make a panel look as a picture should; yield swatches for colours without a whole legend."""
        panel, look = self._panel(name), look or PictureLook()
        with ExitStack() as stack:
            if look.is_light:
                stack.enter_context(self.ui.theme.always_light())
                QApplication.sendPostedEvents()
            if panel is None:
                yield ()
                return
            stack.enter_context(panel.for_picture())
            stack.enter_context(_with_rows(panel, look.rows))
            seen = _in_sight(panel)
            cut = [
                legend
                for legend in panel.findChildren(Legend)
                if not (seen.isAncestorOf(legend) and legend.isVisibleTo(seen) and legend.is_whole)
            ]
            for legend in cut:
                legend.is_blank = True
                stack.callback(setattr, legend, "is_blank", False)
            yield unlike((*(swatch for legend in cut for swatch in legend.swatches), *panel.swatches()))

    def save(self, name: str, path: Path, look: PictureLook | None = None) -> None:
        """Write a file whose kind follows from its suffix; raise ExportError on failure."""
        content = self.content(name, path.suffix, look)
        with whole_file(path, makes_folders=False) as target:
            target.write(content)

    def copy_picture(self, name: str, scale: int = 2) -> None:
        """Put a picture on the clipboard."""
        with self._awake(name, is_drawn=True):
            QApplication.clipboard().setImage(self.image(name, PictureLook(scale)))
        self.window.statusBar().showMessage(
            translated(Message("Copied a picture of: {0}.", self.names()[name].lower())), 3000
        )

    def copy_table(self, name: str) -> None:
        """Put a table on the clipboard, with tabs between the cells."""
        with self._awake(name):
            copy_text(self.sheet(name).csv("\t"))
        self.window.statusBar().showMessage(
            translated(Message("Copied the table of: {0}.", self.names()[name].lower())), 3000
        )

    def command_line(self, name: str) -> tuple[str, ...] | None:
        """Return the command line that prints what a panel shows; for the window, that opens the capture."""
        panel = self._panel(name)
        return command_text.rcv(self.ui.session, "view") if panel is None else panel.command_line()

    def copy_command(self, name: str) -> None:
        """Put the command line on the clipboard; raise ExportError if the panel shows nothing."""
        words = self.command_line(name)
        if words is None:
            raise ExportError(
                Message("{0} shows nothing that a command could print.", self.names()[name]),
                hint="Choose what it needs first.",
            )
        text = shlex.join(words)
        copy_text(text)
        self.window.statusBar().showMessage(translated(Message("Copied: {0}", text)), 6000)

    def guarded(self, action: Callable[[], None]) -> None:
        """Call a function; show the reason if it fails."""
        try:
            action()
        except RcvError as error:
            self.errors.show(error)

    @contextmanager
    def _awake(self, name: str, *, is_drawn: bool = False) -> Iterator[None]:
        """Wait for the numbers of a hidden panel, which may have computed nothing yet, nor have a layout."""
        dock = self.workspace.home_of(name)
        part = "" if dock is None else dock.panel.chosen_part
        panel = self._panel(name)
        try:
            with self._stage(name, panel, is_drawn):
                yield
        finally:
            if dock is not None and part:
                dock.show_part(part)

    @contextmanager
    def _stage(self, name: str, panel: Panel | None, is_drawn: bool) -> Iterator[None]:
        if panel is None or not panel.chosen_panel.visibility.is_asleep:
            yield
            return
        QApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
        try:
            with ExitStack() as stack:
                stack.enter_context(panel.visibility.held_awake())
                dock = self.workspace.home_of(name)
                if is_drawn and dock is not None and not (dock.is_seen and dock.is_showing(name)):
                    stack.enter_context(_apart(self._whole(name, panel), self.window))
                deadline = QDeadlineTimer(TIMEOUT_MS)
                while self._is_computing(panel) and not deadline.hasExpired():
                    QApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents, TURN_MS)
                    QThread.msleep(TURN_MS)  # else this loop would keep Python from the job it waits for
                yield
        finally:
            QApplication.restoreOverrideCursor()

    def _is_computing(self, panel: Panel) -> bool:
        """Return whether a panel has no answer yet; while waves stream in, the first answer is enough."""
        ui, store = self.ui, self.ui.session.store
        is_streaming = store is not None and not store.is_complete
        is_due = not is_streaming and (ui.scheduler.is_pending(panel) or ui.scheduler.is_pending(ui.results))
        asked = (panel, panel.chosen_panel)
        is_missing = any(ui.results.is_missing(one.visibility) for one in asked)
        return is_due or is_missing or any(map(ui.tasks.is_busy, asked))

    def _panel(self, name: str) -> Panel | None:
        return None if name == WINDOW else self.workspace.panel(name)

    def _made(self, name: str) -> Panel | None:
        """Return a panel or part if it exists; unlike `_panel`, this makes and chooses nothing."""
        dock = self.workspace.home_of(name)
        made = None if dock is None else dock.made
        return made if made is None or dock is None or name == dock.info.id else made.made_part(name)

    def subject(self, name: str) -> tuple[QWidget, Theme, str]:
        """Return what a picture shows, its theme and its caption.

        The caption names the selected wave and the visible range only if what is shown depends on them.
        """
        panel = self._panel(name)
        dock = self.workspace.home_of(name)
        if panel is None or dock is None:
            return self.window, self.ui.theme, export.caption(self.ui.session)
        words = panel.command_line() or ()
        wave = str(self.ui.session.selection.value.wave)
        text = export.caption(
            self.ui.session,
            panel.caption(),
            has_wave=any(wave in word for word in words[3:]),
            has_range=dock.info.area == "time" or any(word.startswith("--within=") for word in words),
        )
        return _in_sight(self._whole(name, panel)), self.ui.theme, text

    def _whole(self, name: str, panel: Panel) -> Panel:
        """Return a panel with the choice of its parts, if its dock shows it; else the panel alone."""
        dock = self.workspace.home_of(name)
        return panel if dock is None or not dock.is_showing(name) else dock.panel


@contextmanager
def _apart(panel: Panel, window: QWidget) -> Iterator[None]:
    """Lay a hidden panel out during the block, as a window that is not on the screen."""
    home = panel.parentWidget()
    layout = home.layout() if home is not None else None
    if not isinstance(layout, QBoxLayout | QStackedLayout):
        yield
        return
    at, was_hidden = layout.indexOf(panel), panel.isHidden()
    panel.setParent(window, Qt.WindowType.Window)
    panel.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    panel.resize(APART_SIZE)
    panel.show()
    try:
        yield
    finally:
        panel.hide()
        panel.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen, False)
        layout.insertWidget(at, panel)
        if isinstance(layout, QBoxLayout):
            panel.setHidden(was_hidden)


def _in_sight(panel: Panel) -> QWidget:
    """Return what a picture of a panel shows: the whole panel if a sentence replaces its drawing."""
    canvas = panel.canvas()
    return canvas if canvas.isVisibleTo(panel) else panel


def row_views(panel: Panel) -> list[RowsView]:
    """Return the visible lists of a panel that can be as high as wanted around the selected row."""
    return [view for view in panel.findChildren(RowsView) if view.isVisibleTo(panel) and view.current >= 0]


@contextmanager
def _with_rows(panel: Panel, rows: int) -> Iterator[None]:
    """Make a panel as high as `rows` around the selected row of its list need; 0: as high as it is."""
    view = next(iter(row_views(panel)), None) if rows else None
    if view is None:
        yield
        return
    size, bar = panel.size(), view.verticalScrollBar()
    place = bar.value()
    rows = min(rows, len(view.table.data_rows))
    missing = rows * view.row_height + view.covered_px - view.viewport().height()
    try:
        _resize(panel, size + QSize(0, missing))
        first = view.table.view_row(view.current) - rows // 2
        bar.setValue(first * view.row_height - view.covered_px)
        yield
    finally:
        _resize(panel, size)
        bar.setValue(place)


def _resize(panel: Panel, size: QSize) -> None:
    panel.resize(size)
    for layout in [panel.layout(), *panel.findChildren(QLayout)]:
        if layout is not None:
            layout.activate()


class PictureLook(NamedTuple):
    """How a picture is drawn."""

    scale: int = 1  # device pixels a pixel
    rows: int = 0  # of a list, around the selected row; 0: the rows in sight
    is_light: bool = False  # whatever the theme of the window is
    size: QSize | None = None  # at scale 1; None: as large as what it shows


ROWS = (0, 20, 40, 80, 160)  # choices; 0: as many as are in sight
FORMS = {".png": "PNG picture", ".svg": "SVG picture", ".csv": "CSV table"}


class ExportDialog(Dialog):
    """The export dialog: panel, format, scale and file."""

    def __init__(self, exporter: Exporter, parent: QWidget | None = None) -> None:
        button = QDialogButtonBox.StandardButton
        super().__init__("Save a picture or table", parent, button.Save | button.Cancel)
        self._exporter = exporter
        self._names = exporter.names()
        self.setMinimumWidth(480)
        self.what, self.form, self.scale, self.path = QComboBox(), QComboBox(), QComboBox(), QLineEdit()
        self.rows, self.colors = QComboBox(), QComboBox()
        self.what.setMaxVisibleItems(30)
        for area, titles in exporter.groups().items():
            if area:
                self.what.addItem(translated(area))
                self._make_heading(self.what.count() - 1)
            for value, title in titles.items():
                self.what.addItem(translated(title), value)
        rows = {
            number: Message("{0} around the selected row", number) if number else "in sight"
            for number in ROWS
        }
        for box, items in (
            (self.form, FORMS),
            (self.scale, {scale: f"{scale}×" for scale in SCALES}),
            (self.rows, rows),
            (self.colors, {False: "as in the window", True: "light, for reports"}),
        ):
            for choice, said in items.items():
                box.addItem(translated(said), choice)
        self.what.setCurrentIndex(self.what.findData(exporter.in_front()))
        self.scale.setCurrentIndex(1)
        browse = QPushButton(translated("Browse …"))
        browse.clicked.connect(self._browse)
        form = QFormLayout()
        form.setVerticalSpacing(8)
        for name, control, item in (
            ("What", self.what, self.what),
            ("Form", self.form, self.form),
            ("Scale", self.scale, self.scale),
            ("Rows", self.rows, self.rows),
            ("Colours", self.colors, self.colors),
            ("File", self.path, row(self.path, browse, spacing=8)),
        ):
            control.setAccessibleName(translated(name))
            form.addRow(translated(name), item)
        self._may_replace: Path | None = None  # the file reported as existing
        self.error = PlainLabel(role="error", wordWrap=True)
        self.buttons.accepted.connect(self.save)
        self.fill(form, self.error)
        self.what.currentIndexChanged.connect(self._changed)
        self.form.currentIndexChanged.connect(self._changed)
        self._changed()

    def _make_heading(self, at: int) -> None:
        """Let an entry of *What* only name the area of the panels below it."""
        model = self.what.model()
        assert isinstance(model, QStandardItemModel)
        model.item(at).setEnabled(False)

    def save(self) -> None:
        """Write the file and close, or show the reason; replacing a file takes a second click."""
        try:
            path = Path(self.path.text().strip()).expanduser()
            if path != self._may_replace and path.is_file():
                self._may_replace = path
                self.error.setText(Message("{0} exists already. Save once more to replace it.", path))
                return
            look = PictureLook(
                self.scale.currentData(), rows=self.rows.currentData(), is_light=self.colors.currentData()
            )
            self._exporter.save(self.what.currentData(), path, look)
        except RcvError as error:
            self.error.setText(f"{error} {error.hint}".strip())
            return
        self._exporter.ui.settings.remember("export_folder", str(path.parent))
        self._exporter.saved(path)
        self.accept()

    def _changed(self) -> None:
        suffix, name = self.form.currentData(), self.what.currentData()
        allow(self.scale, "" if suffix == ".png" else "Only PNG pictures have a scale.")
        allow(self.colors, "A table has no colours." if suffix == ".csv" else "")
        allow(self.rows, self._exporter.why_no_rows(name) if suffix != ".csv" else "A table has all rows.")
        stem = export.file_stem(self._exporter.ui.session.trace.value)
        self.path.setText(str(export_folder(self._exporter.ui) / f"{stem}_{name}{suffix}"))
        self._check_table()

    def _check_table(self) -> None:
        suffix, name = self.form.currentData(), self.what.currentData()
        no_table = suffix == ".csv" and not self._exporter.has_sheet(name)
        self.error.setText(Message("{0} has no table just now.", self._names[name]) if no_table else "")

    def _browse(self) -> None:
        suffix = self.form.currentData()
        chosen, path = ask_path(self, "Save as", self.path.text(), f"{FORMS[suffix]} (*{suffix})", suffix)
        if path is not None:
            self._may_replace = path if path == Path(chosen) else None  # that dialog has already confirmed it
            self.path.setText(str(path))


def export_folder(ui: UiContext) -> Path:
    """Return the folder of the last written file, the home folder at first."""
    return Path(str(ui.settings.memory("export_folder") or Path.home()))


def ask_path(
    parent: QWidget, title: str, proposal: Path | str, kinds: str, suffix: str
) -> tuple[str, Path | None]:
    """Ask for the name of a file to write; return the typed name, and its path with a suffix, if any."""
    chosen, _ = QFileDialog.getSaveFileName(parent, translated(title), str(proposal), translated(kinds))
    path = Path(chosen)
    return chosen, None if not chosen else path if path.suffix else path.with_suffix(suffix)


def export_commands(exporter: Exporter, session: Session) -> tuple[Command, ...]:
    """Return the commands of the menu Export that save and copy panels and the window."""

    def guarded(action: Callable[[str], None]) -> Callable[[], None]:
        return lambda: exporter.guarded(lambda: action(exporter.current()))

    trace = needs(session)
    here = exporter.current
    no_table, no_command = "Click into a panel that shows a table first.", "This panel shows nothing yet."
    table = needs(session, lambda: exporter.has_sheet(here()), no_table)
    words = needs(session, lambda: exporter.command_line(here()), no_command)
    return commands("Export", (
        ("export.dialog", "Save a picture or table …", "Ctrl+E",
         lambda: ExportDialog(exporter, exporter.window).open(),
         "Save a panel or the window as PNG, SVG or CSV.", trace),
        ("export.copy_picture", "Copy a picture of this panel", "Ctrl+Shift+C",
         guarded(exporter.copy_picture), "Copy the panel with the focus, else the window, as a picture.",
         trace),
        ("export.copy_table", "Copy the table of this panel", "Ctrl+Alt+Shift+C",
         guarded(exporter.copy_table), "Copy the table of the panel with the focus.", table),
        ("export.copy_command", COPY_AS_COMMAND, "Ctrl+Alt+K", guarded(exporter.copy_command),
         "Copy the rcv command that prints the numbers of the panel with the focus.", words),
    ))  # fmt: skip


WRITING = "A file is being written; wait for it, or cancel it in the status bar."
_PAGES = "Web page (*.html)"
_REPORTS = Message("{0};;Markdown (*.md)", _PAGES)
_TRACES = "Perfetto trace (*.pftrace *.pftrace.gz);;speedscope profile (*.speedscope.json)"

Write = Callable[[Path, Report, CancelFlag], None]


class FileWriter(QObject):
    """Writes one file at a time; `saved` gives its path when it is complete."""

    saved = Signal(object)
    _reported = Signal(object)  # from the thread: a stage, None at the end

    def __init__(self, ui: UiContext, window: QMainWindow) -> None:
        super().__init__(window)
        self._ui, self._window = ui, window
        self._flag: CancelFlag | None = None
        self._shown: Stage | None = None
        self._reported.connect(self._show, Qt.ConnectionType.QueuedConnection)

    @property
    def is_busy(self) -> bool:
        """Whether a file is being written."""
        return self._flag is not None

    def cancel(self) -> None:
        """Stop writing; no partial file remains."""
        if self._flag is not None:
            self._flag.set()

    # -- what can be written -------------------------------------------------------------------------

    def ask_report(self) -> None:
        """Ask for a file name and write a report."""
        self._ask("Save a report", ".html", _REPORTS, self.write_report)

    def ask_page(self) -> None:
        """Ask for a file name and write an interactive page."""
        self._ask("Save a page", ".html", _PAGES, lambda path: self.write_report(path, is_interactive=True))

    def ask_trace(self) -> None:
        """Ask for a file name and write a trace or a profile."""
        self._ask("Export the trace", ".pftrace", _TRACES, self.write_trace)

    def _ask(self, title: str, suffix: str, kinds: str, write: Callable[[Path], None]) -> None:
        trace = self._ui.session.trace.value
        proposal = export_folder(self._ui) / f"{export.file_stem(trace)}{suffix}"
        _, path = ask_path(self._window, title, proposal, kinds, suffix)
        if path is not None:
            write(path)

    def write_report(self, path: Path, *, is_interactive: bool = False) -> None:
        """Write a report of the open capture, or an interactive page."""
        trace, _, _ = self._capture()
        files, held = self._ui.session.run_files, self._ui.session.snapshot().batches
        notes = self._ui.session.notes.shown.value

        def write(path: Path, report: Report, flag: CancelFlag) -> None:
            # A start does not wait for modules that few sessions need.
            from rcv_py.export.interactive.content import OF_PAGE  # noqa: PLC0415 - few export
            from rcv_py.export.interactive.page import interactive_page  # noqa: PLC0415 - few export
            from rcv_py.export.report.files import PAGES, check_form, write_page, write_report  # noqa: PLC0415 - few export
            from rcv_py.export.report.inputs import ReportInputs  # noqa: PLC0415 - few export
            from rcv_py.work.reduce import Reducer  # noqa: PLC0415 - few export
            from rcv_py.work.whatif import with_predictions  # noqa: PLC0415 - few export

            facts = facts_about(trace, files)
            with Reducer(trace, held=held, report=report, cancel=flag) as found:
                inputs = ReportInputs(found, facts=facts)
                inputs.notes, inputs.rank = notes, partial(with_predictions, trace, predict=None)
                if not is_interactive:
                    inputs.ask()
                    write_report(inputs, path, report=report, cancel=flag)
                    return
                check_form(path, PAGES)
                inputs.ask(OF_PAGE)
                write_page(interactive_page(inputs, report=report, cancel=flag), path)

        self.start(path, write)

    def write_trace(self, path: Path) -> None:
        """Write a Perfetto trace of all waves, or, for a `.json` name, a profile with the selected wave."""
        trace, batches, wave = self._capture()
        spans = self._ui.results.cell("markers").value

        def write(path: Path, report: Report, flag: CancelFlag) -> None:
            from rcv_py.export.traces.perfetto import write_perfetto  # noqa: PLC0415 - as above
            from rcv_py.export.traces.speedscope import write_speedscope  # noqa: PLC0415 - few export

            with whole_file(path) as target:
                if path.suffix.lower() == ".json":
                    row = None if wave is None else trace.waves.row(wave)
                    read = () if row is None else trace.reader.read([row]).waves
                    write_speedscope(trace, read, target)
                else:
                    waves = batches(report, flag)
                    write_perfetto(trace, waves, target, spans=spans, report=report, cancel=flag)

        self.start(path, write)

    def _capture(self) -> tuple[Trace, Callable[[Report, CancelFlag], Iterable[WaveBatch]], WaveId | None]:
        """Return the open capture, a function that gets all its waves, and the selected wave."""
        session = self._ui.session
        trace, store = session.trace.value, session.store
        if trace is None or store is None:
            raise ExportError("No capture is open.", hint="Open a folder first.")
        loaded = store.batches if store.count + len(store.missing) >= len(trace.waves) else None

        def batches(report: Report, flag: CancelFlag) -> Iterable[WaveBatch]:
            return read_batches(trace, report=report, cancel=flag) if loaded is None else loaded

        return trace, batches, session.selection.value.wave

    # -- doing it ------------------------------------------------------------------------------------

    def start(self, path: Path, write: Write) -> None:
        """Write a file in a thread; errors are handled like errors of all tasks."""
        if self.is_busy:
            raise ExportError(WRITING)
        flag = self._flag = CancelFlag()
        self._show(Stage(Message("Writing {0}", path.name)))

        def job() -> Path:
            try:
                write(path, self._reported.emit, flag)
            finally:
                self._reported.emit(None)
            return path

        self._ui.tasks.run(self, job, self._done)

    def _done(self, path: Path) -> None:
        self._ui.settings.remember("export_folder", str(path.parent))
        self.saved.emit(path)

    def _show(self, stage: Stage | None) -> None:
        """Show a stage next to other tasks' stages; None removes it."""
        if stage is None:
            self._flag = None
        others = tuple(other for other in self._ui.session.busy.value if other is not self._shown)
        self._shown = stage
        self._ui.session.busy.set(others if stage is None else (*others, stage))


def writer_commands(
    writer: FileWriter, guarded: Callable[[Callable[[], None]], None], ui: UiContext
) -> tuple[Command, ...]:
    """Return the commands of the menu Export that write whole captures."""

    why_not = needs(ui.session, lambda: not writer.is_busy, WRITING)
    return commands("Export", (
        ("export.report", "Report …", "Ctrl+Alt+Shift+E", lambda: guarded(writer.ask_report),
         "Write a page about the capture, as HTML or Markdown: causes, hot lines, loops, occupancy.",
         why_not),
        ("export.page", "Page to look around in …", "Ctrl+Alt+Shift+B", lambda: guarded(writer.ask_page),
         "Write a web page with timelines, listing, sources and findings, for people without rcv.", why_not),
        ("export.trace", "Export trace …", "Ctrl+Alt+E", lambda: guarded(writer.ask_trace),
         "Write all waves for ui.perfetto.dev, or costs and the selected wave for speedscope.", why_not),
    ))  # fmt: skip
