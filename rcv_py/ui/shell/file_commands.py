"""Commands about captures, places, help and the window itself."""

from __future__ import annotations

from typing import Protocol

from rcv_py.state.commands import Command
from rcv_py.state.session import Session
from rcv_py.ui.shell.baseline import BaselineOpener
from rcv_py.ui.shell.go_commands import NO_TRACE

NO_BASELINE = "The open capture is compared with nothing."
NO_TWIN = "No twin of the baseline is open."


class FileActions(Protocol):
    """What the window does with captures."""

    @property
    def baseline(self) -> BaselineOpener:
        """The capture that the open one is compared with."""

    def browse(self) -> None:
        """Ask for a folder and open it."""

    def browse_baseline(self) -> None:
        """Ask for the folder of another capture and compare the open one with it."""

    def browse_twin(self) -> None:
        """Ask for another capture of the baseline's build; what it differs by is noise."""

    def close_capture(self) -> None:
        """Close the capture and show the first page."""

    def copy_place(self) -> None:
        """Put the selection on the clipboard as text."""

    def quit(self) -> None:
        """Close the window."""

    def reload(self) -> None:
        """Read the capture again and stay where we are."""

    def show_welcome(self) -> None:
        """Show recent captures and samples."""


class WindowActions(Protocol):
    """What the window does besides."""

    def copy_facts(self) -> None:
        """Put versions and facts of the capture on the clipboard."""

    def find_here(self) -> None:
        """Put the cursor in the search field nearest to the focus."""

    def go_to_place(self) -> None:
        """Ask for a place; a copied one is already typed."""

    def open_palette(self) -> None:
        """Find anything."""

    def show_about(self) -> None:
        """Show version and licences."""

    def show_keys(self) -> None:
        """Show all keys."""

    def show_settings(self) -> None:
        """Open the settings."""

    def toggle_full_screen(self) -> None:
        """Use the whole screen, or not."""


def file_commands(window: FileActions, session: Session) -> tuple[Command, ...]:
    """Return the menu File; the recent captures are added by the window."""

    def needs_trace() -> str:
        return "" if session.trace.value is not None else NO_TRACE

    def needs_baseline() -> str:
        return "" if session.baseline.value is not None else NO_BASELINE

    def needs_twin() -> str:
        baseline = session.baseline.value
        return "" if baseline is not None and baseline.twin is not None else NO_TWIN

    return (
        Command(
            "file.open",
            "Open folder …",
            "File",
            window.browse,
            ("Ctrl+O",),
            "Open a ui_output folder, or a folder that holds several.",
        ),
        Command(
            "file.welcome",
            "Recent captures and samples",
            "File",
            window.show_welcome,
            ("Ctrl+Shift+O",),
            "Show the page with recent captures and samples.",
        ),
        Command(
            "file.reload",
            "Reload",
            "File",
            window.reload,
            ("F5",),
            "Read the capture again from its folder.",
            needs_trace,
        ),
        Command(
            "file.close",
            "Close capture",
            "File",
            window.close_capture,
            ("Ctrl+W",),
            "Close the capture.",
            needs_trace,
        ),
        Command(
            "file.compare",
            "Compare with …",
            "File",
            window.browse_baseline,
            ("Ctrl+Alt+D",),
            "Choose the baseline: the capture from before the change.",
            needs_trace,
        ),
        Command(
            "file.twin",
            "Noise from a twin …",
            "File",
            window.browse_twin,
            ("Ctrl+Alt+N",),
            "Choose another capture of the baseline's build: what it differs by is noise.",
            needs_baseline,
        ),
        Command(
            "file.forget_twin",
            "Forget the twin",
            "File",
            window.baseline.forget_twin,
            ("Ctrl+Alt+Shift+N",),
            "Tell the noise from the waves of both captures alone.",
            needs_twin,
        ),
        Command(
            "file.forget_baseline",
            "Forget the baseline",
            "File",
            window.baseline.forget,
            ("Ctrl+Alt+Shift+D",),
            "Compare with nothing.",
            needs_baseline,
        ),
        Command(
            "file.copy_link",
            "Copy the place as a link",
            "File",
            window.copy_place,
            ("Ctrl+Shift+K",),
            "Copy wave, line and hit as a text that Go to place understands.",
            needs_trace,
        ),
        Command("file.quit", "Quit", "File", window.quit, ("Ctrl+Q",), "Close the window."),
    )


def window_commands(window: WindowActions, session: Session) -> tuple[Command, ...]:
    """Return the commands that belong to other menus and need the window."""

    def needs_trace() -> str:
        return "" if session.trace.value is not None else NO_TRACE

    return (
        Command(
            "go.place",
            "Go to place …",
            "Go",
            window.go_to_place,
            ("Ctrl+G",),
            "Go to a line number, a wave or a copied place.",
            needs_trace,
        ),
        Command(
            "go.find",
            "Find here",
            "Go",
            window.find_here,
            ("Ctrl+F",),
            "Search in the panel that has the focus, else in the code.",
            needs_trace,
        ),
        Command(
            "go.palette",
            "Find anything",
            "Go",
            window.open_palette,
            ("Ctrl+K", "Ctrl+Shift+P"),
            "Find commands, instructions, labels, waves and source files.",
        ),
        Command(
            "view.full_screen",
            "Full screen",
            "View",
            window.toggle_full_screen,
            ("F11",),
            "Use the whole screen, or go back to a window.",
        ),
        Command(
            "view.settings",
            "Settings …",
            "View",
            window.show_settings,
            ("Ctrl+,",),
            "Change fonts, colours, sizes and how captures are read.",
        ),
        Command("help.keys", "Keys", "Help", window.show_keys, ("?", "F1"), "Show all keys."),
        Command(
            "help.report",
            "Copy facts for a report",
            "Help",
            window.copy_facts,
            ("Ctrl+Alt+R",),
            "Copy versions and facts of the capture, without its contents.",
        ),
        Command(
            "help.about", "About rcv", "Help", window.show_about, ("Ctrl+F1",), "Show version and licences."
        ),
    )
