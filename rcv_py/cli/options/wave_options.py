"""The options of the commands about waves, places and texts of a capture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rcv_py.cli.options import shared
from rcv_py.cli.options.common import count
from rcv_py.cli.options.option import Need, Options, flag, lacks, option, positional
from rcv_py.cli.options.shared import WAVE_ID

_LISTED = Need(lacks("populations"), "the list of waves", "Leave out --populations, or this.")


@dataclass(frozen=True, kw_only=True)
class WavesOptions(Options):
    """What `rcv waves` takes."""

    example = "rcv waves FOLDER --sort stall --top 5"

    folder: Path = shared.folder()
    resident: bool = flag(
        "every wave that was on the device, also those whose instructions were not traced", needs=[_LISTED]
    )
    populations: bool = flag(
        "one row a way that waves took through the code instead: which work, which left early"
    )
    waves: str | None = shared.waves(
        "all", [_LISTED, Need(lacks("resident"), "traced waves", "Leave out --resident, or this.")]
    )
    unit_of: str | None = option("only the compute unit of this wave", metavar="ID", needs=[_LISTED])
    without_kernel: list[str] = option(
        "leave out a kernel, by symbol", [], repeated=True, metavar="NAME", needs=[_LISTED]
    )
    without_se: list[int] = option(
        "leave out an engine", [], read=count, repeated=True, metavar="N", needs=[_LISTED]
    )
    within: tuple[int, int] | None = shared.within([_LISTED])
    sort: str | None = shared.sort("place and begin")
    ascending: bool = shared.ascending()
    top: int = shared.top(0, "waves")
    json: bool = shared.as_json("rcv.waves")
    csv: bool = shared.as_csv()


@dataclass(frozen=True, kw_only=True)
class WaveOptions(Options):
    """What `rcv wave` takes."""

    example = f"rcv wave FOLDER {WAVE_ID} --tokens"

    folder: Path = shared.folder()
    wave: str = positional("ID", f"a wave, e.g. {WAVE_ID}", None)
    tokens: bool = flag("its instructions too, as they ran")
    within: tuple[int, int] | None = shared.within()
    clock: tuple[int, int] | None = shared.clock("also show how many waves touch the cycles A to B")
    json: bool = shared.as_json("rcv.wave")
    csv: bool = shared.as_csv("for spreadsheets: its instructions")


@dataclass(frozen=True, kw_only=True)
class UnitsOptions(Options):
    """What `rcv units` takes."""

    example = f"rcv units FOLDER --of {WAVE_ID} --within 1000:2000"

    folder: Path = shared.folder()
    of: str | None = option("the compute unit of this wave (default: the first one)", metavar="ID")
    within: tuple[int, int] | None = shared.within()
    json: bool = shared.as_json("rcv.units")
    csv: bool = shared.as_csv()


@dataclass(frozen=True, kw_only=True)
class PlaceOptions(Options):
    """What `rcv place` takes."""

    example = f"rcv place FOLDER '{WAVE_ID}:line 62#0'"

    folder: Path = shared.folder()
    places: list[str] = positional(
        "PLACE",
        f"as the window copies it: a wave, an instruction, its execution, e.g. {WAVE_ID}:line 62#0",
        None,
        "+",
    )
    json: bool = shared.as_json("rcv.place")
    csv: bool = shared.as_csv()


@dataclass(frozen=True, kw_only=True)
class SearchOptions(Options):
    """What `rcv search` takes."""

    example = "rcv search FOLDER --match buffer_load"

    folder: Path = shared.folder()
    match: str | None = shared.match("what to look for: instructions, labels, sources, names of markers")
    regex: bool = shared.regex()
    case: bool = shared.case()
    top: int = shared.top(0, "hits")
    json: bool = shared.as_json("rcv.search")
    csv: bool = shared.as_csv()
