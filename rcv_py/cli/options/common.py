"""What a command is, and the options that several commands share."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rcv_py.base.numbers import MOST_DIGITS
from rcv_py.base.text import elide_right

MOST_BINS = 4096  # of a histogram: as many as a wide screen has pixels
MOST_FOLDERS_DEEP = 64  # that are looked into for captures; paths end long before
MOST_JOBS = 64  # processes at a time
MOST_PIXELS = 1 << 26  # of a picture: 256 MB while it is drawn
ENTRY_KINDS = ("dispatch", "event", "marker", "shader")


@dataclass(frozen=True, slots=True)
class Command:
    """`rcv NAME`: one line of help, its arguments, and the module in `rcv_py.cli.commands` that has `run`."""

    name: str
    help: str
    add: Callable[[argparse.ArgumentParser], None]
    example: str


def folder(
    parser: argparse.ArgumentParser,
    name: str = "FOLDER",
    help: str = "a ui_output_* folder, or a file inside it",
) -> None:
    """Add the argument that most commands begin with."""
    parser.add_argument("folder", type=Path, metavar=name, help=help)


def count(text: str) -> int:
    """Return a whole number, 0 or more."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{elide_right(text, 40)!r} is not a whole number")
    if len(text.lstrip("0")) > MOST_DIGITS:
        raise argparse.ArgumentTypeError(f"{elide_right(text, 40)!r} has more than {MOST_DIGITS} digits")
    return int(text)


def at_most(most: int, least: int = 0) -> Callable[[str], int]:
    """Return a reader of whole numbers from `least` to `most`, of what is made so many times."""

    def read(text: str) -> int:
        number = positive_count(text) if least else count(text)
        if number > most:
            raise argparse.ArgumentTypeError(f"{text} is more than the {most:,} that are possible")
        return number

    read.least, read.most = least, most  # type: ignore[attr-defined] - the schema of a tool says them
    return read


def positive_count(text: str) -> int:
    """Return a whole number, 1 or more."""
    value = count(text)
    if not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return value


def kinds(text: str) -> tuple[str, ...]:
    """Return the kinds of `dispatch,marker`."""
    kinds = tuple(text.split(","))
    if not set(kinds) <= set(ENTRY_KINDS):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of {', '.join(ENTRY_KINDS)}")
    return kinds


def percent(text: str) -> float:
    """Return a share from 0 to 100."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share from 0 to 100")
    return value


def positive(text: str) -> float:
    """Return a number above 0, such as `8590` or `0.5`."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def size(text: str) -> tuple[int, int]:
    """Return width and height of `1200x800`."""
    match = re.fullmatch(r"(\d{2,5})x(\d{2,5})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 1200x800")
    width, height = int(match[1]), int(match[2])
    if width * height > MOST_PIXELS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is more than the {MOST_PIXELS:,} pixels that are possible"
        )
    return width, height


def cycles(text: str) -> tuple[int, int]:
    """Return begin and end of `1000:2000`."""
    match = re.fullmatch(r"(-?\d{1,18}):(-?\d{1,18})", text)
    if match is None or int(match[1]) >= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a range such as 1000:2000")
    return int(match[1]), int(match[2])


def waves(parser: argparse.ArgumentParser, default: str = "working") -> None:
    """Add `--waves NAME`: whose costs count; without it None, which stands for `default`."""
    parser.add_argument(
        "--waves",
        metavar="NAME",
        help="count the waves that work, all of them, or a population that `rcv waves --populations` names:"
        f" working, all, or its id (default {default})",
    )


def run_files(parser: argparse.ArgumentParser, with_what: str = "") -> None:
    """Add `--run-files PATH`: where the tables of the run are."""
    parser.add_argument(
        "--run-files",
        type=Path,
        action="append",
        metavar="PATH",
        help=f"{with_what}tables of the run (*_kernel_trace.csv, *_agent_info.csv), or a folder with them; "
        "may be repeated (default: what lies near the capture)",
    )


def top(parser: argparse.ArgumentParser, default: int, what: str = "rows") -> None:
    """Add `--top N`; 0 means all."""
    shown = default or "all"
    parser.add_argument(
        "--top", type=count, default=default, metavar="N", help=f"{what}; 0 for all (default {shown})"
    )


def forms(parser: argparse.ArgumentParser, schema: str, csv: str = "for spreadsheets") -> Any:
    """Add `--json` and `--csv`, of which only one can be; return the group, for further forms."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help=f"for programs: schema {schema}")
    form.add_argument("--csv", action="store_true", help=csv)
    return form
