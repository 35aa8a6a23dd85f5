"""Hardware counters over time: raw counters, performance monitors and formulas."""

from typing import Any

import numpy as np
from msgspec.structs import replace
from PySide6.QtWidgets import QSplitter, QWidget

from rcv_py.analysis.counters.counter_help import how_to_record
from rcv_py.analysis.counters.counter_sets import built_in_text
from rcv_py.analysis.counters.counters import ALL_SIMDS, Counters, counters
from rcv_py.analysis.counters.derived_counters import (
    CounterRow,
    DerivedSet,
    derived_counters,
    derived_rows,
    raw_rows,
)
from rcv_py.analysis.counters.formula.evaluate import Definitions, read_definitions
from rcv_py.base.record import Value
from rcv_py.base.text import Message, join_texts, plural
from rcv_py.features.counters.counter_tree import CounterTree
from rcv_py.features.counters.formula_dialog import FormulaDialog
from rcv_py.model.architecture import architecture_of
from rcv_py.model.trace import Trace
from rcv_py.state.formula_files import FormulaFiles
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.plain_text import push_button
from rcv_py.ui.plot.curve_panel import CurvePanel
from rcv_py.ui.plot.curves import Curve, CurveSet
from rcv_py.ui.table import command_text
from rcv_py.work.beside import of_places, with_streamed

EVERY = "all"
_TREE_PX = 270
_NOTHING = "Tick a counter on the left to draw it."
_MAX_UNITS = 2  # in the title of the axis
Places = dict[str, list[int] | None]  # chosen numbers within a shader engine, None: all
WITHIN = {
    "array": ("Which shader arrays", "All arrays", "SA"),
    "wgp": ("Which WGPs", "All WGPs", "WGP"),
    "instance": ("Which instances", "All instances", "instance"),
}


class _Answer(Value):
    trace: Trace | None
    full: Trace | None  # the same with streamed counters of files beside it
    places: Places
    texts: dict[str, str]
    read: dict[str, Definitions]
    counters: Counters | None = None
    raw: tuple[CounterRow, ...] = ()
    derived: DerivedSet | None = None
    rows: tuple[CounterRow, ...] = ()  # of formulas


class CountersPanel(CurvePanel):
    """Hardware counters over time, and formulas."""

    def __init__(self, ui: UiContext) -> None:
        self.tree = CounterTree(ui.theme)
        super().__init__(ui, "Counters over time", beside=self.tree)
        self.files = FormulaFiles(ui.settings.folder)
        self.answer: _Answer | None = None
        self.dialog: FormulaDialog | None = None
        self._ticks: dict[str, bool] = {}  # counters that the user ticked or unticked
        self._drawn: set[str] = set()
        self._colors: dict[str, int] = {}  # numbers of the palette
        self._wanted = self.request(self._compute)
        self._redraw = self.request(self._draw)
        everyone, now = (("All engines", EVERY, "Sum over all shader engines."),), self._wanted.now
        self.engines = self.add_choice("engine", "Which shader engines", everyone, now)
        everyone = (("All units", EVERY, "Sum over all compute units."),)
        self.units = self.add_choice("unit", "Which compute units", everyone, now)
        tip = "Streamed counters: sum over all."
        self.within = {
            name: self.add_choice(name, title, ((all_of, EVERY, tip),), now)
            for name, (title, all_of, _) in WITHIN.items()
        }
        simds = (
            ("All SIMDs", EVERY, "Counters of every SIMD mask."),
            *((f"SIMD{simd}", str(simd), Message("Counters that count SIMD{0}.", simd)) for simd in range(4)),
        )
        self.simds = self.add_choice("simd", "Which SIMDs", simds, self._show)
        tip = "Write formulas over counters (Ctrl+Shift+D)."
        self.button = push_button("Formulas…", tip, self.edit_formulas)
        self._head.addWidget(self.button)
        splitter = self.page.content
        assert isinstance(splitter, QSplitter)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([_TREE_PX, 4 * _TREE_PX])
        splitter.setCollapsible(0, True)
        self.remembered["sizes"] = splitter
        self.tree.ticked.connect(self._ticked)
        self.session.trace.watch(self._open)
        self._open()

    def _open(self) -> None:
        trace = self.session.trace.value
        self.answer = None
        self.plot.show_curves(CurveSet(), "")
        self.say("")
        has_any = trace is not None and bool(trace.counters or trace.spm)
        otherwise = "" if trace is None else how_to_record(trace.architecture)
        sentence = "" if has_any else self.reason(otherwise)
        if trace is not None and not has_any and otherwise not in sentence:
            sentence += f"\n\n{otherwise}"
        self.page.say(sentence)
        self._fill_places(None)
        self._wanted.now()

    def _compute(self) -> None:
        trace, texts = self.session.trace.value, {name: self.files.text(name) for name in self.files.names}
        before = self.answer if self.answer is not None and self.answer.trace is trace else None
        places: Places = {name: self._places(name) for name in WITHIN}
        engines, units = self._places("engine"), self._places("unit")

        def job() -> _Answer:
            read = {name: read_definitions(text, name) for name, text in texts.items()}
            full = before.full if before is not None else None if trace is None else with_streamed(trace)
            answer = _Answer(trace, full, places, texts, read)
            if trace is None or full is None or not (full.counters or full.spm):
                return answer
            known = before.counters if before is not None and before.places == places else None
            counted = counters(of_places(full, **places)) if known is None else known
            derived = derived_counters(
                counted, trace.clock, read.values(), trace.architecture, engines=engines, units=units
            )
            raw = raw_rows(counted, engines, units)
            return replace(answer, counters=counted, raw=raw, derived=derived, rows=derived_rows(derived))

        self._wanted.run(job, self._take)

    def _places(self, choice: str) -> list[int] | None:
        value = self.chosen(choice)
        return [int(value)] if value.isdigit() else None

    def _take(self, answer: _Answer) -> None:
        shown = None if self.answer is None else self.answer.counters
        if answer.counters is not None and shown is not answer.counters:
            self._fill_places(answer.counters, answer.full)
        self.answer = answer
        if answer.counters is not None and answer.counters.raw:
            self.page.say("")
        self._show()
        if self.dialog is not None:
            trace = answer.trace
            of = architecture_of(9) if trace is None else trace.architecture
            self.dialog.show_built_in(built_in_text(of))
            self.dialog.show_results(answer.derived, answer.read, answer.texts)

    def _fill_places(self, counted: Counters | None, trace: Trace | None = None) -> None:
        """Offer the places that have samples; keep a choice if it is still available."""
        series = () if trace is None else trace.spm
        places = (
            (self.engines, "SE", [] if counted is None else counted.engines()),
            (self.units, "CU", [] if counted is None else counted.units()),
            *(
                (box, WITHIN[name][-1], sorted({getattr(one, name) for one in series} - {-1}))
                for name, box in self.within.items()
            ),
        )
        for box, word, numbers in places:
            chosen = box.currentData()
            box.blockSignals(True)
            while box.count() > 1:
                box.removeItem(1)
            for number in numbers:
                box.addItem(f"{word} {number}", str(number))
            box.setCurrentIndex(max(0, box.findData(chosen)))
            box.setVisible(len(numbers) > 1)
            box.blockSignals(False)
        masks = set() if counted is None else {counter.simds for counter in counted.raw}
        self.simds.setVisible(bool(masks - {ALL_SIMDS}))

    def _listed(self) -> list[CounterRow]:
        """Return the rows of the chosen SIMDs, including formulas, each name once."""
        answer = self.answer
        if answer is None:
            return []
        simd = self.chosen("simd")
        raw = [row for row in answer.raw if not simd.isdigit() or row.simds >> int(simd) & 1]
        return list({row.name: row for row in (*raw, *answer.rows)}.values())

    def _show(self) -> None:
        answer = self.answer
        if answer is None or answer.counters is None or not answer.counters.raw:
            return
        rows = self._listed()
        used = frozenset[str]().union(*(row.uses for row in rows))
        self._drawn = {row.name for row in rows if self._ticks.get(row.name, row.name not in used)}
        # Colours repeat after a dozen: the curves drawn at first get the first colours.
        order = sorted(rows, key=lambda row: row.name in used)
        self._colors = {row.name: number for number, row in enumerate(order)}
        self.tree.show_rows(rows, self._drawn, self._colors)
        self._draw()

    def _draw(self) -> None:
        rows = [row for row in self._listed() if row.name in self._drawn]
        curves = [_curve(row, self._colors[row.name]) for row in rows]
        named = list(dict.fromkeys(row.unit for row in rows if row.unit))
        title = ", ".join(named[:_MAX_UNITS]) + (", …" if len(named) > _MAX_UNITS else "")
        self.plot.show_curves(CurveSet(curves), title)
        self._show_text()

    def _ticked(self, name: str, is_on: bool) -> None:
        self._ticks[name] = is_on
        self._drawn = (self._drawn | {name}) if is_on else (self._drawn - {name})
        self._redraw.ask()

    def _show_text(self) -> None:
        answer = self.answer
        if answer is None or answer.counters is None or answer.derived is None:
            return
        drawn = Message("{0} of {1}", len(self._drawn), plural(len(self._listed()), "curve"))
        parts: list[str] = [drawn if self._drawn else _NOTHING]
        if wrong := len(answer.derived.mistakes):
            parts.append(Message("{0} without a value: see Formulas…", plural(wrong, "formula")))
        if answer.derived.left_out:
            parts.append(Message("{0} not recorded", plural(answer.derived.left_out, "built-in formula")))
        self.say(" · ".join((*parts, *answer.counters.notes, *self.files.problems)))

    def edit_formulas(self) -> None:
        """Open the formula editor window."""
        if self.dialog is None:
            self.dialog = FormulaDialog(self.ui.theme, self.files, self)
            self.dialog.edited.connect(self._compute)
        self.dialog.show()
        self.dialog.raise_()
        self._compute()

    def canvas(self) -> QWidget:
        return self.page

    def command_line(self) -> command_text.CommandWords | None:
        places = (
            ("se", self.chosen("engine")),
            ("cu", self.chosen("unit")),
            *((name, self.chosen(name)) for name in WITHIN),
            ("simd", self.chosen("simd")),
        )
        where = [f"--{name}={value}" for name, value in places if value.isdigit()]
        shown = command_text.only([row.name for row in self._listed()], self._drawn)
        return command_text.rcv(self.session, "counters", *where, *self.files.words(), *shown)

    def focus_search(self) -> bool:
        if self.page.is_empty:
            return False
        self.tree.field.setFocus()
        self.tree.field.selectAll()
        return True

    def save_state(self) -> dict[str, Any]:
        return super().save_state() | {"ticks": self._ticks}

    def load_state(self, state: dict[str, Any]) -> None:
        ticks = state.get("ticks")
        if isinstance(ticks, dict):
            self._ticks = {str(name): is_on for name, is_on in ticks.items() if isinstance(is_on, bool)}
        super().load_state(state)


def _curve(row: CounterRow, color: int) -> Curve:
    """Return the curve for the plot; non-finite values are drawn as zero and reported."""
    value = row.curve.value
    odd = int(np.count_nonzero(~np.isfinite(value)))
    drawn = Message(" {0} not finite: drawn as 0.", plural(odd, "value")) if odd else ""
    tip = f"{row.name}: " + join_texts(" ", filter(None, (row.tip, row.why_unknown))) + drawn
    if odd:
        value = np.where(np.isfinite(value), value, 0.0)
    if row.is_raw:
        value = value.astype(np.int64)  # counts are integers and shown as such
    return Curve(name=row.name, time=row.curve.time, value=value, color=color, unit=row.unit, tip=tip)
