"""What is kept of a capture between two visits: selection, view, clock range and bookmarks."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Selection
from rcv_py.state.session import Session
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.shell.palette import place_in


def _key(path: Path) -> str:
    return "capture/" + hashlib.sha1(os.fsencode(path), usedforsecurity=False).hexdigest()[:16]


def keep(settings: Settings, session: Session) -> None:
    """Remember where the user is in the open capture."""
    trace = session.trace.value
    if trace is None:
        return
    view, counted = session.view.value, session.clock_range.value
    state = {
        "place": str(session.selection.value),
        "view": [view.begin, view.end],
        "range": None if counted is None else [counted.begin, counted.end],
        "bookmarks": [str(mark) for mark in session.bookmarks.value],
    }
    settings.remember(_key(trace.path), json.dumps(state))


def take_back(settings: Settings, session: Session) -> None:
    """Go where the user was in the open capture; what no longer fits is ignored."""
    trace = session.trace.value
    stored = None if trace is None else settings.memory(_key(trace.path))
    if trace is None or not isinstance(stored, str):
        return
    try:
        state = json.loads(stored)
    except ValueError:
        return
    if not isinstance(state, dict):
        return
    marks = state.get("bookmarks")
    places = [_place(trace, text) for text in (marks if isinstance(marks, list) else [])]
    session.bookmarks.set(tuple(place for place in places if place is not None))
    session.clock_range.set(_window(state.get("range")))
    place = _place(trace, state.get("place"))
    if place is not None:
        session.select(place)
    view = _window(state.get("view"))
    if view is not None:
        session.set_view(view)


def _place(trace: Trace, text: Any) -> Selection | None:
    place = place_in(trace, text) if isinstance(text, str) and text else None
    return None if place is None else place.selection


def _window(pair: Any) -> TimeWindow | None:
    fits = isinstance(pair, list) and len(pair) == 2 and all(type(value) is int for value in pair)
    return TimeWindow(*pair) if fits else None
