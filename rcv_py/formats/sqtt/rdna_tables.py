"""Tokens of RDNA in the form that the walk needs: `resources/tables/rdna.toml` has them for people."""

from enum import IntEnum
from functools import cache
from typing import NamedTuple

import numpy as np

from rcv_py.base.record import Value
from rcv_py.base.tables import table
from rcv_py.model.kinds import TokenKind

# The type of a token.
Token = IntEnum(
    "Token",
    "UNKNOWN NOP TIME TIMESTAMP HEADER INST VALU_INST IMM_ONE IMMEDIATE WAVE_READY NEW_PC WAVE_START "
    "WAVE_START_EXT WAVE_END WAVE_ALLOC SHADER_DATA SHADER_DATA_SHORT MISC EVENT EVENT_SYNC REG REG_INIT "
    "UTIL_COUNTER ALU_DONE MEMORY_DONE EXEC_POPCOUNT LDS_CONFIG",
    start=0,
)


class Act(IntEnum):
    """The effect of an instruction token on the state of a wave."""

    NOTHING = 0  # an unknown number, or no instruction
    ISSUE = 1
    JUMP = 2  # the stream reports the target later
    WAIT = 3  # from the end of the instruction before
    BARRIER = 4  # waits as well
    LONG_BARRIER = 5  # and goes on until the next token of the wave
    READY = 6  # could issue from now on
    TRAP = 7
    RETURN = 8  # of a trap
    ELSEWHERE = 9  # on the other SIMD of the WGP
    PREFIX = 10  # loads scales for the wave's next instruction, which begins a cycle earlier
    REPLAY = 11  # a memory instruction is issued again, see `replays`


GENERATION = {1: "10", 2: "10", 3: "11", 4: "12", 5: "1250"}  # by the version in the header of a stream
TOKEN_TYPES = len(Token)
OPS = 512  # numbers of nine bits; tokens without a number follow
REJOINING = 5  # waves that the short VALU token distinguishes

START_PLACE, START_COUNT = 7, 25  # bits of a wave start, the same in all generations
SA_SHIFT = 7  # the bits of the shader array are above the number of the WGP
CLUSTER_FIRST, CLUSTER_LAST, CLUSTER_NUMBER = 17, 18, 19  # bits of a miscellaneous token of gfx1250
# A row of the table of tokens is one number for the walk: Token in the low 8 bits, and from these bits on:
RULE_BITS = 8  # of the whole token (8 bits)
RULE_SHIFT, RULE_MASK, RULE_PLUS = 16, 24, 36  # cycles that passed (8, 12 and 8 bits)
RULE_SLOT = 44  # where five bits of the slot begin, 0 if there are none (5 bits)
RULE_RECENT = 49  # index into the slots that issued last, 1 for the latest, 0 if absent (3 bits)
RULE_IS_MASK = 52  # a bit for each of 16 slots, from bit 8 on
RULE_IS_NOTED = 53  # numpy reads it
RULE_IS_CONTROL = 54  # begins, ends or moves a wave, or decides what others say
RULE_IS_QUIET = 55  # only time passes
MARKS = {"masks": RULE_IS_MASK, "noted": RULE_IS_NOTED, "controls": RULE_IS_CONTROL, "quiet": RULE_IS_QUIET}
# An instruction is a number too: TokenKind in the low 8 bits, Act (8 bits), cycles.
OP_ACT, OP_CYCLES = 8, 16


class Known(NamedTuple):
    """Parameters of a stream for the walk: bit positions that depend on the generation, and more."""

    op: int
    op_mask: int
    start_slot: int
    start_pipe: int
    start_me: int
    end_place: int  # shader array, two bits SIMD, and WGP
    end_slot: int
    place_mask: int
    pc_mask: int
    data_place: int
    data_slot: int
    data_value: int
    misc_flags: int
    misc_save: int
    gfxip: int
    late: int  # cycles by which readiness of a wave is reported late
    is_byte_aligned: bool = False
    place: int = 0  # the traced one


class TokenLayout(Value):
    """One generation, in the form that the walk needs."""

    generation: str
    rules: np.ndarray  # int64 [256], see RULE_…, by the low 8 bits
    known: Known  # the caller sets the traced place

    def instructions(self, dp_rate: int, derate: int, trans: int = 2) -> np.ndarray:
        """Return int64 [OPS + TOKEN_TYPES]: TokenKind, Act and cycles of each instruction, see OP_…."""
        factor = {"dp": dp_rate, "derate": dp_rate * derate, "trans": trans}
        found = np.zeros(OPS + TOKEN_TYPES, dtype=np.int64)
        for op in table("rdna")["instructions"]:
            if self.generation in op["of"].split():
                does = TokenKind[op["kind"]] | Act[op.get("act", "ISSUE")] << OP_ACT
                for number, cycles in enumerate(op.get("cycles", (1,)), op["first"]):
                    found[number] = does | cycles * factor.get(op.get("rate"), 1) << OP_CYCLES
        return found


@cache
def layout(version: int) -> TokenLayout:
    """Return the layout of streams of a version (1…5, from their header)."""
    generation = GENERATION[version]
    known = Known(**table("rdna")["known"][generation])
    return TokenLayout(generation, _rules(generation, known.is_byte_aligned), known)


def _rules(generation: str, is_byte_aligned: bool) -> np.ndarray:
    tables = table("rdna")
    rules = np.zeros(256, dtype=np.int64)
    if is_byte_aligned:
        rules[:] = 8 << RULE_BITS  # unknown bits are skipped by bytes
    rows = [one for one in tables["tokens"] if generation in one["of"].split()]
    for one in sorted(rows, key=lambda one: len(one["prefix"])):
        prefix, name, (first, end) = one["prefix"], one["token"], one.get("delta", (0, 0))
        bits = -(-one["bits"] // 8) * 8 if is_byte_aligned else one["bits"]
        numbers = np.arange(int(prefix, 2), 256, 1 << len(prefix))
        rule = Token[name] | bits << RULE_BITS | first << RULE_SHIFT | (1 << end - first) - 1 << RULE_MASK
        rule |= one.get("plus", 0) << RULE_PLUS | one.get("slot", 0) << RULE_SLOT
        for marked, bit in MARKS.items():
            rule |= (name in tables[marked]) << bit
        rules[numbers] = rule
        if name == "VALU_INST" and "slot" not in one:
            delta, wave = np.array(tables["short_delta"]), np.array(tables["short_wave"])
            rules[numbers] |= delta[numbers >> 4] << RULE_PLUS | wave[numbers >> 4] << RULE_RECENT
    return rules
