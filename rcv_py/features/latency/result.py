"""Latency: how much of it other waves hide, and how long memory takes to answer."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.lines import LDS
from rcv_py.analysis.counters.counter_shares import counter_shares
from rcv_py.analysis.iterations.loop_summary import LoopTable
from rcv_py.analysis.latency.access_holds import LONGER, UNITS, AccessHolds
from rcv_py.analysis.latency.address_access import AddressAccesses
from rcv_py.analysis.latency.code_fetches import SLOW, CodeFetches
from rcv_py.analysis.latency.hidden_latency import HiddenTable
from rcv_py.analysis.latency.memory_latency import MemoryLatency, entries, matched_lines
from rcv_py.analysis.program.matrix_forms import MatrixUse
from rcv_py.analysis.waits.wait_latency import WaitLatency
from rcv_py.base.text import Message, count, join_texts, percent, plural
from rcv_py.features.latency.address_result import ADDRESS_TOTALS, ADDRESSES, address_judgements
from rcv_py.model.trace import Trace
from rcv_py.results import json_types, kinds
from rcv_py.results.common import CAPTURE, INSTRUCTION_INDEX, INSTRUCTION_TEXT, SOURCE_PLACE, TOTAL_ROWS
from rcv_py.results.field import DATA, PEOPLE, Field, of_analysis, record_field, unknown
from rcv_py.results.places import instructions, placed, sources
from rcv_py.results.table import Columns, ResultTable, Schema, Spec, form

BRANCH_BYTES = 4
CONFLICTS, LDS_CYCLES = "LDS_BANK_CONFLICT", "LDS_IDX_ACTIVE"  # counters
_COUNT = replace(kinds.COUNT, json=json_types.plain("number"))
_MEAN = replace(kinds.MEAN_CYCLES, text="{:,.1f}".format, digits=3)
_PLACE = (INSTRUCTION_TEXT, SOURCE_PLACE)
_CYCLES = (
    kinds.CYCLES("total", "Latency and idle"),
    kinds.CYCLES("not_hidden", "Part that no other wave of the SIMD hid", key="seen"),
    kinds.CYCLES("hidden", "Part in which another wave of the SIMD was busy"),
    kinds.CYCLES("hidden_idle", "Hidden part of the gaps before it", key="idle"),
    kinds.CYCLES("hidden_stall", "Hidden part of the stall", key="stall"),
    kinds.CYCLES("hidden_issue", "Hidden part of the issue or execution", key="issue"),
)
HIDDEN = Spec(
    "hidden_latency",
    "Instructions by cycles that are not hidden, the largest first.",
    "instruction",
    INSTRUCTION_INDEX,
    *_CYCLES,
    kinds.SHARE("hidden_share_of_total", "Hidden part of latency and idle", "hidden share", key="share"),
    *_PLACE,
    window="instruction text source",
)
_COUNTED = (
    _MEAN("mean", "Mean time from issue to return"),
    _MEAN("standard_error", "Standard error of the mean", "error", key="error"),
    _MEAN("standard_deviation", "Standard deviation", "std", key="std"),
    _COUNT("samples", "Returns that were matched"),
    _COUNT("in_flight", "Operations whose return was not seen", key="censored"),
    _MEAN("issue", "Mean time to issue"),
    _MEAN("stall", "Mean stall"),
)
_BY_WAITS = unknown(
    _COUNT("exact", "Executions that a wait stalled for until their result arrived"),
    _MEAN("median", "Median of their latencies"),
    _MEAN("p90", "90th percentile of their latencies"),
)
BY_COUNTERS = ("counter", *(field.name for field in _COUNTED))
BY_WAITS = tuple(field.name for field in _BY_WAITS)
MEMORY = Spec(
    "memory_latency",
    "Instructions that read or wrote memory.",
    "instruction",
    INSTRUCTION_INDEX,
    kinds.TEXT("counter", "Counter that measured it", key="unit"),
    *_COUNTED,
    *_PLACE,
    window="instruction text source counter",
)
MEMORY_AND_WAITS = Spec(
    "memory_latency",
    "Instructions that counters or waits measure; a value is null if its source does not measure it.",
    "instruction",
    INSTRUCTION_INDEX,
    kinds.TEXT("counter", "Counter that measured it; empty if only waits did"),
    *unknown(*_COUNTED),
    *_BY_WAITS,
    *_PLACE,
    window="instruction text source counter mean standard_error standard_deviation samples in_flight exact "
    "median p90",
)
_HELD = "Median time that an execution held the unit, observed while others were refused"
_FACTOR = replace(kinds.RATIO, text="{:.1f}".format)
_TIMES = "Time that an execution held the unit, divided by the minimum"
ACCESSES = Spec(
    "memory_accesses",
    "LDS and vector memory instructions that ran, most stall first.",
    "instruction",
    INSTRUCTION_INDEX,
    replace(kinds.TEXT, width=6)("unit", "LDS or VMEM"),
    kinds.BYTES("width", "Bytes per lane"),
    kinds.COUNT("hits", "Executions"),
    kinds.COUNT("refused", "Executions that stalled while another access held the unit"),
    kinds.CYCLES("stall", "Stall of these"),
    kinds.COUNT("samples", "Executions whose time in the unit was observed", at=DATA),
    kinds.RANK_CYCLES.maybe("held", _HELD),
    kinds.CYCLES("needed", "Minimum time by its width and issue"),
    _FACTOR.maybe("times_needed", _TIMES, "times", key="factor"),
    kinds.NOTE("judgement", "What that means: by recorded addresses, else inferred", at=PEOPLE),
    *_PLACE,
    nothing="No LDS or vector memory instruction ran.",
    window="instruction text source unit judgement",
)
FETCHES = Spec(
    "code_fetches",
    "Code lines (64 bytes, 128 on gfx1250) that waves had to wait for, most cycles first.",
    "code line",
    kinds.ROW("first_instruction", "Index of its first instruction", "first", key="first"),
    kinds.ROW("last_instruction", "Index of its last instruction", "last", key="last"),
    kinds.COUNT("arrivals", "Times that a wave reached it from another line or by a jump"),
    kinds.COUNT("slow", "Times that it was not in the instruction cache"),
    kinds.COUNT("again", "Of these: a wave of the compute unit had run it before"),
    kinds.CYCLES("cycles", "Time that waves waited for it"),
    kinds.CYCLES("longest", "Longest wait"),
    *_PLACE,
    nothing="No wave waited for an instruction that was not in the cache.",
    window="first_instruction last_instruction text source",
)
ACCESS_NOTE = (
    "Inferred: accesses that were refused in a row show how long each held its unit.  What the kernel wrote "
    "of the addresses of its lanes is certain: --by address lists it."
)
_ACCESS_PART = (
    "Some SIMDs of the compute unit were not traced: time that their accesses held the "
    "unit counts for the traced ones."
)
FETCH_NOTE = Message(
    "A gap of {0} cycles or more before a code line or after a branch is a slow fetch.", SLOW
)
FACTS = (
    CAPTURE,
    Field("rule", kinds.choice("ours", "reference"), "Our estimate or the reference viewer's"),
    kinds.TEXT("assumption", "What the numbers assume, as a sentence"),
    kinds.TEXT("reason", "Why there are no rows; empty if there are some"),
    TOTAL_ROWS,
)
HIDDEN_TOTALS = record_field(
    "totals",
    "Sums over all rows, and how busy matrix units were; null if nothing was read",
    *unknown(
        *_CYCLES,
        kinds.CYCLES("mfma_busy", "Matrix instructions by the cycles each takes"),
        kinds.CYCLES("simd_cycles", "Time in which a SIMD held a traced wave, summed over SIMDs"),
    ),
)
MEMORY_TOTALS = record_field(
    "totals",
    "Sums over what counters show",
    kinds.COUNT("samples", "Returns that were matched"),
    kinds.COUNT("in_flight", "Operations whose return was not seen"),
)
ACCESS_TOTALS = record_field(
    "totals",
    "Sums over all rows; null if nothing was read",
    kinds.COUNT.maybe("refused", "Executions that stalled while another access held their unit"),
    kinds.CYCLES.maybe("stall", "Stall of these"),
    kinds.COUNT.maybe("longer", "Instructions that held their unit much longer than their width needs"),
    kinds.FLAG.maybe(
        "is_part",
        "Whether SIMDs of a compute unit were not traced: the traced ones then seem to hold the unit longer",
    ),
    kinds.SHARE.maybe(
        "conflict_share_of_lds_cycles",
        "Cycles of LDS that were lost to bank conflicts, by hardware counters; null without them, or if they "
        "contradict each other",
    ),
)
FETCH_TOTALS = record_field(
    "totals",
    "Sums over all rows, and the size of loops; null if nothing was read",
    kinds.COUNT.maybe("slow", "Fetches that were not served by the instruction cache"),
    kinds.COUNT.maybe("again", "Of these: of lines that a wave of the compute unit had run before"),
    kinds.CYCLES.maybe("cycles", "Time that waves waited for them"),
    kinds.CYCLES.maybe("elsewhere", "Equally long gaps where no code line begins, which have other causes"),
    kinds.BYTES.maybe("cache_size", "Instruction cache that compute units share"),
    kinds.BYTES.maybe("largest_loop", "Code of the largest loop that ran, from its head to its branch"),
    kinds.COUNT.maybe("loops_beyond_cache", "Loops that ran whose code is larger than the cache"),
)
VARIANTS = {  # kind of the document → its table, its totals, and its option
    "hidden": (HIDDEN, HIDDEN_TOTALS, "What other waves hide."),
    "memory": (MEMORY, MEMORY_TOTALS, "How long memory takes: --by memory."),
    "memory_waits": (
        MEMORY_AND_WAITS,
        MEMORY_TOTALS,
        "How long memory takes by counters and by waits: --by memory --waits.",
    ),
    "fetch": (FETCHES, FETCH_TOTALS, "Code lines that waves waited for: --by fetch."),
    "access": (ACCESSES, ACCESS_TOTALS, "How long accesses hold their unit: --by access."),
    "address": (ADDRESSES, ADDRESS_TOTALS, "What the recorded addresses of lanes touch: --by address."),
}
SCHEMA = Schema(
    "latency",
    "How much latency other waves hide, or how long memory takes by counters.",
    forms=tuple(
        form(words, (*FACTS, sums), "kind", kind, spec) for kind, (spec, sums, words) in VARIANTS.items()
    ),
)


def hidden_rows(trace: Trace, found: HiddenTable) -> ResultTable:
    """Return one row per instruction with a cost, the largest remainder first."""
    return ResultTable.of(HIDDEN, found, placed(trace, found.line))


def hidden_totals(table: ResultTable, matrix: MatrixUse) -> dict[str, int]:
    """Return sums over all rows and how busy matrix units were."""
    sums = {field.name: sum(table.plain(field.name)) for field in _CYCLES}
    return sums | {"mfma_busy": matrix.busy, "simd_cycles": matrix.resident}


def memory_rows(trace: Trace, found: MemoryLatency) -> ResultTable:
    """Return one row per counter and instruction, the longest mean first."""
    return ResultTable.of(MEMORY, found, placed(trace, found.line))


def memory_and_wait_rows(trace: Trace, found: MemoryLatency, waits: WaitLatency | None) -> ResultTable:
    """Return one row per instruction that counters or waits measure; `waits` is None until they are known."""
    line, by_counter, by_wait = matched_lines(found, waits)
    measured: dict[str, Any] = dict.fromkeys(BY_WAITS, np.full(len(line), np.nan))
    if waits is not None and len(waits.line):
        measured = {name: entries(own, by_wait) for name, own in of_analysis(_BY_WAITS, waits).items()}
    counted = {name: entries(own, by_counter) for name, own in of_analysis(_COUNTED, found).items()}
    columns = {"counter": np.append(found.unit, "")[by_counter], **counted, **measured}
    return ResultTable(MEMORY_AND_WAITS, placed(trace, line) | columns)


def access_rows(trace: Trace, found: AccessHolds, known: AddressAccesses | None = None) -> ResultTable:
    """Return one row per LDS or vector memory instruction, most stall first.

    `known` is what addresses of lanes show, None without them.
    """
    units = np.array([UNITS[unit] for unit in found.unit.tolist()], dtype=object)
    judged = {} if known is None else address_judgements(trace, known)
    rows = zip(found.line.tolist(), found.unit.tolist(), found.factor.tolist(), strict=True)
    texts = [judged.get(line) or _inferred(unit, factor) for line, unit, factor in rows]
    columns: Columns = {**placed(trace, found.line), "unit": units, "judgement": texts}
    return ResultTable.of(ACCESSES, found, columns)


def _inferred(unit: int, factor: float) -> str:
    """What it means that an instruction held its unit so many times as long as its width needs."""
    if np.isnan(factor):
        return ""
    if factor < LONGER:
        return "as its width needs"
    return "bank conflicts likely" if unit == LDS else "lanes apart, or far memory"


def access_assumption(found: AccessHolds) -> str:
    """Return what the rows assume."""
    return join_texts(" ", [ACCESS_NOTE, *([_ACCESS_PART] if found.is_part else [])])


def access_text(totals: Mapping[str, Any]) -> str:
    """Return the totals of accesses in words."""
    longer = plural(totals["longer"], "instruction")
    text = Message("{0} held their unit twice as long as needed, or longer.", longer)
    if totals["conflict_share_of_lds_cycles"] is not None:
        share = percent(totals["conflict_share_of_lds_cycles"], 1)
        text += Message(" Counters: {0} of the cycles of LDS were lost to bank conflicts.", share)
    return text


def access_totals(trace: Trace, found: AccessHolds) -> dict[str, Any]:
    """Return sums over all rows, and the bank conflicts by counters of the thread trace."""
    shares, lost, all_ = counter_shares(trace), 0.0, 0.0
    if shares is not None and {CONFLICTS, LDS_CYCLES} <= set(shares.names):
        names = (CONFLICTS, LDS_CYCLES)
        lost, all_ = (float(shares.total[:, shares.names.index(name)].sum()) for name in names)
    return {
        "refused": int(found.refused.sum()),
        "stall": int(found.stall.sum()),
        "longer": int(found.is_longer.sum()),
        "is_part": found.is_part,
        "conflict_share_of_lds_cycles": lost / all_ if lost <= all_ > 0 else None,
    }


def fetch_rows(trace: Trace, found: CodeFetches) -> ResultTable:
    """Return one row per code line that waves waited for, most cycles first."""
    places = {"text": instructions(trace, found.first), "source": sources(trace, found.first)}
    return ResultTable.of(FETCHES, found, places)


def fetch_totals(trace: Trace, found: CodeFetches, loops: LoopTable) -> dict[str, Any]:
    """Return sums over all rows, and the sizes of loops and of the cache."""
    address = trace.code.address.astype(np.int64)
    size = np.maximum(address[loops.branch] + BRANCH_BYTES - address[loops.head], 0)
    return {
        "slow": int(found.slow.sum()),
        "again": int(found.again.sum()),
        "cycles": int(found.cycles.sum()),
        "elsewhere": found.elsewhere,
        "cache_size": found.capacity or None,
        "largest_loop": int(size.max(initial=0)),
        "loops_beyond_cache": int((size > found.capacity).sum()) if found.capacity else 0,
    }


def fetch_text(totals: Mapping[str, Any]) -> str:
    """Return the totals of fetches in words."""
    slow = plural(totals["slow"], "slow fetch", "slow fetches")
    text = Message("{0}, {1} cycles of waves.", slow, count(totals["cycles"]))
    if totals["largest_loop"]:
        text += Message(" The largest loop that ran has {0} bytes", count(totals["largest_loop"]))
        cache = totals["cache_size"]
        text += Message(", the instruction cache {0}.", count(cache)) if cache else "."
    return text
