"""`code.json` next to raw files: facts that the code objects lack, by code object and address.

Costs of its rows are ignored: another decoder computed them, or they are absent.  Its texts take precedence
over the disassembler's, and replace a missing code object.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rcv_py.base.problems import Affects, Problems
from rcv_py.base.runs import run_starts
from rcv_py.base.text import elide_right
from rcv_py.formats.input.files import try_json
from rcv_py.formats.input.limits import INSTRUCTION_LETTERS, NAME_LETTERS
from rcv_py.formats.isa.marker_names import TABLES
from rcv_py.formats.raw.files import CODE_TABLE
from rcv_py.formats.uiout.code import CodeColumns, code_columns

_SAMPLES = ("issued", "stalled")


@dataclass(frozen=True, eq=False)
class Sidecar:
    """The table of a `code.json`; without one it is empty."""

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
        counts = [int(columns.numbers[name][row]) for name in _SAMPLES]
        return [*counts, [] if columns.reasons is None else columns.reasons[row].tolist()]

    @property
    def has_samples(self) -> bool:
        """Whether rows hold PC samples."""
        return self.columns is not None and self.columns.has_samples


SAMPLES = ("Issued", "Stalled", "NotIssuedReasons")  # names of the columns in a header


def read_sidecar(folder: Path, names: frozenset[str], problems: Problems) -> Sidecar:
    """Return the contents of the `code.json` of a folder; never raises."""
    if CODE_TABLE not in names:
        return Sidecar()
    data = try_json(folder, CODE_TABLE, problems, Affects.CODE)
    table = {"code": data} if isinstance(data, list) else data if isinstance(data, dict) else {}
    rows = table.get("code")
    columns = code_columns(rows if isinstance(rows, list) else [], table.get("header"))
    is_text = np.array([not text.startswith((";", "label")) for text in columns.text], dtype=bool)
    codeobj, address = columns.numbers["codeobj"], columns.numbers["vaddr"]
    usable = np.flatnonzero(is_text & (codeobj >= 0))
    order = usable[np.lexsort((usable, address[usable], codeobj[usable]))]
    order = order[run_starts(codeobj[order], address[order])]  # of two at one place the first
    keys = zip(codeobj[order].tolist(), address[order].tolist(), strict=True)
    return Sidecar(
        markers={name: table[name] for name in TABLES if isinstance(table.get(name), list)},
        row_of=dict(zip(keys, order.tolist(), strict=True)),
        columns=columns,
        labels=_labels(columns, np.flatnonzero(~is_text)),
    )


def _labels(columns: CodeColumns, rows: np.ndarray) -> dict[tuple[int, int], tuple[str, str]]:
    """Symbol and name of the kernels that have a row of their own, by where they begin."""
    found: dict[tuple[int, int], tuple[str, str]] = {}
    for row in rows.tolist():
        symbol = elide_right(columns.text[row].lstrip("; ").rstrip(": "), NAME_LETTERS)
        place = int(columns.numbers["codeobj"][row]), int(columns.numbers["vaddr"][row])
        if columns.text[row].startswith(";") and symbol:
            found.setdefault(place, (symbol, elide_right(columns.source[row], NAME_LETTERS)))
    return found
