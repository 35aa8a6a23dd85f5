"""Properties of each code line for attribution: unit, kind of wait, registers, and times."""

import re
from functools import lru_cache

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.program.matrix_forms import matrix_passes
from rcv_py.analysis.program.registers import Registers, registers, words
from rcv_py.base.record import Record
from rcv_py.base.text import number
from rcv_py.model.architecture import Architecture
from rcv_py.model.code import CodeTable, has_known_operands
from rcv_py.model.kinds import MATRIX_PREFIXES

NONE, VALU, MATRIX, VMEM, LDS, SMEM, SALU, BRANCH, MESSAGE = range(9)  # units
MEMORY = (VMEM, LDS, SMEM)

_UNITS: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(pattern), unit)
    for pattern, unit in (
        (r"s_(c?branch|set_?pc|swap_?pc|add_pc|call|rfe)", BRANCH),
        (r"s_(wait|wakeup|nop|sleep|monitor_sleep|barrier|setprio(?!_inc)|delay_alu|clause|endpgm)", NONE),
        (r"s_(trap|set(halt|kill|vskip|_vgpr)|version|(set_)?inst_prefetch|icache|(inc|dec)perf)", NONE),
        (r"s_(sendmsg|ttracedata)|exp", MESSAGE),
        (r"s_(load|store|buffer_|scratch_|atomic|dcache|atc|memtime|memrealtime|prefetch)", SMEM),
        (r"s_", SALU),
        (r"v_(nop|illegal)", VALU),
        ("|".join(MATRIX_PREFIXES), MATRIX),
        (r"v_", VALU),
        (r"(ds|lds)_", LDS),
        (r"(t?buffer|global|flat|scratch|image|tensor|cluster)_", VMEM),
    )
)
_FORMS: tuple[tuple[re.Pattern[str], Cause], ...] = tuple(
    (re.compile(pattern), cause)
    for pattern, cause in (
        (r"ds_(b?permute|swizzle)", Cause.WAIT_CROSS_LANE),
        (r"(ds|lds)_", Cause.WAIT_LDS),
        (r"s_sendmsg|s_(get_barrier|barrier)", Cause.WAIT_MESSAGE),
        (r"exp", Cause.WAIT_EXPORT),
        (r"s_dcache|(buffer|global)_(inv|wb|gl\d)", Cause.WAIT_CACHE),
        (r"s_", Cause.WAIT_SCALAR),
        (r"tensor_|\S*(load_lds|async)|(t?buffer|global)_load.*\blds\b", Cause.WAIT_DMA),
        (r"\S*_(atomic|cmpswap)", Cause.WAIT_ATOMIC),
        (r"\S*_store", Cause.WAIT_STORE),
        (r"", Cause.WAIT_LOAD),
    )
)
QUARTER = r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_|v_mul_(lo|hi)_[iu]32|v_\w+_f64"
_SHARES_MATRIX = r"v_pk_(mul|add|fma|mov)_(f32|b32)|v_(?!cvt)\w+_f64"
_NUMBER = re.compile(r"\s+(0x[0-9a-fA-F]+|\d+)")
RESULT_STATES = {8: 5, 16: 8, 32: 12, 64: 20}  # required distance, in turns, to a reader of a matrix result
_CHAIN = 8  # cycles after the passes before the result can be accumulated on
TAIL = 12  # cycles after the passes before packed arithmetic gets the unit (gfx9; seen without exception)
TO_MEMORY = 5  # turns from vector arithmetic to a memory instruction that reads its result (gfx9)


class LineTraits(Record):
    """Columns of all code lines, and one more row for tokens without a line."""

    texts: tuple[str, ...]  # disassembly
    unit: np.ndarray  # uint8, NONE to MESSAGE
    form: np.ndarray  # uint8, Cause of a wait for the instruction
    lead: np.ndarray  # int64, cycles from issue until the unit begins: scaled matrix forms issue twice
    hold: np.ndarray  # int64, minimum cycles during which its unit takes nothing else of the wave
    passes: np.ndarray  # int64, cycles of the matrix unit, 0 for others
    result: np.ndarray  # int64, cycles from issue until any other instruction can read the result
    shares_matrix: np.ndarray  # bool, vector arithmetic that runs on the matrix unit's datapath (gfx9)
    nop: np.ndarray  # int64, cycles of an s_nop
    is_wait: np.ndarray  # bool, s_waitcnt and the like
    is_nop: np.ndarray  # bool
    is_sleep: np.ndarray  # bool
    is_barrier: np.ndarray  # bool
    is_end: np.ndarray  # bool
    block: np.ndarray  # int64, cache line of its code
    writes: np.ndarray  # uint64 [rows, words], registers
    reads: np.ndarray  # uint64 [rows, words]
    step: int  # cycles of a turn

    def __len__(self) -> int:
        return len(self.unit)


@lru_cache(maxsize=2)
def lines(code: CodeTable, architecture: Architecture) -> LineTraits:
    """Return the columns; cached, since every analysis of a program needs them."""
    texts = [*(text.strip() for text in code.text), ""]
    place_of: dict[str, int] = {}
    place = np.array([place_of.setdefault(text.partition(" ")[0], len(place_of)) for text in texts])

    def that(pattern: str) -> np.ndarray:  # by mnemonic: a program has a tenth as many mnemonics as lines
        fits = re.compile(pattern).match
        return np.array([fits(mnemonic) is not None for mnemonic in place_of], dtype=bool)[place]

    unit = np.array([unit_of(mnemonic) for mnemonic in place_of], dtype=np.uint8)[place]
    step = architecture.base_clock
    passes = np.append(matrix_passes(code, architecture.target).cycles, 0)
    lead = np.where(that(r"v_mfma_scale") & (step == 4), step, 0)
    # A matrix instruction takes two turns to issue; quarter-rate instructions take four.
    turns = np.where(unit == MATRIX, 2, np.where(that(QUARTER) & (unit == VALU), 4, 1))
    # Results are ready after the required distances on gfx9, and shortly after the passes on later ones.
    result = np.where(passes > 0, passes + _CHAIN, 0)
    for cycles, states in RESULT_STATES.items() if step == 4 else ():
        result[passes == cycles] = (states + 1) * step
    # Without operands no wait for one is known.
    known = [registers(text) if has_known_operands(text) else Registers(0, 0) for text in texts]
    return LineTraits(
        texts=tuple(texts),
        unit=unit,
        form=np.array([_first(_FORMS, text, Cause.WAIT_LOAD) for text in texts], dtype=np.uint8),
        lead=lead,
        hold=turns * step + lead,
        passes=passes,
        result=result.astype(np.int64) + lead,
        shares_matrix=that(_SHARES_MATRIX) & (step == 4),
        nop=np.array([_turns(text) * step for text in texts], dtype=np.int64),
        is_wait=that(r"s_wait"),
        is_nop=that(r"s_nop"),
        is_sleep=that(r"s_(monitor_)?sleep"),
        is_barrier=that(r"s_barrier(_wait)?\b"),
        is_end=that(r"s_endpgm"),
        block=np.append(
            code.address.astype(np.int64) // architecture.code_line + code.codeobj * (1 << 40), -1
        ),
        writes=words([one.writes for one in known]),
        reads=words([one.reads for one in known]),
        step=step,
    )


def unit_of(text: str) -> int:
    """Return the unit of an instruction, NONE to MESSAGE, by its mnemonic alone."""
    return _first(_UNITS, text, NONE)


def _first(table: tuple[tuple[re.Pattern[str], int], ...], text: str, otherwise: int) -> int:
    return next((int(value) for pattern, value in table if pattern.match(text)), int(otherwise))


def _turns(text: str) -> int:
    """The turns that an s_nop takes, 0 for other instructions."""
    operand = _NUMBER.search(text)
    return (1 + (number(operand[1]) if operand else 0)) if text.startswith("s_nop") else 0
