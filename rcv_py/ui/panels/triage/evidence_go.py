"""From a piece of evidence to the place it names: selected everywhere, and in view."""

from __future__ import annotations

from rcv_py.analysis.findings.finding import Evidence
from rcv_py.model.window import TimeWindow
from rcv_py.state.session import Session

# Panels by kind; an execution is seen in the timeline that draws instructions.
SHOWN_IN = {
    "line": "isa",
    "token": "compute_unit",
    "wave": "global_timeline",
    "window": "global_timeline",
    "source": "source",
}
ROOM = 0.05  # of a range, left and right of it


def go_to(session: Session, place: Evidence) -> str:
    """Select what the evidence names; return the panel that shows it best."""
    if place.kind == "line":
        session.select_line(place.line)
    elif place.kind == "token" and place.wave is not None:
        session.select_token(place.wave, place.token)
        if session.token() is None:  # its wave has not been read yet
            session.set_view(TimeWindow(place.begin, max(place.end, place.begin + 1)).padded(ROOM))
        else:
            session.fit_selection()
    elif place.kind == "wave" and place.wave is not None:
        session.select_wave(place.wave)
        session.fit_wave(place.wave)
    elif place.kind == "window":
        session.set_view(TimeWindow(place.begin, max(place.end, place.begin + 1)).padded(ROOM))
    elif place.kind == "source" and place.source is not None:
        session.select_source(*place.source)
    return SHOWN_IN.get(place.kind, "")
