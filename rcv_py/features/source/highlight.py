"""Source text as coloured spans, and the function of each line, found by indentation.

pygments is imported where it is used, in the thread that colours the first source: no start waits for it.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import PurePosixPath
from string import ascii_letters, digits

import numpy as np

TAB = 4
MAX_CHARS = 4_000_000  # longer files are shown without colours
MAX_LINE = 4_000  # and longer lines: lexers' regular expressions may take quadratic time
Span = tuple[int, int, str]  # first column, column after the last, class of `theme.syntax`
_CLASSES = {  # of tokens, by the name of pygments; of several that match, the first wins
    "Comment": "comment",
    "String": "string",
    "Number": "number",
    "Keyword": "keyword",
    "Operator.Word": "keyword",
    "Operator": "operator",
    "Name.Function": "function",
    "Name.Class": "function",
    "Name.Decorator": "function",
    "Name.Builtin": "function",
}


# Lexer aliases of usual languages by suffix: searching all of pygments and its plug-ins takes 50 ms.
LANGUAGES = {
    ".py": "python", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp",
    ".hpp": "cpp", ".cu": "cuda", ".cuh": "cuda",
}  # fmt: skip


def expanded(line: str) -> str:
    """Return a displayed line: tabs as spaces, control characters as a dot."""
    line = line.rstrip("\r\n").expandtabs(TAB)
    return line if line.isprintable() else "".join(c if c.isprintable() else "·" for c in line)


def spans(path: str, lines: Sequence[str]) -> tuple[tuple[Span, ...], ...]:
    """Return the coloured spans of each line; text of class `name` is in none.

    `lines` are what `expanded` returns.  The file's name determines the language.
    """
    text = "\n".join(line if len(line) <= MAX_LINE else "" for line in lines)
    by_line: list[list[Span]] = [[] for _ in lines]
    if len(text) > MAX_CHARS or not lines:
        return tuple(() for _ in lines)
    row = column = 0
    for kind, value in _tokens(path, text):
        name = _class_of(kind)
        for piece in value.splitlines(keepends=True):
            stop = column + len(piece.rstrip("\n"))
            if name and row < len(by_line) and stop > column:
                goes_on = by_line[row] and by_line[row][-1][1:] == (column, name)
                start = by_line[row].pop()[0] if goes_on else column
                by_line[row].append((start, stop, name))
            row, column = (row + 1, 0) if piece.endswith("\n") else (row, stop)
    return tuple(map(tuple, by_line))


@cache
def _class_of(kind: object) -> str:
    from pygments.token import string_to_tokentype  # noqa: PLC0415 - rarely used

    return next((name for parent, name in _CLASSES.items() if kind in string_to_tokentype(parent)), "")


def _tokens(path: str, text: str) -> Iterable[tuple[object, str]]:
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename  # noqa: PLC0415 - as above
    from pygments.lexers.special import TextLexer  # noqa: PLC0415 - as above
    from pygments.util import ClassNotFound  # noqa: PLC0415 - as above

    file = PurePosixPath(path)
    usual = LANGUAGES.get(file.suffix)
    try:
        find, name = (get_lexer_for_filename, file.name) if usual is None else (get_lexer_by_name, usual)
        lexer = find(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False, ensurenl=False)
    return lexer.get_tokens(text)


# The start of a function: in Python its keyword; in C-like languages, at most a namespace or class deep, a
# type, a name and a list of parameters, but no statement.
PYTHON = ("def ", "async def ", "class ")
NO_TYPES = {
    "if", "for", "while", "switch", "return", "else", "do", "case", "catch", "using", "typedef", "throw",
    "new", "delete", "goto",
}  # fmt: skip
OF_TYPES = frozenset(f"{ascii_letters}{digits}_:<>,*& ~")
C_DEPTH = 8  # letters


def headings(lines: Sequence[str]) -> np.ndarray:
    """Return, for each line number from 0, the number of the first line of its function.

    Int64 [len(lines) + 1]; 0 outside of all functions, and of number 0.
    """
    found = np.zeros(len(lines) + 1, dtype=np.int64)
    around: list[tuple[int, int]] = []  # indentation and number of the functions around a line
    for number, line in enumerate(lines, 1):
        text = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        if text and not text.startswith(("#", "//", ")", "}", "{", "*")):
            while around and indent <= around[-1][0]:
                around.pop()
        found[number] = around[-1][1] if around else 0
        if is_heading(text, indent):
            around.append((indent, number))
    return found


def is_heading(text: str, indent: int) -> bool:
    """Return whether a line, without its indentation, is the first line of a function or class."""
    if text.startswith(PYTHON):
        return True
    head, parenthesis, _ = text.partition("(")
    words = head.replace("*", " ").replace("&", " ").split()
    is_type = len(words) > 1 and words[0] not in NO_TYPES and OF_TYPES.issuperset(head)
    return bool(parenthesis) and is_type and indent <= C_DEPTH and not text.endswith((";", ":"))
