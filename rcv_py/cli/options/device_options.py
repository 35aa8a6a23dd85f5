"""The options of the commands about the device: events, occupancy and counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rcv_py.cli.options import shared
from rcv_py.cli.options.common import ENTRY_KINDS, count, kinds, positive, positive_count
from rcv_py.cli.options.option import Need, Options, flag, has, lacks, option, positional

OCCUPIED_BY = ("se", "all", "cu", "simd", "kernel", "state")
COUNTED_BY = ("kernel", "dispatch")

_CURVES = Need(lacks("limits"), "the curves", "Leave out --limits, or this.")


@dataclass(frozen=True, kw_only=True)
class OccupancyOptions(Options):
    """What `rcv occupancy` takes."""

    example = "rcv occupancy FOLDER --by kernel"

    folder: Path = shared.folder()
    by: str = option("what a row is (default se)", "se", choices=OCCUPIED_BY, needs=[_CURVES])
    limits: bool = flag("what limits the waves of a SIMD instead, and the next step")
    se: int | None = option("only waves of a shader engine", read=count, metavar="N", needs=[_CURVES])
    only: list[str] | None = shared.only("only this row", [_CURVES])
    run_files: list[Path] | None = shared.run_files("with --limits: ", [Need(has("limits"), "--limits")])
    json: bool = shared.as_json("rcv.occupancy")
    csv: bool = shared.as_csv("the curves: a row for every change")


_VALUES = Need(lacks("list"), "the values", "Leave out --list, which only names counters, or this.")
_FORMULAS = Need(lacks("raw"), "formulas", "Leave out --raw, or this.")


@dataclass(frozen=True, kw_only=True)
class CountersOptions(Options):
    """What `rcv counters` takes."""

    example = "rcv counters FOLDER --formula 'busy := sum[BUSY_CU_CYCLES, axis=[XCC, SE, CU]]'"

    folder: Path = shared.folder()
    list: bool = flag("names only, with where and how often recorded")
    raw: bool = flag("counters of the hardware only, no formulas", needs=[_VALUES])
    formula: Sequence[str] = option(
        "add a formula such as 'total := sum[BUSY_CU_CYCLES]'; may be repeated",
        [],
        repeated=True,
        metavar="TEXT",
        needs=[_VALUES, _FORMULAS],
    )
    file: Sequence[Path] = option(
        "add formulas from a file", [], read=Path, repeated=True, metavar="DEFS", needs=[_VALUES, _FORMULAS]
    )
    se: Sequence[int] | None = option(
        "only this shader engine", read=count, repeated=True, metavar="N", needs=[_VALUES]
    )
    cu: Sequence[int] | None = option(
        "only this compute unit", read=count, repeated=True, metavar="N", needs=[_VALUES]
    )
    simd: int | None = option(
        "only raw counters that count this SIMD", read=count, metavar="N", needs=[_VALUES]
    )
    only: Sequence[str] | None = shared.only("only this counter", [_VALUES])
    json: bool = shared.as_json("rcv.counters")
    csv: bool = shared.as_csv("the curves: name, time, value")


_OWN_TABLE = Need(lacks("like"), "our own table", "Leave out --like, which adds up everything.")


@dataclass(frozen=True, kw_only=True)
class PmcOptions(Options):
    """What `rcv pmc` takes."""

    example = "rcv pmc FOLDER --kernel attn --ideal-mb 8590"

    paths: list[Path] = positional(
        "PATH",
        "CSV files of rocprofv3 --pmc, folders with such files, or a capture beside which they lie",
        nargs="+",
    )
    kernel: str = option("only kernels with this in their name (default: all)", "", metavar="NAME")
    by: str = option("what a row is (default kernel)", "kernel", choices=COUNTED_BY, needs=[_OWN_TABLE])
    ideal_mb: float | None = option(
        "megabytes (10^6) that a dispatch has to read at least: shows how much too much is read",
        read=positive,
        metavar="MB",
    )
    channels: int | None = option(
        "factor on bytes, for counters that see a part of the channels (default 1, of --like 2)",
        read=positive_count,
        metavar="N",
    )
    top: int = shared.top(10, needs=[_OWN_TABLE])
    json: bool = shared.as_json("rcv.pmc")
    csv: bool = shared.as_csv()
    like: bool = flag("the text of pmc_l2_analyzer.py, which adds up everything and takes reads for 64 bytes")


@dataclass(frozen=True, kw_only=True)
class EventsOptions(Options):
    """What `rcv events` takes."""

    example = "rcv events FOLDER --kind dispatch,marker"

    folder: Path = shared.folder()
    kind: tuple[str, ...] | None = option(
        f"of {', '.join(ENTRY_KINDS)}, joined by commas (default: all that mean something)",
        read=kinds,
        metavar="KINDS",
    )
    match: str | None = shared.match("only rows whose name, place or detail holds this text")
    regex: bool = shared.regex()
    case: bool = shared.case()
    sort: str | None = shared.sort("time, smallest first")
    ascending: bool = shared.ascending()
    json: bool = shared.as_json("rcv.events")
    csv: bool = shared.as_csv()
