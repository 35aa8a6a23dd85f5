"""The options of `rcv info` and `rcv summary`."""

from __future__ import annotations

from rcv_py.cli.options import shared
from rcv_py.cli.options.option import (
    flag,
    option,
    range_of,
    without,
)


class InfoOptions(shared.OfCaptures, example="rcv info ."):
    """Print what a capture holds, or list the captures of a folder."""

    check: bool = flag("read every wave and look for contradictions")
    read: bool = flag("read every wave, and name the waves that cannot be read")
    csv: bool = shared.as_csv("one row per fact, or per capture")


class SummaryOptions(shared.OfCaptures, shared.OfWaves, example="rcv summary FOLDER --json"):
    """Sum up activity, states, occupancy and busy units."""

    needs = (without("units", "the summary", "waves se"),)

    units: bool = flag("instead: how long each unit of a compute unit was busy, of --wave or the first one")
    wave: str | None = option(
        f"only one wave, or with --units its compute unit, e.g. {shared.WAVE_ID}",
        metavar="ID",
        old={"--of": None},
    )
    clock: tuple[int, int] | None = range_of(
        "only waves that touch a range of cycles, or with --units only these cycles", old="--within"
    )
    csv: bool = shared.as_csv("one number a row")
