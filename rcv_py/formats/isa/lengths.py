"""Decode lengths and categories of instructions from their words alone, where no disassembler works.

The tables hold the encodings of the families: the bits at the top of the first word, the number of words, and
the sources that may announce a literal, or words about lanes.  They were compared with an assembler's tables
over random words of every encoding.  Texts are a name that begins like names of that category, followed by
the raw words; instructions of the sequencer, which waits and loops depend on, have their real names.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

WORD = 4  # bytes
UNNAMED = "_unknown"  # ends names of which only the prefix is known
LITERAL = 255  # a source: the next word is the value
LITERAL_64 = 254
LANES = (249, 250, 233, 234)  # a source: the next word selects lanes or bytes (DPP, SDWA)


@dataclass(frozen=True, slots=True)
class InstructionEncoding:
    """Instructions whose first word begins with the same bits."""

    top: str  # the common bits, the highest first; "." is any
    name: str  # name in texts
    words: int = 1  # without words that sources add
    scalar: int = 0  # of the two 8-bit sources of the first word, how many may be a literal
    vector: bool = False  # the 9-bit source of the first word may be a literal or lanes
    late: bool = False  # 9-bit sources of the second word may be a literal, the first of them lanes
    count: tuple[int, int] = (0, 0)  # bits of the first word with the number of following words: lowest, mask
    pair: bool = False  # two instructions in one: either may have a literal
    operand: str = ""  # format of the low 16 bits of the first word; "": the raw words


class Wait(NamedTuple):
    """Position of a counter in the constant of s_waitcnt: its low bits, and its high bits."""

    name: str
    low: int
    bits: int
    high: int = 0
    high_bits: int = 0

    def read(self, constant: int) -> str:
        """The assembler syntax; empty if the wait does not involve this counter."""
        value = constant >> self.low & (1 << self.bits) - 1
        value |= (constant >> self.high & (1 << self.high_bits) - 1) << self.bits
        return "" if value == (1 << self.bits + self.high_bits) - 1 else f" {self.name}({value})"


GFX9_WAITS = (Wait("vmcnt", 0, 4, 14, 2), Wait("expcnt", 4, 3), Wait("lgkmcnt", 8, 4))
GFX10_WAITS = (Wait("vmcnt", 0, 4, 14, 2), Wait("expcnt", 4, 3), Wait("lgkmcnt", 8, 6))
GFX11_WAITS = (Wait("vmcnt", 10, 6), Wait("expcnt", 0, 3), Wait("lgkmcnt", 4, 6))


class IsaFamily(NamedTuple):
    """The instruction set of some GPUs."""

    encodings: tuple[InstructionEncoding, ...]  # the first match counts
    waits: tuple[Wait, ...]  # counters in the constant of s_waitcnt
    lanes: tuple[int, ...]  # sources that announce a word about lanes
    has_late_lanes: bool = False  # also in three-source instructions
    has_wide_literals: bool = False


def _bits(value: int, count: int) -> str:
    return f"{value:0{count}b}"


def _sequencer(names: dict[int, str]) -> tuple[InstructionEncoding, ...]:
    rows = (
        InstructionEncoding("101111111" + _bits(op, 7), name, operand=_operand(name))
        for op, name in names.items()
    )
    return (*rows, InstructionEncoding("101111111", "s_nop_unknown"))


def _operand(name: str) -> str:
    if name.startswith(("s_endpgm", "s_barrier", "s_icache_inv", "s_wakeup", "s_code_end", "s_wait_idle")):
        return "none" if name != "s_barrier_wait" else "number"
    return "hexadecimal" if name.startswith(("s_wait_", "s_sendmsg", "s_delay", "s_clause")) else "number"


def _scalar(three: str, one: str, literal: tuple[int, ...] = ()) -> tuple[InstructionEncoding, ...]:
    """Scalar ALU: comparisons, one source, a constant in the word, two sources."""
    return (
        InstructionEncoding("101111110", "s_unknown", scalar=2),
        InstructionEncoding("101111101", "s_unknown", scalar=1),
        InstructionEncoding("1011" + three, "s_unknown", 2),  # s_setreg_imm32_b32
        *(
            InstructionEncoding("1011" + _bits(op, 5), "s_call_b64", operand="number")
            for op in (int(one, 2),)
        ),
        InstructionEncoding("1011", "s_unknown"),
        *(
            InstructionEncoding("10" + _bits(op, 7), "s_unknown", 2) for op in literal
        ),  # s_fmaak_f32, s_fmamk_f32
        InstructionEncoding("10", "s_unknown", scalar=2),
    )


def _vector(literal: tuple[int, ...], wide: tuple[int, ...] = ()) -> tuple[InstructionEncoding, ...]:
    """Vector ALU with one word; some of two sources always have a literal."""
    return (
        *(InstructionEncoding("0" + _bits(op, 6), "v_unknown", 2) for op in literal),
        *(InstructionEncoding("0" + _bits(op, 6), "v_unknown", 3) for op in wide),
        InstructionEncoding("0", "v_unknown", vector=True),
    )


def _unitless(names: dict[int, str]) -> tuple[InstructionEncoding, ...]:
    """Scalar instructions with one source that are issued without a unit."""
    return tuple(
        InstructionEncoding("101111101" + "." * 7 + _bits(op, 8), name, scalar=1)
        for op, name in names.items()
    )


GFX11_UNITLESS = {0x4C: "s_sendmsg_rtn_b32", 0x4D: "s_sendmsg_rtn_b64"}
GFX12_UNITLESS = GFX11_UNITLESS | {
    0x4E: "s_barrier_signal", 0x4F: "s_barrier_signal_isfirst", 0x51: "s_barrier_init",
    0x52: "s_barrier_join", 0x58: "s_sleep_var",
}  # fmt: skip
GFX1250_UNITLESS = GFX12_UNITLESS | {0x57: "s_wakeup_barrier"}
GCN_SEQUENCER = {
    0: "s_nop", 1: "s_endpgm", 2: "s_branch", 3: "s_wakeup", 4: "s_cbranch_scc0", 5: "s_cbranch_scc1",
    6: "s_cbranch_vccz", 7: "s_cbranch_vccnz", 8: "s_cbranch_execz", 9: "s_cbranch_execnz",
    10: "s_barrier", 11: "s_setkill", 12: "s_waitcnt", 13: "s_sethalt", 14: "s_sleep", 15: "s_setprio",
    16: "s_sendmsg", 17: "s_sendmsghalt", 18: "s_trap", 19: "s_icache_inv", 20: "s_incperflevel",
    21: "s_decperflevel", 22: "s_ttracedata", 23: "s_cbranch_cdbgsys", 24: "s_cbranch_cdbguser",
    25: "s_cbranch_cdbgsys_or_user", 26: "s_cbranch_cdbgsys_and_user", 27: "s_endpgm_saved",
}  # fmt: skip
GFX9_SEQUENCER = GCN_SEQUENCER | {
    28: "s_set_gpr_idx_off", 29: "s_set_gpr_idx_mode", 30: "s_endpgm_ordered_ps_done",
}  # fmt: skip
GFX10_SEQUENCER = GCN_SEQUENCER | {
    30: "s_endpgm_ordered_ps_done", 31: "s_code_end", 32: "s_inst_prefetch", 33: "s_clause",
    34: "s_wait_idle", 35: "s_waitcnt_depctr", 36: "s_round_mode", 37: "s_denorm_mode",
    40: "s_ttracedata_imm",
}  # fmt: skip
GFX11_SEQUENCER = {
    0: "s_nop", 1: "s_setkill", 2: "s_sethalt", 3: "s_sleep", 4: "s_set_inst_prefetch_distance",
    5: "s_clause", 7: "s_delay_alu", 8: "s_waitcnt_depctr", 9: "s_waitcnt", 10: "s_wait_idle",
    11: "s_wait_event", 16: "s_trap", 17: "s_round_mode", 18: "s_denorm_mode", 31: "s_code_end",
    32: "s_branch", 33: "s_cbranch_scc0", 34: "s_cbranch_scc1", 35: "s_cbranch_vccz",
    36: "s_cbranch_vccnz", 37: "s_cbranch_execz", 38: "s_cbranch_execnz", 39: "s_cbranch_cdbgsys",
    40: "s_cbranch_cdbguser", 41: "s_cbranch_cdbgsys_or_user", 42: "s_cbranch_cdbgsys_and_user",
    48: "s_endpgm", 49: "s_endpgm_saved", 50: "s_endpgm_ordered_ps_done", 52: "s_wakeup",
    53: "s_setprio", 54: "s_sendmsg", 55: "s_sendmsghalt", 56: "s_incperflevel", 57: "s_decperflevel",
    58: "s_ttracedata", 59: "s_ttracedata_imm", 60: "s_icache_inv", 61: "s_barrier",
}  # fmt: skip
GFX12_SEQUENCER = {op: name for op, name in GFX11_SEQUENCER.items() if op not in (9, 39, 40, 41, 42, 61)} | {
    8: "s_wait_alu", 20: "s_barrier_wait", 21: "s_barrier_leave", 64: "s_wait_loadcnt",
    65: "s_wait_storecnt", 66: "s_wait_samplecnt", 67: "s_wait_bvhcnt", 68: "s_wait_expcnt",
    70: "s_wait_dscnt", 71: "s_wait_kmcnt", 72: "s_wait_loadcnt_dscnt", 73: "s_wait_storecnt_dscnt",
}  # fmt: skip
GFX1250_SEQUENCER = GFX12_SEQUENCER | {
    4: "s_monitor_sleep", 6: "s_set_vgpr_msb", 69: "s_wait_xcnt", 74: "s_wait_asynccnt",
    75: "s_wait_tensorcnt", 62: "s_setprio_inc_wg",
}  # fmt: skip


def _flat(between: int) -> tuple[InstructionEncoding, ...]:
    """Memory by addresses of threads: two bits, at this offset after the first six, select the memory."""
    names = ("flat_unknown", "scratch_unknown", "global_unknown", "flat_unknown")
    return tuple(
        InstructionEncoding("110111" + "." * between + _bits(segment, 2), name, 2)
        for segment, name in enumerate(names)
    )


def _waits(first: int) -> tuple[InstructionEncoding, ...]:
    """Waits for one counter, also with a register, and other scalar-constant instructions without a unit."""
    names = ("s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_waitcnt_lgkmcnt")
    waits = (
        InstructionEncoding("1011" + _bits(first + at, 5), name, operand="hexadecimal")
        for at, name in enumerate(names)
    )
    return (InstructionEncoding("101100001", "s_version", operand="number"), *waits)


def _memory(top: str, loads: str, other: tuple[tuple[str, str], ...]) -> tuple[InstructionEncoding, ...]:
    """Scalar memory: instructions of `other`, by their first bits, before loads."""
    return (
        *(InstructionEncoding(top + bits, name, 2) for bits, name in other),
        InstructionEncoding(top, loads, 2),
    )


GCN_MEMORY = (
    ("00100000", "s_dcache_inv"), ("00100010", "s_dcache_inv_vol"), ("00100001", "s_dcache_wb"),
    ("00100011", "s_dcache_wb_vol"), ("00100100", "s_memtime"), ("00100101", "s_memrealtime"),
    ("0010011", "s_atc_probe"), ("001010", "s_dcache_discard"), ("0001", "s_store_unknown"),
    ("01", "s_buffer_atomic_unknown"), ("1", "s_atomic_unknown"),
)  # fmt: skip


GFX9 = IsaFamily(
    encodings=(
        *_sequencer(GFX9_SEQUENCER),
        InstructionEncoding("1011111100010000", "s_setvskip", scalar=2),
        InstructionEncoding("101110000", "s_cbranch_i_fork"),
        InstructionEncoding("100101001", "s_cbranch_g_fork", scalar=2),
        InstructionEncoding("101111101" + "." * 7 + "00101110", "s_cbranch_join", scalar=1),
        *_scalar("10100", "10101"),
        *_vector((0x17, 0x18, 0x24, 0x25)),
        InstructionEncoding(
            "1101001110101100", "v_mfma_scale_unknown", 4
        ),  # the scales come first, two words
        InstructionEncoding("110100", "v_unknown", 2),
        InstructionEncoding("110101", "v_interp_unknown"),
        *_memory("110000", "s_load_unknown", GCN_MEMORY),
        InstructionEncoding("110110", "ds_unknown", 2),
        *_flat(10),
        InstructionEncoding("111000", "buffer_unknown", 2),
        InstructionEncoding("111010", "tbuffer_unknown", 2),
        InstructionEncoding("111100", "image_unknown", 2),
        InstructionEncoding("110001", "exp", 2),
    ),
    waits=GFX9_WAITS,
    lanes=(249, 250),
)
GFX10 = IsaFamily(
    encodings=(
        *_sequencer(GFX10_SEQUENCER),
        *_waits(23),
        *_scalar("10101", "10110"),
        *_vector((0x20, 0x21, 0x2C, 0x2D, 0x37, 0x38)),
        InstructionEncoding("110101", "v_unknown", 2, late=True),
        InstructionEncoding("110011", "v_unknown", 2, late=True),
        InstructionEncoding("110010", "v_interp_unknown"),
        *_memory("111101", "s_load_unknown", (("00011111", "s_gl1_inv"), *GCN_MEMORY)),
        InstructionEncoding("110110", "ds_unknown", 2),
        *_flat(10),
        InstructionEncoding("111000", "buffer_unknown", 2),
        InstructionEncoding("111010", "tbuffer_unknown", 2),
        InstructionEncoding("111100", "image_unknown", 2, count=(1, 3)),
        InstructionEncoding("111110", "exp", 2),
    ),
    waits=GFX10_WAITS,
    lanes=LANES,
)
GFX11 = IsaFamily(
    encodings=(
        *_sequencer(GFX11_SEQUENCER),
        *_waits(24),
        *_unitless(GFX11_UNITLESS),
        *_scalar("10011", "10100", (0x45, 0x46)),
        *_vector((0x2C, 0x2D, 0x37, 0x38)),
        InstructionEncoding("110101", "v_unknown", 2, late=True),
        InstructionEncoding("11001100", "v_unknown", 2, late=True),
        InstructionEncoding("110010", "v_dual_unknown", 2, pair=True),
        InstructionEncoding("11001101", "v_interp_unknown", 2),
        InstructionEncoding("11001110", "lds_unknown"),
        *_memory("111101", "s_load_unknown", (("00100000", "s_gl1_inv"), ("00100001", "s_dcache_inv"))),
        InstructionEncoding("110110", "ds_unknown", 2),
        *_flat(8),
        InstructionEncoding("111000", "buffer_unknown", 2),
        InstructionEncoding("111010", "tbuffer_unknown", 2),
        InstructionEncoding("111100", "image_unknown", 2, count=(0, 1)),
        InstructionEncoding("111110", "exp", 2),
    ),
    waits=GFX11_WAITS,
    lanes=(250, 233, 234),
    has_late_lanes=True,
)
_GFX12_REST = (
    InstructionEncoding("110101", "v_unknown", 2, late=True),
    InstructionEncoding("11001100", "v_unknown", 2, late=True),
    InstructionEncoding("110010", "v_dual_unknown", 2, pair=True),
    InstructionEncoding("11001101", "v_interp_unknown", 2),
    InstructionEncoding("11001110", "lds_unknown"),
    *_memory("111101", "s_load_unknown", ((".......100001", "s_dcache_inv"),)),
    InstructionEncoding("110110", "ds_unknown", 2),
    InstructionEncoding("11101100", "flat_unknown", 3),
    InstructionEncoding("11101101", "scratch_unknown", 3),
    InstructionEncoding("11101110", "global_unknown", 3),
    InstructionEncoding("110001", "buffer_unknown", 3),
    InstructionEncoding("110100", "image_unknown", 3),
    InstructionEncoding("111001", "image_unknown", 3),
    InstructionEncoding("111110", "exp", 2),
)
GFX12 = IsaFamily(
    encodings=(
        *_sequencer(GFX12_SEQUENCER),
        InstructionEncoding("101100001", "s_version", operand="number"),
        *_unitless(GFX12_UNITLESS),
        *_scalar("10011", "10100", (0x45, 0x46)),
        *_vector((0x2C, 0x2D, 0x37, 0x38)),
        *_GFX12_REST,
    ),
    waits=(),
    lanes=(250, 233, 234),
    has_late_lanes=True,
)
GFX1250 = IsaFamily(
    encodings=(
        *_sequencer(GFX1250_SEQUENCER),
        InstructionEncoding("101100001", "s_version", operand="number"),
        *_unitless(GFX1250_UNITLESS),
        *_scalar("10011", "10100", (0x45, 0x46)),
        *_vector((0x2C, 0x2D, 0x37, 0x38), (0x23, 0x24)),
        InstructionEncoding("1100110000110101", "v_wmma_unknown", 4),
        InstructionEncoding("1100110000111010", "v_wmma_unknown", 4),
        InstructionEncoding("11001111", "v_dual_unknown", 3),
        *_GFX12_REST,
    ),
    waits=(),
    lanes=(250, 233, 234),
    has_late_lanes=True,
    has_wide_literals=True,
)
FAMILIES: dict[str, IsaFamily] = {  # by prefixes of target names; the first match counts
    **dict.fromkeys(("gfx1250", "gfx1251", "gfx12-5"), GFX1250),
    "gfx12": GFX12, "gfx11": GFX11, "gfx10": GFX10, "gfx9": GFX9,
}  # fmt: skip


def family_of(target: str) -> IsaFamily | None:
    """The instruction set of a GPU, None if it has no table here."""
    return next((family for start, family in FAMILIES.items() if target.startswith(start)), None)


class DecodedRun(NamedTuple):
    """Consecutive instructions as decoded."""

    size: np.ndarray  # uint8 [n], bytes
    text: list[str]  # "" where only the length is known


def _words(data: bytes | memoryview) -> np.ndarray:
    return np.frombuffer(data, "<u4", len(data) // WORD)


def encodings(words: np.ndarray, family: IsaFamily) -> np.ndarray:
    """Return the encoding of an instruction that begins at each word: its row, -1 none, int16."""
    found = np.full(len(words), -1, dtype=np.int16)
    for row in reversed(range(len(family.encodings))):
        top = family.encodings[row].top.ljust(32, ".")
        mask = int(top.replace("0", "1").replace(".", "0"), 2)
        value = int(top.replace(".", "0"), 2)
        found[words & np.uint32(mask) == value] = row
    return found


def word_lengths(data: bytes | memoryview, family: IsaFamily | None) -> np.ndarray:
    """Return the bytes of an instruction that begins at each word of 4 bytes, uint8 [words]."""
    words = _words(data)
    if family is None or not len(words):
        return np.full(len(words), WORD, dtype=np.uint8)
    after = np.append(words[1:], np.uint32(0))
    rows = encodings(words, family)
    length = np.ones(len(words), dtype=np.uint8)
    for row in np.unique(rows[rows >= 0]).tolist():
        here = np.flatnonzero(rows == row)
        length[here] = _counted(family.encodings[row], family, words[here], after[here])
    return length * np.uint8(WORD)


def _counted(one: InstructionEncoding, family: IsaFamily, word: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Words of instructions of one encoding, by their first two words."""
    extra = np.zeros(len(word), dtype=np.uint8)
    if one.scalar:
        for source in (word & 255, word >> 8 & 255)[: one.scalar]:
            np.maximum(extra, _literal(source, family), out=extra)
    if one.vector:
        np.maximum(extra, _literal(word & 511, family), out=extra)
        extra[np.isin(word & 511, family.lanes)] = 1
    if one.late:
        for source in (after & 511, after >> 9 & 511, after >> 18 & 511):
            np.maximum(extra, _literal(source, family), out=extra)
        if family.has_late_lanes:
            extra[np.isin(after & 511, family.lanes)] = 1
    if one.pair:
        has = np.isin(word >> 22 & 15, (1, 2)) | np.isin(word >> 17 & 31, (1, 2))
        extra[has | (word & 511 == LITERAL) | (after & 511 == LITERAL)] = 1
    low, mask = one.count
    return one.words + extra + (word >> low & mask).astype(np.uint8)


def _literal(source: np.ndarray, family: IsaFamily) -> np.ndarray:
    wide = 2 * (source == LITERAL_64) if family.has_wide_literals else 0
    return ((source == LITERAL) + wide).astype(np.uint8)


def starts(lengths: np.ndarray) -> list[int]:
    """Return the words at which instructions begin, the first at 0."""
    each = (lengths // WORD).tolist()
    found, at, stop = [], 0, len(each)
    while at < stop:
        found.append(at)
        at += each[at]
    return found


def read(data: bytes | memoryview, target: str) -> DecodedRun:
    """Return the instructions of a function's bytes, whose texts begin with a name of their category."""
    family = family_of(target)
    words = _words(data)
    begin = np.array(starts(word_lengths(data, family)), dtype=np.int64)
    size = np.diff(begin, append=len(words)) * WORD
    rows = np.full(len(begin), -1) if family is None else encodings(words[begin], family)
    text = []
    for at, count, row in zip(begin.tolist(), (size // WORD).tolist(), rows.tolist(), strict=True):
        one = family.encodings[row] if family is not None and row >= 0 else None
        text.append(_text(one, words[at : at + count].tolist(), family.waits if family is not None else ()))
    return DecodedRun(size.astype(np.uint8), text)


def _text(one: InstructionEncoding | None, words: list[int], waits: tuple[Wait, ...]) -> str:
    if one is not None and one.operand:
        low = words[0] & 0xFFFF
        if one.name == "s_waitcnt":
            return one.name + "".join(wait.read(low) for wait in waits)
        shown = {"none": "", "number": f" {low}", "hexadecimal": f" {low:#x}"}
        return one.name + shown[one.operand]
    return " ".join([one.name if one else ".long", *(f"{word:#010x}" for word in words)])
