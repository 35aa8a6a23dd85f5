"""Decode the bytes of one `.att` file to records: detect the format and call its decoder."""

import numpy as np
from msgspec.structs import replace

from rcv_py.base.errors import BrokenFile
from rcv_py.formats.sqtt.records import DecodedStream, Give, WaveRecords, joined

GFX9_LEGACY = (0, 0x11)  # value of the low 13 bits of a gfx9 header
GFX9_KINDS = (4, 5, 6)  # MI200 and older, MI300, MI350
RDNA_HEADER = 0x11  # low seven bits of the token that a stream of RDNA begins with
RDNA_VERSIONS = (1, 2, 3, 4, 5)  # gfx10 (1, 2), gfx11, gfx12, gfx1250


def decode(data: bytes | memoryview, name: str = "The file") -> DecodedStream:
    """Decode the bytes of one `.att` file, damaged or not.

    Raises:
        BrokenFile: the file does not begin like a thread trace; the message names `name`.
    """
    parts: list[WaveRecords] = []
    ranks = [np.zeros(0, dtype=np.int64)]

    def keep(waves: WaveRecords, rank: np.ndarray) -> None:
        parts.append(waves)
        ranks.append(rank)

    stream = decode_streamed(data, keep, name)
    return replace(stream, waves=joined(parts).at(np.argsort(np.concatenate(ranks))))


def decode_streamed(data: bytes | memoryview, give: Give, name: str = "The file") -> DecodedStream:
    """Decode the bytes of one `.att` file, and give its waves away as they end: the result holds none.

    Memory depends on the waves that run at once.  Raises what `decode` raises.
    """
    raw = np.frombuffer(data, dtype=np.uint8)
    family, version = format_of(raw)
    if family == 9:
        from rcv_py.formats.sqtt.gfx9 import decode_gfx9  # noqa: PLC0415 - kernels that are not needed else

        return decode_gfx9(raw, give)
    if family:
        from rcv_py.formats.sqtt.rdna import decode_rdna  # noqa: PLC0415 - kernels that are not needed else

        return decode_rdna(raw, version, give)
    why = "it does not begin as a thread trace of a known GPU does" if len(raw) else "it is empty"
    raise BrokenFile(name, why, bytes(raw[:16]).hex(" "))


def format_of(raw: np.ndarray) -> tuple[int, int]:
    """Return family (9, or 10 for all of RDNA; 0 if it is not a thread trace) and version of the layout."""
    if len(raw) < 8:
        return 0, 0
    head = int(raw[0]) | int(raw[1]) << 8
    if head & 0x1FFF in GFX9_LEGACY and head >> 13 in GFX9_KINDS:
        return 9, head >> 13
    version = head >> 7 & 0x3F
    if head & 0x7F == RDNA_HEADER and version in RDNA_VERSIONS:
        return 10, version
    return 0, 0
