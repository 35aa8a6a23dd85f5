"""Options that say what a panel shows: which waves count, filters and order; "Copy as command" writes them.

Each function adds those of the command of its name.
"""

from __future__ import annotations

import argparse
import re
from typing import Any

from rcv_py.cli.options.common import MOST_BINS, at_most, count, cycles

CHARGED = ("self", "inclusive")
CHARGED_SORT = ("cost", "share", "place", "text")
MODES = ("sum", "mean", "hit", "wave-sum", "wave-mean", "wave-max")
BARS = ("nonhidden", "kinds", "causes", "reasons", "latency_stall", "memory", "memory_waits")


# -- what several commands share ------------------------------------------------------------------------


def clock(parser: argparse.ArgumentParser, what: str = "only waves that touch the cycles A to B") -> None:
    """Add `--clock A:B`, the clock range of the window."""
    parser.add_argument("--clock", type=cycles, metavar="A:B", help=what)


def within(parser: argparse.ArgumentParser) -> None:
    """Add `--within A:B`, what the timelines have in view."""
    parser.add_argument("--within", type=cycles, metavar="A:B", help="count only the cycles from A to B")


def matching(parser: argparse.ArgumentParser, what: str = "only rows that hold this text") -> None:
    """Add `--match TEXT` with how it is meant."""
    parser.add_argument("--match", metavar="TEXT", help=what)
    parser.add_argument("--regex", action="store_true", help="the text is a regular expression")
    parser.add_argument("--case", action="store_true", help="tell upper from lower case in it")


def ordered(parser: argparse.ArgumentParser, default: str) -> None:
    """Add `--sort COLUMN`, by any column of the JSON document, and `--ascending`."""
    what = f"a column of the JSON document, largest first (default: {default})"
    parser.add_argument("--sort", metavar="COLUMN", help=what)
    ascending(parser)


def ascending(parser: argparse.ArgumentParser) -> None:
    """Add the option `--ascending`."""
    parser.add_argument("--ascending", action="store_true", help="smallest first")


def no_idle(parser: argparse.ArgumentParser) -> None:
    """Add the option `--no-idle`."""
    what = "do not charge the idle time in front of an instruction"
    parser.add_argument("--no-idle", action="store_true", help=what)


def pair(text: str) -> tuple[int, int]:
    """Return the two code rows of `12:40`."""
    match = re.fullmatch(r"(\d{1,9}):(\d{1,9})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a pair of lines such as 12:40")
    return int(match[1]), int(match[2])


def element(text: str) -> tuple[str, int]:
    """Return a source file ("" for the program) and a line of `62` or `dir/kernel.py:62`."""
    match = re.fullmatch(r"(?:(.+):)?(\d{1,9})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a line such as 62 or kernel.py:62")
    return match[1] or "", int(match[2])


# -- by command -----------------------------------------------------------------------------------------


def hotspot(parser: argparse.ArgumentParser) -> None:
    """Histograms, and places as the panels charge them."""
    ascending(parser)
    what = "a histogram of N ranges of the program by kind instead"
    parser.add_argument("--bins", type=at_most(MOST_BINS, 1), metavar="N", help=what)
    parser.add_argument("--se", type=count, metavar="N", help="with --bins: only waves of a shader engine")
    what = "what places cost: latency and idle, charged to the innermost one or to all of an inline chain"
    parser.add_argument("--charge", choices=CHARGED, help=what)
    parser.add_argument("--file", metavar="SOURCE", help="with --charge: the lines of one source file")
    no_idle(parser)
    clock(parser)


def isa(parser: argparse.ArgumentParser, what: Any) -> None:
    """Modes, bars, filter; `what` is the group of forms of the table."""
    what.add_argument("--labels", action="store_true", help="one row a label: cycles up to the next one")
    parser.add_argument("--mode", choices=MODES, default="sum", help="of all waves or of one (default sum)")
    parser.add_argument("--wave", metavar="ID", help="whose numbers the modes of one wave show")
    parser.add_argument("--hit", type=count, default=0, metavar="N", help="for --mode hit: which, from 0")
    parser.add_argument("--bars", choices=BARS, help="add a column: the length of the bars of the window")
    no_idle(parser)
    clock(parser)
    matching(parser)
    ordered(parser, "program order")


def waits(parser: argparse.ArgumentParser) -> None:
    """Range, line, order."""
    what = "only waits at this line, and those that waited for it"
    parser.add_argument("--line", type=count, metavar="N", help=what)
    clock(parser)
    ordered(parser, "stall")


def causes(parser: argparse.ArgumentParser) -> None:
    """Add which line, and the order."""
    what = "only where this line is late or to blame"
    parser.add_argument("--line", type=count, metavar="N", help=what)
    ordered(parser, "stall and idle")


def loops(parser: argparse.ArgumentParser) -> None:
    """The rounds of one loop."""
    what = "with --show iterations: all rounds of one loop as they happened, entry and last one too"
    parser.add_argument("--loop", type=pair, metavar="HEAD:BRANCH", help=what)
    what = "with --loop: only rounds of this wave; what is an outlier is judged by all waves"
    parser.add_argument("--rounds-of", metavar="ID", help=what)
    what = "with --loop: only rounds that took much longer than others"
    parser.add_argument("--outliers", action="store_true", help=what)
    ordered(parser, "as the table says")


def bubbles(parser: argparse.ArgumentParser) -> None:
    """Add the order of rows."""
    ordered(parser, "cycles")


def line(parser: argparse.ArgumentParser) -> None:
    """How many bars, and the hits of one of them."""
    parser.add_argument(
        "--bars", type=at_most(MOST_BINS, 1), metavar="N", help="of the histogram (default 16)"
    )
    what = "list the hits of a bar, counted from 0, instead of the slowest"
    parser.add_argument("--bar", type=count, metavar="N", help=what)


def latency(parser: argparse.ArgumentParser) -> None:
    """What waits tell, order."""
    what = "with --kind memory: also what waits tell, and lines that only they know"
    parser.add_argument("--waits", action="store_true", help=what)
    no_idle(parser)
    ordered(parser, "what nothing hides, or the mean")


def counters(parser: argparse.ArgumentParser) -> None:
    """Add which counters are shown."""
    what = "only raw counters that count this SIMD"
    parser.add_argument("--simd", type=count, metavar="N", help=what)
    parser.add_argument("--only", action="append", metavar="NAME", help="only this counter; may be repeated")


def flame(parser: argparse.ArgumentParser) -> None:
    """Which waves, and what is in the middle of a sandwich."""
    what = "in the middle of --content sandwich: a line N of the program, or a source line FILE:N"
    parser.add_argument("--around", type=element, metavar="PLACE", help=what)
    no_idle(parser)
    clock(parser, "only waves that touch the cycles A to B; then nothing is known of what is hidden")


def compare(parser: argparse.ArgumentParser) -> None:
    """Filter and order."""
    what = "only rows that are beyond noise"
    parser.add_argument("--beyond-noise", action="store_true", help=what)
    ordered(parser, "beyond noise, then by difference")


def events(parser: argparse.ArgumentParser) -> None:
    """Filter and order."""
    matching(parser, "only rows whose name, place or detail holds this text")
    ordered(parser, "time, smallest first")


def occupancy(parser: argparse.ArgumentParser) -> None:
    """Add which curves are shown."""
    what = "only waves of a shader engine"
    parser.add_argument("--se", type=count, metavar="N", help=what)
    parser.add_argument("--only", action="append", metavar="NAME", help="only this row; may be repeated")
