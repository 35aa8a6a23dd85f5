"""The panel of findings: patterns that cost cycles, with evidence one click away and a remedy."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Self

import numpy as np
from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QResizeEvent

from rcv_py.analysis.findings.finding import (
    LEGEND,
    RANKING,
    Evidence,
    Finding,
    Findings,
    KeyNumber,
    finding_as_markdown,
    markdown,
)
from rcv_py.base.manifest import panel_for
from rcv_py.base.progress import Stage
from rcv_py.base.text import Message, join_texts, joined_texts, translated
from rcv_py.features.findings import widgets
from rcv_py.model.window import TimeWindow
from rcv_py.state.commands import Command, commands
from rcv_py.state.session import Session
from rcv_py.ui.core.computing import Computing
from rcv_py.ui.core.layout import boxed, column, resize_now, row, split
from rcv_py.ui.core.panel import LazyPanel, Panel, Sheet, UiContext
from rcv_py.ui.core.plain_text import ElidedLabel, PlainLabel, copy_text, push_button, tooltip
from rcv_py.ui.core.times import UNITS
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import WithEmptyState
from rcv_py.ui.widgets.links import LinkText
from rcv_py.work.machine import on_battery

RESULT = "findings"
NOTHING_OPEN = "Open a capture to see what to look at first."
UNLIMITED_PX = (1 << 24) - 1  # Qt's value for no limit
WIDE = 640  # px: minimum width with a finding next to the list
# Panels by kind.  An execution is shown in the timeline that draws instructions, a wave or a range of cycles
# in the timeline that is in front.
SHOWN_IN = {
    "instruction": panel_for("instruction"),
    "token": panel_for("token"),
    "wave": "time",
    "window": "time",
    "source": panel_for("source line"),
}
MARGIN = 0.05  # of a range, left and right of it
PREDICT_MS = 20  # delay after findings are shown: other requests come first
RANKING_MS = 200  # minimum interval between changes of the progress of predictions
SETTING, ON_BATTERY = "findings.predict", "findings.predict_on_battery"
SAVES = "On battery: gains are not predicted"


def go_to(session: Session, place: Evidence) -> str:
    """Select the place of the evidence; return the panel that shows it, or the area of such panels."""
    if place.kind == "instruction":
        session.select_line(place.line)
    elif place.kind == "token" and place.wave is not None:
        session.show_token(place.wave, place.token)
        if session.token() is None:  # its wave has not been read yet
            session.set_view(TimeWindow(place.begin, max(place.end, place.begin + 1)).padded(MARGIN))
    elif place.kind == "wave" and place.wave is not None:
        session.select_wave(place.wave)
        session.fit_wave(place.wave)
    elif place.kind == "window":
        session.set_view(TimeWindow(place.begin, max(place.end, place.begin + 1)).padded(MARGIN))
    elif place.kind == "source" and place.source is not None:
        session.select_source(*place.source)
    return SHOWN_IN.get(place.kind, "")


class TriagePanel(Panel):
    """What to look at first: findings with evidence and a remedy."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._computing = Computing(self, self._show)
        self.findings: Findings | None = None
        self._moved: dict[str, int] = {}  # by how many places predictions moved findings up, by name
        self.strip, self.note = widgets.NumberStrip(ui.theme), ElidedLabel(role="muted")
        self.headline = PlainLabel(role="headline", wordWrap=True)
        self.list = widgets.FindingList(ui.theme)
        self.page = LinkText(ui.session, ui.theme, "The chosen finding with its evidence")
        tip = "Copy all findings as Markdown, to paste into a ticket."
        self.copy = push_button("Copy", tip, self.copy_all, small=True)
        tip = "Show all key numbers, and what limits the kernel in detail."
        self.more = push_button("Numbers", tip, self._show_what_is_there, small=True)
        self.more.setCheckable(True)
        self.detail = PlainLabel(role="muted", wordWrap=True)
        self._is_open = False  # whether all that is known of a finding is shown
        self._saves = False  # predictions are left out because the computer runs on battery
        self._stages: deque[Stage] = deque(maxlen=1)  # the last of the running predictions, by their thread
        self._ticks = QTimer(self, interval=RANKING_MS)
        self._ticks.timeout.connect(self._show_note)
        self._lay_out()
        self.list.chosen.connect(self._show_one)
        self.list.asked.connect(self.go)
        self.list.tried.connect(self.try_remedy)
        self.list.copied.connect(self.copy_one)
        self.page.anchorClicked.connect(self._clicked)
        self._fit = self.request(self._fit_list)
        self._due = self.request(self._predict, PREDICT_MS, is_background=True)
        ui.session.trace.watch(self._open)
        ui.results.cell(RESULT).watch(self._take)
        for setting in (SETTING, ON_BATTERY):
            ui.settings.cell(setting).watch(self._take)
        ui.settings.cell(UNITS).watch(self._unit_changed)
        self._open()

    def _lay_out(self) -> None:
        self.headline.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.headline.setAccessibleName(translated("What limits the kernel"))
        self.copy.setAccessibleName(translated("Copy all findings as Markdown"))
        self.list.setMinimumWidth(200)
        top = row((self.headline, 1), self.more, self.copy, margins=(8, 4, 8, 0), spacing=6)
        for button in (self.more, self.copy):
            top.setAlignment(button, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
        for label in (self.note, self.detail):
            label.setContentsMargins(widgets.MARGIN_PX, 0, widgets.MARGIN_PX, 4)
        self.head = boxed(column(self.detail, self.strip, self.note))
        self.split = split(self.list, self.page, sizes=(250, 400), is_column=True)
        for part, share in enumerate((2, 3)):
            self.split.setStretchFactor(part, share)
        self.split.installEventFilter(self)
        self.remembered = {"sizes": self.split}
        self.empty = WithEmptyState(self.split)
        column(top, self.head, (self.empty, 1), of=self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put a finding next to the list if both have room, else below it."""
        super().resizeEvent(event)
        way = Qt.Orientation.Horizontal if self.width() >= WIDE else Qt.Orientation.Vertical
        if self.split.orientation() != way:
            self.split.setOrientation(way)
            room = self.width() if way is Qt.Orientation.Horizontal else self.split.height()
            self.split.setSizes([room * 2 // 5, room - room * 2 // 5])
        self._fit.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:  # of the split: numbers above it came or went
            self._fit.update()
        return super().eventFilter(watched, event)

    def _fit_list(self) -> None:
        """Let list and page, one below the other, have the height that the other does not need."""
        is_below = self.split.orientation() == Qt.Orientation.Vertical
        self.list.setMaximumHeight(self.list.rows_px if is_below and self.list.rows_px else UNLIMITED_PX)
        if not is_below or not self.isVisible():
            return
        above, below = self.split.sizes()
        blank = below - round(self.page.document().size().height()) - 2 * self.page.frameWidth()
        wanted = min(self.list.rows_px - above, blank)
        if wanted > 0:
            self.split.setSizes([above + wanted, below - wanted])

    def _open(self) -> None:
        self.findings = None
        self._is_open = False
        self.more.setChecked(False)
        if self.session.trace.value is not None:
            self.want_result(RESULT)
        self._take()

    def _take(self) -> None:
        self.findings = self.ui.results.cell(RESULT).value
        self._due.cancel()
        self._moved = {}
        self._stop_ticks()
        self._saves = False
        if self.findings is not None and self._is_predicting():
            self._due.ask(PREDICT_MS)
        self._show()

    def _is_predicting(self) -> bool:
        """Return whether remedies are replayed without being asked for; note whether a battery forbids it."""
        # Without a compiler each finding takes a minute.
        is_wanted = bool(self.ui.settings[SETTING]) and find_spec("numba") is not None
        self._saves = is_wanted and not self.ui.settings[ON_BATTERY] and on_battery()
        return is_wanted and not self._saves

    def _predict(self) -> None:
        """Play the suggested remedies, once no other request is pending."""
        trace, store, found = self.session.trace.value, self.session.store, self.findings
        if trace is None or store is None or found is None or found is not self.ui.results.cell(RESULT).value:
            return
        if self.session.is_streaming:
            self._due.ask(PREDICT_MS)
            return
        held, stages, waves = store.batches, self._stages, self.session.waves.value
        ahead = self.ui.results.findings.ahead_of(trace, waves, self.session.run_files)

        def job() -> Findings:
            if ahead is not None:
                stages.append(Stage(RANKING))
                if (made := ahead.predicted()) is not None:
                    return made
            from rcv_py.work.whatif import with_predictions  # noqa: PLC0415 - only a replay needs it

            return with_predictions(trace, found, held, stages.append)

        def take(made: Findings) -> None:
            self._stop_ticks()
            if self.findings is found:
                places = {one.name: place for place, one in enumerate(found.in_full)}
                now = enumerate(made.in_full)
                self._moved = {one.name: places.get(one.name, place) - place for place, one in now}
                self.findings = made
                self._show()

        self._ticks.start()
        self._due.run(job, take)

    def _stop_ticks(self) -> None:
        """Show no progress; a thread that still runs keeps the old list."""
        self._ticks.stop()
        self._stages = deque(maxlen=1)

    def _show(self) -> None:
        self._show_what_is_there()
        found = self.findings
        if self.session.trace.value is None or found is None:
            self.list.show_findings(())
        else:
            self.list.show_findings(found.in_full, found.small_text, found.same_bound, self._moved)
            self._fit_list()

    def _unit_changed(self) -> None:
        self._show_what_is_there()
        self._show_one(self.list.currentRow())

    def _in_unit(self, number: KeyNumber) -> KeyNumber:
        """Return a key number in the user's unit of time: the duration is known in both."""
        if number.id != "duration" or self.ui.settings[UNITS] != "ns" or not number.of:
            return number
        time, *rest = joined_texts(number.of, "; ")
        return number._replace(text=time, of=join_texts("; ", (number.text, *rest)))

    def _show_what_is_there(self) -> None:
        findings, is_whole = self.findings, self.more.isChecked()
        numbers = () if findings is None else findings.numbers if is_whole else findings.key_numbers
        self.strip.show_numbers([*map(self._in_unit, numbers)])
        self._show_note()
        detail = "" if findings is None or not is_whole else findings.detail
        self.detail.setVisible(bool(detail))
        self.detail.setText(detail)
        self.head.setVisible(bool(self.strip.numbers))
        self.more.setVisible(bool(self.strip.numbers))
        bound = None if findings is None or findings.alarm else findings.bound_class
        self.headline.setVisible(bound is not None)
        self.headline.setText("" if bound is None else bound.sentence)
        self._computing.stop()
        self.empty.say(self._why_empty())
        self.copy.setVisible(findings is not None and bool(findings.findings))

    def _show_note(self) -> None:
        """Say how many waves are analysed, how far predictions are, and what they changed."""
        findings, store, why = self.findings, self.session.store, ""
        partial = "" if findings is None else findings.partial
        if findings is not None and partial and store is not None:
            why = "Waves are still being read; findings follow."
            why = findings.why_partial.replace("--all", "rcv triage --all") if store.is_complete else why
        ranked = SAVES if self._saves else ""
        if self._stages:
            ranked = Message("{0} …", self._stages[-1])
        elif findings is not None and findings.guesses:
            ranked = "≤ at most · → predicted (range) · ▲ ▼ moved"
        texts = (Message("partial: {0}", partial) if partial else "", ranked)
        text = join_texts(" · ", filter(None, texts))
        self.note.setVisible(bool(text))
        self.note.setText(text)
        self.note.setToolTip(tooltip(join_texts("\n", filter(None, (why, LEGEND if ranked else "")))))

    def _why_empty(self) -> str:
        if self.session.trace.value is None:
            return self.reason(NOTHING_OPEN)
        if self.findings is None:
            return self._computing.begin("findings", RESULT)
        return "" if self.findings.findings else self.findings.why or self.findings.headline

    def _show_one(self, row: int) -> None:
        finding, trace = self._one(row), self.session.trace.value
        sources = () if trace is None else trace.sources
        if finding is None:
            self.page.show_html("" if row < 0 or self.findings is None else widgets.small_html(self.findings))
        else:
            first = self.findings.same_bound[row] if self.findings is not None else row
            title = "" if first == row or (other := self._one(first)) is None else other.title
            taken = "" if self.findings is None else self.findings.predictions
            most = self._time_of(finding)
            html = widgets.finding_html(
                finding, is_open=self._is_open, sources=sources, first=title, predictions=taken, most=most
            )
            self.page.show_html(html)
        self._fit.update()

    def _time_of(self, finding: Finding) -> str:
        """Return the bound of a gain in the user's unit of time; "" if it has none."""
        trace, sign = self.session.trace.value, "≤" if finding.is_upper_bound else "~"
        if trace is None or not len(trace.occupancy) or not finding.gain_text:
            return ""
        span = self.times.span(round(finding.gain * np.ptp(trace.occupancy.time)))
        return Message("{0} {1} of the kernel's duration", sign, span)

    def _one(self, row: int) -> Finding | None:
        rows = () if self.findings is None else self.findings.in_full
        return rows[row] if 0 <= row < len(rows) else None

    @property
    def current(self) -> Finding | None:
        """Return the finding shown at the right."""
        return self._one(self.list.currentRow())

    def _clicked(self, link: QUrl) -> None:
        kind, _, number = link.toString().partition(":")
        if kind == widgets.EVIDENCE and number.isdigit():
            self.go(int(number))
        elif kind == widgets.MORE:
            self._is_open = not self._is_open
            self._show_one(self.list.currentRow())
        elif kind == widgets.TRIAL:
            self.try_remedy()

    def try_remedy(self) -> None:
        """Show the experiment with the remedy of the chosen finding."""
        if self.current is not None:
            self.session.remedy.set(self.current.title)
            self.wants.emit(panel_for("prediction"))

    def go(self, number: int) -> None:
        """Select the place of a piece of evidence everywhere, and bring its panel to the front."""
        finding = self.current
        if finding is None or not 0 <= number < len(finding.evidence):
            return
        if name := go_to(self.session, finding.evidence[number]):
            self.wants.emit(name)

    def come(self) -> None:
        """Come to the front and focus the list."""
        self.wants.emit(self.declared.id)
        self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def copy_one(self) -> None:
        """Copy the chosen finding as Markdown."""
        if self.current is not None:
            copy_text(finding_as_markdown(self.list.currentRow() + 1, self.current))

    @property
    def has_findings(self) -> bool:
        """Return whether there are findings to copy."""
        return self.findings is not None and bool(self.findings.findings)

    def copy_all(self) -> None:
        """Copy all findings as Markdown."""
        trace = self.session.trace.value
        if trace is not None and self.findings is not None:
            copy_text(markdown(trace.name, self.findings))

    @classmethod
    def commands(cls, ui: UiContext, lazy: LazyPanel[Self]) -> tuple[Command, ...]:
        return commands("Analyze", (
            ("triage.show", "What to look at first", "F4",
             lazy.with_panel(cls.come),
             "Show the findings: patterns that cost cycles, with evidence and a remedy.",
             lambda: "" if ui.session.trace.value is not None else NOTHING_OPEN),
            ("triage.copy", "Copy findings as Markdown", "Ctrl+Alt+Shift+F", lazy.with_panel(cls.copy_all),
             "Copy all findings with their evidence, to paste into a ticket.",
             lambda: "" if (panel := lazy.existing) and panel.has_findings else "There are no findings."),
        ))  # fmt: skip

    @contextmanager
    def for_picture(self) -> Iterator[None]:
        """Leave out the blank below the list and the finding during the block."""
        size = self.size()
        resize_now(self, size)  # what came or went above the list has its place
        sizes = self.split.sizes()
        text = round(self.page.document().size().height()) + 2 * self.page.frameWidth()
        blanks = self.list.height() - self.list.rows_px, self.page.height() - text
        is_below = self.split.orientation() == Qt.Orientation.Vertical
        blank = sum(blanks) if is_below else min(blanks)
        if not self.split.isVisible() or blank <= 0:
            yield
            return
        try:
            resize_now(self, size - QSize(0, blank))
            if is_below:
                self.split.setSizes([self.list.rows_px, text])
            yield
        finally:
            resize_now(self, size)
            self.split.setSizes(sizes)

    def caption(self) -> str:
        selection = "" if self.findings is None else self.findings.selection
        partial = "" if self.findings is None else self.findings.partial
        note = translated(Message("partial: {0}", partial)) if partial else ""
        return " · ".join(filter(None, (selection, note)))

    def command_line(self) -> command_text.CommandWords | None:
        predict = "--predict" if self.findings is not None and bool(self.findings.guesses) else "--no-predict"
        return command_text.rcv(self.session, "triage", "--top=0", predict)

    def sheet(self) -> Sheet | None:
        if self.findings is None or not self.has_findings:
            return None
        from rcv_py.features.findings.result import finding_table  # noqa: PLC0415 - it imports all detectors

        return Sheet.as_shown("Findings", finding_table(self.findings.findings))
