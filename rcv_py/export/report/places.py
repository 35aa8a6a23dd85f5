"""How places of a capture are written, so that the window's *Go to place* finds them again."""

from __future__ import annotations

from collections.abc import Sequence

from rcv_py.base.paths import short_paths, short_place
from rcv_py.model.ids import WaveId


def short_places(places: Sequence[str]) -> tuple[str, ...]:
    """Return `name:line` for each `path:line`, with as many folders as tell equal names apart."""
    short = short_paths(place.rpartition(":")[0] for place in places if place)
    return tuple(short_place(place, short) for place in places)


def place_text(
    wave: WaveId | None = None, line: int | None = None, hit: int | None = None, cycle: int | None = None
) -> str:
    """Return `se0/simd2/slot5/wv3:line 118#7@126704`; any part may be absent, a hit needs a line."""
    at = "" if line is None else f":line {line}"
    when = "" if cycle is None else f"@{cycle}"
    return f"{wave or ''}{at}{'' if hit is None or not at else f'#{hit}'}{when}"


def line_anchor(line: int) -> str:
    """The name of a code line inside a report."""
    return f"line-{line}"


def wave_anchor(wave: WaveId) -> str:
    """The name of a wave inside a report; it is spelt like the wave's file."""
    return f"wave-se{wave.se}-sm{wave.simd}-sl{wave.slot}-wv{wave.wid}"


def cycle_anchor(cycle: int, wave: WaveId | None = None) -> str:
    """The name of a moment inside a report, of a wave if there is one: `wave-se3-sm1-sl0-wv0@126704`."""
    return f"{wave_anchor(wave) if wave is not None else ''}@{cycle}"
