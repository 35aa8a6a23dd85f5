"""Dataclasses that are cheap to declare are dataclasses."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import KW_ONLY, FrozenInstanceError, field
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pytest

from rcv_py.base.records import dataclass

OPTIONS = [
    dict(zip(("frozen", "slots", "eq", "kw_only"), row, strict=True))
    for row in product((False, True), repeat=4)
]
CALLS: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((1,), {}),
    ((1, "b"), {}),
    ((1, "b", [3]), {}),
    ((1,), {"more": [3]}),
    ((), {"size": 1, "name": "b", "more": [3]}),
    ((), {"size": 1}),
    ((), {"size": np.arange(3)}),
    ((), {}),
    ((1, "b", [3], 4), {}),
    ((1,), {"size": 1}),
    ((1,), {"what": 1}),
    ((1,), {"row": 1}),
)


def pair(options: dict[str, bool]) -> tuple[type, type]:
    """The same class, once ours and once the standard library's."""
    made = []
    for declare in (dataclass, dataclasses.dataclass):

        class Part:
            kind: ClassVar[str] = "part"
            size: int
            name: str = "a"
            more: list[int] = field(default_factory=list, repr=False, compare=False)
            row: int = field(default=7, init=False)

        made.append(declare(**options)(Part))
    return made[0], made[1]


def outcome(call: Any) -> Any:
    """What a call gives, or that it is refused: with slots the library raises what is in no manual."""
    try:
        return call()
    except (TypeError, AttributeError):
        return TypeError


def said(cls: type, places: tuple[Any, ...], names: dict[str, Any]) -> Any:
    """What an object of a class is and allows, made of values by place and by name."""
    one: Any = outcome(lambda: cls(*places, **names))
    if one is TypeError:
        return "not made"
    other, changed = cls(*places, **names), dataclasses.replace(one, name="z")
    return repr([
        repr(one), dataclasses.asdict(one), one == other, one == 1, one != changed, changed.name,
        outcome(lambda: hash(one) == hash(other)),
        outcome(lambda: setattr(one, "size", 2)), one.size,
        outcome(lambda: delattr(one, "size")), hasattr(one, "size"),
        outcome(lambda: setattr(one, "color", 2)),
        outcome(lambda: copy.copy(other).name),
    ])  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_they_do_what_those_of_the_standard_library_do(options: dict[str, bool]) -> None:
    ours, theirs = pair(options)
    assert ours.__match_args__ == theirs.__match_args__  # type: ignore[attr-defined]
    assert hasattr(ours, "__slots__") == hasattr(theirs, "__slots__") == options["slots"]
    for places, names in CALLS:
        assert said(ours, places, names) == said(theirs, places, names)


@dataclass(frozen=True, slots=True)
class Span:
    begin: int
    _: KW_ONLY
    end: int = 4

    def __post_init__(self) -> None:
        if self.end < self.begin:
            raise ValueError("it ends before it begins")


@dataclass(frozen=True, slots=True)
class Named(Span):
    name: str = ""

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Sums:
    values: np.ndarray

    @cached_property
    def total(self) -> int:
        return int(self.values.sum())


class Noted(Sums):
    note = ""


def test_one_can_be_sent_to_another_process_and_matched() -> None:
    named = pickle.loads(pickle.dumps(Named(1, "n", end=2)))
    assert (named.begin, named.end, named.name, repr(named)) == (1, 2, "n", "n")
    assert named == Named(1, "n", end=2)
    match named:
        case Named(1, "n"):
            pass
        case _:
            pytest.fail("its fields have no places")


@dataclass(frozen=True, eq=False)
class Told:
    """What computes something of itself, and keeps it."""

    parts: list[Any]
    name: str = "told"  # Python does not notice what happens to a dictionary of one

    @cached_property
    def size(self) -> int:
        return len(self.parts)


class Asks:
    """A part that asks for that while it is being sent, as another thread may at that moment."""

    def __init__(self, whole: list[Told]) -> None:
        self.whole = whole

    def __reduce__(self) -> tuple[Any, ...]:
        assert self.whole[0].size == 1
        return list, ()


def test_one_can_be_sent_while_somebody_asks_for_what_it_keeps() -> None:
    whole: list[Told] = []
    whole.append(Told([Asks(whole)]))
    assert pickle.loads(pickle.dumps(whole[0])).parts == [[]]


def test_what_a_class_checks_and_says_itself_is_asked() -> None:
    with pytest.raises(ValueError, match="before it begins"):
        Span(5)
    with pytest.raises(ValueError, match="before it begins"):
        dataclasses.replace(Span(1), begin=9)


def test_only_what_no_decorator_knows_can_be_changed() -> None:
    noted = Noted(np.arange(3))
    noted.note = "later"
    assert (noted.total, noted.note) == (3, "later")
    with pytest.raises(FrozenInstanceError):
        noted.values = np.arange(2)
    with pytest.raises(FrozenInstanceError):
        Sums(np.arange(3)).total = 4


def test_one_that_holds_itself_can_be_shown() -> None:
    values: list[Any] = []
    one = Sums(values)  # type: ignore[arg-type]
    values.append(one)
    assert repr(one) == "Sums(values=[...])"


def test_one_with_the_same_array_is_equal() -> None:
    values = np.arange(3)
    assert Sums(values) == Sums(values)
    assert Sums(values) != 1
