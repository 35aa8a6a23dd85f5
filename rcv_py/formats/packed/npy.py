"""Consecutive arrays in numpy's own file format, padded so that they can be mapped."""

import math
import re
from collections.abc import Sequence

import numpy as np

# Version 1 of the format as numpy writes it; other kinds of numbers, and other orders, are never written.
_HEAD = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>[<|](?:[iu][1248]|f8|b1))', 'fortran_order': False, "
    rb"'shape': \((?P<shape>\d{1,12},|\d{1,12}, \d{1,12})\), \} *\n",
    re.DOTALL,
)
_HEADER = 512  # bytes, at most
_WRITTEN = 128  # of those we write
_MAGIC = b"\x93NUMPY\1\0" + (_WRITTEN - 10).to_bytes(2, "little")
_ALIGNED = 64


class Unreadable(ValueError):
    """The bytes are no arrays; the text fits after "is damaged: "."""


def packed(arrays: Sequence[np.ndarray]) -> bytes:
    """Return the arrays as bytes, each beginning at a multiple of 64."""
    parts: list[bytes | memoryview] = []
    for array in map(np.ascontiguousarray, arrays):
        about = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {array.shape}, }}"
        parts.append(_MAGIC + f"{about:{_WRITTEN - len(_MAGIC) - 1}}\n".encode())  # numpy takes 40 us for it
        parts += [array.reshape(-1).view(np.uint8).data, bytes(-array.nbytes % _ALIGNED)]
    return b"".join(parts)  # which copies once


def unpacked(data: memoryview, count: int) -> list[np.ndarray]:
    """Return `count` arrays as read-only views of the bytes; raise Unreadable for anything else."""
    found, at = [], 0
    for _ in range(count):
        array, at = _array(data, at)
        found.append(array)
    if at != len(data):
        raise Unreadable("something follows its arrays")
    return found


def _array(data: memoryview, at: int) -> tuple[np.ndarray, int]:
    """The array at a position, and the position of the next."""
    head = _HEAD.match(data[at : at + _HEADER])
    if head is None:
        raise Unreadable("an array is missing, or of a kind that no writer writes")
    shape = tuple(int(size) for size in head["shape"].split(b",") if size.strip())
    dtype = np.dtype(head["dtype"].decode())
    items = math.prod(shape)
    begin = at + 10 + int.from_bytes(data[at + 8 : at + 10], "little")
    end = begin + items * dtype.itemsize
    if begin < at + head.end() or end > len(data) or max(shape) > len(data):
        raise Unreadable("an array claims more than there is")
    return np.frombuffer(data[begin:end], dtype=dtype).reshape(shape), end + -end % _ALIGNED
