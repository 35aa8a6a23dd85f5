"""Disassemble code with the first disassembler of this machine that knows the GPU."""

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rcv_py.formats.isa.engines import READY, UNKNOWN
from rcv_py.formats.isa.lengths import DecodedRun, family_of, read, word_lengths
from rcv_py.formats.isa.processes import SECONDS, Candidate, answer_of, candidates, named
from rcv_py.formats.isa.program import Category, Program, categories, with_high_registers

SLOWEST = 50_000  # bytes a second; libLLVM reads a million
MAX_CRASHES = 3  # failures of a disassembler until it is no longer used


class CodeBytes(NamedTuple):
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
