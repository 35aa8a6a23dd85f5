"""The enumerations of a trace and what their values mean."""

from enum import IntEnum
from typing import Self

from rcv_py.base.text import TextEnum


class TokenKind(IntEnum):
    """The unit of a token; values are as in the files (MATRIX is this viewer's own).

    Documents and columns use the member names; people read `KIND_NAME` and `KIND_TEXT`.
    """

    NONE = 0
    SMEM = 1
    SALU = 2
    VMEM = 3
    FLAT = 4
    LDS = 5
    VALU = 6
    JUMP = 7
    NEXT = 8
    IMMED = 9
    TRAP = 10
    MSG = 11
    BVH = 12
    MATRIX = 13


KIND_COUNT = len(TokenKind)
KIND_NAME = {kind: kind.name for kind in TokenKind} | {
    TokenKind.NONE: "other",
    TokenKind.JUMP: "branch taken",
    TokenKind.NEXT: "branch not taken",
    TokenKind.IMMED: "wait",
    TokenKind.TRAP: "trap",
    TokenKind.MSG: "message",
    TokenKind.MATRIX: "MFMA/WMMA",
}
KIND_TEXT = KIND_NAME | {  # each begins with the kind's name
    TokenKind.VMEM: "VMEM (buffer, image)",
    TokenKind.FLAT: "FLAT (global, flat, scratch)",
    TokenKind.IMMED: "wait, barrier, nop",
    TokenKind.TRAP: "trap (context save or restore)",
    TokenKind.MSG: "message, end of program",
    TokenKind.BVH: "BVH (ray tracing)",
}


def kind_name(data: str) -> str:
    """Return the display name of a kind given its document name, `wait` for `IMMED`; else the text."""
    return KIND_NAME[TokenKind[data]] if data in TokenKind.__members__ else data


MATRIX_PREFIXES = ("v_mfma", "v_smfma", "v_wmma", "v_swmma")


class WaveState(IntEnum):
    """The state of a wave in a segment of its timeline.

    Documents and columns use the member names; people read `STATE_NAME` and `STATE_TEXT`.
    """

    EMPTY = 0
    IDLE = 1
    EXEC = 2
    WAIT = 3
    STALL = 4


STATE_NAME = {state: state.name.lower() for state in WaveState}
STATE_TEXT = {  # of the states of a wave: EMPTY is none
    WaveState.IDLE: "nothing to issue, or not chosen by the scheduler",
    WaveState.EXEC: "an instruction issues or executes",
    WaveState.WAIT: "at a wait, a barrier or a sleep",
    WaveState.STALL: "an instruction is ready and its unit refuses it",
}


def state_name(data: str) -> str:
    """Return the display name of a state given its document name, `exec` for `EXEC`; else the text."""
    return STATE_NAME[WaveState[data]] if data in WaveState.__members__ else data


class StallReason(IntEnum):
    """Why a PC sample did not issue (stochastic sampling): a name for people, and what it means."""

    text: str
    meaning: str

    def __new__(cls, number: int, text: str = "", meaning: str = "") -> Self:
        member = int.__new__(cls, number)
        member._value_, member.text, member.meaning = number, text, meaning
        return member

    NONE = 0, "none", "no reason was recorded"
    FETCH = 1, "instruction fetch", "the next instruction had not been fetched"
    ALU_DEPENDENCY = 2, "ALU dependency", "a result of an arithmetic instruction was not ready"
    WAITCNT = 3, "wait count", "it waited for a counter of outstanding memory operations"
    INTERNAL = 4, "internal instruction", "it was handled inside the sequencer"
    BARRIER = 5, "barrier", "it waited for the other waves of its workgroup"
    ARBITER_LOST = 6, "lost arbitration", "another wave was chosen"
    PIPE_STALLED = 7, "pipe stalled", "it was chosen, but its unit could not accept it"
    OTHER = 8, "other wait", "it waited for something else"
    SLEEPING = 9, "sleeping", "the wave slept"


class EventKind(TextEnum):
    """Hardware events of an occupancy file of version 3.1."""

    NONE = 0, "event without type"
    CS_PARTIAL_FLUSH = 1, "compute flush"
    BOTTOM_OF_PIPE_TS = 2, "bottom-of-pipe timestamp"
    SAVE_CONTEXT = 3, "context saved"
    DISPATCH_END = 4, "dispatch ended"
    CACHE_FLUSH = 5, "cache flush"
    PACKET_LOSS = 6, "packets were lost: what follows is incomplete"
    CODE_OBJECT_LOAD = 7, "code object loaded"
    CODE_OBJECT_UNLOAD = 8, "code object unloaded"
    TT_STALL_BEGIN = 9, "the trace began to stall the shaders"
    TT_STALL_END = 10, "the trace stopped stalling the shaders"
    TT_FLUSH = 11, "trace buffer flushed"
    DIDT_STALL_BEGIN = 12, "power throttling began"
    DIDT_STALL_END = 13, "power throttling ended"
    CLUSTER_BARRIER = 14, "cluster barrier"
    RESERVED = 15, "reserved event"
    GC_RINSE = 16, "cache rinse"
    SPM_SAMPLE = 17, "counter sample"


class MarkerKind(IntEnum):
    """The type of a marker of an instrumented kernel."""

    FUNCTION = 0
    KERNEL = 1
    SCOPE = 2
    POINT = 3
    UNKNOWN = 4  # its code object has a dictionary, but no name for it


MARKER_TEXT = {kind: kind.name.lower() for kind in MarkerKind} | {MarkerKind.UNKNOWN: "unknown marker"}
