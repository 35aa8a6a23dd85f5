"""The code table of a raw capture: every program that has a token, with the totals of all engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from rcv_py.base.problems import Problems
from rcv_py.formats.derived.totals import Totals
from rcv_py.formats.isa.program import Program
from rcv_py.formats.raw.objects import SAMPLES, Objects, Places, Sidecar
from rcv_py.formats.uiout.code import Code, code_of

if TYPE_CHECKING:  # the engine needs numba, which a program that has not run does not
    from rcv_py.formats.raw.engine import Engine

HEADER = ("ISA", "_", "LineNumber", "Source", "Codeobj", "Vaddr", "Hit", "Latency", "Stall", "Idle")

Sources = Callable[[int, np.ndarray], Sequence[str]]
"""The source location of each address of a code object, innermost first, "" if unknown."""
Names = Callable[[int, int], tuple[str, str]]
"""Symbol and demangled name of the kernel at an address of a code object, "" if unknown."""


class CodeRows(Places):
    """The row of each instruction in the table: sorted places and their rows."""

    row: np.ndarray  # int64

    def find(self, places: Places) -> np.ndarray:
        """Return the row of each place, -1 if the table lacks it; int64."""
        return np.append(self.row, -1)[self.rows(places)]


def listing(
    engines: Sequence[Engine], objects: Objects, gfxip: int, problems: Problems
) -> tuple[Code, CodeRows]:
    """Return the code of a capture, by code object and address, and the row of each instruction in it."""
    programs: dict[tuple[int, int], Program] = {}
    for engine in engines:
        for key, program in engine.programs.items():
            programs.setdefault(key, program)
    sidecar = objects.sidecar
    rows, places = _rows(sorted(programs.items()), sidecar, objects.sources, objects.names)
    types = (np.int64, np.uint64, np.int64)
    columns = [np.array([one[at] for one in places], dtype=dtype) for at, dtype in enumerate(types)]
    numbers = CodeRows(*columns)
    sums = Totals.none(len(rows))
    for engine in engines:
        at_number = numbers.find(engine.places)
        known = at_number >= 0
        sums.add(at_number[known], engine.totals.at(known))
    header, no_samples = list(HEADER), [0, 0, []]
    for row, cost in zip(rows, zip(*(column.tolist() for column in sums), strict=True), strict=True):
        row.extend(cost)
        if sidecar.has_samples:
            row.extend(no_samples if row[0].startswith(";") else sidecar.samples(row[4], row[5]))
    if sidecar.has_samples:
        header += SAMPLES
    code = code_of({"header": header, **sidecar.markers}, rows, gfxip, problems)
    table = np.append(code.table.row_of_number, -1)
    found = replace(numbers, row=table[numbers.row].astype(np.int64))
    return replace(code, table=replace(code.table, hidden=_hidden(engines, found, len(code.table)))), found


def _hidden(engines: Sequence[Engine], rows: CodeRows, count: int) -> np.ndarray | None:
    """What other waves hide of each code row, if it is known of all engines."""
    sums = np.zeros((count, 3), dtype=np.int64)
    for engine in engines:
        if engine.hidden is None and len(engine.facts):
            return None
        if engine.hidden is not None:
            at = rows.find(engine.places)
            np.add.at(sums, at[at >= 0], engine.hidden[at >= 0])
    return sums if any(engine.hidden is not None for engine in engines) else None


def program_code(
    programs: Mapping[tuple[int, int], Program],
    *,
    gfxip: int,
    sources: Sources,
    names: Names,
    problems: Problems,
) -> Code:
    """Return the code of programs, in their order, that have not run: all totals are 0."""
    rows, _ = _rows(list(programs.items()), Sidecar(), sources, names)
    for row in rows:
        row.extend((0, 0, 0, 0))
    return code_of({"header": list(HEADER)}, rows, gfxip, problems)


def _rows(
    programs: Sequence[tuple[tuple[int, int], Program]], sidecar: Sidecar, sources: Sources, names: Names
) -> tuple[list[list[Any]], list[tuple[int, int, int]]]:
    """The rows of all programs as a code.json has them up to their totals, and where each instruction is."""
    source_places = _sources(programs, sources)
    rows: list[list[Any]] = []
    places: list[tuple[int, int, int]] = []  # code object, address, line number
    last = before = (-1, -1)
    for key, program in programs:
        if key < before:
            last = (-1, -1)  # a function that a kernel calls stands behind it
        before, codeobj = key, key[0]
        lines = zip(program.address.tolist(), program.text, source_places[key], strict=True)
        for at, (address, text, source) in enumerate(lines):
            if (codeobj, address) <= last:
                continue  # kernels of code objects may overlap
            last = codeobj, address
            symbol, nice = names(codeobj, address)
            symbol = symbol or (program.name if at == 0 else "")
            if symbol:
                rows.append([f"; {symbol}", 0, len(rows), nice or symbol, codeobj, address])
            places.append((codeobj, address, len(rows)))
            place = sidecar.source(codeobj, address) or source
            rows.append([text, 0, len(rows), place, codeobj, address])
    return rows, places


def _sources(
    programs: Sequence[tuple[tuple[int, int], Program]], sources: Sources
) -> dict[tuple[int, int], Sequence[str]]:
    """The source locations of each program; each code object is read once, since that starts a process."""
    found: dict[tuple[int, int], Sequence[str]] = {}
    for codeobj, group in groupby(programs, lambda one: one[0][0]):
        some = list(group)
        source_places = sources(codeobj, np.concatenate([program.address for _, program in some]))
        ends = np.cumsum([len(program) for _, program in some]).tolist()
        for (key, program), end in zip(some, ends, strict=True):
            found[key] = source_places[end - len(program) : end]
    return found


def kernel_names(
    entries: Sequence[tuple[int, int]], names: Names
) -> tuple[Mapping[tuple[int, int], int], Mapping[int, str]]:
    """Number kernels from 1 in the order of their entries (code object, address); return numbers and names.

    Number 0 means no known kernel.
    """
    numbers: dict[tuple[int, int], int] = {}
    for entry in entries:
        if entry[1]:
            numbers.setdefault(entry, len(numbers) + 1)
    called = {0: "0 / 0x0"}
    for (codeobj, address), number in numbers.items():
        called[number] = names(codeobj, address)[0] or f"{max(codeobj, 0)} / {address:#x}"
    return numbers, called
