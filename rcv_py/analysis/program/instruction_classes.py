"""What an instruction does, by its mnemonic: finer than TokenKind, from gfx9 to gfx12.

Waits are divided by the counter that they wait for.  A wait for several counters is a separate class: the
text does not state which counter delayed the wave.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from rcv_py.base.text import TextEnum
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import MATRIX_PREFIXES


class InstructionClass(TextEnum):
    """What an instruction does."""

    OTHER = 0, "something else"
    VMEM_LOAD = 1, "vector memory load (buffer, global, flat, image)"
    VMEM_STORE = 2, "vector memory store"
    LDS_DMA = 3, "memory to LDS or back, without registers"
    SCRATCH = 4, "scratch load or store, often a spill"
    ATOMIC = 5, "atomic in memory or LDS"
    LDS = 6, "LDS load or store"
    CROSS_LANE = 7, "moves values between lanes"
    SMEM = 8, "scalar memory"
    MATRIX = 9, "matrix arithmetic"
    VALU = 10, "vector arithmetic"
    TRANSCENDENTAL = 11, "exp, log, rcp, rsq, sqrt, sin, cos"
    SALU = 12, "scalar arithmetic"
    BRANCH = 13, "branch or call"
    BARRIER = 14, "workgroup barrier"
    WAIT_LOAD = 15, "wait for vector memory (vmcnt, loadcnt, samplecnt, bvhcnt)"
    WAIT_STORE = 16, "wait for vector stores (vscnt, storecnt)"
    WAIT_LDS_SMEM = 17, "wait for LDS, scalar memory or messages (lgkmcnt)"
    WAIT_LDS = 18, "wait for LDS (dscnt)"
    WAIT_SMEM = 19, "wait for scalar memory or messages (kmcnt)"
    WAIT_EXPORT = 20, "wait for exports (expcnt)"
    WAIT_SEVERAL = 21, "wait for several counters at once"
    WAIT_OTHER = 22, "wait for something else (arithmetic, idle, events)"
    NOP = 23, "nop, sleep or a hint to the scheduler"
    MESSAGE = 24, "message, trap or end of program"
    CACHE = 25, "cache write-back or invalidation"


_C = InstructionClass
PERMUTES = ("ds_bpermute", "ds_permute", "ds_swizzle")  # they move values across lanes through LDS
CLASS_COUNT = len(InstructionClass)

_COUNTERS = {
    "vmcnt": _C.WAIT_LOAD,
    "loadcnt": _C.WAIT_LOAD,
    "samplecnt": _C.WAIT_LOAD,
    "bvhcnt": _C.WAIT_LOAD,
    "vscnt": _C.WAIT_STORE,
    "storecnt": _C.WAIT_STORE,
    "lgkmcnt": _C.WAIT_LDS_SMEM,
    "dscnt": _C.WAIT_LDS,
    "kmcnt": _C.WAIT_SMEM,
    "expcnt": _C.WAIT_EXPORT,
}
_COUNTER = re.compile("|".join(_COUNTERS))
_WAIT = re.compile(r"s_wait(?:cnt|_)")
_DMA_FLAG = re.compile(r"[\s,]lds\b")
_MEMORY = ("buffer_", "tbuffer_", "global_", "flat_", "image_", "cluster_")
_DS_ATOMIC = (
    "add_|sub_|rsub_|inc_|dec_|min_|max_|and_|or_|xor_|mskor_|cmpst_|cmpstore_|wrxchg|storexchg|condxchg_"
    "|cond_sub_|sub_clamp_|wrap_|pk_add_|ordered_count_|append|consume"
)


def _all(before: Iterable[str], after: str) -> str:
    return "|".join(f"{first}{rest}" for first in before for rest in after.split("|"))


# The first prefix that matches the mnemonic.  Patterns would have to be compiled at every start.
_RULES = tuple(
    (tuple(beginnings.split("|")), of)
    for beginnings, of in (
        ("s_barrier|s_wakeup_barrier|ds_gws_", _C.BARRIER),
        ("s_branch|s_cbranch|s_setpc|s_swappc|s_call|s_rfe|s_subvector_loop", _C.BRANCH),
        ("s_set_pc|s_swap_pc|s_add_pc", _C.BRANCH),  # gfx1250
        ("s_nop|v_nop|s_sleep|s_monitor_sleep|s_delay_alu|s_clause|s_setprio|s_icache_inv|s_wakeup", _C.NOP),
        ("s_inst_prefetch|s_set_inst_prefetch|s_set_vgpr|s_version|s_setkill|s_incperf|s_decperf", _C.NOP),
        ("s_sendmsg|s_endpgm|s_trap|s_sethalt|s_ttracedata", _C.MESSAGE),
        ("s_load|s_store|s_prefetch|s_memtime|s_memrealtime", _C.SMEM),
        (_all(("s_buffer_", "s_scratch_"), "load|store|prefetch"), _C.SMEM),
        ("s_dcache|s_atc_probe", _C.CACHE),
        ("ds_permute|ds_bpermute|ds_swizzle|ds_bvh_swizzle", _C.CROSS_LANE),
        (_all(("ds_",), _DS_ATOMIC), _C.ATOMIC),
        (_all(("ds_",), "read|write|load|store|bvh|direct|param"), _C.LDS),
        ("lds_", _C.LDS),
        ("scratch_", _C.SCRATCH),
        ("tensor_", _C.LDS_DMA),
        (_all(_MEMORY, "load|sample|gather|msaa_load|bvh|get_|prefetch"), _C.VMEM_LOAD),
        (_all(_MEMORY, "store"), _C.VMEM_STORE),
        (_all(("buffer_", "global_"), "wb|inv|gl0|gl1|gl2"), _C.CACHE),
        ("|".join(MATRIX_PREFIXES), _C.MATRIX),
        ("v_permlane|v_readlane|v_readfirstlane|v_writelane|v_mov_b32_dpp|v_mov_b64_dpp", _C.CROSS_LANE),
        (_all(("v_", "v_s_"), "exp_|log_|rcp_|rsq_|sqrt_|sin_|cos_|tanh_"), _C.TRANSCENDENTAL),
        ("v_", _C.VALU),
        ("s_", _C.SALU),
    )
)


@lru_cache(maxsize=1 << 13)
def instruction_class(text: str) -> InstructionClass:
    """Return what an instruction does; OTHER for labels and if no rule matches."""
    plain = text.strip().lower()
    mnemonic, _, operands = plain.partition(" ")
    if _WAIT.match(mnemonic):
        named = list(dict.fromkeys(_COUNTER.findall(plain)))
        if len(named) > 1 or plain == "s_waitcnt 0":
            return InstructionClass.WAIT_SEVERAL
        return _COUNTERS[named[0]] if named else InstructionClass.WAIT_OTHER
    known = _by_mnemonic(mnemonic)
    is_dma = known is InstructionClass.VMEM_LOAD and _DMA_FLAG.search(" " + operands) is not None
    return InstructionClass.LDS_DMA if is_dma else known


def instruction_classes(code: CodeTable) -> np.ndarray:
    """Return the InstructionClass of each code row, uint8; OTHER for labels."""
    class_of = {text: instruction_class(text) for text in set(code.text)}
    classes = np.fromiter((class_of[text] for text in code.text), dtype=np.uint8, count=len(code))
    return np.where(code.is_label, np.uint8(InstructionClass.OTHER), classes)


@lru_cache(maxsize=4096)
def _by_mnemonic(mnemonic: str) -> InstructionClass:
    if "_atomic" in mnemonic:
        return InstructionClass.ATOMIC
    if mnemonic.startswith(_MEMORY) and "_lds_" in f"{mnemonic.partition('_')[2]}_":
        return InstructionClass.LDS_DMA
    return next((of for begins, of in _RULES if mnemonic.startswith(begins)), InstructionClass.OTHER)
