"""Columns as data frames of pandas and tables of Arrow, where these packages are installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rcv_py.api.errors import MissingPackage, noted
from rcv_py.export.meanings import Meaning
from rcv_py.export.table_files import arrow_table, valid_text, wide
from rcv_py.results.table import Words

if TYPE_CHECKING:
    import pandas
    import pyarrow

Columns = Mapping[str, np.ndarray | Words]


def to_pandas(columns: Columns) -> pandas.DataFrame:
    """Return a data frame; whole numbers are of 64 bits, texts that repeat become categories."""
    package = _package("A data frame", "pandas", "pandas")
    return package.DataFrame({name: _series(package, column) for name, column in columns.items()})


def to_arrow(columns: Columns, meanings: Mapping[str, Meaning], name: str) -> pyarrow.Table:
    """Return a table of Arrow; texts that repeat become dictionaries, fields carry their unit and meaning."""
    return arrow_table(_package("A table of Arrow", "pyarrow", "arrow"), columns, meanings, name)


def _package(what: str, name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise noted(MissingPackage(what, name, extra)) from error


def _series(package: Any, column: np.ndarray | Words) -> Any:
    if isinstance(column, np.ndarray):
        return wide(column).copy()
    # Two numbers may stand for one text; categories must differ.
    texts, place = np.unique([valid_text(text) for text in column.texts] or [""], return_inverse=True)
    return package.Categorical.from_codes(place.reshape(-1)[column.code], categories=texts.astype(object))
