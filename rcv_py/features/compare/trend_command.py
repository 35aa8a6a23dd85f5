"""`rcv trend`: captures in order, each compared with the previous one of the same kernel."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rcv_py.analysis.compare.builds import BuildStep, steps
from rcv_py.analysis.compare.verdict import Verdict
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.text import Message, count, plural
from rcv_py.cli.answer import CommandAnswer, Part, TextTable
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.opening import below, captures_below
from rcv_py.cli.terminal import bold, progress
from rcv_py.features.compare.command import TRIPS, problems, sentences, waves_of
from rcv_py.features.compare.library_result import TREND_SCHEMA, trend_table
from rcv_py.features.compare.options import TrendOptions
from rcv_py.work.library import builds, in_time


def run(options: TrendOptions) -> CommandAnswer:
    """Compare the captures; the exit code is 3 if the gate trips."""
    folders = [options.seen(folder) for folder in (options.folder, *options.more)]
    root, paths, closed = captures_below(folders)
    paths = in_time(paths) if options.sort == "time" else sorted(paths)
    wanted = options.waves or WORKING
    threshold = None if options.least is None else options.least / 100
    with progress() as report:
        read = builds(
            paths, wanted, jobs=options.jobs, cluster=options.cluster, cache=options.cache, report=report
        )
        rows = list(steps(read, measure=options.metric, threshold=threshold))
    table = trend_table(rows, [below(root, row.build.path) for row in rows])
    more = next((str(row.build.path) for row in rows if row.verdict is Verdict.MORE), None)
    found = [row.build for row in rows]
    last = {row.kernel: row for row in rows if row.verdict is not None and row.waves}  # with traced waves
    trips = () if options.fail_on is None else TRIPS[options.fail_on]
    is_worse = any(row.verdict in trips for row in last.values())
    return CommandAnswer.of_table(
        TREND_SCHEMA,
        table,
        lambda: _text(rows, root, TextTable(table)),
        lambda: {"folder": str(root), "metric": options.metric, "first_more": more},
        rows="captures",
        forms={"markdown": table.markdown},
        about={
            "names": [build.name for build in found],
            "problems": [*closed, *problems(found)],
            "waves": waves_of(wanted, [(build.name, build.traced, build.costs) for build in found]),
        },
        code=ExitCode.GATE if is_worse else ExitCode.DONE,
    )


def _text(rows: Sequence[BuildStep], root: Path, shown: TextTable) -> Iterator[Part]:
    changed = sum(row.verdict in (Verdict.MORE, Verdict.FEWER) for row in rows)
    said = f"{count(changed) if changed else 'none'} {'differ' if changed > 1 else 'differs'}"
    captures = plural(len(rows), "capture")
    heading = Message("{0} below {1}; {2} from the previous one beyond noise", captures, root, said)
    yield bold(heading, sys.stdout)
    yield from ("", shown, *sentences(rows, root))
