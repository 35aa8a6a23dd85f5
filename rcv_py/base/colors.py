"""Every colour: one table of names, in light and dark, and presets that replace some of them."""

import colorsys
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple


class Pair(NamedTuple):
    """A colour in the light and in the dark theme, each `#rrggbb`."""

    light: str
    dark: str


ROLES = {
    "window": Pair("#f3f4f6", "#1b1d21"),
    "base": Pair("#ffffff", "#212429"),
    "alternate": Pair("#f6f7f9", "#262a30"),
    "raised": Pair("#e9ebef", "#2d3138"),
    "line": Pair("#d5d9df", "#3a3f47"),
    "text": Pair("#1c2128", "#e3e6ea"),
    "muted": Pair("#5b6570", "#9aa4af"),
    "accent": Pair("#0b63ce", "#5aa9ff"),
    "accent_soft": Pair("#d3e5fb", "#1f3d60"),
    "hover": Pair("#e6eefa", "#2b3a4d"),
    "canvas": Pair("#fbfbfc", "#191b1f"),
    "grid": Pair("#e2e5ea", "#2c3037"),
    "warning": Pair("#a35a00", "#f0b429"),
    "error": Pair("#c2281d", "#ff7b72"),
    "good": Pair("#1a7f37", "#56d364"),
    "measure": Pair("#8a3ffc", "#c4a5ff"),
    "range": Pair("#0b63ce", "#5aa9ff"),
    "stall": Pair("#c92a2a", "#ff6b6b"),
    "issue": Pair("#2b8a3e", "#51cf66"),
    "idle": Pair("#868e96", "#868e96"),
    "hidden": Pair("#3b8ec2", "#6cb8e6"),
    "search": Pair("#b35900", "#ffd43b"),
}

# Our colours, and the reference viewer's: its light colours are too pale for small items on white, hence a
# preset and not the default.  Ours were searched for: any two that touch in a picture differ, also for eyes
# that see two of the three primary colours, and all can be seen on the canvas (`tests/base/test_colors.py`).
# Kinds of instruction have hues from red over yellow and green to blue.
_TOKEN_KINDS = {
    "NONE": (Pair("#39434d", "#e2f1ff"), Pair("#a8a8a8", "#707070")),
    "SMEM": (Pair("#2f04ae", "#5b6cfe"), Pair("#f0ff00", "#e0f000")),
    "SALU": (Pair("#1667e0", "#5abcfe"), Pair("#a0ffa0", "#a0f0a0")),
    "VMEM": (Pair("#82450b", "#eda904"), Pair("#ffc432", "#f0c432")),
    "FLAT": (Pair("#9b9306", "#fee20d"), Pair("#80d0f8", "#80d0f0")),
    "LDS": (Pair("#c35f59", "#e17a65"), Pair("#ff7000", "#f07000")),
    "VALU": (Pair("#627e04", "#a4ffbe"), Pair("#00a000", "#00a000")),
    "JUMP": (Pair("#12999d", "#16aaa1"), Pair("#5038ff", "#5038f0")),
    "NEXT": (Pair("#02291c", "#96beab"), Pair("#8020ff", "#8020f0")),
    "IMMED": (Pair("#555a65", "#727884"), Pair("#404040", "#282828")),
    "TRAP": (Pair("#7f183d", "#eb1e2d"), Pair("#ff0804", "#f00020")),
    "MSG": (Pair("#396395", "#c2cad7"), Pair("#101010", "#080000")),
    "BVH": (Pair("#845b42", "#d7bc79"), Pair("#ff0804", "#f00804")),
    "MATRIX": (Pair("#1c3f0d", "#10811e"), Pair("#006000", "#006000")),
}

# Violet to magenta, which no kind has: states are drawn below kinds, and mean something else.
_WAVE_STATES = {
    "EMPTY": (Pair("#ffffff", "#212429"), Pair("#ffffff", "#cccccc")),
    "IDLE": (Pair("#928e98", "#6f6f6f"), Pair("#707070", "#595959")),
    "EXEC": (Pair("#46154d", "#decfe1"), Pair("#00fe00", "#00cc00")),
    "WAIT": (Pair("#7e48b6", "#b09cff"), Pair("#fefe00", "#cccc00")),
    "STALL": (Pair("#ad2160", "#f66eb0"), Pair("#ff0000", "#cc0000")),
}

STALL_REASONS = {
    "NONE": Pair("#868e96", "#7d8590"),
    "FETCH": Pair("#a56d00", "#f0c432"),
    "ALU_DEPENDENCY": Pair("#0b5d36", "#2ea56b"),
    "WAITCNT": Pair("#a35fe0", "#d3b8ff"),
    "INTERNAL": Pair("#495057", "#c3c9d1"),
    "BARRIER": Pair("#6b2fb3", "#b18cff"),
    "ARBITER_LOST": Pair("#2b9348", "#8fe3a3"),
    "PIPE_STALLED": Pair("#d9480f", "#ff7a45"),
    "OTHER": Pair("#2f5fe0", "#86a8ff"),
    "SLEEPING": Pair("#2f86d0", "#8ecbff"),
}

# Causes of stalled and idle cycles: a legend may list any of them, so all differ from each other.
CAUSES = {
    "UNEXPLAINED": Pair("#2d2d4b", "#787896"),
    "OWN": Pair("#5a5a69", "#87a5b4"),
    "WAIT_LOAD": Pair("#874b0f", "#f0963c"),
    "WAIT_STORE": Pair("#f04b2d", "#0fff2d"),
    "WAIT_DMA": Pair("#96961e", "#e1c30f"),
    "WAIT_ATOMIC": Pair("#b48787", "#c3f0e1"),
    "WAIT_LDS": Pair("#c35a69", "#e196a5"),
    "WAIT_CROSS_LANE": Pair("#e14be1", "#e15a1e"),
    "WAIT_SCALAR": Pair("#2d00b4", "#784bf0"),
    "WAIT_MESSAGE": Pair("#2d5af0", "#0fa587"),
    "WAIT_EXPORT": Pair("#876996", "#4ba500"),
    "MATRIX_RESULT": Pair("#1e3c0f", "#69d22d"),
    "MATRIX_BUSY": Pair("#1e961e", "#87e1a5"),
    "REGISTER": Pair("#96784b", "#ffffa5"),
    "UNIT_BUSY": Pair("#4b6900", "#c3ff4b"),
    "MEMORY_QUEUE": Pair("#d2781e", "#ffc396"),
    "LDS_QUEUE": Pair("#f01e87", "#f05a87"),
    "SCALAR_QUEUE": Pair("#874bf0", "#e196ff"),
    "OPERAND_READ": Pair("#692d3c", "#a5875a"),
    "BARRIER": Pair("#692db4", "#a578e1"),
    "NOP": Pair("#7896a5", "#c3c3e1"),
    "SLEEP": Pair("#a52d78", "#e14bd2"),
    "FETCH": Pair("#0f8778", "#1effff"),
    "ARBITRATION": Pair("#0f87d2", "#3cc3ff"),
    "SWITCH": Pair("#b478c3", "#ffe1ff"),
    "DRAIN": Pair("#005aa5", "#2d96e1"),
    "LAUNCH": Pair("#7887ff", "#96b469"),
}

KERNELS = (
    Pair("#2f6fd0", "#6aa5ff"),
    Pair("#c2571a", "#ff9a5c"),
    Pair("#2b8a4b", "#5fd08a"),
    Pair("#9b3fb5", "#d98cf0"),
    Pair("#b3261e", "#ff7f78"),
    Pair("#0f7f8a", "#4fd1dc"),
    Pair("#8a6d00", "#e3c34a"),
    Pair("#5b4fc9", "#a79bff"),
    Pair("#b0316f", "#ff8fbf"),
    Pair("#4f7a1c", "#a5d65c"),
    Pair("#7a4b2a", "#d9a37c"),
    Pair("#3d6673", "#93c3d2"),
)

# Meanings of markers in instrumented kernels; names of one kind differ in hue.
MARKERS = {
    "FUNCTION": Pair("#3264aa", "#6f9fe0"),
    "KERNEL": Pair("#783ca0", "#b98ad6"),
    "SCOPE": Pair("#96701e", "#d8b052"),
    "POINT": Pair("#2f8a47", "#6fd083"),
    "UNKNOWN": Pair("#6c757d", "#949ba3"),
}
MARKER_TURNS = (0, -22, 22, -44, 44)  # degrees

ARROWS = (
    Pair("#0b7a3b", "#4cd07d"),
    Pair("#1f5fd6", "#6fa8ff"),
    Pair("#c92a2a", "#ff7b7b"),
    Pair("#7a5195", "#c79be8"),
    Pair("#6b7280", "#a9b1bc"),
    Pair("#b96a00", "#ffb347"),
    Pair("#007f99", "#4fd0e6"),
    Pair("#7b2fd0", "#bd93ff"),
    Pair("#0f8f6f", "#54dfb8"),
    Pair("#5f8700", "#b4dc4a"),
    Pair("#c2188f", "#ff86d2"),
    Pair("#8a7000", "#f2d544"),
    Pair("#2a7f9e", "#86d3f2"),
)

SYNTAX = {
    "keyword": Pair("#8a2be2", "#c792ea"),
    "name": Pair("#1c2128", "#e3e6ea"),
    "function": Pair("#0550ae", "#82aaff"),
    "string": Pair("#0a6b3d", "#a5d6a7"),
    "number": Pair("#9a4a00", "#f6b26b"),
    "comment": Pair("#656f7a", "#8b949e"),
    "operator": Pair("#4a5561", "#b6bec8"),
}

PRESETS = {
    preset: {
        "token_kinds": {kind: pairs[at] for kind, pairs in _TOKEN_KINDS.items()},
        "wave_states": {state: pairs[at] for state, pairs in _WAVE_STATES.items()},
    }
    for at, preset in enumerate(("rcv", "reference"))
}
TOKEN_KINDS, WAVE_STATES = PRESETS["rcv"].values()


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
    linear = [
        value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in rgb(color))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(color: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2, from 1 to 21."""
    high, low = sorted((luminance(color), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
