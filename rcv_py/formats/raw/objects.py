"""The code objects of a raw capture, opened once per process, with the `code.json` next to them.

Addresses of a stream become addresses inside code objects.  A tool that records like rocprofv3 writes into
the stream where each code object is loaded (`CodeObjectRecord`).  Without that, an address where waves begin
is the entry of some kernel, and code objects are loaded at whole pages: a kernel with the same offset in its
page is a candidate.  Of several, the kernel whose instructions explain most tokens of the waves that begin
there is taken.  Addresses that begin at 0 belong to code object 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import field
from msgspec.structs import replace

from rcv_py.base.errors import TraceError
from rcv_py.base.problems import Affects, Problem, Problems
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending
from rcv_py.base.text import Message, elide_right
from rcv_py.formats.input.columns import report_skipped
from rcv_py.formats.input.files import mark_of, try_json
from rcv_py.formats.input.limits import INSTRUCTION_LETTERS, NAME_LETTERS
from rcv_py.formats.isa.code_object import CodeObject, source_texts
from rcv_py.formats.isa.elf import generation_of
from rcv_py.formats.isa.program import Program
from rcv_py.formats.raw.files import CODE_TABLE, CodeFile
from rcv_py.formats.sqtt.records import CodeObjectRecord
from rcv_py.formats.uiout.code import CodeColumns, code_columns, code_rows
from rcv_py.model.code import CodeTable, Kernel
from rcv_py.model.columns import ColumnTable

PAGE = 4096  # bytes
UNKNOWN = -1  # code object of an address that is inside of none
ONE_RUN = "Keep the code objects and streams of a run in a folder, without files of other runs."
MAX_ENTRIES = 4096  # addresses where waves begin that are guessed about
MAX_COMPARED = 64  # kernels whose instructions are compared with the tokens at an address


class Places(ColumnTable):
    """Where in the code: the rows of a table that a shader engine makes for itself."""

    codeobj: np.ndarray  # int64 [n]
    address: np.ndarray  # uint64 [n]

    def rows(self, asked: Places) -> np.ndarray:
        """Return the row of each of some places, int64, -1 if it has none; it must be sorted by both."""
        found = np.full(len(asked), -1, dtype=np.int64)
        for one in ascending(asked.codeobj).tolist():
            first, stop = np.searchsorted(self.codeobj, (one, one + 1))
            mine = np.flatnonzero(asked.codeobj == one)
            at = first + np.searchsorted(self.address[first:stop], asked.address[mine])
            inside = at < stop
            mine, at = mine[inside], at[inside]
            fits = self.address[at] == asked.address[mine]
            found[mine[fits]] = at[fits]
        return found


class Extent(Value):
    """A code object as far as its place matters."""

    id: int
    size: int  # bytes of memory
    entries: tuple[int, ...]  # addresses of its kernels


class Load(Value):
    """Load address of a code object: an address of the stream minus `base` is an address inside it."""

    id: int
    begin: int
    end: int
    base: int


class Claim(Value):
    """The kernel that was taken of several that fit an address where waves begin."""

    entry: int
    codeobj: int
    address: int  # inside the code object
    explained: int  # tokens that decided


class AddressMap(Value):
    """Code objects by where they lie; of those that overlap the last one counts."""

    loads: tuple[Load, ...]
    is_guessed: bool = False  # not in the stream: derived from where waves begin
    doubts: tuple[int, ...] = ()  # addresses where waves begin that several kernels claim
    claims: tuple[Claim, ...] = ()  # where several kernels fit, in doubt or not

    def find(self, addresses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the code object (int64, UNKNOWN: none) and the address inside of it (uint64) of each."""
        ids = np.full(len(addresses), UNKNOWN, dtype=np.int64)
        inside = addresses.astype(np.uint64)
        for load in self.loads:
            hit = (addresses >= np.uint64(load.begin)) & (addresses < np.uint64(load.end))
            ids[hit] = load.id
            # A base below 0 wraps around, as unsigned numbers do.
            inside[hit] = addresses[hit] - np.uint64(load.base % (1 << 64))
        return ids, inside


# Return how many tokens of waves that begin at an address a code object explains that is loaded there.
Explained = Callable[[int, Load], int]


def address_map(
    records: Sequence[CodeObjectRecord], extents: Sequence[Extent], entries: np.ndarray, explained: Explained
) -> AddressMap:
    """Return where code objects are loaded: from the stream, else from `entries` (where waves begin)."""
    loaded = [record for record in records if not record.is_unload]
    begins = ascending(entries[entries != 0])[:MAX_ENTRIES]
    if loaded:
        sizes = {extent.id: extent.size for extent in extents}
        loads = []
        for record in sorted(loaded, key=lambda one: one.time):
            end = record.address + (record.size or sizes.get(record.id, 0))
            loads.append(Load(record.id, record.address, min(end, (1 << 64) - 1), record.address))
        # In doubt are addresses inside several code objects, or inside one with two possible load addresses.
        claims = np.zeros(len(begins), dtype=np.int64)
        for load in dict.fromkeys(loads):
            claims += (begins >= np.uint64(load.begin)) & (begins < np.uint64(load.end))
        return AddressMap(tuple(loads), doubts=tuple(begins[claims > 1].tolist()))
    return _guessed(extents, begins.tolist(), bool(np.any(entries == 0)), explained)


def _guessed(
    extents: Sequence[Extent], entries: Iterable[int], begins_at_zero: bool, explained: Explained
) -> AddressMap:
    loads: dict[Load, int] = {}
    doubts: list[int] = []
    claims: list[Claim] = []
    bases = {  # where code objects would lie of which a kernel may begin there
        entry: [
            Load(extent.id, max(entry - kernel, 0), entry - kernel + extent.size, entry - kernel)
            for extent in extents
            for kernel in extent.entries
            if entry >= kernel and (entry - kernel) % PAGE == 0
        ]
        for entry in entries
    }
    often = Counter(load for found in bases.values() for load in found)
    for entry, found in bases.items():
        # The same place for most kernels, then the object that comes first.
        likely = sorted(found, key=lambda load: (-often[load], load.id))[:MAX_COMPARED]
        fits = {load: explained(entry, load) if len(likely) > 1 else 0 for load in likely}
        best = max(likely, key=lambda load: (fits[load], often[load]), default=None)
        if best is None:
            continue
        if len(likely) > 1:
            claims.append(Claim(entry, best.id, entry - best.base, fits[best]))
        if sum((fits[load], often[load]) == (fits[best], often[best]) for load in likely) > 1:
            doubts.append(entry)
        loads[best] = max(fits[best], loads.get(best, 0))
    ordered = sorted(loads, key=lambda load: loads[load])  # of those that overlap the last one counts
    plain = next((extent for extent in extents if extent.id == 0), None)
    if begins_at_zero and plain is not None and plain.entries:
        base = -plain.entries[0]
        ordered.append(Load(0, 0, plain.size + base, base))
    return AddressMap(tuple(ordered), is_guessed=True, doubts=tuple(doubts), claims=tuple(claims))


_OPEN = 2  # captures whose code objects a process keeps
SAMPLES = ("Issued", "Stalled", "NotIssuedReasons")  # names of the columns in a header
TABLES = ("sqtt_funcmap", "sqtt_funcmap_layout", "sqtt_funcmap_payloads")  # names of markers in a code.json
_NAMED = ("F", "U", "P")
_NUMBER = re.compile(r"\d{1,10}", re.ASCII)
_WORDS = re.compile(r"extra_payload_count=(\d{1,6})", re.ASCII)
_CLOCK = re.compile(r"shader_clock_bits=(\d{1,4});shader_clock_shift=(\d{1,4})", re.ASCII)


class Sidecar(Record):
    """The table of a `code.json`: facts that the code objects lack; without one it is empty.

    Costs of its rows are ignored: another decoder computed them, or they are absent.  Its texts take
    precedence over the disassembler's, and replace a missing code object.
    """

    markers: Mapping[str, Any] = field(default_factory=dict)  # names of markers: tables as the file has them
    row_of: Mapping[tuple[int, int], int] = field(default_factory=dict)  # by code object and address
    columns: CodeColumns | None = None
    labels: Mapping[tuple[int, int], tuple[str, str]] = field(default_factory=dict)  # symbol, name of kernels

    def texts(self) -> dict[int, dict[int, str]]:
        """The instructions of each code object, by address."""
        found: dict[int, dict[int, str]] = {}
        for (codeobj, address), row in self.row_of.items():
            assert self.columns is not None
            found.setdefault(codeobj, {})[address] = elide_right(self.columns.text[row], INSTRUCTION_LETTERS)
        return found

    def source(self, codeobj: int, address: int) -> str:
        """The source place of an instruction, "" if the file has none."""
        row = self.row_of.get((codeobj, address), -1)
        return self.columns.source[row] if self.columns is not None and row >= 0 else ""

    def samples(self, codeobj: int, address: int) -> list[Any]:
        """PC samples of an instruction in the order of SAMPLES: issued, stalled, reasons."""
        row = self.row_of.get((codeobj, address), -1)
        columns = self.columns
        if columns is None or row < 0:
            return [0, 0, []]
        counts = [int(columns.numbers[name][row]) for name in ("issued", "stalled")]
        return [*counts, [] if columns.reasons is None else columns.reasons[row].tolist()]

    @property
    def has_samples(self) -> bool:
        """Whether rows hold PC samples."""
        return self.columns is not None and self.columns.has_samples


def read_sidecar(folder: Path, names: frozenset[str], problems: Problems) -> Sidecar:
    """Return the contents of the `code.json` of a folder; never raises."""
    if CODE_TABLE not in names:
        return Sidecar()
    table, rows = code_rows(try_json(folder, CODE_TABLE, problems, Affects.CODE))
    columns = code_columns(rows, table.get("header"))
    places = zip(columns.numbers["codeobj"].tolist(), columns.numbers["vaddr"].tolist(), strict=True)
    row_of: dict[tuple[int, int], int] = {}
    labels: dict[tuple[int, int], tuple[str, str]] = {}  # of kernels that have a row of their own
    for row, (place, text) in enumerate(zip(places, columns.text, strict=True)):
        if not text.startswith((";", "label")):
            if place[0] >= 0:
                row_of.setdefault(place, row)
        elif text.startswith(";") and (symbol := elide_right(text.lstrip("; ").rstrip(": "), NAME_LETTERS)):
            labels.setdefault(place, (symbol, elide_right(columns.source[row], NAME_LETTERS)))
    markers = {name: table[name] for name in TABLES if isinstance(table.get(name), list)}
    return Sidecar(markers, row_of, columns, labels)


def marker_tables(section: bytes, codeobj: int) -> tuple[dict[str, list[list[Any]]], int]:
    """Read `.sqtt_funcmap`, the section of a code object in which a compiler names markers of its kernels.

    Returns the rows of TABLES as a code.json has them, and how many rows of the section are unusable.  It is
    text, a row a line, with a zero after the rows of each translation unit.

    ```
    F:3:_Z4loadPf@gemm.hip:41 -> gemm.hip:90    function, with its place and callers outwards
    U:4:load tiles                              scope that the program names
    P:5:vmem_load@gemm.hip:44                   point
    R:5:extra_payload_count=1                   words of data after marker 5
    M:shader_clock_bits=12;shader_clock_shift=4 markers carry the low bits of the clock
    K:_Z4gemmPf@gemm.hip:80                     kernel, without a marker
    ```
    Source: ROCm/rocm-systems, projects/rocprof-trace-decoder, docs/markers.
    """
    tables: dict[str, list[list[Any]]] = {name: [] for name in TABLES}
    names, layout, payloads = tables.values()
    unusable = 0
    for row in re.split(r"[\n\0]+", section.decode("utf-8", "replace")):
        kind, _, rest = row.strip().partition(":")
        number, _, text = rest.partition(":")
        if kind == "M" and (clock := _CLOCK.fullmatch(rest)):
            layout.append([codeobj, *map(int, clock.groups())])
        elif kind == "R" and (words := _WORDS.fullmatch(text)) and _NUMBER.fullmatch(number):
            payloads.append([codeobj, int(number), int(words[1])])
        elif kind == "K":
            names.append([codeobj, 0, kind, *_placed(kind, rest)])
        elif kind in _NAMED and text and _NUMBER.fullmatch(number):
            names.append([codeobj, int(number), kind, *_placed(kind, text)])
        else:
            unusable += kind in (*_NAMED, "M", "R")
    return tables, unusable


def _placed(kind: str, text: str) -> tuple[str, str]:
    """Name and source place; names of scopes may hold the sign between both."""
    name, _, place = text.partition("@")
    return (name, place) if kind != "U" and place.rpartition(":")[2].isdigit() else (text, "")


class Objects:
    """Code objects by number.  `problems` lists unreadable ones."""

    def __init__(
        self, folder: Path, codes: Sequence[CodeFile], sidecars: frozenset[str], gfxip: int = 0
    ) -> None:
        self.problems = Problems()
        sidecar = read_sidecar(folder, sidecars, self.problems)
        self.by_id: dict[int, CodeObject] = {}
        texts = sidecar.texts()
        for code in codes:
            if code.id in self.by_id:
                continue  # the capture's files say so
            try:
                self.by_id[code.id] = CodeObject.open(folder / code.name, code.id, texts=texts.get(code.id))
            except TraceError as error:
                self.problems.fail(code.name, str(error), error.hint, Affects.CODE)
        known = {one.id: generation_of(one.target) for one in self.by_id.values()}
        foreign = [self.by_id.pop(id) for id, one in known.items() if gfxip and one not in (0, gfxip)]
        if foreign and not self.by_id:  # else it is code of another GPU in a run of several
            text = "{0} is code of {1}, but the streams are of gfx{2}: no instruction is known."
            said = Message(text, foreign[0].name, foreign[0].target, gfxip)
            self.problems.fail(foreign[0].name, said, ONE_RUN, Affects.CODE)
        for number, rows in sorted(texts.items()):
            if number not in self.by_id:
                self.by_id[number] = CodeObject(number, CODE_TABLE, None, rows)
        self.sidecar: Sidecar = replace(sidecar, markers=self._markers(sidecar))

    def _markers(self, sidecar: Sidecar) -> dict[str, list[object]]:
        """Names of markers by the code objects, then those of the file, which win."""
        found: dict[str, list[object]] = {name: [] for name in TABLES}
        for one in self.by_id.values():
            if one.image is not None and one.image.markers:
                tables, unusable = marker_tables(one.image.markers, one.id)
                report_skipped(self.problems, one.name, unusable, "marker name")
                for name, rows in tables.items():
                    found[name] += rows
        return {name: [*rows, *sidecar.markers.get(name, ())] for name, rows in found.items()}

    @cached_property
    def extents(self) -> tuple[Extent, ...]:
        """Where kernels begin in each of them."""
        return tuple(
            Extent(one.id, one.size, tuple(kernel.address for kernel in one.kernels))
            for one in self.by_id.values()
        )

    @property
    def doubts(self) -> tuple[Problem, ...]:
        """Problems of the readable code objects in what was read of them so far."""
        return tuple(problem for one in self.by_id.values() for problem in one.problems)

    @property
    def target(self) -> str:
        """The GPU that all of them are for, "" if they differ or it is unknown."""
        targets = {one.target for one in self.by_id.values() if one.target}
        return targets.pop() if len(targets) == 1 else ""

    @property
    def disassemblers(self) -> frozenset[str]:
        """The disassemblers, with versions, of what was read of them so far."""
        return frozenset(one.disassembler for one in self.by_id.values() if one.disassembler)

    def program(self, codeobj: int, address: int) -> Program | None:
        """The function at an address of a code object, None if there is none."""
        found = self.by_id.get(codeobj)
        return None if found is None else found.program(address)

    def programs_at(self, places: Places) -> dict[tuple[int, int], Program]:
        """The functions that hold some places, by code object and first address."""
        found: dict[tuple[int, int], Program] = {}
        for codeobj, address in zip(places.codeobj.tolist(), places.address.tolist(), strict=True):
            program = self.program(codeobj, address)
            if program is not None and len(program):
                found[codeobj, int(program.address[0])] = program
        return found

    def with_lanes(self, code: CodeTable) -> CodeTable:
        """Return the code with what is known about the waves of its kernels."""

        def known(kernel: Kernel) -> Kernel:
            row = min(kernel.first + 1, len(code) - 1)
            found = self.by_id.get(int(code.codeobj[row]))
            return replace(kernel, lanes=found.lanes(int(code.address[row])) if found else 0)

        return replace(code, kernels=tuple(map(known, code.kernels)))

    def names(self, codeobj: int, address: int) -> tuple[str, str]:
        """Symbol and demangled name of the kernel that begins at an address, "" if none does."""
        return self._names.get((codeobj, address), ("", ""))

    @cached_property
    def _names(self) -> dict[tuple[int, int], tuple[str, str]]:
        named = ((one.id, kernel) for one in self.by_id.values() for kernel in one.kernels if kernel.name)
        found = {(id, kernel.address): (kernel.name, kernel.demangled) for id, kernel in named}
        return {**self.sidecar.labels, **found}

    def sources(self, codeobj: int, addresses: np.ndarray) -> list[str]:
        """The source place of each address, with the places that it was inlined into."""
        found = self.by_id.get(codeobj)
        return [""] * len(addresses) if found is None else source_texts(found.places(addresses))


@lru_cache(maxsize=_OPEN)
def _opened(
    folder: Path, codes: tuple[CodeFile, ...], sidecars: frozenset[str], gfxip: int, *_: tuple[int, ...]
) -> Objects:
    return Objects(folder, codes, sidecars, gfxip)


def objects_of(
    folder: Path, codes: tuple[CodeFile, ...], sidecars: frozenset[str], gfxip: int = 0
) -> Objects:
    """Return the code objects of a capture, of one generation or all (0); this process caches the last."""
    names = (*(code.name for code in codes), *sorted(sidecars))
    return _opened(folder, codes, sidecars, gfxip, *(mark_of(folder / name) for name in names))


def forget() -> None:
    """Forget the code objects, so that the next use reads them again: results may be incomplete."""
    _opened.cache_clear()
