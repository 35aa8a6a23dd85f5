"""Sections about waves: registers and room for more, how many were there over time, each traced one."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.core.median import nearest_to_median
from rcv_py.analysis.cost.distribution import histogram
from rcv_py.analysis.device.occupancy_curves import occupancy_curves, occupancy_numbers
from rcv_py.base.text import count, percent
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import (
    Bins,
    Cell,
    Curve,
    Heading,
    Note,
    Part,
    Section,
    Table,
    code,
    number,
    share,
)
from rcv_py.export.report.places import cycle_anchor, wave_anchor
from rcv_py.model.waves import Wave

MOST_WAVES = 300
BINS = 40


def registers(inputs: ReportInputs) -> Section | None:
    """What a wave takes of each resource, how many fit, and what the next step takes."""
    if not len(inputs.trace.code) or not inputs.trace.has_thread_trace:
        return None
    found = inputs.looked_at.limits
    rows = tuple(
        (
            Cell(one.name),
            number(one.used),
            number(one.given),
            number(one.of),
            number(one.waves),
            Cell(one.source),
        )
        for one in found.limits
    )
    heads = (
        Heading("resource"),
        *(Heading(name, True) for name in ("used", "given", "of", "waves that fit")),
        Heading("told by"),
    )
    parts: list[Part] = [Table(heads, rows)]
    binding = found.binding
    text = f"A SIMD can hold {count(found.waves)} of {count(found.cap)} waves"
    parts.append(Note(f"{text}; {binding.name} bind. {found.next_step}".strip() if binding else f"{text}."))
    parts += [Note(note, "warning") for note in found.notes]
    intro = "How many waves could be resident; how many were is told below. More only help to hide latency."
    return Section("registers", "Register pressure and room for waves", tuple(parts), intro)


def occupancy(inputs: ReportInputs) -> Section | None:
    """Resident waves over time, in all and by shader engine."""
    curves = [curve for by in ("all", "se") for curve in occupancy_curves(inputs.trace, by)]
    if not curves or not len(curves[0].steps):
        return None
    rows = []
    for curve in curves:
        one = occupancy_numbers(curve.steps)
        span = one.end - one.begin
        rows.append(
            (
                Cell(curve.name),
                number(curve.units),
                number(one.peak),
                Cell(f"{one.mean:,.1f}", value=one.mean),
                Cell(
                    percent(one.mean, curve.slots) if curve.slots else "",
                    value=one.mean / max(1, curve.slots),
                ),
                Cell(percent(one.tail, 1)),
                number(one.begin),
                number(span),
            )
        )
    names = ("units", "peak", "mean", "mean of slots", "tail", "begin", "cycles")
    heads = (Heading("waves"), *(Heading(name, True) for name in names))
    whole = curves[0].steps
    drawn = Curve(
        "Waves resident on all compute units that the trace saw, by cycle",
        whole.time.tolist(),
        whole.waves.tolist(),
    )
    intro = "Tail: the share of time behind the last moment with more than half of the peak."
    return Section("occupancy", "Resident waves over time", (drawn, Table(heads, tuple(rows))), intro)


def waves(inputs: ReportInputs) -> Section | None:
    """How long waves lived, and each of the longest with its place."""
    every = inputs.waves
    if not every:
        return None
    life = np.array([wave.end - wave.begin for wave in every], dtype=np.int64)
    order = np.argsort(life, kind="stable")
    named = {"shortest": order[0], "median": nearest_to_median(life), "longest": order[-1]}
    told = Table(
        _HEADS, tuple(_row(inputs, every[at], name) for name, at in named.items()), "Three that stand for all"
    )
    spread = histogram(life, BINS, step=inputs.trace.base_clock)
    bins = Bins("Waves by cycles of life", spread.edges.tolist(), spread.totals.tolist())
    shown = sorted(order[::-1][:MOST_WAVES].tolist())
    rows = tuple(_row(inputs, every[at], "") for at in shown)
    part = (
        "All waves"
        if len(shown) == len(every)
        else f"The {count(len(shown))} longest of {count(len(every))} waves"
    )
    parts = (bins, told, Table(_HEADS, rows, part, is_folded=True))
    intro = "The name of a wave is a place: --goto of `rcv view` and Go to place in the window take it."
    return Section("waves", "Traced waves", parts, intro)


_HEADS = (
    Heading("wave"),
    Heading(""),
    *(
        Heading(name, True)
        for name in ("CU", "begins at cycle", "cycles", "instructions", "stall", "share of its life")
    ),
)


def _row(inputs: ReportInputs, wave: Wave, name: str) -> tuple[Cell, ...]:
    stall, life = int(wave.tokens.stall.sum(dtype=np.int64)), wave.end - wave.begin
    return (
        code(str(wave.id), anchor=wave_anchor(wave.id)),
        Cell(name),
        number(wave.cu),
        number(wave.begin, anchor=cycle_anchor(wave.begin, wave.id)),
        number(life),
        number(len(wave.tokens)),
        number(stall),
        share(stall, life),
    )
