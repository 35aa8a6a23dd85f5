"""Read source lines of instructions from the debug information of a code object: a separate program.

    alone.py dwarf … FOLDER < request > reply

It imports nothing of rcv, and gets the FOLDER of pyelftools as an argument: that parser expects compiler
output, and a few hostile bytes can cost it unlimited time and memory.  The request has parts, each behind its
number of bytes (8 bytes): addresses (8 bytes each), the code object, and files that may hold what was split
off it.  The reply is a JSON document: `files` are paths, `chains` lists of [file, line, file, line, …],
innermost first, where a file is a row of `files`; `chain` is for each address the row of its chain, -1 if
unknown; `missing` lists name and folder of files with inlined calls that were not given; `problem` says what
makes no sense, `part` or `whole` of it, and the name of the error, or is empty.
"""

import json
import os
import struct
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from io import BytesIO
from posixpath import join, normpath
from typing import Any, BinaryIO

MAX_UNPACKED = 1 << 28  # bytes of compressed sections together
COMPRESSED, ZSTD = 0x800, 2  # flag of a section; type of its compression
MAX_CALLS = 64  # inlined into each other
MAX_PATH_LENGTH = 2048  # of a path
MAX_ADDRESS = 1 << 48  # no address of a GPU lies beyond
MAX_GROUPS = 10  # bytes of a number of variable length
EXTENDED, COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC, FIXED_ADVANCE_PC = 0, 1, 2, 3, 4, 8, 9
END_SEQUENCE, SET_ADDRESS = 1, 2  # extended opcodes of line tables
MAX_SPLIT = 256  # files that are asked for

INFO, ABBREVIATIONS, RANGES = 1, 3, 8  # sections of a package of split files
_BY_INDEX = "DW_FORM_GNU_addr_index"

Span = tuple[int, int]  # addresses: the first, and the end
Row = tuple[int, int, int]  # address, number of a file, line
SUBPROGRAM = "DW_TAG_subprogram"
_NO_ROW, _DROPPED = (-1, 0, 0), (-2, 0, 0)  # before the first row of a sequence, and in one at 0


class SplitFile:
    """A file `.dwo` with the entries of one unit, or a package `.dwp` of them (DWARF 5, 7.3)."""

    def __init__(self, data: bytes) -> None:
        elf = opened(data)
        index = elf.get_section_by_name(".debug_cu_index")
        self.places = {} if index is None else _places(index.data())  # by identity and section
        find = elf.get_section_by_name
        elf.get_section_by_name = lambda name: find(f"{name}.dwo")
        self.info = dwarf_of(elf)
        self.units: dict[int, Any] = {}

    def unit(self, info: Any, skeleton: Any) -> Any:
        """The unit that a unit of a code object stands for; None if it is not there."""
        identity = _identity(skeleton, skeleton.get_top_DIE())
        if identity not in self.units:
            self.units[identity] = self._found(identity, info, skeleton)
        return self.units[identity]

    def _found(self, identity: int, info: Any, skeleton: Any) -> Any:
        self.info.debug_addr_sec, self.info.debug_ranges_sec = info.debug_addr_sec, info.debug_ranges_sec
        if identity in self.places:
            places = self.places[identity]
            unit = self.info.get_CU_at(places.get(INFO, 0))
            unit.header["debug_abbrev_offset"] += places.get(ABBREVIATIONS, 0)
            return _adopted(skeleton, unit, places)
        units = () if self.places else self.info.iter_CUs()
        adopted = (_adopted(skeleton, unit, {}) for unit in units)
        return next((unit for unit in adopted if _identity(unit, unit.get_top_DIE()) == identity), None)


class DwarfLines:
    """The data of a file's units for some addresses."""

    def __init__(self, addresses: list[int]) -> None:
        self.addresses = sorted(set(addresses))
        self.files: dict[str, int] = {}
        self.place: dict[int, tuple[int, int]] = {}  # address → row of `files`, line
        self.calls: dict[int, list[tuple[int, int, int]]] = {}  # address → depth, row of `files`, line
        self.missing: list[tuple[str, str]] = []  # names and folders of files that hold calls

    def within(self, low: int, high: int) -> list[int]:
        """Requested addresses in a span."""
        return self.addresses[bisect_right(self.addresses, low - 1) : bisect_right(self.addresses, high - 1)]

    def read(self, info: Any, unit: Any, split: Sequence[SplitFile] = ()) -> None:
        """Add the data of one unit, whose calls may be split off."""
        top = unit.get_top_DIE()
        spans = list(_spans(info, unit, top, _base(top)))
        if spans and not any(self.within(*span) for span in spans):
            return
        program = info.line_program_for_CU(unit)
        if program is None:
            return
        paths = _paths(program.header, _text(top, "DW_AT_comp_dir"))
        for low, high, row in _stretches(program, self.addresses[0], self.addresses[-1]):
            for address in self.within(low, high):
                self.place[address] = (self._file(paths, row[1]), max(row[2], 0))
            if len(self.place) == len(self.addresses):
                break
        name = _text(top, "DW_AT_dwo_name") or _text(top, "DW_AT_GNU_dwo_name")
        if not name or top.has_children:  # -fsplit-dwarf-inlining leaves calls where they are
            self._read_calls(info, unit, paths, _base(top))
        elif (rest := next(filter(None, (one.unit(info, unit) for one in split)), None)) is not None:
            ranges = _number(top, "DW_AT_GNU_ranges_base")
            self._read_calls(rest.dwarfinfo, rest, paths, _base(top), ranges)
        else:
            self.missing.append((name, _text(top, "DW_AT_comp_dir")))

    def _read_calls(self, info: Any, unit: Any, paths: dict[int, str], base: int, ranges: int = 0) -> None:
        left, last, outside = set(self.addresses), 0, sys.maxsize
        for depth, die in _calls(unit):
            spans = [] if depth > outside else list(_spans(info, unit, die, base, ranges))
            inside = [address for span in spans for address in self.within(*span)]
            if die.tag == SUBPROGRAM:
                if not left and depth <= last:
                    return  # what follows are functions without these addresses
                outside = depth if spans and not inside else sys.maxsize
                last = depth if left.intersection(inside) else last
                left.difference_update(inside)
            elif inside:
                place = (self._file(paths, _number(die, "DW_AT_call_file")), _number(die, "DW_AT_call_line"))
                for address in inside:
                    calls = self.calls.setdefault(address, [])
                    if len(calls) < MAX_CALLS:
                        calls.append((depth, *place))

    def _file(self, paths: dict[int, str], number: int) -> int:
        return self.files.setdefault(paths.get(number, ""), len(self.files))

    def chain(self, address: int) -> tuple[int, ...]:
        """Files and lines of an address, innermost first."""
        if address not in self.place:
            return ()
        found = list(self.place[address])
        for _, file, line in sorted(self.calls.get(address, ()), reverse=True):
            found += [file, line]
        return tuple(found)


def _text(die: Any, name: str) -> str:
    value = die.attributes[name].value if name in die.attributes else b""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _number(die: Any, name: str) -> int:
    value = die.attributes[name].value if name in die.attributes else 0
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else 0


def _base(top: Any) -> int:
    return _address(top, "DW_AT_low_pc") or 0


def _address(die: Any, name: str) -> int | None:
    value = die.attributes[name].value if name in die.attributes else None
    if name in die.attributes and die.attributes[name].form == _BY_INDEX:
        value = die.dwarfinfo.get_addr(die.cu, value)
    return value if isinstance(value, int) and 0 <= value < MAX_ADDRESS else None


def _spans(info: Any, unit: Any, die: Any, base: int, ranges: int = 0) -> Iterator[Span]:
    """Address ranges of an entry."""
    low, high = _address(die, "DW_AT_low_pc"), _address(die, "DW_AT_high_pc")
    if low is not None and high is not None:
        is_distance = not die.attributes["DW_AT_high_pc"].form.startswith("DW_FORM_addr")
        yield low, low + high if is_distance else high
        return
    lists, offset = info.range_lists(), _address(die, "DW_AT_ranges")
    if lists is None or offset is None:
        return
    for entry in lists.get_range_list_at_offset(ranges + offset, unit):
        if hasattr(entry, "base_address"):
            base = entry.base_address
        else:
            start = 0 if entry.is_absolute else base
            yield start + entry.begin_offset, start + entry.end_offset


def _paths(header: Any, folder: str) -> dict[int, str]:
    """Paths of the files of a line table by their numbers, which begin at 0 from DWARF 5 on."""
    is_five = header["version"] >= 5
    folders = [*([] if is_five else [folder]), *(_word(one) for one in header.include_directory)]
    found = {}
    for number, one in enumerate(header.file_entry, start=not is_five):
        name, at = _word(one.name), one.dir_index or 0
        inner = folders[at] if 0 <= at < len(folders) else ""
        path = join(folder, inner, name)
        found[number] = normpath(path)[:MAX_PATH_LENGTH] if name else ""
    return found


def _word(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _stretches(  # noqa: C901, PLR0912 - a case for each kind of opcode
    program: Any, low: int, high: int
) -> Iterator[tuple[int, int, Row]]:
    """Addresses with the same row of a line table, of those between two (DWARF 5, 6.2.5).

    Functions that the linker dropped are at 0.  The parser's own loop makes objects for every opcode, and
    takes five times as long.
    """
    head = program.header
    first, base, span = head["opcode_base"], head["line_base"], head["line_range"]
    unit = head["minimum_instruction_length"]
    program.stream.seek(program.program_start_offset)
    code = program.stream.read(program.program_end_offset - program.program_start_offset)
    special = (divmod(one, span) for one in range(256 - first))
    steps = [*((0, 0) for _ in range(first)), *((unit * moved, base + lines) for moved, lines in special)]
    at, address, file, line, row = 0, 0, 1, 1, _NO_ROW
    while at < len(code):
        opcode = code[at]
        at += 1
        if opcode >= first or opcode == COPY:
            moved, lines = steps[opcode]
            address, line = address + moved, line + lines
            if low < address and 0 <= row[0] <= high:
                yield row[0], address, row
            is_dropped = row is _DROPPED or (row is _NO_ROW and address == 0)
            row = _DROPPED if is_dropped else (address, file, line)
        elif opcode == EXTENDED:
            size, at = _leb(code, at)
            if code[at] == END_SEQUENCE:
                if low < address and 0 <= row[0] <= high:
                    yield row[0], address, row
                address, file, line, row = 0, 1, 1, _NO_ROW
            elif code[at] == SET_ADDRESS:
                address = int.from_bytes(code[at + 1 : at + size], "little")
            at += size
        elif opcode == ADVANCE_PC:
            moved, at = _leb(code, at)
            address += unit * moved
        elif opcode == ADVANCE_LINE:
            lines, at = _leb(code, at, is_signed=True)
            line += lines
        elif opcode == SET_FILE:
            file, at = _leb(code, at)
        elif opcode == CONST_ADD_PC:
            address += unit * ((255 - first) // span)
        elif opcode == FIXED_ADVANCE_PC:
            address += int.from_bytes(code[at : at + 2], "little")
            at += 2
        else:
            for _ in range(head["standard_opcode_lengths"][opcode - 1]):
                _, at = _leb(code, at)


def _leb(code: bytes, at: int, *, is_signed: bool = False) -> tuple[int, int]:
    """A number in groups of 7 bits, and the place after it; OverflowError if it does not end."""
    value = shift = 0
    for byte in code[at : at + MAX_GROUPS]:
        value |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
        if byte < 128:
            return (value - (1 << shift) if is_signed and byte & 64 else value), at
    raise OverflowError


def _calls(unit: Any) -> Iterator[tuple[int, Any]]:
    """Functions and inlined calls of a unit, and the depth of each.

    Entries are read in file order, without following their sibling references, which may point anywhere.
    """
    at, stop, depth = unit.cu_die_offset, unit.cu_offset + unit.size, 0
    while at < stop:
        die = _entry(unit, at)
        at += max(die.size, 1)
        if die.is_null():
            depth -= 1
            if depth <= 0:
                return
            continue
        if die.tag in (SUBPROGRAM, "DW_TAG_inlined_subroutine"):
            yield depth, die
        depth += bool(die.has_children)
        if depth == 0:
            return


def _entry(unit: Any, at: int) -> Any:
    return _reader()(cu=unit, stream=unit.dwarfinfo.debug_info_sec.stream, offset=at)


@cache
def _reader() -> Any:
    from elftools.dwarf.die import DIE  # noqa: PLC0415 - once its folder is known

    class Entry(DIE):  # type: ignore[misc, unused-ignore]
        """An entry whose names and places of variables are not looked up: it takes half of the time."""

        def _translate_attr_value(self, form: str, raw_value: Any) -> Any:
            is_used = form.startswith(("DW_FORM_addr", "DW_FORM_rnglistx"))
            return super()._translate_attr_value(form, raw_value) if is_used else raw_value

    return Entry


def _places(data: bytes) -> dict[int, dict[int, int]]:
    """Where the parts of each unit begin in the sections of a package, by its identity."""
    _, columns, _, slots = struct.unpack_from("<4I", data)
    identities = struct.unpack_from(f"<{slots}Q", data, 16)
    rows = struct.unpack_from(f"<{slots}I", data, 16 + 8 * slots)
    table, row_of = 16 + 12 * slots, struct.Struct(f"<{columns}I")
    kinds = row_of.unpack_from(data, table)
    return {
        identity: dict(zip(kinds, row_of.unpack_from(data, table + row_of.size * row), strict=True))
        for identity, row in zip(identities, rows, strict=True)
        if row
    }


def _identity(unit: Any, top: Any) -> int:
    if "dwo_id" in unit.header:
        return int(unit.header["dwo_id"])
    return int(top.attributes["DW_AT_GNU_dwo_id"].value) if "DW_AT_GNU_dwo_id" in top.attributes else -1


def _adopted(skeleton: Any, unit: Any, places: dict[int, int]) -> Any:
    """The unit of a split file with what it needs of the code object, whose sections have its addresses."""
    from elftools.dwarf.die import AttributeValue  # noqa: PLC0415 - once its folder is known

    forms = unit.structs.Dwarf_dw_form  # the parser knows these two of GNU's by name only
    forms[_BY_INDEX] = forms["DW_FORM_GNU_str_index"] = forms["DW_FORM_udata"]
    top, own = _entry(unit, unit.cu_die_offset), skeleton.get_top_DIE()
    bases = {
        "DW_AT_addr_base": _number(own, "DW_AT_addr_base") or _number(own, "DW_AT_GNU_addr_base"),
        "DW_AT_rnglists_base": places.get(RANGES, 0) + (20 if unit.structs.dwarf_format == 64 else 12),
    }
    for name, base in bases.items():
        top.attributes[name] = AttributeValue(name, "DW_FORM_sec_offset", base, base, 0, 0)
    unit.get_top_DIE = lambda: top
    return unit


def opened(data: bytes) -> Any:
    """Return the parser's view of an ELF file, with sections that zstd compressed unpacked at its end.

    The parser knows zlib only.  zstd is part of Python from 3.14 on.  Raises ValueError for too large ones.
    """
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 - once its folder is known

    elf, grown = ELFFile(BytesIO(data)), bytearray(data)
    if sum(one.data_size for one in elf.iter_sections() if one.compressed) > MAX_UNPACKED:
        raise ValueError("its compressed sections are larger than any compiler makes them")
    for number, one in enumerate(elf.iter_sections()):
        start, size = one["sh_offset"], one["sh_size"]
        if one.compressed and struct.unpack_from("<I", data, start) == (ZSTD,):
            packed = data[start + 24 : start + size]
            try:
                zstd = import_module("compression.zstd")
            except ImportError:
                zstd = import_module("backports.zstd")
            plain = zstd.ZstdDecompressor().decompress(packed, one.data_size)
            head = elf["e_shoff"] + number * elf["e_shentsize"]
            struct.pack_into("<Q", grown, head + 8, one["sh_flags"] & ~COMPRESSED)
            struct.pack_into("<QQ", grown, head + 24, len(grown), len(plain))
            grown += plain
    return ELFFile(BytesIO(grown))


def dwarf_of(elf: Any) -> Any:
    """The debug information of an ELF file itself."""
    return elf.get_dwarf_info(relocate_dwarf_sections=False, follow_links=False)


def answer(data: bytes, addresses: list[int], files: Sequence[bytes] = ()) -> dict[str, Any]:
    """Return the document; `files` are those that may hold calls that were split off."""
    lines, problem, split = DwarfLines(addresses), list[str](), list[SplitFile]()
    for file in files:
        try:
            split.append(SplitFile(file))
        except Exception as error:  # of a damaged one nothing is used
            problem = problem or ["part", type(error).__name__]
    try:
        info = dwarf_of(opened(data))
        units = info.iter_CUs()
        while (unit := next(units, None)) is not None:
            try:
                lines.read(info, unit, split)
            except Exception as error:  # a broken unit must not affect the others
                problem = problem or ["part", type(error).__name__]
    except Exception as error:  # a parser of valid files may raise anything for others
        problem = problem or ["whole", type(error).__name__]
    rows: dict[tuple[int, ...], int] = {}
    chains = map(lines.chain, addresses)
    chain = [rows.setdefault(found, len(rows)) if found else -1 for found in chains]
    lacking = lines.missing[:MAX_SPLIT]
    missing = [[name[:MAX_PATH_LENGTH], folder[:MAX_PATH_LENGTH]] for name, folder in lacking]
    about = {"missing": missing, "problem": problem}
    return {"files": list(lines.files), "chains": list(rows), "chain": chain, **about}


def main(given: BinaryIO, out: BinaryIO, folder: str) -> None:
    """Handle the request."""
    sys.path.append(folder)
    parts = []
    while head := given.read(8):
        parts.append(given.read(struct.unpack("<Q", head)[0]))
    addresses, data, *files = parts
    document = answer(data, list(struct.unpack(f"<{len(addresses) // 8}Q", addresses)), files)
    out.write(json.dumps(document).encode())
    out.flush()


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of a library must not get into the reply
    main(sys.stdin.buffer, answers, sys.argv[1])
