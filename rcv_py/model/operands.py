"""Which operands of an instruction's text are written, by its mnemonic and the bits that it names."""

import re
from functools import lru_cache

_NO_DESTINATION = re.compile(
    r"\S*_(store(?!xchg)|prefetch)|s_(cmp|cbranch|branch|bitcmp|wait|nop|sleep|barrier|endpgm|setprio|setreg|set_?pc"
    r"|set_pc|add_pc|rfe|setvskip|set_gpr|sendmsg(?!_rtn)|alloc_vgpr|wakeup|delay_alu|clause|ttracedata|icache|dcache)"
    r"|exp\b|export|(buffer|global)_(inv|wb|gl)|tensor_|v_mfma_ld_scale|v_wmma_ld_scale"
    r"|ds_(?!read|load|\w*_rtn|\w*permute|swizzle|consume|append|ordered_count|direct|param)"
)
_ATOMIC = re.compile(r"\w+_atomic")
_RETURNS = re.compile(r"\b(glc|sc0|th:TH_ATOMIC_\w*RETURN)\b")
_TO_LDS = re.compile(r"\S.*\blds\b|\S*(_load_lds|_to_lds)")
_BY_OPERANDS = re.compile(r"\blds\b|_atomic|v_cmpx")  # the mnemonic alone does not say it
_TWO = re.compile(r"v_(\w*_co_|div_scale|mad_[iu]64_)")


def written_operands(instruction: str) -> int:
    """Return how many of the first operands an instruction, or half of a dual one, writes."""
    return _written(instruction if _BY_OPERANDS.search(instruction) else instruction.partition(" ")[0])


@lru_cache(maxsize=1 << 12)
def _written(instruction: str) -> int:
    if _NO_DESTINATION.match(instruction) or _TO_LDS.match(instruction):
        return 0
    if _ATOMIC.match(instruction):
        return int(bool(_RETURNS.search(instruction)) or "_rtn" in instruction)
    if instruction.startswith("v_cmpx"):  # gfx9 writes a mask too
        return int(instruction.count(", ") > 1)
    return 2 if _TWO.match(instruction) else 1
