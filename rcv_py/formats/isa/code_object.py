"""One object file with code for a GPU: its kernels, their instructions and source lines."""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import elftools
import numpy as np
import orjson
from msgspec.structs import replace

from rcv_py.base.errors import BrokenFile
from rcv_py.base.problems import Affects, Problems
from rcv_py.base.record import Value
from rcv_py.base.text import Message, byte_size, demangled
from rcv_py.formats.input.files import system_errors
from rcv_py.formats.input.limits import NAME_LETTERS
from rcv_py.formats.input.run_places import shown_name, split_files
from rcv_py.formats.isa.disassembly import WORD, CodeBytes, disassemble, family_of, starts, word_lengths
from rcv_py.formats.isa.elf import Image, Symbol, lanes_of, read_image, region_at, target_of_name
from rcv_py.formats.isa.processes import Candidate, answer_of
from rcv_py.formats.isa.program import Program, categories, written_targets

Place = tuple[str, int]  # file, line; 0: unknown line
Chain = tuple[Place, ...]  # innermost first
PACKAGES = str(Path(elftools.__file__).parent.parent)
SECONDS = 60.0  # for the lines of a file
MAX_BYTES = 1 << 30  # of a file
MAX_CODE = 1 << 23  # bytes of a function; the largest kernels have a quarter of it
TOGETHER = 1 << 18  # bytes of code that are disassembled at once, because a process costs more
PADDING = (0, 0xBF800000, 0xBF9F0000)  # words that follow the code of a kernel whose size is not known
MIN_INSTRUCTION, MAX_INSTRUCTION = 4, 32  # bytes of an instruction
_LAST_NUMBER = re.compile(r"_(\d{1,18})$")


class KernelCode(Value):
    """A kernel that can be launched."""

    name: str  # its symbol, "" if it has none
    demangled: str  # for display
    address: int  # bytes, as all addresses here inside the code object
    size: int  # bytes


def id_of_name(name: str) -> int:
    """Return the number of a code object: the number after the last `_` of its file's name, else 0."""
    found = _LAST_NUMBER.search(Path(name).stem)
    return int(found.group(1)) if found else 0


class CodeObject:
    """The code of one file, disassembled on request.

    `texts` are instructions that another tool disassembled, by address; they take precedence, and replace a
    file that cannot be read.  `known` are the disassemblers to try instead of those of this machine.
    """

    def __init__(
        self,
        number: int,
        name: str,
        image: Image | None,
        texts: Mapping[int, str] | None = None,
        path: Path | None = None,
        *,
        known: Sequence[Candidate] | None = None,
    ) -> None:
        self.id = number
        self.name = name  # of the file
        self.path = path
        self.image = image
        self.disassembler = ""  # name of the disassembler's library, "" if none was used
        self._known = known
        self._texts = texts or {}
        self._given = program_of_texts(name, self._texts) if image is None else None
        self.functions = _functions(image)  # all, ascending by address; bytes between symbols have no name
        self._starts = [one.address for one in self.functions]
        self._programs: dict[int, Program] = {}
        self._is_too_much = False  # kept to read its source lines later
        self.problems = Problems()  # found on request

    @classmethod
    def open(
        cls, path: Path, number: int | None = None, target: str = "", texts: Mapping[int, str] | None = None
    ) -> CodeObject:
        """Read a code object; its number, and its target if the file lacks it, follow from its name.

        Raises BrokenFile if it is not code object, MissingFile if it does not exist.
        """
        with system_errors(path.name):
            size = path.stat().st_size
            if size > MAX_BYTES:
                raise BrokenFile(path.name, Message("no code object has {0}", byte_size(size)))
            data = path.read_bytes()
        image = read_image(data, path.name, target or target_of_name(path.stem))
        return cls(id_of_name(path.name) if number is None else number, path.name, image, texts, path)

    @property
    def target(self) -> str:
        """The GPU that it is for, such as `gfx950`; "" if unknown."""
        return "" if self.image is None else self.image.target

    @property
    def size(self) -> int:
        """Bytes of memory that it takes when loaded, 0 if there is no file."""
        return 0 if self.image is None else self.image.size

    @property
    def kernels(self) -> tuple[KernelCode, ...]:
        """The kernels, ascending by address."""
        return tuple(
            KernelCode(one.name, demangled(one.name[:NAME_LETTERS]), one.address, one.size)
            for one in self.functions
            if one.is_kernel
        )

    def program(self, address: int) -> Program | None:
        """Return the instructions of the function that holds the address; None if there is no code."""
        if self._given is not None:
            return self._given if self._given.row(address) >= 0 else None
        at = bisect_right(self._starts, address) - 1
        if at < 0 or address >= self.functions[at].address + self.functions[at].size:
            return None
        if at not in self._programs:
            is_small = sum(one.size for one in self.functions) <= TOGETHER
            lanes, wanted = self._lanes(self.functions[at]), [at]
            if is_small and not self._texts:
                wanted = [row for row, one in enumerate(self.functions) if self._lanes(one) == lanes]
            pieces = [self._piece(self.functions[number]) for number in wanted]
            known = () if self._texts and all(map(self._has_texts, pieces)) else self._known
            programs, name = disassemble(pieces, self.target, known, lanes=lanes)
            self.disassembler = name or self.disassembler
            for number, program in zip(wanted, programs, strict=True):
                self._programs[number] = overlaid(program, self._texts)
        return self._programs[at]

    def lanes(self, address: int) -> int:
        """Lanes of a wave of the kernel at an address; 0: unknown."""
        at = bisect_right(self._starts, address) - 1
        return self._lanes(self.functions[at]) if at >= 0 else 0

    def _lanes(self, function: Symbol) -> int:
        """Lanes of a wave by the descriptor of the function, else of the first kernel; 0: unknown."""
        found = self.image.descriptors if self.image is not None else {}
        raw = found.get(function.name) or next(iter(found.values()), b"")
        return lanes_of(raw) if raw else 0

    def _has_texts(self, piece: CodeBytes) -> bool:
        lengths = word_lengths(piece.data, family_of(self.target))
        return all(piece.address + WORD * at in self._texts for at in starts(lengths))

    def _piece(self, function: Symbol) -> CodeBytes:
        assert self.image is not None
        region = region_at(function.address, self.image.regions)
        assert region is not None
        begin = function.address - region.address
        return CodeBytes(function.name, function.address, region.data[begin : begin + function.size])

    def places(self, addresses: np.ndarray) -> list[Chain]:
        """Return for each address (uint64 [n]) the source lines it comes from, innermost first.

        A place is (file, line), 0 for an unknown line; after it come the calls inlined into each other.
        Empty if the file lacks it.
        """
        if self.image is None or b".debug_line" not in self.image.data or self._is_too_much:
            return [() for _ in addresses]
        asked = addresses.astype("<u8").tobytes()
        document = self._asked(asked, self.image.data)
        if document is not None and document["missing"] and self.path is not None:
            split = split_files(self.path, document["missing"])
            document = self._asked(asked, self.image.data, *split) if split else document
        if document is None:
            self._is_too_much = True
            self._report("it asks for too much time or memory")
            return [() for _ in addresses]
        if document["problem"]:
            extent, error = document["problem"]
            part, whole = "a part of it makes no sense ({0})", "it makes no sense ({0})"
            self._report(Message(whole if extent == "whole" else part, error))
        for name, _ in document["missing"]:
            self._report(
                Message("inlined calls are in {0} of the same build, which is not there", shown_name(name)),
                Message("Put it beside {0}, or build the kernel again without -gsplit-dwarf.", self.name),
            )
        files = document["files"]
        chains: list[Chain] = [
            tuple((files[file], line) for file, line in zip(row[::2], row[1::2], strict=True))
            for row in document["chains"]
        ]
        return [chains[row] if row >= 0 else () for row in document["chain"]]

    def _asked(self, *parts: bytes) -> dict[str, Any] | None:
        """The reply about addresses, the code object and split files; None if it takes too long."""
        question = (piece for part in parts for piece in (struct.pack("<Q", len(part)), part))
        said = answer_of("dwarf", (PACKAGES,), question, SECONDS)
        return orjson.loads(said[0]) if said is not None and said[1] else None

    def _report(self, problem: str, advice: str = "") -> None:
        if self.problems:  # once is enough
            return
        self.problems.warn(
            self.name,
            Message("The source lines of {0} cannot all be read: {1}.", self.name, problem),
            advice or "Build the kernel again with -g, or look at instructions without source lines.",
            Affects.SOURCE_LINES,
        )


def _functions(image: Image | None) -> tuple[Symbol, ...]:
    """All executable bytes as disjoint functions; those between symbols have no name."""
    found: list[Symbol] = []
    symbols = () if image is None else image.functions
    starts = [one.address for one in symbols]
    for region in () if image is None else image.regions:
        low, high = bisect_right(starts, region.address - 1), bisect_right(starts, region.stop - 1)
        inside = symbols[low:high]
        stops = [one.address for one in inside[1:]] + [region.stop] * bool(inside)
        if not inside or inside[0].address > region.address:
            stop = inside[0].address if inside else region.stop
            found.append(Symbol("", region.address, stop - region.address, False))
        for one, stop in zip(inside, stops, strict=True):
            room = stop - one.address
            begin = one.address - region.address
            size = min(one.size + -one.size % 4, room) or _unpadded(region.data[begin : begin + room])
            found.append(Symbol(one.name, one.address, size, one.is_kernel))
            if size < room:
                found.append(Symbol("", one.address + size, room - size, False))
    # A function that is longer than real ones is split: few parts of it are needed.
    return tuple(
        Symbol("" if at else name, address + at, min(size - at, MAX_CODE), is_kernel and not at)
        for name, address, size, is_kernel in found
        for at in range(0, size, MAX_CODE)
    )


def _unpadded(data: memoryview) -> int:
    """Bytes of a function of unknown size: up to the padding."""
    words = np.frombuffer(data, "<u4", len(data) // 4)
    used = np.flatnonzero(~np.isin(words, PADDING))
    return 4 * (int(used[-1]) + 1) if len(used) else len(data)


def source_texts(chains: Sequence[Chain]) -> list[str]:
    """Return each chain of places as one text, innermost first."""
    return [" -> ".join(f"{file}:{line or '?'}" for file, line in chain) for chain in chains]


def program_of_texts(name: str, texts: Mapping[int, str]) -> Program:
    """Return the instructions at the addresses; each ends at the next, the last has 4 bytes."""
    address = np.array(sorted(texts), dtype=np.uint64)
    shown = tuple(texts[one] for one in address.tolist())
    size = np.diff(address, append=address[-1:] + np.uint64(MIN_INSTRUCTION))
    size = size.clip(MIN_INSTRUCTION, MAX_INSTRUCTION).astype(np.uint8)
    return Program(name, address, size, shown, categories(shown), written_targets(address, shown))


def overlaid(program: Program, texts: Mapping[int, str]) -> Program:
    """Return the program with the texts that are given for its addresses."""
    if not texts:
        return program
    own = zip(program.address.tolist(), program.text, strict=True)
    shown = tuple(texts.get(address, text) for address, text in own)
    return replace(program, text=shown, category=categories(shown))
