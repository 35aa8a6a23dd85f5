"""The options of `rcv search` and `rcv notes`."""

from __future__ import annotations

from pathlib import Path

from rcv_py.cli.options import shared
from rcv_py.cli.options.option import (
    Need,
    cycle,
    element,
    flag,
    is_one,
    number,
    option,
    path,
    positional,
    range_of,
    text,
    without,
)

NOTE_ACTIONS = ("list", "add", "remove", "import", "export")


class SearchOptions(shared.Matched, shared.RowOptions, example="rcv search FOLDER --match buffer_load"):
    """Find a text in instructions, labels, sources and markers."""

    match: str | None = text("what to look for: instructions, labels, sources, names of markers", "TEXT")
    top: int = shared.top(0, "hits")


class NotesOptions(
    shared.RowOptions,
    shared.Matched,
    example='rcv notes FOLDER add --line 118 --severity warning --title "waits for all loads"',
):
    """Print notes about a capture; add, remove, import or export some."""

    needs = (
        Need(
            "line source wave at within title note severity author",
            is_one("action", "add"),
            "add",
            "Write `rcv notes FOLDER add …`.",
        ),
        Need("id", is_one("action", "remove"), "remove", "Write `rcv notes FOLDER remove …`."),
        Need("file", is_one("action", "import"), "import", "Write `rcv notes FOLDER import …`."),
        Need("out", is_one("action", "export"), "export", "Write `rcv notes FOLDER export …`."),
        Need("beside", is_one("action", "add", "remove", "import"), "add, remove or import"),
        without("at", "a note about a range", "within"),
    )

    action: str | None = positional(
        "ACTION", f"one of {', '.join(NOTE_ACTIONS)} (default list)", None, "?", choices=NOTE_ACTIONS
    )
    line: list[int] | None = number("add: about an instruction; may be repeated", repeated=True)
    source: tuple[str, int] | None = option("add: about a source line", read=element, metavar="FILE:LINE")
    wave: str | None = shared.wave("add: about a wave")
    at: int | None = option("add: about a cycle", read=cycle, metavar="CYCLE")
    within: tuple[int, int] | None = range_of("add: about a range of cycles")
    title: str | None = text("add: what the note says, on one line", "TEXT")
    note: str | None = text("add: further text", "TEXT")
    severity: str | None = option("add: its severity (default info)", choices=("info", "warning", "error"))
    author: str | None = text("add: its author")
    id: list[str] | None = option("remove: the note; may be repeated", repeated=True, metavar="ID")
    file: Path | None = path("import: an annotations.json of WaveScope, an agent or rcv", "FILE")
    out: Path | None = path("export: write an annotations.json; entries of others in it stay", "FILE")
    beside: bool = flag("keep them in annotations.json in the folder of the capture, not in your own folder")
