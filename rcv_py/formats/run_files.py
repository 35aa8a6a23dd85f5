"""What the profiler leaves beside a capture: `*_kernel_trace.csv`, `*_agent_info.csv`, `*_results.json`.

They may lie in the capture's folder or in the one above, often of another run of the same program: dispatch
ids need not match, so a launch is found by the name of its kernel, and the id only chooses among those.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from rcv_py.base.errors import TraceError
from rcv_py.base.text import plural
from rcv_py.formats.files import parse_json, read_bytes, read_start
from rcv_py.model.resources import AgentFacts, KernelResources, RunFacts

LIMIT = 32 << 20  # bytes of a table: about 100,000 launches
MOST_NAMES = 5_000  # files of a folder that are looked at
MOST_TABLES = 8

_KERNEL_TRACE = re.compile(r"(?:.*_)?kernel_trace\.csv")
_AGENTS = re.compile(r"(?:.*_)?agent_info\.csv")
_DISPATCH = re.compile(r"dispatch_(\d{1,9})")
_NUMBER = re.compile(r"-?\d{1,18}")
_RESULTS = re.compile(r"(?:.*_)?results\.json")
_RESULTS_START = 64 << 10  # bytes of a results file: its metadata come first
_COMMAND = re.compile(rb'"command"\s*:\s*(\[(?:[^\]"\\]|"(?:[^"\\]|\\.)*")*\])')


def run_facts(folder: Path, kernel: str, target: str = "") -> RunFacts:
    """Return what the tables in the folder or above it tell about a kernel and the device.

    `kernel` is its symbol or demangled name, `target` such as `gfx950`.  Never raises: what cannot be read or
    does not fit is told in `notes`.
    """
    notes: list[str] = []
    rows = [row for place, name in _tables(folder, _KERNEL_TRACE) for row in _rows(place, name, notes)]
    agents = [
        _agent_of(row)
        for place, name in _tables(folder, _AGENTS)
        for row in _rows(place, name, notes)
        if row["agent_type"] == "GPU"
    ]
    launch = _chosen(rows, folder.name, kernel, notes)
    return RunFacts(launch, _agent(agents, target), tuple(notes), *_command(folder))


def launches(folder: Path) -> list[KernelResources]:
    """Return every launch of the kernel traces in and above the folder; leave out what cannot be read."""
    notes: list[str] = []
    return [
        _launch(row) for place, name in _tables(folder, _KERNEL_TRACE) for row in _rows(place, name, notes)
    ]


def _command(folder: Path) -> tuple[tuple[str, ...], str]:
    """The program that was profiled, and the file that tells it; nothing where none does."""
    for place, name in _tables(folder, _RESULTS):
        try:
            found = _COMMAND.search(read_start(place, name, _RESULTS_START))
            words = parse_json(found[1], name) if found else None
        except TraceError:
            continue
        if isinstance(words, list) and words and all(isinstance(word, str) for word in words):
            return tuple(words), name
    return (), ""


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a table; a column by its name in lower case, "" if the table has none."""

    cells: list[str]
    column: dict[str, int]
    file: str

    def __getitem__(self, name: str) -> str:
        place = self.column.get(name, len(self.cells))
        return self.cells[place].strip() if place < len(self.cells) else ""

    def number(self, *names: str) -> int:
        """The first of these columns that has anything, -1 if that is no number."""
        text = next((self[name] for name in names if self[name]), "")
        return int(text) if _NUMBER.fullmatch(text) else -1

    def three(self, name: str) -> tuple[int, int, int]:
        x, y, z = (self.number(f"{name}_{axis}") for axis in "xyz")
        return x, y, z


def _tables(folder: Path, pattern: re.Pattern[str]) -> Iterator[tuple[Path, str]]:
    for place in (folder, folder.parent):
        try:
            names = sorted(path.name for path in islice(place.iterdir(), MOST_NAMES))
        except OSError:
            continue
        for name in [name for name in names if pattern.fullmatch(name)][:MOST_TABLES]:
            yield place, name


def _rows(place: Path, name: str, notes: list[str]) -> Iterator[_Row]:
    """Yield the rows of a table; a damaged end is told and left out."""
    try:
        text = read_bytes(place, name, LIMIT).decode("utf-8", "replace").replace("\0", "")
    except TraceError as error:
        notes.append(str(error))
        return
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        column = {cell.strip().lower(): i for i, cell in enumerate(next(reader, []))}
        for cells in reader:
            yield _Row(cells, column, name)
    except csv.Error as error:
        notes.append(f"{name} is damaged behind line {reader.line_num:,}: {error}.")


def _launch(row: _Row) -> KernelResources:
    return KernelResources(
        row["kernel_name"],
        row.number("dispatch_id"),
        row.number("vgpr_count", "arch_vgpr_count"),
        row.number("accum_vgpr_count"),
        row.number("sgpr_count"),
        row.number("lds_block_size", "group_segment_size"),
        row.number("scratch_size", "private_segment_size"),
        row.three("workgroup_size"),
        row.three("grid_size"),
        row.file,
    )


def _agent_of(row: _Row) -> AgentFacts:
    return AgentFacts(
        row["name"],
        max(0, row.number("max_waves_per_simd")),
        max(0, row.number("simd_per_cu")),
        max(0, row.number("wave_front_size")),
        max(0, row.number("lds_size_in_kb")) * 1024,
        max(0, row.number("cu_count")),
        row.file,
        max(0, row.number("num_shader_banks")),
    )


def _chosen(rows: list[_Row], folder: str, kernel: str, notes: list[str]) -> KernelResources | None:
    """Return the launch that fits; where several do and differ, the most frequent one, with a note."""
    if not rows:
        return None
    mine = [_launch(row) for row in _named(rows, kernel)]
    if not mine:
        what = f"{kernel[:60]} is" if kernel else "a kernel without a name is"
        notes.append(
            f"{rows[0].file} has {plural(len(rows), 'launch', 'launches')}, but {what} none of them."
        )
        return None
    number = _DISPATCH.search(folder)
    mine = [row for row in mine if number and row.dispatch == int(number[1])] or mine
    kinds = Counter(map(_sizes, mine))
    best = kinds.most_common(1)[0][0]
    chosen = next(row for row in mine if _sizes(row) == best)
    if len(kinds) > 1:
        many = f"{chosen.file} has {len(mine):,} launches of this kernel"
        notes.append(f"{many} that differ; the most frequent kind is taken.")
    return chosen


def _sizes(row: KernelResources) -> tuple[object, ...]:
    return row.vgprs, row.accum_vgprs, row.sgprs, row.lds, row.workgroup


def _named(rows: list[_Row], kernel: str) -> list[_Row]:
    """The launches of a kernel: by the same name, else by one that holds the other."""
    wanted = _plain(kernel)
    if not wanted:
        return []
    names = {row["kernel_name"]: "" for row in rows}
    plain = {name: _plain(name) for name in names if name}
    same = {name for name, text in plain.items() if text == wanted}
    same = same or {name for name, text in plain.items() if _holds(text, wanted)}
    return [row for row in rows if row["kernel_name"] in same]


def _plain(name: str) -> str:
    return name.strip().removesuffix(".kd").removeprefix("void ").replace(" ", "")


def _holds(one: str, other: str) -> bool:
    return min(len(one), len(other)) > 3 and (one in other or other in one)


def _agent(rows: list[AgentFacts], target: str) -> AgentFacts | None:
    fitting = [row for row in rows if row.name == target]
    return fitting[0] if fitting else (rows[0] if rows and not target else None)
