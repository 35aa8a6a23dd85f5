"""`rcv check`: can this capture be trusted, and how would a better one be recorded?"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rcv_py.analysis.health.capture_health import (
    CHECKED,
    Extras,
    HealthNote,
    capture_health,
    command_line,
    verdict,
)
from rcv_py.analysis.health.input_yaml import input_yaml
from rcv_py.analysis.health.replicates import fingerprint
from rcv_py.base.errors import UsageError
from rcv_py.base.text import plural, short_kernel
from rcv_py.cli.about import about
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.options.capture_options import CheckOptions
from rcv_py.cli.pooled import pooled
from rcv_py.cli.report import bold, json_text, plain, print_facts
from rcv_py.cli.results import print_csv
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.results.check import NOTES, document, number_table

NOTHING = "Nothing wrong with this capture."


def run(arguments: CheckOptions) -> int:
    """Print the health card as text, CSV, JSON or only the input file; 4 with --strict if it is serious."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    notes = capture_health(trace, tuple(pooled(trace)), Extras(_twin(trace, arguments)))
    if arguments.yaml:
        sys.stdout.write(input_yaml(trace, notes))
    elif arguments.json:
        print(json_text("rcv.check/1", document(trace, notes), about(arguments, trace)))
    elif arguments.csv:
        print_csv(number_table(notes))
    else:
        _print(trace, notes)
    is_refused = arguments.strict and any(note.is_serious for note in notes)
    return ExitCode.STRICT if is_refused else ExitCode.DONE


def _twin(trace: Trace, arguments: CheckOptions) -> Trace | None:
    if arguments.twin is None:
        return None
    other = open_trace(arguments.twin, cache=arguments.cache)
    if fingerprint(trace.code) != fingerprint(other.code):
        raise UsageError(
            f"{other.name} is no twin of {trace.name}: their instructions differ.",
            hint="A twin is another capture of the same binary; rcv index names those it finds.",
        )
    return other


def _print(trace: Trace, notes: Sequence[HealthNote]) -> None:
    print(bold(plain(trace.name), sys.stdout))
    facts = [("verdict", verdict(notes))]
    if trace.kernel_name:
        facts.insert(0, ("kernel", short_kernel(trace.kernel_name)))
    print_facts(facts)
    if not notes:
        print(f"\n{NOTHING}")
    for note in notes:
        print(f"\n{note.severity}: {bold(plain(note.title), sys.stdout)}")
        print_facts(_facts(note))
    print("\nLooked at:")
    print_facts([("", f"{', '.join(CHECKED)}.")])
    if trace.problems:
        print(f"\n{plural(len(trace.problems), 'problem')} of files: rcv info tells.")
    if any(note.settings for note in notes):
        print("\nA ready input file: rcv check --yaml FOLDER > input.yaml, then")
        print(f"  {command_line()}")


def _facts(note: HealthNote) -> list[tuple[str, str]]:
    words = {"evidence": note.evidence_text, "consequence": note.consequence, "remedy": note.remedy}
    facts = [(NOTES[name].title, text) for name, text in words.items()]
    if note.settings:
        facts.append(("settings", ", ".join(f"{name}: {value}" for name, value in note.settings.items())))
    return facts
