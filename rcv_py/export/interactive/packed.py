"""Columns of whole numbers in few bytes, which a page unpacks: one byte per value, wide values at the end.

```
values     3, -1, 300        zigzag   6, 1, 600        bytes  06 01 FF        wide  600 as uint64
```
All columns and a document in JSON are one deflated stream, in Base64: letters that mean nothing in HTML.
"""

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

WIDE = 255  # a byte that says: the next of the wide ones
EXACT = (1 << 52) - 1  # what a number of JavaScript holds exactly, also after zigzag
_LEVEL = 9


class PackedColumns:
    """Columns of numbers, collected into bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._at = 0
        self.places: dict[str, dict[str, int]] = {}

    def put(self, name: str, values: np.ndarray | Sequence[int]) -> None:
        """Add a column of whole numbers; values beyond 52 bits become the largest exact number."""
        whole = np.clip(np.asarray(values, dtype=np.int64), -EXACT, EXACT)
        unit = max(1, int(np.gcd.reduce(whole))) if len(whole) else 1
        whole //= unit
        is_signed = bool((whole < 0).any())
        if is_signed:
            whole = (whole << 1) ^ (whole >> 63)
        is_wide = whole >= WIDE
        wide = whole[is_wide].astype("<u8").tobytes()
        narrow = np.where(is_wide, WIDE, whole).astype(np.uint8).tobytes()
        place = {"at": self._at, "rows": len(narrow), "wide": len(wide) // 8}
        self.places[name] = {**place, "unit": unit, "signed": int(is_signed)}
        self._parts += [narrow, wide]
        self._at += len(narrow) + len(wide)

    def put_steps(self, name: str, values: np.ndarray) -> None:
        """Add a column stored as differences, for values near their predecessors; a page sums them."""
        self.put(name, np.diff(np.asarray(values, dtype=np.int64), prepend=0))

    @property
    def data(self) -> bytes:
        """The bytes of all of them."""
        return b"".join(self._parts)


def packed(document: Mapping[str, Any], columns: PackedColumns) -> str:
    """Return a document and columns as Base64: the length of the JSON (uint32), it in ASCII, the bytes."""
    head = json.dumps({**document, "columns": columns.places}, separators=(",", ":")).encode()
    raw = len(head).to_bytes(4, "little") + head + columns.data
    return b64encode(zlib.compress(raw, _LEVEL)).decode()
