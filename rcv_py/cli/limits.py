"""What limits the waves of a SIMD, as text, CSV or JSON: `rcv occupancy --limits`."""

from __future__ import annotations

from rcv_py.analysis.device.occupancy_limits import OccupancyLimits
from rcv_py.base.text import plural
from rcv_py.cli.about import about
from rcv_py.cli.opening import facts_of
from rcv_py.cli.options.device_options import OccupancyOptions
from rcv_py.cli.report import json_text, print_wrapped
from rcv_py.cli.results import print_csv, print_result
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.results.occupancy import limit_document, limit_table
from rcv_py.work.limits import limits_of

SCHEMA = "rcv.occupancy_limits/1"


def show_limits(trace: Trace, arguments: OccupancyOptions) -> int:
    """Print the limits of the kernel with most traced cycles."""
    facts = facts_of(trace, arguments)
    found = limits_of(trace, facts)
    if arguments.json:
        print(json_text(SCHEMA, limit_document(trace, found), about(arguments, trace, files=facts.files)))
    elif arguments.csv:
        print_csv(limit_table(found))
    else:
        if code_is_known(trace):
            print_result(limit_table(found), trace)
            print()
        for sentence in [*_sentences(trace, found), *files_text(facts)]:
            print_wrapped(sentence)
    return 0


def files_text(facts: RunFacts) -> list[str]:
    """Return a sentence that names the tables that were used, none if there are none."""
    return [f"Tables of the run: {', '.join(facts.files)}."] if facts.files else []


def code_is_known(trace: Trace) -> bool:
    """Whether there are instructions; without any, it is not known which registers are used."""
    return len(trace.code) > 0


def _sentences(trace: Trace, found: OccupancyLimits) -> list[str]:
    binding = found.binding
    room = plural(found.waves, "wave")
    if not code_is_known(trace):
        lines = ["The capture has no instructions, so what its kernel takes is not known."]
    elif binding is None:
        lines = [f"A SIMD of {trace.target} can hold {room}, as many as it has room for; nothing else binds."]
    else:
        lines = [f"A SIMD of {trace.target} can hold {room} of this kernel, bound by {binding.name}."]
    if found.next_step:
        lines.append(found.next_step)
    seen = found.resident
    if seen.simds:
        lines.append(
            f"Traced: at most {plural(seen.peak, 'wave')} on a SIMD at a time, {seen.mean:.1f} in the mean, "
            f"on {plural(seen.simds, 'SIMD')}."
        )
    return lines + [f"Note: {note}" for note in found.notes]
