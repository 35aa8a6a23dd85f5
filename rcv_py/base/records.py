"""Dataclasses that cost little to declare.

`dataclasses.dataclass` writes a program for each method of each class and compiles it: half a millisecond a
class, and a window needs hundreds of classes before its first picture.  Here all classes share their methods,
which are told the names of the fields.  What the standard library does with its own classes (`fields`,
`replace`, `asdict`, `match`) it does with these, and a type checker is told that they are the same
(`records.pyi`).  Making an object takes as long by places, and half a microsecond longer by names.
"""

# ruff: noqa: N807 - functions here are named as the methods that they become

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from itertools import repeat
from operator import attrgetter, itemgetter
from reprlib import recursive_repr
from typing import Any

Methods = dict[str, Callable[..., Any] | None]


def dataclass(
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    kw_only: bool = False,
    weakref_slot: bool = False,
) -> Callable[[type], type]:
    """Make a class a dataclass; the options are those of the standard library, and mean the same."""

    def declared(cls: type) -> type:
        made = dataclasses.dataclass(
            init=False, repr=False, eq=False, kw_only=kw_only, slots=slots, weakref_slot=weakref_slot
        )(cls)
        fields = dataclasses.fields(made)
        names = [one.name for one in fields]
        methods = _making(fields, hasattr(made, "__post_init__"))
        methods |= _showing([one.name for one in fields if one.repr])
        methods |= _comparing([one.name for one in fields if one.compare], is_hashed=frozen) if eq else {}
        methods |= _guarding(made, frozenset(names)) if frozen else {}
        if not slots:
            methods |= _SENDING
        elif frozen:
            methods |= _pickling(names)
        for name, method in methods.items():
            if name not in cls.__dict__:
                setattr(made, name, method)
        return made

    return declared


def _making(fields: Sequence[Field[Any]], has_more: bool) -> Methods:
    placed = [one for one in fields if one.init and not one.kw_only]
    ordered = [*placed, *(one for one in fields if not one.init or one.kw_only)]
    names, most = [one.name for one in ordered], len(placed)
    is_all_placed = most == len(names)
    known = frozenset(names)
    all_of = itemgetter(*names) if len(names) > 1 and all(one.init for one in fields) else None
    put = object.__setattr__

    def __init__(self: Any, /, *values: Any, **named: Any) -> None:
        if all_of is not None and not values and named.keys() == known:
            values = all_of(named)
        elif named or len(values) != most or not is_all_placed:
            if len(values) > most:
                raise TypeError(f"{_called(self)} takes {most} values by place, not {len(values)}")
            values = (*values, *_others(self, ordered[len(values) :], named))
        any(map(put, repeat(self), names, values))  # of Nones: as a loop, and a third faster
        if has_more:
            self.__post_init__()

    return {"__init__": __init__}


def _others(made: object, fields: Sequence[Field[Any]], named: dict[str, Any]) -> list[Any]:
    """Values of the fields that have none by their place."""
    values = []
    for one in fields:
        if one.name in named and one.init:
            values.append(named.pop(one.name))
        elif one.default is not MISSING:
            values.append(one.default)
        elif one.default_factory is not MISSING:
            values.append(one.default_factory())
        else:
            raise TypeError(f"{_called(made)} lacks a value for {one.name}")
    if named:
        raise TypeError(f"{_called(made)} takes no {', '.join(named)}, or has it by its place")
    return values


def _called(made: object) -> str:
    return f"{type(made).__qualname__}()"


def _showing(names: Sequence[str]) -> Methods:
    def __repr__(self: Any) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    return {"__repr__": recursive_repr()(__repr__)}


def _comparing(names: Sequence[str], is_hashed: bool) -> Methods:
    values = attrgetter(*names, "__class__")  # a tuple, which finds the same array equal, also of one field

    def __eq__(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__ if is_hashed else None}


def _guarding(made: type, names: frozenset[str]) -> Methods:
    """A class without a decorator that follows may have more attributes, which can be changed."""

    def __setattr__(self: object, name: str, value: object) -> None:
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self: object, name: str) -> None:
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _pickling(names: Sequence[str]) -> Methods:
    def __getstate__(self: object) -> list[Any]:
        return [getattr(self, name) for name in names]

    def __setstate__(self: object, state: Sequence[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": __getstate__, "__setstate__": __setstate__}


def _attributes(self: object) -> dict[str, Any]:
    """All that an object has, as it is now: another thread may ask for what it computes once and keeps."""
    return vars(self).copy()


_SENDING: Methods = {"__getstate__": _attributes}
