"""A capture in numbers: what `rcv info` prints and the overview shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rcv_py.analysis.core.occupancy import residencies, steps
from rcv_py.analysis.cost.activity import activity
from rcv_py.analysis.health.capture_health import table_problems
from rcv_py.analysis.health.mapping import mapping
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


def info(trace: Trace) -> dict[str, Any]:
    """Return facts about an open trace as plain Python values; no wave file is needed."""
    return {
        "name": trace.name,
        "path": str(trace.path),
        "format": {
            "version": trace.version,
            "target": trace.target,
            "target_from": trace.target_from,
            "gfxip": trace.gfxip,
            "thread_trace": trace.has_thread_trace,
            "pc_samples": trace.has_pc_samples,
        },
        "kernel": trace.kernel_name,
        "kernels": [kernel.demangled for kernel in trace.code.kernels],
        "waves": _waves(trace),
        "code": _code(trace.code),
        "activity": asdict(pie(trace.code)),
        "source": _source(trace),
        "occupancy": _occupancy(trace),
        "clock": _clock(trace),
        "extras": {
            "counters": list(trace.counter_names),
            "dispatches": len(trace.dispatches),
            "events": None if trace.events is None else len(trace.events.time),
            "markers": len(trace.markers),
        },
        "problems": [_problem(problem) for problem in problems(trace)],
    }


def problems(trace: Trace) -> tuple[Problem, ...]:
    """Return what was wrong when opening and what the tables say about themselves, each text once."""
    found = {problem.text: problem for problem in (*trace.problems, *table_problems(trace))}
    return tuple(found.values())


def _waves(trace: Trace) -> dict[str, Any]:
    index = trace.waves
    engines, count = np.unique(index.se, return_counts=True)
    life = (index.end - index.begin).astype(np.int64)
    return {
        "count": len(index),
        "bytes": int(index.size.sum()),
        "by_shader_engine": dict(zip(map(str, engines.tolist()), count.tolist(), strict=True)),
        "slots": len({*zip(index.se.tolist(), index.simd.tolist(), index.slot.tolist(), strict=True)}),
        "shortest": int(life.min(initial=np.iinfo(np.int64).max)) if len(index) else 0,
        "longest": int(life.max(initial=0)),
        "cycles": int(life.sum()),
    }


def _code(code: CodeTable) -> dict[str, Any]:
    if not len(code):  # no file tells the program, nor what it cost
        names = ("instructions", "executed", "hits", "latency", "stall", "issue", "idle")
        return dict.fromkeys((*names, "samples_issued", "samples_stalled"))
    return {
        "instructions": int(np.count_nonzero(~code.is_label)),
        "executed": int(np.count_nonzero(code.hits > 0)),
        "hits": int(code.hits.sum()),
        "latency": int(code.latency.sum()),
        "stall": int(code.stall.sum()),
        "issue": int(code.latency.sum() - code.stall.sum()),
        "idle": int(code.idle.sum()),
        "samples_issued": _sum(code.samples_issued),
        "samples_stalled": _sum(code.samples_stalled),
    }


def _sum(column: np.ndarray | None) -> int | None:
    return None if column is None else int(column.sum())


def _source(trace: Trace) -> dict[str, Any]:
    spread = mapping(trace.code)
    top = trace.sources[spread.top_file].path if spread.top_file >= 0 else ""
    return {
        "mapped": trace.code.mapped_rows,
        "files": len(trace.sources),
        "files_with_text": sum(source.lines is not None for source in trace.sources),
        "lines": spread.source_lines,
        "effective_lines": round(spread.effective, 2),
        "top": f"{top}:{spread.top_line}" if top else "",
        "top_share": round(spread.top_share, 4),
        "top_cost_share": round(spread.top_cost, 4),
    }


def _occupancy(trace: Trace) -> dict[str, Any]:
    lives = residencies(trace.occupancy)
    curve = steps(trace.occupancy).get(-1)
    if not len(trace.occupancy) or curve is None:  # nobody recorded which waves there were
        return dict.fromkeys(("waves", "compute_units", "peak", "mean", "unfinished"))
    width = int(curve.time[-1] - curve.time[0])
    return {
        "waves": len(lives),
        "compute_units": len({*zip(lives.se.tolist(), lives.sa.tolist(), lives.cu.tolist(), strict=True)}),
        "peak": int(curve.waves.max()),
        "mean": round(curve.area / width, 2) if width else 0.0,
        "unfinished": int(np.count_nonzero(lives.is_open_end)),
    }


def _clock(trace: Trace) -> dict[str, Any]:
    span, clock = trace.span, trace.clock
    ns = clock.ns(span.width)
    return {
        "begin": span.begin,
        "end": span.end,
        "cycles": span.width,
        "ns": None if ns is None else round(ns, 1),
        "shader_mhz": round(clock.shader_hz / 1e6, 1) if clock.shader_hz else None,
        "aligned": clock.is_aligned,
        "offsets": {str(se): int(offset) for se, offset in sorted(clock.offsets.items())},
    }


def _problem(problem: Problem) -> dict[str, str]:
    return {
        "severity": str(problem.severity),
        "where": problem.where,
        "text": problem.text,
        "hint": problem.hint,
    }
