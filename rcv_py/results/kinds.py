"""Kinds of values; called with a name and a meaning, each makes a field: `COUNT("taken", "Jumps back")`."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from msgspec.structs import replace

from rcv_py.base.text import count, join_texts, percent
from rcv_py.results import json_types
from rcv_py.results.field import Kind


def decimal(value: float) -> str:
    """Return a number with at most two decimals, grouped: `1,234.5`."""
    return count(value) if isinstance(value, int) else f"{value:,.2f}".rstrip("0").rstrip(".")


def _whole(ending: str = ".", unit: str = "", *, least: int | None = 0) -> Kind:
    json = json_types.plain("integer", **({} if least is None else {"minimum": least}))
    signed = least is None
    return Kind(
        json=json, ending=ending, unit=unit, dtype=np.int64, text=count, is_number=True, is_signed=signed
    )


def _real(
    ending: str, unit: str = "", text: Callable[[float], str] = decimal, digits: int | None = 2
) -> Kind:
    json = json_types.plain("number")
    return Kind(
        json=json, ending=ending, unit=unit, dtype=np.float64, text=text, is_number=True, digits=digits
    )


CYCLES = _whole(", in cycles.", "cycles")  # of the shader clock
CYCLES_OR_NEVER = replace(CYCLES, has_minus_one=True)
SIGNED_CYCLES = _whole(", in cycles.", "cycles", least=None)
CYCLE = _whole(", in cycles.", "cycle", least=None)  # a moment
MEAN_CYCLES = _real(", in cycles.", "cycles")
RANK_CYCLES = replace(MEAN_CYCLES, is_trimmed=True)  # such as a median, whole but for means of two
COUNT = _whole(", as a count.", "count")  # how often something happened
MEAN_COUNT = _real(", as a count.", "count")
WAVES = _whole(", in waves.", "waves")
BYTES = _whole(", in bytes.", "bytes")
WHOLE = _whole()
HIT = replace(WHOLE, text=lambda hit: count(hit + 1) if hit >= 0 else "")  # from 0, and from 1 for people
NUMBER = _real(".")
FROM_0 = replace(NUMBER, json=json_types.plain("number", minimum=0))
MEAN_WAVES = replace(FROM_0, ending=", in waves.", unit="waves", digits=4)
NANOSECONDS = replace(FROM_0, unit="ns", digits=1)
SHARE = replace(
    _real(", from 0 to 1.", text=partial(percent, whole=1), digits=6),
    json=json_types.plain("number", minimum=0, maximum=1),
)
PART = replace(SHARE, text=lambda share: percent(share, 1) if share else "")  # most of them are 0
RATIO = _real(", 1 being the same or all.", digits=6)
ROW = replace(_whole(), text=str, has_minus_one=True)  # of the program: a name, not grouped
ROW_OR_NONE = replace(_whole(least=-1), text=lambda row: str(row) if row >= 0 else "unknown")
PLACE = replace(ROW_OR_NONE, text=lambda place: str(place) if place >= 0 else "")  # of the hardware
INDEX = replace(_whole(), text=str)  # of something else, a name as well
SIGNED_INDEX = replace(_whole(least=None), text=str)
ADDRESS = replace(_whole(", in bytes."), text="{:#x}".format)
FLAG = Kind(
    json=json_types.plain("boolean"), dtype=np.bool_, width=10, text=lambda is_set: "yes" if is_set else ""
)
YES_NO = replace(FLAG, text=lambda is_set: "yes" if is_set else "no")
TEXT = Kind(json=json_types.plain("string"), width=20)
NOTE = replace(TEXT, elastic="right")  # a text that may be cut
NAME = replace(TEXT, is_data=True)  # of a kernel or a file
CODE = replace(NOTE, is_data=True)  # text of a source or of a note
INSTRUCTION = replace(NOTE, width=22, is_data=True)
SOURCE = replace(TEXT, elastic="left", is_data=True)  # path:line
WAVE = replace(TEXT, width=24, is_data=True)
VALUE = Kind(json=json_types.plain("integer", "number", "string"))


def listed(kind: Kind, meaning: str) -> Kind:
    """A list of values."""
    item = kind.json(f"{meaning}{kind.ending}")
    items = "string" if kind.dtype is None else "int64"
    return Kind(json=lambda sentence: json_types.listed(sentence, item), is_nested=True, items=items)


def pair(kind: Kind, meaning: str) -> Kind:
    """A list of two values, such as a begin and an end."""
    several = listed(kind, meaning).json
    return Kind(json=lambda sentence: several(sentence) | {"minItems": 2, "maxItems": 2}, is_nested=True)


CYCLE_RANGE = replace(pair(CYCLE, "Begin, then end"), ending=": begin and end, in cycles.")


def choice(*values: str) -> Kind:
    """One of some texts."""
    return replace(TEXT, json=lambda sentence: {"enum": list(values), "description": sentence}, width=14)


def fixed(value: str) -> Kind:
    """Always the same text, which distinguishes forms of a document."""
    return replace(TEXT, json=lambda sentence: {"const": value, "description": sentence})


def mapping(kind: Kind, names: Sequence[str], meaning: str, *, is_spread: bool = False) -> Kind:
    """Numbers by name: a column has one more axis; documents have the nonzero numbers, the largest first."""
    shape = kind.json(f"{meaning}{kind.ending}")
    return replace(
        kind,
        json=lambda sentence: json_types.named(sentence, shape),
        ending=".",
        names=tuple(names),
        is_spread=is_spread,
    )


def texts(item: str) -> Kind:
    """A list of texts, each of which is described by a sentence."""
    return replace(listed(TEXT, item.removesuffix(".")), text=partial(join_texts, "; "))
