"""Pass values between processes: their arrays lie in memory that both processes map.

```
one process                                  the other
value ─── pickle ───► message ─────────────► value
  └ arrays ─────────► block ── descriptor ─► block, mapped: the arrays are read-only views of it
```

A block is an anonymous file of Linux (`memfd`).  It has no name, so that a killed process leaves nothing, and
the size of /dev/shm, small in containers, does not limit it.  It is written once, and lives as long as any
process has an array in it.  Arrays that are already in a block, because they arrived in one or because of
`share`, are passed on without a copy.  A long pickle goes into a block, too, so that no message fills a pipe.
Without such files, or without memory for one, the message holds everything.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import pickle
import socket
import struct
import sys
from collections.abc import Iterable, Iterator
from itertools import accumulate
from multiprocessing.connection import Connection
from typing import Any, TypeVar
from weakref import finalize

import numpy as np

from rcv_py.base.errors import RcvError
from rcv_py.base.record import Value

SHARED_BYTES = 128 << 10  # bytes of arrays in no block, or of a pickle: less goes into the message
_ALIGN = 16
_HEAD = struct.Struct("<QQQ")  # bytes of the pickle, number of arrays, number of blocks
_PLACE = struct.Struct("<qQQ")  # number of the block (-1: the message), first byte, bytes
_DESCRIPTORS_AT_ONCE = 250  # Linux takes 253
T = TypeVar("T")
_libc: Any = None
if hasattr(os, "memfd_create"):
    _libc = ctypes.CDLL(None, use_errno=True)
    _libc.mmap.argtypes = (*(ctypes.c_void_p, ctypes.c_size_t), *3 * (ctypes.c_int,), ctypes.c_long)
    _libc.mmap.restype = ctypes.c_void_p
    _libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


class TooManyFiles(RcvError):
    """This process may not open another file."""

    def __init__(self) -> None:
        hint = "Allow more (ulimit -n 4096), or close other captures, and try again."
        super().__init__("Too many files are open to receive data from another process.", hint)


class Block:
    """Anonymous memory with a descriptor, which is closed when the last reference is gone."""

    _open: set[int] = set()  # noqa: RUF012 - descriptors of all blocks

    def __init__(self, descriptor: int) -> None:
        """Own the descriptor of an anonymous file."""
        self.descriptor = descriptor
        self._open.add(descriptor)
        self.close = finalize(self, self._closed, descriptor)
        self.close.atexit = False

    @classmethod
    def of(cls, arrays: Iterable[memoryview]) -> Block | None:
        """Copy arrays into a block, each at a multiple of 16 bytes; None if there is no memory for that."""
        try:
            block = cls(os.memfd_create("rcv"))
            with open(block.descriptor, "wb", closefd=False) as file:
                file.writelines(_spaced(arrays))
        except OSError:
            return None
        return block

    def mapped(self) -> memoryview:
        """Its bytes, read-only, valid as long as anything refers to them.

        The module mmap would keep a second descriptor of each block, and a capture may have thousands.  Only
        a part of them stays open; arrays in the others can be read, but are copied when they are sent on.
        """
        size = os.fstat(self.descriptor).st_size
        address = _libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, self.descriptor, 0)
        if address == ctypes.c_void_p(-1).value:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        memory = (ctypes.c_ubyte * size).from_address(address)
        memory.block = self  # type: ignore[attr-defined] # keeps the mapping alive
        finalize(memory, _libc.munmap, address, size).atexit = False
        if len(self._open) > most_open():
            self.close()
        return memoryview(memory).cast("B").toreadonly()

    @classmethod
    def _closed(cls, descriptor: int) -> None:
        cls._open.discard(descriptor)
        os.close(descriptor)


def most_open() -> int:
    """Number of blocks that keep their descriptors: a quarter of the files that this process may open."""
    import resource  # noqa: PLC0415 - Windows has none

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if limit == resource.RLIM_INFINITY else limit // 4


def _place(view: memoryview) -> tuple[Block, int] | None:
    """The block of an array, and its first byte there; None if it is in no block that can be sent."""
    owner: object = view.obj
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    if not isinstance(owner, ctypes.Array) or not view.nbytes:
        return None
    block = getattr(owner, "block", None)
    if not isinstance(block, Block) or not block.close.alive:
        return None
    return block, np.frombuffer(view, np.uint8).ctypes.data - ctypes.addressof(owner)


def _padded(size: int) -> int:
    return size + -size % _ALIGN


class Envelope(Value):
    """A serialized value: bytes, and the blocks that they refer to."""

    data: bytes | memoryview
    blocks: tuple[Block, ...] = ()


def share(value: T) -> T:
    """Return the value with its arrays in a block, from which they pass to any number of processes uncopied.

    A small value, or any value where there are no blocks, is returned unchanged.
    """
    message = dumps(value)
    return loads(message) if message.blocks else value


def dumps(value: object) -> Envelope:
    """Return the value as a message; an array is copied once, or not at all if it is in a block already."""
    found: list[pickle.PickleBuffer] = []
    text = pickle.dumps(value, protocol=5, buffer_callback=found.append)
    views = [array.raw() for array in found]
    known = [_place(view) for view in views]
    loose = [view for view, place in zip(views, known, strict=True) if place is None]
    is_large = _libc is not None and sum(view.nbytes for view in loose) >= SHARED_BYTES
    fresh = Block.of(loose) if is_large else None
    ends = accumulate((_padded(view.nbytes) for view in loose), initial=0)
    places = [(fresh, next(ends)) if place is None else place for place in known]
    numbers: dict[Block | None, int] = {}
    for block, _ in places:
        if block is not None:
            numbers.setdefault(block, len(numbers))
    head = [_HEAD.pack(len(text), len(views), len(numbers))]
    for (block, first), view in zip(places, views, strict=True):
        head.append(_PLACE.pack(-1 if block is None else numbers[block], first, view.nbytes))
    within = _spaced(loose) if fresh is None else ()
    data = b"".join((*_spaced([memoryview(b"".join([*head, text]))]), *within))
    blocks = tuple(block for block in numbers if block is not None)
    if _libc is not None and len(data) >= SHARED_BYTES and (whole := Block.of([memoryview(data)])):
        return Envelope(_HEAD.pack(0, 0, len(blocks) + 1), (whole, *blocks))
    return Envelope(data, blocks)


def _spaced(arrays: Iterable[memoryview]) -> Iterator[memoryview | bytes]:
    """Arrays, each padded to a multiple of 16 bytes."""
    for array in arrays:
        yield array
        yield bytes(_padded(array.nbytes) - array.nbytes)


def loads(message: Envelope) -> Any:
    """Return the value of a message; its arrays are read-only views.  Raises TooManyFiles."""
    size, count, blocks = _HEAD.unpack_from(message.data)
    if blocks > len(message.blocks):
        raise TooManyFiles
    if not size:  # the message itself lies in the first block
        return loads(Envelope(message.blocks[0].mapped(), message.blocks[1:]))
    begin = _HEAD.size + count * _PLACE.size
    whole = memoryview(message.data)
    memory = [*(block.mapped() for block in message.blocks), whole[_padded(begin + size) :]]  # -1 is the last
    places = _PLACE.iter_unpack(whole[_HEAD.size : begin])
    arrays = [memory[number][first : first + length] for number, first, length in places]
    return pickle.loads(whole[begin : begin + size], buffers=arrays)


def send(connection: Connection, message: Envelope) -> None:
    """Send a message to the process at the other end."""
    connection.send_bytes(message.data)
    if message.blocks:
        with _channel(connection) as channel:
            for first in range(0, len(message.blocks), _DESCRIPTORS_AT_ONCE):
                some = message.blocks[first : first + _DESCRIPTORS_AT_ONCE]
                socket.send_fds(channel, [b"\0"], [block.descriptor for block in some])


def receive(connection: Connection) -> Envelope:
    """Wait for a message.  Raises EOFError or OSError if the other end closes before it is complete."""
    data = connection.recv_bytes()
    due = _HEAD.unpack_from(data)[2]
    blocks: list[Block] = []
    if due:
        with _channel(connection) as channel:
            for first in range(0, due, _DESCRIPTORS_AT_ONCE):
                byte, some, _, _ = socket.recv_fds(channel, 1, min(due - first, _DESCRIPTORS_AT_ONCE))
                if not byte:
                    raise EOFError
                blocks += map(Block, some)
    return Envelope(data, tuple(blocks))


def _channel(connection: Connection) -> socket.socket:
    return socket.fromfd(connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM)
