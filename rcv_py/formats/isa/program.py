"""The instructions of a kernel, as needed to match a trace: their texts, and the tokens that they leave."""

import re
from collections.abc import Sequence, Set
from enum import IntEnum
from functools import cache, lru_cache, partial

import numpy as np

from rcv_py.base.record import Record
from rcv_py.base.tables import table
from rcv_py.model.architecture import Architecture
from rcv_py.model.kinds import MATRIX_PREFIXES, TokenKind
from rcv_py.model.operands import written_operands


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


class Program(Record):
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


# Kinds that decoders tell apart within a category.
MESSAGES = ("s_sendmsg", "s_ttrace", "s_endpgm")
SEGMENTS = ("global_", "scratch_")  # FLAT for gfx9


def mnemonic(text: str) -> str:
    """The first word of an instruction's text."""
    return text.split(maxsplit=1)[0] if text else ""


@lru_cache(maxsize=1 << 13)
def category_of(word: str) -> Category:
    """Return the category of instructions with this mnemonic."""
    if "branch" in word and word.startswith("s_"):
        return Category.BRANCH
    return next((category for prefix, category in prefixes() if word.startswith(prefix)), Category.UNKNOWN)


@cache
def prefixes() -> tuple[tuple[str, Category], ...]:
    """Return prefixes of mnemonics and their categories; the first that fits counts."""
    known = table("mnemonics")["categories"].items()
    rows = [(prefix, Category[name]) for name, listed in known for prefix in listed]
    return tuple(sorted(rows, key=lambda row: -len(row[0])))


def kind_of(word: str, architecture: Architecture) -> TokenKind:
    """Return the token kind of instructions with this mnemonic: NONE if unknown, JUMP for any branch."""
    is_later = architecture.layout == "navi"
    if word.startswith(MATRIX_PREFIXES):
        return TokenKind.MATRIX
    if word.startswith(MESSAGES) or (is_later and word.startswith("s_barrier") and "_wait" not in word):
        return TokenKind.MSG
    if word.startswith("s_trap"):
        return TokenKind.TRAP
    if not is_later and word.startswith(SEGMENTS):
        return TokenKind.FLAT
    category = category_of(word)
    return TokenKind.IMMED if category is Category.SKIP else TokenKind(category)


def categories(texts: tuple[str, ...]) -> np.ndarray:
    """Return the Category of each text as uint8 [n]."""
    return np.array([category_of(mnemonic(text)[:64]) for text in texts], dtype=np.uint8)


def written_targets(address: np.ndarray, texts: tuple[str, ...]) -> np.ndarray:
    """Return branch targets from texts alone, int64 [n], -1 for rows without a branch.

    AMD's assemblers write the distance in words of 4 bytes from the next one, as an unsigned 16-bit number.
    """
    target = np.full(len(texts), -1, dtype=np.int64)
    for row, text in enumerate(texts):
        if "branch" not in text:
            continue
        words = text.split()
        distance = words[-1] if len(words) > 1 else ""
        if "branch" in words[0] and distance.lstrip("-").isascii() and distance.lstrip("-").isdigit():
            places = int(distance[-6:]) if len(distance) <= 6 else 0
            target[row] = int(address[row]) + 4 + 4 * ((places + 0x8000) % 0x10000 - 0x8000)
    return np.maximum(target, -1)


def guessed_target(mnemonics: Set[str], gfxip: int) -> str:
    """The target of these instructions, `gfx950`, `gfx942` or `gfx1250`; "" if they do not determine it.

    gfx942 is inferred: gfx950 has all of its matrix instructions except type xf32, and compilers for gfx950
    prefer its new forms.  gfx940 and gfx941 are not distinguished from gfx942.
    """
    for target in table("mnemonics")["target"]:
        pattern = re.compile("|".join(target["patterns"]))
        if target["generation"] == gfxip and any(map(pattern.fullmatch, mnemonics)):
            return str(target["name"])
    return ""


def guessed_generation(mnemonics: Set[str]) -> int:
    """The major version of the graphics IP with these instructions; 9 if undetermined."""
    for gfxip, listed in table("mnemonics")["generations"].items():
        if any(name.startswith(tuple(listed)) for name in mnemonics):
            return int(gfxip)
    return 9


_SWITCH = re.compile(r"s_set_vgpr_msb\s(0x[0-9a-f]{1,4}|\d{1,5})\b")
_BLOCK_END = re.compile(r"s_(c?branch|endpgm|setpc|set_pc|add_pc|rfe)|;|$")
_REGISTER = re.compile(r"\bv(\[)?(\d{1,3})(?(1):(\d{1,4})\])(?!\d)")
_NAMED = re.compile(r"v[\d\[:\].lh]+ ?/\*(v[^*]*)\*/")  # by LLVM, as in v1 /*v257*/
_DATA_FIRST = re.compile(r"t?buffer_|\w+_load_async_to_lds")  # whose data has the bits of what is written
_LOW = 256  # registers that an operand can name
_WRITTEN = 3  # the place of these bits


def with_high_registers(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the texts of consecutive instructions with the vector registers above 255 that they use.

    An operand of gfx1250 has 8 bits for a register; `s_set_vgpr_msb` gives the upper bits of the operands
    after it: bits 1:0 of the first source or the address, 3:2 and 5:4 of the next sources, 7:6 of what is
    written.  They hold up to the next switch or the end of the block; its high byte is a note of compilers.
    Source: AMDGPU backend of LLVM, `getVGPRLoweringOperandTables` and `AMDGPUMCInstrAnalysis`.
    """
    if not any("s_set_vgpr_msb" in text or "/*v" in text for text in texts):
        return tuple(texts)
    upper, found = 0, []
    for given in texts:
        text = _NAMED.sub(r"\1", given)
        if switch := _SWITCH.match(text):
            upper = int(switch[1], 0) & 0xFF
        elif _BLOCK_END.match(text):
            upper = 0
        elif upper:
            text = " :: ".join(_shifted(half, upper) for half in text.split(" :: "))
        found.append(text)
    return tuple(found)


def _shifted(instruction: str, upper: int) -> str:
    written = 1 if _DATA_FIRST.match(instruction) else written_operands(instruction)
    mnemonic, _, rest = instruction.partition(" ")
    operands = rest.split(",")
    for place in range(min(written + _WRITTEN, len(operands))):
        bits = upper >> 2 * (_WRITTEN if place < written else place - written) & 3
        operands[place] = _REGISTER.sub(partial(_above, bits * _LOW), operands[place])
    return f"{mnemonic} {','.join(operands)}"


def _above(above: int, found: re.Match[str]) -> str:
    """The register with the upper bits, if it does not have them already."""
    first = int(found[2])
    if first >= _LOW:
        return found[0]
    return f"v[{first + above}:{int(found[3]) + above}]" if found[1] else f"v{first + above}"
