"""Lay out a relocatable object as a linker would: its sections get addresses, and relocations are applied.

Compilers leave such a file with `-c`: each section begins at address 0, and code, descriptors and debugging
information have no addresses yet.  Symbols of other files count as 0.  Source of the types: LLVM, "User Guide
for AMDGPU Backend", relocation records.
"""

import struct

import numpy as np

SECTION = np.dtype({  # a header
    "names": ["name", "type", "flags", "address", "offset", "size", "link", "info", "align", "entry"],
    "formats": ["<u4", "<u4", "<u8", "<u8", "<u8", "<u8", "<u4", "<u4", "<u8", "<u8"],
})  # fmt: skip
SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
_RELOCATION = np.dtype([("place", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<u8")])
_RELOCATABLE, _LINKED = 1, 3  # types of files
_SYMBOLS, _RELOCATIONS = 2, 4  # types of sections
_LOADED = 2  # flag of a section that takes memory
_FIRST = 0x1000  # address of the first section: no code is at 0
_LARGEST = 1 << 32  # bytes of a section, and of its alignment, that are believed
_FIELDS = {  # type → bytes, whether it is relative to its place, bits that are left out below
    1: (4, False, 0),  # R_AMDGPU_ABS32_LO
    2: (4, False, 32),  # R_AMDGPU_ABS32_HI
    3: (8, False, 0),  # R_AMDGPU_ABS64
    4: (4, True, 0),  # R_AMDGPU_REL32
    5: (8, True, 0),  # R_AMDGPU_REL64
    6: (4, False, 0),  # R_AMDGPU_ABS32
    10: (4, True, 0),  # R_AMDGPU_REL32_LO
    11: (4, True, 32),  # R_AMDGPU_REL32_HI
}


def laid_out(data: bytes) -> bytes:
    """Return a relocatable 64-bit ELF file with addresses; any other, or one with odd headers, as it is."""
    (kind,), (at,) = struct.unpack_from("<H", data, 16), struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    if kind != _RELOCATABLE or size != SECTION.itemsize or at + size * count > len(data):
        return data
    whole = bytearray(data)
    struct.pack_into("<H", whole, 16, _LINKED)
    sections = np.frombuffer(whole, SECTION, count, at)  # a change of it is one of the file
    place = _FIRST
    for row in np.flatnonzero(sections["flags"] & np.uint64(_LOADED)).tolist():
        align = min(int(sections["align"][row]), _LARGEST) or 1
        place = -(-place // align) * align
        sections["address"][row] = place
        place += min(int(sections["size"][row]), _LARGEST)
    for symbols in sections[sections["type"] == _SYMBOLS]:
        table = _entries(whole, symbols, SYMBOL)
        is_here = table["section"] < count
        table["value"][is_here] += sections["address"][table["section"][is_here]]
    for one in sections[sections["type"] == _RELOCATIONS]:
        if one["info"] < count and one["link"] < count:
            symbols = _entries(whole, sections[one["link"]], SYMBOL)
            _relocate(whole, sections[one["info"]], _entries(whole, one, _RELOCATION), symbols)
    return bytes(whole)


def _entries(whole: bytearray, section: np.void, form: np.dtype) -> np.ndarray:
    """The entries of a table, as far as the file has them."""
    at = min(int(section["offset"]), len(whole))
    return np.frombuffer(whole, form, min(int(section["size"]), len(whole) - at) // form.itemsize, at)


def _relocate(whole: bytearray, home: np.void, rows: np.ndarray, symbols: np.ndarray) -> None:
    """Write what relocations of a section say; those outside of it, or of an unknown symbol, say nothing."""
    begin, size = int(home["offset"]), min(int(home["size"]), len(whole))
    view = np.frombuffer(whole, np.uint8)
    for kind, (width, is_relative, shift) in _FIELDS.items():
        mine = rows[(rows["type"] == kind) & (rows["symbol"] < len(symbols)) & (rows["place"] < size)]
        mine = mine[mine["place"] + np.uint64(begin + width) <= len(whole)]
        value = symbols["value"][mine["symbol"]] + mine["addend"]
        value -= (home["address"] + mine["place"]) * np.uint64(is_relative)
        written = (value >> np.uint64(shift)).astype(f"<u{width}").view(np.uint8).reshape(-1, width)
        view[mine["place"][:, None].astype(np.int64) + begin + np.arange(width)] = written
