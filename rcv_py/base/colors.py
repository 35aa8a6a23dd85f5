"""Every colour, by name: `resources/colors.json`; presets replace some of them.

The presets are our colours and the reference viewer's: its light colours are too pale for small items on
white, hence a preset and not the default.  Ours were searched for: any two that touch in a picture differ,
also for eyes that see two of the three primary colours, and all can be seen on the canvas
(`tests/base/test_colors.py`).  Kinds of instruction have hues from red over yellow and green to blue; states
of waves, which are drawn below kinds, from violet to magenta.  A legend may list any of the causes of stalled
and idle cycles, so all of them differ.
"""

import colorsys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import orjson

from rcv_py.base.resources import resource


class Pair(NamedTuple):
    """A colour in the light and in the dark theme, each `#rrggbb`."""

    light: str
    dark: str


def _pairs(colors: Mapping[str, Sequence[str]]) -> dict[str, Pair]:
    return {name: Pair(*pair) for name, pair in colors.items()}


_FILE = resource("colors.json")
assert _FILE is not None  # every package has it
_READ = orjson.loads(_FILE.read_bytes())
ROLES, STALL_REASONS, CAUSES, MARKERS, SYNTAX = (
    _pairs(_READ[table]) for table in ("roles", "stall_reasons", "causes", "markers", "syntax")
)
KERNELS, ARROWS = ([Pair(*pair) for pair in _READ[table]] for table in ("kernels", "arrows"))
PRESETS = {
    preset: {table: _pairs(colors) for table, colors in tables.items()}
    for preset, tables in _READ["presets"].items()
}
TOKEN_KINDS, WAVE_STATES = PRESETS["rcv"].values()
MARKER_TURNS = (0, -22, 22, -44, 44)  # degrees
READABLE = 4.5  # contrast ratio of WCAG 2, AA


def rgb(color: str) -> tuple[int, int, int]:
    """Return the channels of `#rrggbb`."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def mixed(color: str, other: str, share: float) -> str:
    """Return `color` with `share` of it replaced by `other`, channel by channel."""
    channels = (round(a + (b - a) * share) for a, b in zip(rgb(color), rgb(other), strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def readable(color: str, text: str, backgrounds: Sequence[str]) -> str:
    """Return `color`, mixed with `text` only as far as needed for contrast on all backgrounds."""
    for step in range(0, 21):
        candidate = mixed(color, text, step / 20)
        if all(contrast(candidate, background) >= READABLE for background in backgrounds):
            return candidate
    return text


@cache  # a theme uses few colours, repeatedly
def turned(color: str, degrees: float) -> str:
    """Return `color` with its hue rotated and the same luminance."""
    red, green, blue = (channel / 255 for channel in rgb(color))
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    channels = colorsys.hls_to_rgb((hue + degrees / 360) % 1.0, light, saturation)
    made = "#" + "".join(f"{round(255 * channel):02x}" for channel in channels)
    wanted, limit = luminance(color), "#000000" if luminance(made) > luminance(color) else "#ffffff"
    shares = (mixed(made, limit, step / 20) for step in range(20))
    return min(shares, key=lambda one: abs(luminance(one) - wanted))


def luminance(color: str) -> float:
    """Return the relative luminance of WCAG 2, 0 for black and 1 for white."""
    values = (channel / 255 for channel in rgb(color))
    linear = [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in values]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(color: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2, from 1 to 21."""
    high, low = sorted((luminance(color), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
