"""The user's place in a capture, as plain JSON values: stored per capture, and in session files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rcv_py.base.errors import UsageError
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import SelectedPlace, Selection
from rcv_py.state.session import Session

if TYPE_CHECKING:  # most sessions have no experiment
    from rcv_py.analysis.whatif.asked import ChangeRequest

MAX_SAVED = 200  # bookmarks and experiments that are read, each
MAX_ROW = 1 << 31
MAX_FACTOR = 1e4  # of a latency
_PAIRS = ("move", "relax", "only", "merge")
_ROWS = ("batch", "dpp", "free")


def state_of(session: Session) -> dict[str, Any]:
    """Return selection, view, clock range, bookmarks and experiments."""
    view, counted = session.view.value, session.clock_range.value
    return {
        "place": str(session.selection.value),
        "view": [view.begin, view.end],
        "range": None if counted is None else [counted.begin, counted.end],
        "bookmarks": [str(mark) for mark in session.bookmarks.value],
        "experiments": [_written(asked) for asked in session.experiments.value[:MAX_SAVED]],
    }


def restore_state(session: Session, state: Mapping[str, Any]) -> None:
    """Restore the user's place in the open capture; parts that no longer fit are left out."""
    trace = session.trace.value
    if trace is None or not state:
        return
    places = [_place(trace, text) for text in _listed(state.get("bookmarks"))]
    session.bookmarks.set(tuple(session.with_source(place) for place in places if place is not None))
    session.clock_range.set(_window(state.get("range")))
    asked = [_asked(trace, one) for one in _listed(state.get("experiments"))]
    session.experiments.set(tuple(one for one in asked if one is not None))
    place = _place(trace, state.get("place"))
    if place is not None:
        session.select(place)
    view = _window(state.get("view"))
    if view is not None:
        session.set_view(view)


def _listed(value: Any) -> list[Any]:
    return value[:MAX_SAVED] if isinstance(value, list) else []


def _place(trace: Trace, text: Any) -> Selection | None:
    try:
        place = SelectedPlace.parse(text) if isinstance(text, str) and text else None
    except ValueError:
        return None
    return None if place is None or place.why_not(trace) else place.selection


def _window(pair: Any) -> TimeWindow | None:
    fits = isinstance(pair, list) and len(pair) == 2 and all(type(value) is int for value in pair)
    return TimeWindow(*pair) if fits else None


def _written(asked: ChangeRequest) -> dict[str, Any]:
    return {
        **{name: [list(one) for one in getattr(asked, name)] for name in ("latency", *_PAIRS)},
        **{name: list(getattr(asked, name)) for name in _ROWS},
        "no_barriers": asked.no_barriers,
        "more_waves": asked.more_waves,
    }


def _asked(trace: Trace, saved: Any) -> ChangeRequest | None:
    """Read the output of `_written`; None for anything else, and for places that the capture lacks."""
    if not isinstance(saved, dict):
        return None
    from rcv_py.analysis.whatif.asked import ChangeRequest  # noqa: PLC0415 - most sessions have no experiments

    def read(name: str, one: Callable[[Any], Any]) -> tuple[Any, ...]:
        return tuple(map(one, _listed(saved.get(name))))

    try:
        asked = ChangeRequest(
            latency=read("latency", _factor),
            **{name: read(name, _pair) for name in _PAIRS},
            **{name: read(name, _row) for name in _ROWS},
            no_barriers=saved.get("no_barriers") is True,
            more_waves=_row(saved.get("more_waves", 0)),
        )
        return asked if asked.changes(trace) else None
    except (UsageError, ValueError):
        return None


def _row(value: Any) -> int:
    if type(value) is not int or not 0 <= value < MAX_ROW:
        raise ValueError("no row of the code")
    return value


def _pair(value: Any) -> tuple[int, int]:
    first, second = value if isinstance(value, list) and len(value) == 2 else (None, None)
    return _row(first), _row(second)


def _factor(value: Any) -> tuple[str, float]:
    match value:
        case [_, bool()]:
            pass
        case [str(what), int(factor) | float(factor)] if 0 <= factor <= MAX_FACTOR:
            return what, float(factor)
    raise ValueError("no factor of a latency")
