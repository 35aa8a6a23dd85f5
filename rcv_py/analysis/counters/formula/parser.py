"""Parser of formulas: recursive descent from the loosest operators, tokens read on demand.

    expression := and-chain { "|" and-chain }
    and-chain  := comparison { "&" comparison }
    comparison := sum { ("==" | "!=" | "<" | ">" | "<=" | ">=") sum }
    sum        := product { ("+" | "-") product }
    product    := atom { ("*" | "/") atom }
    atom       := ("-" | "!") atom | NUMBER | NAME | "(" expression ")" | call

A colon may be part of a name: `LDS_BANK_CONFLICT:1` counts on SIMD 0 only.  Inside the index of `select` it
ends a name, so that `0:NUM_SAMPLES:2` is a range.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum

from rcv_py.base.errors import RcvError
from rcv_py.base.record import Value
from rcv_py.base.text import Message

MAX_DEPTH = 40  # of nested parentheses, brackets and prefixes
AXES = ("XCC", "SE", "CU", "TIME")
XCC, SE, CU, TIME = range(4)
ALL = -1  # every axis
AXIS_NAMES = {
    **dict.fromkeys(("xcc", "0"), XCC),
    **dict.fromkeys(("se", "1"), SE),
    **dict.fromkeys(("cu", "wgp", "instance", "2"), CU),
    **dict.fromkeys(("time", "samples", "3"), TIME),
    "all": ALL,
}
FUNCTIONS = {  # name: syntax, result
    "sum": ("sum[x, axis=…]", "The sum over the axes, or over everything."),
    "mean": ("mean[x, axis=…]", "The mean over the axes, or over everything."),
    "max": (
        "max[x, axis=…] or max(a, b, …)",
        "The largest along the axes; with parentheses the larger of each pair.",
    ),
    "min": (
        "min[x, axis=…] or min(a, b, …)",
        "The smallest along the axes; with parentheses the smaller of each pair.",
    ),
    "select": ("select[x, i, axis=TIME] or select[x, a:b:step]", "One place of an axis, or a part of it."),
    "remove": ("remove[x, i, axis=TIME]", "Everything but one place of an axis."),
    "delta": ("delta[x, axis=TIME]", "Differences of neighbours: one shorter than x."),
    "linear": ("linear(n, axis=TIME)", "The numbers 0 to n − 1 along an axis."),
}
REDUCTIONS = ("sum", "mean", "max", "min")
_CLOSING = {  # opening and closing of a function
    **{(name, "["): "]" for name in (*REDUCTIONS, "select", "remove", "delta")},
    **{(name, "("): ")" for name in ("max", "min", "linear")},
}
_RANKS = (("|",), ("&",), ("==", "!=", "<", ">", "<=", ">="), ("+", "-"), ("*", "/"))
_TOKENS = [  # outside and inside of a range, where a colon ends a name
    re.compile(
        r"[ \t\r\f\v]*(?:(?P<number>(?:[0-9]|\.[0-9])[0-9.]*(?:[eE][+-]?[0-9]*)?)"
        rf"|(?P<name>[A-Za-z_][A-Za-z0-9_{colon}]*)"
        r"|(?P<sign>==|<=|>=|!=|[-+*/()\[\],:=<>&|!])|(?P<end>\Z))"
    )
    for colon in (":", "")
]


class FormulaKind(StrEnum):
    """Why a formula has no value."""

    PARSE = "parse"  # the text is not a formula
    UNKNOWN = "unknown-name"
    SHAPE = "shape"  # the shapes of two tensors do not match
    INDEX = "index"  # an index outside the axis
    SHORT = "axis-too-short"
    SCALAR = "not-scalar"  # a tensor where a single number is needed
    CYCLE = "cycle"  # a definition needs itself
    LIMIT = "limit"  # too long, too deep or too large to be computed


class FormulaError(RcvError):
    """A sentence about characters `start` to `stop` (positions in the whole text) of a formula."""

    def __init__(self, kind: FormulaKind, sentence: str, start: int = 0, stop: int = 0) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.start = start
        self.stop = max(stop, start)

    def place(self, text: str) -> tuple[int, int]:
        """Return line and column of the first character, both counted from 1."""
        before = text[: self.start]
        return before.count("\n") + 1, self.start - (before.rfind("\n") + 1) + 1

    def picture(self, text: str) -> str:
        """Return the line, a row of `^` under the wrong characters, and the sentence."""
        line, column = self.place(text)
        shown = text.split("\n")[line - 1]
        marks = " " * (column - 1) + "^" * max(1, min(self.stop - self.start, len(shown) - column + 1))
        return Message("{0}\n{1}\nLine {2}, column {3}: {4}", shown, marks, line, column, self)


class Node(Value):
    """An expression: characters `start` to `stop` of the text."""

    start: int
    stop: int

    def error(self, kind: FormulaKind, sentence: str) -> FormulaError:
        """Return an error about these characters."""
        return FormulaError(kind, sentence, self.start, self.stop)


class Number(Node):
    """A literal number."""

    value: float


class Name(Node):
    """A counter, a constant or another definition."""

    text: str


class Prefix(Node):
    """`-x`, or `!x`: 1 where x is 0, else 0."""

    sign: str
    item: Node


class Chain(Node):
    """`first sign item sign item …`, signs of equal precedence, left to right; or `max(…)` and `min(…)`.

    The whole chain is one node: a sum of a thousand terms is no deeper than a sum of two.
    """

    first: Node
    rest: tuple[tuple[str, Node], ...]


class Call(Node):
    """One of FUNCTIONS with its arguments; no axis means all of them."""

    function: str
    items: tuple[Node, ...]  # for `select` the tensor, then the index, or begin, end and step of a range
    axes: tuple[int, ...]


def names(node: Node) -> Iterator[Name]:
    """Yield every use of a name in a formula, from left to right."""
    parts: Iterable[Node] = ()
    match node:
        case Name():
            yield node
        case Prefix(item=item):
            parts = (item,)
        case Chain(first=first, rest=rest):
            parts = (first, *(item for _, item in rest))
        case Call(items=items):
            parts = items
    for part in parts:
        yield from names(part)


def parse(text: str, start: int = 0, stop: int | None = None) -> Node:
    """Return the tree of the formula `text[start:stop]`; its positions count from the start of `text`.

    Raise FormulaError, kind PARSE or LIMIT, at the first error.
    """
    parser = _Parser(text, start, len(text) if stop is None else stop)
    node = parser.expression()
    if parser.here.kind != "end":
        template = "The formula is complete before {0!r}; an operator such as + or a comma is missing."
        sentence = Message(template, parser.here.text)
        raise parser.here.error(FormulaKind.PARSE, sentence)
    return node


class _Token(Node):
    kind: str  # "number", "name", "sign" or "end"
    text: str


class _Parser:
    """The parser's state: its position in the text."""

    def __init__(self, text: str, at: int, stop: int) -> None:
        self.text, self.at, self.stop = text, at, stop
        self.depth = 0
        self.is_range = False  # inside the index of `select`

    @property
    def here(self) -> _Token:
        """The next token; raise FormulaError if the next character begins none."""
        match = _TOKENS[self.is_range].match(self.text, self.at, self.stop)
        if match is None or match.lastgroup is None:
            at = self.stop - len(self.text[self.at : self.stop].lstrip(" \t\r\f\v"))
            sentence = Message("The character {0!r} has no meaning here.", self.text[at])
            raise FormulaError(FormulaKind.PARSE, sentence, at, at + 1)
        kind = match.lastgroup
        return _Token(*match.span(kind), kind, match[kind])

    def next(self) -> _Token:
        token = self.here
        self.at = token.stop
        return token

    def has(self, *signs: str) -> bool:
        token = self.here
        return token.kind == "sign" and token.text in signs

    def take(self, sign: str) -> bool:
        if self.has(sign):
            self.next()
            return True
        return False

    def need(self, sign: str, why: str) -> _Token:
        if not self.has(sign):
            raise self.unexpected(f"{sign!r} {why}")
        return self.next()

    def unexpected(self, wanted: str) -> FormulaError:
        token = self.here
        found = "the line ends" if token.kind == "end" else Message("there is {0!r}", token.text)
        return token.error(FormulaKind.PARSE, Message("Here {0}, but {1} is expected.", found, wanted))

    def expression(self, rank: int = 0) -> Node:
        if rank == len(_RANKS):
            return self.atom()
        first = self.expression(rank + 1)
        rest = []
        while self.has(*_RANKS[rank]):
            sign = self.next().text
            rest.append((sign, self.expression(rank + 1)))
        return Chain(first.start, rest[-1][1].stop, first, tuple(rest)) if rest else first

    def atom(self) -> Node:
        token = self.here
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise token.error(FormulaKind.LIMIT, Message("Formulas may be nested {0} deep.", MAX_DEPTH))
        if token.kind not in ("number", "name") and not self.has("-", "!", "("):
            raise self.unexpected("a number, a name or a parenthesis")
        node = self.leaf(self.next())
        self.depth -= 1
        return node

    def leaf(self, token: _Token) -> Node:
        if token.kind == "number":
            try:
                return Number(token.start, token.stop, float(token.text))
            except ValueError:
                raise token.error(FormulaKind.PARSE, Message("{0} is not a number.", token.text)) from None
        if token.text in ("-", "!"):
            item = self.atom()
            return Prefix(token.start, item.stop, token.text, item)
        outside, self.is_range = self.is_range, False
        if token.kind == "name":
            node = self.named(token)
        else:
            node = self.expression()
            self.need(")", "that closes the parenthesis")
        self.is_range = outside
        return node

    def named(self, token: _Token) -> Node:
        """The node that a name begins: a call, or the name itself."""
        opening = self.here.text if self.has("(", "[") else ""
        closing = _CLOSING.get((token.text, opening))
        if closing is not None:
            return self.call(token, closing)
        if token.text in FUNCTIONS:
            sentence = Message("{0} is a function: write {1}.", token.text, FUNCTIONS[token.text][0])
            raise token.error(FormulaKind.PARSE, sentence)
        if opening:
            near = difflib.get_close_matches(token.text, FUNCTIONS, 1)
            others = Message("functions are {0}.", ", ".join(FUNCTIONS))
            hint = Message("did you mean {0}?", near[0]) if near else others
            raise token.error(FormulaKind.PARSE, Message("{0} is not a function; {1}", token.text, hint))
        return Name(token.start, token.stop, token.text)

    def call(self, token: _Token, closing: str) -> Node:
        self.next()
        function = token.text
        items = [self.expression()]
        if function in ("select", "remove"):
            self.need(",", Message("and an index, as in {0},", FUNCTIONS[function][0]))
            items.append(self.index())
            while function == "select" and len(items) < 4 and self.take(":"):
                items.append(self.index())
        if function not in REDUCTIONS or closing == "]":
            axes = self.axes(closing, is_list=function in REDUCTIONS)
            stop = self.need(closing, Message("that closes {0}", function)).stop
            return Call(token.start, stop, function, tuple(items), axes)
        rest = []
        while self.take(","):
            rest.append((function, self.expression()))
        stop = self.need(closing, Message("that closes {0}", function)).stop
        node = Chain(token.start, stop, items[0], tuple(rest))
        if not rest:
            sentence = Message("{0}(…) compares two or more; for one write {0}[…].", function)
            raise node.error(FormulaKind.PARSE, sentence)
        return node

    def index(self) -> Node:
        self.is_range = True
        node = self.expression()
        self.is_range = False
        return node

    def axes(self, closing: str, *, is_list: bool) -> tuple[int, ...]:
        """The axes after `axis=`; a comma before the closing bracket is allowed."""
        if not self.take(",") or self.has(closing):
            return () if is_list else (TIME,)
        word = self.next()
        if word.text != "axis":
            raise word.error(FormulaKind.PARSE, Message("Only axis=… can follow, not {0!r}.", word.text))
        self.need("=", "after axis")
        if not is_list or not self.take("["):
            return (self.axis(),)
        axes: list[int] = []
        while not self.has("]"):
            axes.append(self.axis())
            if not self.take(","):
                break
        self.need("]", "that closes the list of axes")
        return tuple(axes)

    def axis(self) -> int:
        token = self.next()
        axis = AXIS_NAMES.get(token.text.lower())
        if axis is None:
            raise token.error(FormulaKind.PARSE, "Axes are XCC, SE, CU (or WGP, INSTANCE), TIME and All.")
        return axis
