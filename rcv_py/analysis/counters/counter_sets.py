"""Built-in derived counters: a set for each generation, in the language of formulas.

A thread trace carries SQ counters on gfx9 only; later generations have performance monitors, whose names
differ. Definitions of the gfx9 utilisations and their factors are AMD's: FLAT, LDS and VMEM issue at half
rate, the busy counter of the matrix unit counts cycles where the others count quad-cycles, an MFMA "MOPS" is
512 operations.
"""

from collections.abc import Container

from rcv_py.analysis.counters.formula.evaluate import Definitions, read_definitions
from rcv_py.base.text import Message
from rcv_py.model.architecture import Architecture

BUILT_IN = "built-in"  # the file name of these definitions
_MATRIX_TYPES = ("I8", "F8", "F16", "BF16", "F32", "F64", "XF32", "F6F4")
_PLACES = "axis=[XCC, SE, CU]"


def _total(name: str) -> str:
    return f"sum[{name}, {_PLACES}]"


def _ratio(name: str, part: str, whole: str, tip: str) -> str:
    return f"{name} := 100 * {_total(part)} / max({_total(whole)}, 1)  # [%] {tip}"


def _rate(name: str, counted: str, what: str) -> str:
    tip = Message("[instructions/cycle] {0} of all recorded engines.", what)
    return f"{name}_per_cycle := {_total(counted)} / INTERVAL  # {tip}"


def _common(sq: str, sqc: str, l2: str) -> tuple[str, ...]:
    """Definitions for all generations, given their name prefixes."""
    cycles, conflicts = f"{sq}WAVE_CYCLES", f"{sqc}LDS_BANK_CONFLICT"
    waited = "Of the time of waves, what they waited"
    lost = "Cycles of LDS that were lost to bank conflicts."
    return (
        _ratio("WAIT_share", f"{sq}WAIT_ANY", cycles, Message("{0} for anything.", waited)),
        _ratio("ISSUE_WAIT_share", f"{sq}WAIT_INST_ANY", cycles, Message("{0} to issue.", waited)),
        _ratio("LDS_conflict", conflicts, f"{sqc}LDS_IDX_ACTIVE", lost),
        _ratio(
            "L2_hit", f"{l2}_HIT", f"({l2}_HIT + {l2}_MISS)", "Requests that the L2 cache answered itself."
        ),
    )


_ISSUED = (
    ("MISC", 100, "Issue of waits, barriers, messages and branches."),
    ("FLAT", 200, "Issue of FLAT instructions."),
    ("SCA", 100, "Issue of scalar instructions."),
    ("LDS", 200, "Issue of LDS instructions."),
    ("VMEM", 200, "Issue of vector memory instructions."),
)
_GPU = ("LDS_util", "VMEM_util", "FLAT_util")
_ALU = (  # counters needed, and how busy the vector units are: matrix and other issue may overlap
    (("MFMA_util", "VALU_util"), "min(MFMA_util + VALU_util * (1 - _mfma) / (1.7 - _mfma), 100)"),
    (("MFMA_util",), "MFMA_util"),
    (("VALU_util",), "min(VALU_util, 100)"),
)
_NEEDS = {f"{name}_util": f"ACTIVE_INST_{name}" for name in ("LDS", "VMEM", "FLAT", "VALU")} | {
    "MFMA_util": "VALU_MFMA_BUSY_CYCLES"
}

_GFX9 = (
    "_capacity := max(sum[max[BUSY_CU_CYCLES, axis=TIME]], 1)",
    Message("CU_busy := 100 * {0} / _capacity  # [%] Compute units had waves.", _total("BUSY_CU_CYCLES")),
    *(
        f"{name}_util := {factor} * {_total(f'ACTIVE_INST_{name}')} / _capacity  # [%] {tip}"
        for name, factor, tip in _ISSUED
    ),
    f"_valu := {_total('ACTIVE_INST_VALU')} / _capacity",
    f"_mfma := {_total('VALU_MFMA_BUSY_CYCLES')} / 4 / _capacity",
    "VALU_util := 100 * _valu  # [%] Issue of vector arithmetic; up to 200 where two issue at once.",
    "MFMA_util := 100 * _mfma  # [%] The matrix unit was busy.",
    *(
        Message(
            "{0}_TFLOPS := 512e-12 * {1} * SHADER_HZ / INTERVAL  # [TFLOP/s] Matrix operations of "
            "type {0} per second, on all recorded compute units together.",
            kind,
            _total(f"INSTS_VALU_MFMA_MOPS_{kind}"),
        )
        for kind in _MATRIX_TYPES
    ),
    *_common("", "", "TCC"),
    _ratio("L1_miss", "TCP_TCC_READ_REQ", "TCP_TOTAL_CACHE_ACCESSES", "Accesses of L1 that read from L2."),
)
_RDNA = (
    *_common("SQ_", "SQC_", "GL2C"),
    _ratio("GPU_busy", "GRBM_GUI_ACTIVE", "GRBM_COUNT", "The device had work."),
    Message(
        "Waves_resident := {0} / max(max[SQ_BUSY_CYCLES, {1}], 1)  # [waves] Waves "
        "resident at a time, while there were any.",
        _total("SQ_WAVE_CYCLES"),
        _PLACES,
    ),
    _rate("VALU", "SQ_INSTS_VALU", "Vector arithmetic"),
    _rate("SALU", "SQ_INSTS_SALU", "Scalar arithmetic"),
    _rate("LDS", "SQ_INSTS_LDS", "LDS instructions"),
)
_GFX11 = (*_RDNA, _rate("VMEM", "(SQ_INSTS_TEX_LOAD + SQ_INSTS_TEX_STORE)", "Vector memory"))
_L0_TIP = "Requests that the vector cache next to the compute unit could not answer."
_CODE_TIP = "Requests for instructions that the cache could not answer."
_GFX12 = (
    *_GFX11,
    _ratio("L0_miss", "TCP_REQ_MISS", "TCP_REQ", _L0_TIP),
    _ratio("Instruction_miss", "SQC_ICACHE_MISSES", "SQC_ICACHE_REQ", _CODE_TIP),
)
_SETS = {"": (), "gfx9": _GFX9, "gfx10": _RDNA, "gfx11": _GFX11, "gfx12": _GFX12}


def built_in_text(architecture: Architecture, recorded: Container[str] | None = None) -> str:
    """Return the set of a generation as the text of a file.

    GPUutil is the largest utilisation; with `recorded`, the largest whose counters were recorded.
    """
    text = "# What comes with rcv for gfx{0}. Your own files are added to it."
    lines: list[str] = [Message(text, architecture.gfxip), *_SETS[architecture.counter_set]]
    if architecture.has_trace_counters:
        known = [name for name, counter in _NEEDS.items() if recorded is None or counter in recorded]
        parts = [name for name in _GPU if name in known]
        parts += [formula for needs, formula in _ALU if set(needs) <= set(known)][:1]
        busiest = f"max({', '.join(parts)})" if len(parts) > 1 else (*parts, "LDS_util")[0]
        text = "GPUutil := {0}  # [%] The busiest unit: the largest of the utilisations that were recorded."
        lines.append(Message(text, busiest))
    return "\n".join([*lines, ""])


def built_in(architecture: Architecture, recorded: Container[str] | None = None) -> Definitions:
    """Return the built-in definitions."""
    return read_definitions(built_in_text(architecture, recorded), BUILT_IN)
