"""Was anything recorded at all?  rocprofv3 writes a folder for a dispatch even if no wave met the target."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.core.occupancy import residencies
from rcv_py.analysis.health.note import HealthNote, Measured, Setting
from rcv_py.analysis.health.traced_units import CU_BITS, LARGEST_TARGET, engine_mask
from rcv_py.base.problems import Severity
from rcv_py.base.text import count, plural
from rcv_py.model.trace import Trace

EVERY_FOURTH_ENGINE = "0x11111111"  # the first engine of every die; more of them fill the buffer sooner


def placeholder(trace: Trace) -> HealthNote | None:
    """Say so if there is no traced wave, and where there were waves to trace."""
    if len(trace.waves) or not trace.has_thread_trace:
        return None
    lives = residencies(trace.occupancy)
    evidence = [Measured("traced waves", 0, "0")]
    if not len(lives):
        return HealthNote(
            name="placeholder",
            severity=Severity.ERROR,
            title="Nothing was recorded",
            evidence=(*evidence, Measured("waves seen anywhere", 0, "0")),
            consequence=(
                "The folder is a placeholder: the traced shader engines ran no wave of this dispatch."
            ),
            remedy=(
                "Record more shader engines, or launch a larger grid; HSA_CU_MASK can steer waves to the "
                "target."
            ),
            settings={"att_shader_engine_mask": EVERY_FOURTH_ENGINE},
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
        name="placeholder",
        severity=Severity.ERROR,
        title="No wave ran on the traced compute unit",
        evidence=tuple(evidence),
        consequence="The folder is a placeholder: it tells when waves ran elsewhere, but has no instruction.",
        remedy=f"Trace compute unit {cu}, where waves of this launch ran, or launch a larger grid.",
        settings=settings,
    )


def _busiest(se: np.ndarray, cu: np.ndarray) -> tuple[int, int, np.ndarray]:
    """The number with most waves that may be a target, how many, and the engines on which they were."""
    number = cu.astype(np.int64) & CU_BITS
    allowed = number <= LARGEST_TARGET
    chosen = number[allowed] if allowed.any() else number
    names, waves = np.unique(chosen, return_counts=True)
    best = int(names[np.argmax(waves)])
    return best, int(waves.max()), se[number == best]


def sampled(trace: Trace) -> HealthNote | None:
    """Say so if the capture holds samples instead of a trace."""
    if trace.has_thread_trace or not trace.has_pc_samples:
        return None
    return HealthNote(
        name="sampled",
        severity=Severity.INFO,
        title="The capture holds PC samples and no thread trace",
        evidence=(Measured("instructions with rows", len(trace.code), count(len(trace.code))),),
        consequence="There are no waves, no times and no waits; shares are statistical.",
        remedy="Read stall reasons by instruction; record a thread trace for timelines.",
        settings={"advanced_thread_trace": True},
    )
