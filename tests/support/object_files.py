"""Small code objects, written byte by byte."""

import struct

TEXT = 0x1600
DATA = 0x500
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
PROGBITS, SYMTAB, STRTAB = 1, 2, 3


def code_file(
    functions: dict[str, bytes],
    *,
    machine: int = 0x4F,
    kernels: tuple[str, ...] = (),
    has_symbols: bool = True,
    memory: int = 0,
    copies: int = 1,
    registers: int = 0,
    lds: int = 0,
    properties: int = 0,
    markers: bytes = b"",
    note: bytes = b"",
    scratch: int = 0,
    preload: int = 0,
) -> bytes:
    """An ELF file with functions one after the other from 0x1600; those of `kernels` have a descriptor.

    `registers` is compute_pgm_rsrc1 of each descriptor, `lds`, `scratch`, `properties` and `preload` its
    fields of these names; `note` is the document about the kernels.
    `markers` are the contents of `.sqtt_funcmap`, the only section with a name.
    `copies` sections claim the code, each at an address of its own; `memory` is where a last section ends.
    """
    code = b"".join(functions.values())
    strings, symbols, descriptors = bytearray(b"\0"), bytearray(SYMBOL.size), bytearray()

    def text(word: str) -> int:
        strings.extend(word.encode() + b"\0")
        return len(strings) - len(word.encode()) - 1

    at = TEXT
    for name, data in functions.items():
        symbols += SYMBOL.pack(text(name), 2, 0, 1, at, len(data))
        if name in kernels:
            place = DATA + len(descriptors)
            symbols += SYMBOL.pack(text(name + ".kd"), 1, 0, 2, place, 64)
            head = struct.pack("<IIQq", lds, scratch, 0, at - place).ljust(48, b"\0")
            descriptors += head + struct.pack("<IIHH", registers, 0, properties, preload).ljust(16, b"\0")
        at += len(data)
    named = text(".sqtt_funcmap") if markers else 0
    notes = b"".join(
        struct.pack("<3I", 7, len(one), kind) + b"AMDGPU\0\0" + one + bytes(-len(one) % 4)
        for kind, one in ((3, b"other"), (32, note))
    )
    parts = [code, bytes(descriptors), bytes(symbols) if has_symbols else b"", bytes(strings), markers, notes]
    places, data = [], bytearray(64)
    for part in parts:
        places.append((len(data), len(part)))
        data += part + bytes(-len(part) % 8)
    sections = [bytes(SECTION.size)]
    sections += [
        SECTION.pack(0, PROGBITS, 6, TEXT + 0x10_000 * copy, *places[0], 0, 0, 256, 0)
        for copy in range(copies if code else 0)
    ]
    sections.append(SECTION.pack(0, PROGBITS, 2, DATA, *places[1], 0, 0, 64, 0))
    sections.append(SECTION.pack(0, SYMTAB, 0, 0, *places[2], len(sections) + 1, 0, 8, SYMBOL.size))
    sections.append(SECTION.pack(0, STRTAB, 0, 0, *places[3], 0, 0, 1, 0))
    names = len(sections) - 1 if markers else 0
    if note:
        sections.append(SECTION.pack(0, 7, 2, 0, *places[5], 0, 0, 4, 0))
    if markers:
        sections.append(SECTION.pack(named, PROGBITS, 0, 0, *places[4], 0, 0, 1, 0))
    if memory:
        sections.append(SECTION.pack(0, 8, 3, memory - 16, len(data), 16, 0, 0, 1, 0))
    head = struct.pack(
        "<4sBBBB8xHHIQQQIHHHHHH",
        *(b"\x7fELF", 2, 1, 1, 64, 3, 224, 1, 0, 0, len(data), machine, 64, 56, 0, 64, len(sections), names),
    )
    data[: len(head)] = head
    return bytes(data) + b"".join(sections)
