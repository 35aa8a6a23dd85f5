"""What is doubtful about the code objects of a raw capture is told once, with the capture."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rcv_py.formats.open import open_trace
from rcv_py.formats.sqtt import registers
from rcv_py.model.trace import Trace
from tests.formats.isa.test_dwarf import HERE, section
from tests.formats.sqtt.encode_gfx9 import AFTER, ISSUES, Tape, compute, end, kind, register, start
from tests.formats.sqtt.rdna_streams import streams
from tests.support.fixtures import fixture_of
from tests.support.object_files import TEXT, code_file
from tests.support.raw_samples import ALONE, TARGETS, raw_sample
from tests.support.sqtt_truth import Raw

BASE = 0x7F12_3400_0000
NOP, END = b"\x00\x00\x80\xbf", b"\x00\x00\x81\xbf"
SALU = 1
CLAIM = "Several code objects or kernels claim"


def stream(entry: int, loads: tuple[tuple[int, int, int], ...] = ()) -> bytes:
    """One wave that issues an instruction; `loads` are told in the stream: number, address and size."""
    tape = Tape()
    words = [registers.MAGIC] if loads else []
    for number, address, size in loads:
        facts = {
            registers.SIZE_LOW: size,
            registers.ADDRESS_LOW: address & registers.HALF,
            registers.ADDRESS_HIGH: address >> 32,
            registers.TAIL: number << 2 | 2,
        }
        for part, value in facts.items():
            words += [registers.CODE_OBJECT | part << 8, value]
    for word in words:
        tape.put(0, register(registers.USER_DATA_2, word))
    tape.put(0, compute(registers.ENTRY_LOW, entry >> 8 & registers.HALF), AFTER)
    tape.put(0, compute(registers.ENTRY_HIGH, entry >> 40), AFTER)
    tape.put(100, start(0, 0, 0))
    tape.issue(200, 0, 0, ISSUES)
    tape.put(208, kind(0, 0, SALU), AFTER)
    tape.put(300, end(0, 0, 0))
    return tape.stream()


def capture(folder: Path, data: bytes, *codes: bytes) -> list[str]:
    """Sentences about a capture of one stream and some code objects."""
    (folder / "1_0_shader_engine_0_1.att").write_bytes(data)
    for number, code in enumerate(codes, 1):
        (folder / f"gfx950_code_object_id_{number}.out").write_bytes(code)
    return [problem.text for problem in open_trace(folder).problems]


code = fixture_of(lambda: code_file({"k": NOP * 16 + END}, kernels=("k",)))


def test_two_code_objects_that_are_told_to_lie_at_one_place(tmp_path: Path, code: bytes) -> None:
    loads = ((1, BASE, 0x4000), (2, BASE + 0x1000, 0x4000))
    said = [text for text in capture(tmp_path, stream(BASE + TEXT, loads), code, code) if CLAIM in text]
    assert said == [
        f"{CLAIM} {BASE + TEXT:#x}, where waves of 1_0_shader_engine_0_1.att begin:"
        " instructions may belong to another program."
    ]


def test_code_objects_beside_each_other_claim_nothing_together(tmp_path: Path, code: bytes) -> None:
    loads = ((1, BASE, 0x4000), (2, BASE + 0x4000, 0x4000), (1, BASE, 0x4000))
    assert not [text for text in capture(tmp_path, stream(BASE + TEXT, loads), code, code) if CLAIM in text]


def test_two_code_objects_whose_kernels_begin_alike(tmp_path: Path, code: bytes) -> None:
    assert [text for text in capture(tmp_path, stream(BASE + TEXT), code, code) if CLAIM in text]


def beside_another(raw: Raw, folder: Path, streams: Sequence[str]) -> Trace:
    """A capture with these streams of a raw one, and before its code object one whose kernel fits, too."""
    ((arch, machine),) = [target for target in TARGETS.values() if raw.said["arch"] == target[0]]
    (code,) = raw.said["code"].values()
    other = {"before": NOP * ((code["text"] - TEXT) // 4), "other": NOP * 0x1000 + END}
    decoy = code_file({key: data for key, data in other.items() if data}, machine=machine, kernels=("other",))
    for number, data in enumerate((decoy, (raw.folder / f"{arch}_code_object_id_1.out").read_bytes()), 1):
        (folder / f"{arch}_code_object_id_{number}.out").write_bytes(data)
    rows = json.loads((raw.folder / "code.json").read_bytes())["code"]
    rows = [[*row[:4], 2, *row[5:]] for row in rows]  # the number of the code object
    (folder / "code.json").write_text(json.dumps({"code": rows}))
    for se, stream in enumerate(streams):
        (folder / f"1_0_shader_engine_{se}_1.att").write_bytes((raw.folder / stream).read_bytes())
    return open_trace(folder)


@pytest.mark.parametrize("name", ALONE)
def test_of_kernels_that_begin_alike_the_one_that_fits_the_tokens_is_taken(tmp_path: Path, name: str) -> None:
    raw = raw_sample(name)
    streams = [f"1_0_shader_engine_{se}_1.att" for se in range(2)]
    trace = beside_another(raw, tmp_path, streams)
    expected = [row for wave in raw.waves.values() for row in wave["insts"]]
    ran = np.flatnonzero(trace.code.hits)
    assert set(trace.code.codeobj[ran].tolist()) == {2}
    assert sorted(trace.code.address[ran].tolist()) == sorted({row[2] for row in expected})
    assert int(trace.code.hits.sum()) == len(expected)
    assert not [problem.text for problem in trace.problems if CLAIM in problem.text]


def test_an_engine_without_traced_waves_takes_the_kernel_that_others_decided(tmp_path: Path) -> None:
    raw = raw_sample("gfx11")
    ran, ran_elsewhere = "1_0_shader_engine_1_1.att", "1_0_shader_engine_0_2.att"
    trace = beside_another(raw, tmp_path, [ran_elsewhere, ran])
    events = trace.occupancy
    assert set(events.se.tolist()) == {0, 1}
    (code,) = raw.said["code"].values()
    assert {events.names[kernel] for kernel in set(events.kernel.tolist())} == {code["kernel"]}
    assert {one.code_object for one in trace.dispatches} == {2}
    assert not [problem.text for problem in trace.problems if CLAIM in problem.text]


def test_the_only_code_object_is_beyond_doubt(tmp_path: Path, code: bytes) -> None:
    assert not [text for text in capture(tmp_path, stream(BASE + TEXT), code) if CLAIM in text]


def test_source_lines_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    data = bytearray((HERE / "dwarf5.out").read_bytes())
    _, at, size = section(bytes(data), b".debug_line")
    data[at + 12 : at + size] = b"\xff" * (size - 12)
    said = [text for text in capture(tmp_path, stream(BASE + TEXT), bytes(data)) if "source lines" in text]
    assert len(said) == 1
    assert said[0].startswith("The source lines of gfx950_code_object_id_1.out cannot all be read: ")


@pytest.mark.parametrize("name", ["gfx10", "gfx11", "gfx12", "gfx1250"])
def test_that_no_real_capture_has_checked_a_generation_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "1_0_shader_engine_0_1.att").write_bytes(streams()[name])
    trace = open_trace(tmp_path)
    assert trace.target == name  # gfx1250 is told by the layout of its stream alone
    said = [problem.text for problem in trace.problems if "no capture of a real GPU" in problem.text]
    assert len(said) == (name in ("gfx10", "gfx1250"))


def copied(name: str, folder: Path) -> list[Path]:
    """Copy the first dispatch of a raw sample, without its code.json; return its streams."""
    raw = raw_sample(name)
    for path in raw.folder.iterdir():
        if path.suffix == ".out" or path.name.endswith("_1.att"):
            (folder / path.name).write_bytes(path.read_bytes())
    return sorted(folder.glob("*.att"))


@pytest.mark.parametrize("name", ALONE)
def test_a_hole_of_zeros_is_damage(tmp_path: Path, name: str) -> None:
    for path in copied(name, tmp_path):
        data = path.read_bytes()
        assert not [one for one in open_trace(tmp_path).problems if "zero bytes" in one.text]
        middle = len(data) // 2
        path.write_bytes(data[:middle] + bytes(1000) + data[middle:])
        # Zeros of the data itself may lie beside the hole.
        first = middle - (len(data[:middle]) - len(data[:middle].rstrip(b"\0")))
        number = 1000 + middle - first + len(data[middle:]) - len(data[middle:].lstrip(b"\0"))
        (said,) = [one for one in open_trace(tmp_path).problems if "zero bytes" in one.text]
        assert said.text.startswith(f"{path.name} has holes of {number:,} zero bytes, from byte {first:,} on")
        path.write_bytes(data)


def test_a_stream_of_another_gpu_is_left_out(tmp_path: Path) -> None:
    streams = copied("gfx11", tmp_path)
    before = open_trace(tmp_path)
    other = tmp_path / "1_0_shader_engine_7_1.att"
    other.write_bytes((raw_sample("gfx9").folder / "1_0_shader_engine_0_1.att").read_bytes())
    trace = open_trace(tmp_path)
    assert len(streams) > 1
    assert (len(trace.waves), trace.gfxip) == (len(before.waves), 11)
    said = [problem.text for problem in trace.problems if problem.where == other.name]
    assert said == [f"{other.name} is a stream of gfx9, and the others are of gfx11: it is left out."]


@pytest.mark.parametrize("name", ALONE)
def test_a_copy_of_a_stream_under_another_engine_counts_once(tmp_path: Path, name: str) -> None:
    first, *_ = copied(name, tmp_path)
    before = open_trace(tmp_path)
    copy = tmp_path / "1_0_shader_engine_7_1.att"
    copy.write_bytes(first.read_bytes())
    trace = open_trace(tmp_path)
    assert len(trace.waves) == len(before.waves) > 0
    assert np.array_equal(trace.code.hits, before.code.hits)
    assert len(trace.occupancy) == len(before.occupancy)
    (said,) = (problem.text for problem in trace.problems if problem.where == copy.name)
    assert said.startswith(f"{copy.name} has the same bytes as {first.name}, so it is a copy")
    copy.write_bytes(first.read_bytes() + bytes(8))  # one with the same waves, but not the same file
    assert not any("same bytes" in problem.text for problem in open_trace(tmp_path).problems)


def test_code_of_another_gpu_explains_nothing(tmp_path: Path) -> None:
    copied("gfx11", tmp_path)
    (code,) = tmp_path.glob("*.out")
    theirs = next(raw_sample("gfx12").folder.glob("*.out")).read_bytes()
    code.write_bytes(theirs)
    trace = open_trace(tmp_path)
    assert len(trace.code) == 0
    said = f"{code.name} is code of gfx1200, but the streams are of gfx11: no instruction is known."
    assert [problem.text for problem in trace.problems if problem.where == code.name] == [said]


def test_code_of_two_gpus_is_that_of_the_streams(tmp_path: Path) -> None:
    copied("gfx11", tmp_path)
    before = open_trace(tmp_path)
    theirs = next(raw_sample("gfx12").folder.glob("*.out")).read_bytes()
    (tmp_path / "gfx1200_code_object_id_9.out").write_bytes(theirs)
    trace = open_trace(tmp_path)
    assert trace.code.text == before.code.text
    assert [problem.text for problem in trace.problems] == [problem.text for problem in before.problems]
