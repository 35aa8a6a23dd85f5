"""Whether two results are the same to the last digit, whatever they are made of."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass

import numpy as np


def differences(one: object, other: object) -> list[str]:
    """Return where two results differ: in a type, a dtype, a length or a value; nan equals nan."""
    mine, theirs = dict(_leaves(one, "")), dict(_leaves(other, ""))
    places = dict.fromkeys([*mine, *theirs])
    return [f"{at}: {mine.get(at)} … {theirs.get(at)}" for at in places if mine.get(at) != theirs.get(at)]


def _leaves(value: object, at: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the exact text of everything in a value that has no parts."""
    parts = _parts(value)
    if parts is None:
        yield at, f"{value.dtype} {value.tolist()}" if isinstance(value, np.ndarray) else repr(value)
        return
    yield at, type(value).__name__
    for name, part in parts:
        yield from _leaves(part, f"{at}.{name}")


def _parts(value: object) -> Iterable[tuple[object, object]] | None:
    if is_dataclass(value):
        return [(field.name, getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Mapping):
        return value.items()
    return enumerate(value) if isinstance(value, tuple | list) else None
