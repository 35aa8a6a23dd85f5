"""`rcv pmc`: hit rate of L2, bytes to and from memory, and what they say about a kernel."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rcv_py.analysis.counters.pmc.counters import counter_of, family_of, pmc_lines, role_values
from rcv_py.analysis.counters.pmc.decision import Decision, Step, decision, missing
from rcv_py.analysis.counters.pmc.original import CHANNELS, original_numbers
from rcv_py.analysis.counters.pmc.text import ratio, share, span, traffic_facts
from rcv_py.analysis.counters.pmc.traffic import Traffic, traffic
from rcv_py.base.csv_text import csv_text
from rcv_py.base.errors import UsageError
from rcv_py.base.text import byte_size, count, plural, short_count, short_kernel
from rcv_py.cli.about import about
from rcv_py.cli.options.device_options import PmcOptions
from rcv_py.cli.original_pmc import NOTHING, original_lines
from rcv_py.cli.report import Column, json_text, print_facts, print_table, print_wrapped
from rcv_py.formats.pmc_files import pmc_table
from rcv_py.model.pmc import PmcTable

SCHEMA = "rcv.pmc/1"
TOLD = 3  # kernels whose tests are printed
MEGABYTE = 1e6
_NEEDED = ("hits", "misses", "reads", "reads_32", "reads_64", "reads_128")
_COLUMNS = (
    Column("kernel", elastic="right"),
    *(
        Column(name, True)
        for name in ("dispatches", "L2 hits", "lookups", "reads", "32 B", "read", "written", "over-fetch")
    ),
    Column("branch"),
)
_OLDER = "gfx942 has no counters of 64 and 128 bytes: there, TCC_BUBBLE_sum counts those of 128."
_LIMITS = (
    "Numbers are means of a dispatch. Counters tell how much was moved, not how long anything waited; "
    "they count between L2 and memory, so what the Infinity Cache delivers counts as memory. "
    "Recording them lengthens kernels and runs them one by one."
)


@dataclass(frozen=True, slots=True)
class _Row:
    found: Traffic
    decided: Decision


def run(arguments: PmcOptions) -> int:
    """Print what was counted as text, CSV or JSON."""
    table = pmc_table(arguments.paths)
    ideal = (arguments.ideal_mb or 0.0) * MEGABYTE
    if arguments.like:
        return _original(arguments, table, ideal)
    found = traffic(table, arguments.by, arguments.kernel, ideal, arguments.channels or 1)
    _check(arguments, table, found)
    rows = [_Row(one, decision(one)) for one in found]
    shown = rows[: arguments.top or None]
    if arguments.csv:
        head = list(_flat(shown[0]))
        sys.stdout.write(csv_text(head, [list(_flat(row).values()) for row in shown]))
    elif arguments.json:
        document = _document(arguments, table, rows, shown)
        print(json_text(SCHEMA, document, about(arguments, problems=table.notes)))
    else:
        _print(table, arguments, rows, shown)
    return 0


def _original(arguments: PmcOptions, table: PmcTable, ideal: float) -> int:
    if arguments.csv or arguments.json or arguments.by != "kernel":
        raise UsageError("--like prints text over all dispatches.", hint="Leave out --json, --csv and --by.")
    found = original_numbers(table, arguments.kernel, arguments.channels or CHANNELS, ideal)
    if not found.dispatches:
        print(NOTHING)
        return 2
    print("\n".join(original_lines(found)))
    return 0


def _check(arguments: PmcOptions, table: PmcTable, found: Sequence[Traffic]) -> None:
    if not found:
        names = sorted({short_kernel(one.kernel) for one in table.dispatches})
        known = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
        if not names:
            raise UsageError("The tables hold no dispatches.", hint="Did the application launch a kernel?")
        raise UsageError(f"No kernel has {arguments.kernel!r} in its name.", hint=f"There are {known}.")
    if all(one.counted[key] is None for one in found for key in _NEEDED):
        counted = ", ".join(table.counters[:4]) or "none"
        family = family_of(table)
        wanted = (
            f"{counter_of('hits', family)}, {counter_of('misses', family)} and {counter_of('reads', family)}"
        )
        raise UsageError(
            f"The tables hold no counter of L2 or memory ({counted}); {wanted} are missing.",
            hint="Record them: " + " and, in another run, ".join(pmc_lines(_NEEDED, family)),
        )


def _print(table: PmcTable, arguments: PmcOptions, rows: Sequence[_Row], shown: Sequence[_Row]) -> None:
    print_table(_COLUMNS, [_cells(row) for row in shown])
    unit = plural(len(rows), arguments.by, "dispatches" if arguments.by == "dispatch" else "")
    of = plural(len(table.files), "file")
    print(f"\n{len(shown):,} of {unit} in {of}.")
    for row in shown[:TOLD]:
        print()
        _tell(row, family_of(table))
    if len(shown) > TOLD:
        print(f"\nThe tests of the first {TOLD} are told; --kernel NAME chooses others.")
    print()
    for note in (*table.notes, *_repeats(table), _LIMITS):
        print_wrapped(note)


def _repeats(table: PmcTable) -> Iterator[str]:
    _, repeated = role_values(table)
    if repeated:
        many = "were" if len(repeated) > 1 else "was"
        yield (
            f"{', '.join(repeated)} {many} recorded by several files for the same dispatches; "
            "their mean counts."
        )


def _tell(row: _Row, family: str) -> None:
    found, decided = row.found, row.decided
    print(f"{_name(found)}: {decided.branch.name}")
    print_wrapped(f"{decided.branch.sentence} {decided.branch.remedy}", 2)
    print_facts(list(traffic_facts(found)))
    print_facts(
        [
            (f"{at}. {test.question}?", f"{_answer(test)}: {test.means}")
            for at, test in enumerate(decided.tests, 1)
        ]
    )
    lacks = missing(decided)
    if lacks:
        names = ", ".join(name for name in (counter_of(key, family) for key in lacks) if name)
        print_wrapped(f"Not recorded: {names}. To record:", 2)
        for line in pmc_lines(lacks, family):
            print(f"    {line}")
        if family == "TCC" and "reads_128" in lacks:
            print_wrapped(_OLDER, 2)


def _cells(row: _Row) -> list[str]:
    found = row.found
    counted = found.counted
    lookups = None if found.hit_rate is None else (counted["hits"] or 0.0) + (counted["misses"] or 0.0)
    return [
        _name(found),
        count(found.dispatches),
        share(found.hit_rate),
        "" if lookups is None else short_count(lookups),
        "" if counted["reads"] is None else short_count(counted["reads"]),
        share(found.partial),
        span(found.read, byte_size),
        span(found.written, byte_size),
        span(found.over_fetch, ratio),
        row.decided.branch.name,
    ]


def _name(found: Traffic) -> str:
    name = short_kernel(found.name)
    return f"{name} (dispatch {found.dispatch})" if found.dispatch else name


def _answer(test: Step) -> str:
    measured = span(test.value, ratio if test.name == "over_fetch" else share)
    return f"{measured}, so {test.answer}" if measured else test.answer


def _flat(row: _Row) -> dict[str, Any]:
    """A row as CSV and JSON write it: bytes, counts and shares of a dispatch."""
    found = row.found
    pairs = {
        "read": found.read,
        "written": found.written,
        "over_fetch": found.over_fetch,
        "hit_rates": found.hit_rates,
    }
    return {
        "kernel": found.name,
        "dispatch": found.dispatch or None,
        "dispatches": found.dispatches,
        **dict(found.counted),
        "hit_rate": found.hit_rate,
        "partial": found.partial,
        "dram": found.dram,
        **{f"{name}_least": None if one is None else one.least for name, one in pairs.items()},
        **{f"{name}_most": None if one is None else one.most for name, one in pairs.items()},
        "nanoseconds": found.nanoseconds,
        "branch": row.decided.branch.name,
    }


def _document(
    arguments: PmcOptions, table: PmcTable, rows: Sequence[_Row], shown: Sequence[_Row]
) -> dict[str, Any]:
    return {
        "files": list(table.files),
        "by": arguments.by,
        "kernel": arguments.kernel or None,
        "ideal_bytes": (arguments.ideal_mb or 0.0) * MEGABYTE or None,
        "channels": arguments.channels or 1,
        "notes": [*table.notes, *_repeats(table)],
        "of": len(rows),
        "rows": [_flat(row) | _decided(row, family_of(table)) for row in shown],
    }


def _decided(row: _Row, family: str) -> dict[str, Any]:
    lacks = missing(row.decided)
    return {
        "because": row.decided.branch.sentence,
        "remedy": row.decided.branch.remedy,
        "decided_by": row.decided.deciding or None,
        "tests": [
            {
                "name": test.name,
                "question": test.question,
                "least": None if test.value is None else test.value.least,
                "most": None if test.value is None else test.value.most,
                "limit": test.limit,
                "answer": test.answer,
                "means": test.means,
            }
            for test in row.decided.tests
        ],
        "missing": [name for name in (counter_of(key, family) for key in lacks) if name],
        "record": list(pmc_lines(lacks, family)),
    }
