"""Nodes of trees that are shown, printed and sorted."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(eq=False, kw_only=True)
class TreeNode:
    """A node with its children, made from the leaves up; a node belongs to one tree."""

    children: list[Self] = field(default_factory=list)
    parent: Self | None = field(default=None, repr=False, init=False)
    row: int = field(default=0, init=False)  # among its siblings, in the current order
    number: int = field(default=0, init=False)  # among its siblings, in creation order

    def __post_init__(self) -> None:
        for row, child in enumerate(self.children):
            child.parent = self  # type: ignore[assignment]  # Self of the heirs
            child.row = child.number = row

    @property
    def is_rest(self) -> bool:
        """Whether it sums up siblings without their own nodes, and so stays below the other siblings."""
        return False

    def walk(self) -> Iterator[Self]:
        """Yield this node and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def sort(self, key: Any, *, is_descending: bool) -> None:
        """Sort the children of this node and of all below it; stable for equal keys."""
        self.children.sort(key=lambda child: child.number)
        self.children.sort(key=key, reverse=is_descending)
        self.children.sort(key=lambda child: child.is_rest)
        for row, child in enumerate(self.children):
            child.row = row
            if child.children:
                child.sort(key, is_descending=is_descending)
