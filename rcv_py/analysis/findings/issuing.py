"""Findings of issue stalls, of kernels limited by what they issue or move, and of recorded addresses."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.findings import bound_class
from rcv_py.analysis.findings.evidence import LINES, line_of, of_pattern
from rcv_py.analysis.findings.finding import CAUTION, CONTEXT, WORK_CYCLES, Evidence, Finding
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.findings.remedies import finding_of
from rcv_py.analysis.findings.situation import situation_of
from rcv_py.analysis.findings.waiting import BOUND, LIKELY, width_sentences
from rcv_py.analysis.latency.address_access import APART, AddressAccesses
from rcv_py.base.runs import is_in
from rcv_py.base.tables import table
from rcv_py.base.text import Message, count, join_texts, percent, plural

WORTH_SAYING = 0.01  # of the waves' lives: shorter waits for a unit at work are not reported
CONFLICT = 100  # mean stall of an LDS access in cycles; above it bank conflicts are likely


PASSES = "By the passes of each form the pipe was occupied in these cycles."
NAMED = "Certain: the registers are named in the instructions."

ISSUE_PATTERNS = (  # cause, the name of the finding, and how sure the cause is
    (Cause.MEMORY_QUEUE, "memory-back-pressure", LIKELY),
    (Cause.LDS_QUEUE, "lds-back-pressure", LIKELY),
    (Cause.SCALAR_QUEUE, "scalar-back-pressure", LIKELY),
    (Cause.MATRIX_BUSY, "matrix-unit-busy", PASSES),
    (Cause.MATRIX_RESULT, "matrix-dependency", NAMED),
    (Cause.NOP, "hazard-nops", "Certain: the operand of an s_nop says how long it takes."),
    (Cause.FETCH, "instruction-fetch", LIKELY),
    (Cause.LAUNCH, "wave-launch", "Certain, but other waves usually cover it."),
    (Cause.REGISTER, "dependent-arithmetic", NAMED),
)
_WITH_WIDTHS = (Cause.MEMORY_QUEUE, Cause.LDS_QUEUE, Cause.SCALAR_QUEUE)


def issue(inputs: FindingInputs) -> Iterable[Finding]:
    """Yield one finding for each unit that refuses instructions and each delay that the program makes."""
    exposure = inputs.exposure
    for pattern, name, confidence in ISSUE_PATTERNS:
        case, is_work = situation_of(inputs, inputs.rows_of(pattern)), pattern == Cause.MATRIX_BUSY
        attributed, lived = int(case.claimed.attributed.sum()), max(1, exposure.lives)
        if not len(case.claimed) or (is_work and attributed < WORTH_SAYING * lived):
            continue
        sentence = Message(
            "{0} cycles of all waves ({1} of their lives) {2}, at {3}.",
            count(attributed),
            percent(attributed, lived),
            table("findings")[name]["what"],
            plural(len(case.claimed), "instruction"),
        )
        finding = finding_of(
            case,
            name,
            sentence=join_texts(" ", (sentence, *(width_sentences(case) if pattern in _WITH_WIDTHS else ()))),
            evidence=of_pattern(case),
            assumption=confidence if is_work else Message("{0} {1}", confidence, BOUND),
        )
        if is_work:  # the matrix unit worked in its cycles: waiting less wins nothing
            share = exposure.matrix / exposure.resident if exposure.resident else 0.0
            numbers = {"cycles": exposure.matrix, "share": share, "exposed": 0}
            finding = replace(finding, is_upper_bound=False, rank=CONTEXT, **numbers)
        yield finding


def bank_conflicts(inputs: FindingInputs) -> Iterator[Finding]:
    """Hint at bank conflicts: LDS accesses that stall so long that lanes may hit the same banks.

    `lds-back-pressure` already counts their cycles, so this finding is not ranked: it only names the lines,
    but none whose conflicts recorded addresses show.
    """
    table, code, rows = inputs.attribution, inputs.trace.code, inputs.rows_of(Cause.LDS_QUEUE)
    rows = rows[table.line[rows] >= 0]
    stall = np.bincount(table.line[rows], table.stall[rows], len(code))
    per_hit = stall / np.maximum(1, code.hits)
    known = inputs.addresses.line[~np.isnan(inputs.addresses.conflict)]
    lines = np.flatnonzero((per_hit > CONFLICT) & ~is_in(np.arange(len(code)), known))
    if not len(lines):
        return
    lines = lines[np.argsort(-stall[lines], kind="stable")]
    worst = int(lines[0])
    banks = inputs.trace.architecture.lds_banks
    cycles = inputs.bounds.of(rows[np.isin(table.line[rows], lines)]).cycles
    yield finding_of(
        situation_of(inputs),
        "lds-bank-conflicts",
        title="LDS accesses that may have bank conflicts",
        is_upper_bound=False,
        sentence=Message(
            "{0} stall more than {1} cycles an execution, instruction {2} {3}; in at most {4} "
            "cycles of SIMDs nothing else happens.",
            plural(len(lines), "LDS instruction"),
            CONFLICT,
            worst,
            count(round(float(per_hit[worst]))),
            count(cycles),
        ),
        remedy=Message(
            "Check the addresses of the lanes modulo {0} banks of 4 bytes: pad rows by one "
            "bank or XOR the column with the row (swizzle).",
            banks,
        ),
        evidence=tuple(line_of(inputs, int(line)) for line in lines[:3]),
        assumption="A hint only: the trace shows how long an access was refused, not the addresses of its "
        "lanes; SQTT_TRACE_ADDRESSES=lds records them. The cycles are counted under LDS issue stall (queue "
        "full).",
        rank=CONTEXT,
    )


MAX_KINDS = 4
ADDRESS = "address and integer arithmetic"
CONVERSION = "conversions and moves"
NOPS = "waits and nops"
_FLAGS = {ADDRESS: "address-arithmetic", CONVERSION: "conversions", NOPS: "nops"}
# The first matching prefix; an instruction without a match is named by its kind.
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
    (("v_nop",), NOPS),
    (("v_unknown",), "unreadable VALU"),
    (("v_",), "floating-point VALU"),
    (("s_cbranch", "s_branch"), "branches"),
    (("s_wait", "s_nop", "s_barrier", "s_setprio", "s_sleep", "s_monitor_sleep"), NOPS),
    (("s_load", "s_buffer_load"), "SMEM"),
    (("s_",), "SALU"),
    (("ds_",), "LDS"),
    (("buffer_", "global_", "flat_", "scratch_", "image_"), "VMEM"),
)  # fmt: skip


def issue_bound(inputs: FindingInputs) -> Iterator[Finding]:
    """Issue-bound: SIMDs issue in most of their cycles, so fewer instructions help.

    Matrix work and memory traffic take their time however few instructions issue: at stake are the issue
    cycles outside of matrix work, at most those that the memory roof leaves.
    """
    exposure, code = inputs.exposure, inputs.trace.code
    share = exposure.issuing / exposure.resident if exposure.resident else 0.0
    if share < bound_class.ISSUING:
        return
    load = bound_class.load_numbers(inputs)
    spare = max(0.0, 1 - load.of_roof) if load.is_at_memory else 1.0
    at_stake = min(exposure.working - exposure.matrix, round(spare * exposure.resident))
    rows = inputs.rows_of(Cause.ARBITRATION, Cause.UNIT_BUSY)
    waited, lived = int(inputs.attribution.cycles[rows].sum()), max(1, exposure.lives)
    cycles = inputs.issued.cycles
    sums: Counter[str] = Counter()
    for text, busy in zip(code.text, cycles.tolist(), strict=True):
        kind = next((name for prefixes, name in _GROUPS if text.startswith(prefixes)), "other")
        sums[kind] += busy
    issued = max(1, sums.total())
    ranked = [name for name in sorted(sums, key=lambda name: (-sums[name], name))[:MAX_KINDS] if sums[name]]
    parts = ", ".join(f"{name} {percent(sums[name], issued)}" for name in ranked)
    arithmetic = [name for name in ranked if name not in ("MFMA", "VMEM", "LDS", "SMEM", "branches")]
    yield finding_of(
        situation_of(inputs, rows, [_FLAGS[name] for name in arithmetic[:1] if name in _FLAGS]),
        "issue-bound",
        cycles=at_stake,
        share=at_stake / exposure.resident,
        exposed=0,
        attributed=waited,
        sentence=Message(
            "SIMDs with a wave issue in {0} of their cycles; {1} cycles of all waves ({2} of "
            "their lives) wait because another wave issued or the previous instruction held "
            "the unit. Of the issue cycles: {3}.",
            percent(exposure.issuing, exposure.resident),
            count(waited),
            percent(waited, lived),
            parts,
        ),
        evidence=_largest(inputs, cycles, "{} issue cycles"),
        unit=WORK_CYCLES,
    )


def _largest(inputs: FindingInputs, values: np.ndarray, text: str) -> tuple[Evidence, ...]:
    """The three instructions with the largest values, each with a text about its value."""
    lines = [line for line in np.argsort(-values, kind="stable")[:3].tolist() if values[line]]
    return tuple(line_of(inputs, line, Message(text, count(int(values[line])))) for line in lines)


def memory_bound(inputs: FindingInputs) -> Iterator[Finding]:
    """Memory-bound: compute units request about what memory delivers, so only fewer bytes help."""
    known = bound_class.class_of(inputs)
    if known is None or known.name != bound_class.MEMORY:
        return
    widths, table = inputs.widths, inputs.attribution
    rows, moved = bound_class.memory_waits(inputs), bound_class.requested_bytes(inputs)
    case = situation_of(inputs, rows, producers=np.argsort(-moved, kind="stable")[:3].tolist())
    if not case.claimed.bound.cycles:
        return
    sizes = join_texts(
        ", ",
        (
            Message("{0} × {1} per lane", count(times), plural(size, "byte"))
            for size, times in widths.by_width(np.flatnonzero(moved))[:MAX_KINDS]
        ),
    )
    yield finding_of(
        case,
        "memory-bound",
        sentence=Message(
            "VMEM instructions request at most {0} bytes, {1:.1f} bytes/cycle per CU ({2}); {3} of "
            "stall waits for vector memory.",
            count(int(moved.sum())),
            bound_class.load_numbers(inputs).rate,
            sizes,
            percent(int(table.stall[rows].sum()), max(1, table.total_stall)),
        ),
        evidence=_largest(inputs, moved, "at most {} bytes"),
        assumption=Message(
            "Bytes count full waves, whether caches serve them or not; waits for memory of all kinds "
            "are taken together. {0}",
            BOUND,
        ),
    )


def conflicts(inputs: FindingInputs) -> Iterator[Finding]:
    """Bank conflicts of LDS accesses, by the addresses of their lanes."""
    found = inputs.addresses
    rows = _worst(found, np.nan_to_num(found.conflict) > 1, found.passes - found.least_passes)
    for worst in rows[:1].tolist():
        sentence = Message(
            "By the addresses of their lanes, {0} in conflict: an execution of instruction {1} takes "
            "{2:.1f} passes of LDS, where {3:.1f} are needed.",
            plural(len(rows), "LDS instruction is", "LDS instructions are"),
            int(found.line[worst]),
            float(found.passes[worst] / found.blocks[worst]),
            float(found.least_passes[worst] / found.blocks[worst]),
        )
        yield finding_of(
            situation_of(inputs),
            "lds-bank-conflicts",
            title="LDS accesses with bank conflicts",
            sentence=sentence,
            remedy="Lanes that LDS serves together want different words of a bank: pad rows by one bank or "
            "XOR the column with the row (swizzle).",
            **_shown(inputs, rows, found.conflict, "{0:.1f} times the passes"),
            assumption=_certain(found, rows, "The cycles are counted under LDS issue stall (queue full)."),
        )


def lanes_apart(inputs: FindingInputs) -> Iterator[Finding]:
    """Accesses of vector memory that touch more cache lines than their bytes need."""
    found = inputs.addresses
    rows = _worst(found, np.nan_to_num(found.spread) >= APART, found.requests - found.least_requests)
    for worst in rows[:1].tolist():
        sentence = Message(
            "By the addresses of their lanes, {0} at least twice the cache lines that hold as many bytes: an "
            "execution of instruction {1} touches {2:.1f}, where {3:.1f} are needed, and uses {4:.1f} of {5} "
            "bytes of each.",
            plural(len(rows), "VMEM instruction touches", "VMEM instructions touch"),
            int(found.line[worst]),
            float(found.requests[worst] / found.blocks[worst]),
            float(found.least_requests[worst] / found.blocks[worst]),
            float(found.used[worst] / found.requests[worst]),
            found.cache_line,
        )
        yield finding_of(
            situation_of(inputs),
            "lanes-apart",
            sentence=sentence,
            **_shown(inputs, rows, found.spread, "{0:.1f} times the lines"),
            assumption=_certain(found, rows, "Whether a line is in a cache is not known."),
        )


def recorded(inputs: FindingInputs) -> Iterator[Finding]:
    """A caution: the kernel spent time to write addresses."""
    found = inputs.addresses
    if not found.blocks.any() and not found.incomplete.any():
        return
    yield finding_of(
        situation_of(inputs),
        "addresses-recorded",
        is_upper_bound=False,
        sentence=Message(
            "Before {0} it wrote a word or two for every lane: times, stalls and their causes include this.",
            plural(len(found), "memory instruction"),
        ),
        rank=CAUTION,
    )


def _worst(found: AddressAccesses, chosen: np.ndarray, beyond: np.ndarray) -> np.ndarray:
    """The chosen rows of known instructions, those with most beyond the needed first."""
    rows = np.flatnonzero(chosen & (found.line >= 0))
    return rows[np.argsort(-beyond[rows], kind="stable")]


def _shown(inputs: FindingInputs, rows: np.ndarray, times: np.ndarray, text: str) -> dict[str, Any]:
    """Fields of both findings: they are context, with the worst instructions and strides as evidence."""
    found, evidence = inputs.addresses, list[Evidence]()
    for row in rows[:LINES].tolist():
        words = [Message(text, float(times[row]))]
        if not np.isnan(found.stride[row]):
            words.append(Message("stride {0} bytes", count(int(found.stride[row]))))
        evidence.append(line_of(inputs, int(found.line[row]), join_texts(", ", words)))
    return {"evidence": tuple(evidence), "is_upper_bound": False, "rank": CONTEXT}


def _certain(found: AddressAccesses, rows: np.ndarray, more: str) -> str:
    executions = plural(int(found.blocks[rows].sum()), "execution")
    text = Message("Certain for {0} whose addresses were recorded.", executions)
    return join_texts(" ", filter(None, (text, more, found.guess)))


DETECTORS = (issue_bound, memory_bound, issue, bank_conflicts, conflicts, lanes_apart, recorded)
