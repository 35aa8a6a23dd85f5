"""Every command and what it takes.  Nothing here imports what a command needs to run."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rcv_py import __version__
from rcv_py.base.errors import UsageError

RANKED_BY = ("line", "source", "kind")
MEASURED = ("latency", "stall", "idle", "since")
ENTRY_KINDS = ("dispatch", "event", "marker", "shader")
SORTED_BY = ("latency", "stall", "idle", "hits")
LATENCY_KINDS = ("hidden", "memory")
RULES = ("ours", "reference")

_ABOUT = "Look at AMD GPU instruction-level thread traces (ui_output_* folders)."
_CODES = """\
exit codes:
  0  done
  1  a bug in rcv; what is printed belongs into a report
  2  something to put right: the sentence says what
"""


@dataclass(frozen=True, slots=True)
class Command:
    """`rcv NAME`: one line of help, its arguments, and the module in `rcv_py.cli.commands` that has `run`."""

    name: str
    help: str
    add: Callable[[argparse.ArgumentParser], None]
    example: str


def _view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=Path, nargs="?", metavar="FOLDER", help="a capture, or several of them"
    )


def _info(parser: argparse.ArgumentParser) -> None:
    _folder(parser)
    parser.add_argument("--check", action="store_true", help="read every wave and look for contradictions")
    parser.add_argument("--json", action="store_true", help="for programs: schema rcv.info or rcv.captures")


def _hotspot(parser: argparse.ArgumentParser) -> None:
    _folder(parser)
    parser.add_argument("--top", type=_count, default=20, metavar="N", help="rows; 0 for all (default 20)")
    parser.add_argument("--by", choices=RANKED_BY, default="line", help="what a row is (default line)")
    parser.add_argument(
        "--sort", choices=SORTED_BY, default="latency", help="largest first (default latency)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs: schema rcv.hotspot")
    form.add_argument("--csv", action="store_true", help="for spreadsheets")


def _waits(parser: argparse.ArgumentParser) -> None:
    _folder(parser)
    parser.add_argument("--top", type=_count, default=20, metavar="N", help="waits; 0 for all (default 20)")
    parser.add_argument("--wave", metavar="ID", help="of one wave only, e.g. se0/simd2/slot1/wv0")
    parser.add_argument(
        "--latency", action="store_true", help="the memory latency of each instruction instead"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs: schema rcv.waits")
    form.add_argument("--csv", action="store_true", help="for spreadsheets")


def _summary(parser: argparse.ArgumentParser) -> None:
    _folder(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs: schema rcv.summary")
    form.add_argument("--csv", action="store_true", help="for spreadsheets: one number a row")


def _line(parser: argparse.ArgumentParser) -> None:
    _folder(parser)
    parser.add_argument(
        "line", type=_count, metavar="LINE", help="row of the program, as rcv hotspot names it"
    )
    parser.add_argument(
        "--by", choices=MEASURED, default="latency", help="what is measured of a hit (default latency)"
    )
    parser.add_argument("--top", type=_count, default=10, metavar="N", help="hits; 0 for all (default 10)")
    parser.add_argument("--log", action="store_true", help="bars that grow by a constant factor")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs: schema rcv.line")
    form.add_argument("--csv", action="store_true", help="for spreadsheets: the slowest hits")


def _events(parser: argparse.ArgumentParser) -> None:
    _folder(parser)
    parser.add_argument(
        "--kind",
        type=_kinds,
        metavar="KINDS",
        help=f"of {', '.join(ENTRY_KINDS)}, joined by commas (default: all that mean something)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs: schema rcv.events")
    form.add_argument("--csv", action="store_true", help="for spreadsheets")


def _latency(parser: argparse.ArgumentParser) -> None:
    _folder(parser)
    parser.add_argument(
        "--kind",
        choices=LATENCY_KINDS,
        default="hidden",
        help="what other waves hide, or how long memory takes by counters (default hidden)",
    )
    parser.add_argument(
        "--rule", choices=RULES, default="ours", help="our estimate or the reference viewer's (default ours)"
    )
    parser.add_argument("--top", type=_count, default=20, metavar="N", help="rows; 0 for all (default 20)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs: schema rcv.latency")
    form.add_argument("--csv", action="store_true", help="for spreadsheets")


def _counters(parser: argparse.ArgumentParser) -> None:
    _folder(parser)
    parser.add_argument("--list", action="store_true", help="names only, with where and how often recorded")
    parser.add_argument("--raw", action="store_true", help="counters of the hardware only, no formulas")
    parser.add_argument(
        "--formula",
        action="append",
        default=[],
        metavar="TEXT",
        help="add a formula such as 'total := sum[BUSY_CU_CYCLES]'; may be repeated",
    )
    parser.add_argument(
        "--file", action="append", default=[], type=Path, metavar="DEFS", help="add formulas from a file"
    )
    parser.add_argument("--se", type=_count, action="append", metavar="N", help="only this shader engine")
    parser.add_argument("--cu", type=_count, action="append", metavar="N", help="only this compute unit")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs: schema rcv.counters")
    form.add_argument("--csv", action="store_true", help="the curves: name, time, value")


def _shot(parser: argparse.ArgumentParser) -> None:
    _folder(parser)
    parser.add_argument(
        "--panel", required=True, metavar="NAME", help="a panel, e.g. isa, or `window` for all of it"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="a .png, .svg or .csv file to write"
    )
    parser.add_argument("--size", type=_size, metavar="WxH", help="in pixels before scaling")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--scale", type=int, choices=(1, 2, 3), default=1, help="device pixels a pixel")
    parser.add_argument("--wave", metavar="ID", help="select a wave, e.g. se0/simd2/slot1/wv0")
    parser.add_argument("--line", type=_count, metavar="N", help="select a code line")
    parser.add_argument("--range", type=_range, metavar="A:B", help="show the cycles from A to B")


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
    parser.add_argument("--seed", type=_count, default=0, metavar="N", help="the same seed, the same bytes")


COMMANDS = (
    Command("view", "open the window (what `rcv FOLDER` does)", _view, "rcv ui_output_agent_1_dispatch_2"),
    Command("info", "tell what a capture holds, or list the captures below a folder", _info, "rcv info ."),
    Command(
        "hotspot",
        "rank instructions, source lines or kinds by cost",
        _hotspot,
        "rcv hotspot FOLDER --by source --sort stall",
    ),
    Command(
        "waits",
        "tell what waits waited for, and how long memory took",
        _waits,
        "rcv waits FOLDER --top 5",
    ),
    Command(
        "summary",
        "sum a capture up: activity, states, occupancy, busy pipes, compute units",
        _summary,
        "rcv summary FOLDER --json",
    ),
    Command(
        "line",
        "show how long the hits of an instruction took, and the slowest",
        _line,
        "rcv line FOLDER 62 --by stall --top 5",
    ),
    Command(
        "events",
        "list dispatches, hardware events, markers and shader data by time",
        _events,
        "rcv events FOLDER --kind dispatch,marker",
    ),
    Command(
        "latency",
        "tell what of the latency other waves hide, or how long memory takes",
        _latency,
        "rcv latency FOLDER --kind memory",
    ),
    Command(
        "counters",
        "summarise hardware counters and formulas over them",
        _counters,
        "rcv counters FOLDER --formula 'busy := sum[BUSY_CU_CYCLES, axis=[XCC, SE, CU]]'",
    ),
    Command(
        "shot",
        "draw a panel or the window into a picture",
        _shot,
        "rcv shot FOLDER --panel isa --out isa.png --size 900x600",
    ),
    Command("synth", "write made-up sample captures", _synth, "rcv synth --all --out samples"),
)
NAMES = tuple(command.name for command in COMMANDS)


def parse(words: list[str]) -> argparse.Namespace:
    """Return the arguments; `command` names the command.  Raise UsageError or SystemExit."""
    plain = [word for word in words if not word.startswith("-")]
    asks = {"-h", "--help", "--version"} & set(words)
    if plain and plain[0] not in NAMES:
        _guess(plain[0])
    if (not plain and not asks) or (plain and plain[0] not in NAMES):
        words = ["view", *words]
    return parser().parse_args(words)


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = argparse.ArgumentParser(
        "rcv",
        usage="rcv [FOLDER]\n       rcv COMMAND …",
        description=_ABOUT,
        epilog=_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"rcv {__version__}")
    commands = top.add_subparsers(
        dest="command", metavar="COMMAND", required=True, title="commands", prog="rcv"
    )
    for command in COMMANDS:
        own = commands.add_parser(
            command.name,
            help=command.help,
            description=command.help[0].upper() + command.help[1:] + ".",
            epilog=f"example: {command.example}",
            allow_abbrev=False,
        )
        command.add(own)
    return top


def _guess(word: str) -> None:
    """Raise UsageError for a word that is neither a command nor a path."""
    if Path(word).exists() or "/" in word or "." in word:
        return
    near = difflib.get_close_matches(word, NAMES, 1)
    hint = f"Did you mean `rcv {near[0]}`?" if near else f"Commands: {', '.join(NAMES)}."
    raise UsageError(f"{word} is neither a command nor a folder.", hint=hint)


def _folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER", help="a ui_output_* folder, or a file inside it"
    )


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(text.split(","))
    if not set(kinds) <= set(ENTRY_KINDS):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of {', '.join(ENTRY_KINDS)}")
    return kinds


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{2,5})x(\d{2,5})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 1200x800")
    return int(match[1]), int(match[2])


def _range(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(-?\d{1,18}):(-?\d{1,18})", text)
    if match is None or int(match[1]) >= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a range such as 1000:2000")
    return int(match[1]), int(match[2])
