"""Tables as data frames of pandas and tables of Arrow, where these packages are installed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rcv_py.api.errors import MissingPackage, noted
from rcv_py.export.table_files import arrow_column, valid_text
from rcv_py.results.table import Words

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from rcv_py.api.table import Table


def to_pandas(table: Table) -> pandas.DataFrame:
    """Return a data frame; whole numbers are of 64 bits, texts that repeat become categories."""
    package = _package("A data frame", "pandas", "pandas")
    return package.DataFrame({name: _series(package, table, name) for name in table})


def to_arrow(table: Table) -> pyarrow.Table:
    """Return a table of Arrow; texts that repeat become dictionaries."""
    package = _package("A table of Arrow", "pyarrow", "arrow")
    return package.table({name: arrow_column(package, _plain(table.raw(name))) for name in table})


def _package(what: str, name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise noted(MissingPackage(what, name, extra)) from error


def _series(package: Any, table: Table, name: str) -> Any:
    column = table.raw(name)
    if isinstance(column, np.ndarray) and column.dtype == object:
        return [valid_text(text) for text in column.tolist()]
    if not isinstance(column, Words):
        # Sums of a data frame keep its type: 32 bits would overflow without a word.
        return column.astype(np.int64) if column.dtype.kind in "iu" else column.copy()
    # Two numbers may stand for one text; categories must differ.
    texts, place = np.unique([valid_text(text) for text in column.texts] or [""], return_inverse=True)
    return package.Categorical.from_codes(place.reshape(-1)[column.code], categories=texts.astype(object))


def _plain(column: np.ndarray | Words) -> Any:
    is_text = isinstance(column, np.ndarray) and column.dtype == object
    return column.tolist() if is_text else column  # type: ignore[union-attr]
