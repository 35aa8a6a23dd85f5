"""How far the capture can be trusted: what speaks against it, and the input file for a better one."""

from __future__ import annotations

from rcv_py.analysis.health.capture_health import CHECKED, HealthNote, command_line, verdict
from rcv_py.analysis.health.input_yaml import input_yaml
from rcv_py.base.text import plural
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import Cell, Heading, Heads, Listing, Note, Part, Prose, Section, Table

YAML_CAPTION = "A ready input.yaml for rocprofv3, which records the same kernel again"
_SHOWN = (Heading("shown by"), Heading("value"))


def health(inputs: ReportInputs) -> Section:
    """Every doubt with its numbers, what it means and what mends it; then what was wrong with files."""
    notes, parts = inputs.health, []
    for note in notes:
        parts += _note(note)
    parts += _files(inputs)
    if not parts:
        parts.append(Prose("Nothing speaks against the numbers."))
    parts.append(Prose(f"{', '.join(CHECKED)}.", "Looked at", is_quiet=True))
    if inputs.trace.has_thread_trace or notes:
        parts.append(yaml_listing(inputs))
    return Section("health", "How far to trust it", tuple(parts), f"Capture health: {verdict(notes)}.")


def yaml_listing(inputs: ReportInputs) -> Listing:
    """The input file, folded away."""
    text = input_yaml(inputs.trace, inputs.health)
    return Listing((f"# {command_line()}", *text.splitlines()), "yaml", YAML_CAPTION)


def _note(note: HealthNote) -> list[Part]:
    rows = tuple((Cell(one.name), Cell(one.text)) for one in note.evidence)
    parts: list[Part] = [
        Heads(note.title, f"health-{note.name}"),
        Note(note.consequence, note.severity.value),
        Table(_SHOWN, rows),
        Prose(note.remedy, "What mends it"),
    ]
    if note.settings:
        settings = ", ".join(f"{name}: {value}" for name, value in note.settings.items())
        parts.append(Prose(settings, "Settings of rocprofv3"))
    return parts


def _files(inputs: ReportInputs) -> list[Part]:
    """Problems of files, and waves that could not be read."""
    parts: list[Part] = [Note(str(problem), problem.severity.value) for problem in inputs.trace.problems]
    missing = [text for batch in inputs.batches for _, text in batch.missing]
    if missing:
        parts.append(Note(f"{plural(len(missing), 'wave')} could not be read. {missing[0]}", "warning"))
    return parts
