"""Whether two captures or results hold the same, to the last number and type."""

from collections.abc import Iterator, Mapping
from math import isnan
from typing import Any

import numpy as np
from msgspec import Struct

from rcv_py.model.trace import Trace
from rcv_py.work.load import plan

ELSEWHERE = ("path", "reader", "facts")  # of a trace: where it is, not what it holds


def differences(one: Any, other: Any, place: str = "", without: tuple[str, ...] = ()) -> list[str]:
    """The places at which two values differ; nan equals nan."""
    return list(_differences(one, other, place, without))


def _differences(one: Any, other: Any, place: str, without: tuple[str, ...]) -> Iterator[str]:
    is_text = isinstance(one, str) and isinstance(other, str)  # a file keeps a message as its English text
    if type(one) is not type(other) and not is_text:
        yield f"{place}: {type(one).__name__} and {type(other).__name__}"
        return
    parts, others = (dict(_parts(value, without)) for value in (one, other))
    if parts.keys() != others.keys() or (not parts and not _same(one, other)):
        yield f"{place}: {str(one)[:200]} and {str(other)[:200]}"
        return
    for name, part in parts.items():
        yield from _differences(part, others[name], f"{place}{name}", ())


def _parts(value: Any, without: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """What a value is made of, by name."""
    if isinstance(value, Struct):
        names = (name for name in value.__struct_fields__ if name not in without)
        yield from ((f".{name}", getattr(value, name)) for name in names)
    elif hasattr(value, "_asdict"):
        yield from ((f".{name}", part) for name, part in value._asdict().items() if name not in without)
    elif isinstance(value, Mapping):
        yield from ((f"[{key!r}]", one) for key, one in value.items())
    elif isinstance(value, tuple | list):
        yield from ((f"[{number}]", one) for number, one in enumerate(value))


def _same(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray):
        return bool(one == other) or (isinstance(one, float) and isnan(one) and isnan(other))
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def trace_differences(one: Trace, other: Trace, without: tuple[str, ...] = ()) -> list[str]:
    """The places at which the tables of two captures, or the columns of their waves, differ."""
    found = differences(one, other, "trace", (*ELSEWHERE, *without))
    for job in plan(one.waves):
        found += differences(one.reader.columns(job), other.reader.columns(job), f"waves {job[:3]}")
    return found
