"""What each code line is to the attribution: its unit, what a wait for it is, how long it holds the unit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.registers import registers, words
from rcv_py.analysis.program.matrix_passes import matrix_passes
from rcv_py.base.numbers import number
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import MATRIX_PREFIXES

NONE, VALU, MATRIX, VMEM, LDS, SMEM, SALU, BRANCH, MESSAGE = range(9)  # units
MEMORY = (VMEM, LDS, SMEM)

_UNITS: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(pattern), unit)
    for pattern, unit in (
        (r"s_(c?branch|cbranch_|setpc|swappc|call)", BRANCH),
        (r"s_(wait|nop|sleep|barrier|setprio|delay_alu|clause|endpgm)", NONE),
        (r"s_(sendmsg|ttracedata)|exp", MESSAGE),
        (r"s_(load|store|buffer_|scratch_|atomic|dcache|memtime|memrealtime|prefetch)", SMEM),
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
        (r"s_", Cause.WAIT_SCALAR),
        (r"tensor_|\S*(load_lds|async)|(t?buffer|global)_load.*\blds\b", Cause.WAIT_DMA),
        (r"\S*_(atomic|cmpswap)", Cause.WAIT_ATOMIC),
        (r"\S*(_store|_wb)", Cause.WAIT_STORE),
        (r"", Cause.WAIT_LOAD),
    )
)
_QUARTER = re.compile(r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_|v_mul_(lo|hi)_[iu]32|v_\w+_f64")
_SHARES_MATRIX = re.compile(r"v_pk_(mul|add|fma|mov)_(f32|b32)|v_(?!cvt)\w+_f64")
_NUMBER = re.compile(r"\s+(0x[0-9a-fA-F]+|\d+)")
_RESULT_STATES = {8: 5, 16: 8, 32: 12, 64: 20}  # required distance, in turns, to a reader of a matrix result
_CHAIN = 8  # cycles behind the passes before the result can be accumulated on
TAIL = 12  # cycles behind the passes before packed arithmetic gets the unit (gfx9; seen without exception)
TO_MEMORY = 5  # turns from vector arithmetic to a memory instruction that reads its result (gfx9)


@dataclass(frozen=True, eq=False)
class Lines:
    """Columns of all code lines and one row more, for tokens without a line."""

    unit: np.ndarray  # uint8, NONE to MESSAGE
    form: np.ndarray  # uint8, Cause of a wait for it
    lead: (
        np.ndarray
    )  # int64, cycles after issue before the unit begins: scaled matrix forms are two instructions
    hold: np.ndarray  # int64, cycles its unit takes nothing else of the wave, at least
    passes: np.ndarray  # int64, cycles of the matrix unit, 0 for others
    result: np.ndarray  # int64, cycles from its issue until any other instruction can read its result
    shares_matrix: np.ndarray  # bool, vector arithmetic that runs on the matrix unit's datapath (gfx9)
    asked: np.ndarray  # int64, cycles that an s_nop asks for
    is_wait: np.ndarray  # bool, s_waitcnt and its like
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
def lines(code: CodeTable, gfxip: int, target: str) -> Lines:
    """Return the columns; cached, since every look at a program needs them."""
    texts = [*(text.strip() for text in code.text), ""]
    unit = np.array([_first(_UNITS, text, NONE) for text in texts], dtype=np.uint8)
    step = 4 if gfxip <= 9 else 1
    passes = np.append(matrix_passes(code, target).cycles, 0)
    known = [registers(text) for text in texts]
    lead = (
        np.where(_that(texts, r"v_mfma_scale"), step, 0)
        if step == 4
        else np.zeros(len(texts), dtype=np.int64)
    )
    return Lines(
        unit,
        np.array([_first(_FORMS, text, Cause.WAIT_LOAD) for text in texts], dtype=np.uint8),
        lead,
        _hold(texts, unit, step) + lead,
        passes,
        _result(passes, step) + lead,
        _that(texts, _SHARES_MATRIX.pattern) & (step == 4),
        np.array([_turns(text) * step for text in texts], dtype=np.int64),
        _that(texts, r"s_wait"),
        _that(texts, r"s_nop"),
        _that(texts, r"s_sleep"),
        _that(texts, r"s_barrier(_wait)?\b"),
        _that(texts, r"s_endpgm"),
        np.append(code.address.astype(np.int64) // 64 + code.codeobj * (1 << 40), -1),
        words([one.writes for one in known]),
        words([one.reads for one in known]),
        step,
    )


def _first(table: tuple[tuple[re.Pattern[str], int], ...], text: str, otherwise: int) -> int:
    return next((int(value) for pattern, value in table if pattern.match(text)), int(otherwise))


def _that(texts: list[str], pattern: str) -> np.ndarray:
    fits = re.compile(pattern).match
    return np.array([fits(text) is not None for text in texts], dtype=bool)


def _hold(texts: list[str], unit: np.ndarray, step: int) -> np.ndarray:
    """A matrix instruction takes two turns to issue, lanes at a quarter of the rate take four."""
    slow = np.array([_QUARTER.match(text) is not None for text in texts], dtype=bool)
    hold = np.where(slow & (unit == VALU), 4 * step, step)
    return np.where(unit == MATRIX, 2 * step, hold).astype(np.int64)


def _result(passes: np.ndarray, step: int) -> np.ndarray:
    """On gfx9 by the required distances in turns; later when the passes are over, and a bit."""
    result = np.where(passes > 0, passes + _CHAIN, 0)
    if step == 4:
        for cycles, states in _RESULT_STATES.items():
            result[passes == cycles] = (states + 1) * step
    return result.astype(np.int64)


def _turns(text: str) -> int:
    if not text.startswith("s_nop"):
        return 0
    found = _NUMBER.search(text)
    return 1 + (number(found[1]) if found else 0)
