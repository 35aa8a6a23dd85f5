"""Decode lengths and categories of instructions from their words alone, where no disassembler works.

`resources/tables/encodings.toml` holds the encodings, and says what its columns mean.  Texts
are a name that begins like names of that category, followed by the raw words; instructions of the sequencer,
which waits and loops depend on, have their real names.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from rcv_py.base.tables import table

WORD = 4  # bytes
LITERAL = 255  # a source: the next word is the value
LITERAL_64 = 254


@dataclass(frozen=True, slots=True)
class InstructionEncoding:
    """Instructions whose first word begins with the same bits, as a row of the table has them."""

    top: str
    name: str
    words: int = 1
    scalar: int = 0
    vector: bool = False
    late: bool = False
    count: tuple[int, int] = (0, 0)
    pair: bool = False
    operand: str = ""


class Wait(NamedTuple):
    """Position of a counter in the constant of s_waitcnt: its low bits, and its high bits."""

    name: str
    low: int
    bits: int
    high: int = 0
    high_bits: int = 0

    def read(self, constant: int) -> str:
        """The assembler syntax; empty if the wait does not involve this counter."""
        value = constant >> self.low & (1 << self.bits) - 1
        value |= (constant >> self.high & (1 << self.high_bits) - 1) << self.bits
        return "" if value == (1 << self.bits + self.high_bits) - 1 else f" {self.name}({value})"


class IsaFamily(NamedTuple):
    """The instruction set of some GPUs."""

    encodings: tuple[InstructionEncoding, ...]  # the first match counts
    lanes: tuple[int, ...]  # sources that announce a word about lanes
    waits: tuple[Wait, ...] = ()  # counters in the constant of s_waitcnt
    has_late_lanes: bool = False  # sources about lanes also in three-source instructions
    has_wide_literals: bool = False


FAMILIES = {  # generations of `encodings.toml` by prefixes of target names; the first match counts
    **dict.fromkeys(("gfx1250", "gfx1251", "gfx12-5"), "1250"),
    **{f"gfx{generation}": generation for generation in ("12", "11", "10", "9")},
}


def family_of(target: str) -> IsaFamily | None:
    """The instruction set of a GPU, None if it has no table."""
    generation = next((one for start, one in FAMILIES.items() if target.startswith(start)), None)
    return None if generation is None else _family(generation)


@cache
def _family(generation: str) -> IsaFamily:
    known = table("encodings")
    facts = known["generations"][generation]
    rows = [dict(row) for row in known["encodings"] if generation in row["of"].split()]
    for row in rows:
        del row["of"]
    encodings = tuple(InstructionEncoding(**row) for row in rows)
    return IsaFamily(encodings, **facts | {"waits": tuple(Wait(*one) for one in facts.get("waits", ()))})


class DecodedRun(NamedTuple):
    """Consecutive instructions as decoded."""

    size: np.ndarray  # uint8 [n], bytes
    text: list[str]  # "" where only the length is known


def encodings(words: np.ndarray, family: IsaFamily) -> np.ndarray:
    """Return the encoding of an instruction that begins at each word: its row, -1 none, int16."""
    found = np.full(len(words), -1, dtype=np.int16)
    for row in reversed(range(len(family.encodings))):
        top = family.encodings[row].top.ljust(32, ".")
        mask = int(top.replace("0", "1").replace(".", "0"), 2)
        value = int(top.replace(".", "0"), 2)
        found[words & np.uint32(mask) == value] = row
    return found


def word_lengths(data: bytes | memoryview, family: IsaFamily | None) -> np.ndarray:
    """Return the bytes of an instruction that begins at each word of 4 bytes, uint8 [words]."""
    words = np.frombuffer(data, "<u4", len(data) // WORD)
    if family is None or not len(words):
        return np.full(len(words), WORD, dtype=np.uint8)
    after = np.append(words[1:], np.uint32(0))
    rows = encodings(words, family)
    length = np.ones(len(words), dtype=np.uint8)
    for row in np.unique(rows[rows >= 0]).tolist():
        here = np.flatnonzero(rows == row)
        length[here] = _counted(family.encodings[row], family, words[here], after[here])
    return length * np.uint8(WORD)


def _counted(one: InstructionEncoding, family: IsaFamily, word: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Words of instructions of one encoding, by their first two words."""
    extra = np.zeros(len(word), dtype=np.uint8)
    if one.scalar:
        for source in (word & 255, word >> 8 & 255)[: one.scalar]:
            np.maximum(extra, _literal(source, family), out=extra)
    if one.vector:
        np.maximum(extra, _literal(word & 511, family), out=extra)
        extra[np.isin(word & 511, family.lanes)] = 1
    if one.late:
        for source in (after & 511, after >> 9 & 511, after >> 18 & 511):
            np.maximum(extra, _literal(source, family), out=extra)
        if family.has_late_lanes:
            extra[np.isin(after & 511, family.lanes)] = 1
    if one.pair:
        has = np.isin(word >> 22 & 15, (1, 2)) | np.isin(word >> 17 & 31, (1, 2))
        extra[has | (word & 511 == LITERAL) | (after & 511 == LITERAL)] = 1
    low, mask = one.count
    return one.words + extra + (word >> low & mask).astype(np.uint8)


def _literal(source: np.ndarray, family: IsaFamily) -> np.ndarray:
    wide = 2 * (source == LITERAL_64) if family.has_wide_literals else 0
    return ((source == LITERAL) + wide).astype(np.uint8)


def starts(lengths: np.ndarray) -> list[int]:
    """Return the words at which instructions begin, the first at 0."""
    each = (lengths // WORD).tolist()
    found, at, stop = [], 0, len(each)
    while at < stop:
        found.append(at)
        at += each[at]
    return found


def read(data: bytes | memoryview, target: str) -> DecodedRun:
    """Return the instructions of a function's bytes, whose texts begin with a name of their category."""
    family = family_of(target)
    words = np.frombuffer(data, "<u4", len(data) // WORD)
    begin = np.array(starts(word_lengths(data, family)), dtype=np.int64)
    size = np.diff(begin, append=len(words)) * WORD
    rows = np.full(len(begin), -1) if family is None else encodings(words[begin], family)
    text = []
    for at, count, row in zip(begin.tolist(), (size // WORD).tolist(), rows.tolist(), strict=True):
        one = family.encodings[row] if family is not None and row >= 0 else None
        text.append(_text(one, words[at : at + count].tolist(), family.waits if family is not None else ()))
    return DecodedRun(size.astype(np.uint8), text)


def _text(one: InstructionEncoding | None, words: list[int], waits: tuple[Wait, ...]) -> str:
    if one is not None and one.operand:
        low = words[0] & 0xFFFF
        if one.name == "s_waitcnt":
            return one.name + "".join(wait.read(low) for wait in waits)
        shown = {"none": "", "number": f" {low}", "hexadecimal": f" {low:#x}"}
        return one.name + shown[one.operand]
    return " ".join([one.name if one else ".long", *(f"{word:#010x}" for word in words)])
