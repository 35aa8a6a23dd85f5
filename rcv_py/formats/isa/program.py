"""The instructions of a kernel, as needed to match a trace."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np


class Category(IntEnum):
    """Kind of token that an instruction leaves, by mnemonic; below SKIP the values of TokenKind."""

    UNKNOWN = 0
    SMEM = 1
    SALU = 2
    VMEM = 3
    FLAT = 4
    LDS = 5
    VALU = 6
    BRANCH = 7  # its token states whether it was taken
    IMMED = 9
    BVH = 12
    SKIP = 20  # no token


@dataclass(frozen=True, eq=False)
class Program:
    """Consecutive instructions, usually of one kernel."""

    name: str  # symbol of the kernel, "" if unknown
    address: np.ndarray  # uint64 [n], bytes inside the code object, ascending
    size: np.ndarray  # uint8 [n], bytes
    text: tuple[str, ...]  # assembly; raw words where there was no disassembler
    category: np.ndarray  # uint8 [n], Category
    target: np.ndarray  # int64 [n], target address of a branch, -1 if it is none

    def __len__(self) -> int:
        return len(self.text)

    def row(self, address: int) -> int:
        """The row of the instruction that begins at the address, -1 if none does."""
        row = int(np.searchsorted(self.address, np.uint64(address)))
        return row if row < len(self) and int(self.address[row]) == address else -1
