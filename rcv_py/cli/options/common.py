"""Readers of option values: from a word of the command line to a number, a range or a list."""

from __future__ import annotations

import argparse
import re

from rcv_py.base.text import MAX_DIGITS, elide_right

MAX_BINS = 4096  # of a histogram: as many as a wide screen has pixels
MAX_DEPTH = 64  # of folders that are looked into for captures; paths end long before
MAX_JOBS = 64  # processes at a time
MAX_PIXELS = 1 << 26  # of a picture: 256 MB while it is drawn
ENTRY_KINDS = ("dispatch", "event", "marker", "shader")


def _wrong(text: str, why: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"{elide_right(text, 40)!r} {why}")


def _matched(pattern: str, text: str, what: str) -> re.Match[str]:
    match = re.fullmatch(pattern, text)
    if match is None:
        raise _wrong(text, f"is not {what}")
    return match


class at_most:  # noqa: N801 - reads as the function it is used as
    """A reader of whole numbers from `minimum` to `maximum`, of what is made so many times."""

    def __init__(self, maximum: int | None = None, minimum: int = 0) -> None:
        self.maximum, self.minimum = maximum, minimum  # the schema of a tool has them

    def __call__(self, text: str) -> int:
        """Return the number; raise ArgumentTypeError."""
        if not text.isascii() or not text.isdigit():
            raise _wrong(text, "is not a whole number")
        if len(text.lstrip("0")) > MAX_DIGITS:
            raise _wrong(text, f"has more than {MAX_DIGITS} digits")
        value = int(text)
        if value < self.minimum:
            raise _wrong(text, "is not a whole number above 0")
        if self.maximum is not None and value > self.maximum:
            raise argparse.ArgumentTypeError(f"{text} is more than the {self.maximum:,} that are possible")
        return value


count = at_most()
positive_count = at_most(minimum=1)


def kinds(text: str) -> tuple[str, ...]:
    """Return the kinds of `dispatch,marker`."""
    named = tuple(text.split(","))
    if not set(named) <= set(ENTRY_KINDS):
        raise _wrong(text, f"is not a list of {', '.join(ENTRY_KINDS)}")
    return named


def _real(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def percent(text: str) -> float:
    """Return a share from 0 to 100."""
    value = _real(text)
    if not 0 <= value <= 100:
        raise _wrong(text, "is not a share from 0 to 100")
    return value


def positive(text: str) -> float:
    """Return a number above 0, such as `8590` or `0.5`."""
    value = _real(text)
    if not 0 < value < float("inf"):
        raise _wrong(text, "is not a number above 0")
    return value


def size(text: str) -> tuple[int, int]:
    """Return width and height of `1200x800`."""
    match = _matched(r"(\d{2,5})x(\d{2,5})", text, "a size such as 1200x800")
    width, height = int(match[1]), int(match[2])
    if width * height > MAX_PIXELS:
        raise _wrong(text, f"is more than the {MAX_PIXELS:,} pixels that are possible")
    return width, height


def cycles(text: str) -> tuple[int, int]:
    """Return begin and end of `1000:2000`."""
    match = _matched(r"(-?\d{1,18}):(-?\d{1,18})", text, "a range such as 1000:2000")
    if int(match[1]) >= int(match[2]):
        raise _wrong(text, "is not a range such as 1000:2000")
    return int(match[1]), int(match[2])


def cycle(text: str) -> int:
    """Return a point in time, in cycles; it can lie before the zero of the capture's clock."""
    return int(_matched(r"-?\d{1,18}", text, "a whole number of cycles")[0])


def pair(text: str) -> tuple[int, int]:
    """Return the two instructions of `12:40`."""
    match = _matched(r"(\d{1,9}):(\d{1,9})", text, "a pair of instructions such as 12:40")
    return int(match[1]), int(match[2])


def line_or_place(text: str) -> int | str:
    """Return the index of an instruction, or a place such as `se0/simd2/slot1/wv0:instruction 62#0`."""
    return count(text) if text.isascii() and text.isdigit() else text


def element(text: str) -> tuple[str, int]:
    """Return a source file ("" for the program) and the number of `62` or `dir/kernel.py:62`."""
    match = _matched(r"(?:(.+):)?(\d{1,9})", text, "a place such as 62 or kernel.py:62")
    return match[1] or "", int(match[2])
