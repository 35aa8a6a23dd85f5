"""Writers: aligned text for people, CSV for spreadsheets, JSON for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from rcv_py import __version__
from rcv_py.base.csv_text import csv_text as csv_text  # noqa: PLC0414 - with the other writers
from rcv_py.base.numbers import MOST_DIGITS
from rcv_py.base.text import elide_left, elide_right, encodable, escaped_json, visible
from rcv_py.cli.outlet import BOLD, UPRIGHT, code

GAP = "  "
NARROWEST = 12  # characters that an elastic column keeps


@dataclass(frozen=True, slots=True)
class Column:
    """How a column is printed: numbers to the right; `elastic` is the end that may be cut to fit."""

    title: str
    is_number: bool = False
    elastic: str = ""  # "", "left" (paths keep their end) or "right"


def width_of(stream: TextIO) -> int | None:
    """Return the characters a line may have: $COLUMNS, the terminal's, or None for files and pipes."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdigit() and int(asked[:MOST_DIGITS]) > 0:
        return int(asked[:MOST_DIGITS])
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream.isatty() else None
    except (OSError, ValueError):
        return None


def has_style(stream: TextIO) -> bool:
    """Whether bold print is wanted: on a terminal, unless $NO_COLOR is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def bold(text: str, stream: TextIO) -> str:
    """Return the text, on one line, in bold where that is wanted."""
    line = visible(text)
    return f"{code(BOLD, stream)}{line}{code(UPRIGHT, stream)}" if has_style(stream) else line


def plain(text: object) -> str:
    """Return the text on one line, with escapes for control characters that a capture could smuggle in."""
    return visible(" ".join(str(text).split("\n")).expandtabs(4))


def table(columns: Sequence[Column], rows: Iterable[Sequence[object]], width: int | None = None) -> list[str]:
    """Return the lines of an aligned table, its headings first, none longer than `width` if that can be."""
    cells = [[plain(cell) for cell in row] for row in rows]
    widths = [max([len(column.title), *(len(row[i]) for row in cells)]) for i, column in enumerate(columns)]
    widths = _fitted(columns, widths, width)
    lines = [[column.title for column in columns], *cells]
    return [_line(columns, row, widths) for row in lines]


def _fitted(columns: Sequence[Column], widths: list[int], width: int | None) -> list[int]:
    """Take the missing characters from elastic columns, always from the widest of them."""
    if width is None:
        return widths
    fitted = list(widths)
    for _ in range(sum(widths) + len(GAP) * (len(widths) - 1) - width):
        elastic = [i for i, column in enumerate(columns) if column.elastic and fitted[i] > NARROWEST]
        if not elastic:
            break
        fitted[max(elastic, key=lambda i: fitted[i])] -= 1
    return fitted


def _line(columns: Sequence[Column], row: Sequence[str], widths: Sequence[int]) -> str:
    cells = []
    for column, cell, width in zip(columns, row, widths, strict=True):
        short = elide_left(cell, width) if column.elastic == "left" else elide_right(cell, width)
        cells.append(short.rjust(width) if column.is_number else short.ljust(width))
    return GAP.join(cells).rstrip()


def print_table(
    columns: Sequence[Column], rows: Iterable[Sequence[object]], stream: TextIO | None = None
) -> None:
    """Print an aligned table that fits the screen; a column of paths that has none is left out."""
    stream = stream or sys.stdout
    head, *body = table(*_without_empty(columns, list(rows)), width_of(stream))
    print(bold(head, stream), *body, sep="\n", file=stream)


def _without_empty(
    columns: Sequence[Column], rows: list[Sequence[object]]
) -> tuple[list[Column], list[list[object]]]:
    kept = [
        i
        for i, column in enumerate(columns)
        if not rows or column.elastic != "left" or any(str(row[i]) for row in rows)
    ]
    return [columns[i] for i in kept], [[row[i] for i in kept] for row in rows]


def print_facts(facts: Sequence[tuple[str, str]], stream: TextIO | None = None) -> None:
    """Print names and values, aligned; long values are wrapped at words to fit the screen."""
    stream = stream or sys.stdout
    width = width_of(stream)
    left = max((len(name) for name, _ in facts), default=0)
    for name, value in facts:
        lines = _wrapped(plain(value), None if width is None else max(20, width - left - 4))
        print(f"  {name.ljust(left)}  {lines[0]}", file=stream)
        for line in lines[1:]:
            print(" " * (left + 4) + line, file=stream)


def print_wrapped(text: str, indent: int = 0, stream: TextIO | None = None) -> None:
    """Print a sentence, wrapped at words to fit the screen; every line is indented."""
    stream = stream or sys.stdout
    width = width_of(stream)
    for line in _wrapped(plain(text), None if width is None else max(20, width - indent)):
        print(" " * indent + line, file=stream)


def _wrapped(text: str, width: int | None) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if width is None or not lines[-1] or len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
        else:
            lines.append(word)
    return lines


def json_text(schema: str, content: dict[str, Any], about: dict[str, Any] | None = None) -> str:
    r"""Return a JSON document that names its schema, such as `rcv.info/1`, and the version of rcv.

    What a terminal would obey is written as `\\u202e`: the document says the same, and is safe to look at.

    `about` is what `rcv_py.cli.about` tells of the run; every command gives it, and the schemas demand it.

    The number grows when a reader of the old document could misread the new one; new keys do not count.
    """
    import orjson  # noqa: PLC0415 - text and CSV do not wait for it

    described = {} if about is None else {"about": about}
    document = {"schema": schema, "rcv": __version__, **described, **content}
    try:
        data = orjson.dumps(document, option=orjson.OPT_INDENT_2)
    except TypeError:  # a name that is not valid text
        data = orjson.dumps(_valid(document), option=orjson.OPT_INDENT_2)
    return escaped_json(data.decode())


def _valid(value: Any) -> Any:
    if isinstance(value, dict):
        return {_valid(key): _valid(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_valid(item) for item in value]
    return encodable(value) if isinstance(value, str) else value
