"""Write immutable records as JSON and columns, and read them by the declared types of their classes.

A column is written as its number among all columns.  The input is untrusted: a value of another type, a
column of another type or length, and a number outside the range of captures are refused.
"""

import types
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from rcv_py.base.record import Record, Value
from rcv_py.base.text import Message
from rcv_py.formats.input.columns import LIMIT, bounds
from rcv_py.formats.packed.archive import Unreadable
from rcv_py.model import device
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import field_names
from rcv_py.model.waves import WaveIndex

DEPTH = 8  # records within records
_PLAIN = (str, int, float, bool)
_ANY = 1 << 64  # exclusive limit of numbers: addresses have 64 bits


def _types(**names: str) -> dict[str, np.dtype[Any]]:
    return {name: np.dtype(dtype) for dtype, some in names.items() for name in some.split()}


_COLUMNS: dict[type, dict[str, np.dtype[Any]]] = {
    WaveIndex: _types(i2="se simd slot cu sa", i4="wid kernel", i8="begin end size"),
    CodeTable: _types(
        i8="number codeobj hits latency stall idle samples_issued samples_stalled stall_reasons"
        " samples_unsure hidden",
        f8="sample_lanes sample_waves",
        u8="address",
        b1="is_label",
        u1="kind",
        i4="kernel chain_first chain_file chain_line",
    ),
    device.WaveEvents: _types(
        i8="time workgroup cluster", i2="se sa cu simd slot me pipe", b1="is_start", i4="kernel"
    ),
    device.HardwareEvents: _types(i8="time", i2="se kind me pipe", i4="flags", u8="payload"),
    device.CounterSamples: _types(i8="time", i4="value", i2="cu bank"),
    device.SpmSeries: _types(i8="time", f8="value"),
    device.OtherSimd: _types(i8="time duration", u1="kind"),
    device.ShaderData: _types(i8="time", u4="value", i2="cu simd slot flags"),
    device.StateCurve: _types(i8="time", i4="waves"),
    device.ClockSamples: _types(i8="shader realtime"),
}
_WIDTH: dict[tuple[type, str], int] = {
    (device.CounterSamples, "value"): 4,
    (CodeTable, "hidden"): 3,
}  # columns of several numbers a row
_WIDE: set[tuple[type, str]] = {(CodeTable, "stall_reasons")}  # any number of them a row
_BORDERS: set[tuple[type, str]] = {(CodeTable, "chain_first")}  # one more than rows
_APART: set[tuple[type, str]] = {(CodeTable, "chain_file"), (CodeTable, "chain_line")}
_ODD = "something is of another kind than it should be"
_hints = cache(get_type_hints)


def written(value: object, columns: list[np.ndarray], without: Sequence[str] = ()) -> Any:
    """Return a record as JSON; its columns are added to the list.  Fields `without` are left out."""
    if isinstance(value, np.ndarray):
        columns.append(value)
        return len(columns) - 1
    kind: Any = type(value)
    if _is_record(kind):
        names = [name for name in field_names(kind) if name not in without]
        return {name: written(getattr(value, name), columns) for name in names}
    if isinstance(value, Mapping):
        return [[key, written(one, columns)] for key, one in value.items()]
    if isinstance(value, tuple | list):
        if set(map(type, value)) <= {str}:  # the file of each wave: many
            return list(value)
        return [written(one, columns) for one in value]
    return value


def read(kind: type, data: object, columns: Sequence[np.ndarray], **given: object) -> Any:
    """Read a record of a class from JSON and columns; raise Unreadable for anything else.

    Fields that are `given` are not read.  An absent field has its default.
    """
    return _Reader(columns).record(kind, data, DEPTH, given)


class _Reader(Value):
    """Converts written values to the declared types."""

    columns: Sequence[np.ndarray]

    def record(self, kind: type, data: object, depth: int, given: Mapping[str, object]) -> Any:
        """A record, whose columns have the same number of rows."""
        if not isinstance(data, dict) or not depth:
            raise Unreadable(Message("its table {0} is none", kind.__name__))
        hints = _hints(kind)
        there = [name for name in hints if name in data and name not in given]
        values = {name: self.value(hints[name], data[name], depth - 1) for name in there}
        columns = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        for name, column in columns.items():
            _check(kind, name, column)
        rows = {len(column) - ((kind, name) in _BORDERS) for name, column in columns.items()
                if (kind, name) not in _APART}  # fmt: skip
        if len(rows) > 1:
            raise Unreadable(Message("the columns of {0} differ in length", kind.__name__))
        try:
            return kind(**values, **given)
        except TypeError as error:
            raise Unreadable(Message("its table {0} lacks something", kind.__name__)) from error

    def value(self, hint: Any, data: object, depth: int) -> object:
        """A value of any declared type."""
        origin, inner = get_origin(hint), get_args(hint)
        if origin in (Union, types.UnionType):  # with None
            return None if data is None else self.value(inner[0], data, depth)
        if origin is None:
            return self.single(hint, data, depth)
        if not isinstance(data, list) or not depth:
            raise Unreadable(_ODD)
        return self.several(origin, inner, data, depth)

    def single(self, hint: type, data: object, depth: int) -> object:
        """A number, a text, one of some words, a column or a record."""
        if _is_record(hint):
            return self.record(hint, data, depth, {})
        if hint is np.ndarray:
            return self.columns[_whole(data, len(self.columns))]
        if issubclass(hint, StrEnum) and data in [*map(str, hint)]:
            return hint(str(data))
        if type(data) is int and hint is float:
            return float(data)
        if type(data) is not hint or hint not in _PLAIN:
            raise Unreadable(_ODD)
        return _whole(data, _ANY) if hint is int else data

    def several(self, origin: type, inner: tuple[Any, ...], data: list[Any], depth: int) -> object:
        """A list of values of one type, or of one type each, or pairs of key and value."""
        if inner == (str, ...) and set(map(type, data)) <= {str}:  # the texts of a program
            return tuple(data)
        if origin is tuple and inner[1:] == (...,):
            return tuple([self.value(inner[0], one, depth - 1) for one in data])
        if origin is tuple and len(inner) == len(data):
            return tuple([self.value(*pair, depth - 1) for pair in zip(inner, data, strict=True)])
        if origin is Mapping and all(isinstance(pair, list) and len(pair) == 2 for pair in data):
            return {_whole(key, _ANY): self.value(inner[1], one, depth - 1) for key, one in data}
        raise Unreadable(_ODD)


def _whole(data: object, stop: int) -> int:
    if type(data) is not int or not (0 if stop < _ANY else -LIMIT) <= data < stop:
        raise Unreadable(_ODD)
    return data


def _is_record(kind: type) -> bool:
    return issubclass(kind, Record | Value) or hasattr(kind, "_fields")


def _check(kind: type, name: str, column: np.ndarray) -> None:
    """Raise Unreadable for a column of another type or shape than the class declares."""
    width = column.shape[1] if column.ndim > 1 else 0
    is_shaped = width == _WIDTH.get((kind, name), 0) or ((kind, name) in _WIDE and column.ndim > 1)
    if _COLUMNS.get(kind, {}).get(name) != column.dtype or not is_shaped:
        raise Unreadable(Message("the column {0} of {1} is of another type", name, kind.__name__))
    if column.dtype == np.int64:
        low, high = bounds(column.reshape(-1))
        if low <= -LIMIT or high >= LIMIT:
            large = Message("the column {0} of {1} has a number that is too large", name, kind.__name__)
            raise Unreadable(large)
