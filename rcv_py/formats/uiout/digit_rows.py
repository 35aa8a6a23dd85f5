"""Parse rows of whole numbers by arithmetic on all bytes of a text at once.

```
bytes        [  1  0  5  ,  7  ]  ,  [  ...
digit        0  1  0  5  0  7  0  0  0         0 where there is none
pair         1 10  5 50  7 70  0  0            of a byte and the next one
upper        1 10  0  0  0  0  0  0            the pair, where its second byte and the next one are digits
```
A number of up to four digits is the pair that ends with it, plus a hundred times `upper` two bytes before.  A
general parser processes one byte after the other, and stores the kind of each value; here only the numbers
are needed, and they are most of a wave file.
"""

from __future__ import annotations

import numpy as np

BLOCK_BYTES = 256 << 10  # of text at a time: its intermediate data fits into caches
MAX_DIGITS = 9  # of a number: it fits into 32 bits

_BEFORE = 4  # bytes before the first row that are read too
_SHORT = 5  # bytes with which a number and the comma before it have at most four digits
_ZERO, _COMMA, _OPEN, _CLOSE = (np.uint8(byte) for byte in b"0,[]")
_TEN, _HUNDRED = np.uint8(10), np.uint16(100)


def digit_rows(data: bytes, begin: int, stop: int, width: int) -> np.ndarray | None:
    """Return the numbers of `[1,2,3],[4,5,6]` between `begin` (at least 4) and `stop` of a text.

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
    return np.concatenate(blocks, axis=1).T if len(blocks) > 1 else blocks[0].T if blocks else None


def _block(row_bytes: np.ndarray, width: int) -> np.ndarray | None:
    """The numbers of the rows after the first _BEFORE bytes, int32 [width, rows]."""
    digit = row_bytes - _ZERO
    is_digit = digit <= 9
    stops = _stops(row_bytes[_BEFORE:], digit[_BEFORE:], is_digit[_BEFORE - 1 :], width)
    if stops is None:
        return None
    gaps = np.empty_like(stops)  # bytes of each number, including the separator before it
    gaps[0] = stops[0] + 2
    np.subtract(stops[1:], stops[:-1], out=gaps[1:])

    digit *= is_digit
    pair = digit[:-1] * _TEN
    pair += digit[1:]
    upper = pair[:-2] * (is_digit[1:-2] & is_digit[2:-1])

    def four(at: np.ndarray) -> np.ndarray:
        """The value of the digits in the four bytes before the places, uint16."""
        found = upper.take(at, mode="clip").astype(np.uint16)
        found *= _HUNDRED
        found += pair[2:].take(at, mode="clip")
        return found

    numbers = four(stops).reshape(-1, width).T.astype(np.int32, order="C")
    is_long = gaps > _SHORT
    is_time = np.count_nonzero(is_long) == np.count_nonzero(is_long[::width])  # long: only first numbers
    for column in range(1 if is_time else width):
        digits = gaps[column::width] - (1 if column else 3)
        most = int(digits.max())
        if most > MAX_DIGITS:
            return None
        for lower in range(4, most, 4):
            higher = four(stops[column::width] - lower).astype(np.int32)
            higher *= digits > lower
            higher *= 10**lower
            numbers[column] += higher
    return numbers


def _stops(text: np.ndarray, digit: np.ndarray, is_digit: np.ndarray, width: int) -> np.ndarray | None:
    """Position of the byte after each number of a text of rows, int64; None for another text.

    `is_digit` has one more byte, before the text.
    """
    is_stop = np.empty(len(text) + 1, dtype=bool)
    np.equal(text, _COMMA, out=is_stop[:-1])
    is_stop[-1] = True
    stops = np.flatnonzero(is_stop)
    rows, rest = divmod(len(stops), width)
    is_first = is_digit[1:] > is_digit[:-1]
    if (
        rest
        or text[0] != _OPEN
        or text[-1] != _CLOSE
        or np.count_nonzero(is_digit[1:]) + len(stops) - 1 + 2 * rows != len(text)
        or np.count_nonzero(is_first) != rows * width
    ):
        return None
    row_ends = stops[width - 1 : -1 : width]  # each row but the last: this is the number of brackets
    closes = text.take(row_ends - 1, mode="clip") == _CLOSE
    opens = text.take(row_ends + 1, mode="clip") == _OPEN
    if np.count_nonzero(closes) + np.count_nonzero(opens) != 2 * len(row_ends):
        return None
    is_padded = digit[:-1] == 0  # a number with a leading zero
    is_padded &= is_first[:-1]
    is_padded &= is_digit[2:]
    stops[width - 1 :: width] -= 1
    return None if is_padded.any() else stops
