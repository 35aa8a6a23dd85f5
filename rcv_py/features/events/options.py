"""The options of `rcv events`."""

from rcv_py.base.text import Message
from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared


class EventsOptions(shared.Matched, shared.RowOptions, example="rcv events FOLDER --kind dispatch,marker"):
    """List dispatches, events and markers by time."""

    agents = opt.AgentTool("Use it for order in time: dispatches and markers.")
    needs = (opt.Need("kind within", opt.is_one("by", "entry"), "--by entry"),)

    by: str = opt.option(
        "what a row has: an entry by time, a scope of markers with its cost, or a scope on a compute unit "
        "(default entry)",
        "entry",
        choices=("entry", "scope", "unit"),
    )
    kind: tuple[str, ...] | None = opt.option(
        Message("of {0}, joined by commas (default: all that mean something)", ", ".join(opt.ENTRY_KINDS)),
        read=opt.kinds,
        metavar="KINDS",
    )
    match: str | None = opt.option("only rows whose name, place or detail holds this text", metavar="TEXT")
    within: tuple[int, int] | None = opt.range_of("only rows that begin in a range of cycles")
    top: int = shared.top(0)
    sort: str | None = shared.sort("time, smallest first")
