"""Derived counters that come with the program: one set a generation, written in the language of formulas.

A thread trace carries SQ counters on gfx9 only; later generations have performance monitors, whose names
differ. Definitions of the gfx9 utilisations and their factors are AMD's: FLAT, LDS and VMEM issue at half
rate, the busy counter of the matrix unit counts cycles where the others count quad-cycles, an MFMA "MOPS" is
512 operations.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from rcv_py.analysis.counters.formula.evaluate import Definitions, read_definitions

BUILT_IN = "built-in"  # the file name of these definitions
_MATRIX_TYPES = ("I8", "F8", "F16", "BF16", "F32", "F64", "XF32", "F6F4")
_PLACES = "axis=[XCC, SE, CU]"


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """One formula; `unit` and `tip` stand behind it as a comment: `# [unit] tip`."""

    name: str
    formula: str
    unit: str = ""
    tip: str = ""

    @property
    def line(self) -> str:
        """The formula as a line of a file."""
        unit = f"[{self.unit}] " if self.unit else ""
        comment = f"  # {unit}{self.tip}" if self.tip else ""
        return f"{self.name} := {self.formula}{comment}"


def _total(name: str) -> str:
    return f"sum[{name}, {_PLACES}]"


def _ratio(name: str, part: str, whole: str, tip: str) -> BuiltIn:
    return BuiltIn(name, f"100 * {_total(part)} / max({_total(whole)}, 1)", "%", tip)


def _rate(name: str, counted: str, tip: str) -> BuiltIn:
    return BuiltIn(f"{name}_per_cycle", f"{_total(counted)} / INTERVAL", "instructions a cycle", tip)


def _waiting(prefix: str) -> tuple[BuiltIn, ...]:
    every, issue = f"{prefix}WAIT_ANY", f"{prefix}WAIT_INST_ANY"
    cycles = f"{prefix}WAVE_CYCLES"
    return (
        _ratio("WAIT_share", every, cycles, "Of the time of waves, what they waited for anything."),
        _ratio("ISSUE_WAIT_share", issue, cycles, "Of the time of waves, what they waited to issue."),
    )


def _conflicts(prefix: str) -> BuiltIn:
    lost, active = f"{prefix}LDS_BANK_CONFLICT", f"{prefix}LDS_IDX_ACTIVE"
    return _ratio("LDS_conflict", lost, active, "Of the cycles of LDS, those lost to bank conflicts.")


_L2_TIP = "Requests that the L2 cache answered itself."
_ISSUED = (
    ("MISC", 100, "Issue of waits, barriers, messages and branches."),
    ("FLAT", 200, "Issue of FLAT instructions."),
    ("SCA", 100, "Issue of scalar instructions."),
    ("LDS", 200, "Issue of LDS instructions."),
    ("VMEM", 200, "Issue of vector memory instructions."),
)
_GPU = ("LDS_util", "VMEM_util", "FLAT_util")
_ALU = (  # what is needed, and how busy the vector units are: matrix and other issue may overlap
    (("MFMA_util", "VALU_util"), "min(MFMA_util + VALU_util * (1 - _mfma) / (1.7 - _mfma), 100)"),
    (("MFMA_util",), "MFMA_util"),
    (("VALU_util",), "min(VALU_util, 100)"),
)
_NEEDS = {f"{name}_util": f"ACTIVE_INST_{name}" for name in ("LDS", "VMEM", "FLAT", "VALU")} | {
    "MFMA_util": "VALU_MFMA_BUSY_CYCLES"
}

_GFX9 = (
    BuiltIn("_capacity", "max(sum[max[BUSY_CU_CYCLES, axis=TIME]], 1)"),
    BuiltIn("CU_busy", f"100 * {_total('BUSY_CU_CYCLES')} / _capacity", "%", "Compute units had waves."),
    *(
        BuiltIn(f"{name}_util", f"{factor} * {_total(f'ACTIVE_INST_{name}')} / _capacity", "%", tip)
        for name, factor, tip in _ISSUED
    ),
    BuiltIn("_valu", f"{_total('ACTIVE_INST_VALU')} / _capacity"),
    BuiltIn("_mfma", f"{_total('VALU_MFMA_BUSY_CYCLES')} / 4 / _capacity"),
    BuiltIn(
        "VALU_util", "100 * _valu", "%", "Issue of vector arithmetic; up to 200 where two issue at once."
    ),
    BuiltIn("MFMA_util", "100 * _mfma", "%", "The matrix unit was busy."),
    *(
        BuiltIn(
            f"{kind}_TFLOPS",
            f"512e-12 * {_total(f'INSTS_VALU_MFMA_MOPS_{kind}')} * SHADER_HZ / INTERVAL",
            "TFLOP/s",
            f"Matrix operations of type {kind} a second, on all recorded compute units together.",
        )
        for kind in _MATRIX_TYPES
    ),
    *_waiting(""),
    _conflicts(""),
    _ratio("L2_hit", "TCC_HIT", "(TCC_HIT + TCC_MISS)", _L2_TIP),
    _ratio("L1_miss", "TCP_TCC_READ_REQ", "TCP_TOTAL_CACHE_ACCESSES", "Accesses of L1 that read from L2."),
)
_RDNA = (
    *_waiting("SQ_"),
    _conflicts("SQC_"),
    _ratio("L2_hit", "GL2C_HIT", "(GL2C_HIT + GL2C_MISS)", _L2_TIP),
    _ratio("GPU_busy", "GRBM_GUI_ACTIVE", "GRBM_COUNT", "The device had work."),
    BuiltIn(
        "Waves_resident",
        f"{_total('SQ_WAVE_CYCLES')} / max(max[SQ_BUSY_CYCLES, {_PLACES}], 1)",
        "waves",
        "Waves resident at a time, while there were any.",
    ),
    _rate("VALU", "SQ_INSTS_VALU", "Vector arithmetic of all recorded engines."),
    _rate("SALU", "SQ_INSTS_SALU", "Scalar arithmetic of all recorded engines."),
    _rate("LDS", "SQ_INSTS_LDS", "LDS instructions of all recorded engines."),
)
_GFX11 = (
    *_RDNA,
    _rate("VMEM", "(SQ_INSTS_TEX_LOAD + SQ_INSTS_TEX_STORE)", "Vector memory of all recorded engines."),
)
_GFX12 = (
    *_GFX11,
    _ratio(
        "L0_miss",
        "TCP_REQ_MISS",
        "TCP_REQ",
        "Requests that the vector cache next to the compute unit could not answer.",
    ),
    _ratio(
        "Instruction_miss",
        "SQC_ICACHE_MISSES",
        "SQC_ICACHE_REQ",
        "Requests for instructions that the cache could not answer.",
    ),
)
SETS = {9: _GFX9, 10: _RDNA, 11: _GFX11, 12: _GFX12}


def built_in_text(gfxip: int, recorded: Container[str] | None = None) -> str:
    """Return the set of a generation as the text of a file.

    GPUutil is the largest of the utilisations; given the names that were recorded, of those that are there.
    """
    rows = SETS.get(gfxip, SETS[12] if gfxip > 12 else ())
    lines = [row.line for row in rows]
    if gfxip <= 9:
        lines.append(_gpu(recorded).line)
    return (
        f"# What comes with rcv for gfx{gfxip}. Your own files are added to it.\n" + "\n".join(lines) + "\n"
    )


def _gpu(recorded: Container[str] | None) -> BuiltIn:
    def is_there(name: str) -> bool:
        return recorded is None or _NEEDS[name] in recorded

    parts = [name for name in _GPU if is_there(name)]
    parts += [text for needs, text in _ALU if all(map(is_there, needs))][:1]
    formula = parts[0] if len(parts) == 1 else f"max({', '.join(parts)})"
    tip = "The busiest unit: the largest of the utilisations that were recorded."
    return BuiltIn("GPUutil", formula if parts else "LDS_util", "%", tip)


def built_in(gfxip: int, recorded: Container[str] | None = None) -> Definitions:
    """Return the definitions that come with the program."""
    return read_definitions(built_in_text(gfxip, recorded), BUILT_IN)
