"""Read the ELF file of a code object: its GPU, its code, and which functions are kernels.

Offsets and counts come from the file and are trusted only within its bytes: its size limits the work.

A relocatable object, which compilers leave with `-c`, is laid out as a linker would: each section begins at
address 0, and code, descriptors and debugging information have no addresses yet.  Symbols of other files
count as 0.  Source of the types: LLVM, "User Guide for AMDGPU Backend", relocation records.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from msgspec import field, msgpack
from msgspec.structs import replace

from rcv_py.base.errors import BrokenFile
from rcv_py.base.record import Record, Value
from rcv_py.model.resources import AllocatedRegisters

MAX_SECTIONS = 65_536  # more than any writer makes
MAX_SYMBOLS = 1 << 20
MAX_NAMES = 1 << 20  # bytes of the names of sections
MAX_MARKERS = 1 << 24  # bytes of names of markers
MARKERS = b".sqtt_funcmap"  # section in which a compiler names the markers of its kernels
MAX_ADDRESS = 1 << 48  # no address of a GPU lies beyond
AMD_GPU = 224  # e_machine
BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"  # begins a file with code objects for several GPUs
OBJECT, FUNCTION = 1, 2  # types of symbols
WRITABLE, ALLOCATED, EXECUTABLE = 1, 2, 4  # flags of sections
PROGBITS, SYMTAB, RELA, NOTE, NOBITS, DYNSYM = 1, 2, 4, 7, 8, 11  # types of sections
LOAD = 1  # type of a segment
METADATA = 32  # type of the note about kernels
MAX_NUMBER = 1 << 30  # in a note
DESCRIPTOR_SIZE = 64  # bytes of a kernel descriptor
_UNIFIED = ("90a", "940", "941", "942", "950", "9-4-")  # accumulation registers are part of the vector ones
ENTRY_ALIGNMENT = 256  # bytes
_TARGET_WORD = re.compile(r"gfx\d+(?:-\d+)?-generic|gfx\d{1,4}[0-9a-f]?")

_MACHINES = """
    600 601 700 701 702 703 704 ? 801 802 803 810 900 902 904 906
    908 909 90c 1010 1011 1012 1030 1031 1032 1033 602 705 805 1035 1034 90a
    940 1100 1013 1150 1103 1036 1101 1102 1200 1250 1151 941 942 ? 1201 950
    1310 9- 10-1- 10-3- 11- 1152 ? 1154 1153 12- 1251 12-5- 1172 1170 1171 9-4-
    ? ? 11-7- 13-
"""
# Low byte of e_flags → GPU
MACHINES = {at: name for at, name in enumerate(_MACHINES.split(), 0x20) if name != "?"}

SECTION = np.dtype({  # a header
    "names": ["name", "type", "flags", "address", "offset", "size", "link", "info", "align", "entry"],
    "formats": ["<u4", "<u4", "<u8", "<u8", "<u8", "<u8", "<u4", "<u4", "<u8", "<u8"],
})  # fmt: skip
SEGMENT = np.dtype({
    "names": ["type", "flags", "offset", "address", "physical", "file_size", "size", "align"],
    "formats": ["<u4", "<u4", "<u8", "<u8", "<u8", "<u8", "<u8", "<u8"],
})  # fmt: skip
SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
Header = dict[str, int]  # of a section or a segment, with the names of its dtype


class Slice(Value):
    """Consecutive bytes of an open file."""

    file: BinaryIO
    begin: int
    size: int

    def read(self, at: int, size: int) -> bytes:
        """The bytes from a place in it, fewer at its end."""
        if at >= self.size:
            return b""
        self.file.seek(self.begin + at)
        return self.file.read(min(size, self.size - at))

    def part(self, at: int, size: int) -> Slice:
        """The bytes at a place in it, as far as they are there."""
        begin = min(at, self.size)
        return Slice(self.file, self.begin + begin, min(size, self.size - begin))


class Symbol(NamedTuple):
    """A function, or a place where one must begin."""

    name: str  # from the file, "" if it has none
    address: int  # bytes
    size: int  # bytes, 0 unknown
    is_kernel: bool


class Region(Value):
    """Contiguous executable bytes."""

    address: int
    data: memoryview

    @property
    def stop(self) -> int:
        """First address after it."""
        return self.address + len(self.data)


class Image(Record):
    """The contents of one ELF file that concern code."""

    target: str  # such as `gfx950`; "" if unknown
    regions: tuple[Region, ...]  # ascending, disjoint, in total no longer than the file
    functions: tuple[Symbol, ...]  # ascending by address, one per address
    size: int  # bytes of memory that it needs
    data: bytes  # the file
    descriptors: Mapping[str, bytes] = field(default_factory=dict)  # kernel descriptors, by kernel
    note: bytes = b""  # MessagePack document about the kernels
    markers: bytes = b""  # names of the markers of its kernels


def target_of_name(text: str) -> str:
    """The GPU in a file's name, such as `gfx942`; "" if it has none."""
    found = _TARGET_WORD.search(text)
    return found.group() if found else ""


def target_of_flags(flags: int) -> str:
    """Return the GPU by the low byte of e_flags, such as `gfx942`; "" if it is unknown."""
    name = MACHINES.get(flags, "")
    return f"gfx{name}generic" if name.endswith("-") else f"gfx{name}" if name else ""


def generation_of(target: str) -> int:
    """Return the major version of the graphics IP: 9 of `gfx90a` and `gfx9-4-generic`; 0 if unknown."""
    name = target.removeprefix("gfx")
    digits = name.split("-")[0] if "-" in name else name[:-2]
    return int(digits) if digits.isdigit() else 0


def read_image(data: bytes, name: str, hint: str = "") -> Image:
    """Read an ELF file.

    `hint` is the target if the file lacks it, or holds code for several.  Raises BrokenFile, with the file's
    `name`, if it is no 64-bit ELF file or holds no code.
    """
    parts = list(_bundled(data))
    data = next((part for target, part in parts if target == hint), parts[0][1] if parts else data)
    if data[:4] != b"\x7fELF" or len(data) < 64 or data[4] != 2:
        raise BrokenFile(name, "it is no 64-bit ELF file")
    try:
        whole = laid_out(_mended(data))
    except Exception as error:  # numpy may raise anything for odd headers
        raise BrokenFile(name, "its ELF header makes no sense", repr(error)) from error
    if whole[5] != 1:
        raise BrokenFile(name, "its ELF header makes no sense")
    if struct.unpack_from("<H", whole, 18) != (AMD_GPU,):
        raise BrokenFile(name, "it is not for AMD GPUs")
    view = Slice(BytesIO(whole), 0, len(whole))
    sections, loaded = sections_of(view), _headers(view, 32, 54, SEGMENT)
    segments = [one for one in loaded if one["type"] == LOAD and one["address"] + one["size"] <= MAX_ADDRESS]
    regions = _regions(whole, sections, segments)
    if not regions:
        raise BrokenFile(name, "it holds no executable code")
    ends = [one["address"] + one["size"] for one in segments]
    ends += [one["address"] + one["size"] for one in sections if one["flags"] & ALLOCATED]
    ends += [regions[-1].stop]
    known = descriptors(view, sections).items()
    return Image(
        target=target_of_flags(whole[48]) or target_of_name(hint),
        regions=regions,
        functions=_functions(view, sections, regions),
        size=max(end for end in ends if end <= MAX_ADDRESS),
        data=whole,
        descriptors={kernel: raw for kernel, raw in known if len(raw) == DESCRIPTOR_SIZE},
        note=_note(whole, sections),
        markers=_markers(view, sections),
    )


def _bundled(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Targets and code objects of a bundle that compilers make for several GPUs."""
    if not data.startswith(BUNDLE) or len(data) < len(BUNDLE) + 8:
        return
    (count,) = struct.unpack_from("<Q", data, len(BUNDLE))
    at = len(BUNDLE) + 8
    while count > 0 and at + 24 <= len(data):
        offset, size, letters = struct.unpack_from("<3Q", data, at)
        target = target_of_name(data[at + 24 : at + 24 + min(letters, 256)].decode("ascii", "replace"))
        if target and data[offset : offset + 4] == b"\x7fELF":
            yield target, data[offset : offset + size]
        at, count = at + 24 + letters, count - 1


def _mended(data: bytes) -> bytes:
    """The file with header fields filled in that some assemblers leave empty."""
    (entry_size,) = struct.unpack_from("<H", data, 58)
    (machine,) = struct.unpack_from("<H", data, 18)
    if data[5] and machine and entry_size:
        return data
    whole = bytearray(data)
    whole[5] = whole[5] or 1  # little-endian
    whole[6] = whole[6] or 1
    struct.pack_into("<H", whole, 18, machine or 224)
    struct.pack_into("<H", whole, 58, entry_size or 64)
    return bytes(whole)


def sections_of(data: Slice) -> list[Header]:
    """Return the headers of the sections of an ELF file, as far as it has them."""
    return _headers(data, 40, 58, SECTION)


def _headers(data: Slice, offset_at: int, size_at: int, form: np.dtype) -> list[Header]:
    """Headers of a kind; the file's own has their offset, and their size and count, at these bytes."""
    start = data.read(0, 64).ljust(64, b"\0")
    (offset,), (size, count) = (
        struct.unpack_from("<Q", start, offset_at),
        struct.unpack_from("<HH", start, size_at),
    )
    if not count and form is SECTION:  # too many for 16 bits: the size of the first is their number
        (count,) = struct.unpack("<Q", data.read(offset + 32, 8).ljust(8, b"\0"))
    count = min(count, MAX_SECTIONS)
    raw = data.read(offset, count * size) if offset and size == form.itemsize else b""
    rows = np.frombuffer(raw, form, len(raw) // form.itemsize).tolist()
    return [dict(zip(form.names or (), row, strict=True)) for row in rows]


def named_sections(data: Slice, sections: list[Header]) -> Iterator[tuple[bytes, Header]]:
    """Yield the sections of an ELF file with their names."""
    (at,) = struct.unpack_from("<H", data.read(0, 64).ljust(64), 62)
    if at < len(sections):
        names = data.read(sections[at]["offset"], min(sections[at]["size"], MAX_NAMES))
        for one in sections:
            yield names[one["name"] : names.find(b"\0", one["name"])], one


def _regions(data: bytes, sections: list[Header], segments: list[Header]) -> tuple[Region, ...]:
    code = [one for one in sections if one["type"] == PROGBITS and one["flags"] & EXECUTABLE]
    places = [(one["address"], one["offset"], one["size"]) for one in code]
    places = places or [
        (one["address"], one["offset"], one["file_size"]) for one in segments if one["flags"] & 1
    ]
    view, left = memoryview(data), len(data)
    found: list[Region] = []
    for address, offset, size in sorted(places):
        skipped = max(found[-1].stop - address, 0) if found else 0
        part = view[min(offset + skipped, len(data)) : min(offset + size, len(data))][:left]
        part = part[: len(part) & ~3]
        if len(part) and address + skipped + len(part) <= MAX_ADDRESS:
            found.append(Region(address + skipped, part))
            left -= len(part)
    return tuple(found)


def _functions(data: Slice, sections: list[Header], regions: tuple[Region, ...]) -> tuple[Symbol, ...]:
    """Functions by their symbols; kernels have a descriptor, or are all functions if there are none."""
    names: dict[int, tuple[bool, int, str]] = {}  # address → the best of its symbols
    for table, text in _tables(data, sections):
        functions = table[table["info"] & 15 == FUNCTION]
        described = {_text(text, place) for place in _objects(table)["name"].tolist()}
        columns = (functions[key].tolist() for key in ("name", "value", "size"))
        for place, address, size in zip(*columns, strict=True):
            name = _text(text, place)
            best = (f"{name}.kd" in described, min(size, MAX_ADDRESS), name)
            names[address] = max(names.get(address, best), best)
    found = [
        Symbol(name, address, size, is_kernel)
        for address, (is_kernel, size, name) in names.items()
        if region_at(address, regions) is not None
    ]
    if not any(one.is_kernel for one in found):
        entries = _described(data, sections, regions)
        known = {one.address for one in found}
        found = [one._replace(is_kernel=not entries or one.address in entries) for one in found]
        found += [Symbol("", entry, 0, True) for entry in entries - known]
    return tuple(sorted(found, key=lambda one: one.address))


def descriptors(data: Slice, sections: list[Header]) -> dict[str, bytes]:
    """Return the descriptors that a symbol names, by the symbol of their kernel, ascending by address.

    One that lies outside of the file, or of its section, is shorter than DESCRIPTOR_SIZE.
    """
    found: dict[str, tuple[int, bytes]] = {}
    for table, text in _tables(data, sections):
        columns = (_objects(table)[key].tolist() for key in ("name", "value", "section"))
        for name, address, at in zip(*columns, strict=True):
            symbol, home = _text(text, name), sections[at] if at < len(sections) else None
            if home is not None and symbol.endswith(".kd"):
                inside = address - home["address"]
                raw = data.read(home["offset"] + inside, DESCRIPTOR_SIZE) if inside >= 0 else b""
                found[symbol.removesuffix(".kd")] = address, raw
    return {kernel: raw for kernel, (_, raw) in sorted(found.items(), key=lambda one: one[1][0])}


def _markers(data: Slice, sections: list[Header]) -> bytes:
    """The contents of the section that names markers, b"" without one."""
    for name, one in named_sections(data, sections):
        if name == MARKERS and one["type"] == PROGBITS:
            return data.read(one["offset"], min(one["size"], MAX_MARKERS))
    return b""


def _note(data: bytes, sections: list[Header]) -> bytes:
    """The note of AMD's ABI about the kernels, b"" if there is none."""
    for one in sections:
        at, end = one["offset"], min(one["offset"] + one["size"], len(data))
        while one["type"] == NOTE and at + 12 <= end:
            letters, size, kind = struct.unpack_from("<3I", data, at)
            begin = at + 12 + letters + -letters % 4
            if kind == METADATA and data[at + 12 : at + 19] == b"AMDGPU\0":
                return data[begin : begin + size]
            at = begin + size + -size % 4
    return b""


def _noted(note: bytes, kernel: str) -> dict[str, Any]:
    """What the note says about a kernel, by its keys; empty if that makes no sense."""
    try:
        document = msgpack.decode(note) if note else {}
        kernels = document.get("amdhsa.kernels", [])
        return next((one for one in kernels if one.get(".symbol") == f"{kernel}.kd"), {})
    except Exception:  # of a damaged note
        return {}


def _tables(data: Slice, sections: list[Header]) -> Iterator[tuple[np.ndarray, bytes]]:
    """The entries of each table of symbols, and their names."""
    for symbols in sections:
        is_table = symbols["type"] in (SYMTAB, DYNSYM) and symbols["entry"] == SYMBOL.itemsize
        if is_table and symbols["link"] < len(sections):
            strings = sections[symbols["link"]]
            raw = data.read(symbols["offset"], min(symbols["size"], MAX_SYMBOLS * SYMBOL.itemsize))
            table = np.frombuffer(raw, SYMBOL, len(raw) // SYMBOL.itemsize)
            yield table, data.read(strings["offset"], strings["size"])


def _objects(table: np.ndarray) -> np.ndarray:
    """Symbols that may be kernel descriptors, by their size."""
    return table[(table["info"] & 15 == OBJECT) & (table["size"] == DESCRIPTOR_SIZE)]


def _text(strings: bytes, place: int) -> str:
    end = strings.find(b"\0", place, place + 65_536)
    return strings[place : max(end, place)].decode("utf-8", "replace")


def region_at(address: int, regions: tuple[Region, ...]) -> Region | None:
    """Return the region that holds an address."""
    row = bisect_right(regions, address, key=lambda one: one.address) - 1
    return regions[row] if row >= 0 and address < regions[row].stop else None


def _described(data: Slice, sections: list[Header], regions: tuple[Region, ...]) -> set[int]:
    """Entries of likely kernel descriptors: their offset to the entry points into code.

    The hardware ignores the low 8 bits of the entry.
    """
    found: set[int] = set()
    for one in sections:
        address, offset, flags = one["address"], one["offset"], one["flags"]
        is_constant = one["type"] == PROGBITS and flags & ALLOCATED and not flags & (EXECUTABLE | WRITABLE)
        raw = data.read(offset, min(one["size"], MAX_SYMBOLS)) if is_constant else b""
        if len(raw) < DESCRIPTOR_SIZE or address > MAX_ADDRESS:
            continue
        offsets = np.frombuffer(raw, "<i8", len(raw) // DESCRIPTOR_SIZE * 8)[2::8]
        starts = address + DESCRIPTOR_SIZE * np.arange(len(offsets))
        near = np.abs(offsets) < MAX_ADDRESS
        is_set = near & (offsets != 0)
        entries = (starts[is_set] + offsets[is_set]) // ENTRY_ALIGNMENT * ENTRY_ALIGNMENT
        found.update(entry for entry in entries.tolist() if region_at(entry, regions) is not None)
    return found


def lanes_of(descriptor: bytes) -> int:
    """Return the lanes of a kernel's waves: bit 10 of the properties means 32; gfx9 never sets it."""
    (properties,) = struct.unpack_from("<H", descriptor, 56)
    return 32 if properties >> 10 & 1 else 64


def allocated_registers(image: Image, kernel: str, file: str) -> AllocatedRegisters | None:
    """Return what a kernel, by its symbol, allocates; None if the code object has no descriptor of it."""
    found = descriptor_facts(image.descriptors.get(kernel, b""), image.target, file)
    noted = _noted(image.note, kernel) if found is not None else {}

    def number(key: str) -> int:
        value = noted.get(key)
        return value if type(value) is int and 0 <= value < MAX_NUMBER else -1

    threads = number(".max_flat_workgroup_size")
    return found and replace(
        found,
        threads=threads,
        is_exact=threads > 0 and ".reqd_workgroup_size" in noted,
        spilled_vgprs=number(".vgpr_spill_count"),
        spilled_sgprs=number(".sgpr_spill_count"),
    )


def descriptor_facts(raw: bytes, target: str, file: str) -> AllocatedRegisters | None:
    """Return what a kernel with a descriptor allocates on a target such as `gfx942`; None if it is unknown.

    ```
    byte   0  u32  bytes of LDS that the program declares
    byte   4  u32  bytes of scratch of a lane
    byte  48  u32  bits 0 to 5: vector registers, in granules less one; bits 6 to 9: scalar ones, in eights
    byte  56  u16  bit 10: waves have 32 lanes; bit 11: the stack grows by calls
    byte  58  u16  bits 0 to 6: scalar registers with arguments that are there from the start
    ```
    Source: AMDGPU backend of LLVM, "Kernel Descriptor" and "compute_pgm_rsrc1".
    """
    name, generation = target.removeprefix("gfx").removesuffix("generic"), generation_of(target)
    if len(raw) < DESCRIPTOR_SIZE or not generation:
        return None
    lds, scratch, first = (struct.unpack_from("<I", raw, at)[0] for at in (0, 4, 48))
    properties, preload = struct.unpack_from("<HH", raw, 56)
    has_many = name in _UNIFIED or (generation >= 10 and lanes_of(raw) == 32)
    granule = 16 if name.startswith(("125", "12-5-")) else 8 if has_many else 4
    return AllocatedRegisters(
        vgprs=((first & 0x3F) + 1) * granule,
        sgprs=((first >> 6 & 0xF) + 1) * 8 if generation < 10 else -1,
        lds=lds,
        file=file,
        scratch=scratch,
        has_dynamic_stack=bool(properties >> 11 & 1),
        lanes=lanes_of(raw),
        preloaded=preload & 0x7F,
    )


_RELOCATION = np.dtype([("place", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<u8")])
_RELOCATABLE, _LINKED = 1, 3  # types of files
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
    for row in np.flatnonzero(sections["flags"] & np.uint64(ALLOCATED)).tolist():
        align = min(int(sections["align"][row]), _LARGEST) or 1
        place = -(-place // align) * align
        sections["address"][row] = place
        place += min(int(sections["size"][row]), _LARGEST)
    for symbols in sections[sections["type"] == SYMTAB]:
        table = _entries(whole, symbols, SYMBOL)
        is_here = table["section"] < count
        table["value"][is_here] += sections["address"][table["section"][is_here]]
    for one in sections[sections["type"] == RELA]:
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
