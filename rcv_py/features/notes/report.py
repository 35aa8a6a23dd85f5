"""The section about what people and agents wrote about the capture."""

from collections.abc import Iterator

from rcv_py.analysis.cost.place_text import place_text as source_text
from rcv_py.analysis.health.note import RANK
from rcv_py.export.report import cells
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import Part, Prose, ReportCell, ReportSection
from rcv_py.model.notes import Anchor, Note
from rcv_py.model.trace import Trace

_MAX_NOTES = 200  # notes, of which the most severe are shown
_INTRO = "Written by people or agents, and not by an analysis; the most severe first."


def notes(inputs: ReportInputs) -> ReportSection | None:
    """Title, place and text of each note; None without any."""
    found = sorted(inputs.notes, key=lambda note: RANK[note.severity])[:_MAX_NOTES]
    return ReportSection("notes", "Notes", tuple(_parts(inputs.trace, found)), _INTRO) if found else None


def _parts(trace: Trace, found: list[Note]) -> Iterator[Part]:
    kinds = (note.severity.value for note in found)
    yield cells.table(
        cells.column("severity", (ReportCell(kind, weight="" if kind == "info" else kind) for kind in kinds)),
        cells.texts("title", (note.title for note in found)),
        cells.column("about", (_place(trace, note.anchor) for note in found)),
        cells.texts("author", (note.author for note in found)),
    )
    for note in found:
        if note.text:
            yield Prose(note.text, note.title)


def _place(trace: Trace, anchor: Anchor) -> ReportCell:
    """The subject of a note, with a link to its first instruction; source places are short."""
    link = cells.line_anchor(anchor.instructions[0]) if anchor.instructions else ""
    place = anchor.place_in(trace)
    text = str(anchor)
    if place is not None and anchor.source is not None:
        full = f"{anchor.source[0]}:{anchor.source[1]}"
        text = text.replace(full, source_text(trace.sources, *place))
    return ReportCell(text, link=link, tip=str(anchor))
