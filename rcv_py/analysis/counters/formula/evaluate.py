"""The value of a formula: float64 tensors with the axes XCC, SE, CU and time.

A dimension is shared or 1.  Comparisons and logic give 0 or 1; true is what is not 0.  Dividing by zero gives
inf or nan, never an error.  The reference computes in float32, which is where its last digits come from.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rcv_py.analysis.counters.formula.errors import FormulaError, FormulaKind
from rcv_py.analysis.counters.formula.nodes import (
    ALL,
    AXES,
    Chain,
    Delta,
    Largest,
    Linear,
    Name,
    Node,
    Number,
    Prefix,
    Reduce,
    Remove,
    Select,
)
from rcv_py.model.modes import ReferenceRule

MAX_ELEMENTS = 1 << 24  # of one tensor: 128 MB
DIMENSIONS = len(AXES)

Lookup = Callable[[Name], np.ndarray]
_Function = Callable[..., np.ndarray]

_SIGNS: dict[str, _Function] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    ">": np.greater,
    "<=": np.less_equal,
    ">=": np.greater_equal,
    "&": np.logical_and,
    "|": np.logical_or,
}
_LARGEST: dict[str, _Function] = {"max": np.maximum, "min": np.minimum}
_REDUCE: dict[str, _Function] = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}


def scalar(value: float) -> np.ndarray:
    """Return a number as a tensor [1, 1, 1, 1]."""
    return np.full((1,) * DIMENSIONS, value, dtype=np.float64)


def shape_text(value: np.ndarray) -> str:
    """Return the shape for people: `2 SE × 159 TIME`, or `one number`."""
    parts = [f"{length:,} {axis}" for axis, length in zip(AXES, value.shape, strict=True) if length != 1]
    return " × ".join(parts) or "one number"


def evaluate(node: Node, lookup: Lookup, rule: ReferenceRule = ReferenceRule.OURS) -> np.ndarray:
    """Return the tensor [XCC, SE, CU, T] of a tree; `lookup` gives the tensors of names.

    Raise FormulaError with the characters of the part that has no value.
    """
    with np.errstate(all="ignore"):
        return _Evaluator(lookup, rule).value(node)


class _Evaluator:
    """One method a kind of node."""

    def __init__(self, lookup: Lookup, rule: ReferenceRule) -> None:
        self.lookup = lookup
        self.is_reference = rule is ReferenceRule.REFERENCE

    def value(self, node: Node) -> np.ndarray:
        return getattr(self, type(node).__name__.lower())(node)

    def number(self, node: Number) -> np.ndarray:
        return scalar(node.value)

    def name(self, node: Name) -> np.ndarray:
        return self.lookup(node)

    def prefix(self, node: Prefix) -> np.ndarray:
        value = self.value(node.item)
        return -value if node.sign == "-" else (value == 0).astype(np.float64)

    def chain(self, node: Chain) -> np.ndarray:
        value = self.value(node.first)
        for sign, item in node.rest:
            value = self.joined(_SIGNS[sign], value, self.value(item), node, item)
        return value

    def largest(self, node: Largest) -> np.ndarray:
        value = self.value(node.items[0])
        for item in node.items[1:]:
            value = self.joined(_LARGEST[node.function], value, self.value(item), node, item)
        return value

    def joined(
        self, function: _Function, left: np.ndarray, right: np.ndarray, whole: Node, item: Node
    ) -> np.ndarray:
        pairs = zip(left.shape, right.shape, strict=True)
        if any(a != b and 1 not in (a, b) for a, b in pairs):
            sentence = f"{shape_text(left)} and {shape_text(right)} do not fit each other."
            raise FormulaError(FormulaKind.SHAPE, sentence, whole.start, item.stop)
        shape = np.broadcast_shapes(left.shape, right.shape)
        _check_size(int(np.prod(shape, dtype=np.float64)), whole)
        return function(left, right).astype(np.float64, copy=False)

    def reduce(self, node: Reduce) -> np.ndarray:
        value = self.value(node.item)
        axes = (
            tuple(range(DIMENSIONS)) if not node.axes or ALL in node.axes else tuple(sorted(set(node.axes)))
        )
        if node.function != "sum" and any(value.shape[axis] == 0 for axis in axes):
            raise FormulaError(
                FormulaKind.SHORT, f"{node.function} of nothing has no value.", node.start, node.stop
            )
        reduced = _REDUCE[node.function](value, axis=axes, keepdims=True)
        if self.is_reference and node.function == "mean" and ALL not in node.axes:
            again = [axis for place, axis in enumerate(node.axes) if axis in node.axes[:place]]
            reduced = reduced / np.prod([value.shape[axis] for axis in again])
        return reduced

    def select(self, node: Select) -> np.ndarray:
        value = self.value(node.item)
        length = _length(value, node, node.axis)
        if node.end is None:
            at = self.place(node.index, length)
            return np.take(value, [at], axis=node.axis)
        start, stop = self.whole(node.index), self.whole(node.end)
        step = 1 if node.step is None else self.whole(node.step)
        if start < 0 or stop > length or start >= stop or step < 1:
            sentence = (
                f"{start}:{stop}" + (f":{step}" if node.step else "") + f" is no part of {length:,} places."
            )
            raise FormulaError(FormulaKind.INDEX, sentence, node.index.start, (node.step or node.end).stop)
        return np.take(value, np.arange(start, stop, step), axis=node.axis)

    def remove(self, node: Remove) -> np.ndarray:
        value = self.value(node.item)
        length = _long_enough(value, node, node.axis)
        return np.delete(value, self.place(node.index, length), axis=node.axis)

    def delta(self, node: Delta) -> np.ndarray:
        value = self.value(node.item)
        _long_enough(value, node, node.axis)
        return np.diff(value, axis=node.axis)

    def linear(self, node: Linear) -> np.ndarray:
        axis = _one_axis(node, node.axis)
        count = self.whole(node.count)
        if count < 0:
            raise FormulaError(
                FormulaKind.INDEX, "linear needs 0 or more.", node.count.start, node.count.stop
            )
        _check_size(count, node)
        shape = [1] * DIMENSIONS
        shape[axis] = count
        return np.arange(count, dtype=np.float64).reshape(shape)

    def place(self, node: Node, length: int) -> int:
        """An index, counted from the end if negative, that is there."""
        at = self.whole(node)
        if not -length <= at < length:
            sentence = f"There is no place {at}: the axis has {length:,}, counted from 0."
            raise FormulaError(FormulaKind.INDEX, sentence, node.start, node.stop)
        return at % length

    def whole(self, node: Node) -> int:
        """A single number without its fraction."""
        value = self.value(node)
        if value.size != 1:
            sentence = f"One number is needed here; this is {shape_text(value)}."
            raise FormulaError(FormulaKind.SCALAR, sentence, node.start, node.stop)
        number = float(value.reshape(-1)[0])
        if not abs(number) < 1 << 53:  # nan too
            raise FormulaError(FormulaKind.INDEX, f"{number} is no place of an axis.", node.start, node.stop)
        return int(number)


def _one_axis(node: Node, axis: int) -> int:
    if axis == ALL:
        raise FormulaError(FormulaKind.INDEX, "This needs one axis, not all of them.", node.start, node.stop)
    return axis


def _length(value: np.ndarray, node: Node, axis: int) -> int:
    return value.shape[_one_axis(node, axis)]


def _long_enough(value: np.ndarray, node: Node, axis: int) -> int:
    length = _length(value, node, axis)
    if length < 2:
        sentence = f"The axis {AXES[axis]} has {length}; two or more are needed."
        raise FormulaError(FormulaKind.SHORT, sentence, node.start, node.stop)
    return length


def _check_size(elements: int, node: Node) -> None:
    if elements > MAX_ELEMENTS:
        sentence = f"The result would have {elements:,} numbers; {MAX_ELEMENTS:,} is the limit."
        raise FormulaError(FormulaKind.LIMIT, sentence, node.start, node.stop)
