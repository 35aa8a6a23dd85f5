"""All hits of the selected instruction: their times, the slowest hits, and where they occur."""

from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.cost import distribution
from rcv_py.analysis.cost.distribution import LISTED, DistributionChoice, DistributionView, LineHits
from rcv_py.analysis.cost.place_text import beside
from rcv_py.base.text import Message, join_texts, plural
from rcv_py.features.line.result import hit_table
from rcv_py.model.modes import MEASURES
from rcv_py.model.trace import Trace
from rcv_py.results.table import ResultTable
from rcv_py.ui.core.layout import bar, boxed, column, split
from rcv_py.ui.core.panel import READING, Panel, Sheet, UiContext
from rcv_py.ui.core.plain_text import MIDDLE_RIGHT, ElidedLabel, named, tooltip
from rcv_py.ui.core.shared_results import waves_note
from rcv_py.ui.core.times import UNITS, Times
from rcv_py.ui.plot.distribution_chart import DistributionChart
from rcv_py.ui.table import command_text
from rcv_py.ui.table.result_columns import result_columns
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.table.table_model import Column
from rcv_py.ui.widgets.choice import ChoiceBox
from rcv_py.ui.widgets.empty_state import page

NO_LINE = "Select an instruction to see how long each of its hits took, and which were the slowest."
NO_HIT = "No wave that has been read ran this instruction."
ONLY_ONCE = "No wave ran this instruction twice, so there is no time since the hit before."
HIT_TITLE = "hit, from 1"  # hit number counted from 1
HIT_TIP = "Which execution of the instruction by the wave, from 1."
STREAM_MS = 800
_NAMES = ("Latency", "Stall", "Idle before", "Since the hit before")
MEASURE_NAMES = dict(zip(MEASURES, _NAMES, strict=True))


def hit_columns(
    trace: Trace, hits: LineHits, rows: np.ndarray, measure: str, times: Times
) -> tuple[Column, ...]:
    """Return the columns of these hits; the sorted measure comes first."""
    table = hit_table(trace, hits, rows)
    order = dict.fromkeys((measure, "wave", "hit", "start", *MEASURE_NAMES))
    columns = result_columns(ResultTable(table.spec.but(window=tuple(order)), table.columns), trace)

    def duration(cycles: int) -> str:
        return times.number(int(cycles)) if cycles >= 0 else ""  # a missing duration stays empty

    changes: dict[str, dict[str, Any]] = {}
    if not times.unit:
        changes = {name: {"text": duration} for name in MEASURE_NAMES}
        changes["start"] = {"text": lambda cycle: times.at(int(cycle))}
    changes["hit"] = {"values": hits.hit[rows] + 1, "text": "{:,}".format, "tip": HIT_TIP}
    return tuple(replace(column, **changes.get(column.id, {})) for column in columns)


class DistributionPanel(Panel):
    """The times of all hits of the selected instruction."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.view: DistributionView | None = None
        self._shown: int | None = None  # code row of the shown hits
        self._bin = -1  # bar whose hits are listed, -1: the slowest
        self.shown = np.zeros(0, dtype=np.int64)  # rows of the hits in the table
        self.plot = DistributionChart(ui.theme)
        table = RowsView(ui.theme, ui.settings)
        self.table = named(table, "Hits of the selected instruction, the slowest first")
        self.title, self.note, self.listed = (ElidedLabel(role=role) for role in ("", "muted", "muted"))
        self.measure = ChoiceBox("What is measured of every hit", MEASURE_NAMES)
        self._request = self.request(self._compute, STREAM_MS)
        self.remembered = {"measure": self.measure, "table": self.table}
        self.measure.currentIndexChanged.connect(self._choices_changed)
        self.note.setAlignment(MIDDLE_RIGHT)
        above = bar((self.title, 1), self.note, self.measure)
        self.listed.setContentsMargins(8, 2, 8, 0)
        right = boxed(column(self.listed, (self.table, 1), spacing=2))
        self.empty = page(self, above, (split(self.plot, right, sizes=(520, 520)), 1))
        self.plot.chosen.connect(self._list_bin)
        self.plot.bars_changed.connect(lambda _: self._request.ask())
        self.table.chosen.connect(self._go)
        self.session.trace.watch(self._open)
        self.session.selection.watch(self._follow)
        self.session.loaded.watch(self._more_waves)
        self.session.waves.watch(self._request.ask)
        ui.theme.changed.connect(self._restyle)
        ui.settings.cell(UNITS).watch(self._show_again)
        self._restyle()
        self._open()

    def _open(self) -> None:
        self._shown = None
        self._show(None)
        self._request.ask()

    def _want(self) -> DistributionChoice:
        return DistributionChoice(self.measure.value, self.plot.bars_wanted)

    def _more_waves(self) -> None:
        if self.session.line is not None:
            self._request.update()

    def _compute(self) -> bool:
        trace, store = self.session.trace.value, self.session.store
        line, wanted = self.session.line, self._want()
        if trace is None or store is None or line is None or not store.batches:
            self._show(None)
            return False
        chosen, ask = self.chosen_rows(), self.incremental("hits", distribution.hits_of(line), line)

        def job() -> DistributionView:
            return distribution.distribution_view(ask(chosen()), wanted, trace.architecture.base_clock)

        def take(view: DistributionView) -> None:
            if line == self.session.line:
                if self.view is None or self._shown != line or self.view.wanted != view.wanted:
                    self._bin = -1
                self._shown = line
                self._show(view)

        self._request.run(job, take)
        return True

    def _show_again(self) -> None:
        self._show(self.view)

    def _show(self, view: DistributionView | None) -> None:
        has = view is not None and view.spread is not None
        self.view = view if has else None
        self.empty.say("" if has else self._why_empty(view))
        self.plot.times = self.times
        self.plot.show_view(self.view)
        self.plot.select(self._bin)
        self._say()
        self._list()
        self._mark()

    def _why_empty(self, view: DistributionView | None) -> str:
        missing = self.why_missing("waves")
        if missing or self.session.line is None:
            return missing or NO_LINE
        if view is not None and len(view.hits):
            return ONLY_ONCE
        store = self.session.store
        return self.why_unread() or (READING if store is not None and not store.batches else NO_HIT)

    def _say(self) -> None:
        trace, line = self.session.trace.value, self.session.line
        name = "" if trace is None or line is None else trace.code.text[line] + beside(trace, line)
        self.title.setText(f"{line}  {name}" if name else "")
        note = ""
        if self.view is not None and self.view.spread is not None:
            spread, times = self.view.spread, self.times
            mean = f"{spread.mean:,.1f}" if times.unit else times.number(spread.mean)
            hits, total = plural(spread.hits, "hit"), times.span(spread.total)
            note = Message("{0}, mean {1}, sum {2}", hits, mean, total)
            note = join_texts(" · ", filter(None, (waves_note(self.session), note)))
        self.note.setText(note)

    def _list(self) -> None:
        view, trace = self.view, self.session.trace.value
        if view is None or trace is None:
            self.shown = np.zeros(0, dtype=np.int64)
            return
        rows, what, measure = view.ranked[:LISTED], "The slowest hits", view.wanted.measure
        if self._bin >= 0:
            rows = view.in_bin(self._bin)
            what = Message("{0} of {1}", plural(len(rows), "hit"), self.plot.range_text(self._bin))
        self.shown = rows[:LISTED]
        more = Message(", {0} of them listed", LISTED) if len(rows) > LISTED else ""
        self.listed.setText(Message("{0}{1}, largest {2} first", what, more, MEASURE_NAMES[measure].lower()))
        self.table.show_columns(hit_columns(trace, view.hits, self.shown, measure, self.times))

    def _follow(self) -> None:
        line = self.session.line
        if line != self._shown:
            self._bin = -1
        if line != self._shown or (self.view is None and line is not None):
            self._request.ask()
        else:
            self._mark()

    def _mark(self) -> None:
        token, view = self.session.token(), self.view
        row = -1 if token is None or view is None else view.hits.row_of(token[0].row, token[1])
        value = None if row < 0 or view is None else int(view.values[row])
        self.plot.mark_token(value if value is not None and value >= 0 else None)
        at = np.flatnonzero(self.shown == row) if row >= 0 else np.zeros(0, dtype=np.int64)
        self.table.set_current(int(at[0]) if len(at) else -1)

    def _list_bin(self, bar: int) -> None:
        self._bin = bar
        self._list()
        self._mark()

    def _go(self, at: int) -> None:
        trace, view = self.session.trace.value, self.view
        if trace is not None and view is not None and 0 <= at < len(self.shown):
            row = int(self.shown[at])
            self.session.select_token(trace.waves.id(int(view.hits.wave[row])), int(view.hits.token[row]))

    def _choices_changed(self) -> None:
        self.measure.setToolTip(tooltip(distribution.MEASURE_TEXT[self.measure.value]))
        self._bin = -1
        self._request.ask()

    def _restyle(self) -> None:
        self.title.setFont(self.ui.theme.mono)

    def caption(self) -> str:
        if self.view is None:
            return ""
        measure = MEASURE_NAMES[self.view.wanted.measure].lower()
        return Message("instruction {0}, {1}, {2}", self.session.line, measure, self.note.text())

    def command_line(self) -> command_text.CommandWords | None:
        line, view = self.session.line, self.view
        if line is None or view is None:
            return None
        shape = (f"--by={view.wanted.measure}", f"--bars={view.wanted.bins}")
        listed = (f"--bar={self._bin}",) if self._bin >= 0 else ()
        return command_text.rcv(self.session, "line", str(line), *shape, *listed, f"--top={LISTED}")

    def sheet(self) -> Sheet | None:
        view, trace = self.view, self.session.trace.value
        if view is None or trace is None:
            return None
        table = hit_table(trace, view.hits, view.ranked)
        counted = ResultTable(table.spec, {**table.columns, "hit": np.asarray(table.columns["hit"]) + 1})
        names, rows = counted.csv()
        return Sheet("Distribution", tuple(HIT_TITLE if name == "hit" else name for name in names), rows)
