"""Open PC samples, or a table of costs, as a capture whose program has numbers and no times."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.base.errors import NotATrace
from rcv_py.base.problems import Affects, Problems
from rcv_py.base.record import Value
from rcv_py.base.text import Message, plural
from rcv_py.formats.input.columns import frozen, report_skipped
from rcv_py.formats.input.files import csv_rows
from rcv_py.formats.listed.recognize import ListedForm, listed_form, plain_heading
from rcv_py.formats.raw.files import code_files
from rcv_py.formats.uiout.code import Code, code_of
from rcv_py.formats.uiout.folder import FolderFiles
from rcv_py.formats.uiout.index import wave_index
from rcv_py.formats.uiout.load import report_only_samples
from rcv_py.formats.uiout.occupancy import read_occupancy
from rcv_py.formats.uiout.run_files import exact_target, launches
from rcv_py.model.code import SourceFile
from rcv_py.model.profile import PcSamples, Profile
from rcv_py.model.trace import Trace

LIMIT = 1 << 30  # bytes of a table
_AT_ONCE = 20_000  # rows
_HEAD = ("ISA", "LineNumber", "Source", "Codeobj", "Vaddr")
_SAMPLE_HEAD = ("Issued", "Stalled", "Stall_Reasons")
_COLUMN = {"codeobj": "Codeobj", "vaddr": "Vaddr", "instruction": "ISA", "hitcount": "Hit"}
_WHOLE = re.compile(r"-?\d{1,20}", re.ASCII)
_HEX = re.compile(r"0[xX][0-9a-fA-F]{1,16}")
_COUNTS = ("hit", "latency", "stall", "idle")
_OUTCOMES = {"true": "1", "false": "0"}
_GFX = re.compile(r"gfx(\d{1,2})[0-9a-f]{2}")
UNKNOWN = "pc_{0:#x}_unknown"  # text of an instruction that no file names: its operands count as unknown


def open_listed(path: Path) -> Trace:
    """Open such a file; raise a TraceError if it cannot be read."""
    form = listed_form(path)
    if form is ListedForm.COSTS:
        return _costs(path)
    if form is None:
        raise NotATrace(path, "it holds neither PC samples nor costs of instructions")
    problems = Problems()
    return sampled_trace(path, *read_samples(path, problems), problems)


def read_samples(path: Path, problems: Problems) -> tuple[PcSamples, str]:
    """Return the PC samples of a file, and the GPU that ran most of them, "" if unknown.

    Raises a TraceError if it cannot be read or has none.
    """
    if listed_form(path) is ListedForm.PROFILE:
        from rcv_py.formats.rocpd.read import read_profile  # noqa: PLC0415 - it loads SQLite

        profile = read_profile(path)
        problems += profile.problems
        found, target = profile.samples, _target(profile)
    else:
        found, target = _table(path, problems), ""
    if found is None:
        raise NotATrace(path, "it has no PC samples")
    return found, target


def _target(profile: Profile) -> str:
    """The GPU of most samples, else the only kind of GPU; "" if unknown."""
    agent, gpus = profile.launches.agent, {agent.name for agent in profile.agents if agent.is_gpu}
    samples = profile.launches.samples * (agent >= 0)
    count = np.bincount(np.maximum(agent, 0), samples, len(profile.agents))
    if count.any():
        return profile.agents[int(count.argmax())].name
    return gpus.pop() if len(gpus) == 1 else ""


def _table(path: Path, problems: Problems) -> PcSamples | None:
    """Samples of a table, which has no addresses: equal texts of a source line are one instruction."""
    from rcv_py.formats.rocpd.parts import (  # noqa: PLC0415 - as above
        UNSURE,
        SampleRows,
        invalid_samples,
        reason_of,
    )

    notes: list[str] = []
    lines = csv_rows(path.parent, path.name, notes, LIMIT)
    head = {plain_heading(cell): at for at, cell in enumerate(next(lines, []))}
    kernels, kernel_of = _kernels(path)
    rows, number = SampleRows(), {name: at for at, name in enumerate(kernels)}
    offset_of: dict[tuple[int, str, str], int] = {}
    is_stochastic = "waveissuedinstruction" in head

    def cells(part: list[list[str]], name: str) -> list[str]:
        at = head.get(name, 1 << 30)
        return [line[at].strip() if at < len(line) else "" for line in part]

    while part := [line for _, line in zip(range(_AT_ONCE), lines, strict=False) if line]:
        texts, sources = cells(part, "instruction"), cells(part, "instructioncomment")
        launch = [number.get(kernel_of.get(one, ""), -1) for one in cells(part, "dispatchid")]
        places = list(zip(launch, texts, sources, strict=True))
        for place in places:
            if place[1] and place not in offset_of:
                offset_of[place] = len(offset_of)
                rows.name((0, -1, offset_of[place]), place[1], place[2])
        issued, reasons = cells(part, "waveissuedinstruction"), cells(part, "stallreason")
        rows.add(
            0,
            launch,
            [-1] * len(part),  # code object
            [offset_of.get(place, -1) for place in places],
            [_number(_OUTCOMES.get(one.lower(), one)) if is_stochastic else UNSURE for one in issued],
            [reason_of(_number(one) if one.isdigit() else one) for one in reasons],
            *([_number(one) for one in cells(part, name)] for name in ("execmask", "wavecount")),
        )
    found = rows.samples((), np.arange(len(kernels)), kernels, has_places=False)
    for note in notes:
        problems.warn(path.name, note)
    if found is not None and found.invalid:
        problems.warn(path.name, invalid_samples(found))
    problems.inform(
        path.name,
        "The table has no addresses: equal instructions of a source line are one row, and rows are not in "
        "the order of the program.",
        "Record with -f json or rocpd for addresses.",
    )
    return found


def _number(text: str) -> int | None:
    if _WHOLE.fullmatch(text):
        return int(text)
    return int(text, 16) if _HEX.fullmatch(text) else None


def _kernels(path: Path) -> tuple[list[str], dict[str, str]]:
    """Kernels, and the kernel of each dispatch, by the kernel trace of the same process."""
    table = path.with_name(re.sub(r"pc_sampling_.*", "kernel_trace.csv", path.name))
    if not table.is_file():
        return [], {}
    found = {str(one.dispatch): one.kernel for one in launches(path.parent, [table])}
    return list(dict.fromkeys(found.values())), found


class _Row(Value):
    text: str
    source: str
    codeobj: int
    address: int
    kernel: str = ""
    at: int = -1  # row of the samples, -1: none hit it


def sampled_trace(path: Path, samples: PcSamples, target: str, problems: Problems) -> Trace:
    """Return a capture whose rows are the instructions that samples hit, by kernel and address."""
    rows = list(_rows(path, samples, problems))
    at = np.array([row.at for row in rows], dtype=np.int64)
    issued, stalled = (np.append(column, 0)[at] for column in (samples.issued, samples.stalled))
    reasons = np.concatenate([samples.reasons, np.zeros_like(samples.reasons[:1])])[at]
    outcomes = zip(issued.tolist(), stalled.tolist(), reasons.tolist(), strict=True)
    head = [*_HEAD, *_SAMPLE_HEAD] if issued.any() or stalled.any() else [*_HEAD]
    table = [
        [row.text, number, row.source, row.codeobj, row.address, *outcome][: len(head)]
        for number, (row, outcome) in enumerate(zip(rows, outcomes, strict=True))
    ]
    gfx = _GFX.fullmatch(target)
    code = code_of({"header": head}, table, int(gfx[1]) if gfx else 0, problems)
    order = at[code.table.number]
    unsure = samples.samples - samples.issued - samples.stalled

    def means(column: np.ndarray) -> np.ndarray | None:
        return None if np.isnan(column).all() else frozen(np.append(column, np.nan)[order])

    whole = replace(
        code.table,
        samples_unsure=frozen(np.append(unsure, 0)[order]) if unsure.any() else None,
        sample_lanes=means(samples.lanes),
        sample_waves=means(samples.waves),
    )
    report_only_samples(path.name, problems)
    return _trace(path, replace(code, table=whole), target, problems, is_sampled=True)


def _rows(path: Path, samples: PcSamples, problems: Problems) -> Iterator[_Row]:
    """The rows of the program: a label for each kernel, then its instructions."""
    has_places = bool((samples.code_object >= 0).all())
    names = {kernel: number for number, kernel in enumerate(dict.fromkeys(samples.kernel))}
    numbers = [names[kernel] for kernel in samples.kernel]
    if has_places:
        numbers = _one_numbering(samples, problems, path.name)
    columns = zip(samples.text, samples.source, numbers, samples.offset.tolist(), samples.kernel, strict=True)
    found = {(row[2], row[3]): _Row(*row, at) for at, row in enumerate(columns)}
    if has_places:
        _complete(path, found, problems)
    if unnamed := sum(not row.text for row in found.values()):
        rows = plural(unnamed, "instruction")
        problems.inform(
            path.name,
            Message("PC samples hit {0} without a text: the file has addresses alone.", rows),
            "Put the code objects of the run beside it (*_code_object_id_N.out), or record with "
            "--pc-sampling-decode-instructions.",
            Affects.SOURCE_LINES,
            brief="The file has addresses of samples alone.",
        )
    first: dict[tuple[int, str], int] = {}
    for row in found.values():
        key = row.codeobj, row.kernel
        first[key] = min(row.address, first.get(key, row.address))
    last = None
    ordered = sorted(
        found.values(), key=lambda row: (row.codeobj, first[row.codeobj, row.kernel], row.address)
    )
    for row in ordered:
        place = row.codeobj, row.kernel
        if row.kernel and place != last:
            yield _Row(f"; {row.kernel}", row.kernel, row.codeobj, first[place] if has_places else 0)
        last = place
        shown = replace(row, text=row.text or UNKNOWN.format(row.address))
        yield shown if has_places else replace(shown, address=0)


def _complete(path: Path, found: dict[tuple[int, int], _Row], problems: Problems) -> None:
    """Add what code objects beside the file know: texts, sources, and instructions that no sample hit."""
    codes, sidecars = code_files(path.parent)
    if not codes:
        return
    from rcv_py.formats.raw.objects import objects_of  # noqa: PLC0415 - disassemblers take long to import

    objects, done = objects_of(path.parent, codes, sidecars), set[tuple[int, int]]()
    for key, row in sorted(found.items()):
        program = None if key in done else objects.program(*key)
        if program is None:
            continue
        places = [(row.codeobj, address) for address in program.address.tolist()]
        known = {place: text for place, text in zip(places, program.text, strict=True)}
        hit = [found[place] for place in places if place in found]
        if any(one.text and one.text.split()[0] != known[one.codeobj, one.address].split()[0] for one in hit):
            other = Message("Code object {0} beside it is another build; it is not used.", key[0])
            problems.warn(path.name, other)
            return
        sources = objects.sources(row.codeobj, program.address)
        for place, source in zip(places, sources, strict=True):
            one = found.get(place, replace(row, text="", source="", address=place[1], at=-1))
            found[place] = replace(one, text=one.text or known[place], source=one.source or source)
        done.update(places)
    problems += objects.problems


def _one_numbering(samples: PcSamples, problems: Problems, name: str) -> list[int]:
    """Numbers of code objects; those that several recordings use are replaced in all but the first."""
    keys = list(zip(samples.recording.tolist(), np.maximum(samples.code_object, 0).tolist(), strict=True))
    number: dict[tuple[int, int], int] = {}
    for key in sorted(set(keys)):
        taken = {*number.values(), *(one for _, one in keys)}
        number[key] = max(taken) + 1 if key[1] in number.values() else key[1]
    moved = [(key, one) for key, one in number.items() if key[1] != one]
    if moved:
        (recording, old), new = moved[0]
        text = Message(
            "Several recordings use the same numbers of code objects: {0} of recording {1} is {2} here.",
            old,
            recording,
            new,
        )
        problems.inform(name, text)
    return [number[key] for key in keys]


def _costs(path: Path) -> Trace:
    problems, notes = Problems(), list[str]()
    lines = csv_rows(path.parent, path.name, notes, LIMIT)
    head = [_COLUMN.get(plain_heading(cell), cell) for cell in next(lines, [])]
    places = {plain_heading(name): at for at, name in enumerate(head)}
    is_number = [plain_heading(name) not in ("isa", "source") for name in head]
    rows: list[list[Any]] = []
    for cells in filter(None, lines):
        values: list[Any] = list(cells[: len(head)])
        for at, text in enumerate(values):
            if is_number[at] and (number := _number(text.strip())) is not None:
                values[at] = number
            elif is_number[at] and plain_heading(head[at]) not in _COUNTS:
                values[at] = [int(one) for one in _WHOLE.findall(text)] or None
        if len(values) > places["isa"] and plain_heading(values[places["isa"]]) != "instruction":
            rows.append([*values, *[""] * (len(head) - len(values)), len(rows)])
    keys = [places.get(name, -1) for name in ("codeobj", "vaddr")]
    rows.sort(key=lambda row: tuple(row[at] if at >= 0 and isinstance(row[at], int) else 0 for at in keys))
    kept = {repr([row[at] for at in (*keys, places["isa"]) if at >= 0]): row for row in reversed(rows)}
    report_skipped(problems, path.name, len(rows) - len(kept), "repeated row")
    for note in notes:
        problems.warn(path.name, note)
    code = code_of({"header": [*head, "LineNumber"]}, [*kept.values()][::-1], 0, problems, path.name)
    if not len(code.table):
        raise NotATrace(path, "it lists no instruction")
    problems.inform(
        path.name,
        "This is the table of costs of a thread trace, without its waves: there are no times.",
        "Open the ui_output folder that was written with it for timelines.",
        Affects.WAVES,
        Affects.OCCUPANCY,
        brief="A table of costs has no times.",
    )
    return _trace(path, code, "", problems, is_sampled=code.table.samples is not None)


def _trace(path: Path, code: Code, target: str, problems: Problems, *, is_sampled: bool) -> Trace:
    gfx = _GFX.fullmatch(target)
    gfxip = int(gfx[1]) if gfx else code.gfxip or 9
    exact, source = (target, path.name) if target else exact_target(path.parent, gfxip, set(code.mnemonics))
    has_cycles = bool(code.table.latency.any() or code.table.hits.any())
    return Trace(
        path=path,
        name=path.name,
        gfxip=gfxip,
        target=exact,
        target_from=source,
        has_thread_trace=has_cycles,
        has_only_costs=has_cycles,
        has_pc_samples=is_sampled,
        waves=wave_index([], FolderFiles(path.parent, {})),
        code=code.table,
        sources=tuple(SourceFile(one, None) for one in code.paths),
        occupancy=read_occupancy(None, {}, {}, problems)[0],
        problems=tuple(problems),
    )
