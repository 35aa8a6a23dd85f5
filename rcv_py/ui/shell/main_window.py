"""The main window: menus, bar, pages, workspace, status.  It imports no panel."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from PySide6 import QtGui
from PySide6.QtCore import QByteArray, QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QFileDialog, QMainWindow, QMenu, QMenuBar, QWidget
from shiboken6 import isValid

from rcv_py.base.log import LOG
from rcv_py.base.manifest import panel_for
from rcv_py.base.problems import Problem
from rcv_py.base.text import Message, translated, visible
from rcv_py.formats.locate import SESSION
from rcv_py.state.commands import Command, commands
from rcv_py.state.saved import restore_state, state_of
from rcv_py.state.session import Baseline
from rcv_py.ui.core.frame_budget import FrameBudget, one_shot
from rcv_py.ui.core.layout import boxed, column, row
from rcv_py.ui.core.loader import Loader
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.place_go import ExecutionFinder
from rcv_py.ui.core.plain_text import add_action, allow, copy_text, shown
from rcv_py.ui.shell import menu_commands
from rcv_py.ui.shell.docks import make_docks
from rcv_py.ui.shell.errors import ErrorReporter
from rcv_py.ui.shell.exporter import Exporter, export_commands
from rcv_py.ui.shell.file_writer import FileWriter, ask_path, writer_commands
from rcv_py.ui.shell.focus_order import step_part, step_stop
from rcv_py.ui.shell.menu_commands import needs
from rcv_py.ui.shell.menus import Actions, KeysOverlay, MenuFiller
from rcv_py.ui.shell.opener import BaselineOpener, Opener, restore_visit, save_visit
from rcv_py.ui.shell.pages import Pages
from rcv_py.ui.shell.toolbar import StatusBar, TopBar
from rcv_py.ui.shell.workspace import Workspace

FIRST_SIZE = QSize(1680, 980)  # px at the first start, if the screen is that large
SCREEN_SHARE = 0.92
UPDATE_MS = 60
SPARE_MS = 500  # delay before computing what only a button shows: only when idle
SHOW_AFTER_MS = 250  # longest time a window waits for its capture before it is shown without
if TYPE_CHECKING:  # rarely used
    from rcv_py.base.progress import Report
    from rcv_py.formats.session_file import SavedSession
    from rcv_py.ui.shell.dialogs.alarm import CodeAlarm
    from rcv_py.ui.shell.dialogs.note_dialog import NoteDialog
    from rcv_py.ui.shell.notes_keeper import NotesKeeper
    from rcv_py.ui.shell.palette import Palette
    from rcv_py.ui.shell.welcome import DropHint

BROWSE = {
    "capture": "Open a capture, or a folder of captures",
    "baseline": "Compare the open capture with another one, its baseline",
    "replicate": "Another capture of the baseline's build: what it differs by is noise",
}
FILES = (
    "Captures, runs and sessions (*.rcvz *.zip *.att *.db *.rocpd *.json *.rcvsession);;"
    "Compiled kernels (*.hsaco *.co *.o *.so *.out *.vmfb *.pkl);;All files (*)"
)
SESSIONS = "Sessions (*.rcvsession)"
NO_BASELINE = "The open capture is compared with nothing."


class MainWindow(QMainWindow):
    """Puts panels in docks, and menus, bars and pages around them."""

    another_wanted = Signal()
    quit_wanted = Signal()
    closed = Signal()

    def __init__(self, ui: UiContext, loader: Loader, program: str = "rcv") -> None:
        super().__init__()
        self.program = program  # as in titles
        self.ui, self.loader = ui, loader
        self._compared: tuple[Path, Path] | None = None  # a capture that is being opened, and its baseline
        self.first_panel: str | None = None  # comes to the front the first time a capture opens
        trace = ui.session.trace
        self.errors = ErrorReporter(self, lambda: "" if trace.value is None else trace.value.name)
        self._logged: tuple[Problem, ...] = ()
        self.executions = ExecutionFinder(ui.session, ui.tasks)
        self.opener = Opener(ui, loader)
        self.workspace = Workspace(ui, make_docks(ui))
        findings = panel_for("findings")
        self.status = StatusBar(ui, self.cancel, partial(self.workspace.show_panel, findings))
        self.exporter = Exporter(ui, self, self.workspace, self.errors, saved=self.status.show_saved)
        self.writer = FileWriter(ui, self)
        self.baseline = BaselineOpener(ui, lambda: self.workspace.show_panel(panel_for("comparison")))
        learn = partial(self._show_docs, "tutorial.md")
        self.pages = Pages(ui, self.opener, self.workspace, self.browse, learn)
        self.pages.compared.connect(self._compare_two)
        ui.commands.rebind(ui.settings.keys.value)
        ui.commands.register(
            *self._file_commands(),
            *menu_commands.view_commands(ui, self.workspace),
            *menu_commands.wave_commands(ui.session),
            *self._window_commands(),
            *menu_commands.go_commands(ui.session),
            *menu_commands.analyze_commands(ui.session),
            *export_commands(self.exporter, ui.session, self._ask_export),
            *writer_commands(self.writer, self.exporter.guarded, ui),
            *menu_commands.panel_commands(self.workspace),
            *(command for dock in self.workspace.docks.values() for command in dock.commands()),
        )
        self.actions_ = Actions(self, ui.commands)
        self.menu_bar = QMenuBar()
        more = {"File": self._add_recent, "View/Waves": self._keep_waves}
        MenuFiller(ui.commands, self.actions_, more).fill_bar(self.menu_bar)
        self._recent = QMenu(translated("Open recent"), self, toolTipsVisible=True)
        self._recent.aboutToShow.connect(self._fill_recent)
        waves = QMenu(self.status.waves, toolTipsVisible=True)
        self._keep_waves(waves)
        self.status.waves.setMenu(waves)
        self.top_bar = TopBar(ui, self.actions_, self.opener, self.open_palette)
        self.setMenuWidget(boxed(row(self.menu_bar, (self.top_bar, 1))))
        self.workspace.panels_changed.connect(self._show_verdict)
        self.setStatusBar(self.status)
        self._centre = column((self.pages, 1))
        self.setCentralWidget(boxed(self._centre))
        self.pages.setFocus()  # else the first button of the bar would get the focus, and a frame
        self.setAcceptDrops(True)
        self.setWindowTitle(shown(program))
        self.notes: NotesKeeper | None = None  # once a capture has been shown for a while
        self._note: NoteDialog | None = None  # the open dialog
        self._show_timer = one_shot(self, self.show, SHOW_AFTER_MS)
        ui.settings.keys.watch(self._rebind)
        ui.settings.cell("sources.map").watch(self._find_sources)
        self._connect()
        self._restore()

    def event(self, event: QEvent) -> bool:
        """Paint in turn with the other work of the window."""
        if event.type() == QEvent.Type.UpdateRequest:
            paint = super().event
            FrameBudget.here().paint(lambda: isValid(self) and paint(QEvent(QEvent.Type.UpdateRequest)))
            return True
        return super().event(event)

    @cached_property
    def drop_hint(self) -> DropHint:
        """Return the frame that names what a drop would open, made when something is first dragged here."""
        from rcv_py.ui.shell.welcome import DropHint  # noqa: PLC0415 - as it says

        return DropHint(self)

    @cached_property
    def alarm(self) -> CodeAlarm:
        """Return the band above all pages, made when the texts of a capture are first found to be wrong."""
        from rcv_py.ui.shell.dialogs.alarm import CodeAlarm  # noqa: PLC0415 - as it says

        alarm = CodeAlarm(self.ui, self.centralWidget())
        self._centre.insertWidget(0, alarm)
        return alarm

    @cached_property
    def palette_(self) -> Palette:
        """Return the command palette, made when it is first opened."""
        from rcv_py.ui.shell.palette import Finder, Palette  # noqa: PLC0415 - nor its imports

        finder = Finder(self.ui.session, self.ui.commands, self.opener, self._change_settings)
        return Palette(self.ui.theme, finder.find, self.top_bar.field)

    def _dialog(self, place: str, *arguments: object) -> Any:
        """Return a new dialog of the room `dialogs`, whose module is imported when it is first opened."""
        return resolve_name(f"rcv_py.ui.shell.dialogs.{place}")(*arguments, self)

    def _change_keys(self) -> None:
        self._dialog("keys_dialog:KeysDialog", self.ui.commands, self.ui.settings).open()

    def _change_settings(self, searched: str = "") -> None:
        dialog = self._dialog("settings_dialog:SettingsDialog", self.ui.settings)
        dialog.search.setText(searched)
        dialog.open()

    def _ask_export(self) -> None:
        from rcv_py.ui.shell.export_dialog import ExportDialog  # noqa: PLC0415 - rarely used

        ExportDialog(self.exporter, self).open()

    def _show_docs(self, page: str) -> None:
        self._dialog("docs_dialog:DocsDialog", page).show()

    def _rebind(self) -> None:
        self.ui.commands.rebind(self.ui.settings.keys.value)
        self.actions_.bind()
        self.actions_.update()

    def _file_commands(self) -> tuple[Command, ...]:
        """Return the menu File; the recent captures are added separately."""
        session = self.ui.session

        def forget_replicate() -> None:
            if (baseline := session.baseline.value) is not None:
                session.baseline.set(replace(baseline, replicate=None))

        def replicate() -> Baseline | None:
            return None if session.baseline.value is None else session.baseline.value.replicate

        trace = needs(session)
        has_baseline = needs(session, lambda: session.baseline.value, NO_BASELINE)
        has_replicate = needs(session, replicate, "No replicate of the baseline is open.")
        return commands("File", (
            ("file.open", "Open folder …", "Ctrl+O", self.browse,
             "Open a ui_output folder, or a folder that holds several."),
            ("file.open_file", "Open file …", "Ctrl+Alt+Shift+O", self.browse_file,
             "Open a capture in one file, raw .att files, or the database of a run."),
            ("file.new_window", "New window", "Ctrl+Shift+N", self.another_wanted.emit,
             "Open another window, to look at two captures side by side."),
            ("file.welcome", "Recent captures and samples", "Ctrl+Shift+O", self.pages.show_welcome,
             "Show the page with recent captures and samples."),
            ("file.open_session", "Open session …", "Ctrl+Alt+Shift+S", partial(self.browse_file, SESSIONS),
             "Open a session file: its capture as it was left, with bookmarks, notes and experiments."),
            ("file.save_session", "Save session …", "Ctrl+S Ctrl+Shift+S", self.save_session,
             "Save the place in the capture, the layout, bookmarks, notes and experiments as a file.",
             trace),
            ("file.reload", "Reload", "F5", self.reload, "Read the capture again from its folder.", trace),
            ("file.close", "Close capture", "Ctrl+W", self.close_capture, "Close the capture.", trace),
            ("file.compare", "Compare with …", "Ctrl+Alt+D", lambda: self.browse("baseline"),
             "Choose the baseline: the capture from before the change.", trace),
            ("file.compare_build", "Compare with a build …", "Ctrl+Alt+Shift+K",
             lambda: self.browse_file(FILES, self.baseline.open),
             "Choose a code object, library or bundle with the same kernel: what its instructions differ in.",
             trace),
            ("file.twin", "Noise from a replicate …", "Ctrl+Alt+N", lambda: self.browse("replicate"),
             "Choose another capture of the baseline's build: what it differs by is noise.", has_baseline),
            ("file.forget_twin", "Forget the replicate", "Ctrl+Alt+Shift+N", forget_replicate,
             "Measure the noise by the waves of both captures alone.", has_replicate),
            ("file.forget_baseline", "Forget the baseline", "Ctrl+Alt+Shift+D",
             lambda: session.baseline.set(None),
             "Compare with nothing.", has_baseline),
            ("file.copy_link", "Copy the place as a link", "Ctrl+Shift+K",
             lambda: self._copy(str(session.selection.value), "Copied the place; Ctrl+G goes to it."),
             "Copy wave, line and hit as a text that Go to place understands.", trace),
            ("file.close_window", "Close window", "Ctrl+Shift+W", self.close,
             "Close this window; other windows stay."),
            ("file.quit", "Quit", "Ctrl+Q", self.quit_wanted.emit, "Close all windows."),
        ))  # fmt: skip

    def _window_commands(self) -> tuple[Command, ...]:
        """Return commands of other menus that need the window."""
        session = self.ui.session
        trace = needs(session)
        return (
            *commands("Go", (
                ("go.place", "Go to place …", "Ctrl+G", self.go_to_place,
                 "Go to a line number, a wave or a copied place.", trace),
                ("go.notes", "Notes", "Ctrl+Alt+M", lambda: self.workspace.show_panel(panel_for("notes")),
                 "Show the notes about the capture.", trace),
                ("go.find", "Find here", "Ctrl+F", self.find_here,
                 "Search in the panel that has the focus, else in the code.", trace),
                ("go.next_area", "Next area", "F6", lambda: step_part(self._parts(), +1),
                 "Move the keys to the next part of the window: bar, panels, tabs, status."),
                ("go.previous_area", "Previous area", "Shift+F6", lambda: step_part(self._parts(), -1),
                 "Move the keys to the part of the window before."),
                ("go.main", "Go to the instructions", "Alt+0", self.workspace.show_main,
                 "Move the keys to the listing; so does Esc when nothing else wants it.", trace),
                ("go.palette", "Find anything", "Ctrl+K Ctrl+Shift+P", self.open_palette,
                 "Find commands, settings, instructions, labels, waves, files and paths."),
            )),
            *commands("View", (
                ("view.full_screen", "Full screen", "F11",
                 lambda: self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen),
                 "Use the whole screen, or go back to a window."),
                ("view.settings", "Settings …", "Ctrl+,", self._change_settings,
                 "Change fonts, colours, sizes and how captures are read."),
                ("view.keys", "Change keys …", "Ctrl+Alt+,", self._change_keys,
                 "Give commands other keys, or take them away."),
            )),
            *commands("Help", (
                ("help.panel", "What this panel shows", "F1", self.workspace.explain,
                 "Say what the panel that has the focus shows, and how to read it."),
                ("help.keys", "Keys", "?",
                 lambda: KeysOverlay(self.ui.commands, self._change_keys, self).show(),
                 "Show the keys to begin with, and all of them."),
                ("help.tutorial", "Tutorial", "Shift+F1", partial(self._show_docs, "tutorial.md"),
                 "Read how a slow kernel becomes faster, in ten minutes."),
                ("help.glossary", "Glossary", "Ctrl+Alt+F1", partial(self._show_docs, "glossary.md"),
                 "Read what the words of the window mean."),
                ("help.docs", "Documentation", "Alt+F1", partial(self._show_docs, "index.md"),
                 "Read the guide, what each view shows, and how to record a capture."),
                ("help.report", "Copy facts for a report", "Ctrl+Alt+R",
                 self._copy_facts,
                 "Copy versions and facts of the capture, without its contents."),
                ("help.log", "Log …", "Ctrl+Shift+F1", lambda: self._dialog("error_box:LogBox").show(),
                 "Show what the program did lately, line by line."),
                ("help.about", "About rcv", "Ctrl+F1", lambda: self._dialog("error_box:AboutBox").open(),
                 "Show version and licences."),
            )),
        )  # fmt: skip

    def _connect(self) -> None:
        ui, session = self.ui, self.ui.session
        soon = ui.scheduler.request(self, self.actions_.update, UPDATE_MS, always_rests=True)
        cells = (
            session.trace, session.selection, session.loaded, session.visited, session.measure,
            session.isolated_wait, session.latency_mode, session.source_cost, session.busy,
            session.baseline, session.waves, session.populations, session.reasons,
        )  # fmt: skip
        for cell in cells:
            cell.watch(soon.update)
        self.workspace.panels_changed.connect(soon.update)
        copy, guarded = self.exporter.copy_command, self.exporter.guarded
        self.workspace.copy_asked.connect(lambda name: guarded(partial(copy, name)))
        self.errors.broke.connect(self.workspace.show_broken)
        session.trace.watch(self._trace_changed)
        session.notes.draft.watch(ui.scheduler.request(self, self._show_draft).ask)
        session.problems.watch(self._log_problems)
        ui.results.cell("populations").watch(self._take_populations)
        ui.results.cell("match").watch(self._check_code)
        for signal in (self.loader.opened, self.opener.failed, self.opener.choose, self.opener.profiled):
            signal.connect(self._show_now)
        self.opener.failed.connect(self.errors.show)
        self.loader.finished.connect(self._all_read)
        self.opener.restored.connect(self._restore_session)
        ui.tasks.failed.connect(self.errors.show)
        self.writer.saved.connect(self.status.show_saved)
        if isinstance(app := QApplication.instance(), QApplication):
            app.focusChanged.connect(self._focus_moved)
        self.looks_at_health = True  # for the button that counts problems; False: for a picture, taken soon
        want = partial(ui.results.want, "health")
        self._spare = ui.scheduler.request(self, want, SPARE_MS, is_background=True)
        soon.now()

    def show_with(self, path: Path | str) -> None:
        """Open a capture or folder and show the window with it; without it if loading takes long."""
        self._show_timer.start()
        self.opener.open(path)

    def _show_now(self) -> None:
        if self._show_timer.isActive():
            self._show_timer.stop()
            self.show()

    def _focus_moved(self, _: QWidget | None, now: QWidget | None) -> None:
        if now is not None and self.isAncestorOf(now):
            self.exporter.current()  # it remembers the panel

    def browse(self, what: str = "capture") -> None:
        """Ask for a folder, starting next to the open capture, and open it."""
        trace, baseline = self.ui.session.trace.value, self.ui.session.baseline.value
        ways: dict[str, tuple[list[Path], Callable[[str], None]]] = {
            "capture": (self.opener.recent[:1], self.opener.open),
            "baseline": ([trace.path] if trace else [], self.baseline.open),
            "replicate": ([baseline.trace.path] if baseline else [], self.baseline.open_replicate),
        }
        last, open_it = ways[what]
        start = str(last[0].parent) if last else ""
        if chosen := QFileDialog.getExistingDirectory(self, translated(BROWSE[what]), start):
            open_it(chosen)

    def browse_file(self, kinds: str = FILES, open_it: Callable[[str], None] | None = None) -> None:
        """Ask for a file, and open its contents."""
        start = str(self.opener.recent[0].parent) if self.opener.recent else ""
        title, wanted = translated("Open a file"), translated(kinds)
        chosen, _ = QFileDialog.getOpenFileName(self, title, start, wanted)
        if chosen:
            (open_it or self.opener.open)(chosen)

    def reload(self) -> None:
        """Read the capture again and keep the view."""
        save_visit(self.ui.settings, self.ui.session)
        self.opener.reload()

    def save_session(self) -> None:
        """Ask for a file name, and save the session."""
        trace = self.ui.session.trace.value
        if trace is None:
            return
        proposal = trace.path.with_name(f"{trace.path.name}{SESSION}")
        _, path = ask_path(self, "Save the session", proposal, SESSIONS, SESSION)
        if path is not None:
            self.exporter.guarded(partial(self.write_session, path))

    def write_session(self, path: Path) -> None:
        """Save the session to a file, in a thread."""
        session, trace = self.ui.session, self.ui.session.trace.value
        assert trace is not None
        state, layout, notes = state_of(session), self.workspace.save(), session.notes.shown.value

        def write(path: Path, report: Report) -> None:
            from rcv_py.formats.session_file import write_session  # noqa: PLC0415 - rarely used

            write_session(path, trace, state=state, layout=layout, notes=notes)

        self.writer.start(path, write)

    def _restore_session(self, saved: SavedSession) -> None:
        if self.ui.session.trace.value is None:
            return
        restore_state(self.ui.session, saved.state)
        self.workspace.load(saved.layout)
        self._keep_notes()
        assert self.notes is not None
        self.notes.take_over(saved)

    def _find_sources(self) -> None:
        if self.ui.session.trace.value is not None:
            self.reload()

    def close_capture(self) -> None:
        """Close the capture and show the first page."""
        save_visit(self.ui.settings, self.ui.session)
        self.opener.close()
        self.pages.show_welcome()

    def cancel(self) -> None:
        """Stop the work that the status bar shows: writing a file, else reading waves."""
        (self.writer if self.writer.is_busy else self.loader).cancel()

    def _copy(self, text: str, message: str) -> None:
        copy_text(text)
        self.status.showMessage(translated(message), 3000)

    def _copy_facts(self) -> None:
        from rcv_py.ui.shell.dialogs.error_box import facts  # noqa: PLC0415 - rarely used

        self._copy(facts(self.ui.session.trace.value), "Copied.")

    def go_to_place(self) -> None:
        """Ask for a place; the field starts with a place from the clipboard."""
        copied = QApplication.clipboard().text().strip()
        self.palette_.open(copied if copied.startswith("se") and len(copied) < 80 else "")

    def find_here(self) -> None:
        """Focus the search field nearest to the focus."""
        docks = self.workspace.docks
        here = docks.get(self.exporter.current())
        if here is not None and here.panel.focus_search():
            return
        for name in map(panel_for, ("instruction", "search")):
            if docks[name].is_open and docks[name].panel.focus_search():
                self.workspace.show_panel(name)
                return

    def open_palette(self) -> None:
        """Open the palette that finds commands, panels and places."""
        self.palette_.open()

    @property
    def idle(self) -> bool:
        """Return whether nothing is being read, searched or computed."""
        is_computed = self.ui.scheduler.is_idle and not self.workspace.is_waking
        is_read = self.loader.idle and not self.opener.is_searching
        return is_computed and is_read and (self.notes is None or not self.notes.is_busy)

    def _keep_notes(self) -> None:
        if self.notes is None:
            from rcv_py.ui.shell.notes_keeper import NotesKeeper  # noqa: PLC0415 - after the first picture

            self.notes = NotesKeeper(self.ui)

    def _show_draft(self) -> None:
        draft = self.ui.session.notes.draft.value
        if draft is None or self._note is not None:
            return
        self._note = note = self._dialog("note_dialog:NoteDialog", self.ui.session, draft)
        note.finished.connect(lambda _: setattr(self, "_note", None))
        note.open()

    def _show_verdict(self) -> None:
        """Show the verdict in the status bar while a capture is shown without its findings."""
        is_hidden = self.workspace.isVisible() and not self.workspace.docks[panel_for("findings")].is_seen
        self.status.verdict.setVisible(is_hidden)

    def _trace_changed(self) -> None:
        trace = self.ui.session.trace.value
        for dock in self.workspace.docks.values():
            dock.mend()
        for popup in self.findChildren(QWidget):  # a menu or the palette: entries of another capture
            if popup.windowType() is Qt.WindowType.Popup and popup.isVisible():
                popup.close()
        title = self.program if trace is None else f"{visible(trace.title)} – {self.program}"
        self.setWindowTitle(shown(title))
        if trace is None:
            LOG.add("capture", "closed")
        else:
            LOG.add("capture", Message("opened {0}: {1:,} waves", trace.path, len(trace.waves)))
            self.pages.setCurrentWidget(self.workspace)
            if not restore_visit(self.ui.settings, self.ui.session):
                self.workspace.bring_to_front(panel_for("findings"))
                if trace.has_only_markers:
                    self.workspace.bring_to_front(panel_for("device"))
            self.ui.results.want("populations")
            self.ui.results.want("match")
            self.ui.scheduler.importer.the_rest.after(self._keep_notes)
            if not trace.is_part:
                compared, self._compared = self._compared, None
                if compared is not None and compared[0] == trace.path:
                    self.baseline.open(compared[1])
            name, self.first_panel = self.first_panel, None
            if name is not None:  # after the workspace's own work on being shown
                QTimer.singleShot(0, self, lambda: self.workspace.show_panel(name))

    def _log_problems(self) -> None:
        known, self._logged = self._logged, self.ui.session.problems.value
        for problem in self._logged:
            if problem not in known:
                LOG.add(problem.where, problem.text, problem.severity)

    def _take_populations(self) -> None:
        if (populations := self.ui.results.cell("populations").value) is not None:
            self.ui.session.take_populations(populations)

    def _check_code(self) -> None:
        match = self.ui.results.cell("match").value
        if match is not None and match.is_wrong:
            self.alarm.refresh()

    def _all_read(self) -> None:
        LOG.add("capture", "all waves were read")
        if self.looks_at_health:
            self._spare.ask(SPARE_MS)
        trace = self.ui.session.trace.value
        if trace is not None and trace.shader_data:  # problems and exported traces contain it
            self.ui.results.want("markers")

    def _compare_two(self, path: Path, baseline: Path) -> None:
        self._compared = (path, baseline)
        self.opener.open(path)

    def _keep_waves(self, menu: QMenu) -> None:
        menu.aboutToShow.connect(partial(self._fill_waves, menu))

    def _fill_waves(self, menu: QMenu) -> None:
        menu.clear()
        own = menu_commands.wave_commands(self.ui.session)
        menu.addActions([self.actions_[command.id] for command in own])
        menu_commands.add_populations(menu, self.ui.session)

    def _add_recent(self, menu: QMenu) -> None:
        menu.insertMenu(self.actions_["file.welcome"], self._recent)

    def _fill_recent(self) -> None:
        self._recent.clear()
        for path in self.opener.recent:
            add_action(self._recent, self.opener.title(path), partial(self.opener.open, path), tip=str(path))
        if self._recent.isEmpty():
            allow(self._recent.addAction(translated("No recent capture")), "Nothing was opened yet.")
        else:
            self._recent.addSeparator()
            self._recent.addAction(translated("Forget these"), self.opener.forget_recent)

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Show the first page if there is nothing else to show."""
        super().showEvent(event)
        if self.ui.session.trace.value is None and self.pages.is_at_work:
            self.pages.show_welcome()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if self.actions_.press(event):
            return
        if event.key() == Qt.Key.Key_Escape and self.pages.is_at_work:
            self.workspace.show_main()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, is_next: bool) -> bool:
        """Make Tab follow places: the bar, the panels, the status.  Qt would follow the order of creation."""
        has_moved = self.pages.is_at_work and step_stop(self._parts(), is_next)
        return has_moved or super().focusNextPrevChild(is_next)

    def _parts(self) -> list[QWidget]:
        pages = self.workspace.parts() if self.pages.is_at_work else [self.pages.currentWidget()]
        return [self.top_bar, *pages, self.status]

    def dragEnterEvent(self, event: QtGui.QDragEnterEvent) -> None:
        if event.mimeData().hasUrls() and event.mimeData().urls()[0].isLocalFile():
            event.acceptProposedAction()
            self.drop_hint.offer(Path(event.mimeData().urls()[0].toLocalFile()).name)

    def dragLeaveEvent(self, event: QtGui.QDragLeaveEvent) -> None:
        super().dragLeaveEvent(event)
        self.drop_hint.hide()

    def dropEvent(self, event: QtGui.QDropEvent) -> None:
        self.drop_hint.hide()
        self.opener.open(event.mimeData().urls()[0].toLocalFile())

    def closeEvent(self, event: QtGui.QCloseEvent) -> None:
        settings = self.ui.settings
        self._show_timer.stop()
        save_visit(settings, self.ui.session)
        settings.remember("geometry", self.saveGeometry())
        settings.keep("arrangement", self.workspace.save())
        docks = self.workspace.docks.items()
        settings.keep("panels", {name: dock.save_state() for name, dock in docks})
        settings.remember("seen", " ".join(name for name, dock in docks if dock.is_seen))
        self.writer.cancel()
        if self.notes is not None:
            self.notes.close()
        self.loader.close()
        event.accept()
        self.closed.emit()

    def _restore(self) -> None:
        settings = self.ui.settings
        geometry = settings.memory("geometry")
        if not (isinstance(geometry, QByteArray) and self.restoreGeometry(geometry)):
            screen = QtGui.QGuiApplication.primaryScreen()
            room = screen.availableGeometry().size() * SCREEN_SHARE if screen is not None else FIRST_SIZE
            self.resize(FIRST_SIZE.boundedTo(room))
        states, arrangement = (settings.document(name, dict) for name in ("panels", "arrangement"))
        if arrangement:
            self.workspace.load(arrangement)
        for name, dock in self.workspace.docks.items():
            if isinstance(state := states.get(name), dict):
                dock.load_state(state)
