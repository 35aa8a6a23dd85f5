"""Find an execution of an instruction among those of all chosen waves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.waves.populations import Populations, WaveChoice
from rcv_py.base.record import Value
from rcv_py.model.modes import Which
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.cell import Cell
from rcv_py.state.selection import History, Selection, Visit
from rcv_py.state.wave_store import Snapshot, WaveStore

if TYPE_CHECKING:  # no start looks for an execution
    from rcv_py.analysis.cost.distribution import LineHits

QUICK_TOKENS = 500_000  # executions of an instruction among that many are found in a few ms
TOKENS_A_WAVE = 200  # overhead per wave, in tokens


class CountedExecutions(Value):
    """The executions that a view counts, limited to a shader engine and a range; None: all."""

    se: int | None = None
    window: TimeWindow | None = None

    def of(self, hits: LineHits) -> np.ndarray:
        """The rows of executions that are counted, int64, ascending; all rows if none is."""
        is_counted = np.ones(len(hits), dtype=bool)
        if self.se is not None:
            is_counted &= hits.se == self.se
        if self.window is not None:
            is_counted &= (hits.start < self.window.end) & (hits.start + hits.latency > self.window.begin)
        return np.flatnonzero(is_counted if is_counted.any() else ~is_counted)


ALL = CountedExecutions()


class ExecutionQuery(Value):
    """A search for an execution of an instruction among the executions of all chosen waves.

    `place` has the instruction and the rest of the selection; FASTER and SLOWER start from its execution.
    """

    place: Selection
    which: Which = Which.MEDIAN
    among: CountedExecutions = ALL
    is_again: bool = False  # repeated with more waves: the place is the same visit


class _Session(Protocol):
    """What the search needs of a session, whose module imports this one."""

    trace: Cell[Trace | None]
    selection: Cell[Selection]
    populations: Cell[Populations | None]
    view: Cell[TimeWindow]
    store: WaveStore | None
    history: History

    @property
    def choice(self) -> WaveChoice | None: ...
    @property
    def is_streaming(self) -> bool: ...
    def snapshot(self) -> Snapshot: ...
    def select(self, selection: Selection) -> None: ...
    def reveal(self) -> None: ...


class ExecutionSearch:
    """Finds executions for a session, and selects them there."""

    def __init__(self, session: _Session) -> None:
        self.sought: Cell[ExecutionQuery | None] = Cell(None)  # a search that a thread runs
        self._session = session
        self._found: tuple[ExecutionQuery, Selection] | None = None  # the last search and its result

    def forget(self) -> None:
        """End the search, and do not repeat the last one."""
        self._found = None
        self.sought.set(None)

    def of_line(self, line: int) -> Callable[[], LineHits]:
        """Return a function, for any thread: the executions of a line in the waves that count and were read.

        If none of these ran it, the executions of all waves.  A capture must be open.
        """
        from rcv_py.analysis.cost.distribution import hits_of  # noqa: PLC0415 - as above

        choice, reduction = self._session.choice, hits_of(line, has_idle=False)
        rows = None if choice is None else choice.rows
        ask = self._session.snapshot().incremental("executions", reduction, line)

        def answer() -> LineHits:
            found = ask(rows)
            return found if len(found) or rows is None else ask(None)

        return answer

    def find(self, sought: ExecutionQuery) -> None:
        """Find an execution now if that is quick, else set `sought`, so that a thread finds it."""
        session, line = self._session, sought.place.line
        store = session.store
        if store is None or line is None or not store.batches:
            if not sought.is_again:
                self._found = sought, sought.place
                session.select(sought.place)
            return
        is_quick = store.tokens + TOKENS_A_WAVE * store.count <= QUICK_TOKENS and not store.absent
        if is_quick:
            self.sought.value = sought  # without notifying watchers
            self.found(sought, self.of_line(line)())
        else:
            session.selection.set(sought.place)
            self.sought.set(sought)

    def found(self, sought: ExecutionQuery, hits: LineHits) -> None:
        """Select the result of a search among the executions of its line."""
        from rcv_py.analysis.cost.distribution import pick  # noqa: PLC0415 - as above

        if self.sought.value is not sought:
            return
        session, place = self._session, sought.place
        trace = session.trace.value
        assert trace is not None
        hits = hits.at(sought.among.of(hits))
        row = None if place.wave is None else trace.waves.row(place.wave)
        current = np.flatnonzero((hits.wave == row) & (hits.hit == place.hit))  # empty if either is None
        at = pick(hits, sought.which, int(current[0]) if len(current) else -1)
        if at >= 0:
            place = replace(place, wave=trace.waves.id(int(hits.wave[at])), hit=int(hits.hit[at]))
        is_final = not session.is_streaming and session.populations.value is not None
        self._found = None if is_final else (sought, place)
        if not sought.is_again:
            session.select(place)
            return
        self.sought.set(None)
        if place != session.selection.value:
            session.selection.set(place)
            session.reveal()
            session.history.replace(Visit(place, session.view.value))

    def find_again(self) -> None:
        """Repeat the search with all waves, if its earlier result is still selected."""
        session = self._session
        if self._found is None or session.is_streaming or self._found[1] != session.selection.value:
            return
        sought, _ = self._found
        if sought.which in (Which.FASTEST, Which.MEDIAN, Which.SLOWEST):
            self.find(replace(sought, is_again=True))
