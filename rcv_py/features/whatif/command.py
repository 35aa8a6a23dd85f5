"""`rcv whatif`: what changes of the kernel would gain, predicted by replaying the recording."""

from collections.abc import Iterator
from typing import Any

from rcv_py.analysis.findings.predicted import BASE, of_kernel
from rcv_py.analysis.whatif.asked import ChangeRequest
from rcv_py.analysis.whatif.critical_path import PathTable
from rcv_py.analysis.whatif.experiments import EVERYTHING, sample, usual_experiments
from rcv_py.base.text import Message, count, plural
from rcv_py.cli.answer import CommandAnswer, Part, TextTable
from rcv_py.cli.opening import opened
from rcv_py.features.whatif import result
from rcv_py.features.whatif.options import WhatifOptions
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.trace import Trace
from rcv_py.work.findings import findings_of_trace
from rcv_py.work.whatif import player_of

_SLACK = "Instructions off the path have slack: they can be that much later without lengthening the span."
NOTHING = "No traced instruction could be read, so nothing can be replayed; `rcv info` says what is there."
NOTHING_HELPS = "No experiment changes the kernel's duration by more than 2 %."


def run(options: WhatifOptions) -> CommandAnswer:
    """Run the options as one experiment; without any, the standard experiments."""
    trace = opened(options)
    changes = asked(options).changes(trace)
    played = sample(trace, EVERYTHING) if options.all else sample(trace)
    player = player_of(trace, played)
    is_known = bool(player.recordings() and len(trace.code))
    if options.path:
        return _path(options, trace, player.path(changes if is_known else ()))
    experiments = [tuple(changes)] if changes else usual_experiments(player, trace)
    said = findings_of_trace(trace, facts_about(trace)) if is_known else None
    found, kernel = ([], []) if said is None else of_kernel(said, player, experiments)
    table = result.prediction_table(found, kernel)
    about = result.facts(found, kernel, played)

    def text() -> Iterator[Part]:
        if not is_known:
            yield NOTHING
            return
        yield TextTable(table, trace)
        if not changes and all(abs(one.share) < 0.02 for one in kernel):
            yield Message("\n{0}", NOTHING_HELPS)
        yield Message("\nPredicted by replaying {0} instructions.", count(about["played_tokens"]))
        if played.is_part:
            waves = plural(played.of, "wave")
            yield Message("They are from {0:,} of {1}; --all replays all.", len(played.rows), waves)
        yield BASE
        for sentence in about["assumes"]:
            yield Message("  {0}", sentence)

    return CommandAnswer.of_table(result.SCHEMA, table, text, lambda: about, rows="experiments", of=trace)


def _path(options: WhatifOptions, trace: Trace, found: PathTable) -> CommandAnswer:
    """The makeup of the span: causes, then instructions."""
    table = result.path_rows(trace, found).head(options.top)

    def text() -> Iterator[Part]:
        if not len(found):
            yield NOTHING
            return
        yield TextTable(result.path_causes(found), trace)
        yield ""
        yield TextTable(table, trace)
        length = plural(found.length, "cycle")
        yield Message("\nThe critical path: {0}, the spans of the compute units, summed.", length)
        yield _SLACK

    def facts() -> dict[str, Any]:
        return {**result.path_facts(found, trace), "total_rows": len(found)}

    return CommandAnswer.of_table(result.PATH_SCHEMA, table, text, facts, of=trace)


def asked(options: WhatifOptions) -> ChangeRequest:
    """Return the changes that the options name."""
    given = {name: options.values[name] for name in ChangeRequest._fields}
    return ChangeRequest(**{name: value for name, value in given.items() if value})
