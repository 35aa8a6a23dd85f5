"""Read the profiler's files near a capture: `*_kernel_trace.csv`, `*_agent_info.csv`, `*_results.json`.

They may be in the capture's folder, above it or in a neighbouring folder (`run_places`), often from another
run of the same program: dispatch ids need not match, so a launch is found by the name of its kernel, and the
id only selects among matches.  The nearest table with the kernel counts; the profiler's databases and
documents (`formats/rocpd`) are used only if no table has it.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from rcv_py.base.errors import TraceError, UsageError
from rcv_py.base.record import Value
from rcv_py.base.text import Message, plural
from rcv_py.formats.input.files import csv_rows, parse_json, read_start
from rcv_py.formats.input.run_places import may_look, names_in, nearby
from rcv_py.formats.isa.program import guessed_target
from rcv_py.model.resources import AgentFacts, AllocatedRegisters, KernelResources, RunFacts
from rcv_py.model.trace import INFERRED, Trace

NEIGHBOURS = "tables or code objects of the run"
LIMIT = 32 << 20  # bytes of a table: about 100,000 launches
MAX_TABLES = 8  # of one kind in a folder
MAX_TABLES_IN_ALL = 24  # of one kind

_KERNEL_TRACE = re.compile(r"(?:.*_)?kernel_trace\.csv")
_AGENTS = re.compile(r"(?:.*_)?agent_info\.csv")
_CODE_OBJECT = re.compile(r".*_(gfx[0-9a-f]{3,5})_code_object_id_\d+\.out")
_ANY_CODE_OBJECT = re.compile(r"(?:.*_)?code_object_id_\d+\.out")
_GFX = re.compile(r"gfx[0-9a-f]{3,5}")
_DISPATCH = re.compile(r"dispatch_(\d{1,9})")
_NUMBER = re.compile(r"-?\d{1,18}")
_RESULTS = re.compile(r"(?:.*_)?results\.json")
_PROFILE = re.compile(r"(?:.*_)?results\.(?:json|db)|.*\.rocpd")
PROFILE_BYTES = 128 << 20  # of such a file: about a second to read
_RESULTS_START = 64 << 10  # bytes of a results file: its metadata come first
_COMMAND = re.compile(r'"command"\s*:\s*(?=\[)')
_AGENT = {  # sizes, and their columns
    "waves_per_simd": "max_waves_per_simd", "simds_per_cu": "simd_per_cu", "wave_size": "wave_front_size",
    "cus": "cu_count", "engines": "num_shader_banks",
}  # fmt: skip
_COMMANDS_TRIED = 8  # in a file; the first is the key, unless a name or an argument contains the word
_JSON = json.JSONDecoder()


def run_facts(folder: Path, kernel: str, target: str = "", given: Sequence[Path] = ()) -> RunFacts:
    """Return the facts about a kernel and the device from the tables of the run.

    `kernel` is its symbol or demangled name, `target` such as `gfx950`.  `given` are files, or folders with
    such files, that are searched instead of the places near the capture; raise UsageError if one holds no
    table.  Else never raises: `notes` report unreadable or mismatched data.
    """
    notes: list[str] = []
    damage: list[str] = []
    near = _near(folder, given)
    launch, table = _nearest_launch(near, folder.name, kernel, notes, damage)
    agent, agents = _nearest_agent(near, target, damage)
    notes += damage
    files = tuple(dict.fromkeys(str(path) for path in (table, agents) if path is not None))
    command, file = _command(near)
    return RunFacts(
        launch, agent, tuple(notes), tuple(damage), command=command, command_file=file, files=files
    )


def facts_about(trace: Trace, given: Sequence[Path] = ()) -> RunFacts:
    """Return the facts about a capture from the tables of the run: from inside it, else `run_facts`."""
    inside = trace.facts
    if inside is not None and not given and (inside.kernel is not None or inside.agent is not None):
        return inside
    facts = run_facts(trace.path, trace.kernel_name, trace.target, given)
    packed = inside.allocated if inside is not None else None  # a packed file has no code object
    return replace(facts, allocated=_allocated(trace, _near(trace.path, given)) or packed)


def _allocated(trace: Trace, near: _Near) -> AllocatedRegisters | None:
    """What the nearest code object with the kernel allocates; one with the number of its code comes first."""
    kernel, objects = trace.code.main_kernel, list(_tables(near, _ANY_CODE_OBJECT))
    if kernel is None or not objects:
        return None
    from rcv_py.formats.isa.code_object import CodeObject, id_of_name  # noqa: PLC0415 - few captures need it
    from rcv_py.formats.isa.elf import allocated_registers  # noqa: PLC0415 - as above

    number = int(trace.code.codeobj[min(kernel.first + 1, len(trace.code) - 1)])
    for place, names in objects:
        for name in sorted(names, key=lambda name: id_of_name(name) != number):
            with suppress(TraceError):
                image = CodeObject.open(place / name).image
                found = None if image is None else allocated_registers(image, kernel.name, name)
                if found is not None:
                    return found
    return None


def launches(folder: Path, given: Sequence[Path] = ()) -> list[KernelResources]:
    """Return every launch of the nearest kernel trace of a capture; leave out unreadable rows.

    Raise UsageError if a `given` path holds no table.
    """
    for place, names in _tables(_near(folder, given), _KERNEL_TRACE):
        found = [_launch(row) for name in names for row in _rows(place, name, [])]
        if found:
            return found
    return []


def exact_target(folder: Path, gfxip: int, mnemonics: Set[str]) -> tuple[str, str]:
    """Return the target, such as `gfx950`, and its source; `gfx9` and "" if unknown.

    Code objects and agent tables in or next to the folder take precedence, unless they are of another
    generation, then the instructions, then tables further away, which may be of another run.
    """
    real = Path(os.path.realpath(folder))
    if near := _target_of(dict.fromkeys((folder, real, real.parent, folder.parent)), gfxip):
        return near, NEIGHBOURS
    if inferred := guessed_target(mnemonics, gfxip):
        return inferred, INFERRED
    far = _target_of(nearby(folder), gfxip)
    return (far, NEIGHBOURS) if far else (f"gfx{gfxip}", "")


def _target_of(places: Iterable[Path], gfxip: int) -> str:
    """The only target of this generation that the first of the places with any names."""
    for place in places:
        names = names_in(place) if may_look(place) else []
        found = {match[1] for name in names if (match := _CODE_OBJECT.fullmatch(name))}
        found = found or {
            row["name"]
            for name in names
            if _AGENTS.fullmatch(name)
            for row in _rows(place, name, [])
            if row["agent_type"] == "GPU" and _GFX.fullmatch(row["name"])
        }
        found = {name for name in found if name[3:-2] == str(gfxip)}
        if len(found) == 1:
            return found.pop()
    return ""


_Near = list[tuple[Path, list[str]]]  # searched places, with the names in them


def _tables(near: _Near, pattern: re.Pattern[str]) -> Iterator[tuple[Path, list[str]]]:
    """Yield places with the names of their tables of one kind, up to the limit of tables."""
    left = MAX_TABLES_IN_ALL
    for place, names in near:
        found = [name for name in names if pattern.fullmatch(name)][: min(MAX_TABLES, left)]
        left -= len(found)
        if found:
            yield place, found


def _near(folder: Path, given: Sequence[Path]) -> _Near:
    """The given files and folders, else the places near a capture; UsageError for one without tables."""
    if not given:
        return [(place, names_in(place)) for place in nearby(folder)]
    near: _Near = []
    for path in given:
        found = [(place, names_in(place)) for place in (path, path / "compute_viewer")]
        if path.is_file():
            found = [(path.parent, [path.name])]
        if not any(True for kind in (_KERNEL_TRACE, _AGENTS, _PROFILE) for _ in _tables(found, kind)):
            raise UsageError(
                Message("{0} has no table of a run.", path),
                hint="Name a *_kernel_trace.csv, *_agent_info.csv or *_results.db, or a folder with them.",
            )
        near += found
    return near


def _nearest_launch(
    near: _Near, folder: str, kernel: str, notes: list[str], damage: list[str]
) -> tuple[KernelResources | None, Path | None]:
    """The launch from the nearest place with the kernel, and its table; without one a note of the nearest."""
    missing: list[str] = []
    for pattern, read in ((_KERNEL_TRACE, _rows), (_PROFILE, partial(_profile_rows, "launch_table"))):
        for place, names in _tables(near, pattern):
            said: list[str] = []
            rows = [row for name in names for row in read(place, name, damage)]
            if pattern is _KERNEL_TRACE and not any(row["kernel_name"] for row in rows):
                damage.append(Message("{0} names no kernel: registers and sizes are not known.", names[0]))
            launch = _chosen(rows, folder, kernel, said)
            if launch is not None:
                notes += said
                return launch, place / launch.file
            missing = missing or said
    notes += missing
    return None, None


def _nearest_agent(near: _Near, target: str, damage: list[str]) -> tuple[AgentFacts | None, Path | None]:
    """The device by the nearest table that has one of this target, and that table."""
    for pattern, read in ((_AGENTS, _rows), (_PROFILE, partial(_profile_rows, "agent_table"))):
        for place, names in _tables(near, pattern):
            rows = [row for name in names for row in read(place, name, damage) if row["agent_type"] == "GPU"]
            for row in rows:
                if target in ("", row["name"]):
                    return _agent_of(row), place / row.file
            if pattern is _AGENTS and not any(_GFX.fullmatch(row["name"]) for row in rows):
                text = "{0} names no GPU: whether the launch leaves SIMDs without a wave is not known."
                damage.append(Message(text, names[0]))
    return None, None


def _command(near: _Near) -> tuple[tuple[str, ...], str]:
    """The profiled program, and the file that names it; empty if none does."""
    for place, name in ((place, name) for place, names in _tables(near, _RESULTS) for name in names):
        with suppress(TraceError):
            start = read_start(place, name, _RESULTS_START).decode("utf-8", "replace")
            for found in islice(_COMMAND.finditer(start), _COMMANDS_TRIED):
                if words := _words(start, found.end()):
                    return words, name
    return (), ""


def _words(text: str, at: int) -> tuple[str, ...]:
    """The list of texts that begins at a position in JSON; empty if there is none."""
    try:
        _, end = _JSON.raw_decode(text, at)  # only its end; its contents are read like every file
        words = parse_json(text[at:end].encode(), "")
    except (ValueError, RecursionError, TraceError):
        return ()
    is_text = isinstance(words, list) and all(isinstance(word, str) for word in words)
    return tuple(words) if isinstance(words, list) and is_text else ()


class _Row(Value):
    """A row of a table; columns by lower-case name, "" if the table lacks one."""

    cells: list[str]
    column: dict[str, int]
    file: str

    def __getitem__(self, name: str) -> str:
        place = self.column.get(name, len(self.cells))
        return self.cells[place].strip() if place < len(self.cells) else ""

    def number(self, *names: str) -> int:
        """The first non-empty one of these columns, -1 if that is not a number."""
        text = next((self[name] for name in names if self[name]), "")
        return int(text) if _NUMBER.fullmatch(text) else -1

    def three(self, name: str) -> tuple[int, int, int]:
        x, y, z = (self.number(f"{name}_{axis}") for axis in "xyz")
        return x, y, z


def _rows(place: Path, name: str, notes: list[str]) -> Iterator[_Row]:
    """Yield the rows of a table; note and leave out unreadable rows."""
    lines = csv_rows(place, name, notes, LIMIT)
    try:
        column = {cell.strip().lower(): i for i, cell in enumerate(next(lines, []))}
        for cells in lines:
            yield _Row(cells, column, name)
    except TraceError as error:
        notes.append(str(error))


def _profile_rows(table: str, place: Path, name: str, notes: list[str]) -> Iterator[_Row]:
    """The launches or the devices of a database or document as rows of a table."""
    from rcv_py.formats.rocpd import read as profiles  # noqa: PLC0415 - it loads SQLite, and most captures have tables

    try:
        if (place / name).stat().st_size > PROFILE_BYTES:
            return
        head, rows = getattr(profiles, table)(place / name)
    except TraceError as error:
        notes.append(str(error))
        return
    except OSError:
        return  # it vanished
    column = {title: at for at, title in enumerate(head)}
    yield from (_Row([str(cell) for cell in cells], column, name) for cells in rows)


def _launch(row: _Row) -> KernelResources:
    begin, end = row.number("start_timestamp"), row.number("end_timestamp")
    return KernelResources(
        kernel=row["kernel_name"],
        dispatch=row.number("dispatch_id"),
        vgprs=row.number("vgpr_count", "arch_vgpr_count"),
        accum_vgprs=row.number("accum_vgpr_count"),
        sgprs=row.number("sgpr_count"),
        lds=row.number("lds_block_size", "group_segment_size"),
        scratch=row.number("scratch_size", "private_segment_size"),
        workgroup=row.three("workgroup_size"),
        grid=row.three("grid_size"),
        file=row.file,
        ns=end - begin if 0 <= begin < end else -1,
        ends_early=0 <= end <= begin > 0,
    )


def _agent_of(row: _Row) -> AgentFacts:
    sizes = {name: max(0, row.number(column)) for name, column in _AGENT.items()}
    lds = max(0, row.number("lds_size_in_kb")) * 1024
    return AgentFacts(row["name"], lds=lds, file=row.file, product=row["product_name"], **sizes)


def _chosen(rows: list[_Row], folder: str, kernel: str, notes: list[str]) -> KernelResources | None:
    """Return the matching launch; of several different ones the most frequent, with a note."""
    if not rows:
        return None
    named = _named(rows, kernel)
    if not named:
        what = f"{kernel[:60]} is" if kernel else "a kernel without a name is"
        count = plural(len(rows), "launch", "launches")
        notes.append(Message("{0} has {1}, but {2} none of them.", rows[0].file, count, what))
        return None
    number = _DISPATCH.search(folder)
    same = [row for row in named if number and row.number("dispatch_id") == int(number[1])]
    mine = [_launch(row) for row in same or named]
    kinds = Counter(map(_sizes, mine))
    best = kinds.most_common(1)[0][0]
    chosen = next(row for row in mine if _sizes(row) == best)
    if len(kinds) > 1:
        many = Message("{0} has {1:,} launches of this kernel", chosen.file, len(mine))
        notes.append(Message("{0} that differ; the most frequent kind is taken.", many))
    return chosen


def _sizes(row: KernelResources) -> tuple[object, ...]:
    return row.vgprs, row.accum_vgprs, row.sgprs, row.lds, row.workgroup


def _named(rows: list[_Row], kernel: str) -> list[_Row]:
    """The launches of a kernel: by equal names, else by names that contain each other."""
    wanted = _plain(kernel)
    if not wanted:
        return []
    plain = {name: _plain(name) for name in {row["kernel_name"] for row in rows} if name}
    same = {name for name, text in plain.items() if text == wanted}
    if not same and len(wanted) > 3:
        long = ((name, text) for name, text in plain.items() if len(text) > 3)
        same = {name for name, text in long if text in wanted or wanted in text}
    return [row for row in rows if row["kernel_name"] in same]


def _plain(name: str) -> str:
    return name.strip().removesuffix(".kd").removeprefix("void ").replace(" ", "")
