"""What a capture holds, and which captures a folder holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rcv_py.analysis.core.occupancy import residencies, steps
from rcv_py.analysis.cost.activity import activity
from rcv_py.analysis.health.capture_health import problems
from rcv_py.analysis.health.mapping import mapping as mapped_lines
from rcv_py.model.code import CodeTable
from rcv_py.model.trace import CaptureEntry, Trace
from rcv_py.results.check import SEVERITY
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import At, Field, only, record, rows, unknown
from rcv_py.results.table import Spec, Table
from rcv_py.results.unit import (
    COUNT,
    CYCLE,
    CYCLES,
    FLAG,
    MEAN_WAVES,
    NOTE,
    NUMBER,
    SHARE,
    SIGNED_CYCLES,
    SOURCE,
    TEXT,
    WAVES,
    WHOLE,
    mapping,
    texts,
)

_PATH = Field("path", TEXT, "Path of the folder")
_INSTRUCTIONS = (
    *unknown(Field("instructions", COUNT, "Instructions"), Field("executed", COUNT, "Instructions that ran")),
)
_MAPPED = Field("mapped", COUNT, "Instructions with a source place")
_COSTS = (*unknown(Field("hits", COUNT, "Executions"), Field("latency", CYCLES, "Latency of all waves")),)
_CODE = (
    *_INSTRUCTIONS,
    *_COSTS,
    Field("stall", CYCLES, "Stall of all waves", is_unknown=True),
    Field("issue", SIGNED_CYCLES, "Latency without stall of all waves", is_unknown=True),
    Field("idle", CYCLES, "Gaps between instructions of all waves", is_unknown=True),
    Field("samples_issued", COUNT, "PC samples that issued", is_unknown=True),
    Field("samples_stalled", COUNT, "PC samples that stalled", is_unknown=True),
)
_OCCUPANCY = (
    Field("waves", WAVES, "How many there were", is_unknown=True),
    Field("compute_units", COUNT, "Compute units that held one", is_unknown=True),
    Field("peak", WAVES, "Most at a time", is_unknown=True),
    Field("mean", MEAN_WAVES, "Mean over time", is_unknown=True),
    Field("unfinished", WAVES, "Whose end was not seen", is_unknown=True),
)
FACTS = (
    CAPTURE,
    _PATH,
    Field(
        "format",
        record(
            Field("version", TEXT, "Version of the format"),
            Field("target", TEXT, "Name of the GPU, such as gfx950"),
            Field("target_from", TEXT, "Its origin; empty if only the generation is known, such as gfx9"),
            Field("gfxip", WHOLE, "Generation of the instruction set, a number"),
            Field("has_thread_trace", FLAG, "Whether waves were traced"),
            Field("has_pc_samples", FLAG, "Whether there are PC samples"),
        ),
        "What was recorded",
    ),
    Field("kernel", TEXT, "Name of the kernel with most cycles"),
    Field("kernels", texts("A name."), "Names of all kernels of the program"),
    Field(
        "waves",
        record(
            Field("count", WAVES, "How many there are"),
            Field("bytes", WHOLE, "Size of their files, in bytes"),
            Field("by_shader_engine", mapping(WAVES, (), "Traced"), "Waves by shader engine"),
            Field("slots", COUNT, "Places that held a wave"),
            Field("min_cycles", CYCLES, "Shortest life"),
            Field("max_cycles", CYCLES, "Longest life"),
            Field("cycles", CYCLES, "Sum of all lives"),
        ),
        "Traced waves",
    ),
    Field("code", record(*_CODE), "The program; null if the capture has none"),
    Field(
        "activity",
        record(
            *(
                Field(name, NUMBER, f"{name.capitalize()}, in percent of latency and idle")
                for name in ("idle", "stall", "issue")
            )
        ),
        "Where the time of all waves went",
    ),
    Field(
        "source",
        record(
            _MAPPED,
            Field("files", COUNT, "Source files"),
            Field("files_with_text", COUNT, "Source files whose text is there"),
            Field("source_lines", COUNT, "Source lines that are named"),
            Field(
                "effective_source_lines",
                NUMBER,
                "Lines that would carry the instructions if spread evenly, a count",
            ),
            Field("top_source", TEXT, "The line with most instructions, as file:line"),
            Field("top_share_of_instructions", SHARE, "Part of the instructions on it"),
            Field("top_share_of_cycles", SHARE, "Part of the cycles on it"),
        ),
        "How instructions are mapped to sources",
    ),
    Field(
        "occupancy",
        record(*_OCCUPANCY),
        "All waves, traced or not; null if the capture does not say when waves began and ended",
    ),
    Field(
        "clock",
        record(
            Field("start", CYCLE, "First moment"),
            Field("end", CYCLE, "Last moment"),
            Field("cycles", CYCLES, "From first to last"),
            *unknown(
                Field("duration_ns", NUMBER, "The same in nanoseconds; null if the rate is not known"),
                Field("shader_mhz", NUMBER, "Rate of the shader clock, in MHz; null if it is not known"),
            ),
            Field("is_aligned", FLAG, "Whether the clocks of shader engines could be aligned"),
            Field(
                "offsets", mapping(SIGNED_CYCLES, (), "Offset"), "What was added to times, by shader engine"
            ),
        ),
        "Times",
    ),
    Field(
        "extras",
        record(
            Field("counters", texts("A name."), "Names of hardware counters"),
            Field("dispatches", COUNT, "Dispatches"),
            Field("events", COUNT, "Events of the hardware", is_unknown=True),
            Field("markers", COUNT, "Kinds of markers"),
        ),
        "What else was recorded",
    ),
    Field(
        "problems",
        rows(
            SEVERITY,
            Field("where", TEXT, "The file or the part that is concerned"),
            Field("text", TEXT, "A sentence"),
            Field("hint", TEXT, "What to do; empty if there is nothing to do"),
        ),
        "What is wrong, also what the tables say about themselves",
    ),
)
CAPTURES = Spec(
    "captures",
    "One row a capture.",
    "capture",
    (
        Field("place", SOURCE, "Folder of the capture below the one that was given", "capture", at=At.PEOPLE),
        *only(
            At.DATA,
            replace(CAPTURE, meaning="Name of the capture"),
            Field("path", TEXT, "Path of its folder"),
        ),
        Field("kernel", NOTE, "Name of the kernel"),
        Field("waves", WAVES, "Traced"),
        *_INSTRUCTIONS,
        _MAPPED,
        *_COSTS,
        Field("note", NOTE, "What is wrong with it; empty if nothing is"),
    ),
    order=("place", "waves", "instructions", "executed", "mapped", "hits", "latency"),
)
BELOW = (CAPTURES.field("captures"),)


def capture_table(entries: Sequence[CaptureEntry], places: Sequence[str]) -> Table:
    """Return one row a capture; `places` is how people call each."""
    names = [field.name for field in CAPTURES.at(At.DATA) if field.name not in ("capture", "path")]
    columns: dict[str, Sequence[Any]] = {name: [getattr(one, name) for one in entries] for name in names}
    return Table(
        CAPTURES,
        columns
        | {
            "capture": [one.name for one in entries],
            "path": [str(one.path) for one in entries],
            "place": places,
        },
    )


def info(trace: Trace) -> dict[str, Any]:
    """Return the facts of an open trace; no wave file is needed."""
    return {
        "capture": trace.name,
        "path": str(trace.path),
        "format": {
            "version": trace.version,
            "target": trace.target,
            "target_from": trace.target_from,
            "gfxip": trace.gfxip,
            "has_thread_trace": trace.has_thread_trace,
            "has_pc_samples": trace.has_pc_samples,
        },
        "kernel": trace.kernel_name,
        "kernels": [kernel.demangled for kernel in trace.code.kernels],
        "waves": _waves(trace),
        "code": _code(trace.code),
        "activity": dict(zip(("idle", "stall", "issue"), activity(trace.code).percent, strict=True)),
        "source": _source(trace),
        "occupancy": _occupancy(trace),
        "clock": _clock(trace),
        "extras": {
            "counters": list(trace.counter_names),
            "dispatches": len(trace.dispatches),
            "events": None if trace.events is None else len(trace.events.time),
            "markers": len(trace.markers),
        },
        "problems": [
            {
                "severity": str(problem.severity),
                "where": problem.where,
                "text": problem.text,
                "hint": problem.hint,
            }
            for problem in problems(trace)
        ],
    }


def _waves(trace: Trace) -> dict[str, Any]:
    index = trace.waves
    engines, count = np.unique(index.se, return_counts=True)
    life = (index.end - index.begin).astype(np.int64)
    return {
        "count": len(index),
        "bytes": int(index.size.sum()),
        "by_shader_engine": dict(zip(map(str, engines.tolist()), count.tolist(), strict=True)),
        "slots": len({*zip(index.se.tolist(), index.simd.tolist(), index.slot.tolist(), strict=True)}),
        "min_cycles": int(life.min(initial=np.iinfo(np.int64).max)) if len(index) else 0,
        "max_cycles": int(life.max(initial=0)),
        "cycles": int(life.sum()),
    }


def _code(code: CodeTable) -> dict[str, Any]:
    if not len(code):  # no file tells the program, nor what it cost
        return {field.name: None for field in _CODE}
    return {
        "instructions": int(np.count_nonzero(~code.is_label)),
        "executed": int(np.count_nonzero(code.hits > 0)),
        "hits": int(code.hits.sum()),
        "latency": int(code.latency.sum()),
        "stall": int(code.stall.sum()),
        "issue": int(code.latency.sum() - code.stall.sum()),
        "idle": int(code.idle.sum()),
        "samples_issued": _sum(code.samples_issued),
        "samples_stalled": _sum(code.samples_stalled),
    }


def _sum(column: np.ndarray | None) -> int | None:
    return None if column is None else int(column.sum())


def _source(trace: Trace) -> dict[str, Any]:
    spread = mapped_lines(trace.code)
    top = trace.sources[spread.top_file].path if spread.top_file >= 0 else ""
    return {
        "mapped": trace.code.mapped_rows,
        "files": len(trace.sources),
        "files_with_text": sum(source.lines is not None for source in trace.sources),
        "source_lines": spread.source_lines,
        "effective_source_lines": round(spread.effective, 2),
        "top_source": f"{top}:{spread.top_line}" if top else "",
        "top_share_of_instructions": round(spread.top_share, 4),
        "top_share_of_cycles": round(spread.top_cost, 4),
    }


def _occupancy(trace: Trace) -> dict[str, Any]:
    lives = residencies(trace.occupancy)
    curve = steps(trace.occupancy).get(-1)
    if not len(trace.occupancy) or curve is None:  # nobody recorded which waves there were
        return {field.name: None for field in _OCCUPANCY}
    width = int(curve.time[-1] - curve.time[0])
    return {
        "waves": len(lives),
        "compute_units": len({*zip(lives.se.tolist(), lives.sa.tolist(), lives.cu.tolist(), strict=True)}),
        "peak": int(curve.value.max()),
        "mean": round(curve.area / width, 2) if width else 0.0,
        "unfinished": int(np.count_nonzero(lives.is_open_end)),
    }


def _clock(trace: Trace) -> dict[str, Any]:
    span, clock = trace.span, trace.clock
    ns = clock.ns(span.width)
    return {
        "start": span.begin,
        "end": span.end,
        "cycles": span.width,
        "duration_ns": None if ns is None else round(ns, 1),
        "shader_mhz": round(clock.shader_hz / 1e6, 1) if clock.shader_hz else None,
        "is_aligned": clock.is_aligned,
        "offsets": {str(se): int(offset) for se, offset in sorted(clock.offsets.items())},
    }
