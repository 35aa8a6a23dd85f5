"""Writers: aligned text for people, CSV for spreadsheets, JSON for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from rcv_py import __version__
from rcv_py.base.text import MAX_DIGITS, elide_left, elide_right, encodable, escaped_json, visible
from rcv_py.cli.outlet import BOLD, UPRIGHT, code

GAP = "  "
NARROWEST = 12  # characters that an elastic column keeps
ARROW = " ← "  # stands between an instruction and its producer
NAME = 24  # characters that a name keeps which is neither a path nor a long text
_STEPS = ((False, GAP), (True, GAP), (True, " "))  # whether headings are in lines of one word, and the gap


@dataclass(frozen=True, slots=True)
class Column:
    """How a column is printed: numbers to the right; `elastic` is the end that may be cut to fit."""

    title: str
    is_number: bool = False
    elastic: str = ""  # "", "left" (paths keep their end) or "right"


def width_of(stream: TextIO) -> int | None:
    """Return the characters a line may have: $COLUMNS, the terminal's, or None for files and pipes."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdigit() and int(asked[:MAX_DIGITS]) > 0:
        return int(asked[:MAX_DIGITS])
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream.isatty() else None
    except (OSError, ValueError):
        return None


def has_style(stream: TextIO) -> bool:
    """Whether bold print is wanted: on a terminal or with $FORCE_COLOR, and never with $NO_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return os.environ["FORCE_COLOR"] != "0"
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def bold(text: str, stream: TextIO) -> str:
    """Return the text, on one line, in bold where that is wanted."""
    line = visible(text)
    return f"{code(BOLD, stream)}{line}{code(UPRIGHT, stream)}" if has_style(stream) else line


def plain(text: object) -> str:
    """Return the text on one line, with escapes for control characters that a capture could smuggle in."""
    return visible(" ".join(str(text).split("\n")).expandtabs(4))


def table(columns: Sequence[Column], rows: Iterable[Sequence[object]], width: int | None = None) -> list[str]:
    """Return the lines of an aligned table, its headings first, none longer than `width`.

    Paths are cut first, then other texts; then headings of several words take several lines, gaps get
    narrow, and at last the columns stand in several tables, each with the first column.
    """
    return [line for _, lines in _tables(columns, _plain(rows), width) for line in lines]


def _plain(rows: Iterable[Sequence[object]]) -> list[list[str]]:
    return [[plain(cell) for cell in row] for row in rows]


def _tables(
    columns: Sequence[Column], cells: list[list[str]], width: int | None
) -> Iterator[tuple[int, list[str]]]:
    """Yield tables of all columns: how many lines the headings take, and all lines."""
    body = [max((len(row[i]) for row in cells), default=0) for i in range(len(columns))]
    rest: Sequence[int] = range(len(columns))
    while rest:
        count, layout = len(rest), _layout(columns, body, rest, width)
        while width is not None and layout.size > width and count > 2:
            count -= 1
            layout = _layout(columns, body, rest[:count], width)
        yield layout.lines(columns, cells)
        left = [i for i in rest if i not in layout.shown]
        rest = [0, *left] if left else []


@dataclass(frozen=True, slots=True)
class _Layout:
    """How columns are laid out: which, their headings in lines, their widths and the gap between them."""

    shown: Sequence[int]
    heads: list[list[str]]
    widths: list[int]
    gap: str

    @property
    def size(self) -> int:
        """Characters of a line."""
        return sum(self.widths) + len(self.gap) * (len(self.widths) - 1)

    def lines(self, columns: Sequence[Column], cells: list[list[str]]) -> tuple[int, list[str]]:
        """Return how many lines the headings take, and all lines."""
        height = max(map(len, self.heads), default=1)
        titles = [[""] * (height - len(head)) + head for head in self.heads]
        rows = [*map(list, zip(*titles, strict=True)), *([row[i] for i in self.shown] for row in cells)]
        chosen = [columns[i] for i in self.shown]
        return height, [_line(chosen, row, self.widths, self.gap) for row in rows]


def _layout(columns: Sequence[Column], body: list[int], shown: Sequence[int], width: int | None) -> _Layout:
    """Return the first layout that fits, or the narrowest; `body` are the widths of the longest cells."""
    chosen, sizes = [columns[i] for i in shown], [body[i] for i in shown]
    for is_stacked, gap in _STEPS if width is not None else _STEPS[:1]:
        heads = [column.title.split(" ") if is_stacked else [column.title] for column in chosen]
        widths = [max(size, *map(len, head)) for size, head in zip(sizes, heads, strict=True)]
        if width is not None:
            widths = _fitted(chosen, widths, width - len(gap) * (len(chosen) - 1))
        layout = _Layout(shown, heads, widths, gap)
        if width is None or layout.size <= width:
            break
    return layout


def _fitted(columns: Sequence[Column], full: list[int], width: int) -> list[int]:
    """Take what is more than `width` from paths, then from all elastic columns, then from other texts."""
    fitted = list(full)
    stages = (
        ([i for i, column in enumerate(columns) if column.elastic == "left"], NARROWEST),
        ([i for i, column in enumerate(columns) if column.elastic], NARROWEST),
        ([i for i, column in enumerate(columns) if not column.is_number], NAME),
    )
    for chosen, floor in stages:
        while sum(fitted) > width:
            wide = [i for i in chosen if fitted[i] > floor]
            if not wide:
                break
            fitted[max(wide, key=lambda i: fitted[i])] -= 1
    return fitted


def _line(columns: Sequence[Column], row: Sequence[str], widths: Sequence[int], gap: str) -> str:
    cells = []
    for column, cell, width in zip(columns, row, widths, strict=True):
        short = elide_left(cell, width) if column.elastic == "left" else _short(cell, width)
        cells.append(short.rjust(width) if column.is_number else short.ljust(width))
    return gap.join(cells).rstrip()


def _short(cell: str, width: int) -> str:
    """Cut a text at its end; of `what ← producer` what is before the arrow is cut first."""
    before, arrow, after = cell.partition(ARROW)
    kept = max(NARROWEST, width - len(arrow) - len(after))
    if not arrow or len(cell) <= width or kept >= len(before):
        return elide_right(cell, width)
    return elide_right(elide_right(before, kept) + arrow + after, width)


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> None:
    """Print an aligned table that fits the screen; a column of paths that has none is left out."""
    stream, cells = sys.stdout, list(rows)
    kept = [
        i
        for i, column in enumerate(columns)
        if not cells or column.elastic != "left" or any(str(row[i]) for row in cells)
    ]
    shown, cells = [columns[i] for i in kept], [[row[i] for i in kept] for row in cells]
    for at, (height, lines) in enumerate(_tables(shown, _plain(cells), width_of(stream))):
        heads = (bold(line, stream) for line in lines[:height])
        print(*([""] if at else []), *heads, *lines[height:], sep="\n")


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print names and values, aligned; long values are wrapped at words to fit the screen."""
    width = width_of(sys.stdout)
    left = max((len(name) for name, _ in facts), default=0)
    for name, value in facts:
        lines = _wrapped(plain(value), None if width is None else max(20, width - left - 4))
        print(f"  {name.ljust(left)}  {lines[0]}")
        for line in lines[1:]:
            print(" " * (left + 4) + line)


def _wrapped(text: str, width: int | None) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if width is None or not lines[-1] or len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
        else:
            lines.append(word)
    return lines


def json_head(schema: str) -> dict[str, Any]:
    """Return what a document begins with: its schema, such as `rcv.info/1`, and the version of rcv.

    The number grows when a reader of the old document could misread the new one; new keys do not count.
    """
    return {"schema": schema, "rcv": __version__}


def json_text(schema: str, content: dict[str, Any]) -> str:
    r"""Return a JSON document that names its schema; what a terminal would obey is written as `\u202e`."""
    import orjson  # noqa: PLC0415 - text and CSV do not wait for it

    document = json_head(schema) | content
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
