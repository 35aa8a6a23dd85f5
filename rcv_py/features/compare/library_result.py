"""Captures below folders, one row each: all of them ranked, or each compared with an earlier one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from rcv_py.analysis.compare.builds import NAN, BuildStep
from rcv_py.analysis.compare.verdict import Verdict
from rcv_py.analysis.compare.work import work_costs
from rcv_py.analysis.overview.library import LibraryRow
from rcv_py.base.text import DASH, Message, count, join_texts, nanoseconds, percent, plural
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE, SOURCE_PLACE
from rcv_py.results.field import DATA, PEOPLE, Field, Kind, only, unknown
from rcv_py.results.table import ResultTable, Schema, Spec

Record = Mapping[str, Any]


def _shown(name: str, kind: Kind, meaning: str, text: Callable[[Record], str], title: str = "") -> Field:
    """A field for people; captures that cannot be opened have none."""

    def of(row: Record) -> str:
        return "" if row["error"] else text(row) or DASH

    return kind(name, meaning, title, at=PEOPLE, of=of)


def _duration(row: Record) -> str:
    """The launch in time and cycles, as far as known."""
    parts = [] if row["duration_ns"] is None else [nanoseconds(row["duration_ns"])]
    return join_texts(", ", parts if row["duration"] is None else [*parts, plural(row["duration"], "cycle")])


def _two(name: str, total: str, text: Callable[[Any, Any], str]) -> Callable[[Record], str]:
    """The text of two numbers of a row, "" if the first is unknown."""
    return lambda row: "" if row[name] is None else text(row[name], row[total] or 0)


def _executed(row: Record) -> str:
    executed = DASH if row["executed"] is None else count(row["executed"])
    return f"{executed} / {count(row['instructions'] or 0)}"


def _latency(row: Record) -> str:
    return "" if row["latency"] is None else count(row["latency"])


def _top(row: Record) -> str:
    if row["top_instruction"] is None:
        return ""
    place = f" ({row['top_source']})" if row["top_source"] else ""
    share = percent(row["top_share_of_stall"], 1)
    return f"{share} #{row['top_instruction']}: {row['top_text']}{place}"


def _replicate(row: Record) -> str:
    if not row["replicate"] or row["replicate_noise"] is None:
        return row["replicate"]
    return Message("{0}, {1} off per execution", row["replicate"], percent(row["replicate_noise"], 1))


_PLACE = kinds.SOURCE("place", "Folder of the capture below the given folder", "capture", at=PEOPLE)
_KERNEL = kinds.CODE("kernel", "Name of the kernel")
_LAUNCH = unknown(
    kinds.CYCLES("duration", "Launch, from the first start of a wave to the last end"),
    kinds.NANOSECONDS(
        "duration_ns", "The same in nanoseconds; without a clock rate, the duration in the table of launches"
    ),
)
_STALLED, _MAPPED = "Part of the latency that is stall", "Part of the instructions that has a source place"
LIBRARY = Spec(
    "library",
    "One row per capture.",
    "capture",
    _PLACE,
    *only(
        DATA,
        replace(CAPTURE, meaning="Name of the capture", key="name"),
        kinds.NAME("path", "Path of its folder"),
    ),
    _KERNEL,
    *only(
        DATA,
        *_LAUNCH,
        kinds.TEXT("class", "Class such as memory-bound; empty without --findings", key="bound"),
        kinds.TEXT("finding", "The first finding; empty without --findings"),
        kinds.WAVES.maybe("waves_per_simd", "Waves that fit on a SIMD", key="fit"),
        kinds.WAVES.maybe("max_waves_per_simd", "Waves that a SIMD can hold", key="most_fit"),
        kinds.TEXT("limiter", "Resource that limits the waves of a SIMD; empty if none does"),
    ),
    _shown("launch", kinds.CYCLES, "The launch in time and cycles", _duration, "duration"),
    _shown("class_text", kinds.NOTE, "What bounds the kernel", lambda row: row["class"], "class"),
    _shown("first_finding", kinds.NOTE, "The first finding", lambda row: row["finding"]),
    _shown(
        "waves_of_simd",
        kinds.WAVES,
        "Waves that fit on a SIMD, out of the number that it can hold",
        _two("waves_per_simd", "max_waves_per_simd", "{} / {}".format),
        "waves/SIMD",
    ),
    _shown(
        "occupancy_limiter",
        kinds.NOTE,
        "What limits the waves of a SIMD",
        lambda row: "" if row["waves_per_simd"] is None else row["limiter"] or "none",
    ),
    kinds.WAVES.maybe("waves", "Traced"),
    *only(
        DATA,
        kinds.COUNT.maybe("instructions", "Instructions"),
        kinds.COUNT.maybe("executed", "Instructions that ran; null if not known"),
        kinds.COUNT.maybe("mapped", "Instructions with a source place"),
        kinds.COUNT.maybe("hits", "Executions; null if not known"),
        kinds.CYCLES.maybe("latency", "Latency of all waves; null if not known"),
        kinds.CYCLES.maybe("stall", "Stall of all waves; null if not known"),
        kinds.SHARE.maybe("stall_share_of_latency", _STALLED),
        kinds.ROW.maybe("top_instruction", "Index of the instruction with most stall", key="top_line"),
        kinds.NAME("top_text", "Its text", key="top"),
        kinds.SHARE.maybe("top_share_of_stall", "Part of all stall on it"),
        replace(SOURCE_PLACE, name="top_source"),
        kinds.MEAN_WAVES.maybe("mean_waves", "Mean of resident waves over time"),
        kinds.WAVES.maybe("peak_waves", "Maximum resident at a time"),
        kinds.TEXT("health", "The worst note on its health"),
        kinds.TEXT("verdict", "Whether it can be trusted, in one sentence"),
        kinds.COUNT.maybe("serious_notes", "Notes that are a warning or an error"),
        kinds.TEXT("replicate", "Another capture of the same instructions; empty if there is none"),
        kinds.NUMBER.maybe(
            "replicate_noise",
            "Relative difference of the cycles per hit of both, from 0; 0.1 is 10 percent",
            digits=6,
        ),
        kinds.TEXT("error", "Why it cannot be opened; empty if it can"),
    ),
    _shown("executed_of", kinds.COUNT, "Instructions that ran, of all", _executed, "executed"),
    _shown("mapped_share", kinds.SHARE, _MAPPED, _two("mapped", "instructions", percent), "mapped"),
    _shown("latency_of_all", kinds.CYCLES, "Latency of all waves", _latency, "latency"),
    _shown("stall_part", kinds.SHARE, _STALLED, _two("stall", "latency", percent), "stall"),
    kinds.NOTE("most_stall_at", "The instruction with most stall", at=PEOPLE, of=_top),
    _shown(
        "resident",
        kinds.WAVES,
        "Resident waves over time, mean and peak",
        _two("mean_waves", "peak_waves", "{:,.1f} / {:,}".format),
        "waves mean / peak",
    ),
    kinds.NOTE(
        "trust",
        "The worst note on its health, or why it cannot be opened",
        "health",
        at=PEOPLE,
        of=lambda row: row["error"] or row["health"],
    ),
    kinds.SOURCE(
        "replicate_text", "Another capture of the same instructions", "replicate", at=PEOPLE, of=_replicate
    ),
)
_FOLDER = kinds.TEXT("folder", "The folder, as it was given")
SCHEMA = Schema(
    "index",
    "All captures below a folder, ranked.",
    (_FOLDER, kinds.COUNT("left_out", "Captures left out because of --limit"), LIBRARY.field("captures")),
)


def library_table(rows: Sequence[LibraryRow], places: Sequence[str] | None = None) -> ResultTable:
    """Return one row per capture; people see its relative path, by default its name."""
    places = [row.name for row in rows] if places is None else places
    values = {name: [value(row) for row in rows] for name, value in _OF_ROW.items()}
    return ResultTable.of(LIBRARY, rows, {"place": places, **values})


_OF_ROW: dict[str, Callable[[LibraryRow], Any]] = {  # unknown numbers are below 0
    "path": lambda row: str(row.path),
    "duration_ns": lambda row: row.duration_ns if row.duration_ns >= 0 else NAN,
    "waves": lambda row: -1 if row.error else row.waves,
    "instructions": lambda row: row.instructions or -1,
    "executed": lambda row: row.executed if row.has_costs else -1,
    "mapped": lambda row: row.mapped if row.instructions else -1,
    "hits": lambda row: row.hits if row.has_costs else -1,
    "latency": lambda row: row.latency if row.has_costs else -1,
    "stall": lambda row: row.stall if row.has_costs else -1,
    "stall_share_of_latency": lambda row: row.stall / row.latency if row.latency else NAN,
    "top_share_of_stall": lambda row: row.top_share if row.top_line >= 0 else NAN,
    "mean_waves": lambda row: row.mean_waves if row.has_occupancy else NAN,
    "peak_waves": lambda row: row.peak_waves if row.has_occupancy else -1,
    "health": lambda row: "" if row.error else row.health,
    "verdict": lambda row: "" if row.error else row.verdict,
    "serious_notes": lambda row: -1 if row.error else row.serious,
    "replicate_noise": lambda row: row.noise if row.noise >= 0 else NAN,
}


def _change(row: Record) -> str:
    if row["ratio"] is None:
        return ""
    return f"{100 * (row['ratio'] - 1):+.1f} % (±{100 * row['noise']:.1f} %)"


def _of_first(row: Record) -> str:
    return "" if row["of_first"] is None else f"{100 * (row['of_first'] - 1):+.1f} %"


_OF_FIRST = "Its launch time divided by the launch time of the first capture of the kernel"
TREND = Spec(
    "trend",
    "One row per capture, in order.",
    "capture",
    _PLACE,
    *only(DATA, kinds.TEXT("capture", "Name of the capture"), kinds.TEXT("path", "Path of its folder")),
    kinds.TEXT("written", "When its index was written, in UTC; empty if unknown"),
    _KERNEL,
    *only(
        DATA,
        *unknown(
            kinds.WAVES("waves", "Waves whose costs are compared"),
            *_LAUNCH,
            kinds.NUMBER("clock_mhz", "Clock during the launch, in MHz"),
            kinds.MEAN_CYCLES("cycles_per_kflop", "Wave cycles per 1,000 MFMA or WMMA operations", digits=4),
            kinds.MEAN_CYCLES("cycles_per_kb", "Wave cycles per 1,000 requested bytes", digits=4),
            kinds.MEAN_CYCLES(
                "launch_cycles_per_mflop", "Launch time per million of its MFMA or WMMA operations", digits=4
            ),
        ),
    ),
    _shown("launch", kinds.CYCLES, "The launch in time and cycles", _duration),
    kinds.RATIO.maybe("of_first", _OF_FIRST, at=DATA),
    kinds.RATIO(
        "since_first", "Change of the launch since the first one", "since first", at=PEOPLE, of=_of_first
    ),
    *only(
        DATA,
        kinds.TEXT("before", "The capture it is compared with; empty for none"),
        kinds.RATIO.maybe("ratio", "Cycles divided by the cycles of the capture it is compared with"),
        kinds.RATIO.maybe("noise", "Uncertainty of the ratio from noise"),
    ),
    kinds.RATIO(
        "change", "Change of the cycles, with its uncertainty", "change (noise)", at=PEOPLE, of=_change
    ),
    kinds.choice("", *(verdict.value for verdict in Verdict))(
        "verdict", "The verdict; empty if it is compared with no capture", at=DATA
    ),
    kinds.NOTE(
        "said",
        "The verdict, or why the capture cannot be read",
        "verdict",
        at=PEOPLE,
        of=lambda row: row["error"] or row["verdict"],
    ),
    *only(
        DATA,
        kinds.NOTE("sentence", "The same in a sentence, in which B is this capture and A the other"),
        kinds.TEXT("error", "Why it cannot be read; empty if it can"),
    ),
)
_METRIC = Field("metric", kinds.choice("cost", "latency", "stall"), "Which cycles are compared")
SEVERAL_SCHEMA = Schema(
    "compare.several",
    "Several captures, each compared with the same baseline.",
    (
        replace(_FOLDER, name="a", meaning="Name of the capture that all are compared with"),
        _METRIC,
        TREND.field("captures"),
    ),
)
TREND_SCHEMA = Schema(
    "trend",
    "The captures below a folder in order, each compared with the previous capture of the same kernel.",
    (
        _FOLDER,
        _METRIC,
        kinds.TEXT.maybe(
            "first_more",
            "Path of the first capture that takes more cycles than the previous capture; null if none does",
        ),
        TREND.field("captures"),
    ),
)


def trend_table(rows: Sequence[BuildStep], places: Sequence[str]) -> ResultTable:
    """Return one row per capture, in order; people see their relative paths."""
    columns = {name: [of(row) for row in rows] for name, of in _OF_STEP.items()}
    builds = [row.build for row in rows]
    work = [None if one.costs is None else work_costs(one.costs, one.duration_ns) for one in builds]
    columns |= {name: [NAN if one is None else getattr(one, name) for one in work] for name in _WORK}
    return ResultTable.of(TREND, rows, {"place": list(places), **columns})


_WORK = ("clock_mhz", "cycles_per_kflop", "cycles_per_kb", "launch_cycles_per_mflop")
_OF_STEP: dict[str, Callable[[BuildStep], Any]] = {
    "capture": lambda row: row.build.name,
    "path": lambda row: str(row.build.path),
    "written": lambda row: row.build.written,
    "duration": lambda row: row.build.duration,
    "duration_ns": lambda row: row.build.duration_ns,
    "verdict": lambda row: "" if row.verdict is None else row.verdict.value,
    "sentence": lambda row: "" if row.judgement is None else row.judgement.sentence,
    "error": lambda row: row.build.error,
}
