"""Cycles over the program: where in the code the time goes, and on what kind of instruction."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtWidgets import QComboBox, QWidget

from rcv_py.analysis.cost.hotspot import Bins, counted_rows, hotspot, static_bins
from rcv_py.base.text import plural
from rcv_py.model.kinds import KIND_TEXT, TokenKind
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import only_for, unit_of
from rcv_py.ui.core.layout import bar
from rcv_py.ui.core.panel import Panel, Sheet, panel
from rcv_py.ui.core.plain_text import PlainLabel, with_tip
from rcv_py.ui.panels.hotspot.bins_plot import BinsPlot
from rcv_py.ui.plot.curve_legend import Legend
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import page, reason

NO_CODE = "This capture has no instructions, so there is no histogram."
NO_COST = "No instruction was executed while the trace was recorded, so there is no histogram."
STREAM_MS = 500
SHORT = {kind: kind.name for kind in TokenKind} | {TokenKind.NONE: "other", TokenKind.IMMED: "WAIT"}


@panel(id="hotspot", title="Hotspot", area="bottom", order=10, tip="Cycles by place in the program.")
class HotspotPanel(Panel):
    """A histogram of cycles by range of code rows, stacked by kind of instruction."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.plot = BinsPlot(ui.theme)
        self.legend = Legend()
        self.scope = with_tip(QComboBox(), "Which waves are counted.")
        self.scope.setAccessibleName("Which waves are counted")
        self.scope.addItems(["All shader engines", "Engine of the wave"])
        self.note = PlainLabel()
        self.note.setObjectName("muted")
        self._key: tuple[Any, ...] = ()
        self._wanted = self.coalesced(self._compute)
        self._stream = self.coalesced(self._compute, STREAM_MS)
        self._lay_out()
        self.plot.chosen.connect(self._choose)
        self.scope.activated.connect(self._compute)
        ui.theme.changed.connect(self._show_legend)
        self._watch()
        self._open()

    def _lay_out(self) -> None:
        choices = bar((self.legend, 1), self.note, self.scope)
        self.empty = page(self, choices, (self.plot, 1))

    def _watch(self) -> None:
        session = self.session
        session.trace.watch(self._open)
        session.selection.watch(self._follow)
        session.clock_range.watch(self._wanted.ask)
        session.loaded.watch(self._stream.ask)
        self.ui.settings.cell("hotspot.bins").watch(self._wanted.ask)

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        trace = self.session.trace.value
        self._stream.reset()
        self.plot.select(None)
        missing = trace is None or not len(trace.code)
        self.empty.say(reason(trace, "hotspot", NO_CODE) if missing else "")
        if trace is not None and not missing:
            self.scope.setVisible(len(np.unique(trace.waves.se)) > 1)
            self._compute()

    def _engine(self) -> int | None:
        wave = self.session.selection.value.wave
        return wave.se if self.scope.currentIndex() == 1 and wave is not None else None

    def _compute(self) -> None:
        trace, store = self.session.trace.value, self.session.store
        if trace is None or store is None or not len(trace.code):
            return
        batches, window, se = store.batches, self.session.clock_range.value, self._engine()
        count, bins = len(trace.code), self.ui.settings["hotspot.bins"]
        self._key = (se,)
        self._say(store.count, len(trace.waves), len(store.missing))
        if not batches:
            self.run_job(lambda: static_bins(trace.code, bins), only_for(self.session, self._take))
            return

        self._stream.started()

        def job() -> Bins:
            return hotspot(batches, count, counted_rows(trace.waves, se, window), bins, window=window)

        self.run_job(job, only_for(self.session, self._take))

    def _say(self, loaded: int, waves: int, missing: int) -> None:
        note = ""
        if waves and not loaded:
            note = "totals of all waves; their kinds follow when waves are read"
        elif loaded + missing < waves:
            note = f"partial: {loaded:,} of {plural(waves, 'wave')} read"
        self.note.setText(note)
        self.plot.note = note

    def _take(self, bins: Bins) -> None:
        trace = self.session.trace.value
        if trace is None:
            return
        self._stream.finished()
        if not bins.cycles.any():
            self.empty.say(reason(trace, "hotspot", NO_COST))
            return
        self.empty.say("")
        self.plot.show_bins(bins, len(trace.code), unit_of(trace))
        self._show_legend()
        self._follow()

    def _show_legend(self) -> None:
        theme = self.ui.theme
        kinds = [TokenKind(kind) for kind in self.plot.kinds()]
        self.legend.set_items([(theme.kind(kind), SHORT[kind], KIND_TEXT[kind]) for kind in kinds])

    # -- selecting ----------------------------------------------------------------------------------

    def _choose(self, at: int) -> None:
        trace, bins = self.session.trace.value, self.plot.bins
        if trace is None or bins is None:
            return
        first, stop = int(bins.first[at]), min(int(bins.stop[at]), len(trace.code))
        if first < stop:
            self.session.select_lines(first, stop)

    def _follow(self) -> None:
        if self._key != (self._engine(),):
            self._wanted.ask()
        selection = self.session.selection.value
        if self.plot.bins is None:
            return
        span = selection.lines
        if span is None and selection.line is not None:
            span = (selection.line, selection.line + 1)
        ends = (-1, -1) if span is None else (self.plot.bin_of(span[0]), self.plot.bin_of(span[1] - 1))
        self.plot.select((ends[0], ends[1] + 1) if min(ends) >= 0 else None)

    # -- what the shell asks ------------------------------------------------------------------------

    def canvas(self) -> QWidget:
        """Legend and plot."""
        return self.empty

    def caption(self) -> str:
        """What is counted."""
        return self.note.text() or self.scope.currentText()

    def command_line(self) -> command_text.Words | None:
        """The histogram."""
        se, bins = self._engine(), self.ui.settings["hotspot.bins"]
        engine = () if se is None else (f"--se={se}",)
        return command_text.rcv(
            self.session, "hotspot", f"--bins={bins}", *engine, *command_text.clock(self.session)
        )

    def sheet(self) -> Sheet | None:
        """One row a bar, one column a kind that occurs."""
        bins = self.plot.bins
        if bins is None:
            return None
        kinds = self.plot.kinds()
        headers = ("first row", "last row", "total", *(KIND_TEXT[TokenKind(kind)] for kind in kinds))
        rows = (
            (first, stop - 1, total, *cycles)
            for first, stop, total, cycles in zip(
                bins.first.tolist(),
                bins.stop.tolist(),
                bins.totals.tolist(),
                bins.cycles[:, kinds].tolist(),
                strict=True,
            )
        )
        return Sheet("Hotspot", headers, rows)

    def save_state(self) -> dict[str, Any]:
        """Which waves are counted."""
        return {"engine_of_wave": self.scope.currentIndex() == 1}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        self.scope.setCurrentIndex(1 if state.get("engine_of_wave") is True else 0)
        self._compute()
