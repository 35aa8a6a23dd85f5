"""Decoding of instruction texts: unit, registers, size, and the counters raised and waited for."""

import re

from rcv_py.base.record import Value
from rcv_py.model.kinds import MATRIX_PREFIXES, TokenKind

# Prefix, unit, kind.  The first matching row counts, so exceptions come first.
_UNITS = (
    ("s_endpgm", "end", TokenKind.MSG),
    *((prefix, "wait", TokenKind.IMMED) for prefix in ("s_waitcnt", "s_wait_")),
    ("s_barrier_signal", "none", TokenKind.IMMED),
    ("s_barrier", "barrier", TokenKind.IMMED),
    *((f"s_{name}", "none", TokenKind.IMMED) for name in ("nop", "sleep", "setprio", "delay_alu", "clause")),
    *((prefix, "message", TokenKind.MSG) for prefix in ("s_ttracedata", "s_sendmsg")),
    ("s_cbranch", "branch", TokenKind.NEXT),
    ("s_branch", "branch", TokenKind.JUMP),
    *((prefix, "smem", TokenKind.SMEM) for prefix in ("s_load", "s_buffer_load")),
    ("s_", "salu", TokenKind.SALU),
    *((prefix, "matrix", TokenKind.VALU) for prefix in MATRIX_PREFIXES),
    ("v_", "valu", TokenKind.VALU),
    ("ds_", "lds", TokenKind.LDS),
    ("buffer_", "vmem", TokenKind.VMEM),
    *((prefix, "vmem", TokenKind.FLAT) for prefix in ("global_", "flat_", "scratch_")),
)

# Cycles that the matrix unit is busy, by a part of the mnemonic.
_PASSES = {
    16: ("f32_16x16x16", "f32_16x16x32", "f32_16x16x128"),
    32: ("f32_32x32x8_f16", "f32_32x32x8_bf16", "f32_32x32x16", "f32_32x32x64", "f32_16x16x4_f32"),
    64: ("f32_32x32x2_f32",),
}
_WMMA_PASSES = {11: 32, 12: 16}

# Lanes of the slow pipe: a quarter of the rate.
_SLOW_VALU = (
    "v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_", "v_mul_lo_u32", "v_mul_hi_",
)  # fmt: skip
_REGISTER = re.compile(r"\b([vas])(?:\[(\d+):(\d+)\]|(\d+)\b)")
_COUNT = re.compile(r"\b(vmcnt|lgkmcnt|expcnt|vscnt)\((\d+)\)")
_SEPARATE = re.compile(r"^s_wait_((?:[a-z]+cnt_?)+)\s+(0x[0-9a-f]+|\d+)")
_WIDTH = re.compile(r"(?:x|_b|_u|_f|_i)(\d+)")
_NO_DESTINATION = ("global_store", "buffer_store", "scratch_store", "flat_store", "ds_write", "ds_store")
# Instructions that also read their first operand, because they add to it.
_ACCUMULATES = ("v_fmac_", "v_pk_fmac_", "v_dot2c_")


class InstructionTiming(Value):
    """The timing-relevant properties of an instruction."""

    unit: str  # unit that executes it: a key of the simulator's table of units
    port: str  # issue port: the unit's own, or a port shared with another unit
    kind: int  # TokenKind as in a file; for branches, not taken
    size: int  # bytes
    reads: frozenset[str]  # registers
    writes: frozenset[str]  # registers
    counts: tuple[str, ...]  # counters of outstanding operations that it raises
    waits: tuple[tuple[str, int], ...]  # (counter, highest value that lets it pass)
    passes: int  # cycles that its pipe is busy
    width: int  # bytes a lane moves; 0 if not a memory operation
    is_store: bool


def meaning(text: str, generation: int) -> InstructionTiming:
    """Return the meaning of an instruction text on the given generation (9, 11 or 12)."""
    name = text.split(maxsplit=1)[0]
    unit, kind = _unit(name, generation)
    named = [_expanded(operand) for operand in text[len(name) :].split(",") if operand.strip()]
    has_destination = not name.startswith((*_NO_DESTINATION, "s_cmp", "s_cbranch", "s_wait", "v_cmpx"))
    writes = named[0] if named and has_destination else frozenset()
    start = 0 if name.startswith(_ACCUMULATES) or not has_destination else 1
    reads = frozenset().union(*named[start:])
    is_store = "store" in name or "ds_write" in name
    width = _width(name) if unit in ("vmem", "lds", "smem") else 0
    counts = _COUNTERS[generation].get("vmem_store" if unit == "vmem" and is_store else unit, ())
    if name.startswith("s_sendmsg_rtn"):
        counts = ("kmcnt",) if generation == 12 else ("lgkmcnt",)
    return InstructionTiming(
        unit=unit,
        port="valu" if unit == "matrix" else unit,
        kind=kind,
        size=_size(text, unit),
        reads=reads,
        writes=writes,
        counts=counts,
        waits=_waits(text) if unit == "wait" else (),
        passes=_passes(name, unit, width, generation),
        width=width,
        is_store=is_store,
    )


def _unit(name: str, generation: int) -> tuple[str, int]:
    for prefix, unit, kind in _UNITS:
        if name.startswith(prefix):
            # Later generations report global memory as vector memory; gfx9 reports it as FLAT.
            is_vector_memory = unit == "vmem" and generation > 9 and not name.startswith("flat_")
            return unit, int(TokenKind.VMEM if is_vector_memory else kind)
    raise ValueError(f"no unit executes {name}")


def _expanded(operand: str) -> frozenset[str]:
    found: set[str] = set()
    for file, low, high, single in _REGISTER.findall(operand):
        first, last = (int(single), int(single)) if single else (int(low), int(high))
        found.update(f"{file}{number}" for number in range(first, last + 1))
    return frozenset(found)


def _width(name: str) -> int:
    if "dwordx" in name:
        return 4 * int(name.rsplit("dwordx", 1)[1].split("_", 1)[0])
    if name.endswith("dword") or "permute" in name:
        return 4
    if name.endswith("short"):
        return 2
    bits = [int(number) for number in _WIDTH.findall(name)]
    return max(bits, default=32) // 8 * (2 if "2_b" in name else 1)


_COUNTERS = {
    9: {"vmem": ("vmcnt",), "vmem_store": ("vmcnt",), "lds": ("lgkmcnt",), "smem": ("lgkmcnt",)},
    11: {"vmem": ("vmcnt",), "vmem_store": ("vscnt",), "lds": ("lgkmcnt",), "smem": ("lgkmcnt",)},
    12: {"vmem": ("loadcnt",), "vmem_store": ("storecnt",), "lds": ("dscnt",), "smem": ("kmcnt",)},
}


def _waits(text: str) -> tuple[tuple[str, int], ...]:
    separate = _SEPARATE.match(text)
    if separate:
        counters, value = separate.group(1).split("_"), int(separate.group(2), 0)
        if len(counters) == 1:
            return ((counters[0], value),)
        # A combined wait packs two values: the named memory counter above bit 8, the LDS counter below.
        return ((counters[0], value >> 8 & 63), (counters[1], value & 63))
    if text.startswith("s_waitcnt_vscnt"):
        return (("vscnt", int(text.rsplit(",", 1)[1].strip(), 0)),)
    return tuple((counter, int(value)) for counter, value in _COUNT.findall(text))


def _passes(name: str, unit: str, width: int, generation: int) -> int:
    if unit == "matrix":
        known = (cycles for cycles, parts in _PASSES.items() if any(part in name for part in parts))
        return _WMMA_PASSES.get(generation) or next(known)
    if unit == "valu":
        return 16 if name.startswith(_SLOW_VALU) else 4
    if unit in ("vmem", "lds"):
        return max(4, width if unit == "vmem" else width // 2)
    return 4


def _size(text: str, unit: str) -> int:
    name = text.split(maxsplit=1)[0]
    if unit in ("vmem", "lds", "smem", "matrix"):
        return 16 if "mfma_scale" in name else 8
    is_short = name.endswith("_e32") or name.startswith(("v_mov_b32", "v_readfirstlane", "v_nop"))
    if name.startswith("v_") and not is_short:
        return 8
    if unit not in ("salu", "valu") or name.startswith("s_movk"):
        return 4
    # A constant outside -16..64 follows the instruction as four more bytes.
    numbers = re.findall(r"(?:^|[\s,])(-?0x[0-9a-f]+|-?\d+)(?=[\s,]|$)", text.split(maxsplit=1)[-1])
    return 8 if any(not -16 <= int(number, 0) <= 64 for number in numbers) else 4
