"""The options of `rcv range`."""

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared


class RangeOptions(shared.OfWaves, example="rcv range FOLDER --from 120000 --to 126000"):
    """Sum up a range of cycles by cause, instruction, line and unit."""

    agents = opt.AgentTool("Use it for a stretch of time: what waves did in it, and how long A to B takes.")
    chosen_by = ("wave", "se")

    clock: tuple[int, int] | None = opt.range_of("the range of cycles (default: the whole capture)")
    between: tuple[int, int] | None = opt.option(
        "also how long it takes from one instruction to the next execution of another, over all iterations",
        read=opt.pair,
        metavar="A:B",
    )
    top: int = shared.top(8, "rows of each part")
    csv: bool = shared.as_csv("one row per cause, instruction, source line or unit")
