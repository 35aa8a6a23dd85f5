"""The contents of a capture: its facts, waves and tables, and what their analyses share."""

from __future__ import annotations  # the reference prints them as they are written

from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.cost_columns import LINES
from rcv_py.analysis.core.reduction import Answers, InMemory, Reduction, Staged
from rcv_py.analysis.events.marker_spans import MARKERS, MarkerSpans, marker_spans
from rcv_py.analysis.health.capture_health import problems
from rcv_py.analysis.waves.populations import POPULATIONS, WORKING, Populations, WaveChoice, wave_choice
from rcv_py.api.errors import UnequalColumns
from rcv_py.api.table import Answer, Table, of_rows
from rcv_py.api.waves import DEFAULT_GB, OF_WAVES, Wave, WaveCache, batch_table, in_order, wave_table
from rcv_py.base.errors import UsageError
from rcv_py.base.problems import Severity
from rcv_py.base.text import Message, plural
from rcv_py.export.tables import TABLES
from rcv_py.features.notes.result import note_table
from rcv_py.features.summary.info_result import info
from rcv_py.features.waves import result as wave_results
from rcv_py.formats.notes.store import NotePlaces, new_note
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.ids import WaveId
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.notes import Anchor, Note, NoteChanges
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import CaptureEntry, Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.model.window import TimeWindow
from rcv_py.results.table import ResultTable
from rcv_py.results.tables import PROBLEMS, SOURCES
from rcv_py.work.opening import open_trace
from rcv_py.work.reduce import Reducer

Waves = str | int | WaveId | Table | np.ndarray | Iterable[str | int | WaveId] | None
LoopTable = Literal["loops", "iterations", "phases", "first", "distance", "chains", "barriers", "segments"]
OccupancyBy = Literal["se", "kernel", "state"]
Rule = Literal["ours", "reference"]
TableName = Literal["code", "waves", "tokens", "states", "waits", "occupancy", "events", "counters"]
_ONE_WAVE = (str, int, np.integer, WaveId)


def checked_word(what: str, word: object, known: Sequence[str]) -> None:
    """Raise UsageError unless the word is one of these."""
    if word not in known:
        text = Message("{0}={1!r} is not known.", what, word)
        raise UsageError(text, hint=Message("There are: {0}.", ", ".join(known)))


def is_population(waves: Waves) -> bool:
    """Whether waves are given as `working`, `all` or the id of a population."""
    return isinstance(waves, str) and "/" not in waves


def index_rows(trace: Trace, waves: Waves) -> list[int] | None:
    """Return the rows in the wave index of waves given one by one, None for all; raise UsageError."""
    if waves is None:
        return None
    if isinstance(waves, _ONE_WAVE):
        return [index_row(trace, waves)]
    if isinstance(waves, Table):
        return sorted({index_row(trace, name) for name in dict.fromkeys(waves["wave"].tolist())})
    if isinstance(waves, np.ndarray) and waves.dtype == bool:
        if waves.shape != (len(trace.waves),):
            raise UnequalColumns("waves", [len(trace.waves), waves.size])
        return np.flatnonzero(waves).tolist()
    return sorted({index_row(trace, wave) for wave in waves})


def index_row(trace: Trace, wave: str | int | WaveId) -> int:
    """Return the row in the wave index of one wave; raise UsageError if there is none."""
    if not isinstance(wave, int | np.integer):
        return trace.wave_row(str(wave))
    if not 0 <= wave < len(trace.waves):
        text = Message("The capture has no wave number {0}.", wave)
        raise UsageError(text, hint=Message("It has {0:,}, counted from 0.", len(trace.waves)))
    return int(wave)


T = TypeVar("T")
Part = TypeVar("Part")


class CaptureTables:
    """The waves and tables of a capture."""

    def __init__(
        self,
        path: str | PathLike[str] | CaptureEntry,
        *,
        memory_gb: float = DEFAULT_GB,
        workers: int | None = None,
        run_files: str | PathLike[str] | Iterable[str | PathLike[str]] = (),
    ) -> None:
        place = path.path if isinstance(path, CaptureEntry) else Path(path)
        self.trace: Trace = open_trace(place)
        self.budget = memory_gb * 1e9  # bytes of waves that are kept, and of a table made of them
        given = [run_files] if isinstance(run_files, str | PathLike) else run_files
        self._run_files = tuple(map(Path, given))
        self._cache = WaveCache(self.trace, self.budget, workers)
        self._workers = workers
        self._reading: Reducer | None = None
        self._answers: dict[object, Any] = {}

    def __repr__(self) -> str:
        kernel = f", {self.kernel}" if self.kernel else ""
        return Message("<Capture {0}{1}: {2}>", self.name, kernel, plural(len(self.trace.waves), "wave"))

    @property
    def name(self) -> str:
        """The name of the capture's folder."""
        return self.trace.name

    @property
    def path(self) -> Path:
        """The capture's folder."""
        return self.trace.path

    @property
    def kernel(self) -> str:
        """The kernel with most traced cycles, "" if it is not known."""
        return self.trace.kernel_name

    @property
    def facts(self) -> RunFacts:
        """The facts of the profiler's tables near the capture: registers, sizes, the device."""
        trace, files = self.trace, self._run_files
        return self._once("facts", None, lambda: facts_about(trace, files))

    def info(self) -> dict[str, Any]:
        """Return the facts of the capture as plain values, as `rcv info --json`; no wave is read."""
        return info(self.trace, self.facts.allocated)

    def wave(self, wave: str | int | WaveId) -> Wave:
        """Return one wave with its tables `tokens`, `states` and `waits`.

        Raises UsageError for a wave that does not exist or cannot be read.
        """
        row = index_row(self.trace, wave)
        for batch in self._cache.batches([row]):
            for record in batch.waves:
                return Wave(self.trace, record)
        why = self._cache.unreadable.get(row, "its file is missing")
        text = Message("{0} could not be read: {1}", self.trace.waves.id(row), why)
        raise UsageError(text, hint="The table problems has more.")

    def batches(self, waves: Waves = None) -> Iterator[WaveBatch]:
        """Yield the waves (None: all), a few hundred at a time, in no particular order.

        They stay in memory until the capture's budget is full; what does not fit is read again each time.
        Waves that cannot be read are left out; the table `problems` lists them from then on.
        """
        return self._cache.batches(self.chosen(waves))

    def chosen(self, waves: Waves) -> list[int] | None:
        """Return the index rows of the selected waves, None for all.

        `working` are waves that do the work of the kernel (all if none does), `all` is all waves, and the id
        of a population stands for its waves: see `populations`.  A wave is its name (`se0/simd2/slot5/wv3`),
        its place in `waves`, or a WaveId; several are a list of these, a mask over the table `waves`, or any
        table with a column `wave`.  Raises UsageError.
        """
        if not is_population(waves):
            return index_rows(self.trace, waves)
        try:
            rows = self.choice(str(waves)).rows
        except UsageError as error:
            text = Message("{0!r} does not name a wave, nor a population of waves.", waves)
            raise UsageError(text, hint=error.hint) from None
        return None if rows is None else sorted(rows)

    def choice(self, waves: str = WORKING) -> WaveChoice:
        """Return the waves that `working`, `all` or the id of a population stands for; raise UsageError."""
        return wave_choice(self.ways, waves)

    @property
    def ways(self) -> Populations:
        """The paths that waves took through the code: the result behind the table `populations`."""
        return self._once("ways", None, lambda: self._of(POPULATIONS))

    def populations(self) -> Answer[Populations]:
        """Return the paths that waves took through the code, and which work: `rcv waves --populations`.

        The argument `waves` of analyses takes their ids; reads all waves.
        """
        facts = wave_results.population_facts(self.trace, self.ways)
        return Answer.of(ResultTable.of(wave_results.POPULATIONS, self.ways), self.ways, facts)

    @property
    def code(self) -> Table:
        """The program: one row per line, with its costs over all traced waves and its source."""
        return self._table("code")

    @property
    def waves(self) -> Table:
        """One row per traced wave; no wave file is opened for it."""
        return self._table("waves")

    @property
    def occupancy(self) -> Table:
        """One row for each time a wave began or ended, anywhere on the traced shader engines."""
        return self._table("occupancy")

    @property
    def events(self) -> Table:
        """Dispatches, hardware events, markers and values of shader data, by time."""
        return self._table("events")

    @property
    def counters(self) -> Table:
        """One row per sample of a hardware counter."""
        return self._table("counters")

    def tokens(self, waves: Waves = None) -> Table:
        """One row per executed instruction, wave after wave, in order of time."""
        return self._table("tokens", waves)

    def states(self, waves: Waves = None) -> Table:
        """One row per segment of a wave's timeline: what the wave was doing."""
        return self._table("states", waves)

    def waits(self, waves: Waves = None) -> Table:
        """One row for each executed wait and each instruction that it waited for."""
        return self._table("waits", waves)

    def parts(self, name: Literal["tokens", "states", "waits"], waves: Waves = None) -> Iterator[Table]:
        """Yield `tokens`, `states` or `waits` in batches, for captures larger than memory."""
        checked_word("name", name, OF_WAVES)
        return (batch_table(self.trace, name, batch) for batch in self.batches(waves) if batch.waves)

    @property
    def markers(self) -> MarkerSpans:
        """Scopes and points of markers; waves are read for them if there is any shader data."""
        if not self.trace.has_shader_data:
            return self._once("markers", None, lambda: marker_spans(self.trace, ()))
        return self._once("markers", None, lambda: self._of(MARKERS[ReferenceRule.OURS]))

    @property
    def sources(self) -> Table:
        """The source files that instructions come from; `Capture.source` gives the lines of one."""
        files = self.trace.sources
        rows = [(one.path, len(one.lines or ()), one.lines is not None, one.note) for one in files]
        return of_rows(SOURCES, rows)

    def source(self, path: str) -> tuple[str, ...]:
        """Return the lines of a source file by its path or path ending; UsageError if there is no copy."""
        files = [file for file in self.trace.sources if file.path == path or file.path.endswith(f"/{path}")]
        if len(files) != 1 or files[0].lines is None:
            why = "several files end so" if len(files) > 1 else "the capture holds no copy of it"
            text = Message("{0} cannot be shown: {1}.", path, why)
            raise UsageError(text, hint="The table sources lists what there is.")
        return files[0].lines

    @property
    def notes(self) -> Answer[tuple[Note, ...]]:
        """Notes about the capture, as currently stored; `result` has them as objects."""
        book = NotePlaces.of(self.trace).read()
        facts = {"problems": [str(problem) for problem in book.problems]}
        return Answer.of(note_table(self.trace, book.notes), book.notes, facts)

    def add_note(
        self,
        title: str,
        *,
        text: str = "",
        severity: Literal["info", "warning", "error"] = "info",
        instructions: Iterable[int] = (),
        source: tuple[str, int] | None = None,
        wave: str | int | WaveId | None = None,
        cycles: int | tuple[int, int] | None = None,
        author: str = "",
        beside: bool = False,
    ) -> str:
        """Write a note about a place of the capture and return its id; raise UsageError or ExportError.

        `source` is a path, or its end, and a line; `cycles` a cycle, or start and end of a range.  With
        `beside` it goes into `annotations.json` in the folder of the capture, else into the user's folder.
        """
        checked_word("severity", severity, tuple(Severity))
        if isinstance(cycles, int):
            cycles = (cycles, cycles + 1)
        anchor = Anchor(
            instructions=tuple(instructions),
            source=source,
            wave=None if wave is None else self.trace.waves.id(index_row(self.trace, wave)),
            span=None if cycles is None else TimeWindow(*cycles),
        )
        note = new_note(self.trace, anchor, title, text=text, severity=Severity(severity), author=author)
        NotePlaces.of(self.trace).save(NoteChanges(put=(note,)), is_beside=beside)
        return note.id

    def remove_note(self, id: str) -> None:
        """Remove a note by its id; a note in a packed file, or by another author, is only hidden.

        Raise UsageError if there is none.
        """
        if id not in self.notes["id"].tolist():
            text = Message("The capture has no note {0}.", id)
            raise UsageError(text, hint="The table notes has their ids.")
        NotePlaces.of(self.trace).save(NoteChanges(removed=frozenset((id,))))

    @property
    def problems(self) -> Table:
        """What is wrong with the capture's files, and the waves that could not be read so far."""
        rows = [(str(one.severity), one.where, one.text, one.hint) for one in problems(self.trace)]
        lost = sorted(self._cache.unreadable.items())
        rows += [("warning", str(self.trace.waves.id(row)), text, "") for row, text in lost]
        return of_rows(PROBLEMS, rows)

    def _table(self, name: str, waves: Waves = None) -> Table:
        table = TABLES[name]

        def make() -> Table:
            if table.make is None:
                return wave_table(self.trace, name, self._all(waves), self.budget)
            return Table(table.make(self.trace, self.markers if name == "events" else None), spec=table.spec)

        return self._once(name, waves, make)

    def _once(self, key: object, waves: Waves, make: Callable[[], T]) -> T:
        """Return the cached result for all waves or for named waves, else compute it."""
        if isinstance(waves, str):  # a population that all waves are of is kept as all waves are
            key = key if self.chosen(waves) is None else (key, waves)
        elif waves is not None:
            return make()
        if key not in self._answers:
            self._answers[key] = make()
        answer: T = self._answers[key]
        return answer

    def _explained(self, analysis: Reduction[Part, T] | Staged[Any, Part, T], waves: Waves = None) -> T:
        """Return an analysis of all waves that explains some waves."""
        return self._once(analysis, waves, lambda: self._of(analysis, waves))

    def _of(self, analysis: Reduction[Part, T] | Staged[Any, Part, T], waves: Waves = None) -> T:
        found = self._looking()
        answer = found.of(analysis, self._rows(waves))
        self._cache.unreadable |= found.missing
        return answer

    def _looking(self, rows: Sequence[int] | None = None) -> Answers:
        """Return the provider of answers about all waves, or about some rows of the index.

        Waves of a small capture are in memory.  Waves of a large one are read for each analysis and then
        dropped, except waves kept in memory for their tokens: results are small.
        """
        if rows is None and self._reading is not None:
            return self._reading
        reading = Reducer(self.trace, rows, held=self._cache.held, workers=self._workers)
        if reading.is_kept:
            return InMemory(self.trace, self._all(rows))
        if rows is None:
            self._reading = reading
        return reading

    def _rows(self, waves: Waves) -> frozenset[int] | None:
        """The selected rows of the wave index, None for all."""
        rows = self.chosen(waves)
        return None if rows is None else frozenset(rows)

    def _all(self, waves: Waves = None) -> tuple[WaveBatch, ...]:
        return in_order(self.batches(waves))

    def _counted(self, waves: Waves) -> Trace:
        """The trace with the totals of some waves; unchanged for all of them."""
        if self.chosen(waves) is None:
            return self.trace
        return replace(self.trace, code=self._explained(LINES, waves).on(self.trace.code))
