"""The causes of stalled and idle cycles: name, sentence, and required evidence.

Only UNEXPLAINED collects the rest.  `certain` causes show in the instruction itself or in a replay of the
operations it waited for; the others rest on other events in the same cycles, as `evidence` says.
"""

from enum import IntEnum
from functools import partial
from typing import Any, NamedTuple, Self

from rcv_py.base.text import Message


class CauseText(NamedTuple):
    """The texts for a cause."""

    name: str  # a few words, for tables
    sentence: str  # completes "stalled because"
    evidence: str  # what the trace must show before a cycle gets this cause
    is_certain: bool


# Causes that show in the instruction itself, or in a replay of the operations it waited for; and causes that
# rest on other events in the same cycles.
_certain, _likely = partial(CauseText, is_certain=True), partial(CauseText, is_certain=False)


def _queue(name: str, operations: str, crowd: str) -> CauseText:
    """A full queue; which operation filled it is a guess."""
    return _likely(
        Message("{0} queue full", name),
        Message("it could not issue: earlier {0} were in flight", operations),
        Message(
            "at least {0} of the compute unit were in flight in these cycles; which of them filled "
            "the queue is a guess among several",
            crowd,
        ),
    )


_REPLAYED = (
    "a replay of the counters gives the operations that this execution required; the newest "
    "is charged; for several counters or for scalar loads the likeliest by latency, as a "
    "guess if another fits as well"
)
_replayed = partial(_certain, evidence=_REPLAYED)


# fmt: off
class Cause(IntEnum):
    """Why a wave did not continue; the numbers are stable."""

    texts: CauseText

    def __new__(cls, number: int, texts: Any = None) -> Self:
        member = int.__new__(cls, number)
        member._value_, member.texts = number, texts
        return member

    UNEXPLAINED = 0, _likely("not explained", "nothing in the trace shows why", "none")
    OWN = 1, _certain("the wait itself",
        "a wait, barrier or similar instruction takes this long even if nothing is outstanding",
        "its stall is not longer than one issue turn, or the wave was the last to arrive")
    WAIT_LOAD = 2, _replayed("vector load", "a load from memory had not returned")
    WAIT_STORE = 3, _replayed("vector store", "a store was not acknowledged")
    WAIT_DMA = 4, _replayed("copy to LDS", "a copy from memory to LDS was not complete")
    WAIT_ATOMIC = 5, _replayed("atomic", "an atomic operation had not returned")
    WAIT_LDS = 6, _replayed("LDS access", "an LDS access had not returned")
    WAIT_CROSS_LANE = 7, _replayed("cross-lane move", "a permute or swizzle through LDS had not returned")
    WAIT_SCALAR = 8, _replayed("scalar load", "a scalar load had not returned")
    WAIT_MESSAGE = 9, _replayed("message", "a message was not answered")
    WAIT_EXPORT = 10, _replayed("export", "an export was not done")
    MATRIX_RESULT = 11, _certain("matrix result",
        "it reads the result of a matrix instruction that was still executing",
        "a matrix instruction wrote a register it reads, and the required distance had not passed")
    MATRIX_BUSY = 12, _certain("matrix unit busy",
        "the matrix unit of its SIMD still worked on an earlier matrix instruction",
        "an earlier matrix instruction of the SIMD occupied the unit in these cycles, by its passes")
    REGISTER = 13, _likely("register result",
        "it reads the result of an earlier arithmetic instruction that was still executing",
        "it reads a register written by the previous instruction, whose result takes that long")
    UNIT_BUSY = 14, _certain("previous instruction", "the wave's previous instruction still held the unit",
        "the form of the previous instruction takes longer to issue than one issue turn")
    MEMORY_QUEUE = 15, _queue("memory", "vector memory operations", "3 vector memory operations")
    LDS_QUEUE = 16, _queue("LDS", "LDS accesses", "3 LDS accesses")
    SCALAR_QUEUE = 17, _queue("scalar", "scalar loads", "9 scalar memory operations")
    OPERAND_READ = 18, _likely("after a memory instruction",
        "a memory instruction issued just before was still reading its registers",
        "it is the next vector instruction after it, or overwrites the address of a copy to LDS, and no "
        "wait for the memory instruction stands between")
    BARRIER = 19, _certain("barrier", "other waves of the workgroup had not arrived",
        "it is a barrier and another wave arrived later")
    NOP = 20, _certain("hazard nop", "the program contains it, so that a result can be read safely",
        "it is an s_nop, for as many turns as its operand says")
    SLEEP = 21, _certain("sleep", "the program contains it", "it is an s_sleep or its like")
    FETCH = 22, _likely("instruction fetch", "the instruction had not been fetched yet",
        "it is the first of the wave, follows a branch, begins another cache line after a gap, or stalled "
        "together with another SIMD in the same line of code")
    ARBITRATION = 23, _certain("another wave issued", "another wave of the SIMD used the unit",
        "another wave of the SIMD issued to the same unit in these cycles")
    SWITCH = 24, _likely("change of unit", "the wave went over from one unit to another",
        "a short gap between instructions of different units")
    DRAIN = 25, _likely("drain at the end", "the wave ended while stores were in flight",
        "it is s_endpgm, and operations of the wave that nothing had waited for were in flight")
    LAUNCH = 26, _certain("before the first instruction", "the wave had just been launched",
        "nothing was issued by the wave before")
    WAIT_CACHE = 27, _replayed("cache maintenance", "a cache was not invalidated or written back yet")
# fmt: on


CAUSE_TEXT = {cause: cause.texts for cause in Cause}

WAITS = tuple(cause for cause in Cause if cause.name.startswith("WAIT_"))
# Their producers are guesses, even if the cause is right: the trace does not record the contents of a queue,
# and only the short distance suggests that registers were still being read or written.
GUESSED = (Cause.MEMORY_QUEUE, Cause.LDS_QUEUE, Cause.SCALAR_QUEUE, Cause.OPERAND_READ, Cause.REGISTER)
# No instruction made the wave late: its own work takes the time, or the program was not fetched yet.
WITHOUT_PRODUCER = (Cause.OWN, Cause.SLEEP, Cause.FETCH, Cause.LAUNCH)
