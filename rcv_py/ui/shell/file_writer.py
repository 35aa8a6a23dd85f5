"""Writes a report or a trace of the open capture while the window stays usable; its commands.

The work runs in a thread: progress goes to the status bar, whose Cancel stops it, and no half file is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QMainWindow

from rcv_py.base.errors import ExportError
from rcv_py.base.progress import CancelFlag, Report, Stage
from rcv_py.base.whole_files import whole_file
from rcv_py.export.report.files import write_report
from rcv_py.export.report.inputs import report_inputs
from rcv_py.export.traces.perfetto import write_perfetto
from rcv_py.export.traces.speedscope import write_speedscope
from rcv_py.formats.uiout.run_files import run_facts
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.state.commands import Command, commands
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.shell.go_commands import needs
from rcv_py.work.load import batches as read_batches

WRITING = "A file is being written; wait for it, or cancel it in the status bar."
_REPORTS = "Web page (*.html);;Markdown (*.md)"
_TRACES = "Perfetto trace (*.pftrace *.pftrace.gz);;speedscope profile (*.speedscope.json)"

Write = Callable[[Path, Report, CancelFlag], None]


class FileWriter(QObject):
    """One file at a time; `saved` tells its path when it is whole."""

    saved = Signal(object)
    _told = Signal(object)  # from the thread: a stage, None at the end

    def __init__(self, ui: UiContext, window: QMainWindow) -> None:
        super().__init__(window)
        self._ui, self._window = ui, window
        self._flag: CancelFlag | None = None
        self._shown: Stage | None = None
        self._told.connect(self._show, Qt.ConnectionType.QueuedConnection)

    @property
    def is_busy(self) -> bool:
        """Whether a file is being written."""
        return self._flag is not None

    def cancel(self) -> None:
        """Stop writing; nothing of the file is left."""
        if self._flag is not None:
            self._flag.set()

    # -- what can be written -------------------------------------------------------------------------

    def ask_report(self) -> None:
        """Ask for a name and write a report."""
        self._ask("Save a report", ".html", _REPORTS, self.write_report)

    def ask_trace(self) -> None:
        """Ask for a name and write a trace or a profile."""
        self._ask("Export the trace", ".pftrace", _TRACES, self.write_trace)

    def write_report(self, path: Path) -> None:
        """Write a report of the open capture."""
        trace, batches, _ = self._capture()
        files = self._ui.session.run_files

        def write(path: Path, report: Report, flag: CancelFlag) -> None:
            facts = run_facts(trace.path, trace.kernel_name, trace.target, files)
            waves = tuple(batches(report, flag))
            write_report(report_inputs(trace, waves, facts), path, report=report, cancel=flag)

        self.start(path, write)

    def write_trace(self, path: Path) -> None:
        """Write a Perfetto trace of all waves, or for a name in `.json` a profile with the selected wave."""
        trace, batches, wave = self._capture()
        spans = self._ui.results.cell("markers").value

        def write(path: Path, report: Report, flag: CancelFlag) -> None:
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
        """The open capture, how to get all its waves, and the selected one."""
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
        """Write a file in a thread; errors go where those of all tasks go."""
        if self.is_busy:
            raise ExportError(WRITING)
        flag = self._flag = CancelFlag()
        self._show(Stage(f"Writing {path.name}"))

        def job() -> Path:
            try:
                write(path, self._told.emit, flag)
            finally:
                self._told.emit(None)
            return path

        self._ui.tasks.run(self, job, self._done)

    def _done(self, path: Path) -> None:
        self._ui.settings.remember("export_folder", str(path.parent))
        self.saved.emit(path)

    def _show(self, stage: Stage | None) -> None:
        """Show a stage beside those of others; None takes ours away."""
        if stage is None:
            self._flag = None
        others = tuple(one for one in self._ui.session.busy.value if one is not self._shown)
        self._shown = stage
        self._ui.session.busy.set(others if stage is None else (*others, stage))

    def _ask(self, title: str, suffix: str, kinds: str, write: Callable[[Path], None]) -> None:
        trace = self._ui.session.trace.value
        folder = self._ui.settings.memory("export_folder") or str(Path.home())
        name = (trace.name if trace is not None else "capture") + suffix
        chosen, _ = QFileDialog.getSaveFileName(self._window, title, str(Path(folder) / name), kinds)
        if chosen:
            path = Path(chosen)
            write(path if path.suffix else path.with_suffix(suffix))


def writer_commands(
    writer: FileWriter, guarded: Callable[[Callable[[], None]], None], ui: UiContext
) -> tuple[Command, ...]:
    """Return the entries of the menu Export that write whole captures."""

    why_not = needs(ui.session, lambda: not writer.is_busy, WRITING)
    return commands("Export", (
        ("export.report", "Report …", "Ctrl+Shift+E", lambda: guarded(writer.ask_report),
         "Write a page about the capture, as HTML or Markdown: causes, hot lines, loops, occupancy.",
         why_not),
        ("export.trace", "Export trace …", "Ctrl+Alt+E", lambda: guarded(writer.ask_trace),
         "Write all waves for ui.perfetto.dev, or costs and the selected wave for speedscope.", why_not),
    ))  # fmt: skip
