"""The options of `rcv info` and `rcv summary`."""

from rcv_py.base.text import Message
from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared


class InfoOptions(shared.OfCaptures, example="rcv info ."):
    """Print what a capture holds, or list the captures of a folder."""

    agents = opt.AgentTool("Use it to see waves, code and clocks of a capture before trusting a number.")

    read: bool = opt.flag("read every wave, and name the waves that cannot be read")
    csv: bool = shared.as_csv("one row per fact, or per capture")


class SummaryOptions(shared.OfCaptures, shared.OfWaves, example="rcv summary FOLDER --json"):
    """Sum up activity, states, occupancy and busy units."""

    agents = opt.AgentTool("Use it for the kernel as a whole; units shows which pipe is the bottleneck.")
    needs = (opt.without("units", "the summary", "waves se"),)

    units: bool = opt.flag(
        "instead: how long each unit of a compute unit was busy, of --wave or the first wave"
    )
    wave: str | None = opt.option(
        Message("only one wave, or with --units its compute unit, e.g. {0}", shared.WAVE_ID),
        metavar="ID",
        old={"--of": None},
    )
    clock: tuple[int, int] | None = opt.range_of(
        "only waves that touch a range of cycles, or with --units only these cycles", old="--within"
    )
    csv: bool = shared.as_csv("one number per row")
