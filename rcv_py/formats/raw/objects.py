"""The code objects of a raw capture, opened once per process, with the `code.json` next to them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from rcv_py.base.errors import TraceError
from rcv_py.base.problems import Affects, Problem, Problems
from rcv_py.formats.isa.code_object import CodeObject
from rcv_py.formats.isa.marker_names import TABLES, marker_tables
from rcv_py.formats.isa.program import Program
from rcv_py.formats.raw.addresses import Extent, Places
from rcv_py.formats.raw.files import CODE_TABLE, CodeFile
from rcv_py.formats.raw.sidecar import Sidecar, read_sidecar
from rcv_py.formats.uiout.json_rows import report_skipped
from rcv_py.model.code import CodeTable

_OPEN = 2  # captures whose code objects a process keeps


class Objects:
    """Code objects by number.  `problems` lists unreadable ones."""

    def __init__(self, folder: Path, codes: Sequence[CodeFile], sidecars: frozenset[str]) -> None:
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
        for number, rows in texts.items():
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
        rows = [min(kernel.first + 1, len(code) - 1) for kernel in code.kernels]
        objects = [self.by_id.get(int(code.codeobj[row])) for row in rows]
        lanes = [
            one.lanes(int(code.address[row])) if one else 0 for one, row in zip(objects, rows, strict=True)
        ]
        kernels = [kernel._replace(lanes=one) for kernel, one in zip(code.kernels, lanes, strict=True)]
        return replace(code, kernels=tuple(kernels))

    def names(self, codeobj: int, address: int) -> tuple[str, str]:
        """Symbol and demangled name of the kernel that begins at an address, "" if none does."""
        return self._names.get((codeobj, address), ("", ""))

    @cached_property
    def _names(self) -> dict[tuple[int, int], tuple[str, str]]:
        kernels = {
            (one.id, kernel.address): (kernel.name, kernel.demangled)
            for one in self.by_id.values()
            for kernel in one.kernels
            if kernel.name
        }
        return {**self.sidecar.labels, **kernels}

    def sources(self, codeobj: int, addresses: np.ndarray) -> list[str]:
        """The source place of each address, with the places that it was inlined into."""
        found = self.by_id.get(codeobj)
        if found is None:
            return [""] * len(addresses)
        from rcv_py.formats.raw.listing import source_texts  # noqa: PLC0415 - it imports a compiler

        return source_texts(found.places(addresses))


@lru_cache(maxsize=_OPEN)
def _opened(
    folder: Path, codes: tuple[CodeFile, ...], sidecars: frozenset[str], marks: tuple[int, ...]
) -> Objects:
    return Objects(folder, codes, sidecars)


def objects_of(folder: Path, codes: tuple[CodeFile, ...], sidecars: frozenset[str]) -> Objects:
    """Return the code objects of a capture; this process caches the last ones."""
    marks = []
    for name in (*(code.name for code in codes), *sorted(sidecars)):
        try:
            marks.append((folder / name).stat().st_mtime_ns)
        except OSError:
            marks.append(0)
    return _opened(folder, codes, sidecars, tuple(marks))


def forget() -> None:
    """Forget the code objects, so that the next use reads them again: results may be incomplete."""
    _opened.cache_clear()
