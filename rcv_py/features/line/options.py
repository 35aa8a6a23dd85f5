"""The options of `rcv line`."""

from rcv_py.base.text import Message
from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared
from rcv_py.model.modes import MEASURES


class LineOptions(shared.OfWaves, example="rcv line FOLDER 62 --metric stall --top 5"):
    """Show how long executions took, or the details of one of them."""

    agents = opt.AgentTool("Use it to see whether all executions of an instruction are slow.")
    needs = (
        opt.Need(
            "metric top log waves wave se clock bars bar",
            lambda options: isinstance(options.line, int),
            "an instruction",
            "Name its number, or leave it out.",
        ),
    )

    line: int | str = opt.positional(
        "LINE",
        Message(
            "an instruction by its number, or one execution or wave as the window copies it, "
            "e.g. {0}:instruction 62 hit 1",
            shared.WAVE_ID,
        ),
        opt.line_or_place,
    )
    more: list[str] = opt.positional("PLACE", "more executions or waves", None, "*")
    metric: str = opt.option(
        "what is measured of an execution (default latency)", "latency", choices=MEASURES, old={"--by": None}
    )
    top: int = shared.top(10, "hits")
    log: bool = opt.flag("bars whose width grows by a constant factor")
    bars: int | None = opt.number("of the histogram (default 16)", read=opt.at_most(opt.MAX_BINS, 1))
    bar: int | None = opt.number("list the hits of a bar, counted from 0, instead of the slowest")
    csv: bool = shared.as_csv("the slowest hits, or one row per fact")
