"""The options of `rcv search` and `rcv notes`."""

from pathlib import Path

from rcv_py.base.text import Message
from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared

NOTE_ACTIONS = ("list", "add", "remove", "import", "export")
_ONE_OF = Message("one of {0} (default list)", ", ".join(NOTE_ACTIONS))


class SearchOptions(shared.Matched, shared.RowOptions, example="rcv search FOLDER --match buffer_load"):
    """Find a text in instructions, labels, sources and markers."""

    agents = opt.AgentTool("Use it to find instructions by text, such as buffer_load.", required=("match",))

    match: str | None = opt.text("what to look for: instructions, labels, sources, names of markers", "TEXT")
    top: int = shared.top(0, "hits")


class NotesOptions(
    shared.RowOptions,
    shared.Matched,
    example='rcv notes FOLDER add --line 118 --severity warning --title "waits for all loads"',
):
    """Print notes about a capture; add, remove, import or export some."""

    agents = opt.AgentTool(
        "Use it to read what people noted, or with add to point them at a place.",
        rare=("at", "beside", "file", "out", "regex", "sort", "source", "top"),
    )
    needs = (
        opt.Need(
            "line source wave at within title note severity author",
            opt.is_one("action", "add"),
            "add",
            "Write `rcv notes FOLDER add …`.",
        ),
        opt.Need("id", opt.is_one("action", "remove"), "remove", "Write `rcv notes FOLDER remove …`."),
        opt.Need("file", opt.is_one("action", "import"), "import", "Write `rcv notes FOLDER import …`."),
        opt.Need("out", opt.is_one("action", "export"), "export", "Write `rcv notes FOLDER export …`."),
        opt.Need("beside", opt.is_one("action", "add", "remove", "import"), "add, remove or import"),
        opt.without("at", "a note about a range", "within"),
    )

    action: str | None = opt.positional("ACTION", _ONE_OF, None, "?", choices=NOTE_ACTIONS)
    line: list[int] | None = opt.number("add: about an instruction; may be repeated", repeated=True)
    source: tuple[str, int] | None = opt.option(
        "add: about a source line", read=opt.element, metavar="FILE:LINE"
    )
    wave: str | None = shared.wave("add: about a wave")
    at: int | None = opt.option("add: about a cycle", read=opt.cycle, metavar="CYCLE")
    within: tuple[int, int] | None = opt.range_of("add: about a range of cycles")
    title: str | None = opt.text("add: what the note says, on one line", "TEXT")
    note: str | None = opt.text("add: further text", "TEXT")
    severity: str | None = opt.option(
        "add: its severity (default info)", choices=("info", "warning", "error")
    )
    author: str | None = opt.text("add: its author")
    id: list[str] | None = opt.option("remove: the note; may be repeated", repeated=True, metavar="ID")
    file: Path | None = opt.path("import: an annotations.json of WaveScope, an agent or rcv", "FILE")
    out: Path | None = opt.path("export: write an annotations.json; entries of others in it stay", "FILE")
    beside: bool = opt.flag(
        "keep them in annotations.json in the folder of the capture, not in your own folder"
    )
