"""What a matrix instruction computes, and how many cycles it occupies the matrix unit of its SIMD.

One execution of `v_mfma_f32_MxNxK_Bb_type` multiplies B pairs of an M x K by a K x N matrix:
2 * M * N * K * B operations of the whole wave (AMD CDNA 3 ISA guide, MFMA).  Sparse forms (`smfmac`,
`swmmac`) count as the dense product they represent.

A pass is four cycles.  On CDNA a form takes 2, 4, 8 or 16 passes, by its shape and operand type; the trace of
gfx9 shows only the issue.  RDNA forms are computed from the operations per cycle of the unit.  Those of
gfx1250 are a guess, from the scheduling model of LLVM 22: two passes, four for `iu8` and f32.
"""

import re

import numpy as np

from rcv_py.analysis.core.intervals import occupied_cycles
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, by_field, stacked
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending
from rcv_py.base.text import LARGEST, Message, number
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import memoized
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace

_FORM = re.compile(
    r"v_(?P<family>s?mfmac?|s?wmmac?)_(?:scale(?:16)?_)?(?P<out>[a-z0-9]+)_"
    r"(?P<m>\d{1,4})x(?P<n>\d{1,4})x(?P<k>\d{1,4})(?P<is_new>_)?(?:(?P<blocks>\d{1,3})b_)?(?P<types>[a-z0-9_]*)"
)
_BLOCKS_BY_M = {32: 2, 16: 4, 4: 16}
# (K, type) of forms with several blocks that the old spelling does not state, at every M of the table.
_SEVERAL = {(1, "f32"), (4, "f16"), (4, "i8"), (2, "bf16"), (4, "bf16_1k")}


def matrix_flops(text: str) -> int:
    """Return the operations of one execution by a wave; 0 if it is not a matrix instruction."""
    form = _FORM.match(text)
    if form is None:
        return 0
    m, n, k = (number(form[name]) for name in "mnk")
    return 2 * m * n * k * _blocks(form, m, k)


def matrix_types(text: str) -> tuple[str, str]:
    """Return the result type and the operand types as the mnemonic spells them; "" if it is none."""
    form = _FORM.match(text)
    return ("", "") if form is None else (form["out"], form["types"])


def _blocks(form: re.Match[str], m: int, k: int) -> int:
    if form["blocks"]:
        return number(form["blocks"])
    if form["is_new"]:
        return 1
    if (m, k, form["types"]) == (4, 4, "f64"):
        return 4
    return _BLOCKS_BY_M.get(m, 1) if (k, form["types"]) in _SEVERAL else 1


def flops_of(code: CodeTable) -> np.ndarray:
    """Return the operations of one execution of each instruction, float64 [code rows]."""
    return np.array([matrix_flops(text.strip()) for text in code.text], dtype=np.float64)


UNKNOWN_CYCLES = 16  # of a form that is in no table: the most frequent value

_FORMAT = re.compile(r"\b(?:cbsz|blgp):(\d)")
_FULL = {4: 8, 16: 32, 32: 64}  # cycles by the first dimension, forms at the rate of f32
_HALF = {4: 8, 16: 16, 32: 32}  # forms of gfx942 and later at the rate of f16
_DOUBLE = {
    "gfx908": {4: 16, 16: 32},
    "gfx90a": {4: 16, 16: 32},
    "gfx942": {4: 16, 16: 32},
    "gfx950": {4: 16, 16: 64},
}
_LATER_TYPES = ("fp8", "bf8", "f8f6f4", "xf32")
_GFX950_FORMS = {
    ("f16", 16, 32),
    ("bf16", 16, 32),
    ("f16", 32, 16),
    ("bf16", 32, 16),
    ("i8", 16, 64),
    ("i8", 32, 32),
}
_RDNA_MACS = {  # multiply-adds per cycle of one SIMD's matrix unit, by the width of an operand in bits
    "gfx11": {16: 128, 8: 128, 4: 256},
    "gfx12": {16: 256, 8: 512, 4: 1024},
}


_GFX125 = ("gfx125", "gfx12-5")
_GENERIC = {"gfx9-4-generic": "gfx942"}  # whose cycles are a guess


class MatrixPasses(Value):
    """Cycles of the matrix instruction in every code line."""

    cycles: np.ndarray  # int64 [code rows]; 0: no matrix instruction
    unknown: tuple[str, ...]  # mnemonics that are in no table; they take UNKNOWN_CYCLES
    guess: str = ""  # the target, if all its cycles are a guess

    def of_tokens(self, tokens: TokenColumns) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of matrix instructions and how long each occupies the unit, int64 each."""
        at = np.flatnonzero(tokens.kind == TokenKind.MATRIX)
        line = tokens.line[at]
        is_known = (line >= 0) & (line < len(self.cycles))
        return at, np.append(self.cycles, UNKNOWN_CYCLES)[np.where(is_known, line, -1)]

    @property
    def assumption(self) -> str:
        """The assumption as a sentence; "" if there is no matrix instruction."""
        some = ascending(self.cycles[self.cycles > 0])
        if not len(some):
            return ""
        span = f"{some[0]}" if len(some) == 1 else Message("{0} to {1}", some[0], some[-1])
        text = Message("A matrix instruction is taken to occupy its unit for {0} cycles, by its form", span)
        if self.unknown:
            text += Message("; {0} are a guess for {1}", UNKNOWN_CYCLES, ", ".join(self.unknown[:3]))
        if self.guess:
            text += Message("; all are a guess for {0}", self.guess)
        return text + "."


class MatrixUse(Value):
    """How busy the matrix units were while waves were resident."""

    busy: int  # cycles: executions times the cycles of their form
    resident: int  # cycles in which a SIMD held at least one traced wave, summed over SIMDs
    executions: int
    assumption: str

    @property
    def share(self) -> float:
        """Busy part of the resident cycles, 0 if there are none."""
        return self.busy / self.resident if self.resident else 0.0


def matrix_cycles(text: str, target: str) -> int | None:
    """Return the cycles of one instruction on a target such as `gfx942`, None if unknown.

    `gfx9` alone is not a target: then the form itself implies the oldest generation that has it.
    """
    form = _FORM.match(text)
    if form is None:
        return None
    return _rdna_cycles(form, target) if "wmma" in form["family"] else _cdna_cycles(form, text, target)


def matrix_passes(code: CodeTable, target: str) -> MatrixPasses:
    """Return the cycles of all matrix instructions of a program."""
    cycles = np.zeros(len(code), dtype=np.int64)
    unknown: dict[str, None] = {}
    for row in np.flatnonzero(code.kind == TokenKind.MATRIX).tolist():
        text = code.text[row].strip()
        known = matrix_cycles(text, target)
        if known is None:
            unknown[text.split(" ", 1)[0]] = None
        cycles[row] = UNKNOWN_CYCLES if known is None else known
    is_guess = target.startswith(_GFX125) or target.endswith("-generic")
    return MatrixPasses(cycles, tuple(unknown), target if is_guess else "")


class _Use(Value):
    busy: int  # cycles
    executions: int
    lives: np.ndarray  # int64 [waves, 3]: number of the SIMD, begin, end


@memoized
def passes_of(trace: Trace) -> MatrixPasses:
    """Return the matrix cycles of the program of a capture."""
    return matrix_passes(trace.code, trace.target)


def _map(trace: Trace, parcel: Parcel) -> _Use:
    tokens = parcel.own
    cycles = passes_of(trace).of_tokens(tokens)[1]
    return _Use(int(cycles.sum()), len(cycles), np.column_stack([tokens.places, *tokens.lives]))


def _finish(trace: Trace, part: _Use) -> MatrixUse:
    resident = occupied_cycles(part.lives)
    return MatrixUse(part.busy, resident, part.executions, passes_of(trace).assumption)


MATRIX = Reduction(_map, by_field(_Use, busy=sum, executions=sum, lives=stacked(3)), _finish)


def _cdna_target(target: str, text: str, types: str, shape: tuple[int, int]) -> str:
    """The given target if its forms are known, else the oldest target that has this form."""
    target = _GENERIC.get(target, target)
    if target in _DOUBLE:
        return target
    if target in ("gfx940", "gfx941"):
        return "gfx942"
    if target != "gfx9":
        return ""
    if types == "f8f6f4" or (types, *shape) in _GFX950_FORMS:
        return "gfx950"
    is_spelled_new = re.search(r"x\d+_", text.split(" ", 1)[0]) is not None
    return "gfx942" if is_spelled_new or any(name in types for name in _LATER_TYPES) else "gfx90a"


def _cdna_cycles(form: re.Match[str], text: str, target: str) -> int | None:
    m, k, types = number(form["m"]), number(form["k"]), form["types"]
    target = _cdna_target(target, text, types, (m, k))
    if form["out"] == "f64" or target not in _DOUBLE or m not in _FULL:
        return _DOUBLE.get(target, {}).get(m) if form["out"] == "f64" else None
    if target in ("gfx908", "gfx90a"):
        return _FULL[m]
    if types == "f8f6f4":
        formats = [number(digit) for digit in _FORMAT.findall(text)]
        has_eight_bits = len(formats) < 2 or min(formats) < 2  # formats 0 and 1, and 0 is not printed
        return _HALF[m] * (2 if has_eight_bits else 1)
    is_half = k >= 8 or types == "xf32" or form["family"] == "smfmac"
    return (_HALF if is_half else _FULL)[m]


def _rdna_cycles(form: re.Match[str], target: str) -> int | None:
    widths = [number(digits) for digits in re.findall(r"(?:f|fp|bf|u)(\d+)", form["types"] or form["out"])]
    if target.startswith(_GFX125):
        return 16 if form["types"] in ("iu8", "f32") else 8
    rates = _RDNA_MACS.get(target[:5])
    if not rates or not widths or max(widths) not in rates:
        return None
    m, n, k = (number(form[name]) for name in "mnk")
    macs = m * n * k // (2 if form["family"].startswith("s") else 1)
    return min(max(1, macs // rates[max(widths)]), LARGEST)
