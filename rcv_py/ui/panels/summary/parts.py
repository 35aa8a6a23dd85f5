"""A summary as what widgets show: shares, bars and table columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtGui import QColor

from rcv_py.analysis.cost.activity import MEANING, SHOWN, STATE_MEANING, Activity, StateShares
from rcv_py.analysis.cost.stall_reasons import StallReasons, reason_meaning, reason_name
from rcv_py.analysis.counters.counter_shares import CounterShares
from rcv_py.analysis.device.pipe_use import PIPE_KIND, PIPE_TEXT, PipeUse
from rcv_py.analysis.device.unit_table import UnitColumn, UnitTable
from rcv_py.analysis.overview.device_summary import DeviceSummary
from rcv_py.model.kinds import TokenKind
from rcv_py.results.summary import pipe_rows
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.panels.summary.meters import Meter
from rcv_py.ui.panels.summary.share_bar import Share
from rcv_py.ui.table.table_model import Column, grouped

MEAN = "Of the busy time of all sampled compute units, over all samples. Above 100 %: two issues a step."
PEAK = "At the moment of its largest value, of what was busy then, over all sampled compute units."
LISTED = 16  # SIMDs that a tooltip names one by one
_SIMD_FACTS = {  # key numbers about SIMDs: column of each, short name, and colour
    "simd_busy": ("issuing", "issuing", "accent"),
    "simd_working": ("working", "working", "accent"),
    "matrix_busy": ("matrix_busy", "matrix unit", "good"),
    "no_issue": ("no_issue", "no issue", "idle"),
    "nothing_happens": ("nothing", "nothing", "stall"),
}


def role(name: str) -> Callable[[Theme], QColor]:
    """A colour by its role."""
    return lambda theme: theme.role(name)


def _state(state: int) -> Callable[[Theme], QColor]:
    return lambda theme: theme.state(state)


def _kind(kind: TokenKind) -> Callable[[Theme], QColor]:
    return lambda theme: theme.kind(kind)


def _reason(reason: int) -> Callable[[Theme], QColor]:
    return lambda theme: theme.reason(reason)


def activity_shares(found: Activity) -> tuple[Share, ...]:
    """Idle, stall and issue."""
    return tuple(
        Share(name, getattr(found, name), role(name), MEANING[name]) for name in ("issue", "stall", "idle")
    )


def state_shares_of(found: StateShares) -> tuple[Share, ...]:
    """The states of waves, executing first."""
    order = sorted(SHOWN, key=lambda state: state.name != "EXEC")
    return tuple(
        Share(
            state.name.capitalize(),
            int(found.cycles[state]),
            _state(state),
            STATE_MEANING[state],
        )
        for state in order
    )


def reason_shares(found: StallReasons) -> tuple[Share, ...]:
    """Issued samples, then the stalled ones by reason, the most frequent first."""
    shares = [Share("issued", found.issued, role("line"), "the sample met an instruction that issued")]
    for reason, samples in found.ranked():
        shares.append(
            Share(
                reason_name(reason),
                samples,
                _reason(reason),
                reason_meaning(reason),
            )
        )
    if found.unknown:
        shares.append(Share("no reason given", found.unknown, role("muted"), "the file names none"))
    return tuple(shares)


def pipe_meters(found: DeviceSummary, is_gfx9: bool) -> tuple[Meter, ...]:
    """The share of all SIMDs and of each: issue, work of the matrix unit, and issue of each pipe."""
    pipes = found.pipes
    assert pipes is not None
    rows = [
        columns | {"issuing": resident - columns["no_issue"]} for _, resident, columns in pipe_rows(found)
    ]
    of = {name: np.array([row[name] for row in rows], dtype=np.int64) for name in rows[0]}
    meters = []
    for fact in found.facts:
        if fact.id in _SIMD_FACTS:
            source, name, color = _SIMD_FACTS[fact.id]
            meaning = f"{fact.name}. {fact.meaning}\n{_each(pipes, of[source])}"
            meters.append(
                Meter(name, 100 * float(fact.value), role(color), meaning, _marks(pipes, of[source]))
            )
    meters.append(
        Meter("issue by pipe, a mark a SIMD", 0.0, role("muted"), _pipe_heading(is_gfx9), is_heading=True)
    )
    whole = "of the cycles in which the SIMD had a traced wave"
    for name in pipes.used:
        column = pipes.column(name)
        kind = PIPE_KIND[name]
        meters.append(
            Meter(
                name,
                100 * pipes.share(name),
                _kind(kind),
                f"{PIPE_TEXT[name][:1].upper()}{PIPE_TEXT[name][1:]}, {whole}.\n{_each(pipes, column)}",
                _marks(pipes, column),
            )
        )
    return tuple(meters)


def counter_meters(found: CounterShares) -> tuple[Meter, ...]:
    """The shares that the hardware counted; those of pipes that may issue twice can exceed 100 %."""
    return tuple(
        Meter(
            bar.name,
            bar.value,
            _kind(TokenKind[bar.kind]),
            PEAK if bar.name.endswith("Peak") else MEAN,
        )
        for bar in found.bars
    )


def _pipe_heading(is_gfx9: bool) -> str:
    if is_gfx9:
        return (
            "On this generation a trace records the cycles of issue, not how long a pipe goes on working; "
            "how long the matrix unit works is told by the forms of its instructions."
        )
    return "On this generation a trace records how long an instruction executes."


def _marks(pipes: PipeUse, column: np.ndarray) -> tuple[float, ...]:
    return tuple((100 * column / np.maximum(pipes.resident, 1)).tolist())


def _each(pipes: PipeUse, column: np.ndarray) -> str:
    lines = [
        f"SE {se} CU {cu if cu >= 0 else '?'} SIMD {simd}: {share:.1f} %"
        for se, cu, simd, share in zip(
            pipes.se.tolist(), pipes.cu.tolist(), pipes.simd.tolist(), _marks(pipes, column), strict=True
        )
    ]
    more = [f"and {len(lines) - LISTED} more"] if len(lines) > LISTED else []
    return "\n".join([*lines[:LISTED], *more])


def unit_columns(table: UnitTable) -> tuple[Column, ...]:
    """The columns of the table of compute units."""
    return tuple(
        Column(
            column.id,
            column.title,
            column.values,
            _text_of(column),
            True,
            width=max(40, 7 * len(column.title) + 22),
            tip=column.meaning,
        )
        for column in table.columns
    )


def _text_of(column: UnitColumn) -> Callable[[Any], str]:
    if column.values.dtype.kind != "f":
        return grouped
    digits = 0 if (np.nan_to_num(column.values) % 1 == 0).all() and not column.is_percent else 1
    return lambda value: "" if np.isnan(value) else f"{value:,.{digits}f}"
