"""The library: captures below a folder, one row a capture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rcv_py.analysis.overview.library import LibraryRow
from rcv_py.base.text import DASH, count, nanoseconds, percent
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE, SOURCE_PLACE
from rcv_py.results.field import At, Field, only, unknown
from rcv_py.results.table import Spec, Table

Record = Mapping[str, Any]


def _shown(name: str, kind: Any, meaning: str, text: Callable[[Record], str], title: str = "") -> Field:
    """A field for people; captures that cannot be opened have none."""

    def of(row: Record) -> str:
        return "" if row["error"] else text(row) or DASH

    return Field(name, kind, meaning, title, at=At.PEOPLE, of=of)


def _duration(row: Record) -> str:
    """The launch in time and cycles, as far as they are known."""
    parts = [] if row["duration_ns"] is None else [nanoseconds(row["duration_ns"])]
    return ", ".join(parts if row["duration"] is None else [*parts, f"{count(row['duration'])} cycles"])


def _part(name: str, total: str) -> Callable[[Record], str]:
    return lambda row: "" if row[name] is None else percent(row[name], row[total] or 0)


def _top(row: Record) -> str:
    if row["top_instruction"] is None:
        return ""
    place = f" ({row['top_source']})" if row["top_source"] else ""
    share = percent(row["top_share_of_stall"], 1)
    return f"{share} instruction {row['top_instruction']}: {row['top_text']}{place}"


def _replicate(row: Record) -> str:
    if not row["replicate"] or row["replicate_noise"] is None:
        return row["replicate"]
    return f"{row['replicate']}, {percent(row['replicate_noise'], 1)} off per execution"


LIBRARY = Spec.of(
    "library",
    "One row a capture.",
    "capture",
    replace(CAPTURE, meaning="Name of the capture", at=At.DATA),
    kinds.SOURCE("place", "Folder of the capture below the one that was given", "capture", at=At.PEOPLE),
    kinds.TEXT("path", "Path of its folder", at=At.DATA),
    kinds.NOTE("kernel", "Name of the kernel"),
    *only(
        At.DATA,
        *unknown(
            kinds.CYCLES("duration", "Launch, from the first start of a wave to the last end"),
            kinds.NANOSECONDS(
                "duration_ns", "The same in nanoseconds; without it that of the table of launches"
            ),
        ),
    ),
    _shown("launch", kinds.CYCLES, "The launch in time and cycles", _duration, "duration"),
    kinds.TEXT("class", "Class such as memory-bound; empty without --findings", at=At.DATA),
    _shown("class_text", kinds.NOTE, "What bounds the kernel", lambda row: row["class"], "class"),
    kinds.TEXT("finding", "The first finding; empty without --findings", at=At.DATA),
    _shown("first_finding", kinds.NOTE, "The first finding", lambda row: row["finding"]),
    kinds.WAVES("waves_per_simd", "That fit on a SIMD", at=At.DATA, is_unknown=True),
    kinds.WAVES("max_waves_per_simd", "That a SIMD has room for", at=At.DATA, is_unknown=True),
    _shown(
        "waves_of_simd",
        kinds.WAVES,
        "Waves that fit on a SIMD, of those that it has room for",
        lambda row: (
            "" if row["waves_per_simd"] is None else f"{row['waves_per_simd']} / {row['max_waves_per_simd']}"
        ),
        "waves/SIMD",
    ),
    kinds.TEXT("limiter", "Resource that limits the waves of a SIMD; empty if none does", at=At.DATA),
    _shown(
        "occupancy_limiter",
        kinds.NOTE,
        "What limits the waves of a SIMD",
        lambda row: "" if row["waves_per_simd"] is None else row["limiter"] or "none",
    ),
    *unknown(
        kinds.WAVES("waves", "Traced"),
        kinds.COUNT("instructions", "Instructions", at=At.DATA),
        kinds.COUNT("executed", "Instructions that ran; null if not known", at=At.DATA),
    ),
    _shown(
        "executed_of",
        kinds.COUNT,
        "Instructions that ran, of all",
        lambda row: (
            f"{DASH if row['executed'] is None else count(row['executed'])} / "
            f"{count(row['instructions'] or 0)}"
        ),
        "executed",
    ),
    kinds.COUNT("mapped", "Instructions with a source place", at=At.DATA, is_unknown=True),
    _shown(
        "mapped_share",
        kinds.SHARE,
        "Part of the instructions that has a source place",
        _part("mapped", "instructions"),
        "mapped",
    ),
    *only(
        At.DATA,
        kinds.COUNT("hits", "Executions; null if not known", is_unknown=True),
        kinds.CYCLES("latency", "Latency of all waves; null if not known", is_unknown=True),
    ),
    _shown(
        "latency_of_all",
        kinds.CYCLES,
        "Latency of all waves",
        lambda row: "" if row["latency"] is None else count(row["latency"]),
        "latency",
    ),
    *unknown(
        kinds.CYCLES("stall", "Stall of all waves; null if not known", at=At.DATA),
        kinds.SHARE("stall_share_of_latency", "Part of the latency that is stall", at=At.DATA),
    ),
    _shown(
        "stall_part", kinds.SHARE, "Part of the latency that is stall", _part("stall", "latency"), "stall"
    ),
    kinds.ROW("top_instruction", "Index of the instruction with most stall", at=At.DATA, is_unknown=True),
    kinds.TEXT("top_text", "Its text", at=At.DATA),
    kinds.SHARE("top_share_of_stall", "Part of all stall on it", at=At.DATA, is_unknown=True),
    replace(SOURCE_PLACE, name="top_source", at=At.DATA),
    kinds.NOTE("most_stall_at", "The instruction with most stall", at=At.PEOPLE, of=_top),
    kinds.MEAN_WAVES("mean_waves", "Mean of resident waves over time", at=At.DATA, is_unknown=True),
    kinds.WAVES("peak_waves", "Most resident at a time", at=At.DATA, is_unknown=True),
    _shown(
        "resident",
        kinds.WAVES,
        "Resident waves over time, mean and most",
        lambda row: (
            "" if row["peak_waves"] is None else f"{row['mean_waves']:,.1f} / {count(row['peak_waves'])}"
        ),
        "waves mean / peak",
    ),
    kinds.TEXT("health", "The worst note on its health", at=At.DATA),
    kinds.NOTE(
        "trust",
        "The worst note on its health, or why it cannot be opened",
        "health",
        at=At.PEOPLE,
        of=lambda row: row["error"] or row["health"],
    ),
    kinds.TEXT("verdict", "Whether it can be trusted, in one sentence", at=At.DATA),
    kinds.COUNT("serious_notes", "Notes that are a warning or an error", at=At.DATA, is_unknown=True),
    kinds.TEXT("replicate", "Another capture of the same instructions; empty if there is none", at=At.DATA),
    Field(
        "replicate_noise",
        replace(kinds.NUMBER, digits=6),
        "By how much cycles per hit of the two differ, from 0; 0.1 being 10 percent",
        at=At.DATA,
        is_unknown=True,
    ),
    kinds.SOURCE(
        "replicate_text", "Another capture of the same instructions", "replicate", at=At.PEOPLE, of=_replicate
    ),
    kinds.TEXT("error", "Why it cannot be opened; empty if it can", at=At.DATA),
)
FACTS = (
    kinds.TEXT("folder", "The folder, as it was given"),
    kinds.COUNT("left_out", "Captures left out because of --limit"),
)
_UNKNOWN = float("nan")


def library_table(rows: Sequence[LibraryRow], root: Path | None = None) -> Table:
    """Return one row a capture; `root` is the folder below which people look for their places."""
    return Table(
        LIBRARY,
        {name: [value(row) for row in rows] for name, value in _VALUES.items()}
        | {"place": [row.name if root is None else _below(root, row) for row in rows]},
    )


def _below(root: Path, row: LibraryRow) -> str:
    try:
        return str(row.path.resolve().relative_to(root.resolve())) or row.name
    except ValueError:
        return row.name


_VALUES: dict[str, Callable[[LibraryRow], Any]] = {
    "capture": lambda row: row.name,
    "path": lambda row: str(row.path),
    "kernel": lambda row: row.kernel,
    "duration": lambda row: row.duration,
    "duration_ns": lambda row: row.duration_ns if row.duration_ns >= 0 else _UNKNOWN,
    "class": lambda row: row.bound,
    "finding": lambda row: row.finding,
    "waves_per_simd": lambda row: row.fit,
    "max_waves_per_simd": lambda row: row.most_fit,
    "limiter": lambda row: row.limiter,
    "waves": lambda row: -1 if row.error else row.waves,
    "instructions": lambda row: row.instructions or -1,
    "executed": lambda row: row.executed if row.has_costs else -1,
    "mapped": lambda row: row.mapped if row.instructions else -1,
    "hits": lambda row: row.hits if row.has_costs else -1,
    "latency": lambda row: row.latency if row.has_costs else -1,
    "stall": lambda row: row.stall if row.has_costs else -1,
    "stall_share_of_latency": lambda row: row.stall / row.latency if row.latency else _UNKNOWN,
    "top_instruction": lambda row: row.top_line,
    "top_text": lambda row: row.top,
    "top_share_of_stall": lambda row: row.top_share if row.top_line >= 0 else _UNKNOWN,
    "top_source": lambda row: row.top_source,
    "mean_waves": lambda row: row.mean_waves if row.has_occupancy else _UNKNOWN,
    "peak_waves": lambda row: row.peak_waves if row.has_occupancy else -1,
    "health": lambda row: "" if row.error else row.health,
    "verdict": lambda row: "" if row.error else row.verdict,
    "serious_notes": lambda row: -1 if row.error else row.serious,
    "replicate": lambda row: row.replicate,
    "replicate_noise": lambda row: row.noise if row.noise >= 0 else _UNKNOWN,
    "error": lambda row: row.error,
}
