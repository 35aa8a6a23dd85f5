"""The options of the commands about a capture as a whole, or about several."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rcv_py.cli.options import shared
from rcv_py.cli.options.common import MOST_FOLDERS_DEEP, MOST_JOBS, at_most, count
from rcv_py.cli.options.option import Need, Options, flag, has, option, positional
from rcv_py.cli.options.shared import WAVE_ID

INDEX_ORDERS = ("duration", "latency", "waves", "stall", "health", "occupancy", "kernel", "capture")

_OF_A_CAPTURE = Need(has("folder"), "a capture", "Name the capture first.")


@dataclass(frozen=True, kw_only=True)
class ViewOptions(Options):
    """What `rcv view` takes."""

    example = "rcv ui_output_agent_1_dispatch_2"

    folder: Path | None = positional("FOLDER", "a capture, or several of them", nargs="?")
    panel: str | None = option(
        "bring a panel to the front, e.g. waits", metavar="NAME", needs=[_OF_A_CAPTURE]
    )
    compare: Path | None = shared.baseline(_OF_A_CAPTURE)
    twin: Path | None = shared.twin()
    goto: str | None = option(
        "select a place: an anchor of a report, e.g. line-118, or se0/simd2/slot1/wv0:line 118#7@126704",
        metavar="PLACE",
        needs=[_OF_A_CAPTURE],
    )
    wave: str | None = shared.wave(f"select a wave, e.g. {WAVE_ID}", [_OF_A_CAPTURE])
    line: int | None = option("select an instruction", read=count, metavar="N", needs=[_OF_A_CAPTURE])
    cycle: int | None = option("show this cycle", read=count, metavar="N", needs=[_OF_A_CAPTURE])
    run_files: list[Path] | None = shared.run_files(needs=[_OF_A_CAPTURE])


@dataclass(frozen=True, kw_only=True)
class TriageOptions(Options):
    """What `rcv triage` takes."""

    example = "rcv triage FOLDER --top 3"

    folder: Path = shared.folder(help="a ui_output_* folder, or a folder with several of them")
    top: int | None = option(
        "the first N findings, 0 for all (default: those with 2 %% of the kernel's duration to gain)",
        read=count,
        metavar="N",
    )
    all: bool = flag(
        "look at every wave, also of a capture with more than 48 MB of them, and print every finding"
    )
    waves: str | None = shared.waves()
    run_files: list[Path] | None = shared.run_files()
    json: bool = shared.as_json("rcv.triage, or rcv.triage.folder")
    csv: bool = shared.as_csv()
    markdown: bool = shared.form("to paste into a ticket")


@dataclass(frozen=True, kw_only=True)
class InfoOptions(Options):
    """What `rcv info` takes."""

    example = "rcv info ."

    folder: Path = shared.folder()
    check: bool = flag("read every wave and look for contradictions")
    read: bool = flag("read every wave, and name those that cannot be read")
    json: bool = shared.as_json("rcv.info or rcv.captures")
    csv: bool = shared.as_csv("for spreadsheets: a row a fact, or a capture")


@dataclass(frozen=True, kw_only=True)
class CheckOptions(Options):
    """What `rcv check` takes."""

    example = "rcv check FOLDER --yaml > input.yaml"

    folder: Path = shared.folder()
    twin: Path | None = option(
        "a capture of the same instructions: measures the noise", read=Path, metavar="OTHER"
    )
    strict: bool = flag("exit with 4 if there is an error or a warning")
    yaml: bool = shared.form("only the input file for rocprofv3 that mends it")
    json: bool = shared.as_json("rcv.check")
    csv: bool = shared.as_csv("for spreadsheets: a row for every piece of evidence")


@dataclass(frozen=True, kw_only=True)
class SummaryOptions(shared.OfWorkingWaves):
    """What `rcv summary` takes."""

    example = "rcv summary FOLDER --json"

    folder: Path = shared.folder()
    waves: str | None = shared.waves()
    json: bool = shared.as_json("rcv.summary")
    csv: bool = shared.as_csv("for spreadsheets: one number a row")


@dataclass(frozen=True, kw_only=True)
class IndexOptions(Options):
    """What `rcv index` takes."""

    example = "rcv index captures --sort health --markdown > README.md"

    folder: Path = shared.folder("DIR", "a folder with captures at any place below it")
    sort: str = option("what ranks captures (default duration)", "duration", choices=INDEX_ORDERS)
    findings: bool = flag("read waves too, for the bound class and the first finding")
    depth: int = option(
        "folders looked into below DIR (default 6)", 6, read=at_most(MOST_FOLDERS_DEEP, 1), metavar="N"
    )
    limit: int = option("captures at most; 0 for all (default 1000)", 1000, read=count, metavar="N")
    jobs: int | None = option(
        "processes; 0 for none (default: 2 for many captures)", read=at_most(MOST_JOBS), metavar="N"
    )
    json: bool = shared.as_json("rcv.index")
    csv: bool = shared.as_csv()
    markdown: bool = shared.form("a table for a README")
    html: bool = shared.form("a page that needs nothing else")
    out: Path | None = option("write it there instead of printing it", read=Path, metavar="FILE")
