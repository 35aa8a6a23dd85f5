"""Where above its place a load could stand, and what limits it, as sentences; other instructions stay."""

from typing import NamedTuple

from rcv_py.analysis.waits.hoisting import LIMIT_TEXT, HoistLimit, hoists, is_load
from rcv_py.base.text import Message
from rcv_py.model.code import has_known_operands
from rcv_py.model.trace import Trace

STAYS = "Only what loads into registers can be tried elsewhere."
NEVER = "It was never executed, so nothing follows from it."
UNREADABLE = "Its operands are not known: the text holds raw words."
BELOW = "Only earlier places can be tried: the recording does not show what would wait for it later."
HERE = "It stands there."


class RoomAbove(NamedTuple):
    """Code rows: an instruction may stand before each row from `top` to its own."""

    top: int
    why: str  # a sentence: what keeps it from standing higher, or anywhere else


def room_above(trace: Trace, row: int) -> RoomAbove:
    """Return where an instruction of a program could stand."""
    code = trace.code
    if code.is_label[row] or not code.hits[row]:
        return RoomAbove(row, NEVER)
    text = code.text[row].strip()
    if not has_known_operands(text):
        return RoomAbove(row, UNREADABLE)
    return _of_load(trace, row) if is_load(text) else RoomAbove(row, STAYS)


def why_not_before(trace: Trace, row: int, before: int) -> str:
    """Return why an instruction cannot stand right before another one, a sentence; "" if it can."""
    room = room_above(trace, row)
    if room.top == row and room.why in (NEVER, STAYS, UNREADABLE):
        return room.why
    if before in (row, row + 1):
        return HERE
    return BELOW if before > row else room.why if before < room.top else ""


def _of_load(trace: Trace, row: int) -> RoomAbove:
    code = trace.code
    found = hoists(code, trace.architecture).of(row)
    why = _sentence(trace, found.at, LIMIT_TEXT[found.limit])
    if found.limit is HoistLimit.DESTINATION and found.renamed_up > found.up:
        higher = _above(trace, row, found.renamed_up)
        why = Message("{0}; with other registers that are free it could go up to {1}.", why[:-1], higher)
    if found.limit is HoistLimit.BLOCK:
        why = Message("The basic block begins at {0}.", _above(trace, row, found.up))
    return RoomAbove(_above(trace, row, found.up), why)


def _sentence(trace: Trace, at: int, why: str) -> str:
    return Message("Instruction {0}, {1}: {2}.", at, trace.code.text[at].strip().partition(" ")[0], why)


def _above(trace: Trace, row: int, steps: int) -> int:
    """The code row `steps` instructions above another, without counting labels."""
    while steps > 0 and row > 0:
        row -= 1
        steps -= not trace.code.is_label[row]
    return row
