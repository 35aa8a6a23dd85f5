"""The causes of stalled and idle cycles: name, sentence, evidence that is asked for, and colour.

No cause is a rest bin except UNEXPLAINED.  `certain` causes are told by the instruction itself or by a replay
of what it waited for; the others rest on what the trace shows of the same cycles, as `evidence` says.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from rcv_py.model.kinds import TokenKind


class Cause(IntEnum):
    """Why a wave did not go on; the numbers are stable."""

    UNEXPLAINED = 0
    OWN = 1
    WAIT_LOAD = 2
    WAIT_STORE = 3
    WAIT_DMA = 4
    WAIT_ATOMIC = 5
    WAIT_LDS = 6
    WAIT_CROSS_LANE = 7
    WAIT_SCALAR = 8
    WAIT_MESSAGE = 9
    WAIT_EXPORT = 10
    MATRIX_RESULT = 11
    MATRIX_BUSY = 12
    REGISTER = 13
    UNIT_BUSY = 14
    MEMORY_QUEUE = 15
    LDS_QUEUE = 16
    SCALAR_QUEUE = 17
    OPERAND_READ = 18
    BARRIER = 19
    NOP = 20
    SLEEP = 21
    FETCH = 22
    ARBITRATION = 23
    SWITCH = 24
    DRAIN = 25
    LAUNCH = 26


class CauseText(NamedTuple):
    """How a cause is told."""

    name: str  # a few words, for tables
    sentence: str  # completes "stalled because"
    evidence: str  # what has to be seen before a cycle is given this cause
    is_certain: bool
    colour: tuple[str, str | int]  # ("role", name) or ("kind", TokenKind)


def _kind(kind: TokenKind) -> tuple[str, int]:
    return ("kind", int(kind))


_REPLAYED = (
    "a replay of the counters says which operations this execution required; the newest is charged, of "
    "several counters or of scalar loads the likeliest by latency, as a guess if another fits as well"
)
_IN_A_QUEUE = "; which of them filled the queue is a guess, one of several"

CAUSE_TEXT: dict[Cause, CauseText] = {
    Cause.UNEXPLAINED: CauseText(
        "not explained", "nothing in the trace tells why", "none", False, ("role", "muted")
    ),
    Cause.OWN: CauseText(
        "the wait itself",
        "a wait, barrier or similar takes this long even if nothing is missing",
        "its stall is not longer than one issue turn, or the wave was the last to arrive",
        True,
        _kind(TokenKind.IMMED),
    ),
    Cause.WAIT_LOAD: CauseText(
        "vector load", "a load from memory had not returned", _REPLAYED, True, _kind(TokenKind.VMEM)
    ),
    Cause.WAIT_STORE: CauseText(
        "vector store", "a store was not acknowledged", _REPLAYED, True, _kind(TokenKind.FLAT)
    ),
    Cause.WAIT_DMA: CauseText(
        "copy to LDS",
        "a copy from memory to LDS was not complete",
        _REPLAYED,
        True,
        _kind(TokenKind.VMEM),
    ),
    Cause.WAIT_ATOMIC: CauseText(
        "atomic", "an atomic operation had not returned", _REPLAYED, True, _kind(TokenKind.FLAT)
    ),
    Cause.WAIT_LDS: CauseText(
        "LDS access", "an LDS access had not returned", _REPLAYED, True, _kind(TokenKind.LDS)
    ),
    Cause.WAIT_CROSS_LANE: CauseText(
        "cross-lane move",
        "a permute or swizzle through LDS had not returned",
        _REPLAYED,
        True,
        _kind(TokenKind.LDS),
    ),
    Cause.WAIT_SCALAR: CauseText(
        "scalar load", "a scalar load had not returned", _REPLAYED, True, _kind(TokenKind.SMEM)
    ),
    Cause.WAIT_MESSAGE: CauseText(
        "message", "a message was not answered", _REPLAYED, True, _kind(TokenKind.MSG)
    ),
    Cause.WAIT_EXPORT: CauseText("export", "an export was not done", _REPLAYED, True, _kind(TokenKind.MSG)),
    Cause.MATRIX_RESULT: CauseText(
        "matrix result",
        "it reads what a matrix instruction was still computing",
        "a matrix instruction wrote a register it reads, and the required distance was not over",
        True,
        _kind(TokenKind.MATRIX),
    ),
    Cause.MATRIX_BUSY: CauseText(
        "matrix unit busy",
        "the matrix unit of its SIMD still worked on an earlier matrix instruction",
        "by its passes an earlier matrix instruction of the SIMD occupied the unit in these cycles",
        True,
        _kind(TokenKind.MATRIX),
    ),
    Cause.REGISTER: CauseText(
        "register result",
        "it reads what an earlier arithmetic instruction was still computing",
        "it reads a register written just before by an instruction whose result takes that long",
        False,
        _kind(TokenKind.VALU),
    ),
    Cause.UNIT_BUSY: CauseText(
        "previous instruction",
        "the wave's previous instruction still held the unit",
        "by its form the instruction before takes longer to issue than one turn",
        True,
        _kind(TokenKind.VALU),
    ),
    Cause.MEMORY_QUEUE: CauseText(
        "memory queue full",
        "it could not issue: earlier vector memory operations were under way",
        "at least 3 vector memory operations of the compute unit were in flight in these cycles"
        + _IN_A_QUEUE,
        False,
        _kind(TokenKind.VMEM),
    ),
    Cause.LDS_QUEUE: CauseText(
        "LDS queue full",
        "it could not issue: earlier LDS accesses were under way",
        "at least 3 LDS accesses of the compute unit were in flight in these cycles" + _IN_A_QUEUE,
        False,
        _kind(TokenKind.LDS),
    ),
    Cause.SCALAR_QUEUE: CauseText(
        "scalar queue full",
        "it could not issue: earlier scalar loads were under way",
        "at least 9 scalar memory operations of the compute unit were in flight in these cycles"
        + _IN_A_QUEUE,
        False,
        _kind(TokenKind.SMEM),
    ),
    Cause.OPERAND_READ: CauseText(
        "behind a memory instruction",
        "a memory instruction issued just before was still reading its registers",
        "it is the next vector instruction behind it, or overwrites the address of a copy to LDS, and no "
        "wait for the memory instruction stands between",
        False,
        _kind(TokenKind.FLAT),
    ),
    Cause.BARRIER: CauseText(
        "barrier",
        "other waves of the workgroup had not arrived",
        "it is a barrier and another wave arrived later",
        True,
        _kind(TokenKind.IMMED),
    ),
    Cause.NOP: CauseText(
        "hazard nop",
        "the program asked for it, so that a result can be read safely",
        "it is an s_nop, for as many turns as its operand says",
        True,
        _kind(TokenKind.IMMED),
    ),
    Cause.SLEEP: CauseText(
        "sleep", "the program asked for it", "it is an s_sleep or its like", True, _kind(TokenKind.IMMED)
    ),
    Cause.FETCH: CauseText(
        "instruction fetch",
        "the instruction was not there yet",
        "it is the first of the wave, follows a branch, begins another cache line after a gap, or stalled "
        "together with another SIMD in the same line of code",
        False,
        _kind(TokenKind.JUMP),
    ),
    Cause.ARBITRATION: CauseText(
        "another wave issued",
        "another wave of the SIMD used the unit",
        "another wave of the SIMD issued to the same unit in these cycles",
        True,
        ("role", "hidden"),
    ),
    Cause.SWITCH: CauseText(
        "change of unit",
        "the wave went over from one unit to another",
        "a short gap between instructions of different units",
        False,
        ("role", "idle"),
    ),
    Cause.DRAIN: CauseText(
        "drain at the end",
        "the wave ended and stores were on their way",
        "it is s_endpgm, and operations of the wave that nothing had waited for were in flight",
        False,
        _kind(TokenKind.MSG),
    ),
    Cause.LAUNCH: CauseText(
        "before the first instruction",
        "the wave had just been launched",
        "nothing was issued by the wave before",
        True,
        ("role", "idle"),
    ),
}

WAITS = tuple(cause for cause in Cause if cause.name.startswith("WAIT_"))
# Their producers are guesses, even where the cause is right: what is in a queue is not recorded, and that
# registers were still read or written is told by nearness alone.
GUESSED = (
    Cause.MEMORY_QUEUE,
    Cause.LDS_QUEUE,
    Cause.SCALAR_QUEUE,
    Cause.OPERAND_READ,
    Cause.REGISTER,
)
# No instruction made the wave late: what is asked of it takes its time, or the program was not there yet.
WITHOUT_PRODUCER = (Cause.OWN, Cause.SLEEP, Cause.FETCH, Cause.LAUNCH)
