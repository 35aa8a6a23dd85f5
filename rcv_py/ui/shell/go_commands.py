"""Commands that move about: in time, from token to token, back and forth."""

from __future__ import annotations

from rcv_py.model.window import TimeWindow
from rcv_py.state.commands import Command
from rcv_py.state.session import Session

ZOOM = 0.7  # of the width, a press
PAN = 0.15  # of the width, a press

NO_TRACE = "Open a capture first."


class Going:
    """The moves that need more than one verb of the session, and why a move cannot be made."""

    def __init__(self, session: Session) -> None:
        self.session = session

    # -- why not ------------------------------------------------------------------------------------

    def needs_trace(self) -> str:
        """Why there is nothing to move in."""
        return "" if self.session.trace.value is not None else NO_TRACE

    def needs_wave(self) -> str:
        """Why there is no wave to step through."""
        if self.session.trace.value is None:
            return NO_TRACE
        return "" if self.session.wave() is not None else "Select a wave whose instructions are loaded."

    def needs_line(self) -> str:
        """Why there is no instruction to step through."""
        if self.session.trace.value is None:
            return NO_TRACE
        return "" if self.session.hits() else "Select an instruction that the wave ran."

    def needs_selection(self) -> str:
        """Why there is nothing to mark."""
        if self.session.trace.value is None:
            return NO_TRACE
        selected = self.session.selection.value
        return "" if selected.wave or selected.line is not None else "Select something first."

    def needs_past(self) -> str:
        """Why there is no way back."""
        return "" if self.session.history.can_go_back else "There is no earlier place."

    def needs_future(self) -> str:
        """Why there is no way forward."""
        return "" if self.session.history.can_go_forward else "There is no later place."

    def needs_mark(self) -> str:
        """Why there is nothing to dismiss."""
        session = self.session
        marked = session.measure.value is not None or session.isolated_wait.value is not None
        return "" if marked else "Nothing is measured or isolated."

    # -- moves --------------------------------------------------------------------------------------

    def edge(self, direction: int) -> None:
        """Move the view to the begin (-1) or end (+1) of the trace."""
        trace = self.session.trace.value
        if trace is None:
            return
        outer, width = self.session.outer(trace), self.session.view.value.width
        begin = outer.begin if direction < 0 else outer.end - width
        self.session.set_view(TimeWindow(begin, begin + width))

    def fit_wave(self) -> None:
        """Show the life of the selected wave."""
        wave = self.session.selection.value.wave
        if wave is not None:
            self.session.fit_wave(wave)

    def step_wave(self, direction: int) -> None:
        """Select the next (+1) or previous (-1) wave of the index."""
        trace, wave = self.session.trace.value, self.session.selection.value.wave
        row = None if trace is None or wave is None else trace.waves.row(wave)
        if trace is not None and row is not None and 0 <= row + direction < len(trace.waves):
            self.session.select_wave(trace.waves.id(row + direction))

    def dismiss(self) -> None:
        """Take the measure away, then the isolation of a wait's arrows."""
        if self.session.measure.value is not None:
            self.session.measure.set(None)
        else:
            self.session.isolated_wait.set(None)


def go_commands(session: Session) -> tuple[Command, ...]:
    """Return the menu Go."""
    go = Going(session)
    trace, line, wave = go.needs_trace, go.needs_line, go.needs_wave

    rows = (
        ("back", "Back", ("Alt+Left",), session.back, "Go to the place before this one.", go.needs_past),
        ("forward", "Forward", ("Alt+Right",), session.forward, "Undo going back.", go.needs_future),
        ("zoom_in", "Zoom in", ("W", "="), lambda: session.zoom(ZOOM), "Show less time.", trace),
        ("zoom_out", "Zoom out", ("S", "-"), lambda: session.zoom(1 / ZOOM), "Show more time.", trace),
        ("earlier", "Earlier", ("A", "Left"), lambda: session.pan(-PAN), "Move to earlier time.", trace),
        ("later", "Later", ("D", "Right"), lambda: session.pan(PAN), "Move to later time.", trace),
        (
            "fit",
            "Fit the selection",
            ("F",),
            session.fit_selection,
            "Show the measured range, the selected instruction or the selected wave.",
            trace,
        ),
        ("fit_wave", "Fit the wave", ("Shift+F",), go.fit_wave, "Show the whole selected wave.", trace),
        ("all", "Fit everything", ("0",), session.fit_all, "Show the whole capture.", trace),
        ("start", "Begin", ("Home",), lambda: go.edge(-1), "Move to the begin of the capture.", trace),
        ("end", "End", ("End",), lambda: go.edge(1), "Move to the end of the capture.", trace),
        (
            "previous_token",
            "Previous instruction",
            (",",),
            lambda: session.step_token(-1),
            "Select the instruction the wave ran before.",
            wave,
        ),
        (
            "next_token",
            "Next instruction",
            (".",),
            lambda: session.step_token(1),
            "Select the instruction the wave ran next.",
            wave,
        ),
        (
            "previous_hit",
            "Previous hit",
            ("[",),
            lambda: session.step_hit(-1),
            "Select the time before that the wave ran this line.",
            line,
        ),
        (
            "next_hit",
            "Next hit",
            ("]",),
            lambda: session.step_hit(1),
            "Select the next time the wave ran this line.",
            line,
        ),
        (
            "previous_wave",
            "Previous wave",
            ("Ctrl+Up",),
            lambda: go.step_wave(-1),
            "Select the wave before; the instruction stays selected.",
            trace,
        ),
        (
            "next_wave",
            "Next wave",
            ("Ctrl+Down",),
            lambda: go.step_wave(1),
            "Select the wave after; the instruction stays selected.",
            trace,
        ),
        (
            "bookmark",
            "Bookmark this place",
            ("B",),
            session.toggle_bookmark,
            "Keep this place in the history panel, or forget it.",
            go.needs_selection,
        ),
        (
            "dismiss",
            "Dismiss measure or isolation",
            ("Esc",),
            go.dismiss,
            "Take away the measured range, then the isolated arrows.",
            go.needs_mark,
        ),
    )
    return tuple(
        Command(f"go.{name}", title, "Go", run, keys, tip, why) for name, title, keys, run, tip, why in rows
    )
