"""What an instruction does to the counters of outstanding operations, told from its disassembly.

A generation is a table of rows (pattern of the disassembly, what it raises), the first that fits counts,
and the order in which a wait that names several counters looks at them.  FLAT operations may use either
path to memory, so they raise two counters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rcv_py.base.numbers import number

COUNTERS = (
    "vm",
    "vs",
    "lgkm",
    "exp",
    "load",
    "sample",
    "bvh",
    "store",
    "ds",
    "km",
    "x",
    "async",
    "tensor",
)
NUMBER_OF = {name: number for number, name in enumerate(COUNTERS)}
KINDS = (
    "vector",
    "lds",
    "gds",
    "scalar",
    "message",
    "flat",
    "export",
    "position",
    "parameter",
    "direct",
    "async",
    "tensor",
)
KIND_OF = {name: number for number, name in enumerate(KINDS)}
UNORDERED = ("scalar", "flat")  # kinds whose results come back in any order

Raised = tuple[tuple[str, str], ...]  # (counter, kind of operation), one an increment
Row = tuple[str, Raised]  # pattern from the start of the text, what it raises

NUMBER = r"(0x[0-9a-fA-F]+|\d+)"
_NAMED = re.compile(r"(vm|vs|lgkm|exp|load|sample|bvh|store|ds|km|x|async|tensor)cnt\s*\(?\s*" + NUMBER)
_IMMEDIATE = re.compile(r"s_waitcnt\s+" + NUMBER + r"\s*$")
_OWN = re.compile(r"s_waitcnt_(vm|vs|lgkm|exp)cnt\s+(?:\w+\s*,\s*)?" + NUMBER)

Field = tuple[tuple[int, int], ...]  # (first bit, bits) from the lowest part of the number up


@dataclass(frozen=True, slots=True)
class Effect:
    """What one instruction does to counters."""

    raises: Raised = ()
    waits: tuple[tuple[str, int], ...] = ()  # (counter, how many operations may stay outstanding)
    unorders: tuple[str, ...] = ()  # reference rule: counters that count as out of order from here on
    flat: str = ""  # reference rule: the list of FLAT operations it is put on, "load" or "store"
    is_idle: bool = False  # it waits for everything there is


NOTHING = Effect()


@dataclass(frozen=True, slots=True, eq=False)
class Generation:
    """The rules of one generation: `effect` of a disassembled instruction, and the order of counters."""

    name: str
    order: tuple[str, ...]
    effect: Callable[[str], Effect]


def raised_by(table: tuple[Row, ...]) -> Callable[[str], Raised]:
    """Return a function that looks an instruction up in a table of patterns."""
    rows = tuple((re.compile(pattern).match, raised) for pattern, raised in table)

    def raised(text: str) -> Raised:
        return next((effect for fits, effect in rows if fits(text)), ())

    return raised


def generation(
    name: str, order: tuple[str, ...], table: tuple[Row, ...], wanted: Callable[[str], dict[str, int]]
) -> Generation:
    """Return the rules made of a table of what is raised and a function that reads waits."""
    raised = raised_by(table)

    def effect(text: str) -> Effect:
        if not text.startswith("s_wait"):
            raises = raised(text)
            return Effect(raises) if raises else NOTHING
        if text.startswith("s_wait_idle"):
            return Effect(waits=tuple((counter, 0) for counter in order), is_idle=True)
        numbers = wanted(text)
        waits = tuple((counter, numbers[counter]) for counter in order if counter in numbers)
        return Effect(waits=waits) if waits else NOTHING

    return Generation(name, order, effect)


def one_instruction_waits(fields: dict[str, Field]) -> Callable[[str], dict[str, int]]:
    """Return a reader of `s_waitcnt`, which names counters or packs them into an immediate, up to gfx11."""

    def wanted(text: str) -> dict[str, int]:
        own, plain = _OWN.match(text), _IMMEDIATE.match(text)
        if own is not None:
            return {own[1]: number(own[2])}
        if plain is not None:
            return {counter: unpacked(number(plain[1]), field) for counter, field in fields.items()}
        return named_counters(text)

    return wanted


def named_counters(text: str) -> dict[str, int]:
    """Return what a wait such as `s_waitcnt vmcnt(3) lgkmcnt(0)` asks of the counters it names."""
    return {counter: number(digits) for counter, digits in _NAMED.findall(text)}


def unpacked(value: int, field: Field) -> int:
    """Return the number whose bits lie at several places of an immediate."""
    whole = shift = 0
    for first, bits in field:
        whole |= (value >> first & ((1 << bits) - 1)) << shift
        shift += bits
    return whole
