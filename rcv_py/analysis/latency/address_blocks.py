"""Address blocks: the addresses that lanes gave to a memory instruction, written before it ran.

```
header            EXEC           descriptor, offset       a word or two a lane
P:5:addr_trace_…  low, high      (buffers: 0, 1, scalar)  lane 0, lane 1, …      then the memory instruction
```
A compiler pass writes them with s_ttracedata (docs/markers/SPEC.md of AMD's rocprof-trace-decoder).  Every
lane has words, but those of lanes outside EXEC are whatever was in the register: only active lanes count.  A
block counts if all its words came, followed by another marker or the end of the wave, and are addresses.

The instruction is the next one of its kind after the header in the code, known by the value that the header
writes; else the only one of its kind at the source place of the marker, or in its code object.
"""

import re
from itertools import pairwise

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.events.marker_spans import MarkerRecords
from rcv_py.analysis.events.payloads import ADDRESSES, NOTHING, POINT, is_address_name, marker_use
from rcv_py.analysis.program.registers import definition, registers
from rcv_py.base.record import Value
from rcv_py.base.runs import starts_run
from rcv_py.model.trace import Trace

_GLOBAL = r"(?:global|flat|s)_"
_BUFFER = r"s?_?buffer_"


class AddressKind(Value):
    """What the words of a block are."""

    mnemonic: re.Pattern[str]  # of the instructions it may stand before
    words: int  # of a lane
    is_local: bool = False  # LDS, also for moves between lanes
    is_buffer: bool = False
    is_read: bool = False
    has_address: bool = True  # else lane numbers
    can_conflict: bool = False  # the groups of its lanes are published


def _kind(mnemonic: str, words: int, **more: bool) -> AddressKind:
    return AddressKind(re.compile(mnemonic), words, **more)


_LDS_ATOMIC = r"ds_(?!read|load|write|store|b?permute|swizzle|nop|gws|append|consume|ordered|bvh)"
KINDS = {
    "load": _kind(rf"{_GLOBAL}load", 2, is_read=True),
    "store": _kind(rf"{_GLOBAL}store", 2),
    "atomic": _kind(rf"{_GLOBAL}atomic", 2),
    "lds_load": _kind("ds_(?:read|load)", 1, is_local=True, is_read=True, can_conflict=True),
    "lds_store": _kind("ds_(?:write|store)", 1, is_local=True, can_conflict=True),
    "lds_atomic": _kind(_LDS_ATOMIC, 1, is_local=True),
    "ds_permute": _kind("ds_permute", 1, is_local=True, has_address=False),
    "ds_bpermute": _kind("ds_bpermute", 1, is_local=True, has_address=False),
    "buffer_load": _kind(rf"{_BUFFER}load", 1, is_buffer=True, is_read=True),
    "buffer_store": _kind(rf"{_BUFFER}store", 1, is_buffer=True),
    "buffer_atomic": _kind(rf"{_BUFFER}atomic", 1, is_buffer=True),
    "struct_buffer_load": _kind(rf"{_BUFFER}load", 2, is_buffer=True, is_read=True),
    "struct_buffer_store": _kind(rf"{_BUFFER}store", 2, is_buffer=True),
    "struct_buffer_atomic": _kind(rf"{_BUFFER}atomic", 2, is_buffer=True),
}
_HEAD, _DESCRIPTOR = 2, 3  # words before those of lanes
_LANES = (32, 64)
MAX_ADDRESS = 1 << 57  # bytes that a process can address
MAX_LDS = 1 << 19  # bytes, more than any GPU has
_BASE = (1 << 48) - 1
_STRIDE_SHIFT, _STRIDE = 48, (1 << 14) - 1
_SWIZZLED = 3 << 62  # bits of a descriptor: its addresses need words that the block does not have


def kind_of(name: str) -> str:
    """Return the kind in the name of a marker, such as `lds_load`; "" if it is not a known one."""
    kind = name.removeprefix(ADDRESSES)
    return kind if name.startswith(ADDRESSES) and kind in KINDS else ""


def lanes_of(kind: str, words: int) -> int:
    """Return the lanes, 32 or 64, of a block with so many words; 0 if no wave has such a block."""
    about = KINDS[kind]
    own = words - _HEAD - _DESCRIPTOR * about.is_buffer
    return next((lanes for lanes in _LANES if own == lanes * about.words), 0)


class AddressBlocks(Value):
    """The blocks of a marker: those that count, and how many do not."""

    marker: int  # row of `Trace.markers`
    kind: str  # of KINDS; "" if unknown
    line: int = -1  # code row of the instruction, -1 if not known
    address: np.ndarray = np.zeros((0, 0), dtype=np.uint64)  # [blocks, lanes], bytes; of permutes lanes × 4
    is_active: np.ndarray = np.zeros((0, 0), dtype=bool)  # [blocks, lanes]
    incomplete: int = 0  # words are missing, or cannot be addresses
    unusable: int = 0  # the number of words fits no wave, or more lanes are active than were recorded


def address_blocks(trace: Trace, records: MarkerRecords) -> list[AddressBlocks]:
    """Return the blocks of each marker of addresses that was written, in the order of the dictionary."""
    records = records.at(~records.is_idle)
    names, value = trace.markers, records.value
    header = np.flatnonzero(is_address_name(names)[records.name] & ~records.is_data)
    if not len(header):
        return []
    # The words after a header end at the next value that is none, or with the wave.
    begins = np.append(starts_run(records.group), True)
    other = np.flatnonzero(np.append(~records.is_data, True) | begins)
    stop = other[np.searchsorted(other, header, side="right")]
    use = np.append(marker_use(names, records.name, value), POINT)
    is_followed = begins[stop] | (use[stop] != NOTHING)
    lines, found = _lines(trace), []
    for row in np.unique(records.name[header]).tolist():
        own = records.name[header] == row
        words = int(records.words[header[own]][0])
        begin = header[own & is_followed & (stop - header - 1 == words)] + 1
        kind = kind_of(names[row].name)
        lanes = lanes_of(kind, words) if kind else 0
        written = int(own.sum())
        if lanes:
            blocks = AddressBlocks(row, kind, lines.get(row, -1), incomplete=written - len(begin))
            word = value[begin[:, None] + np.arange(words)].astype(np.uint64)
            found.append(_read(trace, blocks, word, lanes))
        else:
            found.append(AddressBlocks(row, kind, lines.get(row, -1), unusable=written))
    return found


def _read(trace: Trace, blocks: AddressBlocks, word: np.ndarray, lanes: int) -> AddressBlocks:
    """Return the blocks of a marker with what their words say, uint64 [blocks, words]."""
    about = KINDS[blocks.kind]
    limit = (
        1 << 32 if not about.has_address else MAX_LDS if about.is_local else MAX_ADDRESS
    )  # lane numbers too
    mask = word[:, 0] | word[:, 1] << np.uint64(32)
    is_active = (mask[:, None] >> np.arange(lanes, dtype=np.uint64)) & np.uint64(1) != 0
    is_whole = mask >> np.uint64(lanes - 1) <= 1  # else lanes beyond those recorded were active
    address, is_known = _addresses(trace, blocks.kind, word[:, _HEAD:], lanes)
    is_right = ~((address >= np.uint64(limit)) & is_active).any(axis=1)
    good = is_whole & is_right & is_known
    return replace(
        blocks,
        address=address[good],
        is_active=is_active[good],
        incomplete=blocks.incomplete + int((is_whole & ~is_right).sum()),
        unusable=int((~good & (is_right | ~is_whole)).sum()),
    )


def _addresses(trace: Trace, kind: str, word: np.ndarray, lanes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return addresses, uint64 [blocks, lanes], and whether the words suffice for them, bool [blocks].

    A buffer's are base + scalar offset + offset, and of a structured one + index × stride, without swizzling
    (AMD's instruction set guides, buffer addressing).
    """
    about = KINDS[kind]
    is_known = np.ones(len(word), dtype=bool)
    if not about.is_buffer:
        if about.words == 1:
            return word, is_known
        return word[:, 0::2] | word[:, 1::2] << np.uint64(32), is_known
    descriptor = word[:, 0] | word[:, 1] << np.uint64(32)
    own = word[:, _DESCRIPTOR:]
    address = (descriptor & np.uint64(_BASE))[:, None] + word[:, 2:3] + own[:, :lanes]
    if about.words == 2:
        stride = descriptor >> np.uint64(_STRIDE_SHIFT) & np.uint64(_STRIDE)
        address = address + stride[:, None] * own[:, lanes:]
        is_known = (descriptor & np.uint64(_SWIZZLED)) == 0
        if trace.architecture.waitcnt == "gfx1250":  # its descriptors have another form
            is_known[:] = False
    return address, is_known


_IMMEDIATE = re.compile(r"s_ttracedata_imm\s+(0x[0-9a-f]{1,8}|\d{1,10})$")
_MOVED = re.compile(r"s_mov(?:k_i32|_b32) \w+, (?:(0x[0-9a-f]{1,8}|\d{1,10})|s\d{1,3})$")
_M0 = registers("s_mov_b32 m0, 0").writes
_REACH = 64  # rows in which a register gets its value
_MOVES = 3


def _lines(trace: Trace) -> dict[int, int]:
    """The code row of the instruction of each marker of addresses, by row of the dictionary."""
    code, names = trace.code, trace.markers
    rows = {(one.codeobj, one.marker): row for row, one in enumerate(names) if kind_of(one.name)}
    if not len(code) or not rows:
        return {}
    texts = [text.strip().lower() for text in code.text]
    objects = code.codeobj.tolist()
    heads: dict[int, list[int]] = {}
    for at, text in enumerate(texts):
        if text.startswith("s_ttracedata"):
            value = _written(texts, at)
            row = rows.get((objects[at], value >> 2)) if value >= 0 and not value & 3 else None
            if row is not None:
                heads.setdefault(row, []).append(at)
    borders = sorted(at for places in heads.values() for at in places)
    stops = dict(pairwise([*borders, len(texts)]))
    found = {}
    for row in rows.values():
        one, fits = names[row], KINDS[kind_of(names[row].name)].mnemonic.match
        own = [at for at, text in enumerate(texts) if objects[at] == one.codeobj and fits(text)]
        if row in heads:
            after = {next((at for at in own if head < at < stops[head]), -1) for head in heads[row]}
            found[row] = after.pop() if len(after) == 1 else -1
            continue
        source = one.source.partition(" -> ")[0]
        there = [at for at in own if source and _is_place(trace, at, source)]
        found[row] = next((some[0] for some in (there, own) if len(some) == 1), -1)
    return found


def _is_place(trace: Trace, line: int, source: str) -> bool:
    """Whether an instruction has the source place of a marker, which may have a shorter path."""
    leaf = int(trace.code.leaf[line])
    if leaf < 0:
        return False
    path = trace.sources[int(trace.code.chain_file[leaf])].path
    return f"/{path}:{int(trace.code.chain_line[leaf])}".endswith(f"/{source.removeprefix('./')}")


def _written(texts: list[str], at: int) -> int:
    """The value that a s_ttracedata writes, -1 if the code before it does not say."""
    if immediate := _IMMEDIATE.match(texts[at]):
        return int(immediate[1], 0)
    wanted, region = _M0, range(max(0, at - _REACH), at)
    for _ in range(_MOVES):
        at = definition(texts, at, wanted, region)
        moved = _MOVED.match(texts[at]) if at >= 0 else None
        if moved is None:
            break
        if moved[1]:
            return int(moved[1], 0)
        wanted = registers(texts[at]).reads
    return -1
