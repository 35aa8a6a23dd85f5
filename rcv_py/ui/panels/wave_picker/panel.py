"""Which wave is looked at, and which waves count."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from rcv_py.analysis.cost.hotspot import counted_rows, default_clock_range
from rcv_py.analysis.timeline.token_details import state_cycles
from rcv_py.base.text import nanoseconds, plural
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.commands import Command
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import only_for
from rcv_py.ui.core.panel import Panel, Sheet, panel
from rcv_py.ui.core.plain_text import PlainLabel, tooltip
from rcv_py.ui.panels.wave_picker import wave_choice
from rcv_py.ui.panels.wave_picker.cycle_field import CycleField, cycles_in
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import WithEmptyState
from rcv_py.ui.widgets.state_bar import StateBar, state_text

NO_WAVES = (
    "No wave has instructions: none ran on the traced compute unit. Trace another one, or a larger grid."
)
SHORTEST_PX = 44  # of a button or field: four fit beside each other in the narrowest column
SPEEDS = ("fastest", "median", "slowest")
SPEED_KEYS = ("Ctrl+Home", "Ctrl+M", "Ctrl+End")


@panel(id="wave_picker", title="Wave", area="right", order=10, needs=("waves",))
class WavePickerPanel(Panel):
    """Choose a wave and the waves that count."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._facts = ""
        self.boxes = {level: QComboBox() for level in wave_choice.LEVELS}
        self.speeds = {name: QPushButton(name.capitalize()) for name in SPEEDS}
        self.life, self.length, self.counted = PlainLabel(), PlainLabel(), PlainLabel()
        self.states = StateBar(ui.theme)
        self.shares = PlainLabel()
        self.begin, self.end = CycleField("Begin of the clock range"), CycleField("End of the clock range")
        self.reset = QPushButton("Reset")
        self.use_view = QPushButton("Use view")
        self._lay_out()
        self._watch()
        self._update()

    def commands(self) -> tuple[Command, ...]:
        """The clock range, and the waves by speed."""

        def needs_waves() -> str:
            trace = self.session.trace.value
            return "" if trace is not None and len(trace.waves) else "The capture has no waves."

        speeds = tuple(
            Command(
                f"wave.{name}",
                f"Go to the {name} wave",
                "Go",
                partial(self._go_by_speed, name),
                (key,),
                f"Select the {name} wave of this kernel.",
                needs_waves,
            )
            for name, key in zip(SPEEDS, SPEED_KEYS, strict=True)
        )
        return (
            Command("range.use_view", "Count the waves in view", "Analyze", self._take_view, ("R",),
                    "Make the shown time the clock range: waves that touch it count.", needs_waves),
            Command("range.reset", "Count all waves", "Analyze", lambda: self.session.set_clock_range(None),
                    ("Shift+R",), "Take the clock range away: all waves count.", needs_waves),
            *speeds,
        )  # fmt: skip

    # -- layout -------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(4)
        column.addLayout(self._cascade())
        row = QHBoxLayout()
        row.setSpacing(4)
        for name, button in self.speeds.items():
            button.setProperty("small", "true")
            button.setToolTip(tooltip(f"Select the {name} wave of this kernel."))
            button.setMinimumWidth(SHORTEST_PX)
            button.clicked.connect(partial(self._go_by_speed, name))
            row.addWidget(button)
        column.addLayout(row)
        column.addSpacing(4)
        for label in (self.life, self.length):
            column.addWidget(_selectable(label))
        column.addWidget(self.states)
        column.addWidget(_selectable(self.shares, "muted"))
        column.addSpacing(4)
        column.addLayout(self._range())
        column.addWidget(_selectable(self.counted, "muted"))
        column.addStretch()
        scroll = QScrollArea()
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(body)
        self.empty = WithEmptyState(scroll)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self.empty)

    def _cascade(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(4)
        for place, (level, title) in enumerate(zip(wave_choice.LEVELS, wave_choice.TITLES, strict=True)):
            box = self.boxes[level]
            box.setAccessibleName(title)
            box.setMinimumContentsLength(1)
            box.setMinimumWidth(SHORTEST_PX)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.activated.connect(partial(self._chosen, level))
            label = PlainLabel(title)
            label.setProperty("role", "muted")
            label.setBuddy(box)
            grid.addWidget(label, 0, place)
            grid.addWidget(box, 1, place)
            grid.setColumnStretch(place, 1)
        return grid

    def _range(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(4)
        title = PlainLabel("Waves that count: clock range")
        title.setWordWrap(True)
        title.setProperty("role", "muted")
        grid.addWidget(title, 0, 0, 1, 2)
        for column, (field, button) in enumerate(((self.begin, self.use_view), (self.end, self.reset))):
            field.setMinimumWidth(SHORTEST_PX)
            button.setMinimumWidth(SHORTEST_PX)
            field.edited.connect(self._range_edited)
            button.setProperty("small", "true")
            grid.addWidget(field, 1, column)
            grid.addWidget(button, 2, column)
        self.use_view.setToolTip("Count the waves that touch the shown time  (R)")
        self.reset.setToolTip("Count all waves  (Shift+R)")
        self.use_view.clicked.connect(self._take_view)
        self.reset.clicked.connect(lambda: self.session.set_clock_range(None))
        return grid

    def _watch(self) -> None:
        session = self.session
        self._soon = self.coalesced(self._update)
        for cell in (session.trace, session.selection, session.clock_range, session.loaded):
            cell.watch(self._soon.ask)
        self.ui.settings.cell("timeline.units").watch(self._soon.ask)

    # -- showing ------------------------------------------------------------------------------------

    def _update(self) -> None:
        trace, wave = self.session.trace.value, self.session.selection.value.wave
        is_empty = trace is None or not len(trace.waves)
        self.empty.say(self.reason(NO_WAVES) if is_empty else "")
        if trace is None or is_empty:
            return
        row = None if wave is None else trace.waves.row(wave)
        if wave is not None and row is not None:
            self._fill(trace, wave)
            self._tell_wave(trace, row)
        self._tell_range(trace, 0 if row is None else row)

    def _fill(self, trace: Trace, wave: WaveId) -> None:
        for level, values in zip(wave_choice.LEVELS, wave_choice.choices(trace.waves, wave), strict=True):
            box = self.boxes[level]
            texts = [str(value) for value in values]
            if [box.itemText(at) for at in range(box.count())] != texts:
                box.clear()
                box.addItems(texts)
            box.setCurrentText(str(getattr(wave, level)))
            box.setEnabled(len(values) > 1)
            box.setToolTip("" if len(values) > 1 else "There is only one.")

    def _tell_wave(self, trace: Trace, row: int) -> None:
        span = trace.waves.span(row)
        ns = trace.clock.ns(span.width)
        self.life.setText(str(span))
        self.life.setToolTip("First and last cycle of the wave.")
        self.length.setText(f"{span.width:,} cycles" + ("" if ns is None else f"  ·  {nanoseconds(ns)}"))
        wave = None if self.session.store is None else self.session.store.wave(row)
        if wave is None:
            store = self.session.store
            why = "" if store is None else store.missing.get(row, "")
            self.shares.setText(why or "Its instructions are not loaded yet.")
            self.states.show_cycles(())
            return
        place = f"CU {wave.cu}" if wave.cu >= 0 else ""
        self._facts = " · ".join(part for part in (f"{len(wave.tokens):,} tokens", place) if part)

        def job() -> tuple[int, ...]:
            return state_cycles(wave, wave.begin, wave.end)

        self.run_job(job, only_for(self.session, self._tell_states), "states")

    def _tell_states(self, cycles: tuple[int, ...]) -> None:
        self.states.show_cycles(cycles)
        self.shares.setText("\n".join(part for part in (self._facts, state_text(cycles)) if part))

    def _tell_range(self, trace: Trace, row: int) -> None:
        chosen = self.session.clock_range.value
        shown = chosen or default_clock_range(trace.waves, row)
        for field, value in ((self.begin, shown.begin), (self.end, shown.end)):
            if not field.hasFocus() or field.text() == "":
                field.show_cycles(value)
        number = len(counted_rows(trace.waves, None, chosen))
        whole = len(trace.waves)
        self.counted.setText(
            f"All {plural(whole, 'wave')} count."
            if number == whole
            else f"{number:,} of {whole:,} waves count."
        )
        self.reset.setEnabled(chosen is not None)

    # -- choosing -----------------------------------------------------------------------------------

    def _chosen(self, level: str, at: int) -> None:
        trace, wave = self.session.trace.value, self.session.selection.value.wave
        text = self.boxes[level].itemText(at)
        if trace is None or wave is None or not text:
            return
        found = wave_choice.changed(trace.waves, wave, level, int(text))
        if found is not None:
            self.session.select_wave(found)

    def _go_by_speed(self, name: str) -> None:
        trace, wave = self.session.trace.value, self.session.selection.value.wave
        if trace is None or not len(trace.waves):
            return
        row = 0 if wave is None else trace.waves.row(wave) or 0
        self.session.select_wave(trace.waves.id(getattr(wave_choice.rank(trace.waves, row), name)))

    def _take_view(self) -> None:
        if self.session.trace.value is not None:
            self.session.set_clock_range(self.session.view.value)

    def _range_edited(self, value: int) -> None:
        begin, end = cycles_in(self.begin.text()), cycles_in(self.end.text())
        if begin is None or end is None:
            return
        is_wrong = begin >= end
        self.end.mark(is_wrong, "The end must lie behind the begin.")
        if not is_wrong:
            self.session.set_clock_range(TimeWindow(begin, end))

    # -- export -------------------------------------------------------------------------------------

    def command_line(self) -> command_text.Words | None:
        """The selected wave, and how many count."""
        wave = self.session.selection.value.wave
        if wave is None:
            return command_text.rcv(self.session, "waves")
        return command_text.rcv(self.session, "wave", str(wave), *command_text.clock(self.session))

    def sheet(self) -> Sheet | None:
        """All waves of the capture."""
        trace = self.session.trace.value
        if trace is None:
            return None
        index = trace.waves
        headers = ("se", "simd", "slot", "wave", "cu", "begin", "end", "duration, cycles")
        columns = (
            index.se,
            index.simd,
            index.slot,
            index.wid,
            index.cu,
            index.begin,
            index.end,
            index.end - index.begin,
        )
        return Sheet("Waves", headers, zip(*(column.tolist() for column in columns), strict=True))


def _selectable(label: QLabel, role: str = "") -> QLabel:
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role:
        label.setProperty("role", role)
    return label
