"""Tokens of RDNA as tables: their encoding in each generation, and the instructions.

A stream is a sequence of bits, the lowest of each byte first.  The low 8 bits at a position give the type and
length of the token; tables define the rest.  Each generation is a list of changes to the previous one.

gfx10 and gfx1250 come from documents alone: no capture of them was available.
"""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import cache
from typing import NamedTuple

import numpy as np

from rcv_py.model.kinds import TokenKind


class Token(IntEnum):
    """The type of a token."""

    UNKNOWN = 0
    NOP = 1
    TIME = 2
    TIMESTAMP = 3
    HEADER = 4
    INST = 5
    VALU_INST = 6
    IMM_ONE = 7
    IMMEDIATE = 8
    WAVE_READY = 9
    NEW_PC = 10
    WAVE_START = 11
    WAVE_START_EXT = 12
    WAVE_END = 13
    WAVE_ALLOC = 14
    SHADER_DATA = 15
    SHADER_DATA_SHORT = 16
    MISC = 17
    EVENT = 18
    EVENT_SYNC = 19
    REG = 20
    REG_INIT = 21
    UTIL_COUNTER = 22
    ALU_DONE = 23
    MEMORY_DONE = 24
    EXEC_POPCOUNT = 25
    LDS_CONFIG = 26


TOKEN_TYPES = len(Token)


class TokenEncoding(NamedTuple):
    """The encoding of a token."""

    token: Token
    prefix: str  # the lowest bits, most significant first
    bits: int  # of the whole token
    delta: tuple[int, int] = (0, 0)  # bits of the cycles since the previous token, end excluded
    plus: int = 0  # further cycles that pass


GFX10 = (
    TokenEncoding(Token.INST, "010", 20, (4, 7)),
    TokenEncoding(Token.VALU_INST, "011", 12, (3, 6)),
    TokenEncoding(Token.IMM_ONE, "1101", 12, (4, 7)),
    TokenEncoding(Token.IMMEDIATE, "00100", 24, (5, 8)),
    TokenEncoding(Token.WAVE_READY, "10100", 24, (5, 8)),
    TokenEncoding(Token.NEW_PC, "0100001", 64, (8, 11)),
    TokenEncoding(Token.WAVE_START, "01100", 32, (5, 7)),
    TokenEncoding(Token.WAVE_START_EXT, "11100", 48, (5, 7)),
    TokenEncoding(Token.WAVE_ALLOC, "00101", 20, (5, 8)),
    TokenEncoding(Token.WAVE_END, "10101", 20, (5, 8)),
    TokenEncoding(Token.SHADER_DATA, "00110", 52, (5, 8)),
    TokenEncoding(Token.SHADER_DATA_SHORT, "10110", 28, (5, 8)),
    TokenEncoding(Token.UTIL_COUNTER, "0110001", 64, (7, 9)),
    TokenEncoding(Token.TIME, "1000", 8, (4, 8), plus=4),
    TokenEncoding(Token.NOP, "0000", 4),
    TokenEncoding(Token.MISC, "1010001", 24, (7, 16)),
    TokenEncoding(Token.EVENT, "01100001", 24, (8, 11)),
    TokenEncoding(Token.EVENT_SYNC, "11100001", 32, (8, 11)),
    TokenEncoding(Token.REG, "1001", 64, (4, 7)),
    TokenEncoding(Token.REG_INIT, "1110001", 64, (7, 10)),
    TokenEncoding(Token.TIMESTAMP, "0000001", 64),
    TokenEncoding(Token.HEADER, "0010001", 64),
    TokenEncoding(Token.ALU_DONE, "1110", 8, (4, 6)),
    TokenEncoding(Token.MEMORY_DONE, "1111", 8, (4, 6)),
)
GFX11 = (
    *GFX10,
    TokenEncoding(Token.UTIL_COUNTER, "0110001", 48, (7, 9)),
    TokenEncoding(Token.TIMESTAMP, "0000001", 48),
)
GFX12 = (
    *GFX11,
    TokenEncoding(Token.UNKNOWN, "00110", 0),
    TokenEncoding(Token.UNKNOWN, "10110", 0),
    TokenEncoding(Token.INST, "010", 20, (3, 6)),
    TokenEncoding(Token.SHADER_DATA, "0000110", 56, (7, 10)),
    TokenEncoding(Token.SHADER_DATA_SHORT, "1000110", 32, (7, 10)),
    TokenEncoding(Token.EXEC_POPCOUNT, "1100110", 24, (7, 10)),
    TokenEncoding(Token.EXEC_POPCOUNT, "010110", 48, (6, 9)),
    TokenEncoding(Token.NEW_PC, "0100001", 72, (8, 11)),
    TokenEncoding(Token.WAVE_START_EXT, "11100", 40, (5, 7)),
    TokenEncoding(Token.WAVE_ALLOC, "00101", 24, (5, 8)),
    TokenEncoding(Token.TIMESTAMP, "0000001", 64),
)
GFX1250 = (
    *GFX12,
    TokenEncoding(Token.INST, "0010", 24, (4, 6)),
    TokenEncoding(Token.VALU_INST, "011", 8),
    TokenEncoding(Token.NOP, "0000", 8),
    TokenEncoding(Token.IMM_ONE, "1101", 16, (7, 10)),
    TokenEncoding(Token.WAVE_END, "1000001", 24, (7, 10)),
    TokenEncoding(Token.LDS_CONFIG, "00100110", 24, (8, 10)),
    TokenEncoding(Token.MISC, "1010001", 24, (7, 10)),
    TokenEncoding(Token.TIME, "1000", 8, (4, 8), plus=1),
    TokenEncoding(Token.TIME, "1110", 8, (4, 8), plus=1),
    TokenEncoding(Token.TIME, "10100110", 16, (8, 16)),
)
# The short VALU token of gfx1250 has one number of four bits for both: cycles passed, and which of the waves
# that issued last it is
SHORT_DELTA = (1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 1, 2)
SHORT_WAVE = (1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5)


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


class Op(NamedTuple):
    """A range of instruction numbers whose cycles rise by one."""

    first: int
    kind: TokenKind
    cycles: tuple[int, ...] = (1,)
    act: Act = Act.ISSUE
    rate: str = ""  # factor of the cycles: "dp" (double precision), "derate" (of some), "trans"


SMEM, SALU, VMEM, FLAT = TokenKind.SMEM, TokenKind.SALU, TokenKind.VMEM, TokenKind.FLAT
LDS, VALU, BVH, MSG = TokenKind.LDS, TokenKind.VALU, TokenKind.BVH, TokenKind.MSG


def _rising(first: int, last: int) -> tuple[int, ...]:
    return tuple(range(first, last + 1))


COMMON_OPS = (
    Op(0, SALU),
    Op(1, SMEM, (1, 1)),
    Op(3, TokenKind.JUMP),
    Op(4, TokenKind.NEXT),
    Op(5, SALU, act=Act.JUMP),
    Op(6, TokenKind.TRAP, act=Act.TRAP),
    Op(7, SALU),
    Op(8, TokenKind.TRAP),
    Op(9, MSG),
    Op(10, VALU, (1, 4, 1, 2, 4)),
    Op(18, VALU),
    Op(19, TokenKind.IMMED, act=Act.LONG_BARRIER),
    Op(55, VMEM, _rising(1, 12)),
    Op(68, VMEM, (*_rising(1, 4), *_rising(2, 8))),
    Op(103, BVH, (8, 9, 11, 12)),
    Op(110, LDS, (1, 1)),
    Op(117, SALU, act=Act.RETURN),
)
GFX10_OPS = (
    *COMMON_OPS,
    Op(12, VALU, (1, 2, 4, 16, 1, 1), rate="dp"),
    Op(30, FLAT, (1, *_rising(2, 5))),
    Op(35, VMEM, (1, *_rising(1, 5))),
    Op(41, LDS, (1, *_rising(1, 5))),
    Op(47, VMEM, (1, 2, *_rising(1, 6))),
    Op(112, SALU, (1, 1)),
)
GFX11_OPS = (
    *COMMON_OPS,
    Op(10, VALU, rate="dp"),
    Op(15, VALU, rate="dp"),
    Op(16, VALU, (1, 1)),
    Op(28, FLAT, _rising(2, 6)),
    Op(33, VMEM, (1, 2, *_rising(1, 6))),
    Op(41, LDS, (1, *_rising(1, 5))),
    Op(47, VMEM, (1, 2, *_rising(1, 6))),
    Op(80, LDS, _rising(1, 5), Act.ELSEWHERE),
    Op(85, FLAT, _rising(2, 6), Act.ELSEWHERE),
    Op(90, VMEM, _rising(1, 12), Act.ELSEWHERE),
    Op(112, SALU, (1, 1, 1)),
    Op(115, VALU, (1, 2)),
    Op(118, LDS, (6,)),
    Op(119, LDS, (6,), Act.ELSEWHERE),
)
GFX12_OPS = (
    *(op for op in GFX11_OPS if op.first not in (10, 16, 90, 112)),
    Op(19, TokenKind.IMMED, act=Act.BARRIER),
    Op(10, VALU, (1, 4, 1, 2, 4, 16)),
    Op(114, SALU),
    Op(118, BVH, (6,)),
    Op(120, LDS, (10,), Act.ELSEWHERE),
    Op(121, BVH, (10,)),
    Op(122, MSG),
    Op(135, SALU, (1, 1, 1)),
    Op(138, MSG),
    Op(140, VALU, (8, 16, 32, 64)),
    Op(146, VALU, rate="dp"),
    Op(147, VALU, rate="derate"),
    Op(150, SMEM, (1, 1)),
    Op(152, SALU, (3,)),
    Op(153, VALU),
    Op(155, SALU, (2, 5)),
    Op(188, VMEM, _rising(1, 34), Act.ELSEWHERE),
    Op(222, VMEM, _rising(1, 34)),
)
GFX1250_OPS = (
    *(op for op in GFX12_OPS if op.first not in (118, 121, 140, 146, 147)),
    Op(11, VALU, (2,), rate="trans"),
    Op(16, VALU, (32, 8)),
    Op(26, FLAT, (1, 2)),
    Op(28, FLAT, _rising(2, 6)),
    Op(79, TokenKind.NONE, act=Act.REPLAY),
    Op(157, VMEM, (1, 1, 1, 2, 2, 3, 5)),
    Op(165, VALU, (1, 1)),
    Op(169, VALU),
    Op(170, VMEM, (1, 1)),
    Op(172, VMEM, (1,), Act.ELSEWHERE),
    Op(173, LDS),
    Op(174, MSG),
    Op(175, VALU, (16, 32, 16, 8, 16, 1, 4, 2)),
    Op(183, TokenKind.NONE, act=Act.PREFIX),
    Op(184, VALU, (4,)),
    Op(187, VALU, (32,)),
    Op(279, MSG),  # signals a semaphore
    Op(280, TokenKind.IMMED, act=Act.WAIT),  # waits for one
    Op(302, VALU, (8,)),
)
OPS = 512  # numbers of nine bits; tokens without a number follow
TOKEN_OPS = (
    Op(OPS + Token.VALU_INST, VALU),
    Op(OPS + Token.IMM_ONE, TokenKind.IMMED, act=Act.WAIT),
    Op(OPS + Token.IMMEDIATE, TokenKind.IMMED, act=Act.WAIT),
)
READY_OP = Op(OPS + Token.WAVE_READY, TokenKind.NONE, act=Act.READY)  # of generations that report it in time
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
# An instruction is a number too: TokenKind in the low 8 bits, Act (8 bits), cycles.
OP_ACT, OP_CYCLES = 8, 16

MASKS = (Token.IMMEDIATE, Token.WAVE_READY)
CONTROLS = (
    Token.WAVE_START, Token.WAVE_START_EXT, Token.WAVE_END, Token.NEW_PC, Token.MISC, Token.REG,
    Token.TIMESTAMP,
)  # fmt: skip
QUIET = (Token.NOP, Token.TIME, Token.ALU_DONE, Token.MEMORY_DONE, Token.UTIL_COUNTER, Token.WAVE_ALLOC)
NOTED = (
    Token.SHADER_DATA, Token.SHADER_DATA_SHORT, Token.MISC, Token.EVENT, Token.REG, Token.REG_INIT,
    Token.TIMESTAMP,
)  # fmt: skip
SLOT_GFX10 = {Token.INST: 8, Token.VALU_INST: 7, Token.IMM_ONE: 7}
SLOT_GFX12 = {**SLOT_GFX10, Token.INST: 7}
SLOT_GFX1250 = {Token.INST: 7, Token.IMM_ONE: 10}


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


KNOWN_GFX10 = Known(
    op=13,
    op_mask=0x7F,
    start_slot=13,
    start_pipe=21,
    start_me=23,
    end_place=8,
    end_slot=15,
    place_mask=0x3F,
    pc_mask=(1 << 46) - 1,
    data_place=8,
    data_slot=15,
    data_value=20,
    misc_flags=16,
    misc_save=19,
    gfxip=10,
    late=1,
)
KNOWN_GFX11 = KNOWN_GFX10._replace(gfxip=11)
KNOWN_GFX12 = KNOWN_GFX11._replace(
    op=12,
    op_mask=0xFF,
    start_slot=15,
    start_pipe=20,
    start_me=22,
    place_mask=0x7F,
    pc_mask=(1 << 55) - 1,
    data_place=10,
    data_slot=17,
    data_value=22,
    gfxip=12,
    late=0,
)
KNOWN_GFX1250 = KNOWN_GFX12._replace(
    op_mask=0x1FF, end_place=10, end_slot=17, misc_flags=10, misc_save=12, is_byte_aligned=True
)


class TokenLayout(NamedTuple):
    """One generation, in the form that the walk needs."""

    rules: np.ndarray  # int64 [256], see RULE_…, by the low 8 bits
    known: Known  # the caller sets the traced place
    ops: tuple[Op, ...]

    def instructions(self, dp_rate: int, derate: int, trans: int = 2) -> np.ndarray:
        """Return int64 [OPS + TOKEN_TYPES]: TokenKind, Act and cycles of each instruction, see OP_…."""
        factor = {"": 1, "dp": dp_rate, "derate": dp_rate * derate, "trans": trans}
        table = np.zeros(OPS + TOKEN_TYPES, dtype=np.int64)
        ready = () if self.known.late else (READY_OP,)
        for op in (*self.ops, *TOKEN_OPS, *ready):
            for number, cycles in enumerate(op.cycles, op.first):
                table[number] = op.kind | op.act << OP_ACT | cycles * factor[op.rate] << OP_CYCLES
        return table


GENERATIONS = {  # by the version in the header of a stream
    1: (GFX10, SLOT_GFX10, KNOWN_GFX10, GFX10_OPS),
    2: (GFX10, SLOT_GFX10, KNOWN_GFX10, GFX10_OPS),
    3: (GFX11, SLOT_GFX10, KNOWN_GFX11, GFX11_OPS),
    4: (GFX12, SLOT_GFX12, KNOWN_GFX12, GFX12_OPS),
    5: (GFX1250, SLOT_GFX1250, KNOWN_GFX1250, GFX1250_OPS),
}


@cache
def layout(version: int) -> TokenLayout:
    """Return the layout of streams of a version (1…5, from their header)."""
    encodings, slots, known, ops = GENERATIONS[version]
    return TokenLayout(rules=_rules(encodings, slots, known.is_byte_aligned), known=known, ops=ops)


def _rules(
    encodings: Iterable[TokenEncoding], slots: Mapping[Token, int], is_byte_aligned: bool
) -> np.ndarray:
    rules = np.zeros(256, dtype=np.int64)
    if is_byte_aligned:
        rules[:] = 8 << RULE_BITS  # unknown bits are skipped by bytes
    for one in encodings:
        first, end = one.delta
        bits = -(-one.bits // 8) * 8 if is_byte_aligned else one.bits
        mask = (1 << (end - first)) - 1
        rows = np.arange(int(one.prefix, 2), 256, 1 << len(one.prefix))
        rules[rows] = (
            one.token
            | bits << RULE_BITS
            | first << RULE_SHIFT
            | mask << RULE_MASK
            | one.plus << RULE_PLUS
            | slots.get(one.token, 0) << RULE_SLOT
            | (one.token in MASKS) << RULE_IS_MASK
            | (one.token in NOTED) << RULE_IS_NOTED
            | (one.token in CONTROLS) << RULE_IS_CONTROL
            | (one.token in QUIET) << RULE_IS_QUIET
        )
        if one.token == Token.VALU_INST and one.token not in slots:
            short = rows >> 4
            rules[rows] |= (
                np.array(SHORT_DELTA)[short] << RULE_PLUS | np.array(SHORT_WAVE)[short] << RULE_RECENT
            )
    return rules
