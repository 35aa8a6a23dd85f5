"""The operands of instructions that can be pointed at, with the places that write and read their registers.

A range such as `v[4:7]` stands for each of its registers, a mnemonic for the registers it reads or writes
implicitly.
"""

import re

from rcv_py.analysis.program.registers import Operand, definition, next_use, operands
from rcv_py.base.record import Value
from rcv_py.base.text import Message
from rcv_py.features.isa.program import ProgramStructure

_TESTS = re.compile(r"\s*(s_cmp|s_bitcmp|v_cmpx|s_\w+_saveexec)")


class OperandPosition(Value):
    """An operand of an instruction: its row, and its position in the text."""

    row: int
    operand: Operand


def pointable(text: str) -> tuple[Operand, ...]:
    """Return the operands of an instruction that the user may point at.

    A mnemonic counts if it reads a register implicitly, or exists to write it.  The carry of an addition does
    not count.
    """
    found = operands(text)
    has_mnemonic = found and (found[0].is_printed or found[0].reads or _TESTS.match(text))
    return found if has_mnemonic else found[1:]


def operand_at(text: str, character: int) -> Operand | None:
    """Return the operand at a character of an instruction, None if there is none."""
    return next((one for one in pointable(text) if one.start <= character < one.stop), None)


def step_operand(text: str, current: Operand | None, direction: int) -> Operand | None:
    """Return the next (+1) or previous (-1) operand after the current, wrapping around; None for none."""
    found = pointable(text)
    if not found:
        return None
    at = found.index(current) + direction if current in found else 0 if direction > 0 else -1
    return found[at % len(found)]


def same_registers(text: str, registers: int, *, is_written: bool) -> Operand | None:
    """Return an operand of an instruction that writes or reads some of the registers, None if none does."""
    found = (one for one in operands(text) if (one.writes if is_written else one.reads) & registers)
    return next(found, None)


def linked_row(structure: ProgramStructure, at: OperandPosition, *, is_written: bool) -> int:
    """Return the row that last wrote the registers of an operand, or reads them next; -1: no row does."""
    code, loops, inner = structure.trace.code, structure.loops, structure.innermost(at.row)
    kernel, region = int(code.kernel[at.row]), range(len(code))
    if 0 <= kernel < len(code.kernels):
        region = range(code.kernels[kernel].first, code.kernels[kernel].stop)
    loop = range(int(loops.first[inner]), int(loops.stop[inner])) if inner >= 0 else None
    return (definition if is_written else next_use)(code.text, at.row, at.operand.registers, region, loop)


def register_tip(structure: ProgramStructure, at: OperandPosition) -> str:
    """Return one line on where the registers of an operand are written and read."""
    text = structure.trace.code.text
    before, after = (linked_row(structure, at, is_written=is_written) for is_written in (True, False))
    whence: str = "written before the kernel begins"
    if at.operand.writes and not at.operand.reads:
        whence = "written here"
    elif before >= 0:
        whence = Message("written at {0}  {1}", before, text[before])
    where = Message("next read at {0}  {1}", after, text[after]) if after >= 0 else "not read any more"
    return f"{text[at.row][at.operand.start : at.operand.stop]}: {whence}; {where}"
