"""Columns of places, instructions and waves, and how tables for people abbreviate paths."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rcv_py.analysis.cost.place_text import NO_PLACE, source_of
from rcv_py.base.text import short_paths, short_place
from rcv_py.model.trace import Trace
from rcv_py.results import kinds
from rcv_py.results.table import Column, DictionaryColumn, ResultTable


def instructions(trace: Trace, lines: np.ndarray) -> DictionaryColumn:
    """Return the text of each instruction, "" for an index outside the program."""
    return _words(lines, lambda line: trace.code.text[line] if 0 <= line < len(trace.code) else "")


def sources(trace: Trace, lines: np.ndarray) -> DictionaryColumn:
    """Return the innermost source place of each instruction as `path:line`, "" if it has none."""
    return _words(lines, lambda line: source_of(trace, line))


def placed(trace: Trace, rows: np.ndarray, prefix: str = "") -> dict[str, Column]:
    """Return the columns of instructions: indices, texts and innermost source places.

    With `producer_` they are called `producer`, `producer_text` and `producer_source`.
    """
    return {
        prefix.removesuffix("_") or "instruction": rows,
        f"{prefix}text": instructions(trace, rows),
        f"{prefix}source": sources(trace, rows),
    }


def placed_facts(trace: Trace, line: int) -> dict[str, Any]:
    """Return index, text and innermost source place of one instruction, for a document."""
    return {"instruction": line, "text": trace.code.text[line], "source": source_of(trace, line)}


def waves(trace: Trace, rows: np.ndarray) -> DictionaryColumn:
    """Return the name of the wave at each row of the wave index."""
    return _words(rows, lambda row: str(trace.waves.id(row)))


def short_sources(trace: Trace) -> dict[str, str]:
    """Return the abbreviations of source paths in tables; documents and CSV have them in full.

    The missing place of an instruction is a dash, unless the capture maps none: a column of dashes would be
    useless.
    """
    has_places = bool((trace.code.leaf >= 0).any())
    missing = {"": NO_PLACE} if has_places else {}
    return short_paths(source.path for source in trace.sources) | missing


def with_short_sources(table: ResultTable, trace: Trace) -> ResultTable:
    """Return the table for people: every source place as short as is unambiguous."""
    return with_short_places(table, short_sources(trace))


def with_short_places(table: ResultTable, short: Mapping[str, str]) -> ResultTable:
    """Return the table with every source place as `short` abbreviates its path."""
    columns = {
        name: _shorter(column, short) if table.spec[name].kind is kinds.SOURCE else column
        for name, column in table.columns.items()
    }
    return ResultTable(table.spec, columns)


def _shorter(column: Column, short: Mapping[str, str]) -> DictionaryColumn:
    if isinstance(column, DictionaryColumn):
        return DictionaryColumn([short_place(text, short) for text in column.texts], column.code)
    texts, code = np.unique(column.astype(str), return_inverse=True)
    return DictionaryColumn([short_place(text, short) for text in texts.tolist()], code.reshape(-1))


def _words(numbers: np.ndarray, text: Callable[[int], str]) -> DictionaryColumn:
    different, code = np.unique(numbers, return_inverse=True)
    return DictionaryColumn([text(number) for number in different.tolist()], code.reshape(-1))
