"""The library: captures below a folder, one row per capture."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rcv_py.analysis.overview.library import LibraryRow
from rcv_py.base.text import DASH, Message, count, join_texts, nanoseconds, percent, plural
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE, SOURCE_PLACE
from rcv_py.results.field import DATA, PEOPLE, Field, only, unknown
from rcv_py.results.schema import Schema
from rcv_py.results.table import ResultTable, Spec

Record = Mapping[str, Any]


def _shown(name: str, kind: Any, meaning: str, text: Callable[[Record], str], title: str = "") -> Field:
    """A field for people; captures that cannot be opened have none."""

    def of(row: Record) -> str:
        return "" if row["error"] else text(row) or DASH

    return Field(name=name, kind=kind, meaning=meaning, title=title, at=PEOPLE, of=of)


def _duration(row: Record) -> str:
    """The launch in time and cycles, as far as known."""
    parts = [] if row["duration_ns"] is None else [nanoseconds(row["duration_ns"])]
    return join_texts(", ", parts if row["duration"] is None else [*parts, plural(row["duration"], "cycle")])


def _waves_of_simd(row: Record) -> str:
    room = row["waves_per_simd"]
    return "" if room is None else f"{room} / {row['max_waves_per_simd']}"


def _executed(row: Record) -> str:
    executed = DASH if row["executed"] is None else count(row["executed"])
    return f"{executed} / {count(row['instructions'] or 0)}"


def _latency(row: Record) -> str:
    return "" if row["latency"] is None else count(row["latency"])


def _resident(row: Record) -> str:
    return "" if row["peak_waves"] is None else f"{row['mean_waves']:,.1f} / {count(row['peak_waves'])}"


def _part(name: str, total: str) -> Callable[[Record], str]:
    return lambda row: "" if row[name] is None else percent(row[name], row[total] or 0)


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


_NOISE = kinds.NUMBER._replace(digits=6)
LIBRARY = Spec(
    "library",
    "One row per capture.",
    "capture",
    kinds.SOURCE("place", "Folder of the capture below the given folder", "capture", at=PEOPLE),
    *only(
        DATA,
        replace(CAPTURE, meaning="Name of the capture", key="name"),
        kinds.NAME("path", "Path of its folder"),
    ),
    kinds.CODE("kernel", "Name of the kernel"),
    *only(
        DATA,
        *unknown(
            kinds.CYCLES("duration", "Launch, from the first start of a wave to the last end"),
            kinds.NANOSECONDS(
                "duration_ns",
                "The same in nanoseconds; without a clock rate, the duration in the table of launches",
            ),
        ),
        kinds.TEXT("class", "Class such as memory-bound; empty without --findings", key="bound"),
        kinds.TEXT("finding", "The first finding; empty without --findings"),
        *unknown(
            kinds.WAVES("waves_per_simd", "Waves that fit on a SIMD", key="fit"),
            kinds.WAVES("max_waves_per_simd", "Waves that a SIMD can hold", key="most_fit"),
        ),
        kinds.TEXT("limiter", "Resource that limits the waves of a SIMD; empty if none does"),
    ),
    _shown("launch", kinds.CYCLES, "The launch in time and cycles", _duration, "duration"),
    _shown("class_text", kinds.NOTE, "What bounds the kernel", lambda row: row["class"], "class"),
    _shown("first_finding", kinds.NOTE, "The first finding", lambda row: row["finding"]),
    _shown(
        "waves_of_simd",
        kinds.WAVES,
        "Waves that fit on a SIMD, out of the number that it can hold",
        _waves_of_simd,
        "waves/SIMD",
    ),
    _shown(
        "occupancy_limiter",
        kinds.NOTE,
        "What limits the waves of a SIMD",
        lambda row: "" if row["waves_per_simd"] is None else row["limiter"] or "none",
    ),
    kinds.WAVES("waves", "Traced", is_unknown=True),
    *only(
        DATA,
        *unknown(
            kinds.COUNT("instructions", "Instructions"),
            kinds.COUNT("executed", "Instructions that ran; null if not known"),
            kinds.COUNT("mapped", "Instructions with a source place"),
            kinds.COUNT("hits", "Executions; null if not known"),
            kinds.CYCLES("latency", "Latency of all waves; null if not known"),
            kinds.CYCLES("stall", "Stall of all waves; null if not known"),
            kinds.SHARE("stall_share_of_latency", "Part of the latency that is stall"),
            kinds.ROW("top_instruction", "Index of the instruction with most stall", key="top_line"),
        ),
        kinds.NAME("top_text", "Its text", key="top"),
        kinds.SHARE("top_share_of_stall", "Part of all stall on it", is_unknown=True),
        replace(SOURCE_PLACE, name="top_source"),
        *unknown(
            kinds.MEAN_WAVES("mean_waves", "Mean of resident waves over time"),
            kinds.WAVES("peak_waves", "Maximum resident at a time"),
        ),
        kinds.TEXT("health", "The worst note on its health"),
        kinds.TEXT("verdict", "Whether it can be trusted, in one sentence"),
        kinds.COUNT("serious_notes", "Notes that are a warning or an error", is_unknown=True),
        kinds.TEXT("replicate", "Another capture of the same instructions; empty if there is none"),
        _NOISE(
            "replicate_noise",
            "Relative difference of the cycles per hit of both, from 0; 0.1 is 10 percent",
            is_unknown=True,
        ),
        kinds.TEXT("error", "Why it cannot be opened; empty if it can"),
    ),
    _shown("executed_of", kinds.COUNT, "Instructions that ran, of all", _executed, "executed"),
    _shown(
        "mapped_share",
        kinds.SHARE,
        "Part of the instructions that has a source place",
        _part("mapped", "instructions"),
        "mapped",
    ),
    _shown("latency_of_all", kinds.CYCLES, "Latency of all waves", _latency, "latency"),
    _shown(
        "stall_part", kinds.SHARE, "Part of the latency that is stall", _part("stall", "latency"), "stall"
    ),
    kinds.NOTE("most_stall_at", "The instruction with most stall", at=PEOPLE, of=_top),
    _shown(
        "resident", kinds.WAVES, "Resident waves over time, mean and peak", _resident, "waves mean / peak"
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
FACTS = (
    kinds.TEXT("folder", "The folder, as it was given"),
    kinds.COUNT("left_out", "Captures left out because of --limit"),
)
SCHEMA = Schema("index", "All captures below a folder, ranked.", (*FACTS, LIBRARY.field("captures")))
_UNKNOWN = float("nan")


def library_table(rows: Sequence[LibraryRow], root: Path | None = None) -> ResultTable:
    """Return one row per capture; people see its path relative to `root`."""
    places = [row.name if root is None else _below(root, row) for row in rows]
    values = {name: [value(row) for row in rows] for name, value in _VALUES.items()}
    return ResultTable.of(LIBRARY, rows, {"place": places, **values})


def _below(root: Path, row: LibraryRow) -> str:
    try:
        return str(row.path.resolve().relative_to(root.resolve())) or row.name
    except ValueError:
        return row.name


_VALUES: dict[str, Callable[[LibraryRow], Any]] = {  # unknown numbers are below 0
    "path": lambda row: str(row.path),
    "duration_ns": lambda row: row.duration_ns if row.duration_ns >= 0 else _UNKNOWN,
    "waves": lambda row: -1 if row.error else row.waves,
    "instructions": lambda row: row.instructions or -1,
    "executed": lambda row: row.executed if row.has_costs else -1,
    "mapped": lambda row: row.mapped if row.instructions else -1,
    "hits": lambda row: row.hits if row.has_costs else -1,
    "latency": lambda row: row.latency if row.has_costs else -1,
    "stall": lambda row: row.stall if row.has_costs else -1,
    "stall_share_of_latency": lambda row: row.stall / row.latency if row.latency else _UNKNOWN,
    "top_share_of_stall": lambda row: row.top_share if row.top_line >= 0 else _UNKNOWN,
    "mean_waves": lambda row: row.mean_waves if row.has_occupancy else _UNKNOWN,
    "peak_waves": lambda row: row.peak_waves if row.has_occupancy else -1,
    "health": lambda row: "" if row.error else row.health,
    "verdict": lambda row: "" if row.error else row.verdict,
    "serious_notes": lambda row: -1 if row.error else row.serious,
    "replicate_noise": lambda row: row.noise if row.noise >= 0 else _UNKNOWN,
}
