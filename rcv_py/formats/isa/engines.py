"""Run third-party disassemblers, each in its own process: this program imports nothing of rcv.

A disassembler is native code that was never meant for untrusted bytes, and some end the process for an
unknown GPU or for words that no compiler makes.  In its own process a crash loses only one reply.

    alone.py engines … ENGINE LIBRARY TARGET LANES < pieces > replies

A piece is: address (8 bytes), count of bytes (4 bytes), the bytes, and for each of their words of 4 bytes the
length of an instruction that begins there (1 byte).  If the engine knows the target, the reply begins with a
line: `ready` and its version, such as `LLVM 22.1.8`.  For each piece follow: count of instructions (4 bytes),
for each its length (1 byte, plus 128 if the engine does not know it), count of bytes of the text (4 bytes),
and the texts, a line each.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Callable
from typing import BinaryIO

UNKNOWN = 128
READY = b"ready "
LETTERS = 1024  # maximum bytes of one instruction's text
VOP3 = (0x35, 0x33)  # the top 6 bits of these instructions, gfx10 and later, and of packed ones
SOURCES, ZERO = (18, 9), 0x080  # lowest bits of their last two sources, in the second word; the constant 0
Read = Callable[[int, int, int], tuple[int, str]]  # place in memory, bytes there, address → length, text


def version(name: str, numbers: Callable[..., object], count: int) -> str:
    """Name of a library and the numbers of its version, as its function gives them."""
    parts = [ctypes.c_uint(0) for _ in range(count)]
    numbers(*map(ctypes.byref, parts))
    return f"{name} {'.'.join(str(part.value) for part in parts)}"


def llvm(library: str, target: str, lanes: str) -> tuple[str, Read]:
    """The disassembler of a libLLVM; it ignores features that it does not know."""
    features = ["+wavefrontsize64", "-wavefrontsize32"] if lanes == "64" and target.startswith("gfx1") else []
    if target.startswith(("gfx11", "gfx12")):  # not every version has it on for all of them
        features.append("+real-true16")
    lib = ctypes.CDLL(library)
    for part in ("TargetInfo", "Target", "TargetMC", "Disassembler"):
        getattr(lib, f"LLVMInitializeAMDGPU{part}")()
    make = lib.LLVMCreateDisasmCPUFeatures
    make.restype = ctypes.c_void_p
    text, pointer = ctypes.c_char_p, ctypes.c_void_p
    make.argtypes = [text, text, text, pointer, ctypes.c_int, pointer, pointer]
    context = make(b"amdgcn-amd-amdhsa", target.encode(), ",".join(features).encode(), None, 0, None, None)
    if not context:
        raise LookupError(target)
    one = lib.LLVMDisasmInstruction
    one.restype = ctypes.c_size_t
    one.argtypes = [pointer, pointer, ctypes.c_uint64, ctypes.c_uint64, text, ctypes.c_size_t]
    said = ctypes.create_string_buffer(LETTERS)

    def read(place: int, left: int, address: int) -> tuple[int, str]:
        size = one(context, place, left, address, said, LETTERS)
        return size, said.value.decode("utf-8", "replace") if size else ""

    is_new = hasattr(lib, "LLVMGetVersion")  # from version 16 on
    return version("LLVM", lib.LLVMGetVersion, 3) if is_new else "", read


def comgr(library: str, target: str, _lanes: str) -> tuple[str, Read]:
    """The disassembler of AMD's code object manager."""
    lib = ctypes.CDLL(library)
    number, pointer = ctypes.c_uint64, ctypes.c_void_p
    memory_type = ctypes.CFUNCTYPE(number, number, pointer, number, pointer)
    text_type = ctypes.CFUNCTYPE(None, ctypes.c_char_p, pointer)
    address_type = ctypes.CFUNCTYPE(None, number, pointer)
    here = (0, 0, 0)  # the current read: place in memory, bytes there, address
    said = b""

    def memory(start: int, to: int, size: int, _: int) -> int:
        place, left, address = here
        skipped = start - address
        count = max(min(size, left - skipped), 0)
        if skipped < 0 or not count:
            return 0
        ctypes.memmove(to, place + skipped, count)
        return count

    def take(text: bytes, _: int) -> None:
        nonlocal said
        said = text

    calls = memory_type(memory), text_type(take), address_type(lambda address, _: None)

    class Info(ctypes.Structure):
        _fields_ = (("handle", ctypes.c_uint64),)

    info = Info()
    name = f"amdgcn-amd-amdhsa--{target}".encode()
    if lib.amd_comgr_create_disassembly_info(name, *calls, ctypes.byref(info)):
        raise LookupError(target)
    size = ctypes.c_uint64(0)
    one = lib.amd_comgr_disassemble_instruction
    one.argtypes = [Info, ctypes.c_uint64, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64)]

    def read(place: int, left: int, address: int, _calls: object = calls) -> tuple[int, str]:
        nonlocal here, said
        here, said = (place, left, address), b""
        if one(info, address, None, ctypes.byref(size)):
            return 0, ""
        return size.value, said.decode("utf-8", "replace")

    return version("comgr", lib.amd_comgr_get_version, 2), read


ENGINES = {"llvm": llvm, "comgr": comgr}


def without_unused_source(place: int, left: int, source: int) -> bool:
    """Clear an unused source of 0, as LLVM 23 writes it and versions before 22.1 do not know it."""
    if left < 8:
        return False
    first, second = (ctypes.c_uint32.from_address(place + at) for at in (0, 4))
    if first.value >> 26 not in VOP3 or second.value >> source & 0x1FF != ZERO:
        return False
    second.value ^= ZERO << source
    return True


def answer(read: Read, address: int, data: bytes, lengths: bytes) -> bytes:
    """Disassemble one piece."""
    held = ctypes.create_string_buffer(data, len(data))
    base, total, at = ctypes.addressof(held), len(data), 0
    sizes, texts = bytearray(), []
    while at < total:
        size, text = read(base + at, total - at, address + at)
        for source in SOURCES:  # the last first: it is unused wherever the one before is
            if not size and without_unused_source(base + at, total - at, source):
                size, text = read(base + at, total - at, address + at)
        if not 0 < size <= min(total - at, UNKNOWN - 1) or size % 4:
            size, text = min(lengths[at // 4], total - at), ""
        sizes.append(size if text else size | UNKNOWN)
        texts.append(" ".join(text.partition(";")[0].split()))  # without remarks
        at += size
    body = "\n".join(texts).encode()
    return struct.pack("<I", len(sizes)) + sizes + struct.pack("<I", len(body)) + body


def main(given: BinaryIO, out: BinaryIO, engine: str, *words: str) -> None:
    """Disassemble all pieces."""
    name, read = ENGINES[engine](*words)
    out.write(READY + name.encode() + b"\n")
    out.flush()
    while head := given.read(12):
        address, count = struct.unpack("<QI", head)
        data = given.read(count)
        out.write(answer(read, address, data, given.read(count // 4)))
    out.flush()


if __name__ == "__main__":
    # Output of a library must not get into the replies.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        main(sys.stdin.buffer, answers, *sys.argv[1:5])
    except (AttributeError, ImportError, LookupError, OSError, ValueError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
