"""How far the numbers of a capture can be trusted, told from its tables alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.cost_columns import cost_columns
from rcv_py.base.problems import Problem, Severity
from rcv_py.base.text import count, percent, plural
from rcv_py.model.code import CodeTable
from rcv_py.model.modes import LatencyMode
from rcv_py.model.trace import Trace

COLLAPSED = 0.5  # of the mapped code lines on one source line: the compiler lost the others
MANY_LINES = 50  # code lines below which a share says little
MOSTLY_UNEXECUTED = 0.1  # of the code lines ran
NOTABLE_DRAIN = 0.05  # of the latency


@dataclass(frozen=True, slots=True)
class Mapping:
    """How code lines that ran spread over source lines."""

    code_lines: int  # that ran and have a source place
    source_lines: int  # distinct innermost places of those
    top_file: int  # the place with most code lines, -1 if there is none
    top_line: int
    top_share: float  # of the code lines, 0 to 1
    top_cost: float  # of their cost, 0 to 1
    effective: float  # e to the entropy of the shares: as if so many lines were used evenly


def mapping(code: CodeTable) -> Mapping:
    """Return how the code lines that ran (all of them, if none did) spread over their innermost places."""
    rows = np.flatnonzero((code.leaf >= 0) & ~code.is_label)
    ran = rows[code.hits[rows] > 0]
    rows = ran if len(ran) else rows
    if not len(rows):
        return Mapping(0, 0, -1, 0, 0.0, 0.0, 0.0)
    leaf = code.leaf[rows]
    key = code.chain_file[leaf].astype(np.int64) << 32 | code.chain_line[leaf]
    places, group, size = np.unique(key, return_inverse=True, return_counts=True)
    top = int(np.argmax(size))
    cost = cost_columns(code, LatencyMode.SUM_ALL, None, None).cost[rows]
    share = size / len(rows)
    return Mapping(
        len(rows),
        len(places),
        int(places[top] >> 32),
        int(places[top] & 0xFFFFFFFF),
        float(share[top]),
        float(cost[group.reshape(-1) == top].sum() / max(int(cost.sum()), 1)),
        float(np.exp(-(share * np.log(share)).sum())),
    )


def drain(code: CodeTable) -> tuple[int, int]:
    """Return (cycles that waves spent on s_endpgm, all cycles of latency): waiting for their last stores."""
    ends = np.array([text.startswith("s_endpgm") for text in code.text], dtype=bool)
    return int(code.latency[ends].sum()), int(code.latency.sum())


def health(trace: Trace) -> tuple[Problem, ...]:
    """Return sentences about what a reader of the numbers should know; what is missing, the reader told."""
    found = (_executed(trace), _collapsed(trace), _drained(trace))
    return tuple(problem for problem in found if problem is not None)


def _executed(trace: Trace) -> Problem | None:
    code = trace.code
    rows, ran = int(np.count_nonzero(~code.is_label)), int(np.count_nonzero(code.hits > 0))
    if not len(trace.waves) or rows < MANY_LINES or ran > MOSTLY_UNEXECUTED * rows:
        return None
    text = f"Only {count(ran)} of {count(rows)} instructions ran in the traced waves."
    hint = "They took an early exit; trace a compute unit or a launch that has work."
    return Problem(Severity.INFO, "code.json", text, hint)


def _collapsed(trace: Trace) -> Problem | None:
    spread = mapping(trace.code)
    if spread.code_lines < MANY_LINES or spread.top_share < COLLAPSED:
        return None
    path = trace.sources[spread.top_file].path.rsplit("/", 1)[-1]
    text = (
        f"{percent(spread.top_share, 1)} of the mapped instructions ({percent(spread.top_cost, 1)} of their "
        f"cost) point at one source line, {path}:{spread.top_line}; "
        f"{plural(spread.source_lines, 'source line')} in all."
    )
    hint = "Compilers put code there whose place they lost, so read costs by source line with care."
    return Problem(Severity.WARNING, "code.json", text, hint)


def _drained(trace: Trace) -> Problem | None:
    cycles, whole = drain(trace.code)
    if not whole or cycles < NOTABLE_DRAIN * whole:
        return None
    text = f"{percent(cycles, whole)} of the latency is s_endpgm: waves that wait for their last stores."
    hint = "It is counted as issue, but nothing is issued there."
    return Problem(Severity.INFO, "code.json", text, hint)
