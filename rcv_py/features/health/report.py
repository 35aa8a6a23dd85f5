"""The section about how far the capture can be trusted."""

from collections.abc import Iterator

from rcv_py.analysis.health.capture_health import CHECKED, verdict
from rcv_py.analysis.health.input_yaml import command_line, input_yaml
from rcv_py.analysis.health.note import HealthNote
from rcv_py.base.text import Message, plural
from rcv_py.export.report.cells import text_table
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import Part, Prose, ReportListing, ReportNote, ReportSection, Subheading

YAML_CAPTION = "A ready input.yaml for rocprofv3, which records the same kernel again"


def health(inputs: ReportInputs) -> ReportSection:
    """Every doubt with its numbers, meaning and fix; then problems of files."""
    notes, trace = inputs.health, inputs.trace
    parts = [part for note in notes for part in _note(note)]
    parts += [ReportNote(str(problem), problem.severity.value) for problem in trace.problems]
    if missing := inputs.answers.missing:
        first, waves = next(iter(missing.values())), plural(len(missing), "wave")
        parts.append(ReportNote(Message("{0} could not be read. {1}", waves, first), "warning"))
    if not parts:
        parts.append(Prose("There is no reason to distrust the numbers."))
    parts.append(Prose(f"{', '.join(CHECKED)}.", "Looked at", is_quiet=True))
    if trace.has_thread_trace or notes:
        lines = (f"# {command_line()}", *input_yaml(trace, notes).splitlines())
        parts.append(ReportListing(lines, "yaml", YAML_CAPTION))
    intro = Message("Capture health: {0}.", verdict(notes))
    return ReportSection("health", "How far to trust it", parts, intro)


def _note(note: HealthNote) -> Iterator[Part]:
    yield Subheading(note.title, f"health-{note.name}")
    yield ReportNote(note.consequence, note.severity.value)
    yield text_table(("evidence", "value"), ((number.name, number.text) for number in note.evidence))
    yield Prose(note.remedy, "Fix")
    if note.settings:
        settings = ", ".join(f"{name}: {value}" for name, value in note.settings.items())
        yield Prose(settings, "Settings of rocprofv3")
