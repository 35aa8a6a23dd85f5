"""Do the traced waves work?  Those that took an early exit show what the way out costs, not the kernel."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.core.occupancy import residencies
from rcv_py.analysis.health.note import HealthNote, Measured, Setting
from rcv_py.analysis.health.traced_units import CU_BITS, LARGEST_TARGET, traced_lives
from rcv_py.analysis.waves.populations import Populations, ran_text
from rcv_py.base.problems import Problem, Severity
from rcv_py.base.text import count, percent, plural
from rcv_py.model.trace import Trace

MOSTLY_UNEXECUTED = 0.1  # of the instructions ran: an early exit, not the kernel
MANY_LINES = 50  # instructions below which a share says little
LONGER = 2.0  # times the life of the traced waves: those had work


def _executed(trace: Trace) -> tuple[int, int] | None:
    """Instructions that ran, and all, if so few ran that the waves left early; None otherwise."""
    code = trace.code
    rows, ran = int(np.count_nonzero(~code.is_label)), int(np.count_nonzero(code.hits > 0))
    is_early = len(trace.waves) and rows >= MANY_LINES and ran <= MOSTLY_UNEXECUTED * rows
    return (ran, rows) if is_early else None


def hardly_ran_problem(trace: Trace) -> Problem | None:
    """Return `hardly_ran` as one sentence for the list of problems."""
    executed = _executed(trace)
    if executed is None:
        return None
    text = f"Only {count(executed[0])} of {count(executed[1])} instructions ran in the traced waves."
    hint = "They took an early exit; trace a compute unit or a launch that has work."
    return Problem(Severity.INFO, "code.json", text, hint)


def hardly_ran(trace: Trace) -> HealthNote | None:
    """Say so if the traced waves left the kernel early."""
    executed = _executed(trace)
    if executed is None:
        return None
    ran, rows = executed
    hits = int(trace.code.hits.sum())
    evidence = [
        Measured("instructions that ran", ran, f"{count(ran)} of {count(rows)} ({percent(ran, rows)})"),
        Measured("executions by wave", hits / len(trace.waves), f"{hits / len(trace.waves):,.1f}"),
    ]
    own, others, busiest, longest = _lives_elsewhere(trace)
    if others:
        text = f"{others:,.0f} cycles on average, {own:,.0f} here"
        evidence.append(Measured("waves elsewhere live", others, text))
    settings: dict[str, Setting] = {"kernel_iteration_range": "[2]"}
    remedy = "Trace another launch, one in which the traced compute unit gets work."
    if longest > LONGER * own > 0:
        settings = {"att_target_cu": busiest}
        remedy = f"Trace compute unit {busiest}, whose waves live {longest:,.0f} cycles, or another launch."
    return HealthNote(
        name="hardly_ran",
        severity=Severity.WARNING,
        title="The traced waves took an early exit",
        evidence=tuple(evidence),
        consequence="Costs are those of the way out, not of the work of the kernel.",
        remedy=remedy,
        settings=settings,
    )


def _lives_elsewhere(trace: Trace) -> tuple[float, float, int, float]:
    """Mean life on traced places and elsewhere; the target whose waves live longest, and how long."""
    lives = residencies(trace.occupancy)
    here, life = traced_lives(trace, lives), (lives.end - lives.begin).astype(np.float64)
    if here.all() or not here.any():
        return 0.0, 0.0, -1, 0.0
    number = lives.cu.astype(np.int64) & CU_BITS
    allowed = ~here & (number <= LARGEST_TARGET)
    mean = np.bincount(number[allowed], life[allowed]) / np.maximum(np.bincount(number[allowed]), 1)
    best = int(np.argmax(mean)) if len(mean) else -1
    return float(life[here].mean()), float(life[~here].mean()), best, float(mean[best]) if len(mean) else 0.0


def left_early(found: Populations) -> HealthNote | None:
    """Say so if no traced wave works, or how many of them left early or are empty."""
    idle = int(found.waves[~found.is_working].sum())
    if not idle:
        return None
    evidence = [
        Measured(
            found.name[at],
            int(found.waves[at]),
            f"{plural(int(found.waves[at]), 'wave')} with {found.instructions[at]:,.0f} executions each",
        )
        for at in np.flatnonzero(~found.is_working).tolist()
    ]
    if not found.has_working:
        return HealthNote(
            name="no_working_waves",
            severity=Severity.WARNING,
            title="No traced wave did the work of the kernel",
            evidence=(Measured("instructions that ran", found.ran, ran_text(found)), *evidence),
            consequence="Costs are those of the way out: nothing is ranked.",
            remedy="Trace another dispatch, another compute unit or other shader engines.",
            settings={"kernel_iteration_range": "[2]"},
        )
    return HealthNote(
        name="early_waves",
        severity=Severity.INFO,
        title=f"{count(idle)} of {plural(found.read, 'traced wave')} did not do the work of the kernel",
        evidence=(*evidence, Measured("their part of the cycles", _share(found), percent(_share(found), 1))),
        consequence="Tables and findings that explain leave them out; totals of code.json count them.",
        remedy="`--waves all` takes them in; rcv waves --populations lists the ways that waves took.",
    )


def _share(found: Populations) -> float:
    return float(found.share[~found.is_working].sum())
