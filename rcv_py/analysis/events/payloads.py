"""Payload: the values after a marker that are data, such as the addresses of lanes.

```
header  n words                    header  n words
5       ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪           6       ▪▪▪▪▪▪▪▪      fits: the next value is a marker, or the wave ends
5       ▪▪▪▪▪▪ ▪▪▪▪▪▪▪▪▪|6|▪▪▪▪▪▪▪▪                       words are missing: a header is taken for a word
```
Hardware drops values where they are dense, and nothing in the stream says so.  After an address block that
does not fit, the wave's values are data up to a header with the same EXEC whose words fit, or to a marker
from which all values fit to the end of the wave: words of LDS addresses look like headers.
"""

from bisect import bisect_left

import numpy as np

from rcv_py.base.runs import run_starts
from rcv_py.model.device import MarkerName

ADDRESSES = "addr_trace_"  # beginning of the names of address blocks
MAX_WORDS = 1 << 20
_LEAVE = 1  # the value that only closes a scope
NOTHING, POINT, SCOPE = range(3)  # what a value may be


def marker_use(markers: tuple[MarkerName, ...], name: np.ndarray, value: np.ndarray) -> np.ndarray:
    """What values may be, uint8: NOTHING, POINT, or SCOPE for what opens or closes one.

    `name` is the row of the dictionary of each value, -1 for none.
    """
    is_point = np.array([*(one.kind == "point" for one in markers), False], dtype=bool)[name]
    has_bits = (value & 3) != 0
    use = np.where(has_bits, SCOPE, np.where(is_point, POINT, NOTHING))
    return np.where((name >= 0) | (value == _LEAVE), use, NOTHING).astype(np.uint8)


def is_address_name(markers: tuple[MarkerName, ...]) -> np.ndarray:
    """Whether each row of a dictionary names address blocks, and False for no row, bool [rows + 1]."""
    return np.array([*(one.name.startswith(ADDRESSES) for one in markers), False], dtype=bool)


def data_words(
    words: np.ndarray, use: np.ndarray, is_strict: np.ndarray, wave: np.ndarray, value: np.ndarray
) -> np.ndarray:
    """Whether values are payload, bool.

    One row a value, by wave and in the order of the file: the number of words after it if it is a header,
    int64; what it may be (`marker_use`); whether its words must fit, as of an address block, bool; its wave,
    int64; and the value, uint32.
    """
    size, first = len(words), run_starts(wave)
    if not size:
        return np.zeros(0, dtype=bool)
    stop = np.repeat(np.append(first[1:], size), np.diff(np.append(first, size)))
    header = np.flatnonzero(words > 0)
    end = header + 1 + words[header]
    fits = (end == stop[header]) | ((end < stop[header]) & (use[np.minimum(end, size - 1)] != NOTHING))
    is_whole = (fits | ~is_strict[header]).tolist()
    is_data = np.zeros(size, dtype=bool)
    mask = value.astype(np.int64) << 32 | np.roll(value, -1)  # EXEC, for the row before it
    block = header[fits & is_strict[header]]
    headers, ends = header.tolist(), np.minimum(end, stop[header]).tolist()
    at = 0
    while at < len(headers):
        row = headers[at]
        free = ends[at]
        if not is_whole[at]:
            free = _resumed(row + 1, int(stop[row]), words, use)
            alike = block[slice(*np.searchsorted(block, (row + 1, free)))]
            if len(alike):
                free = next(iter(alike[mask[alike + 1] == mask[row + 1]].tolist()), free)
        is_data[row + 1 : free] = True
        at = bisect_left(headers, free, at + 1)  # headers before are words that look like one
    return is_data


def _resumed(row: int, stop: int, words: np.ndarray, use: np.ndarray) -> int:
    """The first header or scope from `row` on from which every value fits, `stop` if there is none."""
    resumed, fits = stop, {stop}
    uses, number = use[row:stop].tolist(), words[row:stop].tolist()
    for at in range(stop - 1, row - 1, -1):
        if uses[at - row] != NOTHING and at + 1 + number[at - row] in fits:
            fits.add(at)
            if number[at - row] or uses[at - row] == SCOPE:
                resumed = at
    return resumed
