"""The tables of a capture, as `rcv export` writes them, and text and source of its code rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.cost.place_text import leaf_texts
from rcv_py.analysis.overview.summary import problems
from rcv_py.api.answer import by_row
from rcv_py.api.errors import TooLarge, noted
from rcv_py.api.table import Table, joined
from rcv_py.base.errors import UsageError
from rcv_py.base.problems import Problem
from rcv_py.export.table_files import NO_WAVES
from rcv_py.export.tables import TABLES, Column
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.results.table import Words

OF_WAVES = tuple(name for name, table in TABLES.items() if table.part is not None)


@dataclass(frozen=True)
class CodeTexts:
    """Instruction and innermost source place of each code row."""

    text: tuple[str, ...]
    source: tuple[str, ...]

    def columns(self, rows: np.ndarray, prefix: str = "") -> dict[str, Column]:
        """Return the columns `text` and `source` of code rows; -1 is no row."""
        row = np.where((rows >= 0) & (rows < len(self.text)), rows, len(self.text)).astype(np.int64)
        return {
            f"{prefix}text": Words((*self.text, ""), row),
            f"{prefix}source": Words((*self.source, ""), row),
        }


def code_texts(trace: Trace) -> CodeTexts:
    """Return the texts of all code rows."""
    return CodeTexts(trace.code.text, leaf_texts(trace.code, trace.sources))


def of_batch(trace: Trace, name: str, batch: WaveBatch) -> Table:
    """Return `tokens`, `states` or `waits` of the waves of a batch."""
    part = TABLES[name].part
    assert part is not None
    columns = {key: _tight(column) for key, column in part(trace, batch).items()}
    return Table(columns, name, TABLES[name].spec)


def of_batches(trace: Trace, name: str, batches: Iterable[WaveBatch], limit: float) -> Table:
    """Return the same of all batches; raise TooLarge if it would take more than `limit` bytes."""
    found, size = [of_batch(trace, name, NO_WAVES)], 0
    for batch in batches:
        found.append(of_batch(trace, name, batch))
        size += sum(_size(found[-1].raw(column)) for column in found[-1])
        if size > limit:
            raise noted(TooLarge(name, limit))
    # Columns of a table without rows would widen those of the others.
    return joined(found[1:] or found)


def sources(trace: Trace) -> Table:
    """Return one row a source file that instructions come from."""
    rows = [
        (file.path, 0 if file.lines is None else len(file.lines), file.lines is not None, file.note)
        for file in trace.sources
    ]
    return Table(by_row(("path", "lines", "has_text", "note"), rows), "sources")


def source_lines(trace: Trace, path: str) -> tuple[str, ...]:
    """Return the lines of a source file by its path or the end of it; UsageError if there is no copy."""
    found = [file for file in trace.sources if file.path == path or file.path.endswith(f"/{path}")]
    if len(found) != 1 or found[0].lines is None:
        why = "several files end so" if len(found) > 1 else "the capture holds no copy of it"
        raise noted(
            UsageError(f"{path} cannot be shown: {why}.", hint="The table sources lists what there is.")
        )
    return found[0].lines


def file_problems(trace: Trace, unreadable: Mapping[int, str]) -> Table:
    """Return what is wrong with the files, and waves that could not be read: index row → why."""
    lost = [("warning", str(trace.waves.id(row)), text, "") for row, text in sorted(unreadable.items())]
    return problem_table(problems(trace), lost)


def problem_table(found: Iterable[Problem], more: Iterable[tuple[str, str, str, str]] = ()) -> Table:
    """Return one row a problem, then rows of severity, where, text and hint."""
    rows = [(str(problem.severity), problem.where, problem.text, problem.hint) for problem in found]
    return Table(by_row(("severity", "where", "text", "hint"), [*rows, *more]), "problems")


def _tight(column: Column) -> Column:
    """Numbers of texts take no more bytes than they need."""
    if not isinstance(column, Words):
        return column
    kind = np.uint8 if len(column.texts) < 256 else np.int32
    return Words(column.texts, column.code.astype(kind))


def _size(column: np.ndarray | Words) -> int:
    return column.code.nbytes if isinstance(column, Words) else column.nbytes
