"""`rcv pmc`: hit rate of L2, bytes to and from memory, and what they say about a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rcv_py.analysis.counters.pmc.decision import Decision, Step, decision, missing
from rcv_py.analysis.counters.pmc.original import CHANNELS, original_numbers
from rcv_py.analysis.counters.pmc.traffic import (
    Traffic,
    counter_of,
    family_of,
    pmc_lines,
    ratio,
    role_values,
    share,
    span,
    traffic,
    traffic_facts,
)
from rcv_py.base.errors import UsageError
from rcv_py.base.text import plural, short_kernel
from rcv_py.cli.about import about
from rcv_py.cli.options.device_options import PmcOptions
from rcv_py.cli.original_pmc import NOTHING, original_lines
from rcv_py.cli.report import json_text, print_facts, print_wrapped
from rcv_py.cli.results import print_csv, print_shown
from rcv_py.formats.pmc_files import pmc_table
from rcv_py.model.pmc import PmcTable
from rcv_py.results.pmc import pmc_table as pmc_rows

SCHEMA = "rcv.pmc/1"
TOLD = 3  # kernels whose tests are printed
MEGABYTE = 1e6
_NEEDED = ("hits", "misses", "reads", "reads_32", "reads_64", "reads_128")
_OLDER = "gfx942 has no counters of 64 and 128 bytes: there, TCC_BUBBLE_sum counts those of 128."
_LIMITS = (
    "Numbers are means of a dispatch. Counters tell how much was moved, not how long anything waited; "
    "they count between L2 and memory, so what the Infinity Cache delivers counts as memory. "
    "Recording them lengthens kernels and runs them one by one."
)


def run(arguments: PmcOptions) -> int:
    """Print what was counted as text, CSV or JSON."""
    table = pmc_table(arguments.paths)
    ideal = (arguments.ideal_mb or 0.0) * MEGABYTE
    if arguments.like:
        return _original(arguments, table, ideal)
    found = traffic(table, arguments.by, arguments.kernel, ideal, arguments.channels or 1)
    _check(arguments, table, found)
    shown = [(one, decision(one)) for one in found[: arguments.top or None]]
    rows = pmc_rows(shown, family_of(table))
    if arguments.csv:
        print_csv(rows)
    elif arguments.json:
        document = {
            "files": list(table.files),
            "by": arguments.by,
            "kernel": arguments.kernel or None,
            "ideal_bytes": ideal or None,
            "channels": arguments.channels or 1,
            "notes": [*table.notes, *_repeats(table)],
            "of": len(found),
            "rows": rows.rows(),
        }
        print(json_text(SCHEMA, document, about(arguments, problems=table.notes)))
    else:
        print_shown(rows)
        _print(table, arguments, len(found), shown)
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


def _print(
    table: PmcTable, arguments: PmcOptions, count: int, shown: Sequence[tuple[Traffic, Decision]]
) -> None:
    unit = plural(count, arguments.by, "dispatches" if arguments.by == "dispatch" else "")
    of = plural(len(table.files), "file")
    print(f"\n{len(shown):,} of {unit} in {of}.")
    for row in shown[:TOLD]:
        print()
        _tell(*row, family_of(table))
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


def _tell(found: Traffic, decided: Decision, family: str) -> None:
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


def _name(found: Traffic) -> str:
    name = short_kernel(found.name)
    return f"{name} (dispatch {found.dispatch})" if found.dispatch else name


def _answer(test: Step) -> str:
    measured = span(test.value, ratio if test.name == "over_fetch" else share)
    return f"{measured}, so {test.answer}" if measured else test.answer
