"""What is fed with mutated input.  An area makes its input from a generator alone, and uses it once.

Returning is a result; one of `TYPED` is the answer to bad input; any other exception is a bug.
"""

import contextlib
import io
import json
import random
import re
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock
from unittest.mock import patch

import numpy as np
import orjson

from rcv_py.analysis.compare.align import shape
from rcv_py.analysis.counters.formula.evaluate import Evaluator, evaluate, read_definitions
from rcv_py.analysis.counters.formula.parser import parse as parse_formula
from rcv_py.analysis.program.matrix_forms import matrix_cycles
from rcv_py.analysis.program.registers import registers
from rcv_py.analysis.waits.waitcnt.generations import GFX9, GFX11, GFX12, GFX1250
from rcv_py.base.errors import RcvError, UsageError
from rcv_py.base.patterns import Pattern
from rcv_py.base.text import demangled, short_kernel
from rcv_py.cli.arguments import parse as parse_words
from rcv_py.cli.main import main
from rcv_py.cli.mcp.tools import AllowedPaths, Tool, tools
from rcv_py.features.compat.script_numbers import class_of
from rcv_py.formats.isa.code_object import CodeObject
from rcv_py.formats.isa.elf import read_image
from rcv_py.formats.notes.document import read_notes
from rcv_py.formats.open import open_trace
from rcv_py.formats.packed.capture import write_packed
from rcv_py.formats.pmc_files import pmc_table
from rcv_py.formats.sqtt import rdna_walk
from rcv_py.formats.sqtt.decode import decode
from rcv_py.formats.uiout import waves as wave_json
from rcv_py.formats.uiout.code import places
from rcv_py.formats.uiout.run_files import run_facts
from rcv_py.formats.uiout.write import write_folder
from rcv_py.model.ids import WaveId
from rcv_py.state.selection import SelectedPlace, Selection
from tests.formats.sqtt.mangled import damaged as damaged_stream
from tests.formats.sqtt.mangled import read as read_stream
from tests.formats.sqtt.rdna_streams import streams
from tests.formats.sqtt.whole_stream import check
from tests.fuzz.mutate import VALUES, damaged_bytes, damaged_text, damaged_tree
from tests.support.checked_kernels import plain
from tests.support.object_files import code_file
from tests.support.paths import ROOT
from tests.support.whole_capture import CODE, every_kind, write

TYPED = (RcvError,)
_USAGE = (2, 130)
_BUG = 1


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a worker writes: the capture lies deep in `run/`, and nothing beside `run/` may be read.

    Tables of the run are looked for in the folders above a capture, as many as libraries have: all in `run/`.
    """

    root: Path

    @property
    def capture(self) -> Path:
        """The capture's folder."""
        return self.above / "ui_output_agent_1_dispatch_2"

    @property
    def above(self) -> Path:
        """The folder of the capture, with the tables of the run."""
        return self.root / "run" / "a" / "b" / "c" / "d" / "e"

    @property
    def packed(self) -> Path:
        """The capture as one file."""
        return self.above / "packed.rcvz"

    @property
    def out(self) -> Path:
        """What may be written into, as deep as the capture: folders that are written there are opened."""
        return self.root / "run" / "f" / "g" / "h" / "i" / "j" / "out"

    def prepare(self) -> None:
        """Write the capture, its tables, and what nobody may read."""
        shutil.rmtree(self.root, ignore_errors=True)
        write(self.root / "outside", {"secret.json": {"wave": {}}})
        write(self.capture, FILES)
        write(self.above, TABLES)
        self.out.mkdir(parents=True)
        trace = open_trace(self.capture)
        columns = trace.reader.columns(list(range(len(trace.waves))))
        write_packed(self.packed, trace, [columns], facts=run_facts(self.capture, "my_kernel"))


FILES = every_kind()
TABLES: dict[str, bytes] = {
    "1_kernel_trace.csv": b"Kind,Agent_Id,Kernel_Name,Dispatch_Id,VGPR_Count,Accum_VGPR_Count,SGPR_Count,"
    b"LDS_Block_Size,Scratch_Size,Start_Timestamp,End_Timestamp,Workgroup_Size_X,Workgroup_Size_Y,"
    b"Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"
    b"KERNEL_DISPATCH,Agent 1,my_kernel,2,64,0,32,1024,0,100,900,256,1,1,1024,1,1\n",
    "1_agent_info.csv": b"Node_Id,Agent_Type,Name,Cu_Count,Simd_Count,Wave_Front_Size,Lds_Size_In_Kb\n"
    b"1,GPU,gfx950,256,1024,64,160\n",
    "1_results.json": b'{"x": [{"metadata": {"command": ["./a.out", "-n", "3"]}}]}',
    "pass_1_counter_collection.csv": b"Kernel_Name,Dispatch_Id,Counter_Name,Counter_Value\n"
    b"my_kernel,2,TCC_HIT_sum,12\nmy_kernel,2,TCC_MISS_sum,3\n",
}
_JSON = sorted(name for name in FILES if name.endswith(".json"))


# -- readers ----------------------------------------------------------------------------------------------


def wave_files(rng: random.Random, ground: Ground) -> None:
    """Both readers of wave files: they agree, or the quick one declines."""
    data = _damaged(rng, FILES["se0_sm0_sl0_wv0.json"])
    try:
        quick = _plain(wave_json.parse_quickly(data.removeprefix(wave_json.BOM)))
    except Exception:  # whatever it raises, `parse` turns to the other path
        quick = None
    try:
        exact = _plain(wave_json.parse_exactly(data))
    except ValueError as error:
        exact = (str(error),)
    if quick is not None:
        assert quick == exact, "the two readers of wave files disagree"
    try:
        assert _plain(wave_json.parse(data)) == exact
    except ValueError as error:
        raise UsageError(str(error)) from error


def _plain(raw: wave_json.RawWave) -> tuple[object, ...]:
    waits = raw.waits
    return (
        repr(sorted(raw.facts.items())),
        raw.tokens.tolist(),
        raw.timeline.tolist(),
        None if waits is None else [waits.line.tolist(), waits.count.tolist(), waits.depends_on.tolist()],
        raw.doubts,
    )


def _damaged(rng: random.Random, content: Any) -> bytes:
    data = content if isinstance(content, bytes) else b""
    if not isinstance(content, bytes):
        tree = damaged_tree(rng, content) if rng.random() < 0.7 else content
        data = json.dumps(tree, indent=rng.choice((None, None, 2)), ensure_ascii=rng.random() < 0.5).encode()
        if tree is not content and rng.random() < 0.7:
            return data
    return damaged_bytes(rng, data)


def captures(rng: random.Random, ground: Ground) -> None:
    """A capture of which one or two files are damaged: opened, and all waves read."""
    with _changed(rng, ground):
        trace = open_trace(ground.capture)
        batch = trace.reader.read(list(range(min(len(trace.waves), 64))))
        for problem in trace.problems:
            assert problem.text.strip(), "a problem without a sentence"
        assert len(batch.waves) + len(batch.missing) <= 64


@contextlib.contextmanager
def _changed(rng: random.Random, ground: Ground) -> Any:
    chosen = rng.sample(_JSON, rng.choice((1, 1, 1, 2)))
    try:
        for name in chosen:
            (ground.capture / name).write_bytes(_damaged(rng, FILES[name]))
        yield
    finally:
        write(ground.capture, {name: FILES[name] for name in chosen})


def archives(rng: random.Random, ground: Ground) -> None:
    """A packed capture of which one or two members are damaged: opened, read, and written as a folder."""
    path, folder = ground.out / "damaged.rcvz", ground.out / "unpacked"
    if rng.random() < 0.2:
        path.write_bytes(damaged_bytes(rng, ground.packed.read_bytes()))
    else:
        with zipfile.ZipFile(ground.packed) as whole:
            members = [(name, whole.read(name)) for name in whole.namelist()]
        for at in rng.sample(range(len(members)), rng.choice((1, 1, 2))):
            name, data = members[at]
            members[at] = (name, _damaged_member(rng, name, data))
        with zipfile.ZipFile(path, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as damaged:
            for name, data in members:
                damaged.writestr(damaged_text(rng, name) if rng.random() < 0.01 else name, data)
    try:
        trace = open_trace(path)
        batch = trace.reader.read(list(range(min(len(trace.waves), 64))))
        for _, text in (*batch.missing, *batch.notes):
            assert text.strip(), "a wave is missing without a sentence"
        if rng.random() < 0.2:
            folder.mkdir()
            write_folder(trace, [batch], folder)
            assert all(child.parent == folder for child in folder.iterdir())
            open_trace(folder)
    finally:
        path.unlink()
        shutil.rmtree(folder, ignore_errors=True)


NOTES = {
    "annotations": [
        {"id": "a", "severity": "high", "title": "t", "note": "n", "anchor": {"instructions": [1, 2]}},
        {"title": "t", "anchor": {"source": {"file": "kernel.py", "line": 3}}},
        {"title": "t", "anchor": {"wave": "se0/simd1/slot0/wv0", "time": 5}, "x": [{}]},
        {"title": "t", "anchor": {"wave": {"se": 0, "sm": 1, "sl": 2, "wv": 3}, "begin": 1, "end": 9}},
    ],
    "rcv": {"identity": "", "removed": ["a"]},
}


def notes(rng: random.Random, ground: Ground) -> None:
    """A file of notes is read and written again, and reads back."""
    data = _damaged(rng, NOTES)
    found = read_notes(data, "annotations.json")
    again = read_notes(found.written(), "annotations.json")
    assert [note.title for note in again.notes] == [note.title for note in found.notes]


def _damaged_member(rng: random.Random, name: str, data: bytes) -> bytes:
    if name.endswith(".json"):
        return orjson.dumps(damaged_tree(rng, orjson.loads(data)), option=orjson.OPT_NON_STR_KEYS)
    if rng.random() < 0.2:
        return damaged_bytes(rng, data)
    heads = [match.start() for match in re.finditer(b"\x93NUMPY", data)]
    begin = rng.choice(heads)
    stop = min((head for head in heads if head > begin), default=len(data))
    begin += 10 + int.from_bytes(data[begin + 8 : begin + 10], "little")
    if begin >= stop:
        return data
    size = rng.choice((1, 2, 4, 8))
    at = rng.randrange(begin, stop, size)
    number = rng.choice((0, 1, 255, 1 << 15, 1 << 31, 1 << 59, (1 << 63) - 1, (1 << 64) - 1))
    return data[:at] + number.to_bytes(8, "little")[:size] + data[at + size :]


def tables(rng: random.Random, ground: Ground) -> None:
    """What the profiler leaves beside a capture."""
    name = rng.choice(sorted(TABLES))
    path = ground.above / name
    path.write_bytes(damaged_bytes(rng, TABLES[name]))
    try:
        run_facts(ground.capture, "my_kernel", "gfx950")
        if "counter" in name:
            pmc_table([path])
    finally:
        path.write_bytes(TABLES[name])


# -- texts ------------------------------------------------------------------------------------------------

_INSTRUCTIONS = (
    *CODE,
    "s_waitcnt vmcnt(3) lgkmcnt(0)",
    "s_waitcnt 0x3f70",
    "s_wait_loadcnt_dscnt 0x102",
    "s_nop 7",
    "v_dual_fmac_f32 v1, v2, v3 :: v_dual_mov_b32 v4, v5",
    "buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen lds",
    "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]",
    "ds_read_b128 v[0:3], v4 offset:16",
    "global_atomic_add v0, v1, v2, s[0:1] sc0",
    "v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[0:7], v[8:15], 0 cbsz:1 blgp:2",
)
_RULES = (GFX9, GFX11, GFX12, GFX1250)


def gfx9_streams(rng: random.Random, ground: Ground) -> None:
    """A raw stream of gfx9."""
    read_stream(damaged_stream(rng))


def instructions(rng: random.Random, ground: Ground) -> None:
    """Everything that reads the text of an instruction."""
    text = damaged_text(rng, rng.choice(_INSTRUCTIONS))[:512]
    for rules in _RULES:
        effect = rules.effect(text)
        np.array([number for _, number in effect.waits], dtype=np.int64)
    registers(text)
    shape(text)
    class_of(text)
    np.int64(matrix_cycles(text, rng.choice(("gfx942", "gfx950", "gfx11", "gfx12", "gfx9"))) or 0)


@cache
def _plain_walk() -> Callable[..., Any]:
    """The walk over streams of RDNA as Python, which refuses a place that is not there."""
    return plain(rdna_walk, "walk")


def rdna_streams(rng: random.Random, ground: Ground) -> None:
    """Raw streams of gfx10, gfx11, gfx12 and gfx1250."""
    source = streams()[rng.choice(sorted(streams()))]
    at = rng.choice((8, rng.randrange(8, len(source))))
    data = source[:8] + damaged_bytes(rng, source[at : at + 600])
    with patch.object(rdna_walk, "walk", _plain_walk()):
        check(decode(data), len(data))


_FORMULAS = (
    "A + B * 2 - C / (1 + D)",
    "sum(A, axis=[SE, CU])",
    "max(A, B)",
    "mean(A[0], TIME)",
    "A > 3 && B != 0 || !C",
    "delta(A, TIME)",
    "linear(4, SE)",
    "select(A, SE, 1)",
    "remove(A, CU, 0)",
    "R := A / B  # hits [%] of all",
)


def code_objects(rng: random.Random, ground: Ground) -> None:
    """ELF files with lines, and small ones, some with sections that share bytes: what each holds."""
    data = rng.choice(_objects())
    if rng.random() < 0.5:
        data = damaged_bytes(rng, data)
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        data = _overwritten(rng, data)
    found = CodeObject(
        1, "x", read_image(data, "x", rng.choice(("", "gfx90a", "gfx1100", "gfx1250"))), known=()
    )
    assert found.image is not None
    assert sum(len(one.data) for one in found.image.regions) <= len(data)
    for kernel in found.kernels[:3]:
        program = found.program(kernel.address)
        assert program is None or program.row(kernel.address) >= 0
    if rng.random() < 0.03:  # it starts a process
        with mock.patch.object(tempfile, "tempdir", str(ground.capture)):
            found.places(np.arange(0x1600, 0x1630, dtype=np.uint64))


def _overwritten(rng: random.Random, data: bytes) -> bytes:
    """A number of a header, or of a table of sections at the end, exchanged for one at an edge."""
    code = rng.choice("HIQ")
    size = struct.calcsize(code)
    last = max((len(data) - size) // size, 0)
    at = rng.choice((rng.randint(0, min(63 // size, last)), rng.randint(max(last - 1000 // size, 0), last)))
    edges = (0, 1, 2, 255, 1 << 15, 1 << 31, (1 << 63) - 1, (1 << 64) - 1, len(data), len(data) - 1)
    value = rng.choice(edges) & (1 << 8 * size) - 1
    return data[: at * size] + struct.pack("<" + code, value) + data[at * size + size :]


@cache
def _objects() -> tuple[bytes, ...]:
    folder = ROOT / "tests" / "formats" / "isa"
    real = tuple(path.read_bytes() for path in sorted(folder.glob("dwarf*.out")))
    code = {"one": struct.pack("<3I", 0xBF8CC07F, 0xD3AC0000, 0) * 9, "two": struct.pack("<I", 0xBF810000)}
    plain = code_file(code, kernels=("two",), has_symbols=False)
    small = (code_file(code), code_file(code, kernels=("one",)), plain, code_file(code, copies=300))
    return (*real, *small)


def formulas(rng: random.Random, ground: Ground) -> None:
    """Expressions over counters, and files of them."""
    text = damaged_text(rng, rng.choice(_FORMULAS))
    given = {name: np.arange(24, dtype=np.float64).reshape(2, 2, 2, 3) for name in "ABCD"}
    if rng.random() < 0.5:
        found = read_definitions("\n".join([text, *rng.sample(_FORMULAS, 2), f"Z := {text}", "Y := Z + Y"]))
        evaluator = Evaluator(given, found)
        for name in evaluator.definitions.by_name:
            evaluator.result(name)
        return
    evaluate(parse_formula(text), Evaluator(given)._part)


_EXPRESSIONS = (
    "v_add",
    "(a|b)+$",
    r"\bs_wait\w*",
    "[a-z]{2,4}",
    "(?i)MFMA",
    "(a+)+b",
    r"(\w+)\1",
    "(?<=x)y|z*",
)
_PLACES = (
    "se3/simd1/slot0/wv0:line 118#7@126704",
    "line 118",
    "118",
    "@126704",
    "line-118",
    "wave-se3-sm1-sl0-wv0@12",
    "report.html#line-3",
)
_SYMBOLS = (
    "_ZN3foo3barIiLi3EEvPKc",
    "void ns::f<int, (anonymous)::g<3>>(float*)",
    "f(int) [clone .kd]",
    "kernel.kd",
)
_SOURCES = ("/a/b.py:3 -> /c/d.py:9", "C:\\x\\y.hip:12", "k.py:?", "<stdin>:0")


def filters(rng: random.Random, ground: Ground) -> None:
    """What people search for, point at and name; and names and places of captures."""
    kind = rng.randrange(5)
    if kind == 0:
        with patch("rcv_py.base.patterns.TIMEOUT_S", 0.02):
            pattern = Pattern(damaged_text(rng, rng.choice(_EXPRESSIONS)), rng.random() < 0.5)
        for text in (*CODE, "ab" * 200):
            pattern.is_in(text)
            pattern.spans(text, 0.02)
    elif kind == 1:
        text = damaged_text(rng, rng.choice(_PLACES))
        for read in (SelectedPlace.parse, Selection.parse, WaveId.parse):
            with contextlib.suppress(ValueError):
                assert read(str(read(text))) == read(text)
    elif kind == 2:
        text = damaged_text(rng, rng.choice(_SYMBOLS))
        short_kernel(text)
        demangled(text)
    elif kind == 3:
        places(damaged_text(rng, rng.choice(_SOURCES)))
    else:
        _parsed(_words(rng, ground))


# -- commands, exports, calls of agents ------------------------------------------------------------------

_COMMANDS = (
    *("info", "info --read", "triage --json", "check", "summary", "hotspot", "hotspot --by source"),
    *("hotspot --charge self", "hotspot --bins 8", "isa --csv", "isa --blocks", "isa --branches"),
    *("isa --bars kinds --match wait", "source", "source --inlined", "line 2", "waits"),
    *("waits --latency", "causes", "causes --by producer", "loops", "loops --by iterations"),
    *("loops --by chains", "loops --by barriers", "loops --by segments", "bubbles"),
    *("latency --by memory", "occupancy", "occupancy --limits", "occupancy --by state", "events"),
    *("counters", "counters --json", "flame", "flame --folded", "waves", "waves --csv"),
    *("search v_ --regex", "hotspot --like new", "pmc", "index"),
)
_EXPORTS = (
    "export --to perfetto --out {out}/a.pftrace",
    "export --to speedscope --out {out}/a.json",
    "export --to csv --out {out}/tables",
    "report --out {out}/a.html",
    "report --format md --out {out}/a.md",
)


def commands(rng: random.Random, ground: Ground) -> None:
    """A command on a damaged capture."""
    _on_damaged(rng, ground, rng.choice(_COMMANDS))


def exports(rng: random.Random, ground: Ground) -> None:
    """A file written from a damaged capture."""
    _on_damaged(rng, ground, rng.choice(_EXPORTS).format(out=ground.out))


def _on_damaged(rng: random.Random, ground: Ground, line: str) -> None:
    command, *more = line.split()
    with _changed(rng, ground):
        _run([command, str(ground.capture), *more])


def _run(words: list[str]) -> None:
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else _BUG
    if code == _BUG:
        raise AssertionError(err.getvalue()[-1500:])
    if code in _USAGE:
        raise UsageError(err.getvalue())


_TOOLS: dict[str, Tool] = tools(can_write=True)
_VALUES = (
    *VALUES,
    *("7", "3:9", "se0/simd0/slot0/wv0", "100x100", 7, 3, 10**17, 10**19, 10**4400, ".", "line 3", "nan"),
)


def calls(rng: random.Random, ground: Ground) -> None:
    """Arguments of an agent: words of a command line, or a sentence; some are run."""
    tool = _TOOLS[rng.choice(sorted(_TOOLS))]
    given: dict[str, Any] = {
        name: str(ground.capture) for name in ("folder", "other") if name in tool.actions
    }
    for name in rng.sample(sorted(tool.actions), min(len(tool.actions), rng.choice((0, 1, 1, 2, 4)))):
        value = rng.choice(_VALUES)
        given[name] = [value] * rng.choice((1, 2, 2000)) if rng.random() < 0.2 else value
    if rng.random() < 0.1:
        given[rng.choice(("", "x", "folders", "json", "fail_on"))] = rng.choice(_VALUES)
    fence = AllowedPaths.of(ground.root / "run", ground.out)
    words = tool.words(given, fence)
    _parsed(words)
    if rng.random() < 0.04 and tool.name not in ("shot", "index", "report", "export"):
        _run(words)


def _words(rng: random.Random, ground: Ground) -> list[str]:
    tool = _TOOLS[rng.choice(sorted(_TOOLS))]
    names = [text for action in tool.actions.values() for text in action.option_strings]
    more = [
        word
        for name in rng.sample(names, min(len(names), 3))
        for word in (name, damaged_text(rng, rng.choice(("3", "1:2", "a", "", "100x100"))))
    ]
    return [tool.name, str(ground.capture), *more]


def _parsed(words: list[str]) -> None:
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            parse_words(words)
    except SystemExit as stop:
        raise UsageError("refused") from stop


@dataclass(frozen=True, slots=True)
class Area:
    """A function of a generator, and how many of 1,000 inputs it gets: most are cheap."""

    use: Callable[[random.Random, Ground], None]
    share: int


AREAS = {
    "wave files": Area(wave_files, 340),
    "captures": Area(captures, 70),
    "tables": Area(tables, 50),
    "archives": Area(archives, 70),
    "notes": Area(notes, 30),
    "gfx9 streams": Area(gfx9_streams, 10),
    "instructions": Area(instructions, 150),
    "code objects": Area(code_objects, 60),
    "RDNA streams": Area(rdna_streams, 10),
    "formulas": Area(formulas, 150),
    "filters": Area(filters, 130),
    "commands": Area(commands, 8),
    "exports": Area(exports, 2),
    "calls": Area(calls, 100),
}
_ORDER = random.Random(0).sample(
    [name for name, area in AREAS.items() for _ in range(area.share)],
    sum(area.share for area in AREAS.values()),
)


def area_of(number: int) -> str:
    """The area of an input by its number."""
    return _ORDER[number % len(_ORDER)]
