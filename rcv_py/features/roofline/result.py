"""The roofline: operations per cycle and bytes per cycle of the kernel and its loops, and their peaks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.occupancy import residencies
from rcv_py.analysis.findings.inputs import launch_shape
from rcv_py.analysis.health.traced_units import of_kernel
from rcv_py.analysis.overview.roofline import NOTHING, Computed, Roofline
from rcv_py.analysis.program.code_match import why_not_known
from rcv_py.analysis.program.operations import MATRIX, VECTOR
from rcv_py.base.text import Message, count, join_texts
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.field import DATA, WINDOW, rows_field
from rcv_py.results.places import sources
from rcv_py.results.table import Columns, ResultTable, Schema, Spec


def compact(value: float) -> str:
    """Return a large number with three significant digits: `2.28 G`."""
    for scale, letter in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= scale:
            return f"{value / scale:.3g}{letter}"
    return f"{value:.3g}"


_FLOP = replace(kinds.NUMBER, unit="FLOP", ending=", in FLOP.", text=compact, digits=0)
_RATE = replace(kinds.NUMBER, unit="FLOP per cycle", ending=", in FLOP per cycle and compute unit.", digits=3)
_BYTE_RATE = replace(_RATE, unit="bytes per cycle", ending=", in bytes per cycle and compute unit.")
_INTENSITY = replace(kinds.NUMBER, unit="FLOP per byte", ending=", in FLOP per byte.", digits=3)
_BYTES = replace(_FLOP, unit="bytes", ending=", in bytes.")
_SHARE = replace(
    kinds.SHARE, json=kinds.RATIO.json, ending=kinds.RATIO.ending
)  # requested bytes exceed what memory delivers
_COMPUTED = (
    kinds.TEXT("unit", "What computes: MFMA/WMMA or VALU"),
    kinds.TEXT("type", "Type of its operands; f8: eight bits, f6f4: six or four"),
    _FLOP("flop", "Operations; for VALU an upper bound, as if all lanes were active"),
    _RATE.maybe("rate", "Operations per cycle"),
    _RATE.maybe("peak", "Peak of the unit for that type"),
    _SHARE.maybe("share_of_peak", "The rate as a part of the peak", key="share"),
)
ROOFLINE = Spec(
    "roofline",
    "The kernel, then its loops, those with most operations first.",
    "scope",
    kinds.TEXT("scope", "Scope: kernel or loop"),
    kinds.ROW("first_instruction", "First instruction, counted from 0", "first", key="first"),
    kinds.ROW("last_instruction", "Last instruction, counted from 0", "last", key="last"),
    replace(kinds.MEAN_CYCLES, digits=0, text=lambda cycles: count(round(cycles)))(
        "cycles", "Cycles in which a compute unit held a wave in it, summed over compute units"
    ),
    kinds.TEXT("type", "Type with most operations"),
    _FLOP.maybe("matrix_flop", "Operations of matrix instructions; null: unknown", "MFMA FLOP"),
    _FLOP.maybe(
        "vector_flop",
        "Operations of vector instructions, an upper bound; null: unknown",
        "VALU FLOP",
        at=DATA | WINDOW,
    ),
    _RATE.maybe("rate", "Operations per cycle of the type with most operations", "FLOP/cycle"),
    _RATE.maybe("peak", "Peak of a compute unit for that type"),
    _SHARE.maybe(
        "share_of_peak", "Part of the cycles that its unit would need at the peaks of all types", "of peak"
    ),
    _SHARE.maybe(
        "mfma_busy_share_of_simd_cycles",
        "Part of the cycles of a unit, on all its SIMDs, in which the matrix unit works",
        "MFMA busy",
        key="matrix_busy",
    ),
    _BYTES.maybe(
        "bytes",
        "Bytes that vector memory instructions request, an upper bound; null: unknown",
        "bytes requested",
    ),
    _BYTES.maybe(
        "local_bytes", "Bytes that LDS instructions request, an upper bound; null: unknown", at=DATA | WINDOW
    ),
    _BYTE_RATE.maybe("byte_rate", "Requested bytes per cycle", "B/cycle"),
    _BYTE_RATE.maybe("memory_peak", "Most that memory delivers to a compute unit", "memory", key="roof"),
    _INTENSITY.maybe("intensity", "Operations of all types per requested byte", "FLOP/B"),
    _INTENSITY.maybe("ridge", "Intensity from which compute is the roof"),
    kinds.SOURCE("source", "Source place of its first instruction as file:line; empty if none"),
    nothing=common.NO_INSTRUCTIONS,
    window="scope first_instruction last_instruction share_of_peak type rate intensity byte_rate "
    "mfma_busy_share_of_simd_cycles",
)
DOCUMENT = ROOFLINE.with_field(rows_field("computed", "Operations by unit and type, most first", *_COMPUTED))
FACTS = (
    common.CAPTURE,
    common.WAVES_READ,
    kinds.TEXT("target", "The instruction set, such as gfx942"),
    replace(kinds.NUMBER, unit="waves", ending=", in waves.").maybe(
        "waves_per_simd", "Mean number of the counted waves on a traced SIMD while there are any"
    ),
    kinds.WAVES.maybe("launch_waves", "Waves of the launch, by the tables of the run; null: of another one"),
    _FLOP.maybe(
        "launch_flop",
        "Operations of matrix instructions of the whole launch, if all waves are like the counted ones",
    ),
    kinds.TEXT("note", "How to read the numbers"),
)
SCHEMA = Schema(
    "roofline",
    "How near the kernel and its loops are to the peaks of a compute unit and of memory.",
    (*FACTS, DOCUMENT.field()),
)
MAX_UNEVEN = 2  # times the waves of an engine that was seen, on average on the others
LEAST_UNUSED = 0.01  # of the SIMDs
NOTE = (
    "Bytes and VALU operations count full waves, and caches may serve bytes: both are upper bounds.  "
    "Peaks are from data sheets, per compute unit and cycle; the memory roof is for the "
    "device at the recorded clock.  Rates and shares are of the cycles in which a compute unit held a "
    "wave of the row, on all its traced SIMDs."
)
NO_ROOF = "The memory roof is not known: nothing in the capture or beside it names the product."


def roofline_table(trace: Trace, found: Roofline) -> ResultTable:
    """Return one row per scope."""
    scopes = found.scopes
    main = [one.computed[0] if one.computed else NOTHING for one in scopes]
    columns: Columns = {
        "scope": ["loop" if one.is_loop else "kernel" for one in scopes],
        "type": [one.type for one in main],
        "matrix_flop": [one.flop(MATRIX) for one in scopes],
        "vector_flop": [one.flop(VECTOR) for one in scopes],
        "rate": [one.rate for one in main],
        "peak": [one.peak for one in main],
        "share_of_peak": [
            one.share_of_peak(one.computed[0].unit) if one.computed else np.nan for one in scopes
        ],
        "source": sources(trace, np.array([one.first for one in scopes], dtype=np.int64)),
    }
    return ResultTable.of(ROOFLINE, scopes, columns)


def roofline_rows(trace: Trace, found: Roofline) -> list[dict[str, Any]]:
    """Return the rows of the document."""
    spec = Spec("computed", "One row per unit and type.", "type", *_COMPUTED)
    computed = [ResultTable.of(spec, scope.computed).rows() for scope in found.scopes]
    rows = zip(roofline_table(trace, found).rows(), computed, strict=True)
    return [row | {"computed": own} for row, own in rows]


def roofline_facts(trace: Trace, found: Roofline, run: RunFacts, lanes: int) -> dict[str, Any]:
    """Return the facts about all scopes."""
    waves = _launch_waves(trace, run, lanes)
    flop = sum(one.flop(MATRIX) for one in found.scopes[:1])
    return {
        "waves": found.waves,
        "target": trace.target,
        "waves_per_simd": None if np.isnan(found.waves_per_simd) else round(found.waves_per_simd, 2),
        "launch_waves": waves,
        "launch_flop": flop / found.waves * waves if waves and found.waves and np.isfinite(flop) else None,
        "note": roofline_note(trace, found, run),
    }


def _launch_waves(trace: Trace, run: RunFacts, lanes: int) -> int | None:
    """Waves of the launch; None if the table is of another one: the device can only have held so many."""
    kernel, lives = run.kernel, residencies(trace.occupancy)
    waves = int(np.prod(kernel.grid)) // lanes if kernel is not None and min(kernel.grid) > 0 else 0
    engines = max(len(trace.clock.samples), len(np.unique(lives.se)))  # that were seen; some may be empty
    all_ = len(of_kernel(trace, lives)) * (0 if run.agent is None else run.agent.engines) / max(1, engines)
    return waves if waves and (not all_ or all_ / MAX_UNEVEN <= waves <= all_ * MAX_UNEVEN) else None


def roofline_note(trace: Trace, found: Roofline, run: RunFacts) -> str:
    """Return how to read the numbers, and why some are not known."""
    why = NO_ROOF if any(np.isnan(one.roof) for one in found.scopes[:1]) else ""
    has_peak = any(one.peak > 0 for scope in found.scopes for one in scope.computed)
    is_guess = has_peak and trace.architecture.is_guess
    guess = Message("The peaks of {0} are a guess.", trace.target) if is_guess else ""
    texts = NOTE, guess, shared_text(trace, run), why, why_not_known(trace)
    return join_texts("  ", filter(None, texts))


def shared_text(trace: Trace, run: RunFacts) -> str:
    """Return that idle compute units leave their part of memory to the others; "" without any."""
    if (unused := launch_shape(trace, run).unused_share) < LEAST_UNUSED:
        return ""
    text = "Memory is shared: {0:.0f} % of the SIMDs never held a wave, so the others can get more."
    return Message(text, 100 * unused)


def computed_texts(found: Sequence[Computed]) -> list[str]:
    """Return the computed operations as text: `MFMA/WMMA f8 2.28 G FLOP, 40.2 % of 8,192 a cycle`."""
    texts: list[str] = []
    for one in found:
        of = "" if np.isnan(one.peak) else Message(" of {0}", count(int(one.peak)))
        rate = "" if np.isnan(one.rate) else Message(", {0:,.1f}{1} FLOP per cycle", one.rate, of)
        texts.append(Message("{0} {1}: {2} FLOP{3}", one.unit, one.type, compact(one.flop), rate))
    return texts
