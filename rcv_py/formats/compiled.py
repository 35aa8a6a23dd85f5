"""Open a kernel that a compiler made and no GPU has run: instructions, sources and resources, without waves.

A kernel has a path below its file: `libops.so/gfx942/my_kernel`, and `libops.so/gfx942@7/my_kernel` where an
earlier object of the file has the same kernel for the same target.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
from msgspec.structs import replace

from rcv_py.base.errors import BrokenFile, NotATrace, TraceError
from rcv_py.base.problems import Affects, Problem, Problems
from rcv_py.base.text import Message, demangled, some
from rcv_py.formats.input.files import mark_of, parse_json, read_bytes
from rcv_py.formats.input.limits import NAME_LETTERS
from rcv_py.formats.isa.code_object import CodeObject, KernelCode, source_texts
from rcv_py.formats.isa.containers import begins_container, found_objects, is_of, kernels_of, read_object
from rcv_py.formats.isa.elf import allocated_registers, descriptor_facts, generation_of, read_image
from rcv_py.formats.isa.program import Program
from rcv_py.formats.raw.listing import program_code
from rcv_py.formats.raw.options import RawOptions
from rcv_py.formats.uiout.load import report_no_lines
from rcv_py.formats.uiout.local_sources import sources_of
from rcv_py.model.architecture import architecture_of
from rcv_py.model.device import WaveEvents
from rcv_py.model.resources import CompiledKernel, KernelResources, RunFacts
from rcv_py.model.trace import NOT_RUN, NoWaves, Trace
from rcv_py.model.waves import WaveIndex

SURE = (".hsaco", ".co", ".vmfb")  # endings of files that hold nothing else
LIKELY = (".out", ".o", ".so", ".pkl", ".ccob", ".hipfb", ".bundle")  # whose bytes decide
MAX_KERNELS = 50_000  # of a file that are listed
MAX_FOLDERS = 5_000  # folders of a cache that are searched
MAX_FILES = 20_000  # files of a cache that are searched
MAX_CALLED = 512  # functions of an object that are shown below a kernel with calls
MAX_JSON = 1 << 20  # bytes of what Triton writes beside a code object
TARGET_FROM = "the code object"
WHAT_THEN = "Read its instructions, registers and limits; record it with rocprofv3 --att for times."
NOT_RUN_BRIEF = "The program has not run: nothing was measured."
_NARROW = dict.fromkeys(("se", "sa", "cu", "simd", "slot"), np.int16)  # columns of waves
_CALLS = ("s_swappc", "s_swap_pc", "s_call", "s_setpc", "s_set_pc")
_ESCAPED = str.maketrans({"%": "%25", "/": "%2F", "\\": "%5C"})  # so that `unquote` gives the name


class CompiledFile(NamedTuple):
    """The kernels of a file, in its order."""

    kernels: tuple[CompiledKernel, ...]
    problems: tuple[Problem, ...]


def file_of(path: Path) -> Path | None:
    """Return the file at a path, or the file that a path of a kernel lies below; None if there is none."""
    for place in (path, *islice(path.parents, 2)):
        with suppress(OSError, ValueError):
            if place.is_file():
                return place
    return None


def may_hold_kernels(file: Path) -> bool:
    """Whether a file may hold code objects, by its name and its first bytes; it is not searched."""
    name = file.name.lower()
    if name.endswith((*SURE, ".pkl")):
        return True
    try:
        with file.open("rb") as opened:
            start = opened.read(64)
    except OSError:
        return False
    return begins_container(start) or start[:4] == b"\x7fELF"


def compiled_kernels(file: Path) -> CompiledFile:
    """Return the kernels of a file, cached as long as it does not change; raise a TraceError."""
    return _listed(file, *mark_of(file))


@lru_cache(maxsize=8)
def _listed(file: Path, *_: int) -> CompiledFile:
    problems, found = Problems(), list[CompiledKernel]()
    seen: set[tuple[str, str]] = set()
    for one in found_objects(file, problems):
        described = kernels_of(one.data)
        if not described:  # the descriptors have no symbols
            with suppress(TraceError):
                image = read_image(read_object(one, file.name), file.name)
                described = dict.fromkeys(map(_name, CodeObject(0, file.name, image).kernels), b"")
        for symbol, raw in described.items():
            place = one.target or "gpu"
            if (one.target, symbol) in seen:
                place = f"{place}@{one.number}"
            seen.add((one.target, symbol))
            allocated = descriptor_facts(raw, one.target.partition(":")[0], file.name)
            name = demangled(symbol[:NAME_LETTERS])
            part = symbol.translate(_ESCAPED) if symbol.strip(".") else symbol.replace(".", "%2E")
            found.append(CompiledKernel(file / place / part, one.target, symbol, name, allocated))
        if len(found) > MAX_KERNELS:
            many = Message("Of {0} the first {1:,} kernels are listed.", file.name, MAX_KERNELS)
            problems.warn(file.name, many, "Choose with --target, or name a smaller file.", Affects.CODE)
            break
    return CompiledFile(tuple(found[:MAX_KERNELS]), tuple(problems))


def _name(kernel: KernelCode) -> str:
    return kernel.name or f"{kernel.address:#x}"


def chosen_kernels(path: Path, options: RawOptions) -> tuple[CompiledKernel, ...]:
    """Return the kernels of a file that fit the options `--kernel` and `--target`.

    `path` is the file, or `FILE/TARGET`.  Raise a TraceError if there is none.
    """
    file = file_of(path)
    assert file is not None
    found = compiled_kernels(file)
    if not found.kernels:
        raise NotATrace(file, found.problems[0].text if found.problems else "it holds no kernel for AMD GPUs")
    target = options.target or (path.name if path != file else "")
    fitting = [one for one in found.kernels if is_of(one.target, target)]
    named = [one for one in fitting if options.kernel in ("", one.symbol, one.name)]
    named = named or [one for one in fitting if options.kernel in one.name or options.kernel in one.symbol]
    if not named:
        wanted = Message("kernel {0}", options.kernel) if fitting else Message("target {0}", target)
        there = [one.name for one in fitting] or [one.target for one in found.kernels]
        hint = Message("There are: {0}.", some(list(dict.fromkeys(there)), 8))
        raise TraceError(Message("{0} has no {1}.", file.name, wanted), hint=hint)
    return tuple(named)


def kernel_label(path: Path) -> str:
    """Return name and target of a kernel by its path, such as `vector_add (gfx942)`."""
    return f"{demangled(unquote(path.name))} ({path.parent.name})"


def files_below(folder: Path, depth: int) -> Iterator[Path]:
    """Yield the files at or below a folder that may hold kernels; links are not followed."""
    files, folders = 0, 0
    todo = [(folder, 0)]
    while todo and folders < MAX_FOLDERS:
        place, level = todo.pop()
        folders += 1
        try:
            with os.scandir(place) as entries:
                names = sorted(islice(entries, MAX_FILES - files), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in names:
            if entry.is_symlink() or entry.name.startswith("."):
                continue
            if entry.is_dir():
                todo += [(Path(entry.path), level + 1)] if level < depth else []
                continue
            files += 1
            is_named = entry.name.lower().endswith((*SURE, *LIKELY)) or ".so." in entry.name
            if is_named and may_hold_kernels(Path(entry.path)):
                yield Path(entry.path)


def open_compiled(path: Path, options: RawOptions) -> Trace:
    """Open the kernel at a path below its file as a trace without waves; raise a TraceError."""
    file = file_of(path)
    if file is None or len(path.relative_to(file).parts) != 2:
        raise NotATrace(path, "it names no kernel of a file")
    problems = Problems(compiled_kernels(file).problems)
    found, kernel = _object_of(path, file)
    programs = _programs(found, kernel)
    generation = generation_of(found.target) or 9
    begun = {int(one.address[0]): one for one in programs}
    called = (one for one in found.functions if one.address in begun)
    names = {one.address: (one.name, demangled(one.name[:NAME_LETTERS])) for one in called}
    code = program_code(
        {(found.id, address): one for address, one in begun.items()},
        gfxip=generation,
        sources=lambda _, addresses: source_texts(found.places(addresses)),
        names=lambda _, address: names.get(address, ("", "")),
        problems=problems,
    )
    problems += found.problems
    affects = (Affects.WAVES, Affects.OCCUPANCY, Affects.COUNTERS)
    problems.inform(file.name, NOT_RUN, WHAT_THEN, *affects, brief=NOT_RUN_BRIEF)
    report_no_lines(code.table, file.name, problems)
    sources = sources_of(file.parent, frozenset(), list(code.paths), options.source_map, problems)
    address = code.table.address
    kernels = [replace(one, lanes=found.lanes(int(address[one.first]))) for one in code.table.kernels]
    return Trace(
        path=path,
        name=file.name,
        gfxip=generation,
        target=found.target or f"gfx{generation}",
        target_from=TARGET_FROM if found.target else "",
        is_static=True,
        waves=WaveIndex.empty(file=(), **_NARROW, wid=np.int32, kernel=np.int32),
        code=replace(code.table, kernels=tuple(kernels)),
        sources=sources,
        occupancy=WaveEvents.empty(
            **_NARROW, me=np.int16, pipe=np.int16, is_start=bool, kernel=np.int32, names={}, start=0, stop=0
        ),
        reader=NoWaves(architecture_of(generation, found.target).base_clock),
        problems=tuple(problems),
        facts=_facts(found, kernel, file),
    )


def _object_of(path: Path, file: Path) -> tuple[CodeObject, KernelCode]:
    target, _, number = path.parent.name.partition("@")
    symbol = unquote(path.name)
    for one in found_objects(file, Problems(), "" if target == "gpu" else target):
        if number and str(one.number) != number:
            continue
        if not number and (known := kernels_of(one.data)) and symbol not in known:
            continue
        image = read_image(read_object(one, file.name), file.name, one.target.partition(":")[0])
        found = CodeObject(one.number, file.name, image, path=file)
        for kernel in found.kernels:
            if _name(kernel) == symbol:
                return found, kernel
    raise NotATrace(path, Message("{0} has no such kernel any more", file.name))


def _programs(found: CodeObject, kernel: KernelCode) -> list[Program]:
    """The kernel, and if it calls any the functions of its object that are not kernels."""
    own = found.program(kernel.address)
    if own is None or not len(own):
        raise BrokenFile(found.name, Message("it has no instructions of {0}", kernel.name))
    programs = [own]
    if any(text.startswith(_CALLS) for text in own.text):
        others = (one for one in found.functions if one.name and not one.is_kernel)
        called = (found.program(one.address) for one in islice(others, MAX_CALLED))
        programs += [one for one in called if one is not None and len(one)]
    return programs


def _facts(found: CodeObject, kernel: KernelCode, file: Path) -> RunFacts:
    """What the descriptor, and Triton's file beside it, say about a launch; -1 where they do not."""
    assert found.image is not None
    allocated = allocated_registers(found.image, kernel.name, file.name)
    triton = _triton(file, kernel.name)
    threads = triton.get("num_warps", 0) * (found.lanes(kernel.address) or 64)
    return RunFacts(
        kernel=KernelResources(
            kernel=kernel.name,
            dispatch=-1,
            vgprs=-1 if allocated is None else allocated.vgprs,
            accum_vgprs=0,
            sgprs=-1 if allocated is None else allocated.sgprs,
            lds=triton.get("shared", -1),
            scratch=-1 if allocated is None else allocated.scratch,
            workgroup=(threads, 1, 1) if threads else (-1, -1, -1),
            grid=(-1, -1, -1),
            file=file.name,
        ),
        allocated=allocated,
    )


def _triton(file: Path, kernel: str) -> dict[str, int]:
    """The numbers in the file that Triton writes beside a code object; none if it is of another kernel."""
    try:
        document: Any = parse_json(read_bytes(file.parent, f"{file.stem}.json", MAX_JSON), file.stem)
    except TraceError:
        return {}
    if not isinstance(document, dict) or document.get("name", kernel) != kernel:
        return {}
    known = ((name, document.get(name)) for name in ("num_warps", "shared"))
    return {name: one for name, one in known if type(one) is int and 0 <= one < 1 << 20}


def compiled_below(folder: Path, depth: int, options: RawOptions) -> tuple[Path, ...]:
    """Return the kernels of all files of a folder and below it that fit the options, sorted by file."""
    found: list[Path] = []
    for file in sorted(files_below(folder, depth)):
        with suppress(TraceError):
            found += (one.path for one in chosen_kernels(file, options))
        if len(found) >= MAX_KERNELS:
            break
    return tuple(found[:MAX_KERNELS])
