"""Was anything recorded at all?  rocprofv3 writes a folder for a dispatch even if no wave met the target."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.core.occupancy import residencies
from rcv_py.analysis.health.note import HealthNote, Measured, Setting
from rcv_py.analysis.health.places import CU_BITS, LARGEST_TARGET, engine_mask, traced_lives
from rcv_py.base.problems import Severity
from rcv_py.base.text import count, percent, plural
from rcv_py.model.trace import Trace

MOSTLY_UNEXECUTED = 0.1  # of the instructions ran: an early exit, not the kernel
LONGER = 2.0  # times the life of the traced waves: those had work
MANY_LINES = 50  # instructions below which a share says little
EVERY_FOURTH_ENGINE = "0x11111111"  # the first engine of every die; more of them fill the buffer sooner


def placeholder(trace: Trace) -> HealthNote | None:
    """Say so if there is no traced wave, and where there were waves to trace."""
    if len(trace.waves) or not trace.has_thread_trace:
        return None
    lives = residencies(trace.occupancy)
    evidence = [Measured("traced waves", 0, "0")]
    if not len(lives):
        return HealthNote(
            "placeholder",
            Severity.ERROR,
            "Nothing was recorded",
            (*evidence, Measured("waves seen anywhere", 0, "0")),
            "The folder is a placeholder: the traced shader engines ran no wave of this dispatch.",
            "Record more shader engines, or launch a larger grid; HSA_CU_MASK can steer waves to the target.",
            {"att_shader_engine_mask": EVERY_FOURTH_ENGINE},
        )
    cu, waves, engines = _busiest(lives.se, lives.cu)
    settings: dict[str, Setting] = {"att_shader_engine_mask": engine_mask(engines)}
    if cu <= LARGEST_TARGET:
        settings["att_target_cu"] = cu
    evidence += [
        Measured("waves on other compute units", len(lives), count(len(lives))),
        Measured("busiest compute unit", cu, f"{cu}, with {plural(waves, 'wave')}"),
    ]
    return HealthNote(
        "placeholder",
        Severity.ERROR,
        "No wave ran on the traced compute unit",
        tuple(evidence),
        "The folder is a placeholder: it tells when waves ran elsewhere, but has no instruction.",
        f"Trace compute unit {cu}, where waves of this launch ran, or launch a larger grid.",
        settings,
    )


def _busiest(se: np.ndarray, cu: np.ndarray) -> tuple[int, int, np.ndarray]:
    """The number with most waves that may be a target, how many, and the engines on which they were."""
    number = cu.astype(np.int64) & CU_BITS
    allowed = number <= LARGEST_TARGET
    chosen = number[allowed] if allowed.any() else number
    names, waves = np.unique(chosen, return_counts=True)
    best = int(names[np.argmax(waves)])
    return best, int(waves.max()), se[number == best]


def hardly_ran(trace: Trace) -> HealthNote | None:
    """Say so if the traced waves left the kernel early."""
    code = trace.code
    rows, ran = int(np.count_nonzero(~code.is_label)), int(np.count_nonzero(code.hits > 0))
    if not len(trace.waves) or rows < MANY_LINES or ran > MOSTLY_UNEXECUTED * rows:
        return None
    hits = int(code.hits.sum())
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
        "hardly_ran",
        Severity.WARNING,
        "The traced waves took an early exit",
        tuple(evidence),
        "Costs are those of the way out, not of the work of the kernel.",
        remedy,
        settings,
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


def sampled(trace: Trace) -> HealthNote | None:
    """Say so if the capture holds samples instead of a trace."""
    if trace.has_thread_trace or not trace.has_pc_samples:
        return None
    return HealthNote(
        "sampled",
        Severity.INFO,
        "The capture holds PC samples and no thread trace",
        (Measured("instructions with rows", len(trace.code), count(len(trace.code))),),
        "There are no waves, no times and no waits; shares are statistical.",
        "Read stall reasons by instruction; record a thread trace for timelines.",
        {"advanced_thread_trace": True},
    )
