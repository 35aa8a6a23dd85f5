"""`rcv triage`: what to look at first, with evidence and a remedy; of a parent folder, a line a capture."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.findings.engine_choice import chosen_rows
from rcv_py.analysis.findings.finding import CAUTION, CONTEXT, RANKED, Finding, Findings
from rcv_py.analysis.findings.text import markdown
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.errors import RcvError, UsageError
from rcv_py.base.text import plural
from rcv_py.cli.about import about
from rcv_py.cli.opening import captures, facts_of
from rcv_py.cli.options.capture_options import TriageOptions
from rcv_py.cli.pooled import pooled
from rcv_py.cli.report import bold, json_text, print_facts, print_wrapped
from rcv_py.cli.results import print_csv, print_shown
from rcv_py.cli.wave_choice import wave_facts
from rcv_py.formats.open import capture_entry, open_trace
from rcv_py.formats.run_files import run_facts
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import CaptureEntry, Trace
from rcv_py.results.triage import Judged, capture_table, document, finding_table

SCHEMA = "rcv.triage/1"
MANY_SCHEMA = "rcv.triage.folder/1"
_SECTIONS = {RANKED: "", CONTEXT: "Beside the ranking", CAUTION: "Caution"}


def run(arguments: TriageOptions) -> int:
    """Print the findings of a capture, or of all captures below a folder."""
    below = captures(arguments.folder)
    if below is not None and len(below) > 1:  # a folder around a single capture stands for it
        _print_many(arguments, [capture_entry(capture) for capture in below])
        return 0
    trace = open_trace(arguments.folder, cache=arguments.cache)
    known = facts_of(trace, arguments)
    found = look(trace, is_whole=arguments.all, facts=known, waves=arguments.waves or WORKING)
    is_plain = not (arguments.csv or arguments.json)
    shown = _chosen(found, arguments.top, is_short=is_plain and not arguments.all)
    if arguments.csv:
        print_csv(finding_table(shown))
    elif arguments.json:
        waves = None if found.choice is None else wave_facts(found.choice, found.of)
        described = about(arguments, trace, files=known.files, waves=waves)
        print(json_text(SCHEMA, document(trace, found, finding_table(shown)), described))
    elif arguments.markdown:
        sys.stdout.write(markdown(trace.name, found, shown))
    else:
        _print(trace, found, shown)
    return 0


def look(
    trace: Trace, *, is_whole: bool = False, facts: RunFacts | None = None, waves: str = WORKING
) -> Findings:
    """Read the waves of a capture, of a large one some shader engines, and return its findings.

    `facts` are what the tables of the run tell; None: those near the capture.  `waves` says whose costs are
    ranked: `working`, `all`, or a population.
    """
    rows = range(len(trace.waves)) if is_whole else chosen_rows(trace.waves)
    facts = facts or run_facts(trace.path, trace.kernel_name, trace.target)
    return findings(trace, tuple(pooled(trace, rows)), facts=facts, waves=waves)


def _chosen(found: Findings, top: int | None, *, is_short: bool) -> tuple[Finding, ...]:
    """The findings to print: of text those that are told in full, else all; --top N the first N, 0 all."""
    if top is None:
        return found.in_full if is_short else found.findings
    return found.findings[: top or None]


# -- text -----------------------------------------------------------------------------------------------


def _print(trace: Trace, found: Findings, shown: tuple[Finding, ...]) -> None:
    out = sys.stdout
    print(bold(trace.name, out))
    if found.alarm or found.bound_class is not None:
        print_wrapped(bold(found.sentence, out))
    print_facts([(one.name, f"{one.text}, {one.of}" if one.of else one.text) for one in found.numbers])
    if found.partial:
        print(f"\nPartial: {found.partial}. {found.why_partial}")
    if found.selection:
        print(f"\nRanked: {found.selection}; --waves all ranks all of them.")
    section = RANKED
    for number, one in enumerate(shown, 1):
        if one.rank != section:
            section = one.rank
            print(f"\n{bold(_SECTIONS[section], out)}")
        _print_one(number, one)
    if found.why and not found.alarm:
        print(f"\n{found.why}")
    _print_rest(found, shown)
    if found.assumption:
        print()
        print_wrapped(found.assumption)


def _print_rest(found: Findings, shown: tuple[Finding, ...]) -> None:
    """What is not shown: the small findings in one line, and how many others --top has left out."""
    left = [one for one in found.findings if one not in shown]
    if found.small_text and len(left) >= len(found.small):
        print()
        print_wrapped(f"{found.small_text} --all shows them.")
    cut = sum(not one.is_small for one in left)
    if cut:
        print(f"\n{plural(cut, 'further finding')}: --top 0 shows all.")


def _print_one(number: int, one: Finding) -> None:
    print(f"\n{bold(f'{number:>2}  {one.title}', sys.stdout)}")
    for label, sentence in one.parts:
        print_wrapped(f"{label}: {sentence}" if label else sentence, indent=4)
    for place in one.evidence:
        print_wrapped(f"· {place}", indent=6)


# -- many captures --------------------------------------------------------------------------------------


def _print_many(arguments: TriageOptions, entries: Sequence[CaptureEntry]) -> None:
    if "top" in arguments.given:
        raise UsageError(
            "--top is about the findings of one capture.", hint="Name one of the captures, or leave it out."
        )
    table = capture_table([_judged(arguments, entry) for entry in entries], arguments.folder)
    if arguments.json:
        content = {"folder": str(arguments.folder), "captures": table.rows()}
        names = [entry.name for entry in entries]
        print(json_text(MANY_SCHEMA, content, about(arguments, names=names)))
    elif arguments.csv:
        print_csv(table)
    elif arguments.markdown:
        sys.stdout.write(table.markdown())
    else:
        print_shown(table)
        print(f"\n{plural(len(table), 'capture')}; `rcv triage CAPTURE` tells more.")


def _judged(arguments: TriageOptions, entry: CaptureEntry) -> Judged:
    """The findings of one capture, or why there are none; a broken capture does not stop the others."""
    try:
        trace = open_trace(entry.path, cache=arguments.cache)
        known = facts_of(trace, arguments) if arguments.run_files else None
        found = look(trace, is_whole=arguments.all, facts=known, waves=arguments.waves or WORKING)
    except RcvError as error:
        return Judged(entry, None, str(error))
    return Judged(entry, found, "" if found.findings else entry.note or found.headline)
