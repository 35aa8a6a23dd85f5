"""Files of `name := expression`, and their values: float64 tensors with the axes XCC, SE, CU and time.

A dimension is equal in all operands, or 1.  Comparisons and logic give 0 or 1; nonzero is true.  Division by
zero gives inf or nan, never an error.
"""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

import numpy as np

from rcv_py.analysis.counters.formula.parser import (
    ALL,
    AXES,
    FUNCTIONS,
    REDUCTIONS,
    Call,
    Chain,
    FormulaError,
    FormulaKind,
    Name,
    Node,
    Number,
    Prefix,
    names,
    parse,
)
from rcv_py.base.record import Value
from rcv_py.base.text import Message

MAX_TEXT = 200_000  # characters of a file
MAX_NAME = 80
MAX_ELEMENTS = 1 << 24  # of one tensor: 128 MB
HIDDEN = "_"  # prefix of names of intermediate results: computed, not shown

Lookup = Callable[[Name], np.ndarray]
_SIGNS: dict[str, Callable[..., np.ndarray]] = {
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
    "max": np.maximum,
    "min": np.minimum,
}
_REDUCE: dict[str, Callable[..., np.ndarray]] = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}


class Definition(Value):
    """One line of a file; if it is not a formula, `node` is None and `error` says why."""

    name: str
    node: Node | None
    start: int  # of the name, in characters of the file
    stop: int  # after the formula
    comment: str = ""  # after the # of the line
    error: FormulaError | None = None
    file: str = ""

    @property
    def is_hidden(self) -> bool:
        """Whether it is only an intermediate result."""
        return self.name.startswith(HIDDEN)


class Definitions(Value):
    """The lines of one or more files; of lines with the same name the last counts."""

    rows: tuple[Definition, ...] = ()
    errors: tuple[FormulaError, ...] = ()  # in the order of the text

    @property
    def by_name(self) -> dict[str, Definition]:
        """The valid definition of each name, in the order of first mention."""
        return {row.name: row for row in self.rows}


def joined(files: Sequence[Definitions]) -> Definitions:
    """Merge several files; of equal names the last counts."""
    rows = (row for file in files for row in file.rows)
    return Definitions(tuple(rows), tuple(error for file in files for error in file.errors))


def read_definitions(text: str, file: str = "") -> Definitions:
    """Return the definitions of a text, one a line; `#` begins a comment.

    Never raises: a line that is not a formula keeps its name and its error, and affects no other line.
    """
    if len(text) > MAX_TEXT:
        template = "A file of formulas may have {0:,} characters; this file has {1:,}."
        sentence = Message(template, MAX_TEXT, len(text))
        return Definitions((), (FormulaError(FormulaKind.LIMIT, sentence, MAX_TEXT, len(text)),))
    rows = [_definition(text, start, stop, comment, file) for start, stop, comment in _lines(text)]
    errors = tuple(row.error for row in rows if row.error is not None)
    return Definitions(tuple(row for row in rows if row.name), errors)


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Start and stop of each line's content, and its comment; empty lines are left out."""
    at = 0
    for line in text.split("\n"):
        said, _, comment = line.partition("#")
        if said.strip():
            start = at + len(said) - len(said.lstrip())
            yield start, at + len(said.rstrip()), comment.strip()
        at += len(line) + 1


def _definition(text: str, start: int, stop: int, comment: str, file: str) -> Definition:
    sign = text.find(":=", start, stop)
    name = text[start : max(sign, start)].strip()
    if sign < 0:
        error = FormulaError(FormulaKind.PARSE, "A formula is written NAME := EXPRESSION.", start, stop)
    elif not 0 < len(name) <= MAX_NAME or not name.isprintable():
        sentence = Message("Before := a name of at most {0} characters is expected.", MAX_NAME)
        name, error = "", FormulaError(FormulaKind.PARSE, sentence, start, sign + 2)
    else:
        try:
            node = parse(text, sign + 2, stop)
            return Definition(name, node, start, stop=stop, comment=comment, file=file)
        except FormulaError as mistake:
            error = mistake
    return Definition(name, None, start, stop=stop, error=error, file=file)


@dataclass(eq=False)
class Evaluator:
    """Computes definitions over given tensors, each at most once, on demand.

    A given tensor takes precedence over a definition of the same name.  `reasons` explains why expected names
    are missing.
    """

    given: Mapping[str, np.ndarray]
    definitions: Definitions = field(default_factory=Definitions)
    reasons: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._formulas = self.definitions.by_name
        self._done: dict[str, np.ndarray | FormulaError] = {}

    def value(self, name: str) -> np.ndarray:
        """Return the tensor of a name; raise FormulaError if it has none."""
        result = self.result(name)
        if isinstance(result, FormulaError):
            raise result
        return result

    def result(self, name: str) -> np.ndarray | FormulaError:
        """Return the tensor of a name, or why it has none."""
        for part in self._order(name):
            self._done[part] = self._compute(part)
        known = self._known(name)
        return self._unknown(Name(0, 0, name)) if known is None else known

    def uses(self, name: str) -> frozenset[str]:
        """Return the given tensors that a definition needs, directly or through other definitions."""
        return frozenset(self._graph(name, self.given.__contains__).keys() & self.given.keys())

    def _known(self, name: str) -> np.ndarray | FormulaError | None:
        return self.given[name] if name in self.given else self._done.get(name)

    def _is_known(self, name: str) -> bool:
        return name in self.given or name in self._done

    def _graph(self, name: str, is_end: Callable[[str], bool]) -> dict[str, list[str]]:
        """The dependencies of a name, of these names and so on, down to the ends."""
        graph: dict[str, list[str]] = {}
        waiting = [name]
        while waiting:
            here = waiting.pop()
            if here not in graph:
                formula = None if is_end(here) else self._formulas.get(here)
                node = None if formula is None else formula.node
                graph[here] = [] if node is None else [part.text for part in names(node)]
                waiting += graph[here]
        return graph

    def _order(self, name: str) -> list[str]:
        """Definitions in the order of evaluation; definitions that need themselves get their error here."""
        graph = self._graph(name, self._is_known)
        while True:
            try:
                order = list(TopologicalSorter(graph).static_order())
                return [part for part in order if part in self._formulas and not self._is_known(part)]
            except CycleError as cycle:
                ring = cycle.args[1][:0:-1]  # each needs the next
                for at, part in enumerate(ring):
                    formula, path = self._formulas[part], " → ".join((*ring[at:], *ring[:at], part))
                    sentence = Message("{0} needs itself: {1}.", part, path)
                    error = FormulaError(FormulaKind.CYCLE, sentence, formula.start, formula.stop)
                    self._done[part], graph[part] = error, []

    def _compute(self, name: str) -> np.ndarray | FormulaError:
        formula = self._formulas[name]
        if formula.node is None:
            assert formula.error is not None
            return formula.error
        try:
            return evaluate(formula.node, self._part)
        except FormulaError as error:
            return error

    def _part(self, node: Name) -> np.ndarray:
        """The value of a name inside a formula; its error is reported where the name stands."""
        value = self._known(node.text)
        if value is None:
            raise self._unknown(node)
        if isinstance(value, FormulaError):
            raise node.error(value.kind, Message("{0} has no value: {1}", node.text, value))
        return value

    def _unknown(self, node: Name) -> FormulaError:
        if node.text in self.reasons:
            return node.error(FormulaKind.UNKNOWN, self.reasons[node.text])
        known = (*self.given, *self._formulas, *FUNCTIONS)
        near = difflib.get_close_matches(node.text, known, 1, 0.75)
        hint = Message(" Did you mean {0}?", near[0]) if near else ""
        text = Message("There is no counter or formula {0}.{1}", node.text, hint)
        return node.error(FormulaKind.UNKNOWN, text)


def scalar(value: float) -> np.ndarray:
    """Return a number as a tensor [1, 1, 1, 1]."""
    return np.full((1,) * len(AXES), value, dtype=np.float64)


def shape_text(value: np.ndarray) -> str:
    """Return the shape as text: `2 SE × 159 TIME`, or `one number`."""
    parts = [f"{length:,} {axis}" for axis, length in zip(AXES, value.shape, strict=True) if length != 1]
    return " × ".join(parts) or "one number"


def evaluate(node: Node, lookup: Lookup) -> np.ndarray:
    """Return the tensor [XCC, SE, CU, T] of a tree; `lookup` returns the tensor of a name.

    Raise FormulaError with the characters of the part without a value.
    """
    with np.errstate(all="ignore"):
        return _value(node, lookup)


def _value(node: Node, lookup: Lookup) -> np.ndarray:
    match node:
        case Number(value=number):
            return scalar(number)
        case Name():
            return lookup(node)
        case Prefix(sign=sign):
            value = _value(node.item, lookup)
            return -value if sign == "-" else (value == 0).astype(np.float64)
        case Chain():
            return _chained(node, lookup)
        case Call():
            return _called(node, lookup)
    raise TypeError(type(node).__name__)


def _chained(node: Chain, lookup: Lookup) -> np.ndarray:
    value = _value(node.first, lookup)
    for sign, item in node.rest:
        other = _value(item, lookup)
        pairs = zip(value.shape, other.shape, strict=True)
        if any(a != b and 1 not in (a, b) for a, b in pairs):
            sentence = Message("{0} and {1} do not fit each other.", shape_text(value), shape_text(other))
            raise FormulaError(FormulaKind.SHAPE, sentence, node.start, item.stop)
        shape = np.broadcast_shapes(value.shape, other.shape)
        _check_size(int(np.prod(shape, dtype=np.float64)), node)
        value = _SIGNS[sign](value, other).astype(np.float64, copy=False)
    return value


def _called(node: Call, lookup: Lookup) -> np.ndarray:
    first, *rest = node.items
    if node.function in REDUCTIONS:
        return _reduced(node, _value(first, lookup))
    (axis,) = node.axes
    if axis == ALL:
        raise node.error(FormulaKind.INDEX, "This needs one axis, not all of them.")
    if node.function == "linear":
        return _linear(node, first, axis, lookup)
    value = _value(first, lookup)
    length = value.shape[axis]
    if node.function == "select":
        chosen = [_place(rest[0], length, lookup)] if len(rest) == 1 else _range(rest, length, lookup)
        return np.take(value, chosen, axis=axis)
    if length < 2:
        text = Message("The axis {0} has {1}; two or more are needed.", AXES[axis], length)
        raise node.error(FormulaKind.SHORT, text)
    if node.function == "remove":
        return np.delete(value, _place(rest[0], length, lookup), axis=axis)
    return np.diff(value, axis=axis)


def _reduced(node: Call, value: np.ndarray) -> np.ndarray:
    is_all = not node.axes or ALL in node.axes
    axes = tuple(range(len(AXES))) if is_all else tuple(sorted(set(node.axes)))
    if node.function != "sum" and any(value.shape[axis] == 0 for axis in axes):
        raise node.error(FormulaKind.SHORT, Message("{0} of nothing has no value.", node.function))
    return _REDUCE[node.function](value, axis=axes, keepdims=True)


def _linear(node: Node, item: Node, axis: int, lookup: Lookup) -> np.ndarray:
    count = _whole(item, lookup)
    if count < 0:
        raise item.error(FormulaKind.INDEX, "linear needs 0 or more.")
    _check_size(count, node)
    shape = [1] * len(AXES)
    shape[axis] = count
    return np.arange(count, dtype=np.float64).reshape(shape)


def _range(items: list[Node], length: int, lookup: Lookup) -> np.ndarray:
    start, stop, step = (*(_whole(item, lookup) for item in items), 1)[:3]
    if start < 0 or stop > length or start >= stop or step < 1:
        parts = f"{start}:{stop}" + (f":{step}" if len(items) > 2 else "")
        sentence = Message("{0} is not part of {1:,} places.", parts, length)
        raise FormulaError(FormulaKind.INDEX, sentence, items[0].start, items[-1].stop)
    return np.arange(start, stop, step)


def _place(item: Node, length: int, lookup: Lookup) -> int:
    """A valid index; a negative index counts from the end."""
    at = _whole(item, lookup)
    if not -length <= at < length:
        sentence = Message("There is no place {0}: the axis has {1:,}, counted from 0.", at, length)
        raise item.error(FormulaKind.INDEX, sentence)
    return at % length


def _whole(item: Node, lookup: Lookup) -> int:
    """The integer part of a single number."""
    value = _value(item, lookup)
    if value.size != 1:
        text = Message("One number is needed here; this is {0}.", shape_text(value))
        raise item.error(FormulaKind.SCALAR, text)
    number = float(value.reshape(-1)[0])
    if not abs(number) < 1 << 53:  # nan too
        raise item.error(FormulaKind.INDEX, Message("{0} is not a place of an axis.", number))
    return int(number)


def _check_size(elements: int, node: Node) -> None:
    if elements > MAX_ELEMENTS:
        sentence = Message("The result would have {0:,} numbers; {1:,} is the limit.", elements, MAX_ELEMENTS)
        raise node.error(FormulaKind.LIMIT, sentence)
