"""The legend of row colours: only visible colours, and the codes that a click on a name selects."""

from collections.abc import Iterator

import numpy as np

from rcv_py.base.text import Message
from rcv_py.model.activity import ACTIVITIES, ACTIVITY_COUNT, STATE_ORDER
from rcv_py.model.kinds import KIND_NAME, KIND_TEXT, STATE_NAME, STATE_TEXT, TokenKind
from rcv_py.ui.core.swatches import Swatch
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.rows_item import STRIP

STALL, KIND, STATE = "stall", "kind:", "state:"  # keys, the latter two followed by a number
BRANCH = "branch", "branch taken or not taken"  # both have a colour here


def activity_swatches(theme: Theme, seen: np.ndarray) -> Iterator[Swatch]:
    """Yield kinds, stall and states of waves whose codes are `seen` (bool [256]), in the stacking order."""
    for kind in dict.fromkeys(kind for kind, _ in ACTIVITIES):
        codes = [code for code, activity in enumerate(ACTIVITIES) if activity[0] is kind]
        if seen[codes].any():
            is_wait = kind is TokenKind.IMMED
            color = theme.stalled(kind) if is_wait else theme.kind(kind)
            name, meaning = BRANCH if kind is TokenKind.JUMP else (KIND_NAME[kind], KIND_TEXT[kind])
            yield Swatch(color, name, meaning, is_wait, f"{KIND}{int(kind)}")
    stalls = (
        code for code, (kind, is_stall) in enumerate(ACTIVITIES) if is_stall and kind is not TokenKind.IMMED
    )
    paler = [code for code in stalls if seen[code]]
    if paler:
        kind, meaning = (
            ACTIVITIES[paler[-1]][0],
            "the paler part of an instruction, in which it could not issue",
        )
        yield Swatch(theme.stalled(kind), "stall: paler", meaning, key=STALL)
    for place, state in enumerate(STATE_ORDER):
        if seen[STRIP + place]:
            name = Message("wave: {0}", STATE_NAME[state])
            yield Swatch(theme.state(state), name, STATE_TEXT[state], key=f"{STATE}{place}")


def not_picked(key: str) -> frozenset[int]:
    """Return the codes that are dimmed while a key is selected; none for an unknown key."""
    number = int(key.rpartition(":")[2] or -1) if ":" in key else -1
    if key == STALL:
        return frozenset(code for code, (_, is_stall) in enumerate(ACTIVITIES) if not is_stall)
    if key.startswith(KIND):
        return frozenset(code for code in range(ACTIVITY_COUNT) if ACTIVITIES[code][0] != number)
    if key.startswith(STATE):
        return frozenset(STRIP + place for place in range(len(STATE_ORDER)) if place != number)
    return frozenset()
