"""Rows of whole numbers, read from a text by arithmetic on all its letters at once.

```
letters      [  1  0  5  ,  7  ]  ,  [  ...
digit        0  1  0  5  0  7  0  0  0         0 where there is none
pair         1 10  5 50  7 70  0  0            of a letter and the next one
four         .  105 at the last digit of 105   two pairs, the upper one only where there are digits between
```
A parser looks at one letter after the other, and a general one keeps what kind of value each number is; of
rows as the writers write them nothing but the numbers is wanted, and they are most of a wave file.
"""

from __future__ import annotations

import numpy as np

BLOCK_BYTES = 256 << 10  # of text at a time: what is computed of it stays near the processor
MOST_DIGITS = 9  # of a number: it fits 32 bits

_BEFORE = 4  # letters before the first row that are looked at, too
_ZERO, _COMMA, _OPEN, _CLOSE = (np.uint8(letter) for letter in b"0,[]")
_TEN, _HUNDRED = np.uint8(10), np.uint16(100)


def letter_rows(data: bytes, begin: int, stop: int, width: int) -> np.ndarray | None:
    """Return the numbers of `[1,2,3],[4,5,6]`, which stands from `begin` (at least 4) up to `stop` of a text.

    int32 [rows, width], whose columns are contiguous.  None if there is anything else: other brackets or
    lengths of rows, blanks, signs, a number that begins with 0 or has more than MOST_DIGITS digits.
    """
    blocks = []
    while begin < stop:
        end = data.find(b"],[", begin + BLOCK_BYTES, stop) + 1 or stop
        block = _block(np.frombuffer(data, np.uint8, end - begin + _BEFORE, begin - _BEFORE), width)
        if block is None:
            return None
        blocks.append(block)
        begin = end + 1
    return np.concatenate(blocks, axis=1).T if blocks else None


def _block(letters: np.ndarray, width: int) -> np.ndarray | None:
    """The numbers of the rows behind the first _BEFORE letters, int32 [width, rows]."""
    digit = letters - _ZERO
    is_digit = digit <= 9
    ends = _ends(letters[_BEFORE:], digit[_BEFORE:], is_digit[_BEFORE - 1 :], width)
    if ends is None:
        return None
    digit *= is_digit
    pair = digit[:-1] * _TEN
    pair += digit[1:]
    four = (pair[:-2] * (is_digit[1:-2] & is_digit[2:-1])).astype(np.uint16)
    four *= _HUNDRED
    four += pair[2:]  # of the letters from i to i + 3, which are _BEFORE of what ends there
    numbers = four.take(ends).T.astype(np.int32, order="C")
    length = np.empty(ends.shape, dtype=np.int32)  # of each number, and what is before it
    np.subtract(ends.reshape(-1)[1:], ends.reshape(-1)[:-1], out=length.reshape(-1)[1:], casting="unsafe")
    length[0, 0] = ends[0, 0] + 2
    for column in range(width):
        digits = length[:, column] - (1 if column else 3)
        most = int(digits.max())
        if most > MOST_DIGITS:
            return None
        for lower in range(4, most, 4):
            upper = four.take(ends[:, column] - lower, mode="clip").astype(np.int32)
            upper *= digits > lower
            upper *= 10**lower
            numbers[column] += upper
    return numbers


def _ends(text: np.ndarray, digit: np.ndarray, is_digit: np.ndarray, width: int) -> np.ndarray | None:
    """Where each number of a text of rows ends, int64 [rows, width]; None if it is another text.

    Of `is_digit` there is one letter more, before the text.
    """
    commas = np.flatnonzero(text == _COMMA)
    rows, rest = divmod(len(commas) + 1, width)
    is_first = is_digit[1:] > is_digit[:-1]
    if (
        rest
        or text[0] != _OPEN
        or text[-1] != _CLOSE
        or np.count_nonzero(is_digit[1:]) + len(commas) + 2 * rows != len(text)
        or np.count_nonzero(is_first) != rows * width
    ):
        return None
    behind = commas[width - 1 :: width]  # each row but the last: so many brackets there are, and no other
    if np.any(text[behind - 1] != _CLOSE) or np.any(text[behind + 1] != _OPEN):
        return None
    if np.any(is_first[:-1] & (digit[:-1] == 0) & is_digit[2:]):
        return None
    ends = np.empty((rows, width), dtype=np.int64)
    ends.reshape(-1)[:-1] = commas
    ends[-1, -1] = len(text)
    ends[:, -1] -= 1
    return ends
