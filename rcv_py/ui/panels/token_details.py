"""The selected instruction: this execution of it, where it comes from, what it waits for, what it costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import QLineEdit, QToolButton

from rcv_py.analysis.attribution.attribute import TokenCause, token_causes, uncounted_beside
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.place_text import beside, place_text
from rcv_py.analysis.cost.stall_reasons import StallReasons, reason_name, stall_reasons
from rcv_py.analysis.timeline.token_details import (
    LineTotals,
    TokenDetails,
    line_totals,
    producers,
    token_details,
    waiters,
)
from rcv_py.analysis.waits.token_waits import Awaited, ReleasedBy, TokenWaits, token_waits
from rcv_py.analysis.waits.waitcnt.replay import waits_of
from rcv_py.base.text import nanoseconds, percent, plural
from rcv_py.model.kinds import KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.ui.core.arrivals import Arrivals
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.layout import boxed, row
from rcv_py.ui.core.panel import Panel, Sheet, panel
from rcv_py.ui.core.plain_text import PlainLabel, Rich, joined, rich, set_tooltip
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import page
from rcv_py.ui.widgets.legend import state_text
from rcv_py.ui.widgets.links import LinkText, line_link, source_link, token_link

LISTED = 12  # producers and waiters that are shown


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """What is shown of a selected line, and of the selected execution of it if there is one."""

    line: int
    totals: LineTotals
    token: TokenDetails | None = None
    wave: str = ""
    producers: tuple[int, ...] = ()
    waiters: tuple[int, ...] = ()
    samples: StallReasons | None = None  # of the line, where the capture has PC samples
    all_samples: int = 0  # of all lines
    causes: tuple[TokenCause, ...] = ()  # of the stall of the very execution and of the gap before it
    uncounted: int = 0  # waves beside its own that are not in memory: another cause may be among them
    waits: TokenWaits | None = None  # of the very execution; then the code rows above are not shown


def named(trace: Trace, row: int) -> str:
    """Return a code row with its text and its source place, as people read it."""
    return f"{row}  {trace.code.text[row]}{beside(trace, row)}"


def partial_note(waves: int) -> str:
    """Return what the causes of an execution leave out: waves beside its own that are not in memory."""
    return f"partial: {plural(waves, 'wave')} beside it not in memory"


class FactsText:
    """What is known of a selected instruction in words, with links."""

    def __init__(self, trace: Trace, facts: TokenFacts, in_ns: bool = False) -> None:
        self.trace, self.facts, self.in_ns = trace, facts, in_ns

    def html(self) -> Rich:
        """All that is known, part by part."""
        trace, facts = self.trace, self.facts
        kind = int(trace.code.kind[facts.line])
        what = KIND_TEXT[TokenKind(kind)] if kind in TokenKind._value2member_map_ else "unknown"
        parts = [
            rich('<p class="m"><b>{}</b></p>', trace.code.text[facts.line]),
            rich('<p class="q">instruction {} · {}</p>', facts.line, what),
        ]
        if facts.token is not None:
            parts += [self._token(facts.token), *map(self._cause, facts.causes)]
            if facts.causes and facts.uncounted:
                parts.append(rich('<p class="q">{}</p>', partial_note(facts.uncounted)))
        chain = trace.code.chain(facts.line)
        links = [source_link(*place, place_text(trace.sources, *place)) for place in chain]
        if links:
            parts.append(rich("<h4>Source, innermost first</h4>{}", joined("<br>", links)))
        if facts.waits is not None:
            parts.append(self._waits(facts.waits))
        else:
            for title, lines in (("Waits for", facts.producers), ("Waited on by", facts.waiters)):
                if lines:
                    parts.append(_items(title, [line_link(row, named(trace, row)) for row in lines]))
        if facts.samples is not None:
            parts.append(_samples(facts.samples, facts.all_samples))
        if trace.has_thread_trace:
            parts.append(_totals(facts.totals))
        return joined("", parts)

    def _time(self, cycles: int, has_unit: bool = True) -> str:
        ns = self.trace.clock.ns(cycles) if self.in_ns else None
        unit = " cycles" if has_unit and not self.in_ns else ""
        return f"{cycles:,}{unit}" if ns is None else nanoseconds(ns)

    def _token(self, token: TokenDetails) -> Rich:
        times = (token.stall, token.busy, token.stall + token.busy)
        stall, busy, both = (self._time(cycles, has_unit=False) for cycles in times)
        return _table(
            [
                ("wave", self.facts.wave),
                ("at", f"{token.start:,}"),
                ("stall + issue", f"{stall} + {busy} = {both}"),
                ("idle before", self._time(token.idle, has_unit=False)),
                ("state", state_text(token.states) or "not recorded"),
            ]
        )

    def _cause(self, cause: TokenCause) -> Rich:
        text = CAUSE_TEXT[cause.cause]
        sure = "certain" if text.is_certain and not cause.is_guess else "likely"
        is_known = cause.cause is not Cause.UNEXPLAINED
        why = f"{sure}: {text.evidence}" if is_known else "no evidence for any cause"
        blamed = Rich()
        if cause.line >= 0:
            name = named(self.trace, cause.line)
            is_own = cause.wave >= 0 and str(self.trace.waves.id(cause.wave)) == self.facts.wave
            link = token_link(cause.row, name) if is_own else line_link(cause.line, name)
            perhaps = "perhaps " if cause.is_guess else ""
            blamed = rich("<br>{}{}{}", perhaps, link, "" if is_own else " · of another wave")
        what = "idle" if cause.is_idle else "stalled"
        said = f"{what} {self._time(cause.cycles)} because {text.sentence}"
        return rich("<p>{}{}<br><span class='q'>{}</span></p>", said, blamed, why)

    def _waits(self, waits: TokenWaits) -> Rich:
        parts = []
        if waits.is_wait:
            newest_first = sorted(waits.awaited, key=lambda op: -op.row)
            items = [self._item(op.row, op.line, *self._awaited(op)) for op in newest_first]
            parts.append(_items("Waited for", items, "Nothing that is known was outstanding."))
        if waits.is_counted:
            items = [self._item(by.row, by.line, self._released(by)) for by in waits.released_by]
            parts.append(_items("Released by", items, "No wait released it before the wave ended."))
        return joined("", parts)

    def _item(self, row: int, line: int, *notes: str) -> Rich:
        link = token_link(row, named(self.trace, line))
        return rich("{}<br><span class='q'>{}</span>", link, joined(" · ", notes))

    def _awaited(self, op: Awaited) -> list[str]:
        when = f"issued at {op.issued:,}, {self._time(op.ago)} before the wait, by {op.counter}"
        return [when, rich("<b>newest, ends the wait</b>")] if op.is_newest else [when]

    def _released(self, by: ReleasedBy) -> str:
        sure = "" if by.is_exact else "at most "
        why = "the wait ended with it" if by.is_exact else "it may have been back before"
        return f"latency {sure}{self._time(by.latency)}, by {by.counter}: {why}"


def _items(title: str, items: list[Rich], otherwise: str = "") -> Rich:
    if not items:
        return rich("<h4>{}: 0</h4><span class='q'>{}</span>", title, otherwise)
    shown = items[:LISTED]
    if len(items) > LISTED:
        shown.append(rich('<span class="q">and {} more</span>', f"{len(items) - LISTED:,}"))
    return rich("<h4>{}: {}</h4>{}", title, f"{len(items):,}", joined("<br>", shown))


def _totals(totals: LineTotals) -> Rich:
    rows = [
        ("hits", f"{totals.hits:,}"),
        ("latency", f"{totals.latency:,}"),
        ("of it stall", _part(totals.stall, totals.latency)),
        ("idle before", f"{totals.idle:,}"),
        ("of all cycles", percent(totals.latency + totals.idle, totals.program_total) or "–"),
    ]
    return rich("<h4>This instruction, all traced waves, cycles</h4>") + _table(rows)


def _samples(samples: StallReasons, total: int) -> Rich:
    rows = [
        ("samples", _part(samples.samples, total, "of all samples")),
        ("issued", _part(samples.issued, samples.samples)),
        ("stalled", _part(samples.stalled, samples.samples)),
    ]
    rows += [(reason_name(reason), _part(n, samples.stalled)) for reason, n in samples.ranked()]
    return rich("<h4>PC samples of this instruction; reasons are shares of the stalled</h4>") + _table(rows)


def _part(value: int, total: int, of: str = "") -> Rich:
    share = f"{percent(value, total)} {of}".strip()
    return rich("{} &nbsp;<span class='q'>{}</span>", f"{value:,}", share)


def _table(rows: Sequence[tuple[str, str]]) -> Rich:
    cells = [rich('<tr><td class="q">{}</td><td>{}</td></tr>', name, value) for name, value in rows if value]
    return rich("<table cellspacing='0'>{}</table>", joined("", cells))


NOTHING = "No instruction is selected. Click one in the timeline or in the ISA."


@panel(id="token_details", title="Instruction", area="details", order=20, icon="info", needs=("waves",))
class TokenDetailsPanel(Panel):
    """The selected instruction, its source, its waits and its costs."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.facts: TokenFacts | None = None
        self.text = LinkText(ui.session, ui.theme, "Selected instruction")
        self.hit = QLineEdit()
        self.of = PlainLabel()
        self.before, self.after = QToolButton(), QToolButton()
        self._lay_out()
        self._soon = self.coalesced(self._compute)
        for cell in (ui.session.trace, ui.session.selection):
            cell.watch(self._soon.ask)
        ui.session.loaded.watch(self._more_waves)
        self._arrivals = Arrivals(self, ui.session, self._soon.ask)  # what covered a stall may be among them
        ui.settings.cell("timeline.units").watch(self._show)
        ui.theme.changed.connect(self._restyle)
        self._restyle()
        self._compute()

    def _lay_out(self) -> None:
        self.hit.setAccessibleName("Hit: which time the wave runs this instruction, from 1")
        self.hit.setToolTip(
            "Which time the wave runs this instruction, from 1. Type a number and press Return."
        )
        self.hit.setFixedWidth(64)
        self.hit.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.hit.editingFinished.connect(self._typed)
        for button, tip, step in ((self.before, "Previous hit  ([)", -1), (self.after, "Next hit  (])", 1)):
            set_tooltip(button, tip)
            button.setAccessibleName(tip.split("  ")[0])
            button.clicked.connect(partial(self.session.step_hit, step))
        widgets = (PlainLabel("hit"), self.before, self.hit, self.after, (self.of, 1))
        self.hits = boxed(row(*widgets, margins=(8, 4, 8, 0), spacing=4))
        self.empty = page(self, self.hits, (self.text, 1))

    def _restyle(self) -> None:
        self.before.setIcon(icon(self.ui.theme, "back"))
        self.after.setIcon(icon(self.ui.theme, "forward"))

    # -- computing ----------------------------------------------------------------------------------

    def _more_waves(self) -> None:
        """The selected wave is there now."""
        if (self.facts is None or not self.facts.wave) and self.session.wave() is not None:
            self._soon.ask()

    def _compute(self) -> None:
        job = self._job()
        if job is None:
            self._take(None)
        else:
            self.run_job(job, self._take)

    def _take(self, facts: TokenFacts | None) -> None:
        self.facts = facts
        self._show()

    def _job(self) -> Callable[[], TokenFacts] | None:
        """Return a function that collects the facts; it touches nothing that changes."""
        trace, selection = self.session.trace.value, self.session.selection.value
        line = selection.line
        if trace is None or line is None or not 0 <= line < len(trace.code):
            return None
        wave, token = self.session.wave(), self.session.token()
        store = self.session.store
        batches = () if store is None else store.batches

        def job() -> TokenFacts:
            facts = TokenFacts(line, line_totals(trace.code, line))
            if trace.has_pc_samples:
                samples = stall_reasons(trace.code, slice(line, line + 1))
                facts = replace(facts, samples=samples, all_samples=stall_reasons(trace.code).samples)
            if wave is None:
                return facts
            facts = replace(facts, wave=str(wave.id))
            if token is not None:
                exact = token_waits(*token, trace.code, trace.gfxip, trace.target)
                return replace(
                    facts,
                    token=token_details(*token),
                    waits=exact,
                    causes=token_causes(trace, batches, *token),
                    uncounted=uncounted_beside(trace, batches, wave),
                )
            waits = waits_of(wave, trace.code, trace.gfxip, trace.target)
            hits = int(np.count_nonzero(wave.tokens.line == line))
            late = producers(waits, line, selection.hit, hits)
            return replace(facts, producers=late, waiters=waiters(waits, line))

        return job

    # -- showing ------------------------------------------------------------------------------------

    def _show(self) -> None:
        trace, facts = self.session.trace.value, self.facts
        if trace is None or facts is None:
            self.empty.say(self.reason(NOTHING))
            return
        self.empty.say("")
        self.text.show_html(FactsText(trace, facts, self.ui.settings["timeline.units"] == "ns").html())
        token = facts.token
        self.hits.setVisible(token is not None)
        if token is not None:
            self.hit.setText(f"{token.hit + 1}")
            self.hit.setValidator(QIntValidator(1, max(1, token.hits), self.hit))
            self.of.setText(f"of {token.hits:,}")
            self.before.setEnabled(token.hit > 0)
            self.after.setEnabled(token.hit + 1 < token.hits)

    def _typed(self) -> None:
        facts, text = self.facts, self.hit.text()
        if facts is None or facts.token is None or not text.isdigit():
            return
        hit = min(max(int(text), 1), facts.token.hits) - 1
        if hit != facts.token.hit:
            self.session.select_line(facts.line, hit)

    def command_line(self) -> command_text.Words | None:
        """What is known of the selected instruction."""
        selection = self.session.selection.value
        if self.facts is None:
            return None
        place = str(selection if self.facts.token is not None else replace(selection, hit=None))
        return command_text.rcv(self.session, "place", place)

    def sheet(self) -> Sheet | None:
        """The facts as name and value."""
        facts, trace = self.facts, self.session.trace.value
        if facts is None or trace is None:
            return None
        rows: list[tuple[str, object]] = [("instruction", trace.code.text[facts.line]), ("line", facts.line)]
        if (token := facts.token) is not None:
            rows += [("wave", facts.wave), ("hit", token.hit), ("hits of the wave", token.hits)]
            rows += [("start", token.start), ("stall", token.stall), ("issue", token.busy)]
            rows.append(("idle before", token.idle))
        if (samples := facts.samples) is not None:
            rows += [("samples issued", samples.issued), ("samples stalled", samples.stalled)]
            rows += [(f"stalled: {reason_name(why)}", n) for why, n in samples.ranked()]
        if facts.waits is not None:
            for op in facts.waits.awaited:
                rows += [("waited for", named(trace, op.line)), ("cycles before the wait", op.ago)]
            for by in facts.waits.released_by:
                latency = "latency" if by.is_exact else "latency, at most"
                rows += [("released by", named(trace, by.line)), (latency, by.latency)]
        for cause in facts.causes:
            why = "idle because" if cause.is_idle else "stalled because"
            rows += [(why, CAUSE_TEXT[cause.cause].sentence), ("cycles of it", cause.cycles)]
        if facts.causes and facts.uncounted:
            rows.append(("causes", partial_note(facts.uncounted)))
        totals = facts.totals
        rows += [("hits, all waves", totals.hits), ("latency, all waves", totals.latency)]
        rows += [("stall, all waves", totals.stall), ("idle, all waves", totals.idle)]
        return Sheet("Instruction", ("what", "value"), rows)
