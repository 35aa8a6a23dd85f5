"""Noise between two captures of the same instructions: smaller effects cannot be concluded."""

import numpy as np

from rcv_py.analysis.health.note import HealthNote, Measured, number, share
from rcv_py.base.problems import Severity
from rcv_py.base.record import Value
from rcv_py.base.text import Message, percent
from rcv_py.model.code import CodeTable
from rcv_py.model.trace import Trace


class ReplicateNoise(Value):
    """How much two captures of the same instructions differ."""

    lines: int  # lines that ran in both
    per_hit: float  # mean absolute difference of latency per execution over the first's mean; 0.05 is 5 %
    net: float  # the same with signs: the second against the first
    hits: float  # executions, second over first
    stall: tuple[float, float]  # share of the latency that is stall, of each


def fingerprint(code: CodeTable) -> str:
    """Return a fingerprint, equal for code tables with the same instructions in the same order."""
    import hashlib  # noqa: PLC0415 - it loads OpenSSL, and few commands look at two captures

    lines = [text for text, is_label in zip(code.text, code.is_label.tolist(), strict=True) if not is_label]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest() if lines else ""


def line_costs(code: CodeTable) -> np.ndarray:
    """Return hits, latency and stall (cycles) of instructions, labels left out; int64 [3, instructions]."""
    return np.array([code.hits, code.latency, code.stall], dtype=np.int64)[:, ~code.is_label]


def replicate_noise(first: np.ndarray, second: np.ndarray) -> ReplicateNoise | None:
    """Return how much two `line_costs` differ; None if no line ran in both, or if lengths differ.

    Latencies are divided by executions, so the number of traced waves does not matter; lines are weighted by
    their executions in the first.
    """
    if first.shape != second.shape:
        return None
    both = (first[0] > 0) & (second[0] > 0)
    total = int(first[1, both].sum())
    if not total:
        return None
    hits = first[0, both].astype(np.float64)
    change = second[1, both] / second[0, both] - first[1, both] / hits
    stalled = [float(costs[2].sum() / max(1, int(costs[1].sum()))) for costs in (first, second)]
    return ReplicateNoise(
        int(np.count_nonzero(both)),
        float((hits * np.abs(change)).sum() / total),
        float((hits * change).sum() / total),
        float(second[0].sum() / max(1, int(first[0].sum()))),
        (stalled[0], stalled[1]),
    )


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
        title=Message("A replicate differs by {0} of the latency per execution", percent(noise.per_hit, 1)),
        evidence=(
            Measured("replicate", other.name, other.name),
            number("instructions that ran in both", noise.lines),
            share("difference per execution", noise.per_hit),
            Measured("with signs", noise.net, f"{100 * noise.net:+.1f} %"),
            Measured("executions", noise.hits, Message("{0:.2f} times as many", noise.hits)),
            Measured("stall", noise.stall[1], Message("{0} here, {1} there", here, there)),
        ),
        consequence="The instructions are the same: a change of that size shows nothing.",
        remedy="Compare per execution, and count only what is larger than between replicates.",
    )
