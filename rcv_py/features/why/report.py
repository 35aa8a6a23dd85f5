"""Sections about why cycles were spent: causes, waits, and idle SIMDs."""

import numpy as np

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, GUESSED, Cause
from rcv_py.base.text import Message, known_percent
from rcv_py.export.report import cells
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import ReportBars, ReportSection, ReportShare, Series, Stacked
from rcv_py.features.why.bubbles_result import bubble_table
from rcv_py.features.why.waits_result import MEDIAN, SHARE_OF_STALL, TIMES
from rcv_py.results.common import IDLE, STALL

TOP = 15
MAX_PRODUCERS = 3  # of a wait that are named
_LARGEST = "The {0} largest: where cycles were paid, and which instruction caused them"
_NO_STOPWATCH = (
    "Counters are replayed by the rules of the generation; the stall of a wait is "
    "charged to the instruction that ended it, with the turn that a wait takes by itself, which causes "
    "list apart. A wait does not measure that instruction's latency."
)
_NO_ISSUE = (
    "In these cycles no wave of the SIMD issued, and its matrix unit did not work. Each is split among the "
    "resident waves. Only recorded waves count, and an issue does not prove useful work."
)


def causes(inputs: ReportInputs) -> ReportSection | None:
    """Stalled and idle cycles by cause, and the largest of them with the instruction to blame."""
    found = inputs.causes
    if found is None or not len(found):
        return None
    groups, cycles = found.by_cause(), int(found.cycles.sum())
    about = [CAUSE_TEXT[Cause(cause)] for cause in groups.cause.tolist()]
    names = cells.texts("cause", (cause.name for cause in about))
    main = [main_producer(found, cause) for cause in groups.cause.tolist()]
    top = found.at(np.argsort(-found.cycles, kind="stable")[:TOP])
    note = found.assumption or "This is attribution, not elapsed time: waves stall at the same time."
    stalled, idle = known_percent(found.explained), known_percent(found.explained_idle)
    intro = Message("{0} of the stalled and {1} of the idle cycles have a cause. {2}", stalled, idle, note)
    parts = (
        ReportBars(
            "Stalled and idle cycles by cause",
            [cause.name for cause in about],
            (Series("stall", groups.stall.tolist()), Series("idle", groups.idle.tolist())),
        ),
        cells.table(
            names,
            cells.declared(STALL, groups.stall),
            cells.declared(IDLE, groups.idle),
            cells.shares("share", groups.cycles, cycles),
            *cells.instructions(
                inputs, main, link="mostly because of", guesses=np.isin(groups.cause, GUESSED)
            ),
            caption="All causes, with the instruction to blame for most of each",
        ),
        cells.table(
            names,
            cells.texts("certainty", ("certain" if cause.is_certain else "by evidence" for cause in about)),
            cells.texts("needs", (cause.evidence for cause in about)),
            caption="What each cause needs",
            is_folded=True,
        ),
        cells.table(
            *cells.instructions(inputs, top.line.tolist(), "late instruction"),
            cells.texts("cause", (CAUSE_TEXT[Cause(cause)].name for cause in top.cause.tolist())),
            cells.declared(STALL, top.stall),
            cells.declared(IDLE, top.idle),
            cells.shares("share", top.cycles, cycles),
            *cells.instructions(inputs, top.producer.tolist(), link="because of", guesses=top.is_guess),
            caption=Message(_LARGEST, len(top)),
        ),
    )
    return ReportSection("causes", "Why cycles were spent", parts, intro)


def main_producer(found: Attribution, cause: int) -> int:
    """The producer with most cycles of a cause, -1 where none is known."""
    own = found.at((found.cause == cause) & (found.producer >= 0)).by_producer()
    return int(own.producer[0]) if len(own) else -1


def waits(inputs: ReportInputs) -> ReportSection | None:
    """Each wait with the instructions it waited for."""
    waits, latency = inputs.waits.blocking, inputs.waits.latency
    if not len(waits):
        return None
    rows = range(min(TOP, len(waits)))
    lines = waits.line[:TOP].tolist()
    producers = [waits.producer[waits.producers(row)][:MAX_PRODUCERS].tolist() for row in rows]
    first = [own[0] if own else -1 for own in producers]
    guesses = [bool(waits.is_guess[waits.producers(row)][:1].any()) for row in rows]
    median = dict(zip(latency.line.tolist(), latency.median.tolist(), strict=True))
    medians = [median.get(line, np.nan) for line in first]
    shown = cells.table(
        *cells.instructions(inputs, lines, "wait"),
        cells.declared(TIMES, waits.hits[:TOP]),
        cells.declared(STALL, waits.stall[:TOP]),
        cells.shares(SHARE_OF_STALL.title, waits.stall[:TOP], int(waits.stall.sum())),
        *cells.instructions(inputs, first, link="waited for", guesses=guesses),
        cells.declared(MEDIAN, (None if np.isnan(cycles) else cycles for cycles in medians)),
        cells.texts("others", (", ".join(f"{line:,}" for line in own[1:]) for own in producers)),
    )
    return ReportSection("waits", "Waits, and what they waited for", (shown,), _NO_STOPWATCH)


def idle_simds(inputs: ReportInputs) -> ReportSection | None:
    """Cycles in which a SIMD held waves and nothing happened, by the instructions they waited in."""
    if not inputs.waves or not (found := inputs.bubbles).bubble:
        return None
    computed = found.no_issue - found.bubble
    parts = (
        ReportShare("a wave issued", found.resident - found.no_issue, "issue"),
        *((ReportShare("only the matrix unit worked", computed, "hidden"),) if computed else ()),
        ReportShare("nothing happened", found.bubble, "stall"),
    )
    shown = cells.report_table(bubble_table(inputs.trace, found).head(TOP), inputs.trace)
    plot = Stacked("Cycles of SIMDs that held a recorded wave", parts)
    return ReportSection("bubbles", "No-issue cycles of SIMDs", (plot, shown), _NO_ISSUE)
