"""The selected instruction: this execution of it, where it comes from, what it waits for, what it costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QWidget

from rcv_py.analysis.attribution.attribute import token_causes
from rcv_py.analysis.attribution.causes import CAUSE_TEXT
from rcv_py.analysis.cost.place_text import beside
from rcv_py.analysis.cost.stall_reasons import reason_name, stall_reasons
from rcv_py.analysis.timeline.token_details import line_totals, producers, token_details, waiters
from rcv_py.analysis.waits.token_waits import token_waits
from rcv_py.analysis.waits.waitcnt.replay import waits_of
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import only_for
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.panel import Panel, Sheet, panel
from rcv_py.ui.core.plain_text import PlainLabel, tooltip
from rcv_py.ui.panels.token_details.token_text import TokenFacts, token_html
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import page
from rcv_py.ui.widgets.links import LinkText

NOTHING = "No instruction is selected. Click one in the timeline or in the ISA."


@panel(id="token_details", title="Instruction", area="right_center", order=20, needs=("waves",))
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
        for cell in (ui.session.trace, ui.session.selection, ui.session.loaded):
            cell.watch(self._soon.ask)
        ui.settings.cell("timeline.units").watch(self._show)
        ui.theme.changed.connect(self._restyle)
        self._restyle()
        self._compute()

    def _lay_out(self) -> None:
        self.hit.setAccessibleName("Hit: which time the wave runs this line, from 1")
        self.hit.setToolTip("Which time the wave runs this line, from 1. Type a number and press Return.")
        self.hit.setFixedWidth(64)
        self.hit.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.hit.editingFinished.connect(self._typed)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(PlainLabel("hit"))
        row.addWidget(self.before)
        row.addWidget(self.hit)
        row.addWidget(self.after)
        row.addWidget(self.of, 1)
        for button, tip, step in ((self.before, "Previous hit  ([)", -1), (self.after, "Next hit  (])", 1)):
            button.setToolTip(tooltip(tip))
            button.setAccessibleName(tip.split("  ")[0])
            button.clicked.connect(lambda _=False, step=step: self.session.step_hit(step))
        self.hits = QWidget()
        self.hits.setLayout(row)
        row.setContentsMargins(8, 4, 8, 0)
        self.empty = page(self, self.hits, (self.text, 1))

    def _restyle(self) -> None:
        self.before.setIcon(icon(self.ui.theme, "back"))
        self.after.setIcon(icon(self.ui.theme, "forward"))

    # -- computing ----------------------------------------------------------------------------------

    def _compute(self) -> None:
        job = self._job()
        if job is None:
            self.facts = None
            self._show()
            return
        self.run_job(job, only_for(self.session, self._take))

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
            if token is not None:
                exact = token_waits(*token, trace.code, trace.gfxip, trace.target)
                causes = token_causes(trace, batches, *token)
                return replace(
                    facts, token=token_details(*token), wave=str(wave.id), waits=exact, causes=causes
                )
            waits = waits_of(wave, trace.code, trace.gfxip, trace.target)
            hits = int(np.count_nonzero(wave.tokens.line == line))
            return replace(
                facts,
                wave=str(wave.id),
                producers=producers(waits, line, selection.hit, hits),
                waiters=waiters(waits, line),
            )

        return job

    def _take(self, facts: TokenFacts) -> None:
        self.facts = facts
        self._show()

    # -- showing ------------------------------------------------------------------------------------

    def _show(self) -> None:
        trace, facts = self.session.trace.value, self.facts
        if trace is None or facts is None:
            self.empty.say(self.reason(NOTHING))
            return
        self.empty.say("")
        self.text.show_html(token_html(trace, facts, self.ui.settings["timeline.units"] == "ns"))
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
        if facts.token is not None:
            token = facts.token
            rows += [("wave", facts.wave), ("hit", token.hit), ("hits of the wave", token.hits)]
            rows += [
                ("start", token.start),
                ("stall", token.stall),
                ("issue", token.busy),
                ("idle before", token.idle),
            ]
        if facts.samples is not None:
            rows += [("samples issued", facts.samples.issued), ("samples stalled", facts.samples.stalled)]
            rows += [(f"stalled: {reason_name(why)}", n) for why, n in facts.samples.ranked()]
        if facts.waits is not None:
            for op in facts.waits.awaited:
                rows.append(("waited for", f"{op.line}  {trace.code.text[op.line]}{beside(trace, op.line)}"))
                rows.append(("cycles before the wait", op.ago))
            for by in facts.waits.released_by:
                rows.append(("released by", f"{by.line}  {trace.code.text[by.line]}{beside(trace, by.line)}"))
                rows.append(("latency" if by.is_exact else "latency, at most", by.latency))
        for one in facts.causes:
            rows.append(
                ("idle because" if one.is_idle else "stalled because", CAUSE_TEXT[one.cause].sentence)
            )
            rows.append(("cycles of it", one.cycles))
        totals = facts.totals
        rows += [("hits, all waves", totals.hits), ("latency, all waves", totals.latency)]
        rows += [("stall, all waves", totals.stall), ("idle, all waves", totals.idle)]
        return Sheet("Instruction", ("what", "value"), rows)
