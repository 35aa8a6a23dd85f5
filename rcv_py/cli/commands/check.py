"""`rcv check`: can this capture be trusted, and how would a better one be recorded?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from rcv_py.analysis.health.capture_health import (
    CHECKED,
    Extras,
    HealthNote,
    capture_health,
    command_line,
    input_settings,
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
from rcv_py.cli.report import bold, csv_text, json_text, plain, print_facts
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace

_HEAD = ("note", "severity", "title", "evidence", "value", "text")
NOTHING = "Nothing wrong with this capture."


def run(arguments: CheckOptions) -> int:
    """Print the health card as text, CSV, JSON or only the input file; 4 with --strict if it is serious."""
    trace = open_trace(arguments.folder)
    notes = capture_health(trace, tuple(pooled(trace)), Extras(_twin(trace, arguments)))
    if arguments.yaml:
        sys.stdout.write(input_yaml(trace, notes))
    elif arguments.json:
        print(json_text("rcv.check/1", _document(trace, notes), about(arguments, trace)))
    elif arguments.csv:
        sys.stdout.write(csv_text(_HEAD, _rows(notes)))
    else:
        _print(trace, notes)
    is_refused = arguments.strict and any(note.is_serious for note in notes)
    return ExitCode.STRICT if is_refused else ExitCode.DONE


def _twin(trace: Trace, arguments: CheckOptions) -> Trace | None:
    if arguments.twin is None:
        return None
    other = open_trace(arguments.twin)
    if fingerprint(trace.code) != fingerprint(other.code):
        raise UsageError(
            f"{other.name} is no twin of {trace.name}: their instructions differ.",
            hint="A twin is another capture of the same binary; rcv index names those it finds.",
        )
    return other


def _rows(notes: Sequence[HealthNote]) -> list[tuple[Any, ...]]:
    return [
        (note.name, str(note.severity), note.title, one.name, one.value, one.text)
        for note in notes
        for one in note.evidence
    ]


def _document(trace: Trace, notes: Sequence[HealthNote]) -> dict[str, Any]:
    return {
        "capture": trace.name,
        "path": str(trace.path),
        "kernel": trace.kernel_name,
        "verdict": verdict(notes),
        "is_serious": any(note.is_serious for note in notes),
        "notes": [_note(note) for note in notes],
        "checked": list(CHECKED),
        "problems": [str(problem) for problem in trace.problems],
        "settings": input_settings(trace, notes),
        "input_yaml": input_yaml(trace, notes),
        "command": command_line(),
    }


def _note(note: HealthNote) -> dict[str, Any]:
    return {
        "name": note.name,
        "severity": str(note.severity),
        "title": note.title,
        "evidence": [{"name": one.name, "value": one.value, "text": one.text} for one in note.evidence],
        "consequence": note.consequence,
        "remedy": note.remedy,
        "settings": dict(note.settings),
    }


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
    facts = [("shown by", note.evidence_text), ("means", note.consequence), ("mend", note.remedy)]
    if note.settings:
        facts.append(("settings", ", ".join(f"{name}: {value}" for name, value in note.settings.items())))
    return facts
