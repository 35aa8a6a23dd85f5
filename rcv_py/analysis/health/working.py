"""Do the traced waves work?  Those that left early tell what the way out costs, not the kernel."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.health.note import HealthNote, Measured
from rcv_py.analysis.waves.populations import Populations, ran_text
from rcv_py.base.problems import Severity
from rcv_py.base.text import count, percent, plural


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
            "no_working_waves",
            Severity.WARNING,
            "No traced wave did the work of the kernel",
            (Measured("instructions that ran", found.ran, ran_text(found)), *evidence),
            "Costs are those of the way out: nothing is ranked.",
            "Trace another dispatch, another compute unit or other shader engines.",
            {"kernel_iteration_range": "[2]"},
        )
    return HealthNote(
        "early_waves",
        Severity.INFO,
        f"{count(idle)} of {plural(found.read, 'traced wave')} did not do the work of the kernel",
        (*evidence, Measured("their part of the cycles", _share(found), percent(_share(found), 1))),
        "Tables and findings that explain leave them out; totals of code.json count them.",
        "`--waves all` takes them in; rcv waves --populations lists the ways that waves took.",
    )


def _share(found: Populations) -> float:
    return float(found.share[~found.is_working].sum())
