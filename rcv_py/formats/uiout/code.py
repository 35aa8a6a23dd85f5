"""Read code.json: the instructions with their totals, and the dictionaries of newer writers.

Source strings of its rows, `inner:line -> caller:line` with the innermost first, become columns, and its
kernels are put in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, zip_longest
from operator import is_not
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.base.problems import Affects, Problems
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending, borders, ends_run, ranges, run_starts, starts_run
from rcv_py.base.text import Message, demangled, elide_right, plural
from rcv_py.formats.input.columns import frozen, list_of, number_column, report_skipped, text_of, whole_number
from rcv_py.formats.input.files import try_json
from rcv_py.formats.input.limits import (
    CALLS,
    FOLDERS,
    INSTRUCTION_LETTERS,
    NAME_LETTERS,
    PATH_FOLDERS,
    PATH_LETTERS,
    SOURCE_LETTERS,
    report_cut,
)
from rcv_py.formats.isa.program import guessed_generation, kind_of, with_high_registers
from rcv_py.formats.uiout.folder import CODE, FolderFiles
from rcv_py.model.architecture import architecture_of
from rcv_py.model.code import CodeTable, Kernel
from rcv_py.model.device import MarkerName
from rcv_py.model.kinds import TokenKind

_LABELS = (";", "label")
_MARKER_KINDS = {
    **dict.fromkeys(("f", "func", "function"), "function"),
    **dict.fromkeys(("k", "kernel"), "kernel"),
    **dict.fromkeys(("u", "user", "user_scope", "userscope"), "scope"),
    **dict.fromkeys(("p", "point"), "point"),
}
_COSTS = ("hit", "latency", "stall", "idle")
_FIXED = ("isa", "_", "linenumber", "source", "codeobj", "vaddr", *_COSTS)
_ALIASES = {  # names of the same column in different writers, in lower case without underscores
    "instruction": "isa", "line": "linenumber", "index": "linenumber", "codeobject": "codeobj",
    "address": "vaddr", "hitcount": "hit", "hits": "hit", "pcissued": "issued", "pcstalled": "stalled",
    "pcunsure": "unsure", "notissuedreasons": "reasons", "stallreasons": "reasons",
}  # fmt: skip
_REASONS = 10  # known stall reasons; more are kept
_MAX_REASONS = 32
_MAX_COLUMNS = 64  # of a row; writers have ten to fourteen


class CodeColumns(Value):
    """The usable rows; `numbers` holds int64 columns by header name, of which `vaddr` is uint64."""

    text: list[str]
    source: list[str]
    numbers: dict[str, np.ndarray]
    reasons: np.ndarray | None  # int64 [n, k]; None if rows carry no stall reasons
    has_samples: bool
    has_unsure: bool  # samples of which it is not recorded whether they issued
    lost: int  # costs that are not counts, and 0 in `numbers`
    overlong: np.ndarray  # int64, rows whose stall was longer than their latency, and is as long in `numbers`


class Code(Value):
    """The contents of code.json; `paths` are the source files in the order of their numbers."""

    table: CodeTable
    paths: tuple[str, ...] = ()
    gfxip: int = 0  # generation from the mnemonics; 0 without any
    mnemonics: frozenset[str] = frozenset()
    markers: tuple[MarkerName, ...] = ()
    layout: tuple[tuple[int, int, int], ...] = ()
    payloads: tuple[tuple[int, int, int], ...] = ()


def read_code(files: FolderFiles, gfxip: int, problems: Problems) -> Code:
    """Return the code of a capture, or empty code and a Problem without a usable file.  Never raises.

    `gfxip` 0: derive the generation from the instructions.
    """
    if CODE not in files:
        text = Message("{0} is missing: instructions have no text and no totals.", CODE)
        hint = (
            "Copy the whole capture folder; the decoder also leaves the file out when a symbol or a path "
            "holds a quote or a backslash."
        )
        problems.fail(CODE, text, hint, Affects.CODE)
        return code_of({}, [], gfxip, problems)
    data = try_json(files.path, CODE, problems, Affects.CODE)
    table, rows = code_rows(data)
    if not isinstance(data, dict | list | None) or not isinstance(table.get("code"), list | None):
        damaged = Message("{0} is damaged: it is not a table of instructions.", CODE)
        problems.fail(CODE, damaged, "Decode again.", Affects.CODE)
    return code_of(table, rows, gfxip, problems)


def code_rows(data: object) -> tuple[dict[str, Any], list[Any]]:
    """Return the dictionaries of a code.json, and its rows; some writers leave out all else."""
    table = {"code": data} if isinstance(data, list) else data if isinstance(data, dict) else {}
    return table, list_of(table.get("code"))


def code_of(data: dict[str, Any], rows: list[Any], gfxip: int, problems: Problems, name: str = CODE) -> Code:
    """Return the code from `rows` of the table in file `name`, and dictionaries of `data`.  Never raises."""
    columns = code_columns(rows, data.get("header"))
    columns = replace(columns, text=list(with_high_registers(columns.text)))
    most = [NAME_LETTERS if text.startswith(_LABELS) else INSTRUCTION_LETTERS for text in columns.text]
    texts = list(map(elide_right, columns.text, most))
    sources = [elide_right(source, SOURCE_LETTERS) for source in columns.source]
    ends = "their ends are left out"
    report_cut(problems, name, sum(map(is_not, texts, columns.text)), "instruction or name", ends)
    report_cut(problems, name, sum(map(is_not, sources, columns.source)), "source place", ends)
    columns = replace(columns, text=texts, source=sources)
    report_skipped(problems, name, len(rows) - len(columns.text), "row")
    report_skipped(problems, name, columns.lost, "cost")
    if len(columns.overlong):
        row = int(columns.overlong[0])
        first = Message("its row {0}, {1}", row, texts[row])
        more = "{0} states more stall than latency for {1}, the first is {2}; all of it counts as stall."
        many = plural(len(columns.overlong), "instruction")
        problems.warn(name, Message(more, name, many, first), "Decode again.", Affects.CODE)
    names = [text.split(None, 1)[0] if text else "" for text in columns.text]
    mnemonics = frozenset(names)
    generation = guessed_generation(set(mnemonics)) if mnemonics else 0
    architecture = architecture_of(gfxip or generation)
    kinds = {name: int(kind_of(name[:64], architecture)) for name in mnemonics}
    kind = np.array([kinds[name] for name in names], dtype=np.uint8)
    is_label = _is_label(columns, kind)
    arranged = layout(columns, is_label, _entries(data.get("kernels")), text_of(data.get("version")))
    shown = zip(columns.source, is_label.tolist(), strict=True)
    found = chains(["" if label else source for source, label in shown])
    rest = "only the ends of paths and the innermost calls are kept"
    report_cut(problems, CODE, found.cut, "source place", rest)
    table = _table(columns, kind, is_label, arranged, found.taken(arranged.order))
    _report_numbers(table, problems)
    layout_rows = _triples(data.get("sqtt_funcmap_layout"))  # numbers of others are ambiguous
    return Code(
        table=table,
        paths=found.paths,
        gfxip=generation,
        mnemonics=mnemonics,
        markers=_markers(data.get("sqtt_funcmap"), problems),
        layout=tuple(row for row in layout_rows if 0 < row[1] <= 29 and row[1] + row[2] <= 32),
        payloads=tuple(_triples(data.get("sqtt_funcmap_payloads"))),
    )


def code_columns(rows: list[Any], header: object) -> CodeColumns:
    """The rows whose instruction is a text; short rows are padded, long ones cut."""
    place = _positions(header)
    text_at = place.get("isa", -1)
    listed = [row for row in rows if isinstance(row, list) and len(row) > text_at]
    usable = [row for row in listed if isinstance(row[text_at], str)]
    by_place = list(zip_longest(*(row[:_MAX_COLUMNS] for row in usable)))  # pads short rows with None
    nothing = (None,) * len(usable)
    known = {field for field, at in place.items() if at < len(by_place)}  # a heading alone says nothing

    def column(field: str) -> Sequence[object]:
        at = place.get(field, -1)
        return by_place[at] if 0 <= at < len(by_place) else nothing

    numbers = {
        field: np.maximum(number_column(column(field), 0), 0)
        for field in ("hit", "latency", "stall", "idle", "issued", "stalled", "unsure")
    }
    latency = number_column(column("latency"), -1)
    overlong = np.flatnonzero((latency >= 0) & (numbers["stall"] > latency))
    numbers["stall"][overlong] = latency[overlong]
    numbers["linenumber"] = number_column(column("linenumber"), -1)
    numbers["codeobj"] = number_column(column("codeobj"), 0)
    numbers["vaddr"] = _addresses(column("vaddr"))
    lost = (
        number_column([0 if one is None else one for one in column(field)], -1) < 0
        for field in known.intersection(_COSTS)
    )
    return CodeColumns(
        text=[str(text).strip() for text in column("isa")],
        source=[text if isinstance(text, str) else "" for text in column("source")],
        numbers=numbers,
        reasons=_reasons(column("reasons")) if "reasons" in known else None,
        has_samples=not known.isdisjoint(("issued", "stalled")),
        has_unsure="unsure" in known,
        lost=sum(int(np.count_nonzero(one)) for one in lost),
        overlong=overlong,
    )


def _addresses(values: Sequence[object]) -> np.ndarray:
    if all(type(value) is int and 0 <= value < 1 << 64 for value in values):
        return np.array(values, dtype=np.uint64)
    whole = [int(value) if isinstance(value, int | float) and abs(value) < 1 << 64 else 0 for value in values]
    return np.array([max(value, 0) for value in whole], dtype=np.uint64)


def _reasons(values: Sequence[object]) -> np.ndarray:
    lists = [list_of(value) for value in values]
    width = min(max([_REASONS, *map(len, lists)]), _MAX_REASONS)
    rows = (row[:width] + [0] * (width - len(row)) for row in lists)
    table = [[max(0, whole_number(count, 0)) for count in row] for row in rows]
    return np.array(table, dtype=np.int64).reshape(len(table), width)


def _positions(header: object) -> dict[str, int]:
    """Positions of the columns in a header (a string or a list), else the ten fixed ones."""
    names = header.split(",") if isinstance(header, str) else list_of(header)
    words = [str(name).strip().lower() for name in names]
    plain = [word.replace("_", "").replace(" ", "") or word for word in words]
    named = {_ALIASES.get(word, word): place for place, word in reversed(list(enumerate(plain))) if word}
    if not {"isa", "linenumber"} <= set(named):
        named = {}
    taken = set(named.values())  # the others have their fixed positions, unless another column is there
    return {name: place for place, name in enumerate(_FIXED) if place not in taken} | named


def _table(
    columns: CodeColumns, kind: np.ndarray, is_label: np.ndarray, arranged: ProgramOrder, chain: Chains
) -> CodeTable:
    order = arranged.order
    number = {name: frozen(column[order]) for name, column in columns.numbers.items()}
    samples = columns.has_samples
    return CodeTable(
        text=tuple([columns.text[row] for row in order.tolist()]),
        number=frozen(np.maximum(number["linenumber"], -1)),
        codeobj=number["codeobj"],
        address=number["vaddr"],
        hits=number["hit"],
        latency=number["latency"],
        stall=number["stall"],
        idle=number["idle"],
        is_label=frozen(is_label[order]),
        kind=frozen(kind[order]),
        kernel=frozen(arranged.kernel),
        chain_first=frozen(chain.first),
        chain_file=frozen(chain.file),
        chain_line=frozen(chain.line),
        kernels=arranged.kernels,
        samples_issued=number["issued"] if samples else None,
        samples_stalled=number["stalled"] if samples else None,
        samples_unsure=number["unsure"] if columns.has_unsure else None,
        stall_reasons=None if columns.reasons is None else frozen(columns.reasons[order]),
    )


def _is_label(columns: CodeColumns, kind: np.ndarray) -> np.ndarray:
    """Rows that name a place: by their text, or an unknown word at the address of the next row.

    The reference viewer searches only `; _`, and draws kernels with unmangled names as instructions.
    """
    by_text = np.array([text.startswith(_LABELS) for text in columns.text], dtype=bool)
    address, codeobj = columns.numbers["vaddr"], columns.numbers["codeobj"]
    same = ~ends_run(address, codeobj)
    has_cost = sum(columns.numbers[name] for name in _COSTS) > 0
    return by_text | (same & (address > 0) & ~has_cost & (kind == TokenKind.NONE))


def _entries(rows: object) -> dict[tuple[int, int], Entry]:
    """Kernels by (code object, address), as newer tools list them."""
    found = {}
    for row in list_of(rows):
        if isinstance(row, dict) and isinstance(row.get("name"), str):
            key = whole_number(row.get("codeobj"), -1), whole_number(row.get("address"), -1)
            found[key] = text_of(row["name"]), text_of(row.get("demangled"))
    return found


def _report_numbers(table: CodeTable, problems: Problems) -> None:
    numbers = table.number
    usable = numbers[(numbers >= 0) & (numbers < len(table.row_of_number))]
    if repeated := len(usable) - len(ascending(usable)):
        text = "{0} gives {1} to a second instruction; their tokens are counted for the first."
        hint = "Record the trace again with a newer rocprofv3 if the costs look wrong."
        problems.warn(CODE, Message(text, CODE, plural(repeated, "line number")), hint)
    if unusable := len(numbers) - len(usable):
        text = "{0} has {1} without a usable line number; no token can be counted for them."
        hint = "Record the trace again with a newer rocprofv3."
        problems.warn(CODE, Message(text, CODE, plural(unusable, "row")), hint)


def _markers(rows: object, problems: Problems) -> tuple[MarkerName, ...]:
    """Return the marker names; the last of equal (code object, marker) wins.  Kernels have no marker."""
    found: dict[tuple[int, int, str], MarkerName] = {}
    skipped = 0
    for row in list_of(rows):
        first, second, what, named, source, *_ = *list_of(row), None, None, None, None, None
        codeobj, marker = whole_number(first, -1), whole_number(second, -1)
        kind, name = _MARKER_KINDS.get(text_of(what).lower()), text_of(named)
        if codeobj < 1 or marker < 0 or kind is None or not name:
            skipped += 1
            continue
        shown = demangled(name)
        key = shown if kind == "kernel" and not marker else ""
        found[codeobj, marker, key] = MarkerName(codeobj, marker, kind, shown, text_of(source))
    report_skipped(problems, CODE, skipped, "marker name")
    return tuple(found.values())


def _triples(rows: object) -> list[tuple[int, int, int]]:
    triples = []
    for row in list_of(rows):
        a, b, c, *_ = *(whole_number(value, -1) for value in list_of(row)[:3]), -1, -1, -1
        if min(a, b, c) >= 0:
            triples.append((a, b, c))
    return triples


_ARROW = " -> "
_MAX_LINE_DIGITS = 9  # digits of a line number that fits into 32 bits
Place = tuple[int, int]  # code object, address
Entry = tuple[str, str]  # a kernel in the file's own list: symbol, display name


class Chains(Value):
    """Chains of n code lines: line i owns `first[i]:first[i + 1]` of `file` and `line`.

    `file` holds indices into `paths`.
    """

    first: np.ndarray  # int32 [n + 1]
    file: np.ndarray  # int32
    line: np.ndarray  # int32, 1-based; 0 for compiler-generated code
    paths: tuple[str, ...]
    cut: int = 0  # source texts that were cut

    def taken(self, order: np.ndarray) -> Chains:
        """Return the chains of the code lines `order`, in that order."""
        length = np.diff(self.first)[order]
        rows = ranges(self.first[:-1][order], length)
        first = borders(length).astype(np.int32)
        return replace(self, first=first, file=self.file[rows], line=self.line[rows])


def chains(sources: list[str]) -> Chains:
    """Return the chains of all code lines; equal texts, which are common, are split once."""
    ids: dict[str, int] = {}
    split: dict[str, list[tuple[int, int]]] = {}
    paths = _Paths()
    cut = 0
    for text in sources:
        if text not in split:
            found, before = places(text), paths.cut
            split[text] = [(ids.setdefault(paths.kept(path), len(ids)), line) for path, line in found[:CALLS]]
            cut += len(found) > CALLS or paths.cut > before
    length = np.array([len(split[text]) for text in sources], dtype=np.int32)
    pairs = np.array([pair for text in sources for pair in split[text]], dtype=np.int32).reshape(-1, 2)
    first = borders(length).astype(np.int32)
    return Chains(first, pairs[:, 0].copy(), pairs[:, 1].copy(), tuple(ids), cut)


class _Paths:
    """Paths short enough for folder trees: only the end of longer ones is kept."""

    def __init__(self) -> None:
        self.cut = 0
        self._folders = 0
        self._kept: dict[str, str] = {}

    def kept(self, path: str) -> str:
        """The path, or its end after an ellipsis."""
        if path not in self._kept:
            folders = path.count("/") + path.count("\\")
            fits = folders <= min(PATH_FOLDERS, FOLDERS - self._folders) and len(path) <= PATH_LETTERS
            self._folders += folders if fits else 0
            end = "…/" + path[-PATH_LETTERS:].replace("\\", "/").rpartition("/")[2]
            self._kept[path] = path if fits else end
        self.cut += self._kept[path] != path
        return self._kept[path]


def places(text: str) -> list[tuple[str, int]]:
    """Return (path, line) of each segment of a source string; line 0: unknown."""
    return [place for segment in text.split(_ARROW) if (place := _place(segment.strip()))[0]]


def _place(segment: str) -> tuple[str, int]:
    # The last colon: earlier ones may belong to a Windows drive or to the path itself.
    path, colon, line = segment.rpartition(":")
    if not colon:
        return segment, 0
    if line.isascii() and line.isdigit():
        return path, int(line) if len(line) <= _MAX_LINE_DIGITS else 0
    if line in ("", "?") or line.startswith("-"):
        return path, 0
    return segment, 0


class ProgramOrder(Value):
    """Rows of the code table in program order."""

    order: np.ndarray  # int64 [n], row of the file at each row of the table
    kernel: np.ndarray  # int32 [n], row of `kernels`, in table order; -1 if it has none
    kernels: tuple[Kernel, ...]


def layout(
    columns: CodeColumns, is_label: np.ndarray, entries: Mapping[Place, Entry], version: str
) -> ProgramOrder:
    """Divide the rows into kernels: a row belongs to the last kernel that begins at or before its address.

    The file's order is kept unless a kernel's rows are scattered in it; then each kernel's rows are
    brought together, by address.
    """
    text, codeobj, address = columns.text, columns.numbers["codeobj"], columns.numbers["vaddr"]
    places = list(zip(codeobj.tolist(), address.tolist(), strict=True))
    begins = _begins(text, places, is_label, entries)
    owner = _owners(codeobj, address, begins, is_label)
    order = _order(owner, address, begins, is_label)
    arranged = owner[order]
    kernels: list[Kernel] = []
    kernel = np.full(len(order), -1, dtype=np.int32)
    for head, stop in pairwise([*run_starts(arranged).tolist(), len(order)]):
        row = int(arranged[head])
        if row < 0:
            continue
        kernel[head:stop] = len(kernels)
        name, nice = entries.get(places[row]) or (symbol(text[row], version), "")
        if not nice and text[row].startswith(";"):
            nice = elide_right(columns.source[row], NAME_LETTERS)
        kernels.append(Kernel(name, nice or demangled(name), head, stop))
    return ProgramOrder(order, kernel, tuple(kernels))


def _begins(
    text: list[str], places: list[Place], is_label: np.ndarray, entries: Mapping[Place, Entry]
) -> np.ndarray:
    """Rows with which a kernel begins: its label, or an entry point that has no label row."""
    # A label inside a kernel begins none.
    is_own = np.array([not name.lstrip("; _").startswith("label") for name in text], dtype=bool)
    begins = is_label & is_own
    bare = set(entries) - {place for place, begin in zip(places, begins.tolist(), strict=True) if begin}
    if bare:
        begins |= np.array([place in bare for place in places], dtype=bool) & ~is_label
    return begins


def _owners(codeobj: np.ndarray, address: np.ndarray, begins: np.ndarray, is_label: np.ndarray) -> np.ndarray:
    """The first row of each row's kernel, -1 if there is none; int64 [n], all in file order."""
    count = len(codeobj)
    order = np.arange(count)
    rows = np.flatnonzero(~is_label)
    by_address = rows[np.lexsort((address[rows], codeobj[rows]))]
    if starts_run(address[by_address], codeobj[by_address]).all():  # they are unique
        order = np.lexsort((order, ~is_label, ~begins, address, codeobj))
    last = np.maximum.accumulate(np.where(begins[order], np.arange(count), -1)) if count else order
    owner = np.where(last >= 0, order[last], -1)
    owner[(owner >= 0) & (codeobj[owner] != codeobj[order])] = -1
    result = np.empty(count, dtype=np.int64)
    result[order] = owner
    return result


def _order(owner: np.ndarray, address: np.ndarray, begins: np.ndarray, is_label: np.ndarray) -> np.ndarray:
    count = len(owner)
    rows = np.arange(count)
    heads = run_starts(owner)
    is_together = len(heads) == len(ascending(owner))
    if is_together and all(owner[head] in (-1, head) for head in heads.tolist()):
        return rows
    return np.lexsort((rows, ~is_label, address, ~begins, np.where(owner < 0, count, owner)))


def symbol(text: str, version: str) -> str:
    """Return the name in a label row, as a writer of this version encodes it."""
    name = text.lstrip("; ").rstrip().rstrip(":")
    # This writer puts an underscore before every name.
    if version.startswith("3.1") and name.startswith("_") and not name.startswith("_Z"):
        name = name[1:]
    return name or "unnamed"
