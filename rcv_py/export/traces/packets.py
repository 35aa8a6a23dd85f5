"""Many protobuf messages at once: byte strings of equal structure with different numbers, built by column.

```
row 0   tag  3          tag  07           every column is a matrix of bytes with a length for each row;
row 1   tag  e8 07      tag  81 01        `tobytes` takes the bytes that count, row after row
```

The encoding is protocol buffers: base-128 varints, little-endian fixed 64, length-delimited messages.
"""

from __future__ import annotations

import numpy as np

from rcv_py.base.record import Value
from rcv_py.base.text import visible

_MAX_BYTES = 10  # of a varint of 64 bits
VARINT, FIXED64, BYTES = 0, 1, 2  # wire types


def varint(value: int) -> bytes:
    """Return one number as a varint; a negative one as its two's complement of 64 bits."""
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def tag(field: int, wire: int) -> bytes:
    """Return the tag of a field."""
    return varint(field << 3 | wire)


def number(field: int, value: int) -> bytes:
    """Return a field that holds a whole number."""
    return tag(field, VARINT) + varint(value)


def message(field: int, *parts: bytes) -> bytes:
    """Return a field that holds a message made of fields."""
    body = b"".join(parts)
    return tag(field, BYTES) + varint(len(body)) + body


def text(field: int, value: str) -> bytes:
    """Return a field that holds text; invalid or invisible characters become escapes."""
    return message(field, visible(value).encode())


class _Column(Value):
    data: np.ndarray  # uint8 [n or 1, width]
    length: np.ndarray | None  # int64 [n], bytes of each row that count; None: all


class ByteRows:
    """`n` byte strings that grow column by column; `where` (bool, one per row) selects rows of a column."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._columns: list[_Column] = []
        self.length = np.zeros(n, dtype=np.int64)

    def put(self, data: bytes, where: np.ndarray | None = None) -> None:
        """Append the same bytes to every row."""
        self._append(np.frombuffer(data, dtype=np.uint8)[None, :], None, where)

    def varint(self, values: np.ndarray, where: np.ndarray | None = None) -> None:
        """Append a number to each row."""
        value = np.ascontiguousarray(values, dtype=np.int64).view(np.uint64)
        bits = int(value.max(initial=0)).bit_length()
        width = min(_MAX_BYTES, max(1, -(-bits // 7)))
        matrix = np.empty((self.n, width), dtype=np.uint8)
        length = np.ones(self.n, dtype=np.int64)
        rest = value
        for at in range(width):
            low = (rest & np.uint64(0x7F)).astype(np.uint8)
            rest = rest >> np.uint64(7)
            more = rest > 0
            matrix[:, at] = low | np.where(more, np.uint8(0x80), np.uint8(0))
            length += more
        self._append(matrix, length, where)

    def number(self, field: int, values: np.ndarray, where: np.ndarray | None = None) -> None:
        """Append a field that holds a number."""
        self.put(tag(field, VARINT), where)
        self.varint(values, where)

    def fixed64(self, field: int, values: np.ndarray, where: np.ndarray | None = None) -> None:
        """Append a field that holds the eight bytes of an integer or of a float64, as they are."""
        self.put(tag(field, FIXED64), where)
        matrix = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).view(np.uint8)
        self._append(matrix.reshape(self.n, 8), None, where)

    def nested(self, field: int, inner: ByteRows, where: np.ndarray | None = None) -> None:
        """Append rows as messages, each with its tag and its length; `inner` must not grow afterwards."""
        self.put(tag(field, BYTES), where)
        self.varint(inner.length, where)
        for column in inner._columns:
            self._append(column.data, column.length, where)

    def tobytes(self) -> bytes:
        """Return all rows, one after the other."""
        width = sum(column.data.shape[1] for column in self._columns)
        data = np.empty((self.n, width), dtype=np.uint8)
        counts = np.ones((self.n, width), dtype=bool)
        at = 0
        for column in self._columns:
            stop = at + column.data.shape[1]
            data[:, at:stop] = column.data
            if column.length is not None:
                counts[:, at:stop] = np.arange(stop - at) < column.length[:, None]
            at = stop
        return data[counts].tobytes()

    def _append(self, data: np.ndarray, length: np.ndarray | None, where: np.ndarray | None) -> None:
        full = data.shape[1] if length is None else length
        if where is not None:
            full = length = np.where(where, full, 0)
        self._columns.append(_Column(data, length))
        self.length += full
