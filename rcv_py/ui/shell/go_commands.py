"""Commands that move about: in time, from token to token, back and forth."""

from __future__ import annotations

from collections.abc import Callable

from rcv_py.state.commands import Command, commands
from rcv_py.state.session import Session
from rcv_py.ui.timeline.time_plot import FAR
from rcv_py.ui.timeline.time_plot import KEY_PAN as PAN
from rcv_py.ui.timeline.time_plot import KEY_ZOOM as ZOOM

NO_TRACE = "Open a capture first."


def needs(
    session: Session, has: Callable[[], object] = lambda: True, otherwise: str = ""
) -> Callable[[], str]:
    """Return what says why a command cannot run: no capture is open, or it lacks what `has` asks for."""
    return lambda: NO_TRACE if session.trace.value is None else "" if has() else otherwise


def go_commands(session: Session) -> tuple[Command, ...]:
    """Return the menu Go."""

    def fit_wave() -> None:
        if (wave := session.selection.value.wave) is not None:
            session.fit_wave(wave)

    def is_marked() -> bool:
        return session.measure.value is not None or session.isolated_wait.value is not None

    def dismiss() -> None:
        (session.measure if session.measure.value is not None else session.isolated_wait).set(None)

    trace = needs(session)
    wave = needs(session, lambda: session.wave() is not None, "Select a wave whose instructions are loaded.")
    line = needs(session, session.hits, "Select an instruction that the wave ran.")
    past = needs(session, lambda: session.history.can_go_back, "There is no earlier place.")
    future = needs(session, lambda: session.history.can_go_forward, "There is no later place.")
    place = needs(session, lambda: str(session.selection.value), "Select something first.")
    mark = needs(session, is_marked, "Nothing is measured or isolated.")
    return commands("Go", (
        ("go.back", "Back", "Alt+Left", session.back, "Go to the place before this one.", past),
        ("go.forward", "Forward", "Alt+Right", session.forward, "Undo going back.", future),
        ("go.zoom_in", "Zoom in", "W =", lambda: session.zoom(ZOOM), "Show less time.", trace),
        ("go.zoom_out", "Zoom out", "S -", lambda: session.zoom(1 / ZOOM), "Show more time.", trace),
        ("go.earlier", "Earlier", "A Left", lambda: session.pan(-PAN), "Move to earlier time.", trace),
        ("go.later", "Later", "D Right", lambda: session.pan(PAN), "Move to later time.", trace),
        ("go.fit", "Fit the selection", "F", session.fit_selection,
         "Show the measured range, the selected instruction or the selected wave.", trace),
        ("go.fit_wave", "Fit the wave", "Shift+F", fit_wave, "Show the whole selected wave.", trace),
        ("go.all", "Fit everything", "0", session.fit_all, "Show the whole capture.", trace),
        ("go.start", "Begin", "Home", lambda: session.pan(-FAR), "Move to the begin of the capture.", trace),
        ("go.end", "End", "End", lambda: session.pan(FAR), "Move to the end of the capture.", trace),
        ("go.previous_token", "Previous instruction", ",", lambda: session.step_token(-1),
         "Select the instruction the wave ran before.", wave),
        ("go.next_token", "Next instruction", ".", lambda: session.step_token(1),
         "Select the instruction the wave ran next.", wave),
        ("go.previous_hit", "Previous hit", "[", lambda: session.step_hit(-1),
         "Select the previous execution of this instruction.", line),
        ("go.next_hit", "Next hit", "]", lambda: session.step_hit(1),
         "Select the next execution of this instruction.", line),
        ("go.previous_wave", "Previous wave", "Ctrl+Up", lambda: _step_wave(session, -1),
         "Select the wave before; the instruction stays selected.", trace),
        ("go.next_wave", "Next wave", "Ctrl+Down", lambda: _step_wave(session, 1),
         "Select the wave after; the instruction stays selected.", trace),
        ("go.bookmark", "Bookmark this place", "B", session.toggle_bookmark,
         "Keep this place in the history panel, or forget it.", place),
        ("go.dismiss", "Dismiss measure or isolation", "Esc", dismiss,
         "Take away the measured range, then the isolated arrows.", mark),
    ))  # fmt: skip


def _step_wave(session: Session, direction: int) -> None:
    """Select the next (+1) or previous (-1) wave of the index."""
    trace, row = session.trace.value, session.wave_row
    if trace is not None and row is not None and 0 <= row + direction < len(trace.waves):
        session.select_wave(trace.waves.id(row + direction))
