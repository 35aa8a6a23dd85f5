"""How `rcv loops` prints its tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rcv_py.analysis.iterations.loop_tables import (
    Asked,
    Rows,
    barriers,
    chains,
    distance,
    first,
    iterations,
    loops,
    names,
    phases,
)
from rcv_py.analysis.iterations.phases import PHASES

__all__ = ["SHOWN", "Asked", "Rows", "Shown", "names"]


@dataclass(frozen=True, slots=True)
class Shown:
    """One table: its columns, the rows, what to say if there are none, and a sentence below it."""

    columns: tuple[str, ...]
    rows: Callable[[Asked], Rows]
    nothing: str
    note: str


SHOWN = {
    "loops": Shown(
        (
            "branch",
            "head",
            "taken",
            "waves",
            "per_wave",
            "min",
            "median",
            "p90",
            "max",
            "split",
            "source",
            "branch_source",
        ),
        loops,
        "No wave that counts jumped back to an instruction it had run.",
        "Cycles of iterations between two jumps back; split: what their cycles were spent on.",
    ),
    "iterations": Shown(
        (
            "branch",
            "wave",
            "iteration",
            "begin",
            "cycles",
            "median",
            "stall",
            "idle",
            "outlier",
            "split",
            "branch_source",
        ),
        iterations,
        "No loop was continued twice, so no iteration lies between two jumps back.",
        "An outlier took much longer than others: beyond the third quartile by 1.5 times their distance.",
    ),
    "phases": Shown(
        ("wave", *PHASES, *(f"{name}_stall" for name in PHASES)),
        phases,
        "No wave ran a loop twice, so there is no steady state.",
        "Cycles before, in and behind the loop that the kernel is about.",
    ),
    "first": Shown(
        ("line", "waves", "hits", "first_stall", "later_stall", "first_share", "text", "source"),
        first,
        "No instruction stalled.",
        "Stall of the first execution in each wave, which no better loop removes, and of all later ones.",
    ),
    "distance": Shown(
        ("line", "n", "median", "p90", "latency", "short", "matrix", "vector", "stall", "text", "source"),
        distance,
        "No wait required an operation.",
        "Cycles from issue to the first wait that required it, and instructions in between (medians); short: "
        "sooner than the measured latency.",
    ),
    "chains": Shown(
        ("first", "last", "links", "times", "cycles", "cycles_per_link", "stall", "text", "source"),
        chains,
        "No chain of cross-lane operations was found.",
        "Each link waits for the one before. Whether it must, or DPP could do it, is not looked at.",
    ),
    "barriers": Shown(
        ("line", "arrived", "workgroup", "waves", "skew", "release_spread", "stall", "last", "source"),
        barriers,
        "No barrier was run by two traced waves of a workgroup.",
        "Skew: cycles from the first to the last arrival of a workgroup's traced waves. Waves are of one "
        "workgroup if the capture says so; if it does not, those whose barriers always opened together.",
    ),
}
