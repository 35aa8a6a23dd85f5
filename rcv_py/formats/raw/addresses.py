"""Map addresses of a stream to addresses inside code objects.

A tool that records like rocprofv3 writes into the stream where each code object is loaded
(`CodeObjectRecord`).  Without that, an address where waves begin is the entry of some kernel, and code
objects are loaded at whole pages: a kernel with the same offset in its page is a candidate.  Of several, the
kernel whose instructions explain most tokens of the waves that begin there is taken.  Addresses that begin
at 0 belong to code object 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rcv_py.base.runs import ascending
from rcv_py.formats.sqtt.records import CodeObjectRecord

PAGE = 4096  # bytes
UNKNOWN = -1  # code object of an address that is inside of none
MAX_ENTRIES = 4096  # addresses where waves begin that are guessed about
MAX_COMPARED = 64  # kernels whose instructions are compared with the tokens at an address


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where in the code: the rows of a table that a shader engine makes for itself."""

    codeobj: np.ndarray  # int64 [n]
    address: np.ndarray  # uint64 [n]

    def __len__(self) -> int:
        return len(self.codeobj)

    def rows(self, asked: Places) -> np.ndarray:
        """Return the row of each of some places, int64, -1 if it has none; it must be sorted by both."""
        found = np.full(len(asked), -1, dtype=np.int64)
        for one in ascending(asked.codeobj).tolist():
            first, stop = np.searchsorted(self.codeobj, (one, one + 1))
            mine = np.flatnonzero(asked.codeobj == one)
            at = first + np.searchsorted(self.address[first:stop], asked.address[mine])
            inside = at < stop
            mine, at = mine[inside], at[inside]
            fits = self.address[at] == asked.address[mine]
            found[mine[fits]] = at[fits]
        return found


class Extent(NamedTuple):
    """A code object as far as its place matters."""

    id: int
    size: int  # bytes of memory
    entries: tuple[int, ...]  # addresses of its kernels


class Load(NamedTuple):
    """Load address of a code object: an address of the stream minus `base` is an address inside it."""

    id: int
    begin: int
    end: int
    base: int


class Claim(NamedTuple):
    """The kernel that was taken of several that fit an address where waves begin."""

    entry: int
    codeobj: int
    address: int  # inside the code object
    explained: int  # tokens that decided


class AddressMap(NamedTuple):
    """Code objects by where they lie; of those that overlap the last one counts."""

    loads: tuple[Load, ...]
    is_guessed: bool = False  # not in the stream: derived from where waves begin
    doubts: tuple[int, ...] = ()  # addresses where waves begin that several kernels claim
    claims: tuple[Claim, ...] = ()  # where several kernels fit, in doubt or not

    def find(self, addresses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the code object (int64, UNKNOWN: none) and the address inside of it (uint64) of each."""
        ids = np.full(len(addresses), UNKNOWN, dtype=np.int64)
        inside = addresses.astype(np.uint64)
        for load in self.loads:
            hit = (addresses >= np.uint64(load.begin)) & (addresses < np.uint64(load.end))
            ids[hit] = load.id
            # A base below 0 wraps around, as unsigned numbers do.
            inside[hit] = addresses[hit] - np.uint64(load.base % (1 << 64))
        return ids, inside


# Return how many tokens of waves that begin at an address a code object explains that is loaded there.
Explained = Callable[[int, Load], int]


def address_map(
    records: Sequence[CodeObjectRecord], extents: Sequence[Extent], entries: np.ndarray, explained: Explained
) -> AddressMap:
    """Return where code objects are loaded: from the stream, else from `entries` (where waves begin)."""
    loaded = [record for record in records if not record.is_unload]
    begins = ascending(entries[entries != 0])[:MAX_ENTRIES]
    if loaded:
        sizes = {extent.id: extent.size for extent in extents}
        loads = []
        for record in sorted(loaded, key=lambda one: one.time):
            end = record.address + (record.size or sizes.get(record.id, 0))
            loads.append(Load(record.id, record.address, min(end, (1 << 64) - 1), record.address))
        # In doubt are addresses inside several code objects, or inside one with two possible load addresses.
        claims = np.zeros(len(begins), dtype=np.int64)
        for load in dict.fromkeys(loads):
            claims += (begins >= np.uint64(load.begin)) & (begins < np.uint64(load.end))
        return AddressMap(tuple(loads), doubts=tuple(begins[claims > 1].tolist()))
    return _guessed(extents, begins.tolist(), bool(np.any(entries == 0)), explained)


def _guessed(
    extents: Sequence[Extent], entries: Iterable[int], begins_at_zero: bool, explained: Explained
) -> AddressMap:
    loads: dict[Load, int] = {}
    doubts: list[int] = []
    claims: list[Claim] = []
    bases = {  # where code objects would lie of which a kernel may begin there
        entry: [
            Load(extent.id, max(entry - kernel, 0), entry - kernel + extent.size, entry - kernel)
            for extent in extents
            for kernel in extent.entries
            if entry >= kernel and (entry - kernel) % PAGE == 0
        ]
        for entry in entries
    }
    often = Counter(load for found in bases.values() for load in found)
    for entry, found in bases.items():
        # The same place for most kernels, then the object that comes first.
        likely = sorted(found, key=lambda load: (-often[load], load.id))[:MAX_COMPARED]
        fits = {load: explained(entry, load) if len(likely) > 1 else 0 for load in likely}
        best = max(likely, key=lambda load: (fits[load], often[load]), default=None)
        if best is None:
            continue
        if len(likely) > 1:
            claims.append(Claim(entry, best.id, entry - best.base, fits[best]))
        if sum((fits[load], often[load]) == (fits[best], often[best]) for load in likely) > 1:
            doubts.append(entry)
        loads[best] = max(fits[best], loads.get(best, 0))
    ordered = sorted(loads, key=lambda load: loads[load])  # of those that overlap the last one counts
    plain = next((extent for extent in extents if extent.id == 0), None)
    if begins_at_zero and plain is not None and plain.entries:
        base = -plain.entries[0]
        ordered.append(Load(0, 0, plain.size + base, base))
    return AddressMap(tuple(ordered), is_guessed=True, doubts=tuple(doubts), claims=tuple(claims))
