r"""Find the code objects inside the files that compilers write, without loading anything.

```
ELF for AMD GPUs                   .hsaco, .co, .out, .o
__CLANG_OFFLOAD_BUNDLE__           code objects of several targets
CCOB                               such a bundle, compressed
ELF for the host                   either of these in .hip_fatbin, else anywhere inside, as bare ELF files
anything else                      bare ELF files: .vmfb, a zip that stores them; pickles of FlyDSL, where
                                   MLIR may print their bytes as text (`\7FELF\02\01…`) and zlib pack it
```
Bytes are only searched and copied: nothing is unpickled, executed or linked.  Offsets and sizes come from the
file and are trusted only within its bytes.  Source of the layouts: LLVM, "Clang Offload Bundler".
"""

from __future__ import annotations

import re
import struct
import sys
import zlib
from collections.abc import Generator, Iterator
from contextlib import suppress
from importlib import import_module
from io import BytesIO
from pathlib import Path

from rcv_py.base.errors import BrokenFile
from rcv_py.base.problems import Affects, Problems
from rcv_py.base.progress import checkpoint
from rcv_py.base.record import Value
from rcv_py.base.text import Message, byte_size
from rcv_py.formats.input.files import system_errors
from rcv_py.formats.isa.elf import (
    AMD_GPU,
    BUNDLE,
    NOBITS,
    SECTION,
    Slice,
    descriptors,
    named_sections,
    sections_of,
    target_of_flags,
    target_of_name,
)

ELF = b"\x7fELF\x02\x01"  # 64 bits, little-endian
PACKED = b"CCOB"
PRINTED = rb"\7FELF\02\01"  # how MLIR prints the beginning of an ELF file
ZIPPED = b"ir_zlib"  # the name of such a text that zlib packed, in a pickle of FlyDSL from 0.5 on
FATBIN = b".hip_fatbin"
MAX_FILE = 8 << 30  # bytes
MAX_OBJECT = 1 << 30  # bytes of a code object
MAX_UNPACKED = 1 << 29  # bytes of a compressed bundle; those of real libraries have up to 100 MB
MAX_RATIO = 400  # unpacked bytes a compressed byte
MAX_ENTRIES = 1024  # of a bundle; compilers know some 60 targets
MAX_OBJECTS = 20_000  # of a file
_FIRST_PIECE, _PIECE = 1 << 14, 4 << 20  # bytes that are searched at a time, at first and at most
_HEADERS = {1: "<4xHHI8x", 2: "<4xHHII8x", 3: "<4xHHQQ8x"}  # of CCOB: version, method, sizes
_ESCAPE = re.compile(rb'\\([0-9A-Fa-f]{2}|\\|")')


Found = Generator[tuple[str, Slice], None, int]  # targets and code objects; returns the bytes they took


class FoundObject(Value):
    """A code object inside a file."""

    number: int  # in the order of the file, counted from 0
    target: str  # such as `gfx942` or, in a bundle, `gfx90a:xnack+`; "" if unknown
    data: Slice  # an ELF file


def found_objects(path: Path, problems: Problems, target: str = "") -> Iterator[FoundObject]:
    """Yield the code objects of a file in their order, and report what is damaged; raise a TraceError.

    `target` leaves out others whose target a bundle names.  The file is open meanwhile.
    """
    with system_errors(path.name), path.open("rb") as file:
        whole = Slice(file, 0, file.seek(0, 2))
        if whole.size > MAX_FILE:
            raise BrokenFile(path.name, Message("no file of a compiler has {0}", byte_size(whole.size)))
        for number, (name, data) in enumerate(_Search(path.name, problems).objects(whole)):
            checkpoint()
            if number >= MAX_OBJECTS:
                many = Message("Of {0} the first {1:,} code objects are listed.", path.name, MAX_OBJECTS)
                problems.warn(path.name, many, "Name a smaller file.", Affects.CODE)
                return
            known = name or target_of_name(path.stem)
            if is_of(known, target):
                yield FoundObject(number, known, data)


def is_of(name: str, target: str) -> bool:
    """Whether a code object is for a target, with or without features: `gfx90a` and `gfx90a:xnack+`."""
    return not target or target in (name, name.partition(":")[0])


def begins_container(start: bytes) -> bool:
    """Whether a file with these first 64 bytes is a code object or a bundle of some."""
    return start.startswith((BUNDLE, PACKED)) or _is_gpu_elf(start)


def kernels_of(data: Slice) -> dict[str, bytes]:
    """The descriptors of a code object by the symbols of their kernels, ascending by address.

    Only headers, symbols and descriptors are read.
    """
    return descriptors(data, sections_of(data))


def _is_gpu_elf(start: bytes) -> bool:
    return start.startswith(ELF) and len(start) >= 64 and start[18] == AMD_GPU


def _elf_size(data: Slice) -> int:
    """Bytes of an ELF file that begins here, from the ends of its sections."""
    start = data.read(0, 64)
    (offset,), (count,) = struct.unpack_from("<Q", start, 40), struct.unpack_from("<H", start, 60)
    ends = (one["offset"] + one["size"] for one in sections_of(data) if one["type"] != NOBITS)
    return min(max(64, offset + count * SECTION.itemsize, *ends), data.size)


class _Search:
    def __init__(self, name: str, problems: Problems) -> None:
        self._name, self._problems = name, problems

    def objects(self, whole: Slice) -> Iterator[tuple[str, Slice]]:
        """Yield targets and code objects."""
        start = whole.read(0, 64)
        # An assembler may leave the machine out of the header: `read_image` takes it for a GPU's.
        is_unnamed = start[:5] == ELF[:5] and len(start) >= 64 and start[18:20] == b"\0\0"
        if _is_gpu_elf(start) or is_unnamed:
            yield target_of_flags(start[48]), whole
        elif start.startswith((BUNDLE, PACKED)):
            yield from self._in(whole, (BUNDLE, PACKED))
        elif start.startswith(ELF):
            fatbins = list(_fatbins(whole))
            for one in fatbins:
                yield from self._in(one, (BUNDLE, PACKED))
            if not fatbins:
                yield from self._in(whole, (BUNDLE, PACKED, ELF), 64)
        else:
            yield from self._in(whole, (ELF, PRINTED, BUNDLE, PACKED, ZIPPED))

    def _in(self, whole: Slice, magics: tuple[bytes, ...], at: int = 0) -> Iterator[tuple[str, Slice]]:
        """Yield what lies anywhere inside, one after another."""
        following = {magic: _find(whole, magic, at) for magic in magics}
        while (place := min(following.values())) < whole.size:
            magic = min(following, key=lambda one: following[one])
            size = yield from self._at(magic, whole.part(place, whole.size))
            at = place + max(size, 1)
            late = [one for one in magics if following[one] < at]
            following |= {one: _find(whole, one, at) for one in late}

    def _at(self, magic: bytes, rest: Slice) -> Found:
        """Yield what begins with some bytes; return its size."""
        if magic == BUNDLE:
            return (yield from self._bundle(rest))
        if magic == PACKED:
            return (yield from self._unpacked(rest))
        if magic == ZIPPED:
            return (yield from self._unzipped(rest))
        size = len(magic)
        if magic == PRINTED:
            text = _printed(rest)
            rest = Slice(BytesIO(text), 0, len(text))
        start = rest.read(0, 64)
        if _is_gpu_elf(start):
            data = rest.part(0, _elf_size(rest))
            yield target_of_flags(start[48]), data
            size = size if magic == PRINTED else data.size
        return size

    def _bundle(self, whole: Slice) -> Found:
        """Yield the entries of a bundle; return its size."""
        head = whole.read(len(BUNDLE), 8)
        (count,) = struct.unpack("<Q", head) if len(head) == 8 else (0,)
        at, end, left = len(BUNDLE) + 8, len(BUNDLE) + 8, whole.size
        for _ in range(min(count, MAX_ENTRIES)):
            fixed = whole.read(at, 24)
            if len(fixed) < 24:
                self._warn("A bundle in {0} ends before its last entry.")
                break
            offset, size, letters = struct.unpack("<3Q", fixed)
            name = whole.read(at + 24, min(letters, 256)).decode("ascii", "replace")
            at += 24 + letters
            if not target_of_name(name):
                continue  # the host's
            data = whole.part(offset, size)
            if data.size < size or data.size > left:  # entries that overlap could take any time
                self._warn("An entry of a bundle in {0} lies outside of it.")
                continue
            end, left = max(end, offset + size), left - size
            if _is_gpu_elf(data.read(0, 64)):
                yield name[name.index("gfx") :], data
        return max(at, end)

    def _unpacked(self, whole: Slice) -> Found:
        """Yield the entries of a compressed bundle; return its size."""
        start = whole.read(0, 32)
        form = _HEADERS.get(start[4] if len(start) > 4 else 0)
        if form is None or len(start) < struct.calcsize(form):
            return len(PACKED)
        _, method, *sizes = struct.unpack_from(form, start)
        head, size, total = struct.calcsize(form), sizes[-1], sizes[0] if len(sizes) > 1 else whole.size
        if not head < total <= whole.size:
            self._warn("A compressed bundle in {0} is cut off.")
            total = whole.size
        data = b""
        if size > min(MAX_UNPACKED, MAX_RATIO * total):
            self._warn("A compressed bundle in {0} claims more bytes than any compiler makes.")
        else:
            data = self._inflated(whole.read(head, total - head), method, size)
        if data.startswith(BUNDLE):
            yield from self._bundle(Slice(BytesIO(data), 0, len(data)))
        return total if len(sizes) > 1 else head

    def _unzipped(self, whole: Slice) -> Found:
        """Yield what lies in a text that zlib packed, behind its name; return the size of the name."""
        begin = whole.read(0, 32).find(b"\x78", len(ZIPPED))  # a stream of zlib begins so
        if begin > 0:
            with suppress(zlib.error):
                packed = whole.read(begin, MAX_OBJECT)
                text = zlib.decompressobj().decompress(packed, min(MAX_UNPACKED, MAX_RATIO * len(packed)))
                yield from self._in(Slice(BytesIO(text), 0, len(text)), (PRINTED, ELF))
        return len(ZIPPED)

    def _inflated(self, data: bytes, method: int, size: int) -> bytes:
        """At most `size` bytes of compressed ones; none if they are damaged."""
        try:
            if method == 0:
                found = zlib.decompressobj().decompress(data, size)
            else:  # zstd is part of Python from 3.14 on
                name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
                found = import_module(name).ZstdDecompressor().decompress(data, max_length=size)
        except ImportError:
            self._warn("A bundle in {0} is compressed with zstd, which this Python cannot unpack.")
            return b""
        except Exception:  # the errors of zlib and of every module for zstd
            found = b""
        if len(found) < size:
            self._warn("A compressed bundle in {0} is damaged.")
        return found

    def _warn(self, text: str) -> None:
        hint = "Its other code objects are listed; build or copy the file again."
        self._problems.warn(self._name, Message(text, self._name), hint, Affects.CODE)


def _fatbins(whole: Slice) -> Iterator[Slice]:
    """The sections of a host's ELF file that hold bundles."""
    for name, one in named_sections(whole, sections_of(whole)):
        if name == FATBIN and one["type"] != NOBITS:
            yield whole.part(one["offset"], one["size"])


def _find(whole: Slice, magic: bytes, at: int) -> int:
    """The next place of some bytes, the size if there is none."""
    size = _FIRST_PIECE  # most often it is near
    while at + len(magic) <= whole.size:
        checkpoint()
        piece = whole.read(at, size)
        found = piece.find(magic)
        if found >= 0:
            return at + found
        if len(piece) < size:
            break
        at += size - len(magic) + 1
        size = min(4 * size, _PIECE)
    return whole.size


def _printed(rest: Slice) -> bytes:
    """The bytes of a string that MLIR printed, up to the quote that ends it."""
    end = 0
    while True:
        end = _find(rest, b'"', end)
        backslashes = rest.read(max(end - 64, 0), min(end, 64))
        if end >= rest.size or (len(backslashes) - len(backslashes.rstrip(b"\\"))) % 2 == 0:
            break
        end += 1
    text = rest.read(0, min(end, MAX_OBJECT))
    return _ESCAPE.sub(lambda one: bytes.fromhex(one[1].decode()) if len(one[1]) > 1 else one[1], text)


def read_object(found: FoundObject, name: str) -> bytes:
    """Return the bytes of a code object; raise BrokenFile if it is too large."""
    if found.data.size > MAX_OBJECT:
        raise BrokenFile(name, Message("no code object has {0}", byte_size(found.data.size)))
    return found.data.read(0, found.data.size)
