"""Tokens to a tree: recursive descent, one method a rule of the grammar, loosest first.

    expression := and-chain { "|" and-chain }
    and-chain  := comparison { "&" comparison }
    comparison := sum { ("==" | "!=" | "<" | ">" | "<=" | ">=") sum }
    sum        := product { ("+" | "-") product }
    product    := atom { ("*" | "/") atom }
    atom       := ("-" | "!") atom | NUMBER | NAME | "(" expression ")" | call

The reference has no `!=` and no `!`, knows axes in some spellings only, takes just an atom without a sign
inside brackets, and reads `NAME:2` as one name even in a range; with `ReferenceRule.REFERENCE` so do we.
"""

from __future__ import annotations

import difflib

from rcv_py.analysis.counters.formula.errors import FormulaError, FormulaKind
from rcv_py.analysis.counters.formula.lexer import Kind, Token, number, tokens
from rcv_py.analysis.counters.formula.nodes import (
    AXIS_NAMES,
    TIME,
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

MAX_DEPTH = 40  # of parentheses, brackets and prefixes in each other
MAX_CHARACTERS = 8_000  # of one formula

_RANKS = (("|",), ("&",), ("==", "!=", "<", ">", "<=", ">="), ("+", "-"), ("*", "/"))
_REDUCE = ("sum", "mean", "max", "min")
_BRACKET = (*_REDUCE, "select", "remove", "delta")
_ROUND = ("max", "min", "linear")

FUNCTIONS = {  # name: how it is written, what it gives
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


def parse(
    text: str, start: int = 0, stop: int | None = None, rule: ReferenceRule = ReferenceRule.OURS
) -> Node:
    """Return the tree of the formula `text[start:stop]`; positions in it are those of the whole text.

    Raise FormulaError, kind PARSE or LIMIT, at the first thing that does not fit.
    """
    stop = len(text) if stop is None else stop
    if stop - start > MAX_CHARACTERS:
        sentence = f"A formula may have {MAX_CHARACTERS:,} characters; this one has {stop - start:,}."
        raise FormulaError(FormulaKind.LIMIT, sentence, start + MAX_CHARACTERS, stop)
    return _Parser(text, tokens(text, start, stop, rule), rule).whole()


class _Parser:
    """The place in the tokens."""

    def __init__(self, text: str, found: list[Token], rule: ReferenceRule) -> None:
        self.text = text
        self.tokens = found
        self.at = 0
        self.depth = 0
        self.is_reference = rule is ReferenceRule.REFERENCE
        self.rule = rule
        self.is_range = False  # inside the index of `select`, where a colon ends a name

    # -- tokens -------------------------------------------------------------------------------------

    @property
    def here(self) -> Token:
        token = self.tokens[self.at]
        if self.is_range and token.kind is Kind.NAME and ":" in token.text:
            parts = tokens(self.text, token.start, token.stop, self.rule, with_colons=False)[:-1]
            self.tokens[self.at : self.at + 1] = parts
            token = parts[0]
        return token

    def next(self) -> Token:
        token = self.here
        self.at += 1
        return token

    def has(self, *signs: str) -> bool:
        return self.here.kind is Kind.SIGN and self.here.text in signs

    def take(self, sign: str) -> bool:
        if self.has(sign):
            self.at += 1
            return True
        return False

    def need(self, sign: str, why: str) -> Token:
        if not self.has(sign):
            raise self.unexpected(f"{sign!r} {why}")
        return self.next()

    def unexpected(self, wanted: str) -> FormulaError:
        token = self.here
        found = "the line ends" if token.kind is Kind.END else f"there is {token.text!r}"
        return self.error(f"Here {found}, but {wanted} is expected.", token)

    @staticmethod
    def error(sentence: str, token: Token, kind: FormulaKind = FormulaKind.PARSE) -> FormulaError:
        return FormulaError(kind, sentence, token.start, token.stop)

    # -- chains -------------------------------------------------------------------------------------

    def whole(self) -> Node:
        """The tree of all tokens."""
        node = self.expression()
        if self.here.kind is not Kind.END:
            raise self.error(
                f"The formula is complete before {self.here.text!r}; a sign such as + or a comma is missing.",
                self.here,
            )
        return node

    def expression(self) -> Node:
        return self.chain(0)

    def chain(self, rank: int) -> Node:
        if rank == len(_RANKS):
            return self.atom()
        first = self.chain(rank + 1)
        rest = []
        while self.has(*_RANKS[rank]):
            sign = self.next().text
            rest.append((sign, self.chain(rank + 1)))
        return Chain(first.start, rest[-1][1].stop, first, tuple(rest)) if rest else first

    def atom(self) -> Node:
        token = self.here
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"Formulas may be nested {MAX_DEPTH} deep.", token, FormulaKind.LIMIT)
        node = self.leaf()
        self.depth -= 1
        return node

    def leaf(self) -> Node:
        token = self.here
        if self.has("-", "!"):
            self.next()
            item = self.atom()
            return Prefix(token.start, item.stop, token.text, item)
        if self.has("("):
            return self.round()
        if token.kind is Kind.NUMBER:
            self.next()
            return Number(token.start, token.stop, number(token, self.rule))
        if token.kind is Kind.NAME:
            self.next()
            return self.named(token)
        raise self.unexpected("a number, a name or a parenthesis")

    def round(self) -> Node:
        self.need("(", "")
        outside, self.is_range = self.is_range, False
        node = self.expression()
        self.need(")", "that closes the parenthesis")
        self.is_range = outside
        return node

    # -- functions ----------------------------------------------------------------------------------

    def named(self, token: Token) -> Node:
        """What a name begins: a call, or just the name."""
        outside, self.is_range = self.is_range, False
        opens = self.here.text if self.has("(", "[") else ""
        if opens == "[" and token.text in _BRACKET:
            node = self.bracket_call(token)
        elif opens == "(" and token.text in _ROUND:
            node = self.round_call(token)
        elif opens or token.text in FUNCTIONS:
            raise self.no_function(token, opens)
        else:
            node = Name(token.start, token.stop, token.text)
        self.is_range = outside
        return node

    def no_function(self, token: Token, opens: str) -> FormulaError:
        if token.text in FUNCTIONS:
            return self.error(f"{token.text} is a function: write {FUNCTIONS[token.text][0]}.", token)
        near = difflib.get_close_matches(token.text, FUNCTIONS, 1)
        hint = f"did you mean {near[0]}?" if near else f"functions are {', '.join(FUNCTIONS)}."
        return self.error(f"{token.text} is not a function; {hint}", token)

    def round_call(self, token: Token) -> Node:
        self.need("(", "")
        if token.text == "linear":
            count = self.expression()
            axis = self.axis_argument(")")
            return Linear(token.start, self.need(")", "that closes linear").stop, count, axis)
        items = [self.expression()]
        while self.take(","):
            items.append(self.expression())
        closing = self.need(")", f"that closes {token.text}")
        if len(items) < 2:
            sentence = f"{token.text}(…) compares two or more; for one write {token.text}[…]."
            raise FormulaError(FormulaKind.PARSE, sentence, token.start, closing.stop)
        return Largest(token.start, closing.stop, token.text, tuple(items))

    def bracket_call(self, token: Token) -> Node:
        self.need("[", "")
        item = self.operand()
        if token.text in _REDUCE:
            axes = self.axes_argument()
            return Reduce(token.start, self.close(token), token.text, item, axes)
        if token.text == "delta":
            axis = self.axis_argument("]")
            return Delta(token.start, self.close(token), item, axis)
        self.need(",", f"and an index, as in {FUNCTIONS[token.text][0]},")
        if token.text == "remove":
            index = self.index()
            axis = self.axis_argument("]")
            return Remove(token.start, self.close(token), item, index, axis)
        index, end, step = self.index(), None, None
        if self.take(":"):
            end = self.index()
            step = self.index() if self.take(":") else None
        axis = self.axis_argument("]")
        return Select(token.start, self.close(token), item, index, end, step, axis)

    def close(self, token: Token) -> int:
        return self.need("]", f"that closes {token.text}").stop

    def operand(self) -> Node:
        """What stands in brackets: anything; in the reference a name, a number, brackets, a parenthesis."""
        token = self.here
        node = self.atom() if self.is_reference else self.expression()
        if self.is_reference and isinstance(node, Prefix | Largest | Linear) and token.text != "(":
            raise self.error("Brackets take a name, or an expression in parentheses.", token)
        return node

    def index(self) -> Node:
        """A place of an axis.  A colon ends a name here, so that `0:NUM_SAMPLES:2` is a range."""
        self.is_range = not self.is_reference
        if self.is_reference and self.take("-"):
            item = self.operand()
            node: Node = Prefix(item.start - 1, item.stop, "-", item)
        else:
            node = self.operand()
        self.is_range = False
        return node

    # -- axes ---------------------------------------------------------------------------------------

    def has_axis(self, closing: str) -> bool:
        """Whether `axis=` follows; a comma before the closing bracket is forgiven."""
        if not self.take(","):
            return False
        if self.has(closing):
            return False
        word = self.next()
        if word.kind is not Kind.NAME or word.text != "axis":
            raise self.error(f"Only axis=… can follow, not {word.text!r}.", word)
        self.need("=", "behind axis")
        return True

    def axis_argument(self, closing: str) -> int:
        return self.axis() if self.has_axis(closing) else TIME

    def axes_argument(self) -> tuple[int, ...]:
        if not self.has_axis("]"):
            return ()
        if not self.take("["):
            return (self.axis(),)
        axes: list[int] = []
        while not self.has("]"):
            axes.append(self.axis())
            if not self.take(","):
                break
        self.need("]", "that closes the list of axes")
        return tuple(axes)

    def axis(self) -> int:
        token = self.here
        if token.kind is not Kind.END:
            self.next()
        axis = AXIS_NAMES.get(token.text)
        if axis is None and not self.is_reference:
            axis = AXIS_NAMES.get(token.text.lower())
        if axis is None:
            raise self.error("Axes are XCC, SE, CU (or WGP, INSTANCE), TIME and All.", token)
        return axis
