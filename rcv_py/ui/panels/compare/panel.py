"""The open capture against a baseline: what may be said of the whole, and where it changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
)

from rcv_py.analysis.compare.changes import numbers
from rcv_py.analysis.compare.compare import Comparison, compare
from rcv_py.analysis.compare.costs import CaptureCosts, explained_costs
from rcv_py.analysis.compare.verdict import Verdict
from rcv_py.base.text import plural
from rcv_py.state.baseline import Baseline
from rcv_py.state.selection import Hover
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import only_for
from rcv_py.ui.core.layout import BAR_ABOVE, bar
from rcv_py.ui.core.panel import NO_TRACE, Panel, Sheet, panel
from rcv_py.ui.core.plain_text import PlainLabel, tooltip, with_tip
from rcv_py.ui.flame.flame_choose import choose, selected_frames
from rcv_py.ui.flame.flame_scene import FlameScene
from rcv_py.ui.flame.flame_view import FlameView
from rcv_py.ui.panels.compare.flame import compare_scene
from rcv_py.ui.panels.compare.rows import SIDE_BY_SIDE, CompareRows, CompareView, compare_rows
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.elided_label import ElidedLabel
from rcv_py.ui.widgets.empty_state import WithEmptyState, page

NO_BASELINE = (
    "There is no baseline. Choose the capture from before the change with File › Compare with … (Ctrl+Alt+D)."
)
READING = "Reading the waves of the open capture …"
NO_FLAME = "No instruction that both captures executed costs anything."
ALL_WITHIN = "No row is beyond noise. Clear “Only beyond noise” to see all."
STREAM_MS = 800
_BOTH = ("line_a", "line_b", "status", "delta", "ratio")
LISTED = command_text.same(*_BOTH, "text_a", "text_b", "cost_a", "cost_b")
_RANKED = ("name", "text", "hits_a", "hits_b", "share_a", "share_b", "noise")
SORTED = command_text.same(*_BOTH, *_RANKED, cost_a="cycles_a", cost_b="cycles_b")
FLAME = "flame"
MODES = {
    "line": "Instructions",
    "source": "Source lines",
    "block": "Blocks",
    "class": "Classes",
    SIDE_BY_SIDE: "Side by side",
    FLAME: "Flamegraph",
}
_ROLES = {
    Verdict.MORE: "stall",
    Verdict.FEWER: "accent",
    Verdict.SAME: "text",
    Verdict.NOT_COMPARABLE: "warning",
}
Shown = CompareRows | FlameScene | None


def _costs(capture: Baseline | None) -> CaptureCosts | None:
    return None if capture is None else capture.costs


@panel(id="compare", title="Compare", area="bottom", order=80)
class ComparePanel(Panel):
    """The open capture against a baseline, beyond noise."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.found: Comparison | None = None
        self._shown_by = ""
        self.verdict = PlainLabel(wordWrap=True)
        self.verdict.setAccessibleName("Verdict")
        self.notes = ElidedLabel()
        self.mode = with_tip(QComboBox(), "What a row is, or how the difference is drawn.")
        self.mode.setAccessibleName("What is compared")
        for name, title in MODES.items():
            self.mode.addItem(title, name)
        self.twin = with_tip(QPushButton("Twin …"), "Noise from another capture of the baseline's build.")
        self.twin.clicked.connect(lambda: self.ui.commands.run("file.twin"))
        self.only = with_tip(QCheckBox("Only beyond noise"), "Hide what may be by chance.")
        self.view = CompareView(ui.theme, ui.settings)
        self.view.setAccessibleName("Differences")
        self.flame = FlameView(ui.theme)
        self.flame.setAccessibleName("Differential flamegraph")
        self.told = ElidedLabel()
        self._stream = self.coalesced(self._compute, STREAM_MS)
        self._lay_out()
        self._connect()
        self._open()

    def _lay_out(self) -> None:
        choices = bar((self.verdict, 1), self.twin, self.only, self.mode, margins=BAR_ABOVE)
        self._below = below = QHBoxLayout()
        below.setContentsMargins(8, 2, 8, 4)
        for line in (self.notes, self.told):
            line.setProperty("role", "muted")
        below.addWidget(self.notes, 3)
        below.addWidget(self.told)
        self.ways = QStackedWidget()
        self.ways.addWidget(self.view)
        self.ways.addWidget(self.flame)
        self.inner = WithEmptyState(self.ways)
        self.empty = page(self, choices, below, (self.inner, 1))

    def _connect(self) -> None:
        session, view, flame = self.session, self.view, self.flame
        session.trace.watch(self._open)
        session.baseline.watch(self._open)
        session.loaded.watch(self._more_waves)
        session.selection.watch(self._follow)
        self.ui.theme.changed.connect(self._show_verdict)
        self.mode.activated.connect(self._show_mode)
        self.only.toggled.connect(self._filter)
        view.chosen.connect(self._go)
        view.hovered.connect(self._tell_hover)
        flame.chosen.connect(self._choose_frame)
        flame.pointed.connect(lambda _: self.told.setText(flame.told()))

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        self._stream.reset()
        self.found = None
        self.flame.show_scene(None)
        self.view.rows = None
        trace, baseline = self.session.trace.value, self.session.baseline.value
        if trace is None or baseline is None:
            self.empty.say(NO_TRACE if trace is None else NO_BASELINE)
            return
        self.empty.say(READING)
        self._more_waves()

    def _more_waves(self) -> None:
        store = self.session.store
        if self.session.baseline.value is None or store is None:
            return
        if store.batches or len(store.trace.waves) <= len(store.missing):
            self._stream.ask()

    def _compute(self) -> None:
        if self.visibility.is_asleep:
            self.visibility.on_wake(self._stream, self._stream.ask)
            return
        trace, store, baseline = self.session.trace.value, self.session.store, self.session.baseline.value
        if trace is None or store is None or baseline is None:
            return
        batches, costs = store.batches, baseline.costs
        twin = None if baseline.twin is None else baseline.twin.costs
        show = self._job(self.by)
        self._stream.started()

        def job() -> tuple[Comparison, Shown]:
            found = compare(costs, explained_costs(trace, batches), twin=twin)
            return found, show(found)

        by = self.by
        self.run_job(job, only_for(self.session, lambda answer: self._take(by, *answer)))

    def _job(self, by: str) -> Callable[[Comparison], Shown]:
        """Return what makes the rows or the scene of a mode."""
        trace = self.session.trace.value
        if by == FLAME and trace is not None:
            return lambda found: compare_scene(trace, found)
        return lambda found: (
            compare_rows(found, by) if found.kernel is not None or by == SIDE_BY_SIDE else None
        )

    @property
    def by(self) -> str:
        """The mode: a key of MODES."""
        return str(self.mode.currentData())

    def _show_mode(self) -> None:
        found, by = self.found, self.by
        if found is None:
            return
        show = self._job(by)
        self.run_job(
            lambda: show(found),
            only_for(self.session, lambda shown: self._take(by, found, shown)),
            "mode",
        )

    def _take(self, by: str, found: Comparison, shown: Shown) -> None:
        self._stream.finished()
        baseline = self.session.baseline.value
        if baseline is None or found.a is not baseline.costs or found.noise_of is not _costs(baseline.twin):
            return
        self.found = found
        if by != self.by:
            self._show_mode()
            return
        self.empty.say("")
        self._show_verdict()
        self.only.setEnabled(by != FLAME)
        self._below.setStretch(1, 2 if by == FLAME else 0)  # a frame is told at length, a count is short
        self.told.setText("")
        if isinstance(shown, FlameScene):
            self.flame.show_scene(shown, keep=True)
            self.ways.setCurrentWidget(self.flame)
        elif shown is not None:
            self.view.show_rows(shown, self.only.isChecked())
            if by != self._shown_by:  # other rows: where the old ones were scrolled to means nothing
                self.view.scrollToTop()
            self.ways.setCurrentWidget(self.view)
            self._tell_count()
        self._shown_by = by
        self._say_inner(shown)
        self._follow()

    def _say_inner(self, shown: Shown) -> None:
        """Say why there are no rows."""
        if shown is None:
            assert self.found is not None
            self.inner.say(self.found.judgement.sentence if self.found.kernel is None else NO_FLAME)
        elif isinstance(shown, CompareRows) and len(shown) and not self.view.table.rowCount():
            self.inner.say(ALL_WITHIN)
        else:
            self.inner.say("")

    def _show_verdict(self) -> None:
        found, baseline = self.found, self.session.baseline.value
        if found is None or baseline is None:
            return
        self.verdict.setText(f"{found.judgement.sentence}")
        ink = self.ui.theme.role(_ROLES[found.verdict]).name()
        self.verdict.setStyleSheet(f"font-weight: 600; color: {ink}")
        # What the colours mean comes first: the end of the line is what a narrow window cuts.
        colours = "Width: B; red: more cycles than A, blue: fewer, grey: within noise. "
        sides = colours if self.by == FLAME else ""
        sides += f"A is {baseline.name}, B the open capture."
        if baseline.twin is not None:
            sides += f" Noise is what {baseline.twin.name} differs from A by."
        facts = [f"{name} {value}" for name, value in numbers(found)]
        self.notes.setText(" ".join((sides, *found.notes)))
        self.verdict.setToolTip(tooltip("\n".join(facts)))
        self.verdict.setAccessibleDescription(". ".join(facts))

    def _filter(self) -> None:
        rows = self.view.rows
        if rows is not None and self.by != FLAME:
            self.view.show_rows(rows, self.only.isChecked())
            self._tell_count()
            self._say_inner(rows)

    def _tell_count(self) -> None:
        rows = self.view.rows
        if rows is not None:
            real = int(np.count_nonzero(rows.is_real))
            self.told.setText(f"{plural(len(rows), 'row')}, {real:,} beyond noise")

    # -- selecting ----------------------------------------------------------------------------------

    def _go(self, row: int) -> None:
        rows = self.view.rows
        if rows is not None and 0 <= row < len(rows) and rows.line[row] >= 0:
            line = int(rows.line[row])
            if self.session.selection.value.line != line:
                self.session.select_line(line)

    def _choose_frame(self, frame: int) -> None:
        if self.flame.scene is not None:
            choose(self.session, self.flame.scene, frame)

    def _follow(self) -> None:
        """Mark the row of the selected instruction, where rows are instructions."""
        selection, rows = self.session.selection.value, self.view.rows
        if self.flame.scene is not None:
            self.flame.set_selected(selected_frames(self.flame.scene, selection))
        if rows is None or self.by not in ("line", SIDE_BY_SIDE) or selection.line is None:
            return
        at = np.flatnonzero(rows.line == selection.line)
        row = int(at[0]) if len(at) else -1
        self.view.set_current(row, reveal=row != self.view.current)

    def _tell_hover(self, row: int) -> None:
        rows = self.view.rows
        inside = rows is not None and 0 <= row < len(rows) and rows.line[row] >= 0
        self.session.hover.set(Hover(line=int(rows.line[row])) if inside and rows is not None else None)

    # -- what the shell asks ------------------------------------------------------------------------

    def caption(self) -> str:
        """The verdict."""
        return "" if self.found is None else self.found.judgement.sentence

    def command_line(self) -> command_text.Words | None:
        """The rows that are shown; A is the baseline."""
        baseline, trace = self.session.baseline.value, self.session.trace.value
        if baseline is None or trace is None:
            return None
        sides = (command_text.path_word(baseline.trace), command_text.path_word(trace))
        real = ("--beyond-noise",) if self.only.isChecked() and self.by != FLAME else ()
        keys = LISTED if self.by == SIDE_BY_SIDE else SORTED
        order = command_text.sorting(self.view.table, keys) if self.by != FLAME else ()
        return ("rcv", "compare", *sides, f"--by={self.by}", *real, *order, "--top=0")

    def sheet(self) -> Sheet | None:
        """The rows that are shown."""
        if self.found is None or self.view.rows is None or self.by == FLAME:
            return None
        return Sheet(f"Compare: {MODES[self.by]}", self.view.table.headers, self.view.table.table())

    def save_state(self) -> dict[str, Any]:
        """Mode, filter and columns."""
        return {"by": self.by, "only": self.only.isChecked(), "table": self.view.save_state()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        at = self.mode.findData(state.get("by"))
        if at >= 0:
            self.mode.setCurrentIndex(at)
        self.only.setChecked(state.get("only") is True)
        self.view.load_state(state.get("table") or {})
        self._show_mode()
