"""Findings of a kernel that is limited by what it does: instructions to execute, bytes to move."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.core.token_columns import pieces
from rcv_py.analysis.findings.bound_class import ISSUING, MEMORY
from rcv_py.analysis.findings.evidence import line_of
from rcv_py.analysis.findings.finding import WORK_CYCLES, Finding
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.findings.load import VECTOR_MEMORY, class_of
from rcv_py.analysis.findings.situation import Situation
from rcv_py.analysis.findings.waiting import BOUND, bounded, remedy_fields
from rcv_py.base.text import count, percent, plural
from rcv_py.model.kinds import TokenKind

MOST_KINDS = 4
ADDRESS = "address and integer arithmetic"
CONVERSION = "conversions and moves"
# The first prefix that fits; what none fits is named by its kind.
_GROUPS = (
    (("v_mfma", "v_smfma", "v_wmma", "v_swmma"), "MFMA"),
    (("v_cvt", "v_mov", "v_accvgpr", "v_perm", "v_pack", "v_cndmask", "v_swap"), CONVERSION),
    (
        (
            "v_add_u", "v_add_i", "v_add_co", "v_addc", "v_sub_u", "v_sub_i", "v_lshl", "v_lshr", "v_ashr",
            "v_and", "v_or", "v_xor", "v_bfe", "v_bfi", "v_mul_lo", "v_mul_hi", "v_mul_u", "v_mul_i",
            "v_mad_u", "v_mad_i", "v_add3", "v_lshl_add", "v_add_lshl", "v_not",
        ),
        ADDRESS,
    ),
    (("v_exp", "v_log", "v_rcp", "v_rsq", "v_sqrt", "v_sin", "v_cos"), "transcendental VALU"),
    (("v_cmp",), "VALU comparisons"),
    (("v_",), "floating-point VALU"),
    (("s_cbranch", "s_branch"), "branches"),
    (("s_wait", "s_nop", "s_barrier", "s_setprio", "s_sleep"), "waits and nops"),
    (("s_load", "s_buffer_load"), "SMEM"),
    (("s_",), "SALU"),
    (("ds_",), "LDS"),
    (("buffer_", "global_", "flat_", "scratch_", "image_"), "VMEM"),
)  # fmt: skip


def issue_bound(inputs: FindingInputs) -> Iterator[Finding]:
    """SIMDs issue in most of their cycles: only fewer instructions help."""
    whole, table = inputs.exposure, inputs.attribution
    share = whole.issuing / whole.resident if whole.resident else 0.0
    if share < ISSUING:
        return
    rows = np.flatnonzero(np.isin(table.cause, (Cause.ARBITRATION, Cause.UNIT_BUSY)))
    waited = int(table.cycles[rows].sum())
    cycles = _issue_cycles(inputs)
    groups = np.array([_group(text) for text in inputs.trace.code.text], dtype=object)
    names = sorted(set(groups.tolist()))
    sums = {name: int(cycles[groups == name].sum()) for name in names}
    issued = max(1, sum(sums.values()))
    ranked = sorted(sums, key=lambda name: (-sums[name], name))[:MOST_KINDS]
    parts = ", ".join(f"{name} {percent(sums[name], issued)}" for name in ranked if sums[name])
    lines = np.argsort(-cycles, kind="stable")[:3]
    one = Situation(inputs, inputs.claimed(rows), (), _flags(sums, ranked))
    yield Finding(
        name="issue-bound",
        title="SIMDs issue in most cycles",
        cycles=whole.issuing,
        is_upper_bound=True,
        share=share,
        sentence=f"SIMDs with a wave issue in {percent(whole.issuing, whole.resident)} of their cycles; "
        f"{count(waited)} cycles of all waves ({percent(waited, max(1, whole.lives))} of their lives) wait "
        "because another wave issued or the previous instruction held the unit. Of the issue cycles: "
        f"{parts}.",
        **remedy_fields("issue-bound", one),
        evidence=tuple(
            line_of(inputs, int(line), f"{count(int(cycles[line]))} issue cycles")
            for line in lines
            if cycles[line]
        ),
        assumption="At most: all issue cycles of the traced SIMDs; an instruction that is left out wins its "
        "own.",
        attributed=waited,
        unit=WORK_CYCLES,
    )


def memory_bound(inputs: FindingInputs) -> Iterator[Finding]:
    """Compute units ask for about what memory delivers: only fewer bytes help."""
    if class_of(inputs).name != MEMORY:
        return
    widths, table = inputs.widths, inputs.attribution
    rows = np.flatnonzero(np.isin(table.cause, VECTOR_MEMORY))
    claimed = inputs.claimed(rows)
    if not claimed.bound.cycles:
        return
    moved = np.where(widths.is_vector, np.maximum(0, widths.width) * widths.executions * widths.lanes, 0)
    lines = np.argsort(-moved, kind="stable")[:3]
    sizes = ", ".join(
        f"{count(times)} × {plural(size, 'byte')} a lane"
        for size, times in widths.by_width(np.flatnonzero(widths.is_vector))[:MOST_KINDS]
    )
    yield bounded(
        inputs,
        claimed,
        name="memory-bound",
        title="VMEM traffic is near the memory roof",
        sentence=f"VMEM instructions ask for at most {count(widths.vector_bytes)} bytes, "
        f"{widths.vector_rate:.1f} a CU and cycle ({sizes}); "
        f"{percent(int(table.stall[rows].sum()), max(1, table.total_stall))} of stall waits for vector "
        "memory.",
        **remedy_fields("memory-bound", Situation(inputs, claimed, tuple(lines.tolist()))),
        evidence=tuple(
            line_of(inputs, int(line), f"at most {count(int(moved[line]))} bytes")
            for line in lines
            if moved[line]
        ),
        assumption="Bytes are those of full waves, whether caches serve them or not; waits for memory of all "
        f"kinds are taken together. {BOUND}",
    )


def _issue_cycles(inputs: FindingInputs) -> np.ndarray:
    """Cycles in which each code row issued (later than gfx9: executed), summed over waves; int64."""
    size = len(inputs.trace.code)
    found = np.zeros(size, dtype=np.int64)
    for piece in pieces(inputs.batches, inputs.rows):
        known = (piece.line >= 0) & (piece.line < size) & (piece.kind != TokenKind.MSG)
        found += np.bincount(piece.line[known], piece.busy[known], size).astype(np.int64)
    return found


def _group(text: str) -> str:
    return next((name for prefixes, name in _GROUPS if text.startswith(prefixes)), "other")


def _flags(sums: dict[str, int], ranked: list[str]) -> frozenset[str]:
    arithmetic = [name for name in ranked if name not in ("MFMA", "VMEM", "LDS", "SMEM", "branches")]
    first = arithmetic[0] if arithmetic and sums[arithmetic[0]] else ""
    names = {ADDRESS: "address-arithmetic", CONVERSION: "conversions"}
    return frozenset({names[first]} if first in names else ())
