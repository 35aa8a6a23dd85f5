"""Reports, pages and traces of the open capture, written by a thread, and the commands for them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QMainWindow, QWidget

from rcv_py.base.errors import ExportError
from rcv_py.base.progress import CancelFlag, Report, Stage, stoppable
from rcv_py.base.text import Message, translated
from rcv_py.base.whole_files import whole_file
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.trace import Trace
from rcv_py.state.commands import Command, commands
from rcv_py.ui.core import export
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.shell.menu_commands import needs
from rcv_py.work.load import batches

WRITING = "A file is being written; wait for it, or cancel it in the status bar."
_PAGES = "Web page (*.html)"
_REPORTS = Message("{0};;Markdown (*.md)", _PAGES)
_TRACES = "Perfetto trace (*.pftrace *.pftrace.gz);;speedscope profile (*.speedscope.json)"

Write = Callable[[Path, Report], None]


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


class FileWriter(QObject):
    """Writes one file at a time; `saved` gives its path when it is complete."""

    saved = Signal(object)
    _reported = Signal(object)  # from the thread: a stage, None at the end

    def __init__(self, ui: UiContext, window: QMainWindow) -> None:
        super().__init__(window)
        self._ui, self._window = ui, window
        self._flag: CancelFlag | None = None
        self._reported.connect(self._show, Qt.ConnectionType.QueuedConnection)

    @property
    def is_busy(self) -> bool:
        """Whether a file is being written."""
        return self._flag is not None

    def cancel(self) -> None:
        """Stop writing; no partial file remains."""
        if self._flag is not None:
            self._flag.set()

    def ask(self, title: str, suffix: str, kinds: str, write: Callable[[Path], None]) -> None:
        """Ask for a file name, and write the file."""
        trace = self._ui.session.trace.value
        proposal = export_folder(self._ui) / f"{export.file_stem(trace)}{suffix}"
        _, path = ask_path(self._window, title, proposal, kinds, suffix)
        if path is not None:
            write(path)

    def write_report(self, path: Path, *, is_interactive: bool = False) -> None:
        """Write a report of the open capture, or an interactive page."""
        trace = self._trace()
        files, held = self._ui.session.run_files, self._ui.session.snapshot().batches
        notes = self._ui.session.notes.shown.value

        def write(path: Path, report: Report) -> None:
            # A start does not wait for modules that few sessions need.
            from rcv_py.export.interactive.content import OF_PAGE  # noqa: PLC0415 - few export
            from rcv_py.export.interactive.page import interactive_page  # noqa: PLC0415 - few export
            from rcv_py.export.report.files import PAGES, check_form, write_page, write_report  # noqa: PLC0415 - few export
            from rcv_py.export.report.inputs import ReportInputs  # noqa: PLC0415 - few export
            from rcv_py.work.reduce import Reducer  # noqa: PLC0415 - few export
            from rcv_py.work.whatif import with_predictions  # noqa: PLC0415 - few export

            facts = facts_about(trace, files)
            with Reducer(trace, held=held, report=report) as found:
                inputs = ReportInputs(found, facts=facts)
                inputs.notes, inputs.rank = notes, partial(with_predictions, trace, predict=None)
                if not is_interactive:
                    inputs.ask()
                    write_report(inputs, path, report=report)
                    return
                check_form(path, PAGES)
                inputs.ask(OF_PAGE)
                write_page(interactive_page(inputs, report=report), path)

        self.start(path, write)

    def write_trace(self, path: Path) -> None:
        """Write a Perfetto trace of all waves, or, for a `.json` name, a profile with the selected wave."""
        trace, store, wave = self._trace(), self._ui.session.store, self._ui.session.selection.value.wave
        is_read = store is not None and store.count + len(store.missing) >= len(trace.waves)
        loaded = store.batches if store is not None and is_read else None
        spans = self._ui.results.cell("markers").value

        def write(path: Path, report: Report) -> None:
            from rcv_py.export.traces.perfetto import write_perfetto  # noqa: PLC0415 - as above
            from rcv_py.export.traces.speedscope import write_speedscope  # noqa: PLC0415 - few export

            with whole_file(path) as target:
                if path.suffix.lower() == ".json":
                    row = None if wave is None else trace.waves.row(wave)
                    read = () if row is None else trace.reader.read([row]).waves
                    write_speedscope(trace, read, target)
                else:
                    waves = batches(trace, report=report) if loaded is None else loaded
                    write_perfetto(trace, waves, target, spans=spans, report=report)

        self.start(path, write)

    def _trace(self) -> Trace:
        if (trace := self._ui.session.trace.value) is None:
            raise ExportError("No capture is open.", hint="Open a folder first.")
        return trace

    def start(self, path: Path, write: Write) -> None:
        """Write a file in a thread; errors are handled like errors of all tasks."""
        if self.is_busy:
            raise ExportError(WRITING)
        flag = self._flag = CancelFlag()
        self._show(Stage(Message("Writing {0}", path.name)))

        def job() -> Path:
            try:
                with stoppable(flag):
                    write(path, self._reported.emit)
            finally:
                self._reported.emit(None)
            return path

        def done(path: Path) -> None:
            self._ui.settings.remember("export_folder", str(path.parent))
            self.saved.emit(path)

        self._ui.tasks.run(self, job, done)

    def _show(self, stage: Stage | None) -> None:
        """Show a stage next to other tasks' stages; None removes it."""
        if stage is None:
            self._flag = None
        self._ui.session.show_stage(WRITING, stage)


def writer_commands(
    writer: FileWriter, guarded: Callable[[Callable[[], None]], None], ui: UiContext
) -> tuple[Command, ...]:
    """Return the commands of the menu Export that write whole captures."""

    def ask(*asked: Any) -> Callable[[], None]:
        return lambda: guarded(partial(writer.ask, *asked))

    write_page = partial(writer.write_report, is_interactive=True)
    why_not = needs(ui.session, lambda: not writer.is_busy, WRITING)
    return commands("Export", (
        ("export.report", "Report …", "Ctrl+Alt+Shift+E",
         ask("Save a report", ".html", _REPORTS, writer.write_report),
         "Write a page about the capture, as HTML or Markdown: causes, hot lines, loops, occupancy.",
         why_not),
        ("export.page", "Page to look around in …", "Ctrl+Alt+Shift+B",
         ask("Save a page", ".html", _PAGES, write_page),
         "Write a web page with timelines, listing, sources and findings, for people without rcv.", why_not),
        ("export.trace", "Export trace …", "Ctrl+Alt+E",
         ask("Export the trace", ".pftrace", _TRACES, writer.write_trace),
         "Write all waves for ui.perfetto.dev, or costs and the selected wave for speedscope.", why_not),
    ))  # fmt: skip
