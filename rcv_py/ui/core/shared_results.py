"""Analyses of all loaded waves whose answer several panels show, computed once and off the UI thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pkgutil import resolve_name
from threading import Lock
from typing import Any, Protocol, runtime_checkable
from weakref import WeakSet

from PySide6.QtCore import QObject

from rcv_py.analysis.core.reduction import Reduction
from rcv_py.analysis.waves.populations import (
    POPULATIONS,
    WORKING,
    Populations,
    WaveChoice,
    chosen_or_working,
)
from rcv_py.base.problems import Problem
from rcv_py.base.text import plural
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.state.cell import Cell
from rcv_py.state.running import Running
from rcv_py.state.session import Session
from rcv_py.state.wave_store import WaveStore
from rcv_py.ui.core.arrivals import MORE
from rcv_py.ui.core.tasks import Tasks
from rcv_py.ui.core.visibility import Coalesce, Visibility
from rcv_py.work.findings import FindingsInView, is_small


def waves_note(session: Session) -> str:
    """Return `partial: 12 of 68 waves read`, `3,598 working waves of 4,112`, or "" if all waves count."""
    trace, store, choice = session.trace.value, session.store, session.choice
    if trace is None or store is None:
        return ""
    parts = []
    if store.count < len(trace.waves):
        parts.append(f"partial: {store.count:,} of {plural(len(trace.waves), 'wave')} read")
    if choice is not None and (choice.rows is not None or "none of which" in choice.text):
        parts.append(choice.text)
    return " · ".join(parts)


STREAM_MS = 800

Ask = Callable[[Reduction[Any, Any]], Any]  # the answer of a reduction for all waves that were read


@dataclass(frozen=True)
class Composed:
    """An answer that is made of those of reductions."""

    make: Callable[[Trace, Ask | None, Collection[int]], Any]  # no one to ask: no wave was read; unread ones


Job = Callable[..., Any] | Reduction[Any, Any] | Composed
# A function is one of a trace and batches; what explains takes rows of the wave index too.


@dataclass(frozen=True)
class Later:
    """A job by its place, imported when it is first wanted: most captures are looked at with a few of them.

    `then` makes the job of what is there.
    """

    place: str  # below `rcv_py.analysis`
    then: Callable[[Any], Job] = field(default=lambda found: found)

    def import_it(self) -> Job:
        """Return the job.  On the UI thread: a module that two threads import at once may be half made."""
        return self.then(resolve_name(f"rcv_py.analysis.{self.place}"))


def _by_reference(analysis: Callable[..., Any]) -> Job:
    return partial(analysis, rule=ReferenceRule.REFERENCE)


JOBS: dict[str, Job | Later] = {
    "attribution": Later("attribution.attribute:attribution"),
    "branches": Later("program.branches:BRANCHES"),
    "bubbles": Later("latency.bubbles:bubbles"),
    "health": Later("health.capture_health:health_notes", Composed),
    "hidden": Later("latency.hidden_latency:hidden_latency"),
    "hidden_chosen": Later("latency.hidden_latency:hidden_as_executed"),
    "kinds": Later("cost.hotspot:KINDS"),
    "hidden_chosen_reference": Later("latency.hidden_latency:hidden_as_executed", _by_reference),
    "hidden_reference": Later("latency.hidden_latency:hidden_latency", _by_reference),
    "loops": Later("iterations.loop_summary:LOOPS"),
    "match": Later("program.code_match:MATCH"),
    "memory": Later("latency.memory_latency:MEMORY", itemgetter(ReferenceRule.OURS)),
    "memory_reference": Later("latency.memory_latency:MEMORY", itemgetter(ReferenceRule.REFERENCE)),
    "markers": Later("events.marker_spans:marker_spans"),
    "populations": Later("waves.populations:POPULATIONS"),
    "waits": Later("waits.wait_latency:WAITS"),
}
# What explains follows the choice of waves; the others count all of them.
OF_ROWS = frozenset(("attribution", "bubbles", "hidden_chosen", "hidden_chosen_reference", "loops", "waits"))
BY_NAME = frozenset(("findings",))  # takes the name of the choice, and looks at waves in processes


@runtime_checkable
class HasProblems(Protocol):
    """An answer that says what is wrong with the capture."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Each once."""


class SharedResults(QObject):
    """A cell a result: None until somebody wanted it and it was computed.

    While waves stream in, what is wanted is kept up to date, but only while somebody can see a panel that
    wants it: what looks at every wave by itself at the price of what arrived, what looks at waves beside each
    other at doubling numbers of waves, and when all are there.
    """

    def __init__(self, session: Session, tasks: Tasks, jobs: Mapping[str, Job | Later] | None = None) -> None:
        super().__init__()
        self.ways = Ways()
        self._findings = FindingsInView()
        found = Later("findings.detect:findings_from", lambda _: self._findings.find)
        own: dict[str, Job | Later] = {"findings": found, **(JOBS if jobs is None else jobs)}
        self._results = {name: _Result(self, name, session, tasks, job) for name, job in own.items()}

    def cell(self, name: str) -> Cell[Any]:
        """The answer, for watching; KeyError if there is no such analysis."""
        return self._results[name].cell

    def want(self, name: str, visibility: Visibility | None = None) -> None:
        """Compute a result and keep it up to date for as long as this capture is open.

        With a `visibility` that waits while nobody can see who wants it.
        """
        self._results[name].want(visibility)

    def is_missing(self, visibility: Visibility) -> bool:
        """Whether a result is wanted under that visibility of which there is nothing yet."""
        return any(
            visibility in result.wanted_by and result.cell.value is None for result in self._results.values()
        )

    def close(self) -> None:
        """End the processes that look for findings."""
        self._findings.close()

    @property
    def idle(self) -> bool:
        """Whether no result that somebody wants waits for its turn to be computed."""
        return not any(result.stream.is_pending for result in self._results.values())


class Ways:
    """Populations of the waves that were read, made once for all analyses that need them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: tuple[Trace, Running[Any, Populations]] | None = None
        self._last: tuple[Sequence[WaveBatch], Populations] | None = None

    def of(self, trace: Trace, batches: Sequence[WaveBatch]) -> Populations:
        """Return the populations of these waves and those that were read before."""
        with self._lock:
            if self._running is None or self._running[0] is not trace:
                self._running, self._last = (trace, Running(trace, POPULATIONS)), None
            if self._last is None or self._last[0] is not batches:
                self._last = batches, self._running[1].of(batches)
            return self._last[1]

    def choice(self, trace: Trace, batches: Sequence[WaveBatch], name: str) -> WaveChoice:
        """Return the waves that a name stands for; while none of its kind was read, those that work."""
        return chosen_or_working(self.of(trace, batches), name)


class _Result(QObject):
    """One analysis: whether anybody wants it, and of which waves its answer is."""

    def __init__(
        self, parent: SharedResults, name: str, session: Session, tasks: Tasks, job: Job | Later
    ) -> None:
        super().__init__(parent)
        self._ways = parent.ways
        self.cell: Cell[Any] = Cell(None)
        self._name, self._session, self._tasks, self._job = name, session, tasks, job
        self._is_wanted = False  # whether or not anything can be seen
        self.wanted_by: WeakSet[Visibility] = WeakSet()
        # What was asked for last: batches, name of waves, whether more were to come; how many there were.
        self._of: tuple[tuple[WaveBatch, ...], str, bool] | None = None
        self._waves = 0
        self.stream = Coalesce(self, self._compute, STREAM_MS, is_over=lambda: not self._session.is_streaming)
        session.trace.watch(self._forget)
        session.loaded.watch(self._ask)
        session.busy.watch(self._ask_at_the_end)
        if name in OF_ROWS or name in BY_NAME:
            session.waves.watch(self._ask)

    def want(self, visibility: Visibility | None = None) -> None:
        if visibility is None:
            self._is_wanted = True
        else:
            self.wanted_by.add(visibility)
        self._ask()

    def _forget(self) -> None:
        self.stream.reset()
        self._is_wanted, self._of = False, None
        self.wanted_by.clear()
        self.cell.set(None)

    def _ask(self) -> None:
        trace, store = self._session.trace.value, self._session.store
        if trace is None or store is None or not self._is_needed() or self._is_early(trace):
            return
        if store.batches or len(trace.waves) <= len(store.missing):  # there are waves, or none to come
            self.stream.ask()

    def _is_early(self, trace: Trace) -> bool:
        """Whether waves still come that this one would read itself, beside the loader."""
        return self._name in BY_NAME and self._session.is_streaming and not is_small(trace)

    def _ask_at_the_end(self) -> None:
        if not self._session.is_streaming:
            self._ask()

    def _is_answered(self, store: WaveStore, name: str, is_streaming: bool) -> bool:
        """Whether another answer would be the same, or is not worth its price while more waves arrive."""
        if self._of is None or self._of[1] != name:
            return False
        is_same = self._of[0] is store.batches and (is_streaming or not self._of[2])
        job = self._job
        is_alone = isinstance(job, Composed) or (isinstance(job, Reduction) and not job.is_together)
        is_cheap = is_alone or self._name in BY_NAME
        return is_same or (is_streaming and not is_cheap and store.count < MORE * self._waves)

    def _is_needed(self) -> bool:
        """Whether anybody waits for the answer just now; what nobody sees asks again when somebody does."""
        if self._is_wanted or not all(panel.is_asleep for panel in self.wanted_by):
            return True
        for panel in self.wanted_by:
            panel.on_wake(("result", self._name), partial(self.want, panel))
        return False

    def _compute(self) -> None:
        trace, store = self._session.trace.value, self._session.store
        if trace is None or store is None or not self._is_needed():
            return
        batches, name, is_streaming = store.batches, self._session.waves.value, self._session.is_streaming
        if self._is_answered(store, name, is_streaming):
            return
        self._of, self._waves = (batches, name, is_streaming), store.count

        def take(answer: Any) -> None:
            if self._session.trace.value is trace:
                problems = answer.problems if isinstance(answer, HasProblems) else ()
                self._session.report(self._name, problems)
                self.cell.set(answer)
                self.stream.finished()

        self.stream.started()
        job = self._job = self._job.import_it() if isinstance(self._job, Later) else self._job
        if isinstance(job, Composed):
            question = partial(self._composed, job, store, batches, frozenset(store.missing))
        else:
            question = partial(self._answer, job, store, batches, name, is_streaming)
        self._tasks.run(self, question, take)

    def _composed(
        self, job: Composed, store: WaveStore, batches: tuple[WaveBatch, ...], unread: Collection[int]
    ) -> Any:
        """Ask reductions, of all waves."""

        def ask(reduction: Reduction[Any, Any]) -> Any:
            if reduction is POPULATIONS:
                return self._ways.of(store.trace, batches)
            return store.running(reduction, reduction).of(batches)

        return job.make(store.trace, ask if batches else None, unread)

    def _answer(
        self,
        job: Callable[..., Any] | Reduction[Any, Any],
        store: WaveStore,
        batches: tuple[WaveBatch, ...],
        name: str,
        is_streaming: bool,
    ) -> Any:
        """Compute it, of the chosen waves if it explains."""
        trace = store.trace
        if self._name == "populations":
            return self._ways.of(trace, batches)
        rows = self._ways.choice(trace, batches, name).rows if self._name in OF_ROWS else None
        if isinstance(job, Reduction):
            if job.is_together:
                return job.of(trace, batches, rows)
            key = self._name if self._name in OF_ROWS else job
            return store.running(key, job).of(batches, rows, is_streaming=is_streaming)
        if self._name in BY_NAME:
            files = self._session.run_files
            chosen = {"waves": name} if name != WORKING else {}
            return job(trace, batches, **chosen, **({"run_files": files} if files else {}))
        return job(trace, batches) if rows is None else job(trace, batches, rows)
