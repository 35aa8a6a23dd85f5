"""code.json: the instructions with their totals, and the dictionaries that newer writers add."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rcv_py.base.problems import Problem, Severity
from rcv_py.base.text import plural
from rcv_py.formats.columns import frozen, whole_number
from rcv_py.formats.files import try_json
from rcv_py.formats.uiout.chains import read_chains
from rcv_py.formats.uiout.code_header import Header, read_header
from rcv_py.formats.uiout.folder import CODE, Listing
from rcv_py.formats.uiout.markers import read_layout, read_markers, read_payloads
from rcv_py.formats.uiout.mnemonics import guessed_generation, kind_of
from rcv_py.formats.uiout.names import demangled
from rcv_py.formats.uiout.shapes import tell_skipped, text_of
from rcv_py.model.code import CodeTable, Kernel
from rcv_py.model.device import MarkerName

PANELS = ("isa", "explorer", "top_lines", "hotspot", "source", "labels")
_NUMBERS = ("linenumber", "codeobj", "vaddr", "hit", "latency", "stall", "idle", "issued", "stalled")


@dataclass(frozen=True)
class Code:
    """What code.json says; `paths` are the source files in the order of their numbers."""

    table: CodeTable
    paths: tuple[str, ...] = ()
    gfxip: int = 0  # what the mnemonics tell; 0 without any
    mnemonics: frozenset[str] = frozenset()
    markers: tuple[MarkerName, ...] = ()
    layout: tuple[tuple[int, int, int], ...] = ()
    payloads: tuple[tuple[int, int, int], ...] = ()
    extra: dict[str, object] = field(default_factory=dict)


def read_code(files: Listing, gfxip: int, problems: list[Problem]) -> Code:
    """Return the code of a capture; without a usable file it is empty and a Problem says why.  Never raises."""
    if CODE not in files:
        problems.append(
            Problem(
                Severity.ERROR,
                CODE,
                f"{CODE} is missing: instructions have no text and no totals.",
                "Copy the whole capture folder; the decoder also leaves the file out when a symbol or a path "
                "holds a quote or a backslash.",
                PANELS,
            )
        )
        return _code({}, gfxip, problems)
    data = try_json(files.path, CODE, problems, PANELS)
    if data is not None and not isinstance(data, dict):
        problems.append(
            Problem(
                Severity.ERROR, CODE, f"{CODE} is damaged: it is no table of code.", "Decode again.", PANELS
            )
        )
    return _code(data if isinstance(data, dict) else {}, gfxip, problems)


def _code(data: dict, gfxip: int, problems: list[Problem]) -> Code:
    header = read_header(data.get("header"))
    rows, skipped = _usable(data.get("code"))
    tell_skipped(problems, CODE, skipped, "row")
    texts = tuple(_cell(row, header["isa"]) for row in rows)
    sources = [_cell(row, header["source"]) for row in rows]
    numbers = _numbers(rows, header)
    is_label = _labels(texts, numbers)
    names = [text.split(None, 1)[0] if text.strip() else "" for text in texts]
    mnemonics = frozenset(names)
    generation = guessed_generation(set(mnemonics)) if mnemonics else 0
    kinds = {name: int(kind_of(name, gfxip or generation)) for name in mnemonics}
    kind = np.array([kinds[name] for name in names], dtype=np.uint8)
    kind[is_label] = 0
    kernels, kernel = _kernels(texts, sources, is_label, data.get("kernels"))
    chains = ["" if label else source for source, label in zip(sources, is_label.tolist(), strict=True)]
    first, file, line, paths = read_chains(chains)
    _tell_duplicates(numbers["linenumber"], problems)
    samples = _samples(rows, header, numbers)
    table = CodeTable(
        text=texts,
        number=numbers["linenumber"],
        codeobj=numbers["codeobj"],
        address=frozen(np.maximum(numbers["vaddr"], 0).astype(np.uint64)),
        hits=numbers["hit"],
        latency=numbers["latency"],
        stall=numbers["stall"],
        idle=numbers["idle"],
        is_label=frozen(is_label),
        kind=frozen(kind),
        kernel=kernel,
        chain_first=first,
        chain_file=file,
        chain_line=line,
        kernels=kernels,
        **samples,
    )
    return Code(
        table,
        paths,
        generation,
        mnemonics,
        read_markers(data.get("sqtt_funcmap"), problems),
        read_layout(data.get("sqtt_funcmap_layout")),
        read_payloads(data.get("sqtt_funcmap_payloads")),
    )


def _usable(rows: object) -> tuple[list[list], int]:
    """Rows that have at least an instruction and a number; how many had not."""
    if rows is None:
        return [], 0
    if not isinstance(rows, list):
        return [], 1
    good = [row for row in rows if isinstance(row, list) and len(row) >= 3 and isinstance(row[0], str)]
    return good, len(rows) - len(good)


def _cell(row: list, place: int) -> str:
    return text_of(row[place]) if 0 <= place < len(row) else ""


def _numbers(rows: list[list], header: Header) -> dict[str, np.ndarray]:
    """The whole-number columns by name, int64; what is absent is 0, an unusable LineNumber -1."""
    columns = {}
    for name in _NUMBERS:
        place = header[name]
        default = -1 if name == "linenumber" else 0
        values = [whole_number(row[place], default) if 0 <= place < len(row) else default for row in rows]
        columns[name] = frozen(np.array(values, dtype=np.int64))
    return columns


def _labels(texts: tuple[str, ...], numbers: dict[str, np.ndarray]) -> np.ndarray:
    """A row is a label if its text starts with `;` or `label`, or if it is empty where the next one begins."""
    by_text = np.array([text.lstrip().startswith((";", "label")) for text in texts], dtype=bool)
    is_blank = np.array([not text.strip() for text in texts], dtype=bool)
    if len(texts) > 1:
        address, codeobj = numbers["vaddr"], numbers["codeobj"]
        is_twin = np.append((address[1:] == address[:-1]) & (codeobj[1:] == codeobj[:-1]), False)
        by_text |= is_blank & is_twin & (numbers["hit"] == 0)
    return by_text


def _samples(
    rows: list[list], header: Header, numbers: dict[str, np.ndarray]
) -> dict[str, np.ndarray | None]:
    """PC samples as the keyword arguments of CodeTable; None where the rows carry none."""
    if not header.has_samples:
        return {}
    place = header["reasons"]
    lists = [row[place] if 0 <= place < len(row) and isinstance(row[place], list) else [] for row in rows]
    width = max(map(len, lists), default=0)
    reasons = np.zeros((len(rows), width), dtype=np.int64)
    for row, values in enumerate(lists):
        reasons[row, : len(values)] = [whole_number(value, 0) for value in values]
    return {
        "samples_issued": numbers["issued"],
        "samples_stalled": numbers["stalled"],
        "stall_reasons": frozen(reasons) if width else None,
    }


def _kernels(
    texts: tuple[str, ...], sources: list[str], is_label: np.ndarray, known: object
) -> tuple[tuple[Kernel, ...], np.ndarray]:
    """The kernels, one a `;` label that names no local label, and each row's kernel (int32)."""
    spoken = {
        text_of(entry.get("name")): text_of(entry.get("demangled"))
        for entry in (known if isinstance(known, list) else [])
        if isinstance(entry, dict)
    }
    heads = [
        int(row)
        for row in np.flatnonzero(is_label)
        if not _symbol(texts[row]).lstrip("_").startswith("label")
    ]
    stops = [*heads[1:], len(texts)][: len(heads)]
    kernels = []
    kernel = np.full(len(texts), -1, dtype=np.int32)
    for number, (row, stop) in enumerate(zip(heads, stops, strict=True)):
        name = _symbol(texts[row])
        people = spoken.get(name) or spoken.get(name[1:]) or sources[row] or demangled(name)
        kernels.append(Kernel(name, people, row, stop))
        kernel[row:stop] = number
    return tuple(kernels), frozen(kernel)


def _symbol(text: str) -> str:
    return text.strip().lstrip(";").strip()


def _tell_duplicates(numbers: np.ndarray, problems: list[Problem]) -> None:
    used, count = np.unique(numbers[numbers >= 0], return_counts=True)
    twice = used[count > 1]
    if len(twice):
        problems.append(
            Problem(
                Severity.WARNING,
                CODE,
                f"{CODE} gives {plural(len(twice), 'line number')} to several rows, such as {int(twice[0])};"
                " tokens are counted at the first of them.",
                "Decode the trace again with a newer decoder.",
            )
        )
    bad = int(np.count_nonzero(numbers < 0))
    if bad:
        tell_skipped(problems, CODE, bad, "line number")
