"""Findings of waves that wait for each other or for themselves: barriers, and chains of cross-lane moves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.findings.evidence import (
    line_of,
    of_pattern,
    producers_of,
    wave_of,
    window_of,
    worst_of,
)
from rcv_py.analysis.findings.finding import Finding
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.findings.patterns import Pattern
from rcv_py.analysis.findings.waiting import BOUND, CERTAIN, bounded, remedy_fields, situation
from rcv_py.analysis.waves.workgroups import TOLD_TEXT
from rcv_py.base.text import count, percent, plural

ALWAYS_LAST = 0.5  # of the instances that one wave is last in: beyond it the work is not shared evenly


def chains(inputs: FindingInputs) -> Iterator[Finding]:
    """Cross-lane moves of which each waits for the one before."""
    rows = inputs.rows_of(Pattern.CROSS_LANE)
    claimed = inputs.claimed(rows)
    found = inputs.chains
    if not len(claimed) or not len(found):
        return
    links = int((found.links * found.times).sum())
    per_link = int(found.cycles.sum()) / max(1, links)
    longest = int(found.links.max())
    stalled, total = int(inputs.attribution.stall[rows].sum()), max(1, inputs.attribution.total_stall)
    ends = [(int(found.first[i]), int(found.last[i]), int(found.links[i])) for i in range(min(2, len(found)))]
    evidence = [
        line_of(inputs, first, f"begins a chain of {links_of} links that ends with instruction {last}")
        for first, last, links_of in ends
    ]
    yield bounded(
        inputs,
        claimed,
        name="serial-cross-lane-chain",
        title="Serialized cross-lane chain",
        sentence=f"{plural(len(found), 'chain')} of up to {longest} links: each ds_bpermute (or its like) "
        f"is waited for before the next one is issued, {round(per_link):,} cycles a link. {count(stalled)} "
        f"of {count(total)} stalled cycles of all waves ({percent(stalled, total)} of stall) wait for "
        "cross-lane moves.",
        **remedy_fields("serial-cross-lane-chain", situation(inputs, rows, claimed)),
        evidence=(*evidence, *worst_of(inputs, rows, claimed), *producers_of(inputs, rows)),
        assumption="What is computed between the links is not looked at, so a chain may be unavoidable. "
        f"{CERTAIN} {BOUND}",
    )


def barriers(inputs: FindingInputs) -> Iterator[Finding]:
    """Waves that wait for the last one of their workgroup."""
    rows = inputs.rows_of(Pattern.BARRIER)
    claimed = inputs.claimed(rows)
    if not len(claimed):
        return
    evidence = list(of_pattern(inputs, rows, claimed))
    words = [_paid(inputs, rows, claimed.count)]
    flags: tuple[str, ...] = ()
    skew = inputs.skew
    if len(skew):
        worst = int(np.argmax(skew.skew))
        words.append(
            f"In {plural(len(skew), 'instance')} the last wave came {count(int(skew.median or 0))} cycles "
            f"after the first (median), at most {count(int(skew.skew[worst]))}."
        )
        begin = int(skew.arrived[worst])
        evidence.append(
            window_of(begin, begin + int(skew.skew[worst]), "largest skew, first to last arrival")
        )
        evidence.append(wave_of(inputs, int(skew.last[worst]), "arrived last there"))
        often, times = _most_often(skew.last)
        if times > ALWAYS_LAST * len(skew) and len(skew) >= 8:
            words.append(f"{inputs.trace.waves.id(often)} was last in {count(times)} of them.")
            flags = ("uneven-arrival",)
    groups = f" How workgroups are told: {TOLD_TEXT[skew.told]}." if len(skew) else ""
    yield bounded(
        inputs,
        claimed,
        name="barrier-skew",
        title="Waits at barriers for the last wave",
        sentence=" ".join(words),
        **remedy_fields("barrier-skew", situation(inputs, rows, claimed, flags)),
        evidence=tuple(evidence),
        assumption=f"The wait is certain; only recorded waves can be seen to arrive.{groups} {BOUND}",
    )


def _paid(inputs: FindingInputs, rows: np.ndarray, times: int) -> str:
    stalled, total = int(inputs.attribution.stall[rows].sum()), max(1, inputs.attribution.total_stall)
    return (
        f"{count(stalled)} of {count(total)} stalled cycles of all waves ({percent(stalled, total)}) are "
        f"spent at barriers, {plural(times, 'execution')}."
    )


def _most_often(rows: np.ndarray) -> tuple[int, int]:
    values, times = np.unique(rows, return_counts=True)
    best = int(np.argmax(times))
    return int(values[best]), int(times[best])
