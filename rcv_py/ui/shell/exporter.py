"""Pictures, tables and commands of panels and the window, as files and on the clipboard."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import field
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from rcv_py.base.errors import ExportError, RcvError, UsageError
from rcv_py.base.record import Record, Value
from rcv_py.base.text import Message, translated
from rcv_py.base.whole_files import whole_file
from rcv_py.state.commands import Command, commands
from rcv_py.state.session import Session
from rcv_py.ui.core import export
from rcv_py.ui.core.layout import resize_now
from rcv_py.ui.core.panel import COPY_AS_COMMAND, Panel, Sheet, UiContext
from rcv_py.ui.core.plain_text import copy_text
from rcv_py.ui.core.swatches import Swatch, unlike
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.shell.errors import ErrorReporter
from rcv_py.ui.shell.menu_commands import needs
from rcv_py.ui.shell.workspace import Workspace
from rcv_py.ui.table import command_text
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.widgets.legend import Legend

WINDOW = "window"  # id of the whole window
FORMS = {".png": "PNG picture", ".svg": "SVG picture", ".csv": "CSV table"}


class PictureLook(Value):
    """How a picture is drawn."""

    scale: int = 1  # device pixels a pixel
    rows: int = 0  # of a list, around the selected row; 0: the rows in sight
    is_light: bool = False  # whatever the theme of the window is
    size: QSize | None = None  # at scale 1; None: as large as what it shows


class Exporter(Record):
    """Makes pictures and tables of panels and the window."""

    ui: UiContext
    window: QMainWindow
    workspace: Workspace
    errors: ErrorReporter
    saved: Callable[[Path], None]  # reports a written file
    _last: list[str] = field(default_factory=list)  # id of the panel that had the focus last

    def names(self) -> dict[str, str]:
        """Return titles of everything that can be exported as a picture, by id: the window first."""
        return {WINDOW: "Whole window"} | self.workspace.names()

    def check_name(self, name: str) -> None:
        """Raise UsageError if there is no panel with that id."""
        if name not in self.names():
            hint = Message("Panels: {0}.", ", ".join(self.names()))
            raise UsageError(Message("There is no panel {0!r}.", name), hint=hint)

    def choices(self) -> dict[str, str]:
        """Return the titles of what is in sight, by id: the window, and the panels in front."""
        names, docks = self.names(), self.workspace.docks.values()
        seen = (dock for dock in docks if dock.is_seen and not dock.is_strip)
        shown = [dock.panel.chosen_part or dock.info.id for dock in seen]
        return {name: names[name] for name in (WINDOW, *shown)}

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
        panel = self._panel(name)
        return name if panel is None else panel.chosen_part or name

    def sheet(self, name: str) -> Sheet:
        """Return the table of a panel; raise ExportError if it has none."""
        panel = self._panel(name)
        sheet = None if panel is None else panel.sheet()
        if sheet is None:
            said = Message("{0} has no table.", self.names()[name])
            raise ExportError(said, hint="Choose a panel that shows a table, such as ISA.")
        return sheet

    def has_sheet(self, name: str) -> bool:
        """Return whether a panel has a table now."""
        panel = self._panel(name)
        return panel is not None and panel.sheet() is not None

    def why_no_rows(self, name: str) -> str:
        """Return why a picture cannot show rows around the selected row, "" if it can."""
        panel = self._panel(name)
        return "" if panel is not None and row_views(panel) else "Select a row of a list first."

    def content(self, name: str, suffix: str, look: PictureLook | None = None) -> bytes:
        """Return the contents of a file: `.png`, `.svg` or `.csv` of a panel or the window."""
        look = look or PictureLook()
        match suffix.lower():
            case ".png":
                return export.png_bytes(self.image(name, look))
            case ".svg":
                with self.posing(name, look) as legend:
                    return export.svg_bytes(*self.subject(name), legend=legend, size=look.size)
            case ".csv":
                return self.sheet(name).csv().encode()
        said = Message("{0} is not a kind of file that can be written.", suffix or "A name without an ending")
        raise ExportError(said, hint=Message("Use a name that ends in {0}.", ", ".join(FORMS)))

    def image(self, name: str, look: PictureLook) -> QImage:
        """Return the picture of a panel or the window."""
        with self.posing(name, look) as legend:
            return export.picture(*self.subject(name), look.scale, legend=legend, size=look.size)

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
            swatches: list[Swatch] = []
            for legend in panel.findChildren(Legend):
                if not (seen.isAncestorOf(legend) and legend.isVisibleTo(seen) and legend.is_whole):
                    legend.is_blank = True
                    stack.callback(setattr, legend, "is_blank", False)
                    swatches += legend.swatches
            yield unlike((*swatches, *panel.swatches()))

    def save(self, name: str, path: Path, look: PictureLook | None = None) -> None:
        """Write a file whose kind follows from its suffix; raise ExportError on failure."""
        content = self.content(name, path.suffix, look)
        with whole_file(path, makes_folders=False) as target:
            target.write(content)

    def copy_picture(self, name: str, scale: int = 2) -> None:
        """Put a picture on the clipboard."""
        QApplication.clipboard().setImage(self.image(name, PictureLook(scale)))
        self._say(Message("Copied a picture of: {0}.", self.names()[name].lower()))

    def copy_table(self, name: str) -> None:
        """Put a table on the clipboard, with tabs between the cells."""
        copy_text(self.sheet(name).csv("\t"))
        self._say(Message("Copied the table of: {0}.", self.names()[name].lower()))

    def _say(self, sentence: Message, for_ms: int = 3000) -> None:
        self.window.statusBar().showMessage(translated(sentence), for_ms)

    def command_line(self, name: str) -> tuple[str, ...] | None:
        """Return the command line that prints what a panel shows; for the window, that opens the capture."""
        panel = self._panel(name)
        return command_text.rcv(self.ui.session, "view") if panel is None else panel.command_line()

    def copy_command(self, name: str) -> None:
        """Put the command line on the clipboard; raise ExportError if the panel shows nothing."""
        words = self.command_line(name)
        if words is None:
            said = Message("{0} shows nothing that a command could print.", self.names()[name])
            raise ExportError(said, hint="Choose what it needs first.")
        text = shlex.join(words)
        copy_text(text)
        self._say(Message("Copied: {0}", text), 6000)

    def guarded(self, action: Callable[[], None]) -> None:
        """Call a function; show the reason if it fails."""
        try:
            action()
        except RcvError as error:
            self.errors.show(error)

    def _panel(self, name: str) -> Panel | None:
        return None if name == WINDOW else self.workspace.panel(name)

    def subject(self, name: str) -> tuple[QWidget, Theme, str]:
        """Return what a picture shows, its theme, and its caption: wave and range if it depends on them."""
        panel = self._panel(name)
        dock = self.workspace.homes.get(name)
        if panel is None or dock is None:
            return self.window, self.ui.theme, export.caption(self.ui.session)
        session, words = self.ui.session, panel.command_line() or ()
        has_wave = any(str(session.selection.value.wave) in word for word in words[3:])
        has_range = dock.info.area == "time" or any(word.startswith("--within=") for word in words)
        text = export.caption(session, panel.caption(), has_wave=has_wave, has_range=has_range)
        # With the choice of its parts, if the dock shows this one.
        return _in_sight(dock.panel if dock.is_showing(name) else panel), self.ui.theme, text


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
        resize_now(panel, size + QSize(0, missing))
        first = view.table.view_row(view.current) - rows // 2
        bar.setValue(first * view.row_height - view.covered_px)
        yield
    finally:
        resize_now(panel, size)
        bar.setValue(place)


def export_commands(exporter: Exporter, session: Session, ask: Callable[[], None]) -> tuple[Command, ...]:
    """Return the commands of the menu Export that save and copy panels and the window; `ask` saves one."""

    def guarded(action: Callable[[str], None]) -> Callable[[], None]:
        return lambda: exporter.guarded(lambda: action(exporter.current()))

    trace = needs(session)
    here = exporter.current
    no_table, no_command = "Click into a panel that shows a table first.", "This panel shows nothing yet."
    table = needs(session, lambda: exporter.has_sheet(here()), no_table)
    words = needs(session, lambda: exporter.command_line(here()), no_command)
    return commands("Export", (
        ("export.dialog", "Save a picture or table …", "Ctrl+E", ask,
         "Save a panel or the window as PNG, SVG or CSV.", trace),
        ("export.copy_picture", "Copy a picture of this panel", "Ctrl+Shift+C",
         guarded(exporter.copy_picture), "Copy the panel with the focus, else the window, as a picture.",
         trace),
        ("export.copy_table", "Copy the table of this panel", "Ctrl+Alt+Shift+C",
         guarded(exporter.copy_table), "Copy the table of the panel with the focus.", table),
        ("export.copy_command", COPY_AS_COMMAND, "Ctrl+Alt+K", guarded(exporter.copy_command),
         "Copy the rcv command that prints the numbers of the panel with the focus.", words),
    ))  # fmt: skip
