"""Contents of a profiler's database or document: tables of kernels, devices, counters, PC samples."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.cost.pc_samples import RowSamples, reason_meaning, reason_name, summed
from rcv_py.base.text import short_kernel
from rcv_py.model.kinds import StallReason
from rcv_py.model.profile import PcSamples, Profile
from rcv_py.results import kinds
from rcv_py.results.field import DATA, PEOPLE, Field, only, unknown
from rcv_py.results.table import Columns, ResultTable, Schema, Spec

RECORDING = kinds.INDEX("recording", "Number of the process in the file, from 0", at=DATA)
_SOURCE = kinds.SOURCE("source", "Innermost source place as file:line; empty if the file does not say")
OUTCOMES = (
    kinds.COUNT("samples", "Samples that hit it"),
    kinds.COUNT("issued", "Of these, samples that issued"),
    kinds.COUNT("stalled", "Of these, samples that did not issue; host traps record neither"),
    kinds.TEXT("reason", "Why most of these did not issue; empty if none is known", "main stall reason"),
    kinds.mapping(kinds.COUNT, [reason.name.lower() for reason in StallReason], "Samples", is_spread=True)(
        "reasons", "Samples that did not issue, by reason", at=DATA
    ),
    kinds.NUMBER.maybe("lanes", "Mean number of active lanes (EXEC)", digits=2),
    kinds.NUMBER.maybe("waves", "Mean number of waves on the sampled unit", digits=2),
)
SAMPLES = Spec(
    "profile samples",
    "Instructions by PC samples, most samples first.",
    "instruction",
    kinds.INSTRUCTION("text", "The instruction; empty if the file has no text of it", "instruction"),
    kinds.INDEX("code_object", "Its code object", "code object"),
    kinds.ADDRESS("offset", "Its address inside the code object", "address"),
    *OUTCOMES,
    kinds.NAME("kernel", "Kernel of most of its samples; empty if unknown", at=DATA),
    _SOURCE,
    RECORDING,
    nothing="It has no PC samples.",
)
LINES = Spec(
    "profile lines",
    "Source lines by PC samples, most samples first.",
    "line",
    _SOURCE,
    *OUTCOMES,
    nothing="No PC sample has a source line.",
)
STALLS = Spec(
    "profile stalls",
    "Why PC samples did not issue, the most frequent reason first.",
    "reason",
    kinds.TEXT("reason", "The reason"),
    kinds.COUNT("samples", "Samples"),
    kinds.SHARE("share_of_stalled", "Part of the samples that did not issue", "share"),
    kinds.NOTE("meaning", "What it means"),
    nothing="No PC sample says why it did not issue.",
)


def _samples(profile: Profile) -> ResultTable:
    """One row an instruction."""
    if (found := profile.samples) is None:
        return ResultTable.of_rows(SAMPLES, [])
    sources = [source.partition(" -> ")[0] for source in found.source]
    columns = {"offset": found.offset.astype(np.int64), "source": sources, **outcomes(found)}
    return ResultTable.of(SAMPLES, found, columns)


def _lines(profile: Profile) -> ResultTable:
    """One row a source line, without samples whose line is unknown."""
    if (found := profile.samples) is None:
        return ResultTable.of_rows(LINES, [])
    number: dict[str, int] = {"": 0}
    of = [number.setdefault(source.partition(" -> ")[0], len(number)) for source in found.source]
    columns = outcomes(summed(found, np.array(of, dtype=np.int64), len(number)))
    return ResultTable(LINES, {"source": list(number), **columns})[1:].sorted("samples")


def _stalls(profile: Profile) -> ResultTable:
    """One row a stall reason that occurs."""
    found = profile.samples
    count = np.zeros(0, dtype=np.int64) if found is None else found.reasons.sum(axis=0)
    order = np.argsort(-count, kind="stable")
    reasons = order[count[order] > 0]
    return ResultTable(
        STALLS,
        {
            "reason": [reason_name(reason) for reason in reasons.tolist()],
            "samples": count[reasons],
            "share_of_stalled": count[reasons] / max(1, int(count.sum())),
            "meaning": [reason_meaning(reason) for reason in reasons.tolist()],
        },
    )


def outcomes(found: PcSamples | RowSamples) -> dict[str, Any]:
    """Return the columns of OUTCOMES."""
    reasons = found.reasons
    known = np.zeros((len(reasons), len(StallReason)), dtype=np.int64)
    known[:, : reasons.shape[1]] = reasons[:, : len(StallReason)]
    known[:, StallReason.OTHER] += reasons[:, len(StallReason) :].sum(axis=1)
    main = np.where(reasons.any(axis=1), reasons.argmax(axis=1), -1)
    return {
        "samples": found.samples,
        "issued": found.issued,
        "stalled": reasons.sum(axis=1),
        "reason": [reason_name(reason) if reason >= 0 else "" for reason in main.tolist()],
        "reasons": known,
        "lanes": found.lanes,
        "waves": found.waves,
    }


_COUNT = replace(kinds.COUNT, has_minus_one=True)
_BYTES = replace(kinds.BYTES, has_minus_one=True)
_INDEX = replace(kinds.INDEX, has_minus_one=True)
MAX_DISPATCHES = 100_000  # most rows of single launches; the longest are kept
MAX_SHOWN = 20  # rows of a table for people
_NAME = kinds.NOTE(
    "name", "Short name of the kernel", "kernel", at=PEOPLE, of=lambda row: short_kernel(row["kernel"])
)
KERNELS = Spec(
    "profile kernels",
    "Kernels by the time of their launches, the longest first.",
    "kernel",
    _NAME,
    *only(DATA, kinds.TEXT("kernel", "Name of the kernel", key="name"), kinds.TEXT("symbol", "Its symbol")),
    kinds.COUNT("launches", "How often it was launched"),
    kinds.NANOSECONDS("total_ns", "Time of all launches, in nanoseconds", "total ns"),
    kinds.NANOSECONDS.maybe("mean_ns", "Mean time of a launch, in nanoseconds", "mean ns"),
    kinds.NANOSECONDS.maybe("max_ns", "Longest launch, in nanoseconds", "longest ns"),
    _COUNT.maybe(
        "vgprs", "Vector registers of a lane, as listed: half of those allocated on some GPUs", "VGPRs"
    ),
    _COUNT.maybe("accum_vgprs", "Accumulation registers of a lane", "AccVGPRs"),
    _COUNT.maybe("sgprs", "Scalar registers of a wave", "SGPRs"),
    _BYTES.maybe("lds", "LDS of a workgroup", "LDS"),
    _BYTES.maybe("scratch", "Scratch memory of a lane"),
    nothing="It lists no kernel.",
)
AGENTS = Spec(
    "profile agents",
    "GPUs of the machine.",
    "GPU",
    kinds.TEXT("name", "Its target, such as gfx950", "GPU"),
    kinds.NOTE("product", "Product name"),
    kinds.COUNT("launches", "Launches on it"),
    _COUNT.maybe("cus", "Compute units", "CUs"),
    _COUNT.maybe("engines", "Shader engines"),
    _COUNT.maybe("dies", "Dies with compute units (XCCs)", "XCCs"),
    _COUNT.maybe("waves_per_simd", "Waves that a SIMD can hold", "waves per SIMD"),
    _BYTES.maybe("lds", "LDS of a compute unit", "LDS"),
    nothing="It lists no GPU.",
)
COUNTERS = Spec(
    "profile counters",
    "Counters that were read for launches.",
    "counter",
    kinds.TEXT("counter", "Name of the counter"),
    kinds.COUNT("launches", "Launches that it was read for"),
    kinds.NUMBER("total", "Sum over these launches"),
    kinds.NUMBER("mean", "Mean per launch"),
    nothing="It has no counters.",
)
GRAPHS = Spec(
    "profile graphs",
    "Launches of HIP graphs, in order.",
    "graph",
    kinds.INDEX("graph", "Number of the graph; launches of kernels name it, too"),
    kinds.COUNT.maybe("kernels", "Kernels that it launched, as recorded", key="launches"),
    kinds.NANOSECONDS.maybe("begin_ns", "When it began, from the first launch, in nanoseconds", "begin ns"),
    kinds.NANOSECONDS.maybe("duration_ns", "How long it took, in nanoseconds", "duration ns"),
    RECORDING,
    nothing="No graph was launched.",
)
DISPATCHES = Spec(
    "profile dispatches",
    "Single launches, the longest first.",
    "dispatch",
    _NAME,
    *only(DATA, kinds.TEXT("kernel", "Name of the kernel; empty if the file does not say")),
    _INDEX.maybe("dispatch", "Number of the launch"),
    kinds.NANOSECONDS.maybe("begin_ns", "When it began, from the first launch, in nanoseconds", "begin ns"),
    kinds.NANOSECONDS.maybe("duration_ns", "How long it took, in nanoseconds", "duration ns"),
    kinds.TEXT("gpu", "Target of its GPU; empty if the file does not say", "GPU"),
    kinds.COUNT("workgroup", "Threads of a workgroup"),
    kinds.COUNT("grid", "Threads of the launch", "threads"),
    *unknown(_BYTES("lds", "LDS of a workgroup", "LDS"), _BYTES("scratch", "Scratch memory of a lane")),
    _INDEX.maybe("graph", "Graph that launched it; null: no graph did"),
    _INDEX.maybe("node", "Node of the graph that launched it; null: no graph did"),
    kinds.COUNT("samples", "PC samples of it"),
    RECORDING,
    nothing="It lists no launch.",
)
CODE_OBJECTS = Spec(
    "profile code objects",
    "Code objects that were loaded.",
    "code object",
    kinds.INDEX("code_object", "Its number", "code object", key="id"),
    *unknown(replace(kinds.ADDRESS, has_minus_one=True)("address", "Load address"), _BYTES("size", "Size")),
    kinds.COUNT("kernels", "Kernels that it holds"),
    kinds.SOURCE("uri", "Where it came from"),
    RECORDING,
    nothing="It lists no code object.",
)


def _kernels(profile: Profile) -> ResultTable:
    kernels, launches = profile.kernels, profile.launches
    known = launches.kernel >= 0
    row, time = launches.kernel[known], (launches.end - launches.begin)[known]
    count = np.bincount(row, minlength=len(kernels))
    total = np.bincount(row, time, len(kernels))
    longest = np.zeros(len(kernels))
    np.maximum.at(longest, row, time)
    timed = np.bincount(row[time > 0], minlength=len(kernels))
    order = np.lexsort((np.arange(len(kernels)), -count, -total))
    if len(launches):
        order = order[count[order] > 0]  # libraries load hundreds of kernels that are never launched
    return ResultTable.of(
        KERNELS,
        [kernels[at] for at in order.tolist()],
        {
            "launches": count[order],
            "total_ns": total[order],
            "mean_ns": np.where(timed > 0, total / np.maximum(timed, 1), np.nan)[order],
            "max_ns": np.where(timed > 0, longest, np.nan)[order],
        },
    )


def _agents(profile: Profile) -> ResultTable:
    rows = [at for at, agent in enumerate(profile.agents) if agent.is_gpu]
    launches = profile.launches.agent
    count = np.bincount(launches[launches >= 0], minlength=len(profile.agents))
    return ResultTable.of(AGENTS, [profile.agents[at] for at in rows], {"launches": count[rows]})


def _counters(profile: Profile) -> ResultTable:
    _, counter, value = profile.values.of_launches()
    size = len(profile.counters)
    total, launches = np.bincount(counter, value, size), np.bincount(counter, minlength=size)
    mean = total / np.maximum(launches, 1)
    columns: Columns = {"counter": list(profile.counters), "launches": launches, "total": total, "mean": mean}
    return ResultTable(COUNTERS, columns)


def _dispatches(profile: Profile) -> ResultTable:
    launches = profile.launches
    time = launches.end - launches.begin
    order = np.lexsort((launches.dispatch, launches.recording, -time))[:MAX_DISPATCHES]
    has_times, first = time[order] > 0, _first(profile)
    in_graph = launches.graph[order] > 0
    absent = () if in_graph.any() else ("graph", "node")
    absent = absent if launches.samples.any() else (*absent, "samples")
    kernels = [*(kernel.name for kernel in profile.kernels), ""]
    gpus = [*(agent.name for agent in profile.agents), ""]
    shown = launches.at(order)
    return ResultTable.of(
        DISPATCHES.hide(PEOPLE, *absent),
        shown,
        {
            "kernel": [kernels[row] for row in shown.kernel.tolist()],
            "begin_ns": np.where(has_times, shown.begin - first, np.nan),
            "duration_ns": np.where(has_times, time[order], np.nan),
            "gpu": [gpus[row] for row in shown.agent.tolist()],
            "workgroup": _volume(shown.workgroup),
            "grid": _volume(shown.grid),
            "graph": np.where(in_graph, shown.graph, -1),
            "node": np.where(in_graph, shown.node, -1),
        },
    )


def _first(profile: Profile) -> int:
    begin = profile.launches.begin
    return int(begin[begin > 0].min(initial=np.iinfo(np.int64).max))


def _graphs(profile: Profile) -> ResultTable:
    first, graphs = _first(profile), sorted(profile.graphs, key=lambda one: one.begin)
    begin = [one.begin - first if one.begin else None for one in graphs]
    duration = [one.end - one.begin if 0 < one.begin <= one.end else None for one in graphs]
    return ResultTable.of(GRAPHS, graphs, {"begin_ns": begin, "duration_ns": duration})


def _volume(sizes: np.ndarray) -> np.ndarray:
    """The product of three sizes, int64; limited to the largest integer exact in a float64."""
    return np.minimum(sizes.prod(axis=1, dtype=np.float64), 1 << 53).astype(np.int64)


def _code_objects(profile: Profile) -> ResultTable:
    held = Counter((kernel.recording, kernel.code_object) for kernel in profile.kernels)
    kernels = [held[one.recording, one.id] for one in profile.code]
    return ResultTable.of(CODE_OBJECTS, profile.code, {"kernels": kernels})


_TABLES: dict[str, tuple[Spec, Callable[[Profile], ResultTable]]] = {
    "kernels": (KERNELS, _kernels),
    "agents": (AGENTS, _agents),
    "counters": (COUNTERS, _counters),
    "samples": (SAMPLES, _samples),
    "lines": (LINES, _lines),
    "stalls": (STALLS, _stalls),
    "graphs": (GRAPHS, _graphs),
    "dispatches": (DISPATCHES, _dispatches),
    "objects": (CODE_OBJECTS, _code_objects),
}
FACTS = (
    kinds.TEXT("file", "The file"),
    Field("form", kinds.choice("rocpd", "results.json"), "What it is"),
    kinds.TEXT("version", "Version of its schema; empty if it does not say"),
    kinds.TEXT("command", "What was profiled; empty if it does not say"),
    kinds.COUNT("launches", "Launches of kernels"),
    kinds.COUNT("executions", "Executions of these launches: a replay executes a launch once a pass"),
    kinds.COUNT("code_objects", "Code objects that were loaded"),
    Field("files", kinds.texts("Name of a file."), "Raw traces and code objects of the run that it names"),
    kinds.COUNT("spm_series", "Streamed counters: one series per counter and place"),
    kinds.COUNT("pc_samples", "PC samples, including invalid ones"),
    kinds.COUNT("invalid_samples", "PC samples that cannot be right, which are counted nowhere else"),
    kinds.TEXT("trace", "Whether a thread trace is inside, a sentence"),
    Field("problems", kinds.texts("A sentence."), "What could not be read"),
    *(spec.field(name) for name, (spec, _) in _TABLES.items()),
)
SCHEMA = Schema(
    "profile", "What a database or document of rocprofv3 holds.", FACTS, version=1, command="info"
)


def tables(profile: Profile) -> dict[str, ResultTable]:
    """Return the tables of a profile by name, empty ones too."""
    return {name: make(profile) for name, (_, make) in _TABLES.items()}
