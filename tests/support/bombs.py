"""Captures that ask for more than they are worth: small files that once took minutes, or gigabytes."""

import contextlib
import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from rcv_py.cli.main import main
from rcv_py.formats.capture_cache import CaptureCache
from tests.support.whole_capture import (
    CODE,
    HEADER,
    capture,
    default_waves,
    name_of,
    row,
    wave,
    wave_tree,
    write,
)

Change = Callable[[dict[str, Any]], None]
Files = dict[str, Any]


def _source(path: str) -> Change:
    def change(files: Files) -> None:
        for one in files["code.json"]["code"][1:]:
            one[3] = path

    return change


def _kernel(name: str) -> Change:
    def change(files: Files) -> None:
        files["code.json"]["code"][0][0] = f"; {name}"
        files["occupancy.json"]["dispatches"]["1"] = name

    return change


def _texts(*texts: str) -> Change:
    """Instructions that are executed, in place of those of the usual capture; the rest of them stays."""

    def change(files: Files) -> None:
        for place, text in enumerate(texts, 1):
            files["code.json"]["code"][place][0] = text

    return change


def _program(texts: list[str]) -> Change:
    """A long program, of which the first instructions ran as usual."""

    def change(files: Files) -> None:
        rows = files["code.json"]["code"]
        more = [row(text, len(rows) + i, 1, 4, 0, 0, at=0x2000 + 4 * i) for i, text in enumerate(texts)]
        files["code.json"] = {"code": [*rows, *more], "header": HEADER, "version": "3.0.0"}

    return change


def _run(texts: list[str]) -> Change:
    """A long program that one wave executes from begin to end."""

    def change(files: Files) -> None:
        head = [row("; my_kernel", 0, at=0x1000)]
        rows = [row(text, 1 + i, 1, 4, 0, 0, at=0x1000 + 4 * i) for i, text in enumerate(texts)]
        done = [[32 + 4 * i, 8 if "branch" in text else 6, 0, 4, 1 + i] for i, text in enumerate(texts)]
        begin = 1000
        stop = begin + 64 + 4 * len(texts)
        tokens = [[begin + time, *rest] for time, *rest in done]
        one = wave(begin, instructions=tokens, timeline=[[2, stop - begin]], waitcnt=[], end=stop)
        place = (0, 0, 0, 0)
        files.clear()
        files.update(capture({place: wave(begin, end=stop)}) | {name_of(place): one})
        files["code.json"] = {"code": [*head, *rows], "header": HEADER, "version": "3.0.0"}

    return change


def _back(count: int) -> list[str]:
    """Branches, each back to the begin of a loop around all loops before it, or as far as words reach."""
    far = [65536 - min(2 * i + 2, 32_000) for i in range(count)]
    return ["s_nop 0"] * min(count, 30_000) + [f"s_cbranch_scc1 {distance}" for distance in far]


def _nested(count: int) -> list[str]:
    """Loops, each around all before it."""
    return ["s_nop 0"] * count + [f"s_cbranch_scc1 {65536 - 2 * i - 2}" for i in range(count)]


def _often(files: Files) -> None:
    tree = wave_tree(default_waves())
    first = tree["0"]["0"]["0"]["0"]
    tree["0"]["1"] = {"0": {str(i): first for i in range(30_000)}}
    files["filenames.json"]["wave_filenames"] = tree


def _other_often(files: Files) -> None:
    files["filenames.json"]["other_simd_filenames"] = {"0": [["other.json", 0, 9]] * 20_000}
    files["filenames.json"]["shaderdata_filenames"] = {"0": [["shader.json", 0, 9]] * 20_000}
    rows = [[1000 + i, 4, 3] for i in range(200)]
    files["other.json"] = {"wgp": 3, "instructions": rows}
    files["shader.json"] = {"records_schema": ["time"], "records": [[1001, 6, 3, 1, 0, 0]]}


def _deep_dirs(files: Files) -> None:
    for i, one in enumerate(files["code.json"]["code"][1:]):
        one[3] = " -> ".join(f"/a{i}{'/d' * 90}/f{j}.py:{j + 1}" for j in range(3_000))


DIGITS = "9" * 5000


@cache
def bombs() -> dict[str, Change]:
    """What is done to a capture, by name: tens of megabytes of text, made where they are wanted."""
    return {
        "nothing": lambda files: None,
        "path of 40,000 folders": _source("/" + "a/" * 40_000 + "k.py:3"),
        "path of 200,000 folders": _source("/" + "a/" * 200_000 + "k.py:3"),
        "path of 200,000 different folders": _source("/" + "/".join(map(str, range(200_000))) + "/k.py:3"),
        "chain of 100,000 places": _source(" -> ".join(["/a.py:1"] * 100_000)),
        "20,000 files in deep folders": _deep_dirs,
        "name with 90,000 template brackets": _kernel(
            "void f<" + "a<" * 90_000 + "int" + ">" * 90_000 + ">(int)"
        ),
        "name with 90,000 open brackets": _kernel("void f" + "<" * 90_000 + "(int)"),
        "name with 90,000 brackets side by side": _kernel("void f" + "<a>" * 90_000),
        "symbol with 90,000 templates": _kernel("_ZN1a" + "I" * 90_000 + "E" * 90_000 + "E"),
        "symbol of 90,000 parts": _kernel("_ZN" + "1a" * 90_000 + "Ev"),
        "symbol with lengths that overlap": _kernel("_ZN1a" + "I1" * 90_000),
        "instruction of 16 KB": _texts("s_load_dwordx2 " + "s[0:1], " * 2000),
        "instruction of 16 KB of spaces": _texts("s_waitcnt" + " " * 16_000 + "x"),
        "instruction of 16 KB of words": _texts("v_add_" + "a_" * 8000 + "co_"),
        "instruction of 16 KB of digits": _texts("v_mfma_f32_" + "1x" * 8000),
        "instruction of 1 MB of registers": _texts("s_load_dwordx2 " + "s[0:1], " * 125_000),
        "instruction of 10 MB of spaces": _texts("s_waitcnt" + " " * 10_000_000 + "x"),
        "instructions of 10 MB": _texts(*(text + " v1," * 2_500_000 for text in CODE[1:4])),
        "label of 10 MB": _kernel("a" * 10_000_000),
        "25,000 branches": _program(_back(25_000)),
        "25,000 branches forward": _program([f"s_cbranch_scc0 {i % 15_000}" for i in range(25_000)]),
        "5,000 nested loops": _program(_nested(5_000)),
        "5,000 nested loops that run": _run(_nested(5_000)),
        "50,000 branches that run": _run(_back(50_000)),
        "3,000 instructions without a word lds": _program(
            [f"global_atomic_{i}" + '"' * 490 for i in range(3_000)]
        ),
        "50,000 labels": _program([f"; label_{i}" for i in range(50_000)]),
        "a wave file 30,000 times": _often,
        "other files 20,000 times": _other_often,
        "branch of 5,000 digits": _texts("s_load_dword s0, s[0:1], 0x0", f"s_cbranch_scc1 {DIGITS}"),
        "waits of 5,000 digits": _texts(
            f"s_waitcnt vmcnt({DIGITS})", f"s_waitcnt {DIGITS}", f"s_wait_loadcnt {DIGITS}"
        ),
        "waits of 20 digits": _texts(
            *(text.format("9" * 20) for text in ("s_waitcnt vmcnt({})", "s_waitcnt {}", "s_nop {}"))
        ),
        "waits with leading zeros": _texts("s_waitcnt vmcnt(007)", "s_waitcnt 0123", "s_nop 08"),
        "registers of 5,000 digits": _texts(
            f"v_mov_b32 v{DIGITS}, v[{DIGITS}:{DIGITS}]",
            f"s_nop {DIGITS}",
            f"v_mfma_f32_{DIGITS}x{DIGITS}x{DIGITS}_f16 a[0:{DIGITS}], v[0:1], v[2:3], 0",
        ),
        "registers of 20 digits": _texts(
            f"v_mov_b32 v{'9' * 20}, v[0:{'9' * 20}]",
            f"v_add_u32 v[0:{'9' * 9}], v1, v2",
            f"v_mfma_f32_{'9' * 20}x4x4_f16 a[0:15], v[0:1], v[2:3], 0 cbsz:9",
        ),
        "lines of 5,000 digits": _source(f"/a.py:{DIGITS}"),
        "waits of gfx12 of 20 digits": _texts(
            f"s_wait_loadcnt {'9' * 20}", f"s_wait_loadcnt_dscnt 0x{'f' * 20}", f"s_wait_kmcnt 0{'7' * 20}"
        ),
    }


def bomb(folder: Path, name: str) -> Path:
    """Write the capture of that name into a folder."""
    files = capture()
    bombs()[name](files)
    return write(folder, files)


def answer(folder: Path, *lines: str) -> None:
    """Run commands on a capture, in this process, which opens it once; say which one met a bug."""
    cache = CaptureCache(1)
    for line in lines:
        command, *more = line.split()
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = main([command, str(folder), *more], cache)
        assert code in (0, 2), line
