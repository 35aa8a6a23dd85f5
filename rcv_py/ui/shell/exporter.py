"""Pictures, tables and commands of panels: making them, the export dialog, and menu commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QDeadlineTimer, QEventLoop, QObject, Qt, QThread, QTimer, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QMainWindow,
    QPushButton,
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
from rcv_py.ui.shell.go_commands import needs
from rcv_py.ui.shell.workspace import Workspace
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.legend import Legend
from rcv_py.work.load import batches as read_batches

WINDOW = "window"  # id of the whole window
TIMEOUT_MS = 20_000  # to wait for the numbers of a panel that slept
TURN_MS = 10


@dataclass(frozen=True, eq=False)
class Exporter:
    """Makes pictures and tables of panels and the window."""

    ui: UiContext
    window: QMainWindow
    workspace: Workspace
    errors: ErrorReporter

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

    def current(self) -> str:
        """Return the id of the focused panel, else of the window."""
        return next((name for name, dock in self.workspace.docks.items() if dock.has_focus()), WINDOW)

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
        panel = self._panel(name)
        return panel is not None and (panel.chosen_panel.visibility.is_asleep or panel.sheet() is not None)

    # -- making --------------------------------------------------------------------------------------

    def content(self, name: str, suffix: str, scale: int = 1) -> bytes:
        """Return the contents of a file: `.png`, `.svg` or `.csv` of a panel or the window."""
        makers: dict[str, Callable[[], bytes]] = {
            ".png": lambda: export.png_bytes(self.image(name, scale)),
            ".svg": lambda: self.svg(name),
            ".csv": lambda: self.sheet(name).csv().encode(),
        }
        if suffix.lower() not in makers:
            raise ExportError(
                Message("{0} is no kind of file that can be written.", suffix or "A name without an ending"),
                hint=Message("Use a name that ends in {0}.", ", ".join(makers)),
            )
        with self._awake(name):
            return makers[suffix.lower()]()

    def image(self, name: str, scale: int = 1) -> QImage:
        """Return the picture of a panel or the window."""
        with self.posing(name) as legend:
            return export.picture(*self.subject(name), scale, legend=legend)

    def svg(self, name: str) -> bytes:
        """Return the picture of a panel or the window as an SVG file."""
        with self.posing(name) as legend:
            return export.svg_bytes(*self.subject(name), legend=legend)

    @contextmanager
    def posing(self, name: str) -> Iterator[tuple[Swatch, ...]]:
        """Make a panel look as a picture should; yield swatches for colours without a legend."""
        panel = self._panel(name)
        if panel is None:
            yield ()
            return
        with panel.for_picture():
            seen = _in_sight(panel)
            unsaid = (
                swatch
                for legend in panel.findChildren(Legend)
                if not (seen.isAncestorOf(legend) and legend.isVisibleTo(seen) and legend.is_whole)
                for swatch in legend.swatches
            )
            yield unlike((*unsaid, *panel.swatches()))

    def save(self, name: str, path: Path, scale: int = 1) -> None:
        """Write a file whose kind follows from its suffix; raise ExportError on failure."""
        content = self.content(name, path.suffix, scale)
        with whole_file(path, makes_folders=False) as target:
            target.write(content)

    def copy_picture(self, name: str, scale: int = 2) -> None:
        """Put a picture on the clipboard."""
        with self._awake(name):
            QApplication.clipboard().setImage(self.image(name, scale))
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
    def _awake(self, name: str) -> Iterator[None]:
        """Wait for the numbers of a hidden panel, which may have computed nothing yet."""
        panel = self._panel(name)
        if panel is None or not panel.chosen_panel.visibility.is_asleep:
            yield
            return
        QApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
        try:
            with panel.visibility.held_awake():
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

    def subject(self, name: str) -> tuple[QWidget, Theme, str]:
        """Return what a picture shows, its theme and its caption."""
        panel = self._panel(name)
        text = export.caption(self.ui.session, "" if panel is None else panel.caption())
        dock = self.workspace.home_of(name)
        if panel is None or dock is None:
            return self.window, self.ui.theme, text
        whole = dock.panel if dock.is_showing(name) else panel  # with its choice, if the part can be seen
        return _in_sight(whole), self.ui.theme, text


def _in_sight(panel: Panel) -> QWidget:
    """Return what a picture of a panel shows: the whole panel if a sentence replaces its drawing."""
    canvas = panel.canvas()
    return canvas if canvas.isVisibleTo(panel) else panel


SETTLE_MS = 400  # until a hidden panel has its table
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
        for box, items in (
            (self.what, self._names),
            (self.form, FORMS),
            (self.scale, {scale: f"{scale}×" for scale in SCALES}),
        ):
            for value, title in items.items():
                box.addItem(translated(title), value)
        self.what.setCurrentIndex(self.what.findData(exporter.current()))
        self.scale.setCurrentIndex(1)
        browse = QPushButton(translated("Browse …"))
        browse.clicked.connect(self._browse)
        form = QFormLayout()
        form.setVerticalSpacing(8)
        for name, field, item in (
            ("What", self.what, self.what),
            ("Form", self.form, self.form),
            ("Scale", self.scale, self.scale),
            ("File", self.path, row(self.path, browse, spacing=8)),
        ):
            field.setAccessibleName(translated(name))
            form.addRow(translated(name), item)
        self._may_replace: Path | None = None  # the file reported as existing
        self.error = PlainLabel(role="error", wordWrap=True)
        self.buttons.accepted.connect(self.save)
        self.fill(form, self.error)
        self.what.currentIndexChanged.connect(self._raise)
        self.what.currentIndexChanged.connect(self._changed)
        self.form.currentIndexChanged.connect(self._changed)
        self._changed()

    def save(self) -> None:
        """Write the file and close, or show the reason; replacing a file takes a second click."""
        try:
            path = Path(self.path.text().strip()).expanduser()
            if path != self._may_replace and path.is_file():
                self._may_replace = path
                self.error.setText(Message("{0} exists already. Save once more to replace it.", path))
                return
            self._exporter.save(self.what.currentData(), path, self.scale.currentData())
        except RcvError as error:
            self.error.setText(f"{error} {error.hint}".strip())
            return
        self._exporter.ui.settings.remember("export_folder", str(path.parent))
        self._exporter.window.statusBar().showMessage(translated(Message("Saved {0}", path)), 5000)
        self.accept()

    def _changed(self) -> None:
        suffix, name = self.form.currentData(), self.what.currentData()
        allow(self.scale, "" if suffix == ".png" else "Only PNG pictures have a scale.")
        trace = self._exporter.ui.session.trace.value
        stem = "rcv" if trace is None else trace.name.replace(".", "_")
        self.path.setText(str(export_folder(self._exporter.ui) / f"{stem}_{name}{suffix}"))
        self._check_table()

    def _raise(self) -> None:
        """Bring the panel to the front: a hidden panel has computed nothing."""
        if self.what.currentData() != WINDOW:
            self._exporter.workspace.show_panel(self.what.currentData())
            QTimer.singleShot(SETTLE_MS, self, self._check_table)

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
        proposal = export_folder(self._ui) / f"{'capture' if trace is None else trace.name}{suffix}"
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

            facts = facts_about(trace, files)
            with Reducer(trace, held=held, report=report, cancel=flag) as found:
                inputs = ReportInputs(found, facts=facts)
                inputs.notes = notes
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
