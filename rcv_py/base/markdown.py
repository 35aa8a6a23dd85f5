r"""Escape text of a capture for Markdown, so that it is shown literally.

Targets are CommonMark and GitHub's Markdown, which also makes links of bare addresses, of `name@host` and of
`@name`; no backslash prevents that, so an empty comment is put inside them.
"""

import re
from collections.abc import Iterable, Sequence

from rcv_py.base.text import visible

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
_LEADING = re.compile(r"^(?=[-+](?:\s|$)|[-=:]+$)")
_BREAKS = re.compile(r"[\n\t]+")
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_ADDRESS = re.compile(r"(?i)\b(https?|ftp|mailto|xmpp)(?=:)|\b(www)(?=\.)|(@)(?=\w)")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
_MARKS = str.maketrans({mark: f"&#{ord(mark)};" for mark in "`[]*_|~$\\"})
_NOTHING = "<!-- -->"


def md_text(text: str) -> str:
    """Return text as Markdown that shows it literally, on one line, at any position of a line."""
    shown = _MARKUP.sub(r"\\\1", _line(text))
    shown = _NUMBERED.sub(r"\1\\\2", _LEADING.sub(r"\\", shown))
    return _ADDRESS.sub(rf"\g<0>{_NOTHING}", shown)


def md_code(text: str, in_table: bool = True) -> str:
    """Return text as inline code with enough backticks; a bar in a table cell does not split it."""
    line = _line(text)
    if not line:
        return ""
    if in_table and "\\|" in line:  # no number of backticks in a cell could hold both
        return f"<code>{_in_tags(line)}</code>"
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence, pad = "`" * (longest + 1), " " if longest else ""
    inside = line.replace("|", "\\|") if in_table else line
    return f"{fence}{pad}{inside}{pad}{fence}"


def md_table(headings: Iterable[tuple[str, bool]], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; headings are pairs of plain text and whether the column holds numbers.

    Cells are Markdown already, of `md_text` or `md_code`.
    """
    titles, numbers = zip(*headings, strict=True)
    marks = ["---:" if is_number else "---" for is_number in numbers]
    return [f"| {' | '.join(cells)} |" for cells in ([md_text(title) for title in titles], marks, *rows)]


def md_in_tags(text: str) -> str:
    """Return text escaped for use between HTML tags: neither HTML nor Markdown in it is interpreted."""
    return _in_tags(_line(text))


def _in_tags(line: str) -> str:
    return _ADDRESS.sub(rf"\g<0>{_NOTHING}", line.translate(_ESCAPES).translate(_MARKS))


def _line(text: str) -> str:
    return visible(_BREAKS.sub(" ", text).strip())
