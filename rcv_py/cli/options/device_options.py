"""The options of the commands about the device: events, occupancy and counters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from rcv_py.cli.options import shared
from rcv_py.cli.options.common import ENTRY_KINDS, count, kinds, positive, positive_count
from rcv_py.cli.options.option import Need, beside, flag, lacks, number, option, positional, range_of, without

OCCUPIED_BY = ("se", "all", "cu", "simd", "kernel", "state")
COUNTED_BY = ("kernel", "dispatch")


class OccupancyOptions(shared.OfCapture, shared.WithRunFiles, example="rcv occupancy FOLDER --by kernel"):
    """What `rcv occupancy` takes."""

    needs: ClassVar[Sequence[Need]] = (
        without("limits", "the curves", "by se only"),
        beside("limits", "run_files"),
    )

    by: str = option("what a row is (default se)", "se", choices=OCCUPIED_BY)
    limits: bool = flag("what limits the waves of a SIMD instead, and the next step")
    se: int | None = shared.engine()
    only: list[str] | None = shared.only("only this row")
    run_files: list[Path] | None = shared.run_files("with --limits: ")
    csv: bool = shared.as_csv("the curves: a row for every change")


class CountersOptions(
    shared.OfCapture,
    example="rcv counters FOLDER --formula 'busy := sum[BUSY_CU_CYCLES, axis=[XCC, SE, CU]]'",
):
    """What `rcv counters` takes."""

    needs: ClassVar[Sequence[Need]] = (
        without("list", "the values", "raw formula file se cu simd only"),
        without("raw", "formulas", "formula file"),
    )

    list: bool = flag("names only, with where and how often recorded")
    raw: bool = flag("counters of the hardware only, no formulas")
    formula: Sequence[str] = option(
        "add a formula such as 'total := sum[BUSY_CU_CYCLES]'; may be repeated",
        [],
        repeated=True,
        metavar="TEXT",
    )
    file: Sequence[Path] = option("add formulas from a file", [], read=Path, repeated=True, metavar="DEFS")
    se: Sequence[int] | None = option("only this shader engine", read=count, repeated=True, metavar="N")
    cu: Sequence[int] | None = option("only this compute unit", read=count, repeated=True, metavar="N")
    simd: int | None = number("only raw counters that count this SIMD")
    only: Sequence[str] | None = shared.only("only this counter")
    csv: bool = shared.as_csv("the curves: name, time, value")


class PmcOptions(shared.Forms, example="rcv pmc FOLDER --kernel attn --ideal-mb 8590"):
    """What `rcv pmc` takes."""

    needs: ClassVar[Sequence[Need]] = (
        Need("by top", lacks("like"), "our own table", "Leave out --like, which adds up everything."),
    )

    paths: list[Path] = positional(
        "PATH",
        "CSV files of rocprofv3 --pmc, folders with such files, or a capture beside which they lie",
        nargs="+",
    )
    kernel: str = option("only kernels with this in their name (default: all)", "", metavar="NAME")
    by: str = option("what a row is (default kernel)", "kernel", choices=COUNTED_BY)
    ideal_mb: float | None = option(
        "megabytes (10^6) that a dispatch has to read at least: shows how much too much is read",
        read=positive,
        metavar="MB",
    )
    channels: int | None = number(
        "factor on bytes, for counters that see a part of the channels (default 1, of --like 2)",
        read=positive_count,
    )
    top: int = shared.top(10)
    like: bool = flag("the text of pmc_l2_analyzer.py, which adds up everything and takes reads for 64 bytes")


class EventsOptions(shared.Matched, shared.Rows, example="rcv events FOLDER --kind dispatch,marker"):
    """What `rcv events` takes."""

    kind: tuple[str, ...] | None = option(
        f"of {', '.join(ENTRY_KINDS)}, joined by commas (default: all that mean something)",
        read=kinds,
        metavar="KINDS",
    )
    match: str | None = option("only rows whose name, place or detail holds this text", metavar="TEXT")
    within: tuple[int, int] | None = range_of("only rows that begin in a range of cycles")
    top: int = shared.top(0)
    sort: str | None = shared.sort("time, smallest first")
