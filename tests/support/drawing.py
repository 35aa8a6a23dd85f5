"""Tokens and states from a drawing, so that a test can be read.

One character is a cycle: a lower-case letter is a stalled cycle, the same letter in upper case a busy one,
`.` is idle, `|` cuts between two tokens of the same letter and takes no time.
"""

from itertools import groupby

import numpy as np

from rcv_py.model.kinds import TokenKind
from rcv_py.model.tokens import States, Tokens

KINDS = {
    "v": TokenKind.VALU,
    "l": TokenKind.LDS,
    "i": TokenKind.IMMED,
    "s": TokenKind.SALU,
    "m": TokenKind.MATRIX,
    "b": TokenKind.VMEM,
    "f": TokenKind.FLAT,
    "c": TokenKind.SMEM,
    "j": TokenKind.JUMP,
    "n": TokenKind.NEXT,
}
STATES = {"I": 1, "E": 2, "W": 3, "S": 4}


def tokens(drawing: str, base: int = 0, lines: list[int] | None = None, scale: int = 1) -> Tokens:
    """Tokens of a drawing; the n-th token runs code line n unless `lines` says otherwise."""
    rows: list[tuple[int, int, int, int]] = []
    time = 0
    for piece in drawing.split("|"):
        for letter, run in groupby(piece, key=str.lower):
            text = "".join(run)
            if letter != ".":
                stall = sum(character.islower() for character in text)
                rows.append((time, stall, len(text) - stall, KINDS[letter]))
            time += len(text)
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 4)
    line = np.arange(len(rows)) if lines is None else np.array(lines)
    return Tokens(
        base,
        (table[:, 0] * scale).astype(np.int32),
        (table[:, 1] * scale).astype(np.int32),
        (table[:, 2] * scale).astype(np.int32),
        table[:, 3].astype(np.uint8),
        line.astype(np.int32),
    )


def states(drawing: str, base: int = 0) -> States:
    """The state timeline of a drawing of I, E, W and S."""
    runs = [(STATES[letter], len(list(run))) for letter, run in groupby(drawing)]
    length = np.array([count for _, count in runs], dtype=np.int64)
    offset = np.concatenate([[0], np.cumsum(length)])
    state = np.array([state for state, _ in runs], dtype=np.uint8)
    return States(base, offset[:-1].astype(np.int32), state, int(offset[-1]))
