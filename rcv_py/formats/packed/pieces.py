"""Some waves of a packed capture as one member: the columns of `WaveColumns`, narrowed if compressed.

A compressed piece has numbers in the smallest type that holds them and starts as differences, a third of the
bytes to unpack; a piece for mapping has the columns in their final types.
"""

from typing import NamedTuple

import numpy as np

from rcv_py.base.runs import borders
from rcv_py.formats.input.columns import LIMIT, bounds, frozen, holds
from rcv_py.formats.packed.archive import Unreadable, packed_arrays, unpacked_arrays
from rcv_py.model.waves import WaveColumns, restored_facts, stored_facts

COLUMNS = (
    "facts", "token_first", "offset", "stall", "busy", "kind", "line", "state_first", "state_offset",
    "state", "wait_line", "wait_first", "depends_on",
)  # fmt: skip
_STARTS = {"offset": "token_first", "state_offset": "state_first"}  # stored as differences within a wave
_ROWS = {"token_first": ("offset", "stall", "busy", "kind", "line"), "state_first": ("state_offset", "state")}
TYPES = {  # final types of the columns but `line`; of two, the first if it holds the numbers
    **dict.fromkeys(("facts", "token_first", "state_first"), "i8"),
    **dict.fromkeys(("offset", "stall", "busy", "state_offset"), "i4 i8"),
    **dict.fromkeys(("kind", "state"), "u1"),
    **dict.fromkeys(("wait_line", "wait_first", "depends_on"), "i4"),
}
_NARROW = (np.uint8, np.uint16, np.int16, np.int32, np.int64)
_MIN_FACTS = 16  # of a wave in the first release that packed any
_BACK = "its starts do not ascend"


def cut(columns: WaveColumns, first: int, stop: int) -> WaveColumns:
    """Return some consecutive waves, without lanes and levels of detail."""
    found = _piece({name: getattr(columns, name) for name in COLUMNS}).waves(first, stop)
    for name in ("token_first", "state_first"):
        found[name] = borders(found[name])
    return WaveColumns(**found, lod=None, missing=(), notes=())


def stored_columns(columns: WaveColumns) -> dict[str, np.ndarray]:
    """Return the columns by name as plain arrays of numbers."""
    return {name: getattr(columns, name) for name in COLUMNS} | {"facts": stored_facts(columns.facts)}


def packed_piece(columns: WaveColumns, *, is_narrow: bool) -> bytes:
    """Return the columns as the bytes of a member."""
    arrays = stored_columns(columns)
    if is_narrow:
        for name, first in _STARTS.items():
            arrays[name] = _differences(arrays[name], arrays[first])
        arrays = {name: _narrow(array) for name, array in arrays.items()}
    return packed_arrays(list(arrays.values()))


def _differences(starts: np.ndarray, first: np.ndarray) -> np.ndarray:
    steps = np.diff(starts.astype(np.int64), prepend=0)
    heads = first[:-1][first[:-1] < first[1:]]
    steps[heads] = starts[heads]
    return steps


def _summed(steps: np.ndarray, first: np.ndarray) -> np.ndarray:
    total = np.cumsum(steps, dtype=np.int64)
    before = np.where(first[:-1] > 0, total[first[:-1] - 1], 0) if len(total) else np.zeros(len(first) - 1)
    return total - np.repeat(before.astype(np.int64), np.diff(first))


def _narrow(array: np.ndarray) -> np.ndarray:
    if array.ndim > 1 or array.dtype.kind not in "iu":
        return array
    low, high = bounds(array)
    return array.astype(next(dtype for dtype in _NARROW if holds(dtype, low, high)))


class PackedPiece(NamedTuple):
    """The columns of a piece, and the first wait of each wave in its columns."""

    columns: dict[str, np.ndarray]
    line_first: np.ndarray  # int64 [waves + 1], in `wait_line`
    edge_first: np.ndarray  # int64 [waves + 1], in `wait_first`
    made_first: np.ndarray  # int64 [waves + 1], in `depends_on`

    @property
    def rows(self) -> np.ndarray:
        """Rows of the wave index, int64."""
        return self.columns["facts"]["row"]

    @property
    def nbytes(self) -> int:
        """Bytes of the columns."""
        return sum(column.nbytes for column in self.columns.values())

    def waves(self, first: int, stop: int) -> dict[str, np.ndarray]:
        """The columns of some consecutive waves; columns of borders without their last row."""
        firsts = (self.columns["token_first"], self.columns["state_first"], *self[1:])
        tokens, states, lines, edges, made = (slice(*one[[first, stop]].tolist()) for one in firsts)
        part = dict.fromkeys(("offset", "stall", "busy", "kind", "line"), tokens)
        part |= {"state_offset": states, "state": states, "facts": slice(first, stop)}
        part |= {"wait_line": lines, "wait_first": edges, "depends_on": made}
        found = {name: self.columns[name][rows] for name, rows in part.items()}
        for name in ("token_first", "state_first"):
            found[name] = np.diff(self.columns[name][first : stop + 1])  # how many
        return found


def unpacked_piece(data: memoryview, *, is_narrow: bool, lines: int) -> PackedPiece:
    """Return the columns of a member; raise Unreadable if they are inconsistent.

    `lines` is how many rows the code table has.
    """
    found = dict(zip(COLUMNS, unpacked_arrays(data, len(COLUMNS)), strict=True))
    if any(column.ndim != (2 if name == "facts" else 1) for name, column in found.items()):
        raise Unreadable("its columns have another shape")
    types = TYPES | {"line": "i2" if lines < 1 << 15 else "i4"}
    if is_narrow:
        _widen(found, types)
    if any(column.dtype.str[1:] not in types[name].split() for name, column in found.items()):
        raise Unreadable("its columns have another type")
    _check_waves(found)
    _check_rows(found, lines)
    return _piece(found)


def _widen(found: dict[str, np.ndarray], types: dict[str, str]) -> None:
    """Undo the compaction of `packed_piece`."""
    if any(column.dtype.kind not in "iu" or column.dtype == np.uint64 for column in found.values()):
        raise Unreadable("its columns have another type")
    for name, over in _STARTS.items():
        _check_borders(found[over], len(found[name]))
        if bounds(found[name])[0] < 0:
            raise Unreadable(_BACK)
        found[name] = _summed(found[name], found[over].astype(np.int64))
    for name, dtypes in types.items():
        low, high = bounds(found[name].reshape(-1))
        fitting = [np.dtype(dtype) for dtype in dtypes.split() if holds(dtype, low, high)]
        if not fitting:
            raise Unreadable("a number is too large")
        found[name] = frozen(found[name].astype(fitting[0], copy=False))


def _check_borders(first: np.ndarray, total: int) -> None:
    if not len(first) or first[0] != 0 or first[-1] != total or np.any(first[1:] < first[:-1]):
        raise Unreadable("its waves do not share its rows among them")


def _check_waves(found: dict[str, np.ndarray]) -> None:
    """Restore the facts; raise Unreadable unless every wave is described, and has its own rows."""
    table = found["facts"]
    if table.shape[1] < _MIN_FACTS or table.min(initial=0) <= -LIMIT or table.max(initial=0) >= LIMIT:
        raise Unreadable("its waves are not described")
    facts = found["facts"] = restored_facts(table)
    for over, names in _ROWS.items():
        if len(found[over]) != len(facts) + 1 or len({len(found[name]) for name in names}) > 1:
            raise Unreadable("its columns differ in length")
        _check_borders(found[over], len(found[names[0]]))
    is_known = all(facts[name].min(initial=0) >= 0 for name in ("row", "se", "simd", "slot", "wid", "length"))
    if not is_known or np.any(facts["begin"] > facts["end"]):
        raise Unreadable("its waves are not described")
    has = np.flatnonzero(np.diff(found["state_first"]))
    last = found["state_offset"][found["state_first"][has + 1] - 1]
    if np.any(facts["length"][has] < last):
        raise Unreadable("its states are longer than they last")


def _check_rows(found: dict[str, np.ndarray], lines: int) -> None:
    """Raise Unreadable unless starts ascend, durations are not negative, and instructions exist."""
    for name, over in _STARTS.items():
        starts, first = found[name], found[over]
        is_back = starts[1:] < starts[:-1]
        is_back[first[(first > 0) & (first < len(starts))] - 1] = False  # the next wave begins
        if is_back.any():
            raise Unreadable(_BACK)
    allowed = dict.fromkeys((*_STARTS, "stall", "busy"), (0, LIMIT))
    allowed |= dict.fromkeys(("line", "wait_line", "depends_on"), (-1, max(lines, 1)))
    for name, (least, stop) in allowed.items():
        low, high = bounds(found[name])
        if low < least or high >= stop:
            raise Unreadable("it names an instruction or a time that cannot be")


def _piece(found: dict[str, np.ndarray]) -> PackedPiece:
    count = found["facts"]["waits"]
    edge_first = borders(np.where(count >= 0, count + 1, 0))
    line_first = borders(np.maximum(count, 0))
    if line_first[-1] != len(found["wait_line"]) or edge_first[-1] != len(found["wait_first"]):
        raise Unreadable("its waits are of other waves")
    made_first = _made(found["wait_first"], edge_first, len(found["depends_on"]))
    return PackedPiece(found, line_first, edge_first, made_first)


def _made(edges: np.ndarray, edge_first: np.ndarray, total: int) -> np.ndarray:
    """First producer of each wave; int64 [waves + 1]."""
    has = edge_first[:-1] < edge_first[1:]
    heads, lasts = edge_first[:-1][has], edge_first[1:][has] - 1
    steps = np.diff(edges.astype(np.int64))
    steps[lasts[:-1]] = 0
    count = np.zeros(len(has), dtype=np.int64)
    count[has] = edges[lasts]
    first = borders(count)
    if np.any(edges[heads] != 0) or np.any(steps < 0) or first[-1] != total:
        raise Unreadable("its waits are of other instructions")
    return first
