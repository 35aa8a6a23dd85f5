"""Activities of a wave, in the order in which a pixel's column stacks them from the bottom.

A column of a timeline is filled up to the share of its time with any activity; each activity has a part of
the height.  Work is at the bottom, stall above it, nothing on top.
"""

import numpy as np

from rcv_py.model.kinds import KIND_COUNT, TokenKind, WaveState

# (kind, whether it is its stall).  Rare, similar kinds share an activity, as do all scalar stalls; a wait is
# only stall.
_WORK = ("MATRIX", "VALU", "SALU", "SMEM", "VMEM", "FLAT", "LDS", "JUMP", "MSG")
_STALLS = ("MATRIX", "VALU", "SALU", "VMEM", "FLAT", "LDS", "IMMED")
ACTIVITIES = tuple(
    (TokenKind[name], is_stall) for is_stall, names in ((False, _WORK), (True, _STALLS)) for name in names
)
ACTIVITY_COUNT = len(ACTIVITIES)
STATE_ORDER = (WaveState.EXEC, WaveState.WAIT, WaveState.STALL, WaveState.IDLE)  # from the bottom
_LIKE = {TokenKind.BVH: TokenKind.VMEM, TokenKind.NEXT: TokenKind.JUMP}
_STALLS_LIKE = {kind: TokenKind.SALU for kind in (TokenKind.SMEM, TokenKind.JUMP, TokenKind.MSG)}


def _activity(kind: int, is_stall: bool) -> int:
    known = TokenKind(kind) if kind < KIND_COUNT else TokenKind.NONE
    shown = _LIKE.get(known, known)
    if (shown, False) not in ACTIVITIES and (shown, True) not in ACTIVITIES:
        shown = TokenKind.MSG
    if (shown, is_stall) in ACTIVITIES:
        return ACTIVITIES.index((shown, is_stall))
    return ACTIVITIES.index((_STALLS_LIKE.get(shown, shown), True))


ACTIVITY_OF = np.array([[_activity(kind, is_stall) for kind in range(256)] for is_stall in (False, True)])
"""int64 [2, 256]: the activity of a kind's execution, and of its stall, for every number a file may hold."""

STATE_PLACE = np.array([STATE_ORDER.index(state) if state in STATE_ORDER else 0 for state in range(256)])
"""int64 [256]: the place of a state in STATE_ORDER, 0 for numbers that are not a state of a living wave."""
