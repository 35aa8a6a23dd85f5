"""Source lines; the two files were compiled from the same source by gcc, and their lines read by objdump."""

import json
import random
import shutil
import struct
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rcv_py.base.problems import Problems
from rcv_py.formats.input import run_places
from rcv_py.formats.isa import code_object as module
from rcv_py.formats.isa.code_object import Chain, CodeObject
from rcv_py.formats.isa.dwarf import MAX_CALLS, answer
from rcv_py.formats.isa.elf import read_image
from tests.support.llvm_truth import differences, told_by_rcv

HERE = Path(__file__).parent
SPLIT_FOLDER = HERE / "built" / "split"
TRUTHS = json.loads((SPLIT_FOLDER / "truth.json").read_text())
C, H = "/src/scale.c", "/src/scale.h"
TRUTH = {  # address → chain
    0x1600: [(C, 9)],
    0x1602: [(C, 3), (C, 9)],
    0x1605: [(H, 2), (C, 3), (C, 9)],
    0x1607: [(H, 3), (C, 3), (C, 9)],
    0x160A: [(C, 4), (C, 9)],
    0x160F: [(H, 2), (C, 5), (C, 9)],
    0x1611: [(H, 3), (C, 5), (C, 9)],
    0x1614: [(C, 5), (C, 9)],
    0x1617: [(C, 6), (C, 9)],
    0x161A: [(C, 11)],
    0x161D: [(H, 2), (C, 12)],
    0x1624: [(C, 10)],
    0x1627: [(H, 3), (C, 12)],
    0x162A: [(C, 12)],
    0x162D: [(C, 14)],
}


@pytest.mark.parametrize("version", [4, 5])
def test_chains_of_inlined_calls_are_those_of_objdump(version: int) -> None:
    found = CodeObject.open(HERE / f"dwarf{version}.out", target="gfx950")
    outside = [0x15FF, 0x162E, 1 << 60]
    chains = found.places(np.array([*TRUTH, *outside], dtype=np.uint64))
    assert dict(zip(TRUTH, map(list, chains), strict=False)) == TRUTH
    assert chains[-3:] == [(), (), ()]
    assert not found.problems
    assert [one.name for one in found.kernels] == ["scale"]


def test_without_lines_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "answer_of", lambda *_: pytest.fail("a process for nothing"))
    data = (HERE / "dwarf5.out").read_bytes().replace(b".debug_line", b".nothing_ln")
    found = CodeObject(1, "x", read_image(data, "x"))
    assert found.places(np.array([0x1600], dtype=np.uint64)) == [()]
    assert found.places(np.zeros(0, dtype=np.uint64)) == []


def section(data: bytes, name: bytes) -> tuple[int, int, int]:
    """Where the header of a section is, where its bytes are, and how many."""
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    (texts,) = struct.unpack_from("<Q", data, table + names * size + 24)
    for number in range(count):
        head = table + number * size
        (at,) = struct.unpack_from("<I", data, head)
        if data[texts + at :].startswith(name + b"\0"):
            return head, *struct.unpack_from("<QQ", data, head + 24)
    raise KeyError(name)


def test_one_broken_unit_is_a_problem(tmp_path: Path) -> None:
    data = bytearray((HERE / "dwarf5.out").read_bytes())
    _, at, size = section(bytes(data), b".debug_line")
    data[at + 12 : at + size] = b"\xff" * (size - 12)
    (tmp_path / "a_1.out").write_bytes(data)
    found = CodeObject.open(tmp_path / "a_1.out")
    assert found.places(np.array([0x1600], dtype=np.uint64)) == [()]
    (problem,) = found.problems
    assert problem.text.startswith("The source lines of a_1.out cannot all be read: ")


def test_counts_without_end_are_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A table of files that says that it has 2^60 entries of no bytes each."""
    data = bytearray((HERE / "dwarf5.out").read_bytes())
    _, at, size = section(bytes(data), b".debug_line")
    opcodes = (
        4 + 2 + 1 + 1 + 4 + 6 + 12
    )  # after them: count of the format of folders, format, count of folders
    data[at + opcodes] = 0
    data[at + opcodes + 1 : at + opcodes + 10] = b"\xff" * 8 + b"\x0f"
    (tmp_path / "a_1.out").write_bytes(data)
    monkeypatch.setattr(module, "SECONDS", 1.0)
    found = CodeObject.open(tmp_path / "a_1.out")
    assert found.places(np.array([0x1600], dtype=np.uint64)) == [()]
    assert len(found.problems) == 1
    assert size > opcodes


def test_compressed_sections_that_grow_too_large_are_refused() -> None:
    """A section that says that it has 2^40 bytes once it is unpacked."""
    data = bytearray((HERE / "dwarf5.out").read_bytes())
    head, at, _ = section(bytes(data), b".debug_info")
    packed = struct.pack("<IIQQ", 1, 0, 1 << 40, 1) + zlib.compress(b"\0" * 100_000)
    place = len(data)
    data += packed
    struct.pack_into("<Q", data, head + 8, 0x800)
    struct.pack_into("<QQ", data, head + 24, place, len(packed))
    document = answer(bytes(data), [0x1600])
    assert document["problem"]
    assert document["chain"] == [-1]
    assert at


def test_calls_inlined_into_each_other_without_end_are_cut() -> None:
    """Entries of the abbreviation of an inlined call that are never ended: each lies in the one before."""
    data = bytearray((HERE / "dwarf4.out").read_bytes())
    abbreviations = bytes.fromhex(
        "01 11 01 10 17 11 01 12 07 00 00"  # a unit: line table, first address, count of bytes
        "02 1d 01 11 01 12 07 58 0b 59 0b 00 00 00"  # a call: the same, its file and line
    )
    place = len(data)
    data += abbreviations
    head, _, _ = section(bytes(data), b".debug_abbrev")
    struct.pack_into("<QQ", data, head + 24, place, len(abbreviations))
    span = struct.pack("<QQ", 0x1600, 64)
    body = struct.pack("<HIB", 4, 0, 8) + b"\1" + struct.pack("<I", 0) + span
    body += (b"\2" + span + b"\1\5") * 3000
    info = struct.pack("<I", len(body)) + body
    head, _, _ = section(bytes(data), b".debug_info")
    struct.pack_into("<QQ", data, head + 24, len(data), len(info))
    data += info
    document = answer(bytes(data), [0x1600])
    assert document["problem"] == []
    (chain,) = document["chains"]
    assert len(chain) == 2 * (MAX_CALLS + 1)


class _RawZstd:
    """Stands in for the decompressor of Python 3.14; reads frames of one block that is stored as it is."""

    def decompress(self, packed: bytes, max_length: int) -> bytes:
        assert packed[:5] == bytes.fromhex("28b52ffda0")
        plain = packed[12 : 12 + max_length]
        assert int.from_bytes(packed[9:12], "little") == len(plain) << 3 | 1
        return plain


def with_zstd() -> bytes:
    """A code object whose lines are in a frame of zstd."""
    data = bytearray((HERE / "dwarf5.out").read_bytes())
    head, at, size = section(bytes(data), b".debug_line")
    plain, place = data[at : at + size], len(data)
    frame = bytes.fromhex("28b52ffda0") + struct.pack("<I", size) + (size << 3 | 1).to_bytes(3, "little")
    packed = struct.pack("<IIQQ", 2, 0, size, 1) + frame + plain
    data[at : at + size] = bytes(size)
    data += packed
    struct.pack_into("<Q", data, head + 8, 0x800)
    struct.pack_into("<QQ", data, head + 24, place, len(packed))
    return bytes(data)


def test_lines_that_zstd_compressed_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "compression.zstd", SimpleNamespace(ZstdDecompressor=_RawZstd))
    plain = answer((HERE / "dwarf5.out").read_bytes(), [0x1600])
    assert plain["chain"] == [0]
    assert answer(with_zstd(), [0x1600]) == plain


SPLIT = sorted(SPLIT_FOLDER.glob("*.co"))


def copied(code: Path, folder: Path, *patterns: str) -> Path:
    """A code object with the files beside it that patterns name."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (code, *(one for pattern in patterns for one in code.parent.glob(code.name + pattern))):
        shutil.copy(file, folder)
    return folder / code.name


def chains(code: Path) -> tuple[list[Chain], Problems]:
    """The chain of each word of the kernels, and problems."""
    found = CodeObject.open(code)
    words = [np.arange(one.address, one.address + one.size, 4).astype(np.uint64) for one in found.kernels]
    return found.places(np.concatenate(words)), found.problems


@pytest.mark.parametrize("code", SPLIT, ids=lambda code: code.stem)
@pytest.mark.parametrize("pattern", ["-*.dwo", ".dwp"])
def test_calls_of_a_split_build_are_those_of_a_whole_one(code: Path, pattern: str, tmp_path: Path) -> None:
    here = copied(code, tmp_path, pattern)
    assert differences(TRUTHS[code.name], told_by_rcv(here)) == []
    assert not chains(here)[1]


@pytest.mark.parametrize("code", SPLIT, ids=lambda code: code.stem)
def test_without_the_split_file_there_are_lines_and_a_problem(code: Path, tmp_path: Path) -> None:
    here = copied(code, tmp_path)
    told, (problem,) = chains(here)
    assert {len(chain) for chain in told} == {1}
    assert f"{code.name}-{code.stem}.dwo" in problem.text
    assert "without -gsplit-dwarf" in problem.hint
    (tmp_path / f"{code.name}-{code.stem}.dwo").write_bytes(b"\x7fELF, says its name")
    assert chains(here)[0] == told


def test_a_split_file_of_another_build_is_not_used(tmp_path: Path) -> None:
    one, other = SPLIT
    here = copied(one, tmp_path)
    for file in other.parent.glob("*.dwo"):
        data = (other.parent / f"{other.name}-{other.stem}.dwo").read_bytes()
        (tmp_path / file.name).write_bytes(data)
    assert len(chains(here)[1]) == 1


def moved(code: Path, name: str, folder: Path) -> Path:
    """A code object that names its split file otherwise, the name no longer than before."""
    old = f"{code.name}-{code.stem}.dwo".encode()
    data = code.read_bytes()
    assert data.count(old) == 1
    folder.mkdir(parents=True, exist_ok=True)
    (folder / code.name).write_bytes(data.replace(old, name.encode().ljust(len(old), b"\0")))
    return folder / code.name


@pytest.mark.parametrize(
    ("name", "place", "is_read"),
    [
        ("obj/kernels.dwo", "obj/kernels.dwo", True),
        ("./a/../obj/k.dwo", "obj/k.dwo", True),
        ("/nowhere/k.dwo", "k.dwo", True),
        ("C:\\build\\k.dwo", "k.dwo", True),
        ("other", "package.dwp", True),
        ("../k.dwo", "../k.dwo", False),
        ("link.dwo", "../k.dwo", False),
    ],
)
def test_split_files_lie_with_their_code_object(name: str, place: str, is_read: bool, tmp_path: Path) -> None:
    code = SPLIT[0]
    here = moved(code, name, tmp_path / "build")
    file = here.parent / place
    file.parent.mkdir(parents=True, exist_ok=True)
    kind = ".dwp" if place.endswith(".dwp") else f"-{code.stem}.dwo"
    shutil.copy(code.parent / (code.name + kind), file)
    if name == "link.dwo":
        (here.parent / name).symlink_to("../k.dwo")
    assert bool(chains(here)[1]) is not is_read


def test_a_path_out_of_the_folder_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []

    def read(folder: Path, *_: object) -> bytes:
        opened.append(folder)
        return b""

    monkeypatch.setattr(run_places, "read_bytes", read)
    names = ["/etc/passwd", "../x", str(tmp_path / "x"), "\0", "", "a" * 9000, "//host/share", "..\\x"]
    run_places.split_files(tmp_path / "k.co", [[name, built] for name in names for built in (*names, "/")])
    assert set(opened) == {tmp_path}
    monkeypatch.undo()
    assert run_places.split_files(tmp_path / "k.co", [[one, other] for one in names for other in names]) == []


@pytest.mark.parametrize("kind", ["dwo", "dwp"])
def test_damage_of_a_split_file_costs_inlined_calls_alone(kind: str) -> None:
    code = SPLIT[0]  # their GPU is not asked for
    found = CodeObject.open(code)
    addresses = [one.address for one in found.kernels]
    file = f"{code.name}-{code.stem}.dwo" if kind == "dwo" else f"{code.name}.dwp"
    data, whole = (code.parent / file).read_bytes(), code.read_bytes()
    lines = [answer(whole, addresses)["chains"][row][:2] for row in answer(whole, addresses)["chain"]]
    rng = random.Random(11)
    for _ in range(150):
        other = bytearray(data[: rng.randrange(64, len(data))] if rng.random() < 0.2 else data)
        for _ in range(rng.randrange(1, 6)):
            other[rng.randrange(len(other))] = rng.choice((0, 1, 0x7F, 0xFF, rng.randrange(256)))
        document = answer(whole, addresses, [bytes(other)])
        assert [document["chains"][row][:2] for row in document["chain"]] == lines
