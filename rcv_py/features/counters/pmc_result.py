"""Hit rate of L2 and memory traffic, by counters that `rocprofv3 --pmc` recorded, and conclusions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from rcv_py.analysis.counters.pmc.decision import Decision, missing
from rcv_py.analysis.counters.pmc.traffic import Range, Traffic, counter_of, pmc_lines, ratio, share, span
from rcv_py.base.text import Message, byte_size, short_count, short_kernel
from rcv_py.results import kinds
from rcv_py.results.common import TOTAL_ROWS
from rcv_py.results.field import DATA, PEOPLE, Field, only, rows, unknown
from rcv_py.results.table import ResultTable, Schema, Spec

_NUMBER = replace(kinds.NUMBER, digits=None)
_SHARE = replace(kinds.SHARE, digits=None)
_COUNTED = {
    "hits": "Requests that found their line in L2",
    "misses": "Requests that did not find their line in L2",
    "requests": "Requests to L2",
    "l1_reads": "Reads that L1 sent to L2",
    "reads": "Reads from memory",
    "reads_32": "Reads from memory of 32 bytes",
    "reads_64": "Reads from memory of 64 bytes",
    "reads_96": "Reads from memory of 96 bytes",
    "reads_128": "Reads from memory of 128 bytes",
    "tcc_bubble": "Reads of 128 bytes as gfx942 counts them",
    "dram_reads": "Reads from the memory of the device itself",
    "writes": "Writes to memory",
    "writes_64": "Writes to memory of 64 bytes",
}
_RANGES = {
    "read": "bytes read from memory per dispatch, in bytes",
    "written": "bytes written to memory per dispatch, in bytes",
    "over_fetch": "bytes read divided by ideal bytes; null without --ideal-mb",
    "hit_rates": "L2 hit rate of a dispatch, from 0 to 1",
}
_BOUNDS = {"min": "Lower bound of", "max": "Upper bound of"}
_TESTS = rows(
    kinds.TEXT("name", "Stable name of the test"),
    kinds.TEXT("question", "The question"),
    *unknown(
        *(
            kinds.NUMBER(name, Message("{0} the value, a share or a ratio", bound))
            for name, bound in _BOUNDS.items()
        )
    ),
    kinds.NUMBER("limit", "What the value is compared with, a share or a ratio"),
    kinds.TEXT("answer", "The answer: yes, no or unknown"),
    kinds.TEXT("means", "What follows from it"),
)


def _shown(name: str, title: str, meaning: str, text: Callable[[Mapping[str, Any]], str]) -> Field:
    return replace(kinds.TEXT, is_number=True)(name, meaning, title, at=PEOPLE, of=text)


def _share(name: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda row: share(row[name])


def _count(row: Mapping[str, Any]) -> str:
    return "" if row["reads"] is None else short_count(row["reads"])


def _lookups(row: Mapping[str, Any]) -> str:
    return "" if row["hit_rate"] is None else short_count((row["hits"] or 0.0) + (row["misses"] or 0.0))


def _span(name: str, write: Callable[[float], str]) -> Callable[[Mapping[str, Any]], str]:
    def text(row: Mapping[str, Any]) -> str:
        low, high = (row[f"{name}_{end}"] for end in _BOUNDS)
        return "" if low is None else span(Range(low, high), write)

    return text


def _kernel(row: Mapping[str, Any]) -> str:
    name = short_kernel(row["kernel"])
    return Message("{0} (dispatch {1})", name, row["dispatch"]) if row["dispatch"] else name


PMC = Spec(
    "pmc",
    "Kernels or dispatches by reads from memory, the largest first; means per dispatch.",
    "kernel",
    kinds.NOTE("kernel_name", "Kernel and dispatch", "kernel", at=PEOPLE, of=_kernel),
    kinds.TEXT("kernel", "Name of the kernel", at=DATA),
    *unknown(*only(DATA, kinds.TEXT("dispatch", "Number of the dispatch; null for all of the kernel"))),
    kinds.COUNT("dispatches", "Dispatches in the row"),
    _shown("l2_hits", "L2 hits", "Part of the lookups that hit L2", _share("hit_rate")),
    _shown("lookups", "lookups", "Lookups in L2", _lookups),
    _shown("memory_reads", "reads", _COUNTED["reads"], _count),
    _shown("of_32_bytes", "32 B", "Part of the reads that are of 32 bytes", _share("partial_share_of_reads")),
    _shown("bytes_read", "read", "Bytes read from memory", _span("read", byte_size)),
    _shown("bytes_written", "written", "Bytes written to memory", _span("written", byte_size)),
    _shown("through_ideal", "over-fetch", "Bytes read divided by ideal bytes", _span("over_fetch", ratio)),
    *unknown(
        *only(
            DATA,
            *(_NUMBER(name, Message("{0}, a mean count", text)) for name, text in _COUNTED.items()),
            _SHARE("hit_rate", "Part of the lookups that hit L2"),
            _SHARE("partial_share_of_reads", "Part of the reads that are of 32 bytes"),
            _SHARE("dram_share_of_reads", "Part of the reads that went to the memory of the device itself"),
            *(
                _NUMBER(f"{name}_{end}", f"{bound} {text}")
                for end, bound in _BOUNDS.items()
                for name, text in _RANGES.items()
            ),
            _NUMBER("duration_ns", "Mean duration, in nanoseconds, while counters were recorded"),
        )
    ),
    kinds.TEXT("branch", "Stable name of the conclusion"),
    *only(
        DATA,
        kinds.TEXT("because", "The same as a sentence"),
        kinds.TEXT("remedy", "What to do"),
        kinds.TEXT.maybe("decided_by", "Name of the test that decided; null if none did"),
        _TESTS("tests", "The tests that led to it, in order"),
        Field("missing", kinds.texts("Name of a counter."), "Counters that would show more"),
        Field("record", kinds.texts("A line."), "Lines for rocprofv3 that record them, a run each"),
    ),
)
FACTS = (
    Field("files", kinds.texts("A name."), "Names of the files that were read"),
    Field("by", kinds.choice("kernel", "dispatch"), "What a row is"),
    kinds.TEXT.maybe("kernel", "Part of the kernel's name that was given; null for all"),
    kinds.NUMBER.maybe("ideal_bytes", "Minimum that a dispatch has to read, in bytes"),
    kinds.WHOLE("channels", "Channels whose sums were recorded separately, as a count"),
    Field("notes", kinds.texts("A sentence."), "What is doubtful or missing"),
    TOTAL_ROWS,
)
SCHEMA = Schema(
    "pmc",
    "Hit rate of L2 and bytes to and from memory, by counters of rocprofv3 --pmc.",
    (*FACTS, PMC.field()),
)


def pmc_table(found: Sequence[tuple[Traffic, Decision]], family: str) -> ResultTable:
    """Return one row per kernel or dispatch; `family` is the GPU's naming scheme of counters."""
    rows = [_row(one, decided, family) for one, decided in found]
    return ResultTable(PMC, {field.name: [row[field.name] for row in rows] for field in PMC.at(DATA)})


def _row(found: Traffic, decided: Decision, family: str) -> dict[str, Any]:
    lacks = missing(decided)
    row = {
        "kernel": found.name,
        "dispatch": found.dispatch or None,
        "dispatches": found.dispatches,
        **{"tcc_bubble" if name == "bubbles" else name: value for name, value in found.counted.items()},
        "hit_rate": found.hit_rate,
        "partial_share_of_reads": found.partial,
        "dram_share_of_reads": found.dram,
        "duration_ns": found.nanoseconds,
    }
    for name in _RANGES:
        one: Range = getattr(found, name)
        row |= {f"{name}_min": one.low, f"{name}_max": one.high}
    return row | {
        "branch": decided.branch.name,
        "because": decided.branch.sentence,
        "remedy": decided.branch.remedy,
        "decided_by": decided.deciding or None,
        "tests": [
            {
                "name": test.name,
                "question": test.question,
                "min": test.value.low if test.value.is_known else None,
                "max": test.value.high if test.value.is_known else None,
                "limit": test.limit,
                "answer": test.answer,
                "means": test.means,
            }
            for test in decided.tests
        ],
        "missing": [name for name in (counter_of(key, family) for key in lacks) if name],
        "record": list(pmc_lines(lacks, family)),
    }
