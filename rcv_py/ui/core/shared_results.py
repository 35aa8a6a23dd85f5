"""Analyses of all loaded waves that several panels show, computed once and off the UI thread."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Mapping
from functools import partial
from operator import itemgetter
from pkgutil import resolve_name
from threading import Lock
from typing import TYPE_CHECKING, Any

from msgspec import field
from msgspec.structs import replace
from PySide6.QtCore import QObject

from rcv_py.analysis.core.cost_columns import LINES
from rcv_py.analysis.core.reduction import Reduction, Staged
from rcv_py.analysis.waves.populations import POPULATIONS, WORKING, Populations, WaveChoice, chosen_or_working
from rcv_py.base.progress import Stage
from rcv_py.base.record import Value
from rcv_py.base.text import Message, join_texts, plural
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.state.cell import Cell
from rcv_py.state.incremental import AnswerFlag
from rcv_py.state.session import Session
from rcv_py.state.wave_store import Snapshot, WaveStore
from rcv_py.ui.core.scheduler import MORE, Request, Scheduler, State, Waking
from rcv_py.work.findings import FindingsAhead, FindingsInView, is_small

if TYPE_CHECKING:  # it imports the drawing of wave rows
    from rcv_py.work.playing import Recordings


def unread_note(read: int, store: WaveStore) -> str:
    """Return `partial: 12 of 68 waves read`, also for waves that failed to load; "" if all were read."""
    waves = len(store.trace.waves)
    parts = [Message("partial: {0:,} of {1} read", store.read, plural(waves, "wave"))] if read < waves else []
    if store.uncounted:
        parts.append(Message("partial: {0} not read again", plural(store.uncounted, "wave")))
    return " · ".join(parts)


def of_waves(session: Session, text: str) -> str:
    """Return a note, preceded by the waves that count if not all do."""
    return join_texts(" · ", filter(None, (waves_note(session), text)))


def waves_note(session: Session) -> str:
    """Return which waves count, "" if all do.

    `partial: 12 of 68 waves read`, `partial: 1 wave cannot be read`, `3,598 working waves of 4,112`.
    """
    trace, store, choice = session.trace.value, session.store, session.choice
    if trace is None or store is None:
        return ""
    lost = len(store.missing)
    parts = [note] if (note := unread_note(store.read + lost, store)) else []
    if lost:
        parts.append(Message("partial: {0} cannot be read", plural(lost, "wave")))
    if choice is not None and (choice.rows is not None or "none of which" in choice.text):
        parts.append(choice.text)
    return " · ".join(parts)


STREAM_MS = 800
IN_FINDINGS = ("rcv_py.analysis.whatif.hoist",)  # modules of objects in them

Ask = Callable[[Reduction[Any, Any]], Any]  # the answer of a reduction over all waves read


class DerivedJob(Value):
    """An answer made from the answers of reductions."""

    make: Callable[[Trace, Ask | None, Collection[int]], Any]  # None: no wave was read; unread rows
    of: tuple[Reduction[Any, Any], ...]


class SnapshotJob(Value):
    """An answer about waves together, of which given rows count, until a flag is set."""

    make: Callable[[Snapshot, Collection[int] | None, AnswerFlag], Any]


Job = Callable[..., Any] | Reduction[Any, Any] | Staged[Any, Any, Any] | DerivedJob | SnapshotJob
# A function takes a trace and batches; explanations also take rows of the wave index.


class LazyJob(Value):
    """A job by module and function, imported when first wanted; `then` makes it of what was imported."""

    place: str  # below `rcv_py.analysis`
    then: Callable[[Any], Job] = field(default=lambda found: found)
    of_rows: bool = False  # an explanation, of the chosen waves; other analyses count all waves
    by_name: bool = False  # takes the name of the choice, and reads waves in processes
    in_findings: str = ""  # the name of its answer in findings

    @property
    def module(self) -> str:
        """Return the name of its module."""
        return f"rcv_py.analysis.{self.place.partition(':')[0]}"


_OURS = itemgetter(ReferenceRule.OURS)


def _hidden_of(reductions: Mapping[ReferenceRule, Reduction[Any, Any]]) -> SnapshotJob:
    """Return the job for the hidden latency of some waves, with the program as those waves executed it."""

    def hidden(read: Snapshot, rows: Collection[int] | None, flag: AnswerFlag) -> Any:
        code = read.store.trace.code
        if rows is not None:
            code = read.incremental("lines of the chosen", LINES)(rows).on(code)
        return replace(read.of_all(_OURS(reductions), rows, flag), code=code)

    return SnapshotJob(hidden)


JOBS: dict[str, Job | LazyJob] = {
    "access": LazyJob("latency.access_holds:HOLDS", of_rows=True),
    "address": LazyJob("latency.address_access:ADDRESSES"),
    "attribution": LazyJob("attribution.attribute:ATTRIBUTION", of_rows=True, in_findings="attribution"),
    "branches": LazyJob("program.branches:BRANCHES"),
    "bubbles": LazyJob("latency.bubbles:BUBBLES", _OURS, of_rows=True),
    "fetch": LazyJob("latency.code_fetches:FETCHES", of_rows=True),
    "health": LazyJob("health.capture_health", lambda room: DerivedJob(room.health_notes, room.OF_WAVES)),
    "hidden": LazyJob("latency.hidden_latency:HIDDEN", _OURS),
    "hidden_chosen": LazyJob("latency.hidden_latency:HIDDEN", _hidden_of, of_rows=True),
    "kinds": LazyJob("cost.hotspot:KINDS"),
    "loops": LazyJob("iterations.loop_summary:LOOPS", of_rows=True),
    "match": LazyJob("program.code_match:MATCH"),
    "memory": LazyJob("latency.memory_latency:MEMORY", _OURS),
    "markers": LazyJob("events.marker_spans:MARKERS", _OURS),
    "populations": LazyJob("waves.populations:POPULATIONS"),
    "segments": LazyJob("iterations.segments:SEGMENTS", of_rows=True),
    "waits": LazyJob("attribution.wait_costs:WAITS", of_rows=True),
}


class SharedResults(QObject):
    """Holds one cell per result: None until the result was wanted and computed.

    While waves stream in, a wanted result is updated only while a panel that wants it is visible. Analyses of
    single waves cost as much as the new waves; analyses of waves together run at doubling numbers of waves,
    and when all are there.
    """

    def __init__(
        self, session: Session, scheduler: Scheduler, jobs: Mapping[str, Job | LazyJob] | None = None
    ) -> None:
        super().__init__()
        self.populations = PopulationCache()
        self.scheduler = scheduler
        self.findings = FindingsInView()
        found = LazyJob("findings.detect:findings_from", lambda _: self.findings.find, by_name=True)
        own: dict[str, Job | LazyJob] = {"findings": found, **(JOBS if jobs is None else jobs)}
        self._results = {name: _Result(self, name, session, job) for name, job in own.items()}
        self._recordings: Recordings | None = None
        session.trace.watch(self._forget_recordings)

    def cell(self, name: str) -> Cell[Any]:
        """Return the cell of the answer, for watching; KeyError if there is no such analysis."""
        return self._results[name].cell

    def recordings(self, trace: Trace) -> Recordings:
        """Return the recordings that replay waves of the open capture, shared by all predictions."""
        from rcv_py.work.playing import Recordings  # noqa: PLC0415 - most windows predict nothing

        if self._recordings is None or self._recordings.trace is not trace:
            self._recordings = Recordings(trace)
        return self._recordings

    def _forget_recordings(self) -> None:
        self._recordings = None

    def want(self, name: str, visibility: Waking | None = None) -> None:
        """Keep a result up to date while this capture is open and the `visibility` awake."""
        self._results[name].want(visibility)

    def let_go(self, name: str, visibility: Waking) -> None:
        """Cancel what was wanted with a `visibility`: the widget shows something else now."""
        self._results[name].let_go(visibility)

    def is_due(self, name: str) -> bool:
        """Return whether an answer was requested and has not come."""
        return self._results[name].request.state is not State.IDLE

    @property
    def is_finding(self) -> bool:
        """Return whether findings are on their way: waves are still being read, or they are computed."""
        return self._results["findings"].is_coming

    def stage(self, name: str) -> Stage | None:
        """Return the stage of the answer under way, None if there is none or it is unknown."""
        return self._results[name].request.flag.stage


class PopulationCache:
    """The populations of the waves read, made once for all analyses that need them."""

    is_asleep = False  # populations are always wanted

    def __init__(self) -> None:
        self._lock = Lock()
        self._last: tuple[Snapshot, Populations] | None = None

    def populations(self, read: Snapshot) -> Callable[[], Populations]:
        """Return a function that returns the populations of the waves read."""
        ask = read.incremental(POPULATIONS, POPULATIONS, watcher=self)

        def answer() -> Populations:
            with self._lock:
                if self._last is None or not self._last[0].is_like(read):
                    self._last = read, ask(None)
                return self._last[1]

        return answer

    def of(self, read: Snapshot) -> Callable[[str], WaveChoice]:
        """Return a function for a job: the waves of a named choice, working ones if none of them is read."""
        populations = self.populations(read)
        return lambda name: chosen_or_working(populations(), name)


class _Result(QObject):
    """One analysis: whether it is wanted and by whom, and which waves its answer covers."""

    def __init__(self, parent: SharedResults, name: str, session: Session, job: Job | LazyJob) -> None:
        super().__init__(parent)
        self._all, self._scheduler = parent, parent.scheduler
        self.cell: Cell[Any] = Cell(None)
        self._name, self._session, self._job = name, session, job
        self._of_rows = isinstance(job, LazyJob) and job.of_rows
        self._by_name = isinstance(job, LazyJob) and job.by_name
        self._in_findings = job.in_findings if isinstance(job, LazyJob) else ""
        self._is_wanted = False  # whether or not its panels are visible
        self.wanted_by: tuple[Waking, ...] = ()
        # The last request: batches, name of waves, whether more were to come; how many there were.
        self._of: tuple[tuple[WaveBatch, ...], str, bool] | None = None
        self._waves = 0
        self.request = self._scheduler.request(self, self._compute, STREAM_MS, visibility=self)
        session.trace.watch(self._forget)
        session.loaded.watch(self._update)
        session.busy.watch(self._update_at_the_end)
        if self._of_rows or self._by_name:
            session.waves.watch(self._update)

    def want(self, visibility: Waking | None = None) -> None:
        if visibility is None:
            self._is_wanted = True
        else:
            self.let_go(visibility)
            self.wanted_by = (*self.wanted_by, visibility)
        self._update()

    def let_go(self, visibility: Waking) -> None:
        self.wanted_by = tuple(one for one in self.wanted_by if one is not visibility)

    @property
    def is_asleep(self) -> bool:
        """Return whether every widget that wants it is hidden."""
        return not self._is_wanted and all(panel.is_asleep for panel in self.wanted_by)

    @property
    def is_waking(self) -> bool:
        """Return whether a widget that wants it will be visible in a moment."""
        return any(panel.is_waking for panel in self.wanted_by)

    @property
    def is_last(self) -> bool:
        """Return whether it is wanted only as a detail that follows the findings."""
        return not self._is_wanted and bool(self.wanted_by) and all(panel.is_last for panel in self.wanted_by)

    @property
    def is_coming(self) -> bool:
        """Return whether waves are still being read, or an answer is computed or will be in a moment."""
        is_importing = isinstance(self._job, LazyJob) and not self._scheduler.importer.is_idle
        is_due = self.request.state not in (State.IDLE, State.HIDDEN)
        return self._session.is_streaming or is_importing or is_due

    def on_wake(self, request: Request) -> None:
        """Run a request when a widget is visible."""
        for panel in self.wanted_by:
            panel.on_wake(request)

    def _forget(self) -> None:
        self.request.cancel()
        self._is_wanted, self._of = False, None
        self.wanted_by = ()
        self.cell.set(None)

    def _update(self) -> None:
        if self._is_wanted or self.wanted_by:
            self.request.update()

    def _update_at_the_end(self) -> None:
        if not self._session.is_streaming:
            self._update()

    def _is_answered(self, store: WaveStore, name: str, is_streaming: bool) -> bool:
        """Return whether another answer would be equal, or not worth its cost while more waves arrive."""
        if self._of is None or self._of[1] != name:
            return False
        is_same = self._of[0] is store.batches and (is_streaming or not self._of[2])
        is_alone = isinstance(self._job, Reduction) and not self._job.is_together  # each wave by itself
        is_cheap = is_alone or isinstance(self._job, DerivedJob) or self._by_name
        return is_same or (is_streaming and not is_cheap and store.read < MORE * self._waves)

    def _compute(self) -> bool:
        """Begin a new answer if one is due; return whether it was."""
        trace, store = self._session.trace.value, self._session.store
        if trace is None or store is None:
            return False
        name, is_streaming = self._session.waves.value, self._session.is_streaming
        ahead = self._all.findings.ahead_of(trace, name, self._session.run_files) if self._by_name else None
        if ahead is not None and not is_streaming:
            return self._wait_for(ahead, (store.batches, name, False))
        if isinstance(self._job, LazyJob):
            self._scheduler.importer.when_imported((self._job.module,), self._import)
            return False
        if self._by_name and is_streaming and not is_small(trace):
            return False  # it reads waves itself, once the loader has done
        read = store.snapshot(is_streaming)
        if not store.batches and not is_small(trace):  # map waves in the processes that read them
            for reduction in self._job.of if isinstance(self._job, DerivedJob) else (self._job,):
                if isinstance(reduction, Reduction) and not reduction.is_together:
                    self._incremental(read, reduction)
        has_any = store.batches or len(trace.waves) <= len(store.missing)  # or no more will come
        if not has_any or self._is_answered(store, name, is_streaming) or self._takes_from_findings(name):
            return False
        self._of, self._waves = (store.batches, name, is_streaming), store.read
        rows = self._all.populations.of(read)
        answer = partial(self._answer, self._job, read, name, rows, self.request.new_flag())
        self.request.run(answer, self._take)
        return True

    def _takes_from_findings(self, name: str) -> bool:
        """Take the answer that findings have, for a detail also that of a sample; return whether there is."""
        found: Any = self._all.cell("findings").value if self._in_findings else None
        known = None if found is None else getattr(found, self._in_findings)
        is_of_choice = known is not None and found.choice is not None and found.choice.name == name
        if not (is_of_choice and (self.is_last or found.waves + found.unread == found.of)):
            return False
        self._take(known)
        return True

    def _wait_for(self, ahead: FindingsAhead, of: tuple[tuple[WaveBatch, ...], str, bool]) -> bool:
        """Take findings that another process makes or has made; return whether they are new."""
        if self._of is not None and self._of[1:] == of[1:]:
            return False
        self._of = of

        def take(pickled: bytes | None) -> None:
            if pickled is not None:
                self._scheduler.importer.when_imported(IN_FINDINGS, lambda: self._unpickle(of, pickled))
                return
            self._all.findings.ahead = self._of = None
            self.request.ask()

        self.request.run(ahead.pickled, take)
        return True

    def _unpickle(self, of: object, pickled: bytes) -> None:
        if self._of is of:  # the capture is still open
            self._take(pickle.loads(pickled))

    def _import(self) -> None:
        """Make the job.  UI thread only: a module that two threads import at once may be half made."""
        if isinstance(self._job, LazyJob):
            self._job = self._job.then(resolve_name(f"rcv_py.analysis.{self._job.place}"))
        self.request.ask()

    def _take(self, answer: Any) -> None:
        self._session.report(self._name, getattr(answer, "problems", ()))
        self.cell.set(answer)

    def _answer(
        self, job: Job, read: Snapshot, name: str, ways: Callable[[str], WaveChoice], flag: AnswerFlag
    ) -> Any:
        trace = read.store.trace
        if isinstance(job, DerivedJob):
            unread = frozenset(read.store.missing)
            ask = (lambda one: self._incremental(read, one)(None)) if read.here or read.absent else None
            return job.make(trace, ask, unread)
        rows = ways(name).rows if self._of_rows else None
        if isinstance(job, Reduction) and not job.is_together:
            return self._incremental(read, job)(rows)
        if isinstance(job, SnapshotJob):
            return job.make(read, rows, flag)
        if isinstance(job, Reduction | Staged):
            return read.of_all(job, rows, flag)
        rest: dict[str, Any] = {}
        if self._by_name:
            files = self._session.run_files
            rest = ({"waves": name} if name != WORKING else {}) | ({"run_files": files} if files else {})
        return job(trace, read.batches, *([] if rows is None else [rows]), **rest)

    def _incremental(
        self, read: Snapshot, reduction: Reduction[Any, Any]
    ) -> Callable[[Collection[int] | None], Any]:
        """Return the answer of an analysis of single waves, as a function of the rows that count."""
        if reduction is POPULATIONS:
            populations = self._all.populations.populations(read)
            return lambda rows: populations()
        return read.incremental(self._name if self._of_rows else reduction, reduction, watcher=self)
