"""Two captures of the same instructions: what differs is noise, and no smaller effect can be concluded."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.health.note import HealthNote, Measured, number, share
from rcv_py.base.problems import Severity
from rcv_py.base.text import percent
from rcv_py.model.code import CodeTable
from rcv_py.model.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class LineCosts:
    """What a comparison of replicates needs of a code table, one row a code line, int64."""

    hits: np.ndarray
    latency: np.ndarray  # cycles
    stall: np.ndarray  # cycles


@dataclass(frozen=True, slots=True)
class ReplicateNoise:
    """How much two captures of the same instructions differ."""

    lines: int  # that ran in both
    per_hit: float  # mean absolute difference of latency per execution, of the first's mean; 0.05 is 5 %
    net: float  # the same with signs: the second against the first
    hits: float  # executions of the second over those of the first
    stall: tuple[float, float]  # share of the latency that is stall, of each


def fingerprint(code: CodeTable) -> str:
    """Return a name that two code tables share if they hold the same instructions in the same order."""
    lines = [text for text, is_label in zip(code.text, code.is_label.tolist(), strict=True) if not is_label]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest() if lines else ""


def line_costs(code: CodeTable) -> LineCosts:
    """Return the costs of the instructions, labels left out."""
    rows = ~code.is_label
    return LineCosts(code.hits[rows], code.latency[rows], code.stall[rows])


def replicate_noise(first: LineCosts, second: LineCosts) -> ReplicateNoise | None:
    """Return how much they differ; None if no line ran in both, or if they have different lengths.

    Latencies are divided by executions, so it does not matter how many waves were traced; lines weigh as
    often as they ran in the first.
    """
    if len(first.hits) != len(second.hits):
        return None
    both = (first.hits > 0) & (second.hits > 0)
    whole = int(first.latency[both].sum())
    if not whole:
        return None
    hits = first.hits[both].astype(np.float64)
    change = second.latency[both] / second.hits[both] - first.latency[both] / hits
    return ReplicateNoise(
        int(np.count_nonzero(both)),
        float((hits * np.abs(change)).sum() / whole),
        float((hits * change).sum() / whole),
        float(second.hits.sum() / max(1, int(first.hits.sum()))),
        (_stall(first), _stall(second)),
    )


def _stall(costs: LineCosts) -> float:
    return float(costs.stall.sum() / max(1, int(costs.latency.sum())))


def replicate(trace: Trace, other: Trace | None) -> HealthNote | None:
    """Return the noise floor if `other` holds the same instructions."""
    if other is None or not len(trace.code) or fingerprint(trace.code) != fingerprint(other.code):
        return None
    noise = replicate_noise(line_costs(trace.code), line_costs(other.code))
    if noise is None:
        return None
    here, there = (percent(stall, 1) for stall in noise.stall)
    return HealthNote(
        name="twin",
        severity=Severity.INFO,
        title=f"A replicate differs by {percent(noise.per_hit, 1)} of the latency per execution",
        evidence=(
            Measured("replicate", other.name, other.name),
            number("instructions that ran in both", noise.lines),
            share("difference per execution", noise.per_hit),
            Measured("with signs", noise.net, f"{100 * noise.net:+.1f} %"),
            Measured("executions", noise.hits, f"{noise.hits:.2f} times as many"),
            Measured("stall", noise.stall[1], f"{here} here, {there} there"),
        ),
        consequence="The instructions are the same: a change of that size shows nothing.",
        remedy="Compare per execution, and count only what is larger than between replicates.",
    )
