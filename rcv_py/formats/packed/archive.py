"""The members of a packed capture: a zip with our names, read with limits and without extracting it.

A member is compressed or stored; a stored member begins at a multiple of 64 bytes, so that its arrays, in
numpy's own file format, can be mapped.  An archive is untrusted input: names, sizes and offsets are checked
before a read.
"""

from __future__ import annotations

import math
import mmap
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import numpy as np

from rcv_py.base.errors import BrokenFile
from rcv_py.base.record import Record, Value
from rcv_py.base.text import Message, elide_right
from rcv_py.formats.input.files import system_errors

SUFFIX = ".rcvz"
NOTES = "notes.json"  # the member with notes about the capture, if it was packed with them
MEMBER_BYTES = 1 << 29  # of one unpacked member: the largest accepted wave has less
ALL_BYTES = 1 << 36  # of all unpacked members
MEMBERS = 200_000
FREE_BYTES = 32 << 20  # of a member with any compression ratio
RATIO = 64  # of a larger one: real captures are packed 6 to 21 times
LEVEL = 6
ALIGNED = 64  # bytes
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}(/\d{1,8})?\.(json|columns)")
_PAD = 0xD935  # the extra field that other tools also use for alignment
_LOCAL = struct.Struct("<4s22xHH")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Version 1 of numpy's format as it writes it; other kinds of numbers, and other orders, are never written.
_HEAD = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>[<|](?:[iu][1248]|f8|b1))', 'fortran_order': False, "
    rb"'shape': \((?P<shape>\d{1,12},|\d{1,12}, \d{1,12})\), \} *\n",
    re.DOTALL,
)
_HEADER = 512  # bytes, at most
_WRITTEN = 128  # of those we write
_MAGIC = b"\x93NUMPY\1\0" + (_WRITTEN - 10).to_bytes(2, "little")


class Writer:
    """Writes an archive to a stream, member by member; use it in a `with` block."""

    def __init__(self, stream: BinaryIO, *, is_compressed: bool) -> None:
        self._zip = zipfile.ZipFile(stream, "w", compresslevel=LEVEL)
        self._stream = stream
        self._method = zipfile.ZIP_DEFLATED if is_compressed else zipfile.ZIP_STORED

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def add(self, name: str, data: bytes | bytearray | memoryview) -> None:
        """Write a member without a date, so that the same capture gives the same bytes."""
        about = zipfile.ZipInfo(name)
        about.compress_type = self._method
        about.external_attr = 0o644 << 16
        if self._method == zipfile.ZIP_STORED:
            begin = self._stream.tell() + _LOCAL.size + len(name) + 4
            gap = -begin % ALIGNED
            about.extra = struct.pack("<HH", _PAD, gap) + bytes(gap)
        self._zip.writestr(about, data)


class Member(Value):
    """Position and size of a member."""

    at: int  # byte of its header in the archive
    packed: int  # bytes
    size: int  # bytes unpacked
    crc: int
    is_compressed: bool


class Archive(Record):
    """An archive at a path; it keeps no file open, and pickles as its path."""

    path: Path

    @cached_property
    def members(self) -> Mapping[str, Member]:
        """The members by name; raise BrokenFile or MissingFile if it is not an archive that may be read."""
        try:
            with system_errors(self.path.name), zipfile.ZipFile(self.path) as archive:
                return self._checked(archive.infolist())
        except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, struct.error) as error:
            raise self.broken("it is not an archive, or cut off", repr(error)) from error

    def _checked(self, listed: list[zipfile.ZipInfo]) -> dict[str, Member]:
        if len(listed) > MEMBERS:
            count = len(listed)
            many = Message("it has {0:,} members, more than the {1:,} that are accepted", count, MEMBERS)
            raise self.broken(many)
        found: dict[str, Member] = {}
        for one in listed:
            shown = elide_right(repr(one.filename), 60)
            if not _NAME.fullmatch(one.filename):
                raise self.broken(Message("a member has a name that no writer gives, {0}", shown))
            if one.filename in found:
                raise self.broken(Message("it has two members of the name {0}", shown))
            if one.compress_type not in _METHODS or one.flag_bits & 1:
                odd = Message("its member {0} is encrypted, or packed in a way that is not known", shown)
                raise self.broken(odd)
            most = max(FREE_BYTES, one.compress_size * RATIO) if one.compress_type else one.compress_size
            size, packed, is_compressed = one.file_size, one.compress_size, bool(one.compress_type)
            if size > min(MEMBER_BYTES, most) or min(size, packed) < 0:
                large = Message("its member {0} claims {1:,} bytes, more than are accepted", shown, size)
                raise self.broken(large)
            found[one.filename] = Member(one.header_offset, packed, size, one.CRC, is_compressed)
        if sum(member.size for member in found.values()) > ALL_BYTES:
            raise self.broken("it claims more bytes than any capture has")
        return found

    def read(self, name: str) -> memoryview:
        """Return the bytes of a member; a stored member is mapped from the file.

        Raise BrokenFile if it is missing, or differs from the directory of the archive.
        """
        member = self.members.get(name)
        if member is None:
            raise self.broken(Message("it lacks the member {0}", name))
        try:
            if not member.is_compressed:
                return self._part(memoryview(self._map), member)
            with self.path.open("rb") as stream:
                stream.seek(member.at)
                data = stream.read(_LOCAL.size + 2 * 0xFFFF + member.packed)
            packed = self._part(memoryview(data), member, 0)
            unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
            plain = unpacker.decompress(packed, member.size + 1)
        except (OSError, ValueError, struct.error, zlib.error) as error:
            raise self.broken(Message("its member {0} cannot be read", name), repr(error)) from error
        if len(plain) != member.size or zlib.crc32(plain) != member.crc:
            raise self.broken(Message("its member {0} is not what was packed", name))
        return memoryview(plain)

    def _part(self, data: memoryview, member: Member, at: int | None = None) -> memoryview:
        """The packed bytes of a member, after its header in the data."""
        at = member.at if at is None else at
        mark, name, extra = _LOCAL.unpack_from(data, at)
        begin = at + _LOCAL.size + name + extra
        if mark != b"PK\3\4" or begin + member.packed > len(data):
            raise ValueError("no member begins there")
        return data[begin : begin + member.packed]

    @cached_property
    def _map(self) -> mmap.mmap:
        with self.path.open("rb") as stream:
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)

    def broken(self, problem: str, detail: str = "") -> BrokenFile:
        """The error for a damaged archive."""
        return BrokenFile(self.path.name, problem, detail)


class Unreadable(ValueError):
    """The bytes are not arrays; the text fits after "is damaged: "."""


def packed_arrays(arrays: Sequence[np.ndarray]) -> bytes:
    """Return the arrays as bytes, each beginning at a multiple of 64."""
    parts: list[bytes | memoryview] = []
    for array in map(np.ascontiguousarray, arrays):
        about = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {array.shape}, }}"
        parts.append(_MAGIC + f"{about:{_WRITTEN - len(_MAGIC) - 1}}\n".encode())  # numpy takes 40 us for it
        parts += [array.reshape(-1).view(np.uint8).data, bytes(-array.nbytes % ALIGNED)]
    return b"".join(parts)  # which copies once


def unpacked_arrays(data: memoryview, count: int) -> list[np.ndarray]:
    """Return `count` arrays as read-only views of the bytes; raise Unreadable for anything else."""
    found, at = [], 0
    for _ in range(count):
        array, at = _array(data, at)
        found.append(array)
    if at != len(data):
        raise Unreadable("something follows its arrays")
    return found


def _array(data: memoryview, at: int) -> tuple[np.ndarray, int]:
    """The array at a position, and the position of the next."""
    head = _HEAD.match(data[at : at + _HEADER])
    if head is None:
        raise Unreadable("an array is missing, or of a kind that no writer writes")
    shape = tuple(int(size) for size in head["shape"].split(b",") if size.strip())
    dtype = np.dtype(head["dtype"].decode())
    items = math.prod(shape)
    begin = at + 10 + int.from_bytes(data[at + 8 : at + 10], "little")
    end = begin + items * dtype.itemsize
    if begin < at + head.end() or end > len(data) or max(shape) > len(data):
        raise Unreadable("an array claims more than there is")
    return np.frombuffer(data[begin:end], dtype=dtype).reshape(shape), end + -end % ALIGNED
