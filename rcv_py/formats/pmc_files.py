"""Tables of `rocprofv3 --pmc`: counters read once per dispatch.

```
long   Dispatch_Id, Kernel_Name, Counter_Name, Counter_Value, …     a row a dispatch and counter
wide   Dispatch_ID, Kernel_Name, TCC_HIT_sum, TCC_EA0_RDREQ[3], …   a row a dispatch
```
Case, order, separators of words and further columns do not matter.  Other files in a folder are left out, and
refused if they are named; a database or document of rocprofv3 is read if it is named, or if a folder of a run
has no table.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import numpy as np

from rcv_py.base.errors import BrokenFile, MissingFile, TraceError
from rcv_py.base.text import Message, plural
from rcv_py.formats.input.files import csv_rows
from rcv_py.formats.input.limits import MAX_COUNT
from rcv_py.formats.input.run_places import MAX_NAMES, is_profile, names_in
from rcv_py.formats.uiout.folder import is_capture
from rcv_py.model.device import PmcDispatch, PmcTable

LIMIT = 256 << 20  # bytes of a table: about a million rows
HEAD = 1 << 16  # bytes in which the line of headings ends
MAX_FILES = 64
DEPTH = 3  # levels below the named folder: OUT/HOST/pass_1

_BLOCK = r"(?:TCC|TCP|TCA|TA|TD|GL1C|GL2C|GCEA|EA|SQ|SQC|SPI|GRBM|CPC|CPF)"
_COUNTER = re.compile(rf"({_BLOCK}_[A-Z0-9_]*[A-Z0-9])(\[\d{{1,4}}\])?", re.IGNORECASE)
_JOINED = re.compile(r"pmc_perf\.csv(?:\.gz)?", re.IGNORECASE)  # of rocprof-compute: all passes in a row
_ENDS = (".csv", ".csv.gz")
_PASS = re.compile(r"(?:pass|pmc)_\w+")
NOWHERE = 1 << 30  # no row has that many cells


def pmc_table(paths: Sequence[Path]) -> PmcTable:
    """Return the counters of files, of all tables in folders, or of tables next to captures.

    Raises TraceError if a named file is missing or no such table, or if a folder holds none.
    """
    places: dict[tuple[Path, str], bool] = {}  # whether it is named
    for path in paths:
        if path.is_file():
            real = Path(os.path.realpath(path))  # a named file may be a link; a found file may not
            places[real.parent, real.name] = True
        else:
            places = places | {found: places.get(found, False) for found in _tables_of(path)}
    rows = _Rows()
    for (place, name), is_named in places.items():
        try:
            rows.read(place, name, is_named)
        except TraceError as error:
            if is_named:
                raise
            rows.notes.append(str(error))
    if not rows.files:
        raise _no_table(paths[0])
    return rows.table()


def beside(folder: Path) -> PmcTable | None:
    """Return the counters next to a capture, None if there are none; never raises."""
    with suppress(TraceError):
        return pmc_table([folder])
    return None


def _tables_of(path: Path) -> list[tuple[Path, str]]:
    try:
        is_folder = path.is_dir()
    except OSError:
        is_folder = False
    if not is_folder:
        raise MissingFile(str(path)) if not path.exists() else BrokenFile(str(path), "it is not a plain file")
    files = list(_candidates(path))
    found = [place for place in files if place[1].lower().endswith(_ENDS) and _is_table(*place)]
    found = [place for place in found if not _JOINED.fullmatch(place[1])] or found
    if not is_capture(path):
        found = found or [(place, name) for place, name in files if is_profile(place / name)]
    if not found:
        raise _no_table(path)
    return found[:MAX_FILES]


def _no_table(path: Path) -> TraceError:
    return TraceError(
        Message("{0} holds no table of counters read once a dispatch.", path),
        hint="Record one: `rocprofv3 --pmc TCC_HIT_sum TCC_MISS_sum -f csv -d OUT -- APPLICATION`; on RDNA"
        " the counters of L2 are GL2C_HIT_sum and GL2C_MISS_sum.",
    )


def _candidates(path: Path) -> Iterator[tuple[Path, str]]:
    if is_capture(path):
        yield from _files(path)
        yield from _files(path.parent)
        for folder in _folders(path.parent):
            if _PASS.fullmatch(folder.name):
                yield from _files(folder)
        return
    level = [path]
    for _ in range(DEPTH + 1):
        for folder in level:
            yield from _files(folder)
        level = [below for folder in level for below in _folders(folder)][:MAX_NAMES]


def _files(folder: Path) -> list[tuple[Path, str]]:
    names = (name for name in names_in(folder) if name.lower().endswith(_ENDS) or is_profile(folder / name))
    return [(folder, name) for name in names if not (folder / name).is_symlink()]


def _folders(folder: Path) -> list[Path]:
    return [folder / name for name in names_in(folder) if (folder / name).is_dir()]


def _is_table(place: Path, name: str) -> bool:
    with suppress(TraceError):
        return bool(_Head(next(csv_rows(place, name, [], size=HEAD), [])))
    return False


class _Head:
    """Positions of the columns of a table."""

    def __init__(self, cells: Sequence[str]) -> None:
        self.column = {re.sub(r"[^a-z0-9]", "", cell.lower()): i for i, cell in enumerate(cells)}
        places = ("kernelname",), ("dispatchid", "index"), ("agentid", "gpuid")
        self.names = tuple(self.place(*names) for names in places)
        self.times = (self.place("starttimestamp", "beginns"), self.place("endtimestamp", "endns"))
        self.is_long = {"countername", "countervalue"} <= set(self.column)
        self.title = _cell(cells, self.names[0])
        titles = ((i, cell.strip().upper()) for i, cell in enumerate(cells) if counter_name(cell))
        self.counters = [] if self.is_long else [*titles]
        needed = [*self.names[:1], *(place for place, _ in self.counters)]
        if self.is_long:
            needed += [self.column["countername"], self.column["countervalue"]]
        # the last cell that a row must have
        self.last = max((place for place in needed if place < NOWHERE), default=0)

    def __bool__(self) -> bool:
        return "kernelname" in self.column and (self.is_long or bool(self.counters))

    def place(self, *names: str) -> int:
        """Position of the first of these columns that the table has, NOWHERE if it has none."""
        return next((self.column[name] for name in names if name in self.column), NOWHERE)

    def values(self, cells: Sequence[str]) -> list[tuple[str, str]]:
        """Return titles and texts of the counters of a row."""
        if self.is_long:
            name, value = self.column["countername"], self.column["countervalue"]
            return [(_cell(cells, name).upper(), _cell(cells, value))]
        return [(title, _cell(cells, place)) for place, title in self.counters]


def _cell(cells: Sequence[str], place: int) -> str:
    return cells[place].strip() if place < len(cells) else ""


@lru_cache(maxsize=4096)
def counter_name(text: str) -> str:
    """Return `TCC_HIT_sum` of `tcc_hit_SUM`, `TCC_HIT` of `TCC_HIT[3]`; "" if it names no counter."""
    match = _COUNTER.fullmatch(text.strip())
    if match is None:
        return ""
    name = match[1].upper()
    return name.removesuffix("_SUM") + "_sum" if name.endswith("_SUM") else name


class _Rows:
    """Values read so far, with numbers in place of names."""

    def __init__(self) -> None:
        self.dispatches: dict[tuple[PmcDispatch, int], int] = {}  # and its place among equal ones
        self.executions: dict[tuple[int, object], int] = {}  # row of the dispatch, key of the execution
        self.counters: dict[str, int] = {}
        self.files: list[str] = []
        self.rows: list[tuple[int, int, float]] = []  # execution, counter, value
        self.titles: set[tuple[int, str]] = set()  # executions, and the titles of their counters
        self.times: dict[int, float] = {}  # nanoseconds by execution
        self.notes: list[str] = []
        self.gpus: list[str] = []

    def read(self, place: Path, name: str, is_named: bool) -> None:
        """Add a table; a damaged end and invalid numbers are noted and left out."""
        if is_profile(place / name):
            self._take(place / name, is_named)
            return
        lines = csv_rows(place, name, self.notes, LIMIT)
        head = _Head(next(lines, []))
        if not head:
            raise TraceError(
                Message("{0} is not a table of counters read once a dispatch.", name),
                hint="It needs the columns Kernel_Name, Counter_Name and Counter_Value, or a column a"
                " counter: what `rocprofv3 --pmc … -f csv` writes.",
            )
        self.files.append(name)
        note = self.notes.append
        if _JOINED.fullmatch(name):
            text = "{0} joins passes of the profiler: its ratios may mix executions of a dispatch."
            note(Message(text, name))
        bad = short = repeated = 0
        for cells in lines:
            row = self._row(head, cells)
            bad, short, repeated = bad + row[0], short + row[1], repeated + row[2]
        if bad:
            note(Message("Left out of {0}, as no counts: {1}.", name, plural(bad, "value")))
        if short:
            rows = plural(short, "row")
            note(Message("{0} has rows that end too early, as if it was cut off: {1}.", name, rows))
        if repeated:
            twice = Message(
                "{0} has counters more than once in an execution, of which the first counts: {1} left out.",
                name,
                plural(repeated, "value"),
            )
            note(twice)

    def _take(self, path: Path, is_named: bool) -> None:
        """Add the counters of a database or document of rocprofv3."""
        from rcv_py.formats.rocpd.read import read_profile  # noqa: PLC0415 - most counters are in tables

        profile = read_profile(path)
        if not len(profile.values.value) and not is_named:
            return
        if not len(profile.values.value):
            streamed = "{0} holds streamed counters alone: samples over time, not values of a launch."
            raise TraceError(
                Message(streamed if profile.spm else "{0} holds no counters.", path.name),
                hint="Record them: `rocprofv3 --pmc TCC_HIT_sum -- APPLICATION`, on RDNA GL2C_HIT_sum.",
            )
        self.files.append(path.name)
        self.notes += [problem.text for problem in profile.problems]
        launches, values = profile.launches, profile.values
        seen: Counter[PmcDispatch] = Counter()
        at = {}
        for launch in np.unique(values.launch).tolist():
            row, agent = int(launches.kernel[launch]), int(launches.agent[launch])
            number = launches.dispatch[launch]
            kernel = profile.kernels[row].name if row >= 0 else Message("kernel of launch {0}", number)
            self.gpus += [profile.agents[agent].name] if agent >= 0 else []
            one = PmcDispatch(kernel, str(number), str(agent))
            at[launch] = self.dispatches.setdefault((one, seen[one]), len(self.dispatches))
            seen[one] += 1  # further processes of a profile have their own numbers
        names = [counter_name(name) for name in profile.counters]
        columns = (column.tolist() for column in values[:4])
        for launch, number, counter, value in zip(*columns, strict=True):
            execution = self._execution(at[launch], number, float(values.nanoseconds[number]))
            if names[counter] and value >= 0:
                self._add(execution, names[counter], value)

    def _row(self, head: _Head, cells: Sequence[str]) -> tuple[int, bool, int]:
        """Add a row; return its values that are not counts, if it is too short, and values it has already.

        An empty cell was not recorded.
        """
        kernel, number, agent = (_cell(cells, place) for place in head.names)
        if not kernel or kernel == head.title:  # or tables one behind the other
            return 0, False, 0
        one, bad, repeated = PmcDispatch(kernel, number, agent), 0, 0
        at = self.dispatches.setdefault((one, 0), len(self.dispatches))
        begin, end = (_count(_cell(cells, place)) for place in head.times)
        execution = self._execution(at, begin, 0.0 if begin is None or end is None else end - begin)
        for title, text in head.values(cells):
            name, value = counter_name(title), _count(text)
            if name and value is not None and number and (execution, title) in self.titles:
                repeated += 1  # instances have titles of their own, and add up
            elif name and value is not None:
                self.titles.add((execution, title))
                self._add(execution, name, value)
            bad += bool(name and text and value is None)
        return bad, len(cells) <= head.last, repeated

    def _execution(self, dispatch: int, known_by: object, length: float) -> int:
        """Row of an execution of a dispatch: each file, and each begin in a file, is another."""
        found = self.executions.setdefault((dispatch, (len(self.files), known_by)), len(self.executions))
        if length > 0:
            self.times[found] = length
        return found

    def _add(self, execution: int, name: str, value: float) -> None:
        self.rows.append((execution, self.counters.setdefault(name, len(self.counters)), value))

    def table(self) -> PmcTable:
        """Return everything as columns."""
        ids = np.array([row[:2] for row in self.rows], dtype=np.int32).reshape(-1, 2)
        return PmcTable(
            dispatches=tuple(one for one, _ in self.dispatches),
            of=np.array([dispatch for dispatch, _ in self.executions], dtype=np.int32),
            nanoseconds=np.array([self.times.get(row, math.nan) for row in range(len(self.executions))]),
            counters=tuple(self.counters),
            files=tuple(self.files),
            execution=ids[:, 0],
            counter=ids[:, 1],
            value=np.array([row[2] for row in self.rows], dtype=np.float64),
            notes=tuple(self.notes),
            gpus=tuple(dict.fromkeys(self.gpus)),
        )


def _count(text: str) -> float | None:
    if not text or "_" in text:  # which Python takes for a separator
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < MAX_COUNT else None
