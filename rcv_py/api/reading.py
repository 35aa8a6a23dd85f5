"""An open capture and its waves: read once when they are first needed, kept within a budget of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rcv_py.analysis.core.chosen import batch_of
from rcv_py.analysis.core.line_stats import all_lines
from rcv_py.analysis.cost.places import wave_row
from rcv_py.analysis.findings.choose import only
from rcv_py.analysis.waves.populations import WORKING, Populations, populations
from rcv_py.analysis.waves.wave_choice import WaveChoice, wave_choice
from rcv_py.api.errors import UnequalColumns, noted
from rcv_py.api.table import Table
from rcv_py.base.errors import RcvError, UsageError
from rcv_py.base.settings import BY_NAME
from rcv_py.formats.open import open_trace
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import CaptureEntry, Trace
from rcv_py.model.waves import Wave, WaveBatch
from rcv_py.work.load import batches

DEFAULT_GB = float(BY_NAME["load.budget_gb"].default)
ONE_WAVE = (str, int, np.integer, WaveId)
Waves = str | int | WaveId | Table | np.ndarray | Iterable[str | int | WaveId] | None
T = TypeVar("T")


class Reading:
    """The part of a capture that knows its files."""

    def __init__(
        self,
        path: str | PathLike[str] | CaptureEntry,
        *,
        memory_gb: float = DEFAULT_GB,
        workers: int | None = None,
        run_files: str | PathLike[str] | Iterable[str | PathLike[str]] = (),
    ) -> None:
        place = path.path if isinstance(path, CaptureEntry) else Path(path)
        try:
            self.trace: Trace = open_trace(place)
        except RcvError as error:
            noted(error)
            raise
        self.budget = memory_gb * 1e9  # bytes of waves that are kept, and of a table made of them
        self._workers = workers
        given = [run_files] if isinstance(run_files, str | PathLike) else run_files
        self._run_files = tuple(map(Path, given))
        self._held: list[WaveBatch] = []
        self._known: set[int] = set()  # rows of waves that are held or cannot be read
        self._bytes = 0
        self._lost: dict[int, str] = {}
        self._answers: dict[Any, Any] = {}

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

    def wave(self, wave: str | int | WaveId) -> Wave:
        """Return one wave as an object of the loader, with `tokens`, `states` and `waits`.

        Raises UsageError for a wave that does not exist or cannot be read.
        """
        row = self._row(wave)
        for batch in self.batches([row]):
            for one in batch.waves:
                return one
        raise noted(
            UsageError(
                f"{self.trace.waves.id(row)} could not be read: {self._lost.get(row, 'its file is missing')}",
                hint="The table problems tells more.",
            )
        )

    def batches(self, waves: Waves = None) -> Iterator[WaveBatch]:
        """Yield the waves (None: all), some hundred at a time, in no particular order.

        They stay in memory until the capture's budget is full; what does not fit is read again each time.
        Waves that cannot be read are left out; the table `problems` lists them from then on.
        """
        rows = self.chosen(waves)
        wanted = set(range(len(self.trace.waves)) if rows is None else rows)
        missing = sorted(wanted - self._known)
        held = tuple(self._held) if rows is None else only(self._held, wanted)
        yield from sorted(held, key=lambda batch: batch.waves[0].row)
        if not missing:
            return
        for batch in batches(self.trace, missing, workers=self._workers):
            self._keep(batch)
            yield batch

    def _keep(self, batch: WaveBatch) -> None:
        self._lost |= dict(batch.missing)
        self._known |= {row for row, _ in batch.missing}
        if batch.waves and self._bytes + _size(batch) <= self.budget:
            self._held.append(batch)
            self._bytes += _size(batch)
            self._known |= {wave.row for wave in batch.waves}

    def choice(self, waves: str = WORKING) -> WaveChoice:
        """Return the waves that `working`, `all` or the id of a population stands for; raise UsageError."""
        try:
            return wave_choice(self.ways, waves)
        except UsageError as error:
            raise noted(error) from None

    @property
    def ways(self) -> Populations:
        """The ways that waves took through the code: the result that `populations` makes a table of."""
        if "ways" not in self._answers:
            self._answers["ways"] = populations(self.trace, self.batches())
        return self._answers["ways"]

    def _named(self, name: str) -> WaveChoice:
        try:
            return self.choice(name)
        except UsageError as error:
            text = f"{name!r} does not name a wave, nor a population of waves."
            raise noted(UsageError(text, hint=error.hint)) from None

    def _rows(self, waves: Waves) -> frozenset[int] | None:
        """Rows of the wave index that are meant, None for all."""
        rows = self.chosen(waves)
        return None if rows is None else frozenset(rows)

    def _counted(self, waves: Waves) -> Trace:
        """The trace with the totals of some waves; as it is for all of them."""
        rows = self._rows(waves)
        if rows is None:
            return self.trace
        stats = all_lines(self._all(waves), len(self.trace.code))
        return replace(self.trace, code=stats.on(self.trace.code))

    def chosen(self, waves: Waves) -> list[int] | None:
        """Return the places in the index of the waves that are meant, None for all.

        `working` are those that do the work of the kernel (all if none does), `all` is all of them, and the
        id of a population stands for those that took its way: see `populations`.  A wave is its name
        (`se0/simd2/slot5/wv3`), its place in `waves`, or a WaveId; several are a list of these, a mask over
        the table `waves`, or any table with a column `wave`.  Raises UsageError.
        """
        if waves is None:
            return None
        if isinstance(waves, str) and "/" not in waves:
            rows = self._named(waves).rows
            return None if rows is None else sorted(rows)
        if isinstance(waves, ONE_WAVE):
            return [self._row(waves)]
        if isinstance(waves, Table):
            names = waves["wave"]
            return sorted({self._row(name) for name in dict.fromkeys(names.tolist())})
        if isinstance(waves, np.ndarray) and waves.dtype == bool:
            if waves.shape != (len(self.trace.waves),):
                raise UnequalColumns("waves", [len(self.trace.waves), waves.size])
            return np.flatnonzero(waves).tolist()
        return sorted({self._row(one) for one in waves})

    def _row(self, wave: str | int | WaveId) -> int:
        if not isinstance(wave, int | np.integer):
            return wave_row(self.trace, str(wave))
        if not 0 <= wave < len(self.trace.waves):
            raise noted(
                UsageError(
                    f"The capture has no wave number {wave}.",
                    hint=f"It has {len(self.trace.waves):,}, counted from 0.",
                )
            )
        return int(wave)

    def _once(self, key: Any, waves: Waves, make: Callable[[], T]) -> T:
        """Return what was made before for all waves or for waves with a name, else make it."""
        if isinstance(waves, str):  # a population that all waves are of is kept as all waves are
            key = key if self.chosen(waves) is None else (key, waves)
        elif waves is not None:
            return make()
        if key not in self._answers:
            self._answers[key] = make()
        found: T = self._answers[key]
        return found

    def _all(self, waves: Waves = None) -> tuple[WaveBatch, ...]:
        return in_order(self.batches(waves))


def in_order(batches: Iterable[WaveBatch]) -> tuple[WaveBatch, ...]:
    """Return batches whose waves follow each other as in the index; made anew if they were mixed."""
    found = sorted((batch for batch in batches if batch.waves), key=lambda batch: batch.waves[0].row)
    rows = [wave.row for batch in found for wave in batch.waves]
    if all(a < b for a, b in pairwise(rows)):
        return tuple(found)
    waves = (wave for batch in found for wave in batch.waves)
    return (batch_of(sorted(waves, key=lambda wave: wave.row)),)


def _size(batch: WaveBatch) -> int:
    columns = (batch.stall, batch.busy, batch.kind, batch.line)
    return batch.nbytes or sum(column.nbytes for column in columns)
