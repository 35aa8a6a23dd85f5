"""`rcv check`: whether a capture can be trusted, and how to record a better one."""

import sys
from collections.abc import Iterator, Sequence

from rcv_py.analysis.health.capture_health import CHECKED, OF_WAVES, health_notes, verdict
from rcv_py.analysis.health.input_yaml import command_line, input_yaml
from rcv_py.analysis.health.note import HealthNote
from rcv_py.analysis.health.replicates import fingerprint
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, join_texts, plural, short_kernel
from rcv_py.cli.answer import CommandAnswer, Facts, Part, each
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.opening import answers, opened
from rcv_py.cli.terminal import bold
from rcv_py.features.health.options import CheckOptions
from rcv_py.features.health.result import NOTES, SCHEMA, document, number_table
from rcv_py.model.trace import Trace

NOTHING = "No problems in this capture."


def run(options: CheckOptions) -> CommandAnswer:
    """Return the health card of each capture; the exit code is 4 with --strict if one is serious."""
    return each(options, _card)


def _card(options: CheckOptions) -> CommandAnswer:
    trace = opened(options)
    found = answers(trace, OF_WAVES)
    notes = health_notes(trace, found.of if found.waves else None, found.missing, _replicate(trace, options))
    is_refused = options.strict and any(note.is_serious for note in notes)
    return CommandAnswer(
        schema=SCHEMA,
        document=lambda: document(trace, notes),
        csv=lambda: number_table(notes).csv(),
        text=lambda: _text(trace, notes),
        forms={"yaml": lambda: input_yaml(trace, notes)},
        of=trace,
        code=ExitCode.STRICT if is_refused else ExitCode.DONE,
    )


def _replicate(trace: Trace, options: CheckOptions) -> Trace | None:
    if options.twin is None:
        return None
    other = opened(options, options.twin)
    if fingerprint(trace.code) != fingerprint(other.code):
        text = Message("{0} is not a replicate of {1}: their instructions differ.", other.name, trace.name)
        hint = "A replicate is another capture of the same binary; rcv index names the replicates."
        raise UsageError(text, hint=hint)
    return other


def _text(trace: Trace, notes: Sequence[HealthNote]) -> Iterator[Part]:
    yield bold(trace.name, sys.stdout)
    kernel = [("kernel", short_kernel(trace.kernel_name))] if trace.kernel_name else []
    yield Facts([*kernel, ("verdict", verdict(notes))])
    if not notes:
        yield f"\n{NOTHING}"
    for note in notes:
        yield Message("\n{0}: {1}", note.severity, bold(note.title, sys.stdout))
        yield Facts(_facts(note))
    if trace.disassembler:
        yield Message("\nInstructions read by {0}.", trace.disassembler)
    yield "\nLooked at:"
    yield Facts([("", Message("{0}.", join_texts(", ", CHECKED)))])
    if trace.problems:
        yield Message("\n{0} of files: `rcv info` lists them.", plural(len(trace.problems), "problem"))
    if any(note.settings for note in notes):
        yield "\nA ready input file: rcv check --yaml FOLDER > input.yaml, then"
        yield f"  {command_line()}"


def _facts(note: HealthNote) -> list[tuple[str, str]]:
    words = {"evidence": note.evidence_text, "consequence": note.consequence, "remedy": note.remedy}
    facts = [(NOTES[name].title, text) for name, text in words.items()]
    if note.settings:
        facts.append(("settings", ", ".join(f"{name}: {value}" for name, value in note.settings.items())))
    return facts
