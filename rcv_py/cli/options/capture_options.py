"""The options of the commands about a capture as a whole, or about several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from rcv_py.cli.options import shared
from rcv_py.cli.options.common import MAX_DEPTH, MAX_JOBS, at_most
from rcv_py.cli.options.option import Need, flag, has, number, option, positional, range_of, text, without

INDEX_ORDERS = ("duration", "latency", "waves", "stall", "health", "occupancy", "kernel", "capture")


class ViewOptions(shared.WithRunFiles, example="rcv ui_output_agent_1_dispatch_2"):
    """What `rcv view` takes."""

    needs: ClassVar[Sequence[Need]] = (
        Need(
            "panel compare goto wave line cycle run_files",
            has("folder"),
            "a capture",
            "Name the capture first.",
        ),
    )

    folder: Path | None = positional("FOLDER", "a capture, or several of them", nargs="?")
    panel: str | None = text("bring a panel to the front, e.g. waits")
    compare: Path | None = shared.baseline()
    twin: Path | None = shared.twin()
    goto: str | None = text(
        "a place: an anchor of a report, e.g. line-118, or se0/simd2/slot1/wv0:instruction 118#7@126704",
        "PLACE",
    )
    wave: str | None = shared.wave("select a wave")
    line: int | None = number("select an instruction")
    cycle: int | None = number("show this cycle")


class TriageOptions(shared.OfCaptures, shared.WithRunFiles, example="rcv triage FOLDER --top 3"):
    """What `rcv triage` takes."""

    folder: Path = shared.folder(help="a ui_output_* folder, or a folder with several of them")
    top: int | None = shared.top(None, "findings", "those with 2 %% of the kernel's duration to gain")
    all: bool = flag(
        "look at every wave, also of a capture with more than 48 MB of them, and print every finding"
    )
    waves: str | None = shared.waves()
    markdown: bool = shared.form("to paste into a ticket")


class InfoOptions(shared.OfCaptures, example="rcv info ."):
    """What `rcv info` takes."""

    check: bool = flag("read every wave and look for contradictions")
    read: bool = flag("read every wave, and name those that cannot be read")
    csv: bool = shared.as_csv("a row a fact, or a capture")


class CheckOptions(shared.OfCaptures, example="rcv check FOLDER --yaml > input.yaml"):
    """What `rcv check` takes."""

    twin: Path | None = option(
        "a capture of the same instructions: measures the noise", read=Path, metavar="OTHER"
    )
    strict: bool = flag("exit with 4 if there is an error or a warning")
    yaml: bool = shared.form("only the input file for rocprofv3 that improves it")
    csv: bool = shared.as_csv("a row for every piece of evidence")


class SummaryOptions(shared.OfCaptures, shared.OfWaves, example="rcv summary FOLDER --json"):
    """What `rcv summary` takes."""

    needs: ClassVar[Sequence[Need]] = (without("units", "the summary", "waves se"),)

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


class IndexOptions(shared.OfCaptures, example="rcv index captures --sort health --markdown > README.md"):
    """What `rcv index` takes."""

    folder: Path = shared.folder("DIR", "a folder with captures at any place below it")
    more: list[Path] = positional("DIR", "more folders", nargs="*")
    sort: str = option("what ranks captures (default duration)", "duration", choices=INDEX_ORDERS)
    findings: bool = flag("read waves too, for the bound class and the first finding")
    depth: int = number("folders looked into below DIR (default 6)", 6, read=at_most(MAX_DEPTH, 1))
    limit: int = number("captures at most; 0 for all (default 1000)", 1000)
    jobs: int | None = number("processes; 0 for none (default: 2 for many captures)", read=at_most(MAX_JOBS))
    markdown: bool = shared.form("a table for a README")
    html: bool = shared.form("a page that needs nothing else")
    out: Path | None = shared.out()
