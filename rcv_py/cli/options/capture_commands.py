"""The commands about a capture as a whole, and what each takes."""

from __future__ import annotations

import argparse
from pathlib import Path

from rcv_py.cli.options import view_options
from rcv_py.cli.options.common import (
    ENTRY_KINDS,
    MOST_FOLDERS_DEEP,
    MOST_JOBS,
    Command,
    at_most,
    count,
    cycles,
    folder,
    forms,
    kinds,
    run_files,
    size,
    waves,
)

OCCUPIED_BY = ("se", "all", "cu", "simd", "kernel", "state")
REPORTED_AS = ("html", "md")
EXPORTED_TO = ("perfetto", "speedscope", "csv", "parquet")
EXPORTED_TABLES = ("code", "waves", "tokens", "states", "waits", "occupancy", "events", "counters")
INDEX_ORDERS = ("duration", "latency", "waves", "stall", "health", "occupancy", "kernel", "capture")


def _view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=Path, nargs="?", metavar="FOLDER", help="a capture, or several of them"
    )
    parser.add_argument("--panel", metavar="NAME", help="bring a panel to the front, e.g. waits")
    _baseline(parser)
    parser.add_argument(
        "--goto",
        metavar="PLACE",
        help="select a place: an anchor of a report, e.g. line-118, or se0/simd2/slot1/wv0:line 118#7@126704",
    )
    parser.add_argument("--wave", metavar="ID", help="select a wave, e.g. se0/simd2/slot1/wv0")
    parser.add_argument("--line", type=count, metavar="N", help="select a code line")
    parser.add_argument("--cycle", type=count, metavar="N", help="show this cycle")
    run_files(parser)


def _baseline(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--compare", type=Path, metavar="BASELINE", help="a capture that the first one is compared with"
    )
    parser.add_argument(
        "--twin", type=Path, metavar="C", help="another capture of the baseline's build: it tells the noise"
    )


def _triage(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER", help="a ui_output_* folder, or a folder with several of them"
    )
    parser.add_argument(
        "--top",
        type=count,
        metavar="N",
        help="the first N findings, 0 for all (default: those with 2 %% of the kernel's duration to gain)",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="look at every wave, also of a capture with more than 48 MB of them, and print every finding",
    )
    waves(parser)
    run_files(parser)
    form = forms(parser, "rcv.triage, or rcv.triage.folder")
    form.add_argument("--markdown", action="store_true", help="to paste into a ticket")


def _info(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument("--check", action="store_true", help="read every wave and look for contradictions")
    parser.add_argument(
        "--read", action="store_true", help="read every wave, and tell which of them cannot be read"
    )
    forms(parser, "rcv.info or rcv.captures", "for spreadsheets: a row a fact, or a capture")


def _check(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument(
        "--twin", type=Path, metavar="OTHER", help="a capture of the same instructions: tells the noise"
    )
    parser.add_argument("--strict", action="store_true", help="exit with 4 if there is an error or a warning")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--yaml", action="store_true", help="only the input file for rocprofv3 that mends it")
    form.add_argument("--json", action="store_true", help="for programs: schema rcv.check")
    form.add_argument(
        "--csv", action="store_true", help="for spreadsheets: a row for every piece of evidence"
    )


def _index(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="a folder with captures at any place below it"
    )
    parser.add_argument(
        "--sort", choices=INDEX_ORDERS, default="duration", help="what ranks captures (default duration)"
    )
    parser.add_argument(
        "--findings",
        action="store_true",
        help="read waves too, for the bound class and the first finding",
    )
    parser.add_argument(
        "--depth",
        type=at_most(MOST_FOLDERS_DEEP, 1),
        default=6,
        metavar="N",
        help="folders looked into below DIR (default 6)",
    )
    parser.add_argument(
        "--limit", type=count, default=1000, metavar="N", help="captures at most; 0 for all (default 1000)"
    )
    parser.add_argument(
        "--jobs",
        type=at_most(MOST_JOBS),
        metavar="N",
        help="processes; 0 for none (default: 2 for many captures)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs: schema rcv.index")
    form.add_argument("--csv", action="store_true", help="for spreadsheets")
    form.add_argument("--markdown", action="store_true", help="a table for a README")
    form.add_argument("--html", action="store_true", help="a page that needs nothing else")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write it there instead of printing it")


def _summary(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    waves(parser)
    forms(parser, "rcv.summary", "for spreadsheets: one number a row")


def _events(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument(
        "--kind",
        type=kinds,
        metavar="KINDS",
        help=f"of {', '.join(ENTRY_KINDS)}, joined by commas (default: all that mean something)",
    )
    view_options.events(parser)
    forms(parser, "rcv.events")


def _occupancy(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument("--by", choices=OCCUPIED_BY, default="se", help="what a row is (default se)")
    parser.add_argument(
        "--limits", action="store_true", help="what limits the waves of a SIMD instead, and the next step"
    )
    view_options.occupancy(parser)
    run_files(parser, "with --limits: ")
    forms(parser, "rcv.occupancy", "the curves: a row for every change")


def _shot(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument(
        "--panel", required=True, metavar="NAME", help="a panel, e.g. isa, or `window` for all of it"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="a .png, .svg or .csv file to write"
    )
    parser.add_argument("--size", type=size, metavar="WxH", help="in pixels before scaling")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--scale", type=int, choices=(1, 2, 3), default=1, help="device pixels a pixel")
    parser.add_argument("--wave", metavar="ID", help="select a wave, e.g. se0/simd2/slot1/wv0")
    parser.add_argument("--line", type=count, metavar="N", help="select a code line")
    _baseline(parser)
    parser.add_argument("--range", type=cycles, metavar="A:B", help="show the cycles from A to B")


def _synth(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="samples to write; none: list them")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("sample_traces"),
        metavar="FOLDER",
        help="where (default sample_traces)",
    )
    parser.add_argument("--all", action="store_true", help="write every sample")
    parser.add_argument("--seed", type=count, default=0, metavar="N", help="the same seed, the same bytes")
    forms(parser, "rcv.samples")


def _report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folders", type=Path, nargs="+", metavar="FOLDER", help="captures, or folders that hold several"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--out", type=Path, metavar="FILE", help="a .html or .md file to write, for one capture"
    )
    where.add_argument(
        "--out-dir",
        type=Path,
        metavar="DIR",
        help="a folder to write into: a file a capture, and an index of several (default: here)",
    )
    parser.add_argument(
        "--format", choices=REPORTED_AS, default="html", help="of files in a folder (default html)"
    )
    parser.add_argument(
        "--jobs",
        type=at_most(MOST_JOBS),
        default=0,
        metavar="N",
        help="captures at a time (default: as many as processors)",
    )
    waves(parser)
    run_files(parser)
    forms(parser, "rcv.report")


def _export(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument("--to", choices=EXPORTED_TO, required=True, help="the kind of file")
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="PATH",
        help="a file to write (compressed if it ends in .gz), or the folder for all tables",
    )
    parser.add_argument(
        "--table", choices=EXPORTED_TABLES, metavar="NAME", help=f"one of {', '.join(EXPORTED_TABLES)}"
    )
    parser.add_argument(
        "--waves",
        nargs="+",
        metavar="ID",
        help="only these waves, e.g. se0/simd2/slot1/wv0 (default: all; speedscope: the first)",
    )
    parser.add_argument(
        "--cycles",
        action="store_true",
        help="Perfetto: write a cycle as one nanosecond, so that no time is rounded",
    )
    parser.add_argument("--json", action="store_true", help="for programs: schema rcv.export")


def _schema(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a command, a schema such as rcv.info/1, or `envelope`"
    )
    forms(parser, "rcv.schemas")


def _mcp(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--root",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="captures are read below it only (default: the current folder)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="reports and exports are written into it; without it, none are",
    )


CAPTURE_COMMANDS = (
    Command("view", "open the window (what `rcv FOLDER` does)", _view, "rcv ui_output_agent_1_dispatch_2"),
    Command(
        "triage",
        "print what limits the kernel and what to do first: findings by gain, with evidence and remedy",
        _triage,
        "rcv triage FOLDER --top 3",
    ),
    Command("info", "tell what a capture holds, or list the captures below a folder", _info, "rcv info ."),
    Command(
        "check",
        "tell whether a capture can be trusted, and how to record a better one",
        _check,
        "rcv check FOLDER --yaml > input.yaml",
    ),
    Command(
        "index",
        "rank all captures below a folder, with kernel, cost, top line and health",
        _index,
        "rcv index captures --sort health --markdown > README.md",
    ),
    Command(
        "summary",
        "sum a capture up: activity, states, occupancy, busy pipes, compute units",
        _summary,
        "rcv summary FOLDER --json",
    ),
    Command(
        "events",
        "list dispatches, events and markers by time",
        _events,
        "rcv events FOLDER --kind dispatch,marker",
    ),
    Command(
        "occupancy",
        "tell how many waves were resident, and for how long",
        _occupancy,
        "rcv occupancy FOLDER --by kernel",
    ),
    Command(
        "shot",
        "draw a panel or the window into a picture",
        _shot,
        "rcv shot FOLDER --panel isa --out isa.png --size 900x600",
    ),
    Command(
        "report",
        "write a report of captures: one page of HTML or Markdown each",
        _report,
        "rcv report FOLDER --out report.html",
    ),
    Command(
        "export",
        "write what other tools read: Perfetto, speedscope, CSV, Parquet",
        _export,
        "rcv export FOLDER --to perfetto --out trace.pftrace",
    ),
    Command("synth", "write made-up sample captures", _synth, "rcv synth --all --out samples"),
    Command(
        "schema",
        "print the JSON Schema of what --json prints, or list all",
        _schema,
        "rcv schema hotspot > hotspot.schema.json",
    ),
    Command(
        "mcp",
        "serve these commands to an agent, by the Model Context Protocol on standard input and output",
        _mcp,
        "rcv mcp --root captures",
    ),
)
