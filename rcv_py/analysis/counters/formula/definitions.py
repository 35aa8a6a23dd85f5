"""Files of `name := expression`: read them, put them on top of each other, compute what is asked for."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from rcv_py.analysis.counters.formula.errors import FormulaError, FormulaKind
from rcv_py.analysis.counters.formula.evaluate import evaluate
from rcv_py.analysis.counters.formula.nodes import Name, Node, names
from rcv_py.analysis.counters.formula.parser import FUNCTIONS, parse
from rcv_py.model.modes import ReferenceRule

MAX_TEXT = 200_000  # characters of a file
MAX_DEFINITIONS = 1_000
MAX_NAME = 80
HIDDEN = "_"  # names that begin like this are steps on the way: computed, not shown
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_:]*")


@dataclass(frozen=True, slots=True)
class Definition:
    """One line of a file; `node` is None and `error` says why, if it is no formula."""

    name: str
    node: Node | None
    start: int  # of the name, in characters of the file
    stop: int  # behind the formula
    comment: str = ""  # what stands behind the # of the line
    error: FormulaError | None = None
    file: str = ""

    @property
    def is_hidden(self) -> bool:
        """Whether it is only a step on the way."""
        return self.name.startswith(HIDDEN)


@dataclass(frozen=True, slots=True)
class Definitions:
    """The lines of one file or of several; of lines with one name the last counts."""

    rows: tuple[Definition, ...] = ()
    errors: tuple[FormulaError, ...] = ()  # in the order of the text

    @property
    def by_name(self) -> dict[str, Definition]:
        """The definition that counts for each name, in the order of first mention."""
        return {row.name: row for row in self.rows}

    def over(self, base: Definitions) -> Definitions:
        """Return these on top of others: equal names replace."""
        return Definitions((*base.rows, *self.rows), (*base.errors, *self.errors))


def read_definitions(text: str, file: str = "", rule: ReferenceRule = ReferenceRule.OURS) -> Definitions:
    """Return the definitions of a text, one a line; `#` begins a comment.

    Never raises: a line that is no formula keeps its name and its error, and costs only itself.  In the
    reference it costs the whole text.
    """
    if len(text) > MAX_TEXT:
        sentence = f"A file of formulas may have {MAX_TEXT:,} characters; this one has {len(text):,}."
        return Definitions((), (FormulaError(FormulaKind.LIMIT, sentence, MAX_TEXT, len(text)),))
    rows: list[Definition] = []
    for start, stop, comment in _lines(text):
        if len(rows) == MAX_DEFINITIONS:
            sentence = f"A file may have {MAX_DEFINITIONS:,} formulas; the rest is not read."
            rows.append(_bad("", start, stop, FormulaError(FormulaKind.LIMIT, sentence, start, stop), file))
            break
        rows.append(_definition(text, (start, stop, comment), file, rule))
    errors = tuple(row.error for row in rows if row.error is not None)
    if errors and rule is ReferenceRule.REFERENCE:
        return Definitions((), errors)
    return Definitions(tuple(row for row in rows if row.name), errors)


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Start and stop of what each line says, and its comment; lines that say nothing are left out."""
    at = 0
    for line in text.split("\n"):
        said, _, comment = line.partition("#")
        if said.strip():
            start = at + len(said) - len(said.lstrip())
            yield start, at + len(said.rstrip()), comment.strip()
        at += len(line) + 1


def _definition(text: str, line: tuple[int, int, str], file: str, rule: ReferenceRule) -> Definition:
    start, stop, comment = line
    sign = text.find(":=", start, stop)
    if sign < 0:
        error = FormulaError(FormulaKind.PARSE, "A formula is written NAME := EXPRESSION.", start, stop)
        return _bad("", start, stop, error, file)
    name = text[start:sign].strip()
    if not name or len(name) > MAX_NAME or not name.isprintable():
        sentence = f"In front of := a name of at most {MAX_NAME} characters is expected."
        return _bad("", start, stop, FormulaError(FormulaKind.PARSE, sentence, start, sign + 2), file)
    try:
        return Definition(name, parse(text, sign + 2, stop, rule), start, stop, comment, None, file)
    except FormulaError as error:
        return _bad(name, start, stop, error, file)


def _bad(name: str, start: int, stop: int, error: FormulaError, file: str) -> Definition:
    return Definition(name, None, start, stop, "", error, file)


def word_at(text: str, position: int) -> str:
    """Return the name or function at a character of a text, "" if there is none."""
    start = text.rfind("\n", 0, position) + 1
    stop = text.find("\n", position)
    for match in _WORD.finditer(text, start, len(text) if stop < 0 else stop):
        if match.start() <= position < match.end():
            return match.group()
    return ""


@dataclass(eq=False)
class Evaluator:
    """Computes definitions over given tensors, each at most once, and only when asked.

    A given tensor wins over a definition of the same name.  `reasons` tells of names that could be there
    why they are not.
    """

    given: Mapping[str, np.ndarray]
    definitions: Definitions = field(default_factory=Definitions)
    rule: ReferenceRule = ReferenceRule.OURS
    reasons: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._formulas = self.definitions.by_name
        self._done: dict[str, np.ndarray | FormulaError] = {}

    def value(self, name: str) -> np.ndarray:
        """Return the tensor of a name; raise FormulaError if it has none."""
        return self._lookup(Name(0, 0, name))

    def result(self, name: str) -> np.ndarray | FormulaError:
        """Return the tensor of a name, or why it has none."""
        try:
            return self.value(name)
        except FormulaError as error:
            return error

    def uses(self, name: str) -> frozenset[str]:
        """Return the given tensors that a definition needs, directly or through others."""
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            here = waiting.pop()
            if here in seen:
                continue
            seen.add(here)
            if here not in self.given:
                waiting += self._needs(here)
        return frozenset(one for one in seen if one in self.given)

    def known_names(self) -> tuple[str, ...]:
        """Return every name that a formula may use: given ones first."""
        return (*self.given, *(name for name in self._formulas if name not in self.given))

    def _needs(self, name: str) -> list[str]:
        formula = self._formulas.get(name)
        return [] if formula is None or formula.node is None else [one.text for one in names(formula.node)]

    def _lookup(self, node: Name) -> np.ndarray:
        found = self._known(node.text)
        if found is None:
            for name in self._order(node.text):
                self._done[name] = self._compute(name)
            found = self._known(node.text)
        if isinstance(found, FormulaError):
            raise found
        if found is None:
            raise self._unknown(node)
        return found

    def _known(self, name: str) -> np.ndarray | FormulaError | None:
        return self.given[name] if name in self.given else self._done.get(name)

    def _order(self, name: str) -> list[str]:
        """Definitions in the order of computing, without recursion: a chain of a thousand is no problem."""
        order: dict[str, None] = {}
        path: dict[str, Iterator[str]] = {}
        if name in self._formulas:
            path[name] = iter(self._needs(name))
        while path:
            here, needs = next(reversed(path.items()))
            for need in needs:
                if need in path:
                    self._close_cycle(list(path), need)
                elif need in self._formulas and self._known(need) is None and need not in order:
                    path[need] = iter(self._needs(need))
                    break
            else:
                del path[here]
                if self._known(here) is None:
                    order[here] = None
        return list(order)

    def _close_cycle(self, path: list[str], again: str) -> None:
        ring = path[path.index(again) :]
        for name in ring:
            formula = self._formulas[name]
            text = " → ".join((*ring, again))
            self._done[name] = FormulaError(
                FormulaKind.CYCLE, f"{name} needs itself: {text}.", formula.start, formula.stop
            )

    def _compute(self, name: str) -> np.ndarray | FormulaError:
        formula = self._formulas[name]
        if formula.node is None:
            assert formula.error is not None
            return formula.error
        try:
            return evaluate(formula.node, self._part, self.rule)
        except FormulaError as error:
            return error

    def _part(self, node: Name) -> np.ndarray:
        """The value of a name inside a formula; its error is told where the name stands."""
        found = self._known(node.text)
        if found is None:
            raise self._unknown(node)
        if isinstance(found, FormulaError):
            raise FormulaError(found.kind, f"{node.text} has no value: {found}", node.start, node.stop)
        return found

    def _unknown(self, node: Name) -> FormulaError:
        if node.text in self.reasons:
            return FormulaError(FormulaKind.UNKNOWN, self.reasons[node.text], node.start, node.stop)
        near = difflib.get_close_matches(node.text, (*self.known_names(), *FUNCTIONS), 1, 0.75)
        hint = f" Did you mean {near[0]}?" if near else ""
        sentence = f"There is no counter or formula {node.text}.{hint}"
        return FormulaError(FormulaKind.UNKNOWN, sentence, node.start, node.stop)


def files_over(base: Definitions, files: Iterable[Definitions]) -> Definitions:
    """Return several files on top of a set; later ones win."""
    for one in files:
        base = one.over(base)
    return base
