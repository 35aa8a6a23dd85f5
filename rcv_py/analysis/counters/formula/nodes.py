"""A formula as a tree of frozen nodes, each with the characters it came from; and the table of axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

AXES = ("XCC", "SE", "CU", "TIME")
XCC, SE, CU, TIME = range(4)
ALL = -1  # every axis

AXIS_NAMES = {
    **dict.fromkeys(("XCC", "xcc", "0"), XCC),
    **dict.fromkeys(("SE", "se", "1"), SE),
    **dict.fromkeys(("CU", "cu", "WGP", "wgp", "INSTANCE", "instance", "2"), CU),
    **dict.fromkeys(("Time", "time", "TIME", "SAMPLES", "samples", "3"), TIME),
    **dict.fromkeys(("All", "all"), ALL),
}


@dataclass(frozen=True, slots=True)
class Node:
    """Anything that has a value: characters `start` to `stop` of the text."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A number that was written down."""

    value: float


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A counter, a constant or another definition."""

    text: str


@dataclass(frozen=True, slots=True)
class Prefix(Node):
    """`-x`, or `!x`: 1 where x is 0, else 0."""

    sign: str
    item: Node


@dataclass(frozen=True, slots=True)
class Chain(Node):
    """`first sign item sign item …`, all signs of one rank, from left to right.

    One node for the whole chain: a sum of a thousand terms is no deeper than one of two.
    """

    first: Node
    rest: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Reduce(Node):
    """`sum[x, axis=…]` and its like: the axes get length 1.  No axis means all of them."""

    function: str
    item: Node
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Largest(Node):
    """`max(a, b, …)` or `min(a, b, …)`, element by element."""

    function: str
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Select(Node):
    """`select[x, i]`, or `select[x, a:b:step]` if `end` is there."""

    item: Node
    index: Node
    end: Node | None
    step: Node | None
    axis: int


@dataclass(frozen=True, slots=True)
class Remove(Node):
    """`remove[x, i]`: everything but one place of an axis."""

    item: Node
    index: Node
    axis: int


@dataclass(frozen=True, slots=True)
class Delta(Node):
    """`delta[x]`: differences of neighbours along an axis."""

    item: Node
    axis: int


@dataclass(frozen=True, slots=True)
class Linear(Node):
    """`linear(n)`: 0 … n − 1 along an axis."""

    count: Node
    axis: int


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes a node is made of, from left to right."""
    if isinstance(node, Chain):
        return (node.first, *(item for _, item in node.rest))
    if isinstance(node, Largest):
        return node.items
    parts = (getattr(node, name, None) for name in ("item", "index", "end", "step", "count"))
    return tuple(part for part in parts if part is not None)


def names(node: Node) -> Iterator[Name]:
    """Yield every name a formula uses, as often as it does, from left to right."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, Name):
            yield here
        waiting += reversed(children(here))
