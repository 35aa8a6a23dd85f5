"""Commands that save and copy what is in the window."""

from __future__ import annotations

from collections.abc import Callable

from rcv_py.state.commands import Command
from rcv_py.state.session import Session
from rcv_py.ui.core.panel import COPY_AS_COMMAND
from rcv_py.ui.shell.export_dialog import ExportDialog
from rcv_py.ui.shell.exporter import Exporter
from rcv_py.ui.shell.go_commands import NO_TRACE


def export_commands(exporter: Exporter, session: Session) -> tuple[Command, ...]:
    """Return the menu Export."""

    def needs_trace() -> str:
        return "" if session.trace.value is not None else NO_TRACE

    def needs_table() -> str:
        if session.trace.value is None:
            return NO_TRACE
        return (
            "" if exporter.has_sheet(exporter.current()) else "Click into a panel that shows a table first."
        )

    def needs_words() -> str:
        if session.trace.value is None:
            return NO_TRACE
        return "" if exporter.command_line(exporter.current()) else "This panel shows nothing yet."

    def dialog() -> None:
        ExportDialog(exporter, exporter.window).open()

    def guarded(action: Callable[[str], None]) -> Callable[[], None]:
        return lambda: exporter.guarded(lambda: action(exporter.current()))

    return (
        Command(
            "export.dialog",
            "Save a picture or table …",
            "Export",
            dialog,
            ("Ctrl+E",),
            "Save a panel or the window as PNG, SVG or CSV.",
            needs_trace,
        ),
        Command(
            "export.copy_picture",
            "Copy a picture of this panel",
            "Export",
            guarded(exporter.copy_picture),
            ("Ctrl+Shift+C",),
            "Copy the panel with the focus, else the window, as a picture.",
            needs_trace,
        ),
        Command(
            "export.copy_table",
            "Copy the table of this panel",
            "Export",
            guarded(exporter.copy_table),
            ("Ctrl+Shift+T",),
            "Copy the table of the panel with the focus.",
            needs_table,
        ),
        Command(
            "export.copy_command",
            COPY_AS_COMMAND,
            "Export",
            guarded(exporter.copy_command),
            ("Ctrl+Alt+K",),
            "Copy the rcv command that prints the numbers of the panel with the focus.",
            needs_words,
        ),
    )
