"""What memory instructions accessed, by the addresses of their lanes: strides, cache lines, bank conflicts.

```
lane        0    1    2    3          stride 8, aligned to 8, 4 bytes a lane
bytes       ▓▓▓▓░░░░▓▓▓▓░░░░          half of the bytes of each touched line are used
lines       └── 64 or 128 ──┘         lines touched, and the fewest that hold as many bytes
```
Nothing is inferred: only executions whose block of addresses is complete count.  Bytes that lanes share count
once.  Lines are those of the vector cache next to the compute unit; if the width is not known, they are those
of first bytes.
"""

from typing import Any

import numpy as np

from rcv_py.analysis.core.reduction import Answers, Reduction
from rcv_py.analysis.events.marker_spans import MARKERS
from rcv_py.analysis.events.payloads import is_address_name
from rcv_py.analysis.latency.access_widths import access_width
from rcv_py.analysis.latency.address_blocks import KINDS, AddressBlocks, address_blocks
from rcv_py.analysis.latency.lds_groups import lds_groups, lds_passes
from rcv_py.base.progress import checkpoint
from rcv_py.base.text import Message
from rcv_py.model.columns import ColumnTable
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace

APART = 2.0  # times the lines, or passes, that are needed: from here on lanes lie apart
_AT_ONCE = 1 << 13  # blocks
_MAX_ALIGNMENT = 1 << 12  # bytes
_TWO_ADDRESSES = ("ds_read2", "ds_write2", "ds_load_2addr", "ds_store_2addr")


class AddressAccesses(ColumnTable):
    """One row a marker of addresses, most lines and passes beyond the needed ones first."""

    line: np.ndarray  # int32, code row of the instruction, -1 if not known
    marker: np.ndarray  # int32, row of `Trace.markers`
    blocks: np.ndarray  # int64, executions whose addresses are known
    incomplete: np.ndarray  # int64, executions of which words are missing
    unusable: np.ndarray  # int64, executions whose words cannot be read
    lanes: np.ndarray  # float64, mean number of active lanes; nan without blocks
    width: np.ndarray  # int64, bytes of a lane, 0 if not known
    stride: np.ndarray  # float64, bytes from lane to lane, nan: not the same everywhere, or unknown
    strided: np.ndarray  # float64, part of the executions of two lanes or more with one stride; nan: none
    alignment: np.ndarray  # int64, bytes: the largest power of two that divides all addresses; 0 if unknown
    requests: np.ndarray  # float64, lines touched, summed over executions; nan: no lines, or unknown
    least_requests: np.ndarray  # float64, lines needed for as many bytes; nan: unknown
    used: np.ndarray  # float64, bytes that lanes use, summed over executions; nan: unknown
    passes: np.ndarray  # float64, passes of LDS, summed over executions; nan: no LDS, or unknown
    least_passes: np.ndarray  # float64, of them, passes without conflicts; nan: unknown
    cache_line: int  # bytes, 0 if unknown
    banks: int  # of LDS
    guess: str = ""  # a sentence: which GPU lines and banks are taken from, if the capture does not name it

    @property
    def spread(self) -> np.ndarray:
        """Lines touched, divided by lines needed, float64; nan: unknown."""
        return _ratio(self.requests, self.least_requests)

    @property
    def conflict(self) -> np.ndarray:
        """Passes of LDS, divided by those without conflicts, float64; nan: unknown."""
        return _ratio(self.passes, self.least_passes)

    def of_line(self, line: int) -> np.ndarray:
        """Rows of an instruction with known addresses, int64."""
        return np.flatnonzero((self.line == line) & (self.blocks > 0))


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def _access(trace: Trace, one: AddressBlocks) -> dict[str, float]:
    about, device = KINDS.get(one.kind), trace.architecture
    row = {name: getattr(one, name) for name in ("line", "marker", "incomplete", "unusable")}
    row["blocks"] = len(one.address)
    if about is None or not len(one.address):
        return row
    text = trace.code.text[one.line].strip() if one.line >= 0 else ""
    width = max(0, access_width(text)) if text else 0
    strides, has_stride, several = _strides(one)
    row |= {
        "lanes": float(one.is_active.sum(axis=1).mean()),
        "width": width,
        "stride": float(strides[0]) if len(strides) == 1 else np.nan,
        "strided": has_stride / several if several else np.nan,
    }
    if not about.has_address:
        return row
    bits = int(np.bitwise_or.reduce(np.where(one.is_active, one.address, np.uint64(0)), axis=None))
    row["alignment"] = min(bits & -bits, _MAX_ALIGNMENT) if bits else _MAX_ALIGNMENT
    if about.is_local:
        groups = lds_groups(device.lds_order, width, one.address.shape[1], is_read=about.is_read)
        is_known = about.can_conflict and not text.startswith(_TWO_ADDRESSES)
        if groups is not None and is_known and row["alignment"] % (width & -width) == 0:
            passes = lds_passes(one.address.astype(np.int64), one.is_active, width, groups)
            row["passes"], row["least_passes"] = (float(part.sum()) for part in passes)
    elif device.cache_line:
        size = device.cache_line
        lines, used = _lines_and_bytes(one, max(1, width), size)
        row["requests"] = float(lines.sum())
        if width:
            row["used"], row["least_requests"] = float(used.sum()), float((-(-used // size)).sum())
    return row


def _strides(one: AddressBlocks) -> tuple[np.ndarray, int, int]:
    """Return the strides, int64, of executions that have one, how many have, and how many have two lanes.

    An execution has a stride if the address of each active lane is that of the first one plus the stride
    times the lanes between them.
    """
    several = one.is_active.sum(axis=1) > 1
    active, address = one.is_active[several], one.address[several].astype(np.int64)
    row = np.arange(len(active))
    first = active.argmax(axis=1)
    second = np.where(np.arange(active.shape[1]) > first[:, None], active, False).argmax(axis=1)
    step, rest = np.divmod(address[row, second] - address[row, first], second - first)
    distance = np.arange(active.shape[1]) - first[:, None]
    fits = address == address[row, first][:, None] + step[:, None] * distance
    has_one = (fits | ~active).all(axis=1) & (rest == 0)
    return np.unique(step) if has_one.all() else step[:0], int(has_one.sum()), len(row)


def _lines_and_bytes(one: AddressBlocks, width: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cache lines of `size` bytes that each execution touches, and the bytes it uses; int64."""
    lines, used = np.zeros((2, len(one.address)), dtype=np.int64)
    nothing = np.iinfo(np.int64).max
    for begin in range(0, len(lines), _AT_ONCE):
        checkpoint()
        part = slice(begin, begin + _AT_ONCE)
        start = np.where(one.is_active[part], one.address[part].astype(np.int64), nothing - width)
        start.sort(axis=1)
        is_active = start < nothing - width
        stop = np.maximum.accumulate(start + width, axis=1)
        before = np.roll(stop, 1, axis=1)
        before[:, 0] = 0
        used[part] = np.where(is_active, stop - np.maximum(start, before), 0).clip(0).sum(axis=1)
        # Lanes ascend: new lines of a lane are those after the last line of the lanes before.
        last = (stop - 1) // size
        first = np.maximum(start // size, np.where(before > 0, (before - 1) // size + 1, 0))
        lines[part] = np.where(is_active, last - first + 1, 0).clip(0).sum(axis=1)
    return lines, used


def _finish(trace: Trace, part: Any) -> AddressAccesses:
    records = _SPANS.finish(trace, part).records
    found = _table(trace, [_access(trace, one) for one in address_blocks(trace, records)])
    beyond = np.nan_to_num(found.requests - found.least_requests)
    beyond += np.nan_to_num(found.passes - found.least_passes)
    return found.at(np.lexsort((found.marker, found.line, -beyond)))


def _table(trace: Trace, rows: list[dict[str, float]]) -> AddressAccesses:
    def column(name: str, dtype: type, otherwise: float) -> np.ndarray:
        return np.array([row.get(name, otherwise) for row in rows], dtype=dtype)

    device = trace.architecture
    guess = Message("The capture does not name its GPU: lines and banks are as on {0}.", device.name)
    return AddressAccesses(
        **{name: column(name, np.int32, -1) for name in ("line", "marker")},
        **{name: column(name, np.int64, 0) for name in _WHOLE},
        **{name: column(name, np.float64, np.nan) for name in _REAL},
        cache_line=device.cache_line,
        banks=device.lds_banks,
        guess=guess if device.is_guess and device.cache_line else "",
    )


_WHOLE = ("blocks", "incomplete", "unusable", "width", "alignment")
_REAL = ("lanes", "stride", "strided", "requests", "least_requests", "used", "passes", "least_passes")
_SPANS = MARKERS[ReferenceRule.OURS]
ADDRESSES = Reduction(_SPANS.map, _SPANS.merge, _finish)


def has_addresses(trace: Trace) -> bool:
    """Whether a kernel of the capture can have written the addresses of its lanes."""
    return trace.has_shader_data and bool(is_address_name(trace.markers).any())


def addresses_of(trace: Trace, answers: Answers) -> AddressAccesses:
    """Return what is known by addresses; without any, no wave is read for it."""
    return answers.of(ADDRESSES) if has_addresses(trace) else _table(trace, [])
