"""Readers of option values: from a word of the command line to a number, a range or a list."""

from __future__ import annotations

import argparse
import re

from rcv_py.base.numbers import MAX_DIGITS
from rcv_py.base.text import elide_right

MAX_BINS = 4096  # of a histogram: as many as a wide screen has pixels
MAX_DEPTH = 64  # that are looked into for captures; paths end long before
MAX_JOBS = 64  # processes at a time
MAX_PIXELS = 1 << 26  # of a picture: 256 MB while it is drawn
ENTRY_KINDS = ("dispatch", "event", "marker", "shader")


def count(text: str) -> int:
    """Return a whole number, 0 or more."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{elide_right(text, 40)!r} is not a whole number")
    if len(text.lstrip("0")) > MAX_DIGITS:
        raise argparse.ArgumentTypeError(f"{elide_right(text, 40)!r} has more than {MAX_DIGITS} digits")
    return int(text)


class at_most:  # noqa: N801 - reads as the function it is used as
    """A reader of whole numbers from `minimum` to `maximum`, of what is made so many times."""

    def __init__(self, maximum: int, minimum: int = 0) -> None:
        self.maximum, self.minimum = maximum, minimum  # the schema of a tool has them

    def __call__(self, text: str) -> int:
        """Return the number; raise ArgumentTypeError."""
        number = positive_count(text) if self.minimum else count(text)
        if number > self.maximum:
            raise argparse.ArgumentTypeError(f"{text} is more than the {self.maximum:,} that are possible")
        return number


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
    if width * height > MAX_PIXELS:
        raise argparse.ArgumentTypeError(f"{text!r} is more than the {MAX_PIXELS:,} pixels that are possible")
    return width, height


def cycles(text: str) -> tuple[int, int]:
    """Return begin and end of `1000:2000`."""
    match = re.fullmatch(r"(-?\d{1,18}):(-?\d{1,18})", text)
    if match is None or int(match[1]) >= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a range such as 1000:2000")
    return int(match[1]), int(match[2])


def cycle(text: str) -> int:
    """Return a point in time, in cycles; it can lie before the zero of the capture's clock."""
    if re.fullmatch(r"-?\d{1,18}", text) is None:
        raise argparse.ArgumentTypeError(f"{elide_right(text, 40)!r} is not a whole number of cycles")
    return int(text)


def pair(text: str) -> tuple[int, int]:
    """Return the two code rows of `12:40`."""
    match = re.fullmatch(r"(\d{1,9}):(\d{1,9})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a pair of lines such as 12:40")
    return int(match[1]), int(match[2])


def line_or_place(text: str) -> int | str:
    """Return a row of the program, or the text of a place such as `se0/simd2/slot1/wv0:line 62#0`."""
    return count(text) if text.isascii() and text.isdigit() else text


def element(text: str) -> tuple[str, int]:
    """Return a source file ("" for the program) and a line of `62` or `dir/kernel.py:62`."""
    match = re.fullmatch(r"(?:(.+):)?(\d{1,9})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a line such as 62 or kernel.py:62")
    return match[1] or "", int(match[2])
