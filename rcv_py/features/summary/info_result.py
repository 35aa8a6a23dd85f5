"""What a capture holds, and which captures a folder holds."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import asdict, replace

from rcv_py.analysis.core.occupancy import all_resident, residencies
from rcv_py.analysis.cost.activity import activity
from rcv_py.analysis.health.capture_health import problems
from rcv_py.analysis.health.mapping import mapping as mapped_lines
from rcv_py.base.text import Message
from rcv_py.features.health.result import SEVERITY
from rcv_py.model.resources import AllocatedRegisters, CompiledKernel
from rcv_py.model.trace import CaptureEntry, Trace
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE, known
from rcv_py.results.field import DATA, PEOPLE, Field, of_analysis, only, record_field, rows_field, unknown
from rcv_py.results.table import ResultTable, Schema, Spec

_INSTRUCTIONS = unknown(
    kinds.COUNT("instructions", "Instructions"), kinds.COUNT("executed", "Instructions that ran")
)
_MAPPED = kinds.COUNT("mapped", "Instructions with a source place")
_COSTS = unknown(kinds.COUNT("hits", "Executions"), kinds.CYCLES("latency", "Latency of all waves"))
_CODE = (
    *_INSTRUCTIONS,
    *_COSTS,
    kinds.CYCLES.maybe("stall", "Stall of all waves"),
    kinds.SIGNED_CYCLES.maybe("issue", "Latency without stall of all waves"),
    kinds.CYCLES.maybe("idle", "Gaps between instructions of all waves"),
    kinds.COUNT.maybe("samples_issued", "PC samples that issued"),
    kinds.COUNT.maybe("samples_stalled", "PC samples that stalled"),
    kinds.COUNT.maybe("samples_unsure", "PC samples that do not record whether they stalled"),
)
_OCCUPANCY = unknown(
    kinds.WAVES("waves", "Waves, traced or not"),
    kinds.COUNT("compute_units", "Compute units that held a wave"),
    kinds.WAVES("peak", "Maximum at a time"),
    kinds.MEAN_WAVES("mean", "Mean over time"),
    kinds.WAVES("unfinished", "Waves whose end was not recorded"),
)
_PROBLEM = (
    kinds.TEXT("where", "The file or part affected"),
    kinds.TEXT("text", "A sentence"),
    kinds.TEXT("hint", "What to do; empty if there is nothing to do"),
)
_ALLOCATED = (
    kinds.COUNT.maybe(
        "vgprs", "Vector registers of a lane, with accumulation registers that share their file"
    ),
    kinds.COUNT.maybe("sgprs", "Scalar registers of a wave; null where all waves have as many"),
    kinds.BYTES.maybe("lds", "LDS of a workgroup that the program declares"),
    kinds.BYTES.maybe("scratch", "Scratch memory of a lane"),
    kinds.FLAG.maybe("has_dynamic_stack", "Whether calls may take more scratch memory"),
    kinds.COUNT.maybe("lanes", "Lanes of a wave"),
    kinds.COUNT.maybe("preloaded", "Scalar registers that hold arguments when a wave begins"),
    kinds.COUNT.maybe("threads", "Threads of a workgroup, at most"),
    kinds.FLAG.maybe("is_exact", "Whether every workgroup has as many threads"),
    kinds.COUNT.maybe("spilled_vgprs", "Vector registers that the compiler spilled"),
    kinds.COUNT.maybe("spilled_sgprs", "Scalar registers that the compiler spilled"),
    kinds.NAME("file", "Name of the code object; empty without one"),
)
_FORMAT = only(
    DATA,
    kinds.TEXT("version", "Version of the format"),
    kinds.TEXT("target", "Name of the GPU, such as gfx950"),
    kinds.TEXT("target_from", "Source of that name; empty if only the generation is known, such as gfx9"),
    kinds.TEXT("disassembler", "Reader of a raw capture's instructions; empty if files have their texts"),
    kinds.WHOLE("gfxip", "Generation of the instruction set, a number"),
    kinds.FLAG("has_thread_trace", "Whether waves were traced"),
    kinds.FLAG("has_pc_samples", "Whether there are PC samples"),
    kinds.FLAG("is_static", "Whether a compiler made it and it has not run: no time or cost is known"),
)
FACTS = (
    CAPTURE,
    kinds.NAME("path", "Path of the folder"),
    record_field("format", "What was recorded", *_FORMAT),
    kinds.NAME("kernel", "Name of the kernel with most cycles"),
    Field("kernels", kinds.texts("A name."), "Names of all kernels of the program"),
    record_field(
        "waves",
        "Traced waves",
        kinds.WAVES("count", "Number of traced waves"),
        kinds.WHOLE("bytes", "Size of their files, in bytes"),
        Field("by_shader_engine", kinds.mapping(kinds.WAVES, (), "Traced"), "Waves by shader engine"),
        kinds.COUNT("slots", "Places that held a wave"),
        kinds.CYCLES.maybe("min_cycles", "Shortest lifetime; null without traced waves"),
        kinds.CYCLES.maybe("max_cycles", "Longest lifetime; null without traced waves"),
        kinds.CYCLES("cycles", "Sum of all lifetimes"),
    ),
    record_field("code", "The program; null if the capture has none", *_CODE),
    record_field(
        "allocated", "What the code object says that the kernel allocates; null if unknown", *_ALLOCATED
    ),
    record_field(
        "activity",
        "Where the time of all waves went",
        *(
            kinds.NUMBER(name, Message("{0}, in percent of latency and idle", name.capitalize()))
            for name in ("idle", "stall", "issue")
        ),
    ),
    record_field(
        "source",
        "How instructions are mapped to sources; null without instructions",
        *unknown(
            _MAPPED,
            kinds.COUNT("files", "Source files"),
            kinds.COUNT("files_with_text", "Source files with text"),
            kinds.COUNT("source_lines", "Source lines that are named"),
            kinds.NUMBER(
                "effective_source_lines",
                "Effective number of lines: how many would carry the instructions if spread evenly",
            ),
            kinds.TEXT("top_source", "The line with most instructions, as file:line"),
            kinds.SHARE("top_share_of_instructions", "Part of the instructions on it"),
            kinds.SHARE("top_share_of_cycles", "Part of the cycles on it"),
        ),
    ),
    record_field(
        "occupancy",
        "All waves, traced or not; null if the capture does not say when waves began and ended",
        *_OCCUPANCY,
    ),
    record_field(
        "clock",
        "Times",
        kinds.CYCLE.maybe("start", "First moment; null without times"),
        kinds.CYCLE.maybe("end", "Last moment; null without times"),
        kinds.CYCLES.maybe(
            "cycles", "From first to last; of traced waves if `occupancy` is null; null without times"
        ),
        kinds.NUMBER.maybe("duration_ns", "The same in nanoseconds; null if the rate is not known"),
        kinds.NUMBER.maybe("shader_mhz", "Rate of the shader clock, in MHz; null if it is not known"),
        kinds.FLAG("is_aligned", "Whether the clocks of shader engines could be aligned"),
        kinds.mapping(kinds.SIGNED_CYCLES, (), "Offset")(
            "offsets", "Offset added to times, by shader engine"
        ),
    ),
    record_field(
        "extras",
        "What else was recorded",
        Field("counters", kinds.texts("A name."), "Names of hardware counters"),
        kinds.COUNT("dispatches", "Dispatches"),
        kinds.COUNT.maybe("events", "Events of the hardware"),
        kinds.COUNT("markers", "Kinds of markers"),
    ),
    rows_field(
        "problems", "Problems of the files, including those that the tables report", SEVERITY, *_PROBLEM
    ),
)
CAPTURES = Spec(
    "captures",
    "One row per capture.",
    "capture",
    kinds.SOURCE("place", "Folder of the capture below the given folder", "capture", at=PEOPLE),
    *only(
        DATA,
        replace(CAPTURE, meaning="Name of the capture", key="name"),
        kinds.NAME("path", "Path of its folder"),
    ),
    kinds.CODE("kernel", "Name of the kernel"),
    kinds.INDEX.maybe("agent", "Number of the GPU; null if no name gives it", at=DATA),
    kinds.INDEX.maybe("dispatch", "Number of the launch; null if no name gives it"),
    kinds.WAVES("waves", "Traced"),
    *(*_INSTRUCTIONS, _MAPPED, *_COSTS),
    kinds.CYCLES.maybe("cycles", "From the first begin to the last end of traced waves", "traced span"),
    kinds.BYTES.maybe("size", "Wave files, or the only file"),
    kinds.TEXT("recorded", "When its files were written, local time; empty if unknown"),
    kinds.FLAG("is_part", "Whether it is raw and not decoded yet, so that its numbers are unknown", at=DATA),
    kinds.NOTE("note", "What is wrong with it; empty if nothing is"),
    order="place dispatch waves instructions executed mapped hits latency cycles size recorded",
)
SCHEMA = Schema("info", "What a capture holds.", FACTS)
PROGRAM_SCHEMA = Schema(
    "info.program",
    "What a program holds that has not run, or of which no execution was recorded.",
    tuple(field for field in FACTS if field.name != "activity"),
    version=1,
)
CAPTURES_SCHEMA = Schema(
    "captures", "The captures below a folder.", (CAPTURES.field("captures"),), command="info"
)
_SIZE = replace(kinds.BYTES, has_minus_one=True)
COMPILED = Spec(
    "compiled kernels",
    "One row per kernel of files that a compiler made, in the order of the files.",
    "kernel",
    kinds.CODE("kernel", "Name of the kernel"),
    kinds.TEXT("target", "GPU that it is for, with features; empty if unknown"),
    kinds.COUNT.maybe("vgprs", "Vector registers of a lane that its descriptor allocates", "VGPRs"),
    kinds.COUNT.maybe("sgprs", "Scalar registers of a wave; null where all waves have as many", "SGPRs"),
    _SIZE.maybe("lds", "LDS of a workgroup that the program declares", "LDS"),
    _SIZE.maybe("scratch", "Scratch memory of a lane"),
    kinds.TEXT("path", "How commands name it", "name"),
)
COMPILED_SCHEMA = Schema(
    "compiled", "The kernels of files that a compiler made.", (COMPILED.field("kernels"),), command="info"
)


def compiled_table(kernels: Sequence[CompiledKernel]) -> ResultTable:
    """Return one row per kernel."""
    known = [one.allocated or AllocatedRegisters(vgprs=-1, sgprs=-1, lds=-1, file="") for one in kernels]
    rows = zip(kernels, [(one.vgprs, one.sgprs, one.lds, one.scratch) for one in known], strict=True)
    return ResultTable.of_rows(COMPILED, [(one.name, one.target, *own, str(one.path)) for one, own in rows])


def capture_table(entries: Sequence[CaptureEntry], places: Sequence[str]) -> ResultTable:
    """Return one row per capture; `places` are their displayed names."""
    paths = [str(entry.path) for entry in entries]
    return ResultTable.of(CAPTURES, entries, {"path": paths, "place": places})


def info(trace: Trace, allocated: AllocatedRegisters | None = None) -> dict[str, Any]:
    """Return the facts of an open trace, and what its kernel allocates; no wave file is needed."""
    spent = activity(trace.code)
    return {
        "capture": trace.name,
        "path": str(trace.path),
        "format": of_analysis(_FORMAT, trace),
        "kernel": trace.kernel_name,
        "kernels": [kernel.demangled for kernel in trace.code.kernels],
        "waves": _waves(trace),
        "code": _code(trace),
        "allocated": _allocated(allocated),
        **({"activity": dict(zip(spent._fields, spent.percent, strict=True))} if spent.total else {}),
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
            {"severity": str(problem.severity)} | of_analysis(_PROBLEM, problem)
            for problem in problems(trace)
        ],
    }


def _allocated(found: AllocatedRegisters | None) -> dict[str, Any]:
    if found is None:
        return {field.name: None for field in _ALLOCATED} | {"file": ""}
    return {name: None if value == -1 else value for name, value in asdict(found).items()}


def _waves(trace: Trace) -> dict[str, Any]:
    index = trace.waves
    engines, count = np.unique(index.se, return_counts=True)
    life = (index.end - index.begin).astype(np.int64)
    return {
        "count": len(index),
        "bytes": int(index.size.sum()),
        "by_shader_engine": dict(zip(map(str, engines.tolist()), count.tolist(), strict=True)),
        "slots": len({*zip(index.se.tolist(), index.simd.tolist(), index.slot.tolist(), strict=True)}),
        "min_cycles": int(life.min()) if len(index) else None,
        "max_cycles": int(life.max()) if len(index) else None,
        "cycles": int(life.sum()),
    }


def _code(trace: Trace) -> dict[str, Any]:
    code, nothing = trace.code, {field.name: None for field in _CODE}
    if not len(code):  # no file has the program or its costs
        return nothing
    instructions = int(np.count_nonzero(~code.is_label))
    columns = {name: getattr(code, name) for name in ("samples_issued", "samples_stalled", "samples_unsure")}
    samples = {name: None if column is None else int(column.sum()) for name, column in columns.items()}
    found = nothing | samples | {"instructions": instructions}
    if trace.is_static or ((trace.has_pc_samples or len(trace.waves)) and not code.hits.any()):
        return found
    sums = {name: int(getattr(code, name).sum()) for name in ("hits", "latency", "stall", "idle")}
    executed = int(np.count_nonzero(code.hits > 0))
    return found | sums | {"executed": executed, "issue": sums["latency"] - sums["stall"]}


def _source(trace: Trace) -> dict[str, Any]:
    spread = mapped_lines(trace.code)
    top = trace.sources[spread.top_file].path if spread.top_file >= 0 else ""
    found = {
        "mapped": trace.code.mapped_rows,
        "files": len(trace.sources),
        "files_with_text": sum(source.lines is not None for source in trace.sources),
        "source_lines": spread.source_lines,
        "effective_source_lines": round(spread.effective, 2),
        "top_source": f"{top}:{spread.top_line}" if top else "",
        "top_share_of_instructions": round(spread.top_share, 4),
        "top_share_of_cycles": round(spread.top_cost, 4),
    }
    return known(found, len(trace.code) > 0)


def _occupancy(trace: Trace) -> dict[str, Any]:
    lives = residencies(trace.occupancy)
    curve = all_resident(trace.occupancy)
    if not len(trace.occupancy) or curve is None:  # the occupancy of waves was not recorded
        return {field.name: None for field in _OCCUPANCY}
    width = int(curve.time[-1] - curve.time[0])
    numbers = {"peak": int(curve.value.max()), "mean": round(curve.area / width, 2) if width else 0.0}
    return {
        "waves": len(lives),
        "compute_units": len({*zip(lives.se.tolist(), lives.sa.tolist(), lives.cu.tolist(), strict=True)}),
        **known(numbers, not trace.clock.apart),
        "unfinished": int(np.count_nonzero(lives.is_open_end)),
    }


def _clock(trace: Trace) -> dict[str, Any]:
    span, clock = trace.span, trace.clock
    ns = clock.ns(span.width) if trace.has_times else None
    return {
        "start": span.begin if trace.has_times else None,
        "end": span.end if trace.has_times else None,
        "cycles": span.width if trace.has_times else None,
        "duration_ns": None if ns is None else round(ns, 1),
        "shader_mhz": round(clock.shader_hz / 1e6, 1) if clock.shader_hz else None,
        "is_aligned": clock.is_aligned,
        "offsets": {str(se): int(offset) for se, offset in sorted(clock.offsets.items())},
    }
