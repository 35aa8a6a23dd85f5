"""Captures of several builds, each compared with an earlier one: one row per capture."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rcv_py.analysis.compare.builds import NAN, BuildStep
from rcv_py.analysis.compare.verdict import Verdict
from rcv_py.analysis.compare.work import work_costs
from rcv_py.base.text import DASH, join_texts, nanoseconds, plural
from rcv_py.results import kinds
from rcv_py.results.field import DATA, PEOPLE, Field, only, unknown
from rcv_py.results.schema import Schema
from rcv_py.results.table import ResultTable, Spec


def _change(row: Mapping[str, Any]) -> str:
    if row["ratio"] is None:
        return ""
    return f"{100 * (row['ratio'] - 1):+.1f} % (±{100 * row['noise']:.1f} %)"


def _launch(row: Mapping[str, Any]) -> str:
    parts = [] if row["duration_ns"] is None else [nanoseconds(row["duration_ns"])]
    parts += [] if row["duration"] is None else [plural(row["duration"], "cycle")]
    return "" if row["error"] else join_texts(", ", parts) or DASH


def _of_first(row: Mapping[str, Any]) -> str:
    return "" if row["of_first"] is None else f"{100 * (row['of_first'] - 1):+.1f} %"


TREND = Spec(
    "trend",
    "One row per capture, in order.",
    "capture",
    kinds.SOURCE("place", "Folder of the capture below the given folder", "capture", at=PEOPLE),
    *only(DATA, kinds.TEXT("capture", "Name of the capture"), kinds.TEXT("path", "Path of its folder")),
    kinds.TEXT("written", "When its index was written, in UTC; empty if unknown"),
    kinds.CODE("kernel", "Name of the kernel"),
    kinds.WAVES("waves", "Waves whose costs are compared", at=DATA, is_unknown=True),
    *unknown(
        kinds.CYCLES("duration", "Launch, from the first start of a wave to the last end", at=DATA),
        kinds.NANOSECONDS(
            "duration_ns",
            "The same in nanoseconds; without a clock rate, the duration in the table of launches",
            at=DATA,
        ),
    ),
    *only(
        DATA,
        *unknown(
            kinds.NUMBER("clock_mhz", "Clock during the launch, in MHz"),
            kinds.MEAN_CYCLES("cycles_per_kflop", "Wave cycles per 1,000 MFMA or WMMA operations", digits=4),
            kinds.MEAN_CYCLES("cycles_per_kb", "Wave cycles per 1,000 requested bytes", digits=4),
            kinds.MEAN_CYCLES(
                "launch_cycles_per_mflop", "Launch time per million of its MFMA or WMMA operations", digits=4
            ),
        ),
    ),
    kinds.CYCLES("launch", "The launch in time and cycles", at=PEOPLE, of=_launch),
    Field(
        name="of_first",
        kind=kinds.RATIO,
        meaning="Its launch time divided by the launch time of the first capture of the kernel",
        at=DATA,
        is_unknown=True,
    ),
    kinds.RATIO(
        "since_first", "Change of the launch since the first one", "since first", at=PEOPLE, of=_of_first
    ),
    kinds.TEXT("before", "The capture it is compared with; empty for none", at=DATA),
    *only(
        DATA,
        *unknown(
            kinds.RATIO("ratio", "Cycles divided by the cycles of the capture it is compared with"),
            kinds.RATIO("noise", "Uncertainty of the ratio from noise"),
        ),
    ),
    kinds.RATIO(
        "change", "Change of the cycles, with its uncertainty", "change (noise)", at=PEOPLE, of=_change
    ),
    Field(
        "verdict",
        kinds.choice("", *(verdict.value for verdict in Verdict)),
        "The verdict; empty if it is compared with no capture",
        at=DATA,
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
_FOLDER = kinds.TEXT("folder", "The folder, as it was given")
_METRIC = Field("metric", kinds.choice("cost", "latency", "stall"), "Which cycles are compared")
TREND_FACTS = (
    _FOLDER,
    _METRIC,
    kinds.TEXT(
        "first_more",
        "Path of the first capture that takes more cycles than the previous capture; null if none does",
        is_unknown=True,
    ),
)
SEVERAL_FACTS = (
    replace(_FOLDER, name="a", meaning="Name of the capture that all are compared with"),
    _METRIC,
)
SEVERAL_SCHEMA = Schema(
    "compare.several",
    "Several captures, each compared with the same baseline.",
    (*SEVERAL_FACTS, TREND.field("captures")),
)
SCHEMA = Schema(
    "trend",
    "The captures below a folder in order, each compared with the previous capture of the same kernel.",
    (*TREND_FACTS, TREND.field("captures")),
)


def trend_table(rows: Sequence[BuildStep], places: Sequence[str]) -> ResultTable:
    """Return one row per capture, in order; people see their relative paths."""
    columns = {name: [of(row) for row in rows] for name, of in _VALUES.items()}
    work = [
        None if row.build.costs is None else work_costs(row.build.costs, row.build.duration_ns)
        for row in rows
    ]
    columns |= {name: [NAN if one is None else getattr(one, name) for one in work] for name in _WORK}
    return ResultTable.of(TREND, rows, {"place": list(places), **columns})


_WORK = ("clock_mhz", "cycles_per_kflop", "cycles_per_kb", "launch_cycles_per_mflop")
_VALUES: dict[str, Callable[[BuildStep], Any]] = {
    "capture": lambda row: row.build.name,
    "path": lambda row: str(row.build.path),
    "written": lambda row: row.build.written,
    "duration": lambda row: row.build.duration,
    "duration_ns": lambda row: row.build.duration_ns,
    "verdict": lambda row: "" if row.verdict is None else row.verdict.value,
    "sentence": lambda row: "" if row.judgement is None else row.judgement.sentence,
    "error": lambda row: row.build.error,
}
