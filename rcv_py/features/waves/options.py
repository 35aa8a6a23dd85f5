"""The options of `rcv waves`."""

from rcv_py.base.text import Message
from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared
from rcv_py.cli.options.shared import WAVE_ID


class WavesOptions(shared.RowOptions, example="rcv waves FOLDER --sort stall --top 5"):
    """List waves, or show what one of them did."""

    usual = shared.ALL
    agents = opt.AgentTool("Use it to pick waves, or with wave to follow one.", rare=("resident",))
    needs = (
        opt.without(
            "populations", "the list of waves", "resident waves unit_of without_kernel without_se se within"
        ),
        opt.without("resident", "traced waves", "waves"),
        opt.Need("tokens touching", opt.has("wave"), "one wave", "Name a wave, or leave it out."),
        opt.Need(
            "resident populations waves unit_of without_kernel without_se se sort top",
            opt.lacks("wave"),
            "the list of waves",
            "Leave out the wave, or this.",
        ),
    )

    wave: str | None = opt.positional("ID", Message("what one wave did, e.g. {0}", WAVE_ID), None, "?")
    tokens: bool = opt.flag("with a wave: also its instructions in execution order")
    resident: bool = opt.flag(
        "every wave that was on the device, including waves whose instructions were not traced"
    )
    populations: bool = opt.flag(
        "instead: one row per path that waves took through the code: which work, which left early"
    )
    waves: str | None = shared.waves(shared.ALL)
    se: int | None = shared.ENGINE
    unit_of: str | None = opt.text("only the compute unit of this wave", "ID")
    without_kernel: list[str] = opt.option("leave out a kernel, by symbol", [], repeated=True, metavar="NAME")
    without_se: list[int] = opt.option("leave out an engine", [], read=opt.count, repeated=True, metavar="N")
    within: tuple[int, int] | None = opt.range_of("count only a range of cycles", old="--within")
    touching: tuple[int, int] | None = opt.option(
        "with a wave: also how many waves touch the cycles A to B",
        read=opt.cycles,
        metavar="A:B",
        old={"--clock": None},
    )
    top: int = shared.top(0, "waves")
    sort: str | None = shared.sort("place and start")
