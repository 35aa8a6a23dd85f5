"""Occupancy: statistics of curves of resident waves, and what limits the waves of a SIMD."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import asdict, replace

from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.device.occupancy_curves import OccupancyNumbers
from rcv_py.analysis.device.occupancy_limits import OccupancyLimits
from rcv_py.base.text import Message, count
from rcv_py.model.kinds import state_name
from rcv_py.model.trace import Trace
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import DATA, TEXT, Field, only, record, record_field, rows_field, unknown
from rcv_py.results.table import Columns, DictionaryColumn, ResultTable, Schema, Spec, form

BY = {  # what a curve is of: its title, and how the document calls it
    "se": ("shader engine", "Shader engine"),
    "kernel": ("kernel", "Kernel"),
    "state": ("state", "State of traced waves"),
    "cu": ("compute unit", "Compute unit"),
    "simd": ("SIMD", "SIMD"),
    "all": ("group", "Group"),
    "name": ("name", "Shader engine, kernel or state"),
}
_MEAN = replace(kinds.MEAN_WAVES, digits=None, text=lambda value: f"{value:,.1f}")
_SHARE = replace(kinds.SHARE, digits=None)
_AREA = replace(kinds.WHOLE, ending=", in wave-cycles.", unit="wave-cycles")
NUMBERS = (
    kinds.CYCLE("start", "First change", key="begin"),
    kinds.CYCLE("end", "Last change"),
    _AREA("area", "Waves times cycles", at=DATA),
    _MEAN("mean", "Mean over time"),
    kinds.WAVES("peak", "Maximum at a time"),
    _SHARE(
        "tail_share_of_time",
        "Part of the time after the last moment with more than half of the peak",
        "tail",
        key="tail",
    ),
    kinds.CYCLES("ramp", "From the first wave until nine tenths of the peak"),
    kinds.CYCLES("drain", "From the last moment with nine tenths of the peak to the end", at=DATA),
)
_IDS = kinds.listed(kinds.SIGNED_INDEX, "A number")


def curves(by: str, *, has_ids: bool = False) -> Spec:
    """Return the spec of curves by shader engine, kernel or other key; curves of kernels have `ids`."""
    title, what = BY[by]
    ids = _IDS("ids", "Numbers of the kernel in the capture", at=DATA, is_optional=True)
    return Spec(
        "occupancy_numbers",
        "The first row is the total.",
        title,
        replace(kinds.NOTE, text=state_name)(by, Message("{0}, or `all`", what), title=title),
        *((ids,) if has_ids else ()),
        *unknown(*NUMBERS[:2]),
        NUMBERS[2],  # the area
        *unknown(*NUMBERS[3:]),
        _SHARE("share_of_wave_cycles", "Part of the wave-cycles of all", "share"),
        order=f"{by} mean peak tail_share_of_time ramp start end share_of_wave_cycles",
    )


VARIANTS = {  # what a row is → its table and its option
    by: (curves(by, has_ids=by == "kernel"), Message("By {0}: --by {1}.", BY[by][1].lower(), by))
    for by in ("se", "kernel", "state")
}
_NS = replace(kinds.NUMBER, digits=None)
_LENGTH = "Length of a cycle in nanoseconds; null if it is not known"
FACTS = (CAPTURE, _NS.maybe("ns_per_cycle", _LENGTH))


def curve_table(
    by: str, names: Sequence[str], numbers: Sequence[OccupancyNumbers], mixed: slice
) -> ResultTable:
    """Return one row per curve; the first is the total.  Of `mixed` rows only the area is known."""
    found = {field.name: np.array([*map(field.of_analysis, numbers)], np.float64) for field in NUMBERS}
    whole = max(1.0, found["area"][:1].sum())
    columns: Columns = {by: names, "share_of_wave_cycles": found["area"] / whole, **found}
    for name in found.keys() - {"area"}:
        found[name][mixed] = np.nan
    return ResultTable(curves(by), columns)


STEPS = Spec(
    "occupancy_curves",
    "One row per step of a curve of resident waves.",
    "step",
    kinds.TEXT("name", "Which waves"),
    kinds.CYCLE("cycle", "Time of the step"),
    kinds.WAVES("waves", "Resident waves until the next row"),
)


def step_table(names: Sequence[str], curves: Sequence[StepCurve]) -> ResultTable:
    """Return one row per step of each curve."""
    owner = np.repeat(np.arange(len(curves)), [len(curve.time) for curve in curves])
    none = np.zeros(0, dtype=np.int64)
    cycle = np.concatenate([none, *(curve.time for curve in curves)])
    waves = np.concatenate([none, *(curve.value for curve in curves)])
    return ResultTable(STEPS, {"name": DictionaryColumn(names, owner), "cycle": cycle, "waves": waves})


LIMIT = (  # fields that the header of a ranking has too
    kinds.TEXT("name", "Name of the resource", title="resource"),
    kinds.WHOLE("used", "What a wave (for LDS, a workgroup) takes before rounding, in units of the resource"),
    kinds.WHOLE(
        "allocated", "What is allocated, rounded up to the allocation granularity, in units of the resource"
    ),
    kinds.WHOLE("available", "What is available, in units of the resource"),
    kinds.NOTE("source", "Where the number comes from"),
)
LIMITS = Spec(
    "occupancy_limits",
    "One row per resource that is known.",
    "resource",
    *LIMIT[:4],
    kinds.TEXT("unit", "Unit of the resource", at=DATA),
    kinds.WAVES("waves", "Waves of a SIMD that it allows", title="waves/SIMD"),
    LIMIT[4],
    *only(
        DATA,
        kinds.ROW_OR_NONE(
            "max_used", "Most that may be used for the next step, in the unit; -1: nothing helps"
        ),
        kinds.WHOLE("excess", "Excess over that, in the unit"),
    ),
    replace(kinds.TEXT, is_number=True)(  # aligned like one
        "next_step",
        "What the next step requires",
        at=TEXT,
        of=lambda row: f"-{count(row['excess'])} (≤ {count(row['max_used'])})" if row["excess"] else "",
    ),
    order="name used allocated available waves next_step source",
)
LIMIT_FACTS = (
    kinds.WAVES("waves_per_simd", "Waves of this kernel that fit on a SIMD"),
    kinds.WAVES("max_waves_per_simd", "Waves that a SIMD can hold"),
    kinds.TEXT.maybe("binding", "Name of the limiting resource; null if there is none"),
)
LIMITS_DOCUMENT = (
    CAPTURE,
    kinds.TEXT("target", "Name of the GPU"),
    kinds.TEXT("device", "The device whose numbers were used"),
    *LIMIT_FACTS,
    rows_field("limits", "One row per resource that is known", *LIMITS.at(DATA)),
    kinds.TEXT("next_step", "What the next step requires; empty if nothing limits it"),
    kinds.WAVES.maybe("goal", "Waves of a SIMD after that step"),
    record_field(
        "resident",
        "Traced waves of a SIMD at a time",
        kinds.WAVES("peak", "Most"),
        _MEAN("mean", "Mean over time"),
        kinds.COUNT("simds", "SIMDs examined"),
    ),
    Field("notes", kinds.texts("A sentence."), "What is doubtful or missing"),
)
SCHEMA = Schema(
    "occupancy",
    "How many waves were resident, and for how long.",
    forms=tuple(form(words, FACTS, "by", by, spec) for by, (spec, words) in VARIANTS.items()),
)
LIMITS_SCHEMA = Schema(
    "occupancy_limits",
    "What limits the waves of a SIMD, and what the next step requires (--limits).",
    LIMITS_DOCUMENT,
)
# The same in short, as the header of a ranking has it.
LIMITS_IN_SHORT = record(
    *LIMIT_FACTS,
    rows_field("limits", "One row per resource that is known", *LIMIT),
    kinds.WAVES("resident_peak", "Maximum of traced waves on a SIMD at a time"),
)


def limit_table(found: OccupancyLimits) -> ResultTable:
    """Return one row per resource that limits the waves of a SIMD."""
    return ResultTable.of(LIMITS, found.limits)


def limits_in_short(found: OccupancyLimits) -> dict[str, Any]:
    """Return the same in short, as `LIMITS_IN_SHORT` declares it."""
    limits = limit_table(found).records(field.name for field in LIMIT)
    return {**_room(found), "limits": limits, "resident_peak": found.resident.peak}


def _room(found: OccupancyLimits) -> dict[str, Any]:
    binding = None if found.binding is None else found.binding.name
    return {"waves_per_simd": found.waves, "max_waves_per_simd": found.cap, "binding": binding}


def limit_document(trace: Trace, found: OccupancyLimits) -> dict[str, Any]:
    """Return the document of the limits of a kernel."""
    return {
        "capture": trace.name,
        "target": trace.target,
        "device": found.device.name,
        **_room(found),
        "limits": limit_table(found).rows(),
        "next_step": found.next_step,
        "goal": found.goal if found.next_step else None,
        "resident": asdict(found.resident),
        "notes": list(found.notes),
    }
