"""How the time of all waves went in percent, and what is wrong with a capture."""

from __future__ import annotations

from dataclasses import dataclass

from rcv_py.analysis.cost.activity import activity
from rcv_py.analysis.health.capture_health import table_problems
from rcv_py.base.problems import Problem
from rcv_py.model.code import CodeTable
from rcv_py.model.trace import Trace


@dataclass(frozen=True, slots=True)
class Pie:
    """Where the time of all waves went, in percent of latency plus idle; all zero if there was none."""

    idle: float
    stall: float
    issue: float


def pie(code: CodeTable) -> Pie:
    """Return the activity distribution over all traced waves."""
    return Pie(*activity(code).percent)


def problems(trace: Trace) -> tuple[Problem, ...]:
    """Return what was wrong when opening and what the tables say about themselves, each text once."""
    found = {problem.text: problem for problem in (*trace.problems, *table_problems(trace))}
    return tuple(found.values())
