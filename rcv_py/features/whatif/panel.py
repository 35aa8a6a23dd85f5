"""Predicted gains of kernel changes: experiments as rows, and the selected wave as it would run."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtWidgets import QMenu

from rcv_py.analysis.findings.finding import RANKED, Finding, Findings
from rcv_py.analysis.findings.predicted import KernelChange, finding_of_changes, kernel_change
from rcv_py.analysis.timeline.raster import RowSegment
from rcv_py.analysis.whatif.asked import ChangeRequest
from rcv_py.analysis.whatif.changes import Change, changes_text
from rcv_py.base.errors import RcvError
from rcv_py.base.progress import CancelFlag, stoppable
from rcv_py.base.record import Record
from rcv_py.base.text import Message, count, translated
from rcv_py.features.whatif.controls import Controls
from rcv_py.features.whatif.result import assumptions, cuts, tried_table
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.layout import BAR, boxed, column, row, split
from rcv_py.ui.core.panel import Sheet, UiContext
from rcv_py.ui.core.plain_text import ElidedLabel, PlainLabel, add_action, named, push_button, rich, tooltip
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.result_columns import plain_columns
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.timeline.rows_item import RowName, RowShape
from rcv_py.ui.timeline.timeline_plot import TimelinePanel
from rcv_py.ui.timeline.token_rows import TokenRows
from rcv_py.ui.timeline.token_tip import token_at, token_tip
from rcv_py.ui.widgets.empty_state import WithEmptyState
from rcv_py.work.playing import NOTHING as DRAWN_NOTHING
from rcv_py.work.playing import PlayedWaves, Recordings

if TYPE_CHECKING:  # only a replay needs it
    from rcv_py.analysis.whatif.predict import Prediction

SLOW = "Replaying takes a hundred times as long without numba (pip install numba); Replay still works."
NOTHING = (
    "No experiment yet. Move a slider, or choose Try it earlier in the menu of an "
    "instruction. Remedies of findings follow when findings are known."
)
CHOOSE = "Choose an experiment to see the selected wave with it."
CANNOT = "What it changes, the launch or what is computed, is not in the recording."
STREAMING = "Waves are still being read; then experiments are replayed."
NOT_PLAYED = "The compute unit of this wave is not replayed."
FOLLOW_MS = 250  # delay after a slider moved
RAN, WOULD = "ran", "would"  # next to rows
FINDING_PX = 280  # most titles


class ExperimentRow(Record):
    """A row of the panel."""

    text: str
    changes: tuple[Change, ...] = ()
    origin: str = ""  # the title of the finding it remedies
    words: tuple[str, ...] = ()  # equivalent options of `rcv whatif`
    why_not: str = ""  # why it cannot be played


def _experiments_of(finding: Finding) -> list[ExperimentRow]:
    """Return what predicts the gain of a finding's remedy: the best of several limits counts."""
    trial = finding.trial
    if trial is None:
        return [ExperimentRow(finding.remedy, origin=finding.title, why_not=CANNOT)]
    played = trial.limits if trial.is_limit and trial.limits else (trial.changes,)
    return [ExperimentRow(trial._replace(changes=one).text, one, finding.title) for one in played]


class WhatIfPanel(TimelinePanel):
    """What changes of the kernel would gain, predicted by replaying the recording."""

    def __init__(self, ui: UiContext) -> None:
        self.source = TokenRows(ui.theme, RowShape(grown(ui.settings["timeline.row_height"])))
        super().__init__(ui, self.source, "The selected wave as it ran, and as it would run")
        self.experiments: tuple[ExperimentRow, ...] = ()
        self.known: dict[tuple[object, ...], Prediction] = {}  # by changes
        self.refused: dict[tuple[object, ...], str] = {}
        self._flag = CancelFlag()
        self._is_stopped = not find_spec("numba")
        self._chosen: ExperimentRow | None = None
        self.controls = Controls()
        self.view = named(RowsView(ui.theme, ui.settings), "Experiments, with what each would gain")
        yields = ("kernel_low", "kernel_high", "why_not")
        self.view.widths.elastic = Elastic("text", "why_not", 160, 4000, yields)
        self.view.chosen.connect(self._choose)
        self.view.offer_menu(self._fill_menu)
        self.remembered["table"] = self.view
        self.drawn = DRAWN_NOTHING
        tip = "Keep this experiment as a row, and set the sliders back."
        self.keep = push_button("Keep", tip, self._keep, small=True)
        tip = "Stop replaying, or continue with the remaining experiments."
        self.stop = push_button("Stop", tip, self._toggle, small=True)
        self.note, self.outcome = ElidedLabel(role="muted"), PlainLabel(role="muted", wordWrap=True)
        head = row(self.controls, self.keep, (self.note, 1), self.stop, margins=BAR, spacing=8)
        below = row((self.outcome, 1), margins=BAR)
        self.beside = boxed(column((self.timeline, 1), below))  # of the chosen experiment
        self.split = split(self.view, self.beside, sizes=(500, 400))
        self.remembered["sizes"] = self.split
        self.empty = WithEmptyState(self.split)
        column(boxed(head), (self.empty, 1), of=self)
        self._soon = self.request(self._collect, FOLLOW_MS)
        self._draw_soon = self.request(self._draw, FOLLOW_MS)
        self.controls.changed.connect(self._soon.update)
        self.session.trace.watch(self._opened)
        self.session.experiments.watch(self._soon.update)
        self.session.remedy.watch(self._soon.update)
        self.session.selection.watch(self._draw_soon.update)
        self.session.busy.watch(self._soon.update)
        ui.results.cell("findings").watch(self._soon.update)
        self._opened()

    def _opened(self) -> None:
        trace = self.session.trace.value
        self._flag.set()
        self.known, self.refused, self.experiments, self._chosen = {}, {}, (), None
        self._show_drawn(DRAWN_NOTHING)
        missing = self.why_missing("waves")
        self.empty.say(missing)
        if trace is not None and not missing:
            self.want_result("findings")
            self._soon.update()
        self._show()

    def _collect(self) -> None:
        """Make rows from the sliders, the user's experiments and the remedies of findings."""
        trace, live = self.session.trace.value, self.controls.asked
        if trace is None or self.why_missing("waves"):
            return

        def own(asked: ChangeRequest) -> ExperimentRow:
            try:
                changes = tuple(asked.changes(trace))
            except RcvError as error:
                return ExperimentRow(" ".join(asked.words), words=asked.words, why_not=str(error))
            return ExperimentRow(changes_text(changes), changes, words=asked.words)

        wanted = (() if live is None else (live,)) + self.session.experiments.value
        findings: Findings | None = self.ui.results.cell("findings").value
        ranked = [one for one in (() if findings is None else findings.findings) if one.rank == RANKED]
        remedies = [each for one in ranked for each in _experiments_of(one)]
        before, known = self._chosen, {one.text for one in self.experiments}
        remedies.sort(key=self._place)
        self.experiments = (*map(own, wanted), *remedies)
        same = (one for one in self.experiments if before is not None and one.text == before.text)
        self._chosen = self.experiments[0] if live is not None else next(same, None)
        newest = next((one for one in self.experiments if one.words and one.text not in known), None)
        if newest is not None:  # the user wants its effect
            self._chosen = newest
        wished = self.session.remedy.value
        if found := next((one for one in remedies if wished and one.origin == wished), None):
            self._chosen = found
            self.session.remedy.set("")
        self.empty.say("" if self.experiments else NOTHING)
        self._show()
        self._draw_soon.update()
        self._play_next()

    def _place(self, experiment: ExperimentRow) -> tuple[bool, float]:
        """Order rows by predicted gain, largest first; rows that cannot be played come last."""
        known = self._of_kernel(experiment)
        return not experiment.changes, 0.0 if known is None else known.share

    def _of_kernel(self, experiment: ExperimentRow) -> KernelChange | None:
        """Return what an experiment is predicted to change of the kernel's duration, None if unknown."""
        known = self.known.get(experiment.changes)
        findings: Findings | None = self.ui.results.cell("findings").value
        if known is None or findings is None:
            return None
        named = (one for one in findings.findings if experiment.origin and one.title == experiment.origin)
        finding = next(named, None) or finding_of_changes(findings, experiment.changes)
        return kernel_change(findings, known, finding)

    def _keep(self) -> None:
        if (asked := self.controls.asked) is not None:
            self.session.add_experiment(asked)
            self.controls.reset()

    def _toggle(self) -> None:
        self._is_stopped = not self._is_stopped
        if self._is_stopped:
            self._flag.set()
        self._play_next()
        self._show()

    def _left(self) -> list[ExperimentRow]:
        played = self.known.keys() | self.refused.keys()
        return [one for one in self.experiments if one.changes and one.changes not in played]

    def _play_next(self) -> None:
        """Play the first unplayed experiment; a newer experiment goes before waiting ones."""
        left, store = self._left(), self.session.store
        if store is None or not left or self._is_stopped or self.session.is_streaming:
            self._show()
            return
        recordings, held, changes = self._played(), store.batches, left[0].changes
        self._flag.set()
        flag = self._flag = CancelFlag()

        def job() -> Prediction | str:
            with stoppable(flag):
                try:
                    return recordings.predict(held, changes)
                except RcvError as error:
                    if flag.is_set():
                        raise
                    return str(error)

        def take(answer: Prediction | str) -> None:
            if isinstance(answer, str):
                self.refused[changes] = answer
            else:
                self.known[changes] = answer
            if not self._left():
                self._soon.update()  # in order of predicted gain
            self._play_next()

        self._show()
        self.run_job(job, take, "play")

    def _played(self) -> Recordings:
        trace = self.session.trace.value
        assert trace is not None
        return self.ui.results.recordings(trace)

    def _show(self) -> None:
        why_not = [one.why_not or self.refused.get(one.changes, "") for one in self.experiments]
        rows = zip(self.experiments, why_not, strict=True)
        table = tried_table([(one.text, one.origin, self._of_kernel(one), why) for one, why in rows])
        finding, *others, last = plain_columns(table)
        last = replace(last, is_shown=any(why_not))
        self.view.show_columns((replace(finding, width=FINDING_PX), *others, last))
        self.beside.setVisible(self._chosen is not None)
        if self._chosen in self.experiments:
            self.view.set_current(self.experiments.index(self._chosen), reveal=False)
        left = len(self._left())
        self.stop.setVisible(bool(left))
        self.stop.setText(translated("Replay" if self._is_stopped else "Stop"))
        self.keep.setVisible(self.controls.asked is not None)
        found = next(iter(self.known.values()), None)
        self.note.setText(self._note(left, found))
        tip = "" if found is None else " ".join((*assumptions(found), *cuts([found])))
        self.note.setToolTip(tooltip(tip))

    def _note(self, left: int, found: Prediction | None) -> str:
        if left and self.session.is_streaming:
            return STREAMING
        if left and self._is_stopped:
            return "" if find_spec("numba") else SLOW
        if left:
            return Message("Replaying, {0} left …", count(left))
        if found is None:
            return ""
        return Message("Predicted by replaying {0} instructions; not a promise.", count(found.tokens))

    def _choose(self, at: int) -> None:
        self._chosen = self.experiments[at] if 0 <= at < len(self.experiments) else None
        self.beside.setVisible(self._chosen is not None)
        self._draw_soon.update()

    def _draw(self) -> None:
        """Show the selected wave as it ran, and as it would run with the chosen experiment."""
        store, chosen, wave = self.session.store, self._chosen, self.session.wave()
        if store is None or wave is None or chosen is None or not chosen.changes or self._is_stopped:
            self._show_drawn(DRAWN_NOTHING)
            return
        recordings, held = self._played(), store.batches
        self.run_job(lambda: recordings.rows(held, chosen.changes, [wave]), self._show_drawn, "rows")

    def _show_drawn(self, drawn: PlayedWaves) -> None:
        trace, wave = self.session.trace.value, self.session.wave()
        self.drawn = drawn
        self.source.texts = () if trace is None else trace.code.text
        pairs = zip(drawn.slots, drawn.is_recorded, strict=True)
        names = [RowName(f"{slot} {RAN if is_recorded else WOULD}") for slot, is_recorded in pairs]
        self.source.set_rows(drawn.rows, names)
        self.timeline.plot.rows_changed()
        self.timeline.setVisible(bool(drawn.rows))
        if not drawn.rows or trace is None or wave is None:
            self.outcome.setText(CHOOSE)
            return
        if not drawn.after:
            self.outcome.setText(NOT_PLAYED)
            return
        change = drawn.after - drawn.before
        by = f"{'−' if change < 0 else '+'}{count(abs(change))}" if change else "no change"
        ran = count(drawn.before)
        lived = Message("{0}: {1} cycles from the first instruction to the last", wave.id, ran)
        self.outcome.setText(Message("{0}, predicted {1} ({2}).", lived, count(drawn.after), by))

    def tip(self, row: int, time: int, pixel: TimeWindow, is_strip: bool) -> str:
        trace, store, segment = self.session.trace.value, self.session.store, self._segment_at(row, time)
        if trace is None or store is None or segment is None:
            return ""
        token, wave = token_at(segment, time, pixel, self.timeline.plot.row_depth), store.wave(segment.key)
        if token < 0:
            return ""
        if self.drawn.is_recorded[row] and wave is not None:
            return token_tip(trace, self.times, wave, segment, token, pixel=pixel)
        tokens = segment.tokens
        line = int(tokens.line[token])
        text, wave_id = trace.code.text[line] if line >= 0 else "", str(trace.waves.id(segment.key))
        stall, busy = count(int(tokens.stall[token])), count(int(tokens.busy[token]))
        tip = "<b>{}</b><br>{}, predicted: {} cycles stall, {} cycles issue"
        return rich(tip, text, wave_id, stall, busy)

    def hovered(self, row: int, time: int) -> None:
        found = self._token_at(row, time)
        if found is None:
            self.point_at(row, time)
            return
        segment, token = found
        self.point_at(row, time, segment.tokens.span(token), line=int(segment.tokens.line[token]))

    def clicked(self, row: int, time: int, is_double: bool) -> None:
        trace, found = self.session.trace.value, self._token_at(row, time)
        if trace is None or found is None:
            return
        segment, token = found
        if self.drawn.is_recorded[row]:
            self.session.select_token(trace.waves.id(segment.key), token, stays=True)
        elif (line := int(segment.tokens.line[token])) >= 0:
            self.session.select_line(line)

    def measured(self, window: TimeWindow, row: int) -> str:
        """Count nothing."""
        return ""

    def _segment_at(self, row: int, time: int) -> RowSegment | None:
        return self.source.rows[row].at(time) if 0 <= row < len(self.source.rows) else None

    def _token_at(self, row: int, time: int) -> tuple[RowSegment, int] | None:
        if (segment := self._segment_at(row, time)) is None:
            return None
        token = token_at(segment, time, self.timeline.plot.pixel_at(time), self.timeline.plot.row_depth)
        return None if token < 0 else (segment, token)

    def _fill_menu(self, menu: QMenu, at: int) -> None:
        experiment = self.experiments[at] if 0 <= at < len(self.experiments) else None
        if experiment is not None:
            self._choose(at)
            kept = [one for one in self.session.experiments.value if one.words == experiment.words]
            if kept:
                add_action(menu, "Remove", partial(self.session.drop_experiment, kept[0]))
        self.add_copy(menu)

    def command_line(self) -> command_text.CommandWords | None:
        """Return the command for the chosen experiment, or the first; for a remedy, predicted findings."""
        if not self.experiments:
            return None
        chosen = self._chosen or self.experiments[0]
        if chosen.origin:
            return command_text.rcv(self.session, "triage", "--top=0", "--predict")
        return command_text.rcv(self.session, "whatif", *chosen.words)

    def sheet(self) -> Sheet | None:
        if not self.experiments:
            return None
        return Sheet(self.declared.title, self.view.table.headers, self.view.table.table())
