"""From options to a place of a capture, for the window."""

from __future__ import annotations

from typing import Any

from rcv_py.base.errors import UsageError
from rcv_py.cli.options.capture_options import ViewOptions
from rcv_py.model.ids import WaveId
from rcv_py.state.selection import Place, Selection

_HINT = "Places look like line-118, wave-se3-sm1-sl0-wv0@126704, se3/simd1/slot0/wv0:line 118#7 or @126704."

AROUND = 500  # cycles that a picture shows on either side of a moment

__all__ = ["Place", "options_of", "place_of"]


def place_of(arguments: ViewOptions) -> Place | None:
    """Return the place of --goto, or of --wave, --line and --cycle, None without any; raise UsageError."""
    parts = (arguments.wave, arguments.line, arguments.cycle)
    has_parts = any(part is not None for part in parts)
    if arguments.goto is None and not has_parts:
        return None
    if arguments.goto is not None and has_parts:
        raise UsageError("--goto names a whole place.", hint="Leave out --wave, --line and --cycle.")
    if arguments.folder is None:
        raise UsageError("A place needs a capture that it is in.", hint="Name the capture first.")
    try:
        if arguments.goto is not None:
            return Place.parse(arguments.goto)
        wave = None if arguments.wave is None else WaveId.parse(arguments.wave)
    except ValueError as error:
        raise UsageError(f"{error}.", hint=_HINT) from error
    return Place(Selection(wave, arguments.line), arguments.cycle)


def options_of(place: Place) -> dict[str, Any]:
    """Return the same as options of `rcv shot`."""
    chosen, cycle = place.selection, place.cycle
    return {
        "wave": None if chosen.wave is None else str(chosen.wave),
        "line": chosen.line,
        "range": None if cycle is None else (cycle - AROUND, cycle + AROUND),
    }
