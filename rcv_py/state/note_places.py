"""Places of notes: where a new note would be, and the way to the place of a note."""

from rcv_py.model.notes import Anchor, Note
from rcv_py.model.window import TimeWindow
from rcv_py.state.session import Session


def why_no_note(session: Session) -> str:
    """Return the reason why no note can be written now, "" if one can."""
    trace = session.trace.value
    if trace is None:
        return "Open a capture first."
    return "The capture is still being decoded." if trace.is_part else ""


def place_of_selection(session: Session) -> Anchor:
    """Return the selected place: a measured range, else an execution, instruction or wave."""
    measured, selection, token = session.measure.value, session.selection.value, session.token()
    if measured is not None:
        return Anchor(span=measured)
    at = None if token is None else token[0].tokens.span(token[1]).begin
    return Anchor(
        instructions=() if selection.line is None else (selection.line,),
        wave=selection.wave if selection.line is None or selection.hit is not None else None,
        span=None if at is None else TimeWindow(at, at + 1),
    )


def go_to_note(session: Session, note: Note) -> None:
    """Select the place of a note, as far as the capture has it, and bring its time into view."""
    trace, store = session.trace.value, session.store
    if trace is None:
        return
    anchor = note.anchor.known(trace)
    place = note.anchor.place_in(trace)
    rows, wave, span = anchor.instructions, anchor.wave, anchor.span
    loaded = None if store is None or span is None else store.wave_by_id(wave)
    token = -1 if loaded is None or span is None else loaded.tokens.at(span.begin)
    if wave is not None and token >= 0:
        session.select_token(wave, token, stays=True)
    elif len(rows) > 1:
        session.select_lines(min(rows), max(rows) + 1)
    elif rows:
        session.select_line(rows[0])
    elif wave is not None:
        session.select_wave(wave)
    elif place is not None:
        session.select_source(*place)
    view = session.view.value
    if span is not None and span.width > 1:
        session.set_view(span.padded(0.2))
    elif span is not None and not view.contains(span.begin):  # scroll to a moment out of view
        session.set_view(view.moved(span.begin - view.middle))
