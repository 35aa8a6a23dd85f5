"""`rcv pmc`: hit rate of L2, bytes to and from memory, and conclusions about a kernel."""

from collections.abc import Iterator, Sequence
from math import isnan

from rcv_py.analysis.counters.pmc import traffic
from rcv_py.analysis.counters.pmc.decision import Decision, decision, missing
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, plural, short_kernel
from rcv_py.cli.answer import CommandAnswer, Facts, Part, TextTable
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.features.compat.command import like_pmc
from rcv_py.features.compat.script_numbers import CHANNELS, original_numbers
from rcv_py.features.counters.options import PmcOptions
from rcv_py.features.counters.pmc_result import SCHEMA
from rcv_py.features.counters.pmc_result import pmc_table as pmc_rows
from rcv_py.formats.pmc_files import pmc_table
from rcv_py.model.device import PmcTable

MAX_EXPLAINED = 3  # kernels whose tests are printed
MEGABYTE = 1e6
NOTHING = "No matching counter rows found."  # in the words of pmc_l2_analyzer.py
_NEEDED = (*traffic.PASSES[0][:2], *traffic.PASSES[1])  # hits and misses, reads of all sizes
_OLDER = "gfx942 has no counters of 64-byte and 128-byte reads: there, TCC_BUBBLE_sum counts 128-byte reads."
_LIMITS = (
    "Numbers are means of a dispatch. Counters show how much was moved, not how long anything waited; "
    "they count between L2 and memory, so what the Infinity Cache delivers counts as memory. "
    "Recording them lengthens kernels and runs them one by one."
)


def run(options: PmcOptions) -> CommandAnswer | int:
    """Return the counters per kernel or dispatch."""
    table = pmc_table(options.paths)
    ideal = (options.ideal_mb or 0.0) * MEGABYTE
    if options.like:
        return _original(options, table, ideal)
    found = traffic.traffic(table, options.by, options.kernel, ideal, options.channels or 1)
    _check(options, table, found)
    shown = [(row, decision(row)) for row in found[: options.top or None]]
    rows = pmc_rows(shown, traffic.family_of(table))
    return CommandAnswer.of_table(
        SCHEMA,
        rows,
        lambda: [TextTable(rows), *_text(table, options, len(found), shown)],
        lambda: {
            "files": list(table.files),
            "by": options.by,
            "kernel": options.kernel or None,
            "ideal_bytes": ideal or None,
            "channels": options.channels or 1,
            "notes": [*table.notes, *_repeats(table)],
            "total_rows": len(found),
        },
        about={"problems": table.notes},
    )


def _original(options: PmcOptions, table: PmcTable, ideal: float) -> int:
    if options.csv or options.json or options.by != "kernel":
        raise UsageError("--like prints text over all dispatches.", hint="Leave out --json, --csv and --by.")
    found = original_numbers(table, options.kernel, options.channels or CHANNELS, ideal)
    print(*(like_pmc(found) if found.dispatches else [NOTHING]), sep="\n")
    return ExitCode.DONE if found.dispatches else ExitCode.USAGE


def _check(options: PmcOptions, table: PmcTable, found: Sequence[traffic.Traffic]) -> None:
    if not found:
        names = sorted({short_kernel(dispatch.kernel) for dispatch in table.dispatches})
        known = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
        if not names:
            raise UsageError("The tables hold no dispatches.", hint="Did the application launch a kernel?")
        text = Message("No kernel has {0!r} in its name.", options.kernel)
        raise UsageError(text, hint=Message("There are {0}.", known))
    if all(isnan(row.counted[key]) for row in found for key in _NEEDED):
        counted = ", ".join(table.counters[:4]) or "none"
        family = traffic.family_of(table)
        hits, misses, reads = (traffic.counter_of(key, family) for key in _NEEDED[:3])
        lacking = Message("{0}, {1} and {2} are missing", hits, misses, reads)
        text = Message("The tables hold no counter of L2 or memory ({0}); {1}.", counted, lacking)
        lines = " and, in another run, ".join(traffic.pmc_lines(_NEEDED, family))
        raise UsageError(text, hint=Message("Record them: {0}", lines))


def _text(
    table: PmcTable, options: PmcOptions, count: int, shown: Sequence[tuple[traffic.Traffic, Decision]]
) -> Iterator[Part]:
    unit = plural(count, options.by, "dispatches" if options.by == "dispatch" else "")
    yield Message("\n{0:,} of {1} in {2}.", len(shown), unit, plural(len(table.files), "file"))
    for row in shown[:MAX_EXPLAINED]:
        yield ""
        yield from _explained(*row, traffic.family_of(table))
    if len(shown) > MAX_EXPLAINED:
        yield Message("\nThe tests of the first {0} are shown; --kernel NAME chooses others.", MAX_EXPLAINED)
    yield from ("", *table.notes, *_repeats(table), _LIMITS)


def _repeats(table: PmcTable) -> list[str]:
    names = traffic.repeated(table)
    text = "Recorded in several passes: {0}. A ratio takes its counters from the same pass."
    return [Message(text, ", ".join(names))] if names else []


def _explained(found: traffic.Traffic, decided: Decision, family: str) -> Iterator[Part]:
    dispatch = Message(" (dispatch {0})", found.dispatch) if found.dispatch else ""
    yield f"{short_kernel(found.name)}{dispatch}: {decided.branch.name}"
    yield f"  {decided.branch.sentence} {decided.branch.remedy}"
    yield Facts(list(traffic.traffic_facts(found)))
    steps = []
    for at, test in enumerate(decided.tests, 1):
        measured = traffic.span(test.value, traffic.ratio if test.name == "over_fetch" else traffic.share)
        answer = Message("{0}, so {1}", measured, test.answer) if measured else test.answer
        steps.append((f"{at}. {test.question}?", f"{answer}: {test.means}"))
    yield Facts(steps)
    lacking = missing(decided)
    if lacking:
        names = ", ".join(name for name in (traffic.counter_of(key, family) for key in lacking) if name)
        yield Message("  Not recorded: {0}. To record:", names)
        yield from (f"    {line}" for line in traffic.pmc_lines(lacking, family))
        if family == "TCC" and "reads_128" in lacking:
            yield f"  {_OLDER}"
