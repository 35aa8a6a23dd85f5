"""A dictionary that refuses to register the same id twice."""

from collections.abc import Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Registry(Generic[Item]):
    """Items by id, in the order in which they were registered."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._items: dict[str, Item] = {}

    def add(self, name: str, item: Item) -> None:
        """Register `item`; raise ValueError if the id is taken."""
        if name in self._items:
            raise ValueError(f"{self._what} {name!r} is registered twice")
        self._items[name] = item

    def __getitem__(self, name: str) -> Item:
        return self._items[name]

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    def ids(self) -> tuple[str, ...]:
        """All ids, in the order of registration."""
        return tuple(self._items)
