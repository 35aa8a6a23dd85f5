"""Recorded addresses of lanes: strides, cache lines and bank conflicts of memory instructions."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.events.payloads import ADDRESSES as PREFIX
from rcv_py.analysis.latency.address_access import APART, AddressAccesses
from rcv_py.analysis.latency.address_blocks import KINDS, kind_of
from rcv_py.base.text import Message, count, join_texts, plural
from rcv_py.model.trace import Trace
from rcv_py.results import kinds
from rcv_py.results.common import INSTRUCTION_INDEX, INSTRUCTION_TEXT, SOURCE_PLACE
from rcv_py.results.field import DATA, PEOPLE, WINDOW, record_field, unknown
from rcv_py.results.places import placed
from rcv_py.results.table import Columns, ResultTable, Spec

NO_ADDRESSES = (
    "The kernel did not write the addresses of its lanes: build it with AMD's compiler pass and "
    "SQTT_TRACE_ADDRESSES=memory,lds (docs/record.md)."
)
RECORDED = "Recorded addresses of the active lanes."
NOT_PUBLISHED = "Bank conflicts are known where it is published which lanes LDS serves together."
_STRIDE = replace(kinds.SIGNED_INDEX, unit="bytes", ending=", in bytes.", text=count)
_USED = replace(kinds.FROM_0, unit="bytes", ending=", in bytes.", text="{:,.1f}".format)
_MEAN = replace(kinds.MEAN_COUNT, text="{:,.1f}".format)
_HIDDEN = DATA | WINDOW
_UNUSABLE = kinds.COUNT(
    "unusable", "Executions whose number of words fits no wave, or of an unknown kind", at=_HIDDEN
)


def _judged(row: Mapping[str, Any]) -> str:
    """What the numbers of an instruction mean, in a few words."""

    def value(name: str) -> float:
        return np.nan if row[name] is None else float(row[name])

    if not row["blocks"]:
        return "words are missing" if row["incomplete"] else "words of no known form"
    if value("conflict") > 1:
        passes, needed = value("passes"), value("needed_passes")
        return Message("bank conflicts: {0:.1f} passes, {1:.1f} needed", passes, needed)
    if value("spread") >= APART:
        return Message("lanes apart: {0:.1f} lines, {1:.1f} needed", value("lines"), value("needed_lines"))
    if value("spread") > 1:
        return "more lines than its bytes need"
    if row["kind"] in KINDS and KINDS[row["kind"]].is_local:
        return "no bank conflicts" if value("conflict") == 1 else "bank conflicts not known"
    return "lines as its bytes need" if value("spread") == 1 else ""


ADDRESSES = Spec(
    "lane_addresses",
    "Memory instructions whose addresses the kernel wrote, most lines and passes beyond need first.",
    "instruction",
    *unknown(INSTRUCTION_INDEX),
    replace(kinds.TEXT, width=12)("kind", "Kind of access, as in the name of the marker"),
    kinds.INDEX("marker", "Number of the marker", at=DATA),
    kinds.COUNT("blocks", "Executions whose addresses were recorded completely"),
    kinds.COUNT("incomplete", "Executions of which words are missing, or are not addresses"),
    _UNUSABLE,
    _MEAN.maybe("lanes", "Active lanes, mean"),
    kinds.BYTES.maybe("width", "Bytes per lane"),
    _STRIDE.maybe("stride", "Distance from lane to lane, if it is the same in all executions"),
    kinds.SHARE.maybe(
        "strided_share_of_executions",
        "Executions of several lanes that have a stride",
        at=_HIDDEN,
        key="strided",
    ),
    kinds.BYTES.maybe("alignment", "Largest power of two, up to 4,096, that divides all addresses"),
    _MEAN.maybe("lines", "Cache lines that an execution touches, mean"),
    _MEAN.maybe("needed_lines", "Fewest lines that hold as many bytes, mean", "needed"),
    _USED.maybe("used_bytes", "Bytes used of each touched line, mean", "used of a line"),
    kinds.COUNT.maybe("requests", "Cache lines touched, summed over executions", at=_HIDDEN),
    kinds.RATIO.maybe("spread", "Lines touched, divided by lines needed", at=_HIDDEN),
    _MEAN.maybe("passes", "Passes of LDS that an execution takes, mean"),
    _MEAN.maybe("needed_passes", "Passes without bank conflicts, mean", "needed passes", at=_HIDDEN),
    replace(kinds.RATIO, text="{:.1f}".format).maybe(
        "conflict", "Passes, divided by those without bank conflicts", "times"
    ),
    replace(kinds.NOTE, width=42)("judgement", "What that means", at=PEOPLE, of=_judged),
    INSTRUCTION_TEXT,
    SOURCE_PLACE,
    nothing=NO_ADDRESSES,
    window="instruction text source kind judgement stride lanes lines needed_lines used_bytes passes "
    "conflict blocks incomplete",
)
_OF_INSTRUCTION = ("blocks", "lanes", "stride", "alignment", "lines", "used_bytes", "passes")
ADDRESS_TOTALS = record_field(
    "totals",
    "Sums over all rows, and what they are measured by",
    kinds.COUNT("blocks", "Executions whose addresses were recorded completely"),
    kinds.COUNT("incomplete", "Executions of which words are missing, at least"),
    _UNUSABLE,
    kinds.COUNT("apart", "Instructions that touch at least twice the lines they need"),
    kinds.COUNT("conflicting", "Instructions with bank conflicts"),
    kinds.BYTES.maybe("cache_line", "Size of a cache line"),
    kinds.WHOLE("banks", "Banks of LDS"),
)


def address_rows(trace: Trace, found: AddressAccesses) -> ResultTable:
    """Return one row per marker of addresses; without an instruction it has the marker's source place."""
    names = [trace.markers[row] for row in found.marker.tolist()]
    blocks = np.where(found.blocks > 0, found.blocks, np.nan)
    places = placed(trace, found.line)
    own = np.asarray(places["source"].values(), dtype=object)  # type: ignore[union-attr]
    marked = [one.source.partition(" -> ")[0] for one in names]
    columns: Columns = {
        **places,
        "kind": [kind_of(one.name) or one.name.removeprefix(PREFIX) for one in names],
        "marker": [one.marker for one in names],
        "width": np.where(found.width > 0, found.width, np.nan),
        "alignment": np.where(found.alignment > 0, found.alignment, np.nan),
        "lines": found.requests / blocks,
        "needed_lines": found.least_requests / blocks,
        "used_bytes": found.used / np.where(found.requests > 0, found.requests, np.nan),
        "passes": found.passes / blocks,
        "needed_passes": found.least_passes / blocks,
        "source": np.where(found.line >= 0, own, np.array([*marked, None], dtype=object)[:-1]),
    }
    return ResultTable.of(ADDRESSES, found, columns)


def address_facts(trace: Trace, found: AddressAccesses, line: int) -> list[tuple[str, str]]:
    """Return what the addresses of its lanes show about an instruction, as names and texts; none without."""
    facts: list[tuple[str, str]] = []
    for row in address_rows(trace, found.at(found.of_line(line))).records():
        for field in map(ADDRESSES.__getitem__, _OF_INSTRUCTION):
            if text := field.text(row[field.name]):
                is_size = field.kind.unit == "bytes"
                facts.append((field.title, Message("{0} bytes", text) if is_size else text))
        facts.append(("judgement", _judged(row)))
    return facts


def address_judgements(trace: Trace, found: AddressAccesses) -> dict[int, str]:
    """Return in words what addresses show about each instruction of which they are known."""
    rows = address_rows(trace, found).records()
    known = (row for row in rows if row["instruction"] is not None and row["blocks"])
    return {row["instruction"]: _judged(row) for row in known}


def address_note(found: AddressAccesses) -> str:
    """Return what the rows are measured by."""
    lines: str = "The size of a cache line of this GPU is not published."
    if found.cache_line:
        lines = Message("Cache lines have {0} bytes.", found.cache_line)
    return join_texts(" ", filter(None, (RECORDED, lines, NOT_PUBLISHED, found.guess)))


def address_text(totals: Mapping[str, Any]) -> str:
    """Return the totals in words."""
    blocks, apart = plural(totals["blocks"], "execution"), count(totals["apart"])
    said = "{0}. Instructions that touch at least twice the lines they need: {1}; with bank conflicts: {2}."
    text = Message(said, blocks, apart, count(totals["conflicting"]))
    if totals["incomplete"]:
        lost = plural(totals["incomplete"], "more execution")
        text += Message(" Of {0} words are missing: the hardware drops values where they are dense.", lost)
    if totals["unusable"]:
        text += Message(" The words of {0} have no known form.", plural(totals["unusable"], "execution"))
    return text


def address_totals(found: AddressAccesses) -> dict[str, Any]:
    """Return sums over all rows, and what they are measured by."""
    return {
        **{name: int(getattr(found, name).sum()) for name in ("blocks", "incomplete", "unusable")},
        "apart": int((np.nan_to_num(found.spread) >= APART).sum()),
        "conflicting": int((np.nan_to_num(found.conflict) > 1).sum()),
        "cache_line": found.cache_line or None,
        "banks": found.banks,
    }
