"""Disassemble code with the first disassembler of this machine that knows the GPU.

Where none works, lengths and categories of instructions are decoded from their words alone:
`resources/tables/encodings.toml` holds the encodings, and says what its columns mean.  Texts are a name that
begins like names of that category, followed by the raw words; instructions of the sequencer, which waits and
loops depend on, have their real names.
"""

import struct
from collections.abc import Sequence
from functools import cache

import numpy as np

from rcv_py.base.record import Value
from rcv_py.base.tables import table
from rcv_py.formats.isa.engines import READY, UNKNOWN
from rcv_py.formats.isa.processes import SECONDS, Candidate, answer_of, candidates, named
from rcv_py.formats.isa.program import Category, Program, categories, with_high_registers

WORD = 4  # bytes
LITERAL = 255  # a source: the next word is the value
LITERAL_64 = 254


class InstructionEncoding(Value):
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


class Wait(Value):
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


class IsaFamily(Value):
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


class DecodedRun(Value):
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


SLOWEST = 50_000  # bytes a second; libLLVM reads a million
MAX_CRASHES = 3  # failures of a disassembler until it is no longer used


class CodeBytes(Value):
    """Bytes to be disassembled."""

    name: str  # of the function
    address: int
    data: memoryview


class DisassemblerChoice:
    """The disassemblers that worked so far, for each GPU."""

    def __init__(self) -> None:
        self.good: dict[str, Candidate] = {}  # target → candidate that knew all of its instructions
        self.unfit: set[tuple[Candidate, str]] = set()  # with the targets that they do not know
        self.deaths: dict[Candidate, int] = {}

    def order(self, target: str, known: Sequence[Candidate]) -> list[Candidate]:
        """Candidates worth a try, the best first."""
        alive = (one for one in known if self.deaths.get(one, 0) < MAX_CRASHES)
        fit = [one for one in alive if (one, target) not in self.unfit]
        return sorted(fit, key=lambda one: one != self.good.get(target))


_choice = DisassemblerChoice()


def disassemble(
    pieces: Sequence[CodeBytes], target: str, known: Sequence[Candidate] | None = None, *, lanes: int = 0
) -> tuple[list[Program], str]:
    """Return the program of each piece, and the disassembler with its version, "" if there was none.

    `lanes` is the number of lanes of a wave, for targets that allow two numbers; 0: the usual number.
    Instructions that the best of them does not know have their raw words as text.  An unknown instruction
    means that it may be too old, so the next candidate is tried.
    """
    best: list[DecodedRun] = []
    chosen, least = "", 0
    for candidate in _choice.order(target, candidates() if known is None else known) if target else ():
        said = _asked(candidate, pieces, target, lanes)
        if said is None:
            continue
        name, found = said
        missing = sum(one.text.count("") for one in found)
        if not chosen or missing < least:
            best, chosen, least = found, name, missing
        if not missing:
            _choice.good[target] = candidate
            break
    best = best or [read(piece.data, target) for piece in pieces]
    return [_program(piece, one, target) for piece, one in zip(pieces, best, strict=True)], chosen


def _asked(
    candidate: Candidate, pieces: Sequence[CodeBytes], target: str, lanes: int
) -> tuple[str, list[DecodedRun]] | None:
    """A disassembler with its version, and its output, None if it does not know the GPU or failed."""
    words = (candidate.engine, candidate.library, target, str(lanes))
    seconds = SECONDS + sum(len(piece.data) for piece in pieces) / SLOWEST
    family = family_of(target)
    question = (
        struct.pack("<QI", piece.address, len(piece.data))
        + bytes(piece.data)
        + word_lengths(piece.data, family).tobytes()
        for piece in pieces
    )
    said = answer_of("engines", words, question, seconds)
    output, is_well = said or (b"", False)
    if said is not None and not output.startswith(READY):
        _choice.unfit.add((candidate, target))
        return None
    try:
        if is_well:
            replies = memoryview(output)[output.index(b"\n") + 1 :]
            return named(candidate, output), _readings(replies, [len(piece.data) for piece in pieces])
    except (ValueError, struct.error):  # a reply that does not match the request
        pass
    _choice.deaths[candidate] = _choice.deaths.get(candidate, 0) + 1
    return None


def _readings(output: memoryview, counts: Sequence[int]) -> list[DecodedRun]:
    found = []
    for count in counts:
        (rows,) = struct.unpack_from("<I", output)
        sizes = np.frombuffer(output, np.uint8, rows, 4)
        (letters,) = struct.unpack_from("<I", output, 4 + rows)
        body = bytes(output[8 + rows : 8 + rows + letters])
        text = body.decode("utf-8", "replace").split("\n") if rows else []
        size = sizes & ~np.uint8(UNKNOWN)
        if len(body) != letters or len(text) != rows or int(size.sum(dtype=np.int64)) != count:
            raise ValueError("an answer that does not fit the question")
        found.append(DecodedRun(size, text))
        output = output[8 + rows + letters :]
    return found


def _program(piece: CodeBytes, found: DecodedRun, target: str) -> Program:
    """Build a program; raw words replace missing texts."""
    text = found.text
    if "" in text:
        own = read(piece.data, target)
        mine = dict(zip(_starts(own.size), own.text, strict=True))
        text = [one or mine.get(at, one) for at, one in zip(_starts(found.size), text, strict=True)]
    texts = with_high_registers(text)
    kinds = categories(texts)
    address = np.uint64(piece.address) + (found.size.cumsum(dtype=np.uint64) - found.size)
    return Program(piece.name, address, found.size, texts, kinds, branch_targets(address, kinds, piece))


def _starts(size: np.ndarray) -> list[int]:
    return (size.cumsum(dtype=np.int64) - size).tolist()


def branch_targets(address: np.ndarray, kinds: np.ndarray, piece: CodeBytes) -> np.ndarray:
    """Return branch targets, int64 [n], -1 elsewhere: from the low half of the branch's word, in words."""
    target = np.full(len(address), -1, dtype=np.int64)
    rows = np.flatnonzero(kinds == Category.BRANCH)
    starts = address[rows].astype(np.int64)
    words = np.frombuffer(piece.data, "<u4", len(piece.data) // 4)[(starts - piece.address) // 4]
    goes = words >> 23 == 0x17F  # others branch to an address in a register
    distance = words.astype(np.uint16).view(np.int16).astype(np.int64)
    target[rows[goes]] = (starts + 4 + 4 * distance)[goes]
    target[target < 0] = -1
    return target
