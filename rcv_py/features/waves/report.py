"""Sections about waves: their activity, and each traced wave."""

from collections.abc import Sequence

import numpy as np

from rcv_py.analysis.core.median import nearest_to_median
from rcv_py.analysis.cost.activity import SHOWN
from rcv_py.analysis.cost.distribution import histogram
from rcv_py.analysis.waves.wave_facts import WaveFactColumns
from rcv_py.base.text import Message, count, plural
from rcv_py.export.report import cells
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import Part, ReportHistogram, ReportSection, ReportShare, ReportTable, Stacked
from rcv_py.features.waves.result import LIVED
from rcv_py.model.kinds import STATE_NAME
from rcv_py.results.common import WAVE_NAME

MAX_WAVES = 300
BINS = 40


def activity(inputs: ReportInputs) -> ReportSection | None:
    """Idle, stall and issue of all waves, and their states."""
    cycles, states = inputs.summary.activity, inputs.summary.states
    parts: list[Part] = []
    if cycles is not None:
        split = [ReportShare(name, getattr(cycles, name), name) for name in ("issue", "stall", "idle")]
        parts += _stacked("Activity of all traced waves, by the program's counts", split)
    if states is not None:
        shares = ((STATE_NAME[state], int(states.cycles[state]), f"state-{state.name}") for state in SHOWN)
        split = [ReportShare(*share) for share in shares]
        parts += _stacked(Message("States of {0}, by their timelines", plural(states.waves, "wave")), split)
    intro = (
        "Cycles are summed over waves that ran at the same time: their shares are not shares of elapsed time."
    )
    return ReportSection("activity", "Where the waves' time went", parts, intro) if parts else None


def _stacked(title: str, parts: Sequence[ReportShare]) -> list[Part]:
    values = [part.value for part in parts]
    shown = cells.table(
        cells.texts("part", (part.name for part in parts)),
        cells.numbers("cycles", values),
        cells.shares("share", values, sum(values)),
        caption="Numbers",
        is_folded=True,
    )
    return [Stacked(title, tuple(parts)), shown]


def waves(inputs: ReportInputs) -> ReportSection | None:
    """Lifetimes of waves, and each of the longest with its place."""
    every = inputs.lives
    if not len(every):
        return None
    life = every.life
    order = np.argsort(life, kind="stable")
    named = {"shortest": order[0], "median": nearest_to_median(life), "longest": order[-1]}
    spread = histogram(life, BINS, step=inputs.trace.architecture.base_clock)
    shown = np.sort(order[::-1][:MAX_WAVES])
    caption = "All waves"
    if len(shown) < len(every):
        caption = Message("The {0} longest of {1} waves", count(len(shown)), count(len(every)))
    three = every.at(np.array([*named.values()]))
    parts = (
        ReportHistogram("Waves by cycles of life", spread.edges.tolist(), spread.totals.tolist()),
        _waves(inputs, three, "Three representative waves", list(named)),
        _waves(inputs, every.at(shown), caption),
    )
    intro = "The name of a wave is a place: --goto of `rcv view` and Go to place in the window accept it."
    return ReportSection("waves", "Traced waves", parts, intro)


def _waves(
    inputs: ReportInputs, waves: WaveFactColumns, caption: str, names: Sequence[str] = ()
) -> ReportTable:
    """A row per wave; without names for them the table is folded."""
    ids = [inputs.trace.waves.id(row) for row in waves.row.tolist()]
    stall, lives, begin = waves.stall.tolist(), waves.life.tolist(), waves.begin.tolist()
    anchors = zip(begin, map(cells.cycle_anchor, begin, ids), strict=True)
    begins = (cells.number(cycle, anchor=anchor) for cycle, anchor in anchors)
    return cells.table(
        cells.column(WAVE_NAME.title, (cells.code(str(id), anchor=cells.wave_anchor(id)) for id in ids)),
        cells.texts("", names or [""] * len(ids)),
        cells.numbers("CU", waves.cu.tolist()),
        cells.column("begins at cycle", begins, is_number=True),
        cells.declared(LIVED, lives),
        cells.numbers("instructions", waves.tokens.tolist()),
        cells.numbers("stall", stall),
        cells.column("share of its life", map(cells.share, stall, lives), is_number=True),
        caption=caption,
        is_folded=not names,
    )
