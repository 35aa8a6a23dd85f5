"""The options of the commands about waves, and about texts of a capture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rcv_py.cli.options import shared
from rcv_py.cli.options.common import count, cycles
from rcv_py.cli.options.option import Need, flag, has, lacks, option, positional, range_of, text, without
from rcv_py.cli.options.shared import WAVE_ID


class WavesOptions(shared.Rows, example="rcv waves FOLDER --sort stall --top 5"):
    """What `rcv waves` takes."""

    needs: ClassVar[Sequence[Need]] = (
        without(
            "populations", "the list of waves", "resident waves unit_of without_kernel without_se se within"
        ),
        without("resident", "traced waves", "waves"),
        Need("tokens touching", has("wave"), "one wave", "Name a wave, or leave it out."),
        Need(
            "resident populations waves unit_of without_kernel without_se se sort top",
            lacks("wave"),
            "the list of waves",
            "Leave out the wave, or this.",
        ),
    )

    wave: str | None = positional("ID", f"what one wave did, e.g. {WAVE_ID}", None, "?")
    tokens: bool = flag("of one wave its instructions too, as they ran")
    resident: bool = flag("every wave that was on the device, also those whose instructions were not traced")
    populations: bool = flag(
        "one row a way that waves took through the code instead: which work, which left early"
    )
    waves: str | None = shared.waves("all")
    se: int | None = shared.engine()
    unit_of: str | None = text("only the compute unit of this wave", "ID")
    without_kernel: list[str] = option("leave out a kernel, by symbol", [], repeated=True, metavar="NAME")
    without_se: list[int] = option("leave out an engine", [], read=count, repeated=True, metavar="N")
    within: tuple[int, int] | None = range_of("count only a range of cycles", old="--within")
    touching: tuple[int, int] | None = option(
        "of one wave also how many waves touch the cycles A to B",
        read=cycles,
        metavar="A:B",
        old={"--clock": None},
    )
    top: int = shared.top(0, "waves")
    sort: str | None = shared.sort("place and begin")


class SearchOptions(shared.Matched, shared.Rows, example="rcv search FOLDER --match buffer_load"):
    """What `rcv search` takes."""

    match: str | None = text("what to look for: instructions, labels, sources, names of markers", "TEXT")
    top: int = shared.top(0, "hits")
