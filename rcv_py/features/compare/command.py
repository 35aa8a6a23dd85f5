"""`rcv compare`: whether B takes more cycles than A, where, and how much is noise."""

import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from rcv_py.analysis.compare.builds import Build, BuildStep, step
from rcv_py.analysis.compare.changes import numbers, sides
from rcv_py.analysis.compare.compare import Comparison, compare
from rcv_py.analysis.compare.costs import CaptureCosts, explained_costs_from, table_doubt
from rcv_py.analysis.compare.verdict import Verdict
from rcv_py.analysis.compare.work import work_costs
from rcv_py.analysis.overview.library import LibraryRow
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.errors import RcvError, UsageError
from rcv_py.base.markdown import md_code, md_table, md_text
from rcv_py.base.text import Message, plural, short_paths, some
from rcv_py.cli.answer import CommandAnswer, Facts, Part, TextTable, limited
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.opening import all_captures, below, opened, refuse_for_one
from rcv_py.cli.options.option import flag_of
from rcv_py.cli.terminal import bold, complain, complaints, progress
from rcv_py.features.compare import result
from rcv_py.features.compare.library_result import SEVERAL_SCHEMA, trend_table
from rcv_py.features.compare.options import CompareOptions
from rcv_py.features.compare.program_command import compare_builds
from rcv_py.formats.locate import CaptureForm, shape_of
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.trace import Trace
from rcv_py.results.places import with_short_places
from rcv_py.results.table import ResultTable
from rcv_py.work.library import builds, launch_ns
from rcv_py.work.reduce import Reducer

MAX_IN_JUNIT = 10  # rows beyond noise in a message
TRIPS = {"regression": (Verdict.MORE,), "difference": (Verdict.MORE, Verdict.FEWER)}
_METRICS = {"cost": "latency and idle", "latency": "latency", "stall": "stall"}


def run(options: CompareOptions) -> CommandAnswer:
    """Compare two captures, or one with each of several; the exit code is 3 if the gate trips."""
    others = all_captures([options.other, *options.more])
    if others and shape_of(others[0]) is CaptureForm.COMPILED:
        return compare_builds(all_captures([options.folder]), others, options)
    if options.fail_on not in (None, *TRIPS):
        text = Message("--fail-on {0} is about builds, and these are captures.", options.fail_on)
        raise UsageError(text, hint="Use --fail-on regression or difference.")
    if len(others) > 1:  # a folder around a single capture stands for it
        return _several(others, options)
    refuse_for_one(options)
    paths = [path for path in (options.folder, options.other, options.twin) if path is not None]
    traces = [opened(options, path) for path in paths]
    wanted = options.waves or WORKING
    costs = [_costs(trace, wanted) for trace in traces]
    found = compare(
        costs[0],
        costs[1],
        options.seed,
        measure=options.metric,
        threshold=None if options.least is None else options.least / 100,
        replicate=costs[2] if len(costs) > 2 else None,
    )
    names = zip(("A", "B", "replicate"), traces, costs, strict=False)
    waves = waves_of(wanted, [(name, len(trace.waves), own) for name, trace, own in names])
    known = zip(traces, costs, strict=True)
    doubts = complaints((trace.name, table_doubt(own.launch, facts_about(trace))) for trace, own in known)
    about = {"traces": traces, "waves": waves, "problems": doubts}
    is_open = found.verdict is Verdict.NOT_COMPARABLE
    undecided = Message("The gate cannot decide. {0}", found.judgement.sentence) if is_open else ""
    code = _gate(options.fail_on, [found.verdict], undecided, "both sides")
    if options.by in ("listing", "flame", "work"):
        return _view(found, traces, options, about, code)
    return _ranking(found, options, about, code)


def _gate(fail_on: str | None, verdicts: Sequence[Verdict | None], undecided: str, sides: str) -> int:
    """3 if a verdict trips the gate, 2 if one is `undecided`: a sentence, "" if all are decided."""
    if fail_on is None:
        return ExitCode.DONE
    if any(verdict in TRIPS[fail_on] for verdict in verdicts):
        return ExitCode.GATE
    if undecided:
        complain(undecided, Message("Record the same kernel with the same input for {0}.", sides))
    return ExitCode.USAGE if undecided else ExitCode.DONE


def _costs(trace: Trace, wanted: str) -> CaptureCosts:
    with progress() as report, Reducer(trace, report=report) as found:
        return explained_costs_from(found, wanted)


def waves_of(chosen: str, sides: Sequence[tuple[str, int, CaptureCosts | None]]) -> dict[str, Any]:
    """Return the document's description of the compared waves, given name, traced waves and costs of each."""
    known = [(name, traced, costs) for name, traced, costs in sides if costs is not None]
    return {
        "chosen": chosen,
        "counted": sum(costs.wave_count for _, _, costs in known),
        "read": sum(traced - costs.missing for _, traced, costs in known),
        "traced": sum(traced for _, traced, _ in known),
        "text": "; ".join(f"{name}: {costs.selection or 'all waves'}" for name, _, costs in known),
    }


def _ranking(found: Comparison, options: CompareOptions, about: dict[str, Any], code: int) -> CommandAnswer:
    table = result.change_table(found, options.by)
    real = table[np.asarray(table.columns["is_beyond_noise"])]
    shown = limited(real if options.beyond_noise else table, options)

    def text() -> Iterator[Part]:
        yield bold(found.judgement.sentence, sys.stdout)
        yield from (*found.notes, "")
        yield Facts([*sides(found), *numbers(found)])
        if found.kernel is not None and len(shown):
            yield from ("", TextTable(shown))
            unit = plural(len(table), result.UNITS[options.by], "classes" if options.by == "class" else "")
            yield Message(
                "\n{0:,} of {1}, {2:,} beyond noise. Cycles are {3} per wave, both at the executions of A.",
                len(shown),
                unit,
                len(real),
                _METRICS[found.measure],
            )

    is_tripped = code == ExitCode.GATE
    return CommandAnswer.of_table(
        result.SCHEMA,
        shown,
        text,
        lambda: result.facts(found, table, options.by),
        forms={
            "markdown": lambda: _markdown(found, real, options) + "\n",
            "junit": lambda: _junit(found, real, is_failed=is_tripped) + "\n",
        },
        about=about,
        code=code,
    )


def _markdown(found: Comparison, real: ResultTable, options: CompareOptions) -> str:
    facts = [f"- {md_text(name)}: {md_text(value)}" for name, value in (*sides(found), *numbers(found))]
    parts = [f"**{md_text(found.judgement.sentence)}**", *(f"> {md_text(note)}" for note in found.notes)]
    parts.append("\n".join(facts))
    if found.kernel is not None and not len(real):
        parts.append(Message("No {0} is beyond noise.", result.UNITS[options.by]))
    elif found.kernel is not None:
        shown, fields = real.head(options.top), [result.CHANGES[options.by][name] for name in result.NUMBERS]
        head = ((result.UNITS[options.by], False), *((field.title, True) for field in fields))
        text = "\n{0:,} of {1:,} beyond noise; cycles per wave, both at the executions of A."
        of = Message(text, len(shown), len(real))
        cells = (
            [
                f"{md_text(row['name'])} {md_code(row['text'])}".rstrip(),
                *(field.of(row) if field.of else field.text(row[field.name]) for field in fields),
            ]
            for row in shown.records()
        )
        parts.append("\n".join([*md_table(head, cells), of]))
    return "\n\n".join(parts)


def _junit(found: Comparison, real: ResultTable, *, is_failed: bool) -> str:
    """One test case: failed if the gate trips, skipped if the comparison is undecided, passed otherwise."""
    is_open = found.verdict is Verdict.NOT_COMPARABLE
    rows = [
        Message(
            "{0} {1}: {2:,.1f} to {3:,.1f} cycles per wave (±{4:,.1f})",
            row["name"],
            row["text"],
            row["cycles_a"],
            row["cycles_b"],
            row["noise"],
        )
        for row in real.head(MAX_IN_JUNIT).records()
    ]
    text = escape("\n".join([found.judgement.sentence, *found.notes, *rows]))
    sentence, name = quoteattr(found.judgement.sentence), quoteattr(f"{found.a.name} to {found.b.name}")
    inside = f"<system-out>{text}</system-out>"
    if is_open:
        inside = f"<skipped message={sentence}/>{inside}"
    elif is_failed:
        inside = f'<failure type="regression" message={sentence}>{text}</failure>'
    counts = f'tests="1" failures="{int(is_failed and not is_open)}" errors="0" skipped="{int(is_open)}"'
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="rcv compare" {counts}>\n'
        f'<testcase classname="rcv.compare" name={name}>{inside}</testcase>\n</testsuite>'
    )


def _view(
    found: Comparison, traces: Sequence[Trace], options: CompareOptions, about: dict[str, Any], code: int
) -> CommandAnswer:
    """Both programs, the frames of B with cycles per wave in both, or the cost of work, as `--by` says."""
    name, sides, below = "rows", [found.a, found.b], list[str]()
    if options.by == "work":
        schema, costs = result.WORK_SCHEMA, zip(traces, sides, strict=False)
        table = result.work_table(*(work_costs(side, launch_ns(trace, side)) for trace, side in costs))
        shown, below = limited(table, options), [f"\n{table.spec.note}"]
    elif options.by == "listing":
        schema, table = result.LISTING_SCHEMA, result.listing_table(found)
        table = table[found.rows.is_real] if options.beyond_noise else table
        shown = limited(table, options)
    else:
        schema, name, sides = result.FLAME_SCHEMA, "frames", [found.b]
        table = result.frame_table(found, traces[1])
        shown = result.widest(table, options.top) if "top" in options.given else table
    short = short_paths(source.path for side in sides for source in side.sources)
    return CommandAnswer.of_table(
        schema,
        shown,
        lambda: [found.judgement.sentence, "", TextTable(with_short_places(shown, short)), *below],
        lambda: result.side_facts(found) | {"total_rows": len(table)},
        rows=name,
        about=about,
        code=code,
    )


_OF_TWO = ("by", "top", "sort", "ascending", "beyond_noise", "junit")  # options that several have no use for


def _several(paths: Sequence[Path], options: CompareOptions) -> CommandAnswer:
    for flag in _OF_TWO:
        if flag in options.given:
            text = Message("{0} is about two captures, and there are {1:,}.", flag_of(flag), len(paths) + 1)
            raise UsageError(text, hint="Name one B, or leave it out.")
    wanted = options.waves or WORKING
    alone = all_captures([options.folder])
    a = options.seen(alone[0] if len(alone) == 1 else options.folder)
    sides = [a] if options.twin is None else [a, options.seen(options.twin)]
    others = [options.seen(path) for path in paths if os.path.realpath(path) != os.path.realpath(a)]
    with progress() as report:
        read = builds(
            [*sides, *others],
            wanted,
            jobs=options.jobs,
            cluster=options.cluster,
            cache=options.cache,
            report=report,
        )
        base, *twins = islice(read, len(sides))
        for build in (base, *twins):
            if build.error:
                raise RcvError(build.error)
        judge = partial(
            step,
            before=base,
            first=base,
            measure=options.metric,
            threshold=None if options.least is None else options.least / 100,
            replicate=twins[0].costs if twins else None,
            seed=options.seed,
        )
        found = [judge(build) for build in read]
    open_ones = [row.build.name for row in found if row.verdict in (None, Verdict.NOT_COMPARABLE)]
    undecided = Message("The gate cannot decide about {0}.", some(open_ones, 3)) if open_ones else ""
    root = Path(os.path.commonpath([path.absolute().parent for path in others]))
    table = trend_table(found, [below(root, row.build.path) for row in found])
    every = [base, *twins, *(row.build for row in found)]
    names = [*("A", "replicate")[: len(sides)], *(row.build.name for row in found)]
    waves = [(name, build.traced, build.costs) for name, build in zip(names, every, strict=True)]
    head = Message("Compared with {0}", base.name)
    return CommandAnswer.of_table(
        SEVERAL_SCHEMA,
        table,
        lambda: [bold(head, sys.stdout), "", TextTable(table), *sentences(found, root)],
        lambda: {"a": base.name, "metric": options.metric},
        rows="captures",
        forms={"markdown": table.markdown},
        about={
            "names": [build.name for build in every],
            "problems": problems(every),
            "waves": waves_of(wanted, waves),
        },
        code=_gate(options.fail_on, [row.verdict for row in found], undecided, "all of them"),
    )


def sentences(rows: Sequence[BuildStep], root: Path) -> Iterator[Part]:
    """Yield a sentence per capture that differs beyond noise, printed below the table."""
    for row in rows:
        if row.judgement is not None and row.verdict in (Verdict.MORE, Verdict.FEWER):
            yield Message("\n{0} (B), compared with {1} (A):", below(root, row.build.path), row.before)
            yield f"    {row.judgement.sentence}"


def problems(found: Sequence[Build | LibraryRow]) -> list[str]:
    """Return the problems of captures, each sentence with the name of its capture; warn of durations."""
    said = [f"{one.name}: {text}" for one in found for text in (*one.problems, one.error) if text]
    return [*said, *complaints((one.name, one.doubt) for one in found)]
