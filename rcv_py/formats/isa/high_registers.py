"""Name the vector registers above 255 of gfx1250, whose operands have 8 bits, by the switches before them.

`s_set_vgpr_msb` gives the upper bits of the operands after it: bits 1:0 of the first source or the address,
3:2 and 5:4 of the next sources, 7:6 of what is written.  They hold up to the next switch or the end of the
block; its high byte is a note of compilers.  Source: AMDGPU backend of LLVM, `getVGPRLoweringOperandTables`
and `AMDGPUMCInstrAnalysis`.
"""

import re
from collections.abc import Sequence
from functools import partial

from rcv_py.model.operands import written_operands

_SWITCH = re.compile(r"s_set_vgpr_msb\s(0x[0-9a-f]{1,4}|\d{1,5})\b")
_BLOCK_END = re.compile(r"s_(c?branch|endpgm|setpc|set_pc|add_pc|rfe)|;|$")
_REGISTER = re.compile(r"\bv(\[)?(\d{1,3})(?(1):(\d{1,4})\])(?!\d)")
_NAMED = re.compile(r"v[\d\[:\].lh]+ ?/\*(v[^*]*)\*/")  # by LLVM, as in v1 /*v257*/
_DATA_FIRST = re.compile(r"t?buffer_|\w+_load_async_to_lds")  # whose data has the bits of what is written
_LOW = 256  # registers that an operand can name
_WRITTEN = 3  # the place of these bits


def with_high_registers(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the texts of consecutive instructions with the registers that they use."""
    if not any("s_set_vgpr_msb" in text or "/*v" in text for text in texts):
        return tuple(texts)
    upper = 0
    found = []
    for given in texts:
        text = _NAMED.sub(r"\1", given)
        if switch := _SWITCH.match(text):
            upper = int(switch[1], 0) & 0xFF
        elif _BLOCK_END.match(text):
            upper = 0
        elif upper:
            text = " :: ".join(_shifted(half, upper) for half in text.split(" :: "))
        found.append(text)
    return tuple(found)


def _shifted(instruction: str, upper: int) -> str:
    written = 1 if _DATA_FIRST.match(instruction) else written_operands(instruction)
    mnemonic, _, rest = instruction.partition(" ")
    operands = rest.split(",")
    for place in range(min(written + _WRITTEN, len(operands))):
        bits = upper >> 2 * (_WRITTEN if place < written else place - written) & 3
        operands[place] = _REGISTER.sub(partial(_above, bits * _LOW), operands[place])
    return f"{mnemonic} {','.join(operands)}"


def _above(above: int, found: re.Match[str]) -> str:
    """The register with the upper bits, if it does not have them already."""
    first = int(found[2])
    if first >= _LOW:
        return found[0]
    return f"v[{first + above}:{int(found[3]) + above}]" if found[1] else f"v{first + above}"
