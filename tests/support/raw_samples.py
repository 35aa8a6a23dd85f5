"""Simulated captures as raw ones: `.att` files, code objects and `code.json`, with what is true of them.

The streams are written by the encoders of tests/formats/sqtt, which share nothing with the decoders.  What a
stream cannot tell of a simulated wave is left out of the truth, too, as these encoders say.  Words of the
code objects have the lengths, and where a GPU has any the categories, of the instructions that `code.json`
spells out.
"""

import json
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.synth.build import build
from rcv_py.synth.capture import SyntheticCapture, WaveRun
from rcv_py.synth.program import SyntheticKernel
from rcv_py.synth.samples import SAMPLES
from tests.formats.sqtt import encode_gfx9 as gfx9
from tests.formats.sqtt.rdna_encoder import Encoder, Wave, expressible
from tests.support.object_files import TEXT, code_file
from tests.support.samples import STORE, once
from tests.support.sqtt_truth import Raw

# Raw samples: the simulated capture, and whether its second dispatch is there, whose waves ran elsewhere.
PLANS = {
    "gfx9": ("matmul_small", False),
    "kernels": ("kernels", False),  # gfx9, four kernels, each in a code object of its own
    "gfx11": ("gfx11", True),
    "gfx12": ("gfx12", False),
}
DISPATCHES = (("gfx9", 1), ("kernels", 1), ("gfx11", 1), ("gfx11", 2), ("gfx12", 1))
ALONE = ("gfx9", "gfx11", "gfx12")  # of a single kernel
TARGETS = {9: ("gfx950", 0x4F), 11: ("gfx1100", 0x41), 12: ("gfx1200", 0x48)}
VERSIONS = {9: 6, 11: 3, 12: 4}
WITHOUT_CLOCK = ((9, 0), (9, 1), (12, 1))  # generation and engine
BASE = 0x7F12_3450_0000  # where the first code object lies; the others follow
APART = 0x10_0000
FIRST_CODE = 1
TICKS = (1 << 36) - 1  # of the constant clock that fit into a token of gfx11


@cache
def raw_sample(name: str, dispatch: int = 1) -> Raw:
    """A raw sample in a folder that all tests of the run share: nobody writes into it."""
    files, said = once(f"raw-{name}", lambda: _made(name))
    folder = Path(os.environ[STORE]) / f"raw_{name}"
    if not folder.exists():
        part = folder.with_name(f"raw_{name}.{os.getpid()}")
        part.mkdir()
        for file, data in files.items():
            (part / file).write_bytes(data)
        try:
            part.rename(folder)
        except OSError:
            assert folder.is_dir(), "another process wrote it meanwhile"
    return Raw(name, folder, said, dispatch)


def copied(raw: Raw, folder: Path, *patterns: str) -> Path:
    """Copy the files of these patterns, all by default, into a folder of a test's own."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(file for pattern in patterns or ("*",) for file in raw.folder.glob(pattern)):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def _made(name: str) -> tuple[dict[str, bytes], dict[str, Any]]:
    plan, has_second = PLANS[name]
    capture = build(SAMPLES[plan].plan()).capture
    arch, machine = TARGETS[capture.generation]
    files: dict[str, bytes] = {}
    codes, captures, rows = {}, [], []
    for number, kernel in enumerate(capture.kernels, start=FIRST_CODE):
        one = _code(kernel, number)
        codes[str(number)] = one
        code = b"".join(_words(text, size, capture.generation) for _, size, text in one["isa"])
        before = {"before": struct.pack("<I", 0xBF800000) * ((kernel.address - TEXT) // 4)}
        functions = {key: data for key, data in before.items() if data} | {kernel.symbol: code}
        files[f"{arch}_code_object_id_{number}.out"] = code_file(
            functions, machine=machine, kernels=(kernel.symbol,)
        )
        rows += _code_rows(kernel, number)
    files["code.json"] = json.dumps({"code": rows}).encode()
    for dispatch, waves in enumerate((capture.waves, ())[: 1 + has_second], start=1):
        ran = capture.waves[0].cu
        for se in sorted({wave.se for wave in capture.waves}):
            elsewhere = [
                row
                for row in capture.truth.residencies.tolist()
                if row[0] == se and (row[1] != ran or row[2] not in {wave.simd for wave in capture.waves})
            ]
            alone = replace(capture, waves=tuple(wave for wave in waves if wave.se == se))
            file = f"1_0_shader_engine_{se}_{dispatch}.att"
            write = gfx9_stream if capture.generation == 9 else _rdna
            files[file], said = write(alone, se, elsewhere)
            captures.append({"file": file, "se": se, "code_object": FIRST_CODE, **said})
    return files, {"arch": arch, "code": codes, "captures": captures}


def _code(kernel: SyntheticKernel, number: int) -> dict[str, Any]:
    isa = [
        [address, one.meaning.size, one.text]
        for address, one in zip(kernel.addresses, kernel.instructions, strict=True)
    ]
    return {"kernel": kernel.symbol, "base": _base(number), "text": kernel.address, "isa": isa}


def _base(number: int) -> int:
    return BASE + APART * (number - FIRST_CODE)


def _code_rows(kernel: SyntheticKernel, number: int) -> Iterator[list[Any]]:
    """The kernel as `code.json` has it; totals are those of another run."""
    yield [f"; {kernel.symbol}", 0, 0, kernel.demangled, number, kernel.address, 0, 0, 0, 0]
    for address, one in zip(kernel.addresses, kernel.instructions, strict=True):
        yield [one.text, 0, 0, one.source, number, address, 7, 7, 7, 7]


# -- words of instructions, from the documents of the instruction sets ---------------------------------------

_SEQUENCER = {
    9: {0: "s_nop", 1: "s_endpgm", 2: "s_branch", 4: "s_cbranch_scc0", 5: "s_cbranch_scc1"}
    | {6: "s_cbranch_vccz", 8: "s_cbranch_execz", 10: "s_barrier", 12: "s_waitcnt", 15: "s_setprio"},
    11: {0: "s_nop", 5: "s_clause", 9: "s_waitcnt", 33: "s_cbranch_scc0", 34: "s_cbranch_scc1"}
    | {32: "s_branch", 48: "s_endpgm", 53: "s_setprio", 61: "s_barrier"},
    12: {0: "s_nop", 20: "s_barrier_wait", 33: "s_cbranch_scc0", 34: "s_cbranch_scc1", 48: "s_endpgm"},
}
_PREFIXES: dict[int, dict[str, int]] = {
    9: {"s_load": 0xC0020000, "ds_": 0xD8000000, "global_": 0xDC508000, "v_": 0xD1FF0004},
    11: {"s_load": 0xF4000000, "ds_": 0xD8000000, "global_": 0xDC520000, "v_": 0xD6130004},
    12: {"s_load": 0xF4000000, "ds_": 0xD8000000, "global_": 0xD6130004, "v_": 0xD6130004},
}


def _words(text: str, size: int, generation: int) -> bytes:
    """Words of that length that a GPU reads as an instruction of that kind, or of another."""
    name, *operands = text.split()
    numbers = {one: number for number, one in _SEQUENCER[generation].items()}
    if name in numbers:
        operand = int(operands[0], 0) if operands and "branch" in name else 0
        return struct.pack("<I", 0xBF800000 | numbers[name] << 16 | operand & 0xFFFF)
    if name == "s_waitcnt_vscnt":
        return struct.pack("<I", 0xBC7C0000)
    if size == 4:
        return struct.pack("<I", 0x7E000280 if name.startswith("v_") else 0xBE800080)
    for prefix, word in _PREFIXES[generation].items():
        if name.startswith(prefix):
            return struct.pack("<II", word, 0)
    return struct.pack("<II", 0xBE8000FF, 0x12345678)


# -- streams ----------------------------------------------------------------------------------------------


def _launches(capture: SyntheticCapture, elsewhere: Iterable[Sequence[int]]) -> dict[int, int]:
    """When the first wave of each kernel began."""
    begins: dict[int, int] = {}
    lives = [(row[4], row[6]) for row in elsewhere] + [(one.begin, one.kernel) for one in capture.waves]
    for begin, kernel in lives:
        begins[kernel] = min(begin, begins.get(kernel, begin))
    return begins


def _addresses(capture: SyntheticCapture, wave: WaveRun) -> list[int]:
    """Where each token of a simulated wave stands: its code rows count labels, too."""
    kernel = capture.kernels[wave.kernel]
    before = sum(1 + len(one.instructions) for one in capture.kernels[: wave.kernel])
    return [kernel.addresses[row - before - 1] for row in wave.tokens[:, 4].tolist()]


def _wave(wave: WaveRun, cu: int, end: int, entry: int, **told: Any) -> dict[str, Any]:
    place = {"cu": cu, "simd": wave.simd, "slot": wave.slot, "begin": wave.begin, "end": end}
    return {**place, "complete": True, "entry": [entry, 0], "stitched": [len(told["insts"])] * 2, **told}


def gfx9_stream(
    capture: SyntheticCapture, se: int, elsewhere: Sequence[Sequence[int]], **header: int
) -> tuple[bytes, dict[str, Any]]:
    """The stream of a shader engine, with more facts for its header, and what is true of it."""
    tape = gfx9.Tape(cu=1)
    launches, residents, waves = [], [], []
    entries = [_base(number) + one.address for number, one in enumerate(capture.kernels, start=FIRST_CODE)]
    for kernel, begin in _launches(capture, elsewhere).items():
        for place, value in ((0xC, entries[kernel] >> 8 & 0xFFFF_FFFF), (0xD, entries[kernel] >> 40)):
            tape.put(begin - 16, gfx9.compute(place, value))
        tape.put(begin - 12, gfx9.compute(0, 5))
        launches.append([begin - 12, 0, 0, capture.kernels[kernel].address])
    for _, cu, simd, slot, begin, end, kernel, _ in elsewhere:
        tape.put(begin, gfx9.start(cu, simd, slot), gfx9.BEFORE)
        tape.put(end - gfx9.CLOCK, gfx9.end(cu, simd, slot), gfx9.LAST)
        residents.append((cu, simd, slot, begin, end - gfx9.CLOCK, kernel))
    for wave in capture.waves:
        tokens, addresses = _waiting_at_once(wave.tokens), _addresses(capture, wave)
        states = _states(tokens, wave.begin, wave.end)
        rows = tokens[:, :4].tolist()
        told = gfx9.played(tape, (wave.simd, wave.slot), (wave.begin, wave.end), rows, states)
        insts, at = [], 0
        for time, kind, stall, duration in told.rows:
            insts.append([time, kind, addresses[at], stall, duration])
            at += kind == rows[at][1]  # else it enters the barrier that the next one leaves
        waves.append(
            _wave(wave, 1, wave.end, entries[wave.kernel], insts=insts, timeline=[*map(list, told.states)])
        )
        residents.append((1, wave.simd, wave.slot, wave.begin, wave.end - gfx9.CLOCK, wave.kernel))
    return tape.stream(se=se, **header), _said(capture, launches, residents, waves, cu=1, simd=None, me=0)


def _waiting_at_once(tokens: np.ndarray) -> np.ndarray:
    """Tokens of which waits begin with the end of the token before: streams of gfx9 tell only their ends."""
    tokens = tokens.copy()
    for before, row in pairwise(tokens):
        if row[1] == gfx9.IMMED:
            row[2:4] += row[0] - before[0] - before[3]
            row[0] = before[0] + before[3]
    return tokens


def _states(tokens: np.ndarray, begin: int, end: int) -> list[list[int]]:
    """States of a wave as streams of gfx9 tell them: each wait is a segment of its own."""
    states: list[list[int]] = []

    def until(time: int, state: int) -> None:
        lasted = time - begin - sum(cycles for _, cycles in states)
        if lasted > 0 and states and states[-1][0] == state != gfx9.WAIT:
            states[-1][1] += lasted
        elif lasted > 0:
            states.append([state, lasted])

    for row, (time, kind, stall, _) in enumerate(tokens[:, :4].tolist()):
        until(time, gfx9.EXEC if row else gfx9.IDLE)
        until(time + stall, gfx9.WAIT if kind == gfx9.IMMED else gfx9.STALL)
    until(end, gfx9.EXEC)
    return states


def _rdna(
    capture: SyntheticCapture, se: int, elsewhere: Sequence[Sequence[int]]
) -> tuple[bytes, dict[str, Any]]:
    encoder = Encoder(capture.generation, simd=0, wgp=1)
    launches, residents, waves, made = [], [], [], []
    entries = [_base(number) + one.address for number, one in enumerate(capture.kernels, start=FIRST_CODE)]
    for kernel, begin in _launches(capture, elsewhere).items():
        encoder.program(begin - 20, entries[kernel])
        encoder.dispatch(begin - 10)
        launches.append([begin - 10, 1, 0, capture.kernels[kernel].address])
    for _, cu, simd, slot, begin, end, kernel, _ in elsewhere:
        encoder.wave_start(begin, slot, (0, simd, cu))
        encoder.wave_end(end, slot, (0, simd, cu))
        residents.append((cu, simd, slot, begin, end, kernel))
    for wave in capture.waves:
        kernel, addresses = capture.kernels[wave.kernel], _addresses(capture, wave)
        texts = dict(zip(kernel.addresses, (one.text for one in kernel.instructions), strict=True))
        steps = expressible(wave.tokens, [texts[one] for one in addresses], capture.generation)
        one = Wave(wave.slot, wave.begin, max(wave.end, steps[-1].time + 1), steps)
        made.append(one)
        rows = one.rows(capture.generation)
        insts = [[time, kind, at, *rest] for (time, kind, *rest), at in zip(rows, addresses, strict=False)]
        assert len(insts) == len(rows)
        states = [*map(list, one.timeline(capture.generation))]
        waves.append(_wave(wave, 1, one.end, entries[wave.kernel], insts=insts, timeline=states))
        residents.append((1, wave.simd, wave.slot, wave.begin, one.end, wave.kernel))
    encoder.waves(made)
    clocks = [] if (capture.generation, se) in WITHOUT_CLOCK else capture.realtime[se]
    realtime = [[time, ticks & TICKS] for time, ticks in clocks]
    for time, ticks in realtime:
        encoder.clock(time, ticks)
    said = _said(capture, launches, residents, waves, cu=1, simd=0, me=1)
    return encoder.stream(), said | {"realtime": realtime}


def _said(
    capture: SyntheticCapture,
    launches: list[list[int]],
    residents: Iterable[tuple[int, ...]],
    waves: list[dict[str, Any]],
    *,
    cu: int,
    simd: int | None,
    me: int,
) -> dict[str, Any]:
    """What a stream tells, in the order of time."""
    occupancy = []
    for unit, on, slot, begin, end, kernel in residents:
        address = capture.kernels[kernel].address
        ended_at = 0 if capture.generation > 9 else me  # tokens of RDNA do not tell it
        occupancy.append([begin, 1, unit, on, slot, me, 0, address, 0])
        occupancy.append([end, 0, unit, on, slot, ended_at, 0, address, 0])
    return {
        "tt_version": VERSIONS[capture.generation],
        "target": {"cu": cu, "simd": simd},
        "waves": sorted(waves, key=lambda one: (one["end"], one["simd"], one["slot"])),
        "occupancy": sorted(occupancy, key=lambda row: (row[0], -row[1])),
        "dispatches": sorted(launches),
        "realtime": [],
        "events": [],
        "other_simd": [],
    }
