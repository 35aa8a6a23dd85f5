"""The selected wave: choose another, see its facts, and choose which waves count."""

from functools import partial
from typing import Self

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QLineEdit

from rcv_py.analysis.core.median import nearest_to_median
from rcv_py.analysis.cost.hotspot import counted_rows
from rcv_py.analysis.timeline.token_details import state_cycles
from rcv_py.base.runs import ascending
from rcv_py.base.text import Message, join_texts, plural, translated
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveIndex
from rcv_py.model.window import TimeWindow
from rcv_py.state.commands import Command, commands
from rcv_py.state.session import Session
from rcv_py.ui.core.layout import boxed, column, grid, row, scrolled
from rcv_py.ui.core.panel import LazyPanel, Panel, UiContext
from rcv_py.ui.core.plain_text import PlainLabel, allow, push_button, tooltip
from rcv_py.ui.core.times import UNITS, Times
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import page
from rcv_py.ui.widgets.legend import StateBar, state_text

MIN_PX = 44  # px of a button or field: four fit side by side in the narrowest column
SPEEDS = ("fastest", "median", "slowest")
SPEED_KEYS = ("Ctrl+Home", "Ctrl+M", "Ctrl+End")
LEVELS = ("se", "simd", "slot", "wid")
TITLES = ("SE", "SIMD", "Slot", "Wave")


class MomentField(QLineEdit):
    """A moment in the shown unit.  Emits `edited` when the user has entered a valid moment.

    An invalid text is marked as wrong.
    """

    edited = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._shown, self._times = "", Times()
        self._value: int | None = None
        self.setAccessibleName(translated(name))
        self.setToolTip(tooltip(name))
        self.setPlaceholderText(translated("cycles"))
        self.textEdited.connect(self._judge)
        self.editingFinished.connect(self._finish)

    def show_moment(self, cycle: int, times: Times) -> None:
        """Show a moment in a unit without emitting a signal."""
        self._shown, self._value, self._times = times.at(cycle), cycle, times
        self.setPlaceholderText(translated(times.unit or "µs"))
        self.setText(self._shown)
        self.setCursorPosition(0)
        self.mark(False)

    @property
    def value(self) -> int | None:
        """Return the exact cycle of the shown moment until the user edits it; None if the text is invalid."""
        return self._value if self.text() == self._shown else self._times.moment(self.text())

    def _judge(self) -> None:
        what = "number of cycles" if self._times.unit else "time, as in 46.72 µs"
        self.mark(self.value is None, Message("This is not a {0}.", what))

    def mark(self, is_wrong: bool, why: str = "") -> None:
        """Colour the field, and give the reason in its tooltip."""
        self.setToolTip(tooltip(why if is_wrong else self.accessibleName()))
        if bool(self.property("invalid")) != is_wrong:
            self.setProperty("invalid", is_wrong)
            self.style().unpolish(self)
            self.style().polish(self)

    def _finish(self) -> None:
        value = self.value
        if value is not None and self.text() != self._shown:
            self._shown, self._value = self.text(), value
            self.edited.emit(value)


def choices(index: WaveIndex, wave: WaveId) -> tuple[list[int], ...]:
    """Return the possible values of each level, given the levels before it."""
    rows = np.ones(len(index), dtype=bool)
    levels = []
    for level in LEVELS:
        column = getattr(index, level)
        levels.append(ascending(column[rows]).tolist())
        rows &= column == getattr(wave, level)
    return tuple(levels)


def changed(index: WaveIndex, wave: WaveId, level: str, value: int) -> WaveId | None:
    """Return the wave after a level was set: earlier levels stay, later levels change little."""
    at = LEVELS.index(level)
    rows = np.flatnonzero(getattr(index, level) == value)
    for name in LEVELS[:at]:
        rows = rows[getattr(index, name)[rows] == getattr(wave, name)]
    later = (getattr(index, name)[rows].astype(np.int64) - getattr(wave, name) for name in LEVELS[:at:-1])
    nearest = np.lexsort((rows, *map(np.abs, later)))  # the level after this one counts most
    return index.id(int(rows[nearest[0]])) if len(rows) else None


def by_speed(index: WaveIndex, row: int) -> dict[str, int]:
    """Return the rows of the fastest, median and slowest waves of the kernel of a given wave.

    The median wave is the wave with a lifetime nearest to the median: for an even number no wave need have
    it.
    """
    rows = np.flatnonzero(index.kernel == index.kernel[row])
    duration = index.end[rows] - index.begin[rows]
    order = rows[np.argsort(duration, kind="stable")]
    chosen = (order[0], rows[nearest_to_median(duration)], order[-1])
    return {name: int(row) for name, row in zip(SPEEDS, chosen, strict=True)}


def go_by_speed(session: Session, name: str) -> None:
    """Select the fastest, median or slowest wave of the kernel of the selected wave."""
    trace, wave = session.trace.value, session.selection.value.wave
    if trace is None or not len(trace.waves):
        return
    row = 0 if wave is None else trace.waves.row(wave) or 0
    session.select_wave(trace.waves.id(by_speed(trace.waves, row)[name]))


def take_view(session: Session) -> None:
    """Make the shown time the clock range."""
    if session.trace.value is not None:
        session.clock_range.set(session.view.value)


class WavePickerPanel(Panel):
    """Choose a wave and the waves that count."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.boxes = {level: QComboBox() for level in LEVELS}
        self.speeds = {}
        for name in SPEEDS:
            tip, go = Message("Select the {0} wave of this kernel.", name), partial(go_by_speed, ui.session)
            self.speeds[name] = push_button(name.capitalize(), tip, partial(go, name), small=True)
        self.life, self.length = PlainLabel(wordWrap=True), PlainLabel(wordWrap=True)
        muted = (PlainLabel(role="muted", wordWrap=True) for _ in range(3))
        self.shares, self.counted, self.range_title = muted
        self.states = StateBar(ui.theme)
        self.begin, self.end = MomentField("Begin of the clock range"), MomentField("End of the clock range")
        every = partial(ui.session.clock_range.set, None)
        self.reset = push_button("Reset", "Count all waves  (Shift+R)", every, small=True)
        shown = "Count the waves that touch the shown time  (R)"
        self.use_view = push_button("Use view", shown, partial(take_view, ui.session), small=True)
        self._lay_out()
        self._soon = self.request(self._update)
        session = ui.session
        for cell in (session.trace, session.selection, session.clock_range, session.loaded):
            cell.watch(self._soon.ask)
        ui.settings.cell(UNITS).watch(self._soon.ask)
        self._update()

    @classmethod
    def commands(cls, ui: UiContext, lazy: LazyPanel[Self]) -> tuple[Command, ...]:
        def needs_waves() -> str:
            trace = ui.session.trace.value
            return "" if trace is not None and len(trace.waves) else "The capture has no waves."

        speeds = (
            (f"wave.{name}", Message("Go to the {0} wave", name), key, partial(go_by_speed, ui.session, name),
             Message("Select the {0} wave of this kernel.", name), needs_waves)
            for name, key in zip(SPEEDS, SPEED_KEYS, strict=True)
        )  # fmt: skip
        return commands("Analyze", (
            ("range.use_view", "Count the waves in view", "R", partial(take_view, ui.session),
             "Make the shown time the clock range: waves that touch it count.", needs_waves),
            ("range.reset", "Count all waves", "Shift+R", lambda: ui.session.clock_range.set(None),
             "Take the clock range away: all waves count.", needs_waves),
        )) + commands("Go/Waves", speeds)  # fmt: skip

    def _lay_out(self) -> None:
        for button in self.speeds.values():
            button.setMinimumWidth(MIN_PX)
        for label in (self.life, self.length, self.shares, self.counted):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for widget in (*self.boxes.values(), self.begin, self.end, self.use_view, self.reset):
            widget.setMinimumWidth(MIN_PX)
        for field in (self.begin, self.end):
            field.edited.connect(self._range_edited)
        even = partial(grid, across=4, down=4, is_even=True)
        bounds = even(((), (self.begin, self.end), (self.use_view, self.reset)))
        bounds.addWidget(self.range_title, 0, 0, 1, 2)
        labels = []
        for (level, box), title in zip(self.boxes.items(), TITLES, strict=True):
            box.setAccessibleName(translated(title))
            box.setMinimumContentsLength(1)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.activated.connect(partial(self._chosen, level))
            labels.append(PlainLabel(title, role="muted"))
            labels[-1].setBuddy(box)
        levels = even((labels, list(self.boxes.values())))
        wave = (levels, row(*self.speeds.values(), spacing=4), self.life, self.length)
        rest = (self.states, self.shares, bounds, self.counted, None)
        body = column(*wave, *rest, margins=(8, 8, 8, 8), spacing=4)
        body.insertSpacing(2, 4)
        body.insertSpacing(7, 4)
        self.empty = page(self, scrolled(boxed(body), is_wide=False))

    def _update(self) -> None:
        trace, wave = self.session.trace.value, self.session.selection.value.wave
        is_empty = self.why_missing("waves")
        self.empty.say(is_empty)
        if trace is None or is_empty:
            return
        row = None if wave is None else trace.waves.row(wave)
        if wave is not None and row is not None:
            self._fill(trace, wave)
            self._show_wave(trace, row)
        self._show_range(trace, 0 if row is None else row)

    def _fill(self, trace: Trace, wave: WaveId) -> None:
        for level, values in zip(LEVELS, choices(trace.waves, wave), strict=True):
            box = self.boxes[level]
            texts = [str(value) for value in values]
            if [box.itemText(at) for at in range(box.count())] != texts:
                box.clear()
                box.addItems(texts)
            box.setCurrentText(str(getattr(wave, level)))
            allow(box, "" if len(values) > 1 else "There is only one.")

    def _show_wave(self, trace: Trace, row: int) -> None:
        span = trace.waves.span(row)
        times = self.times
        self.life.setText(f"{times.at(span.begin)} … {times.at(span.end)}")
        self.life.setToolTip(tooltip(Message("First and last moment of the wave; in cycles {0}.", span)))
        self.length.setText(times.both(span.width))
        store = self.session.store
        wave = None if store is None else store.wave(row)
        if wave is None:
            why = "" if store is None else store.missing.get(row, "")
            self.shares.setText(why or "Its instructions are not loaded yet.")
            self.states.show_cycles(())
            return
        place = f"{trace.architecture.unit_name}{wave.cu}" if wave.cu >= 0 else ""
        facts = join_texts(" · ", filter(None, (Message("{0:,} tokens", len(wave.tokens)), place)))

        def take(cycles: tuple[int, ...]) -> None:
            self.states.show_cycles(cycles)
            self.shares.setText(join_texts("\n", filter(None, (facts, state_text(cycles)))))

        self.run_job(partial(state_cycles, wave, wave.begin, wave.end), take, "states")

    def _show_range(self, trace: Trace, row: int) -> None:
        chosen, times = self.session.clock_range.value, self.times
        shown = chosen or trace.span
        unit = times.unit or "time since the trace began"
        self.range_title.setText(Message("Waves that count: clock range, {0}", unit))
        for field, value in ((self.begin, shown.begin), (self.end, shown.end)):
            if not field.hasFocus() or field.text() == "":
                field.show_moment(value, times)
        store, total = self.session.store, len(trace.waves)
        lost = frozenset[int]() if store is None else store.missing.keys() | store.lost.keys()
        counted = len(counted_rows(trace.waves, None, chosen) - lost)
        why = Message(" {0} could not be read.", plural(len(lost), "wave")) if lost else ""
        count = "counts" if total == 1 else "count"
        text: str = Message("{0:,} of {1} {2}.{3}", counted, plural(total, "wave"), count, why)
        if counted == total:
            text = "The only wave counts." if total == 1 else Message("All {0:,} waves count.", total)
        self.counted.setText(text)
        allow(self.reset, "" if chosen is not None else "No clock range is chosen: all waves count.")

    def _chosen(self, level: str, at: int) -> None:
        trace, wave = self.session.trace.value, self.session.selection.value.wave
        text = self.boxes[level].itemText(at)
        if trace is None or wave is None or not text:
            return
        if (other := changed(trace.waves, wave, level, int(text))) is not None:
            self.session.select_wave(other)

    def _range_edited(self, value: int) -> None:
        begin, end = self.begin.value, self.end.value
        if begin is not None and end is not None:
            self.end.mark(begin >= end, "The end must lie after the begin.")
            if begin < end:
                self.session.clock_range.set(TimeWindow(begin, end))

    def command_line(self) -> command_text.CommandWords | None:
        session, wave = self.session, self.session.selection.value.wave
        if wave is None:
            return command_text.rcv(session, "waves")
        return command_text.rcv(session, "wave", str(wave), *command_text.clock(session))
