import struct
from pathlib import Path

import numpy as np
import pytest

from rcv_py.base.errors import BrokenFile, MissingFile
from rcv_py.formats.isa import code_object as code_objects
from rcv_py.formats.isa import disassembly
from rcv_py.formats.isa.code_object import CodeObject, id_of_name
from rcv_py.formats.isa.elf import MACHINES, read_image, target_of_name
from rcv_py.formats.isa.processes import Candidate
from rcv_py.formats.isa.program import Category
from tests.support.llvm import need_llvm
from tests.support.object_files import code_file
from tests.support.raw_samples import raw_sample
from tests.support.sqtt_truth import Raw

ENDS = struct.pack("<I", 0xBF810000)
NOP = struct.pack("<I", 0xBF800000)


@pytest.mark.parametrize("name", ["gfx9", "kernels", "gfx11"])
def test_kernels_and_lengths_are_those_of_the_simulator(name: str) -> None:
    raw = raw_sample(name)
    objects = {number: raw.code_object(int(number)) for number in raw.said["code"]}
    kernels_and_lengths_are_known(
        raw, {number: CodeObject(one.id, one.name, one.image, known=()) for number, one in objects.items()}
    )


def kernels_and_lengths_are_known(raw: Raw, objects: dict[str, CodeObject]) -> None:
    """Compare code objects with what is known of their only kernels."""
    for number, code in raw.said["code"].items():
        found = objects[number]
        (kernel,) = found.kernels
        assert kernel.name in (code["kernel"], ""), "some assemblers write no symbols"
        program = found.program(kernel.address)
        assert program is not None
        known = {address: size for address, size, _ in code["isa"]}
        pairs = dict(zip(program.address.tolist(), program.size.tolist(), strict=True))
        assert pairs.items() <= known.items()
        assert program.text[-1].startswith("s_endpgm")


def test_a_file_says_what_gpu_it_is_for_or_its_name_does(tmp_path: Path) -> None:
    (tmp_path / "77_gfx942_code_object_id_12.out").write_bytes(code_file({"one": NOP + ENDS}, machine=0x4F))
    (tmp_path / "77_gfx942_code_object_id_13.out").write_bytes(code_file({"one": NOP + ENDS}, machine=0))
    first = CodeObject.open(tmp_path / "77_gfx942_code_object_id_12.out")
    assert (first.id, first.target) == (12, "gfx950")
    assert CodeObject.open(tmp_path / "77_gfx942_code_object_id_13.out").target == "gfx942"
    assert MACHINES[0x3F] == "90a"
    assert MACHINES[0x41] == "1100"


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("gfx950_code_object_id_7.out", 7),
        ("codeobj_12.out", 12),
        ("kernel.hsaco", 0),
        ("a_b.hsaco", 0),
        ("x_1_2.out", 2),
        ("x_" + "9" * 40 + ".out", 0),
    ],
)
def test_the_id_is_the_number_behind_the_last_underline(name: str, number: int) -> None:
    assert id_of_name(name) == number


def test_names_of_targets() -> None:
    assert target_of_name("12_gfx90a_code_object_id_1") == "gfx90a"
    assert target_of_name("gfx9-4-generic") == "gfx9-4-generic"
    assert target_of_name("kernel") == ""


def test_kernels_have_a_descriptor_and_other_functions_have_programs_too() -> None:
    data = code_file({"_Z5firstPf": NOP * 3 + ENDS, "helper": NOP + ENDS}, kernels=("_Z5firstPf",))
    found = CodeObject(1, "x", read_image(data, "x"))
    (kernel,) = found.kernels
    assert (kernel.name, kernel.demangled, kernel.size) == ("_Z5firstPf", "first", 16)
    assert [found.program(kernel.address + at).name for at in (0, 4, 15, 16)] == [  # type: ignore[union-attr]
        *("_Z5firstPf", "_Z5firstPf", "_Z5firstPf", "helper")
    ]
    assert found.program(kernel.address - 4) is None
    assert found.program(kernel.address + 1000) is None


def test_of_a_bundle_the_part_for_the_target_counts() -> None:
    parts = {
        "host-x86_64-unknown-linux--": b"host",
        "hipv4-amdgcn-amd-amdhsa--gfx942:xnack+": code_file({"one": ENDS}, machine=0x4C),
        "hipv4-amdgcn-amd-amdhsa--gfx950": code_file({"two": ENDS}, machine=0x4F),
    }
    place = 32 + sum(24 + len(name) for name in parts)
    head, body = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(parts)), b""
    for name, data in parts.items():
        head += struct.pack("<3Q", place + len(body), len(data), len(name)) + name.encode()
        body += data
    whole = head + body
    assert [read_image(whole, "x", hint).target for hint in ("gfx950", "gfx942", "")] == [
        "gfx950",
        "gfx942",
        "gfx942",
    ]
    endless = whole[:24] + struct.pack("<Q", 1 << 63) + whole[32:]
    assert read_image(endless, "x", "gfx950").functions[0].name == "two"
    with pytest.raises(BrokenFile):
        read_image(whole[:40], "x")


def test_without_symbols_a_descriptor_tells_the_entry() -> None:
    data = code_file({"one": NOP + ENDS + NOP * 6}, kernels=("one",), has_symbols=False)
    (kernel,) = CodeObject(1, "x", read_image(data, "x")).kernels
    assert (kernel.name, kernel.address, kernel.size) == ("", 0x1600, 8), "padding is not code"


def test_headers_that_assemblers_leave_empty_are_filled() -> None:
    data = bytearray(code_file({"one": NOP + ENDS}))
    data[5], data[18], data[19], data[58] = 0, 0, 0, 0
    assert len(CodeObject(1, "x", read_image(bytes(data), "x", "gfx1100")).kernels) == 1


def test_memory_is_larger_than_the_file() -> None:
    assert read_image(code_file({"one": ENDS}, memory=0x20000), "x").size == 0x20000


def test_texts_of_others_come_first_and_do_without_a_file() -> None:
    data = code_file({"one": NOP * 2 + ENDS})
    found = CodeObject(1, "x", read_image(data, "x"), {0x1604: "s_nop 7"})
    program = found.program(0x1600)
    assert program.text[1] == "s_nop 7"
    rows = {
        0x100: "s_load_dword s0, s[0:1], 0x0",
        0x108: "s_cbranch_scc0 65534",
        0x10C: "v_mov_b32_e32 v0, 0",
    }
    alone = CodeObject(2, "code.json", None, rows).program(0x108)
    assert alone.size.tolist() == [8, 4, 4]
    assert alone.category.tolist() == [Category.SMEM, Category.BRANCH, Category.VALU]
    assert alone.target.tolist() == [-1, 0x108 + 4 - 8, -1]
    assert CodeObject(2, "code.json", None, rows).program(0x104) is None


def test_functions_without_end_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_objects, "MAX_CODE", 16)
    found = CodeObject(
        1, "x", read_image(code_file({"one": NOP * 9 + ENDS}, kernels=("one",)), "x"), known=()
    )
    (kernel,) = found.kernels
    assert (kernel.address, kernel.size) == (0x1600, 16)
    assert [len(found.program(0x1600 + at)) for at in (0, 16, 39)] == [4, 4, 2]  # type: ignore[arg-type]


def test_nobody_is_asked_for_what_others_disassembled(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(disassembly, "answer_of", lambda *words: asked.append(words))
    data = code_file({"one": NOP * 2 + ENDS, "two": ENDS}, kernels=("one",))
    texts = {0x1600: "s_nop 1", 0x1604: "s_nop 2", 0x1608: "s_endpgm"}
    found = CodeObject(1, "x", read_image(data, "x"), texts, known=[Candidate("llvm", "x")])
    program = found.program(0x1604)
    assert (program.text, asked) == (tuple(texts.values()), [])
    assert found.program(0x160C) is not None
    assert len(asked) == 1


def test_what_is_no_code_object_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MissingFile):
        CodeObject.open(tmp_path / "a_1.out")
    (tmp_path / "a_1.out").write_bytes(b"hello")
    with pytest.raises(BrokenFile, match=r"a_1\.out is damaged: it is no 64-bit ELF file"):
        CodeObject.open(tmp_path / "a_1.out")
    other = bytearray(code_file({"one": ENDS}))
    other[18] = 62
    with pytest.raises(BrokenFile, match="not for AMD GPUs"):
        read_image(bytes(other), "x")
    with pytest.raises(BrokenFile, match="no executable code"):
        read_image(code_file({}), "x")


def test_counts_of_a_header_are_believed_as_far_as_the_file_reaches() -> None:
    honest = code_file({"one": NOP + ENDS})
    data = bytearray(honest)
    data[60:62] = b"\0\0"  # no count: then the first section tells it
    (table,) = struct.unpack_from("<Q", data, 40)
    struct.pack_into("<Q", data, table + 32, 1 << 60)
    assert read_image(bytes(data), "x").regions[0].address == 0x1600
    data = bytearray(honest)
    struct.pack_into("<H", data, 56, 0xFFFF)  # segments
    assert read_image(bytes(data), "x").regions


def test_sections_that_share_bytes_hold_no_more_than_the_file() -> None:
    data = code_file({"one": NOP * 500 + ENDS}, copies=2000)
    image = read_image(data, "x")
    assert sum(len(one.data) for one in image.regions) <= len(data)
    found = CodeObject(1, "x", image)
    addresses = np.unique([one.address for one in image.regions])
    assert len(addresses) == len(image.regions)
    assert found.program(int(addresses[0])) is not None


@pytest.mark.parametrize(("properties", "expected"), [(0, "vcc"), (1 << 10, "vcc_lo")])
def test_the_descriptor_says_how_many_lanes_a_mask_has(properties: int, expected: str) -> None:
    """A compare of gfx1030 has the same words in waves of 64 and of 32 lanes."""
    code = bytes.fromhex("0103027d000081bf")
    data = code_file({"one": code, "other": code}, machine=0x36, kernels=("one",), properties=properties)
    found = CodeObject(1, "x", read_image(data, "x"), known=[need_llvm()])
    for kernel in found.functions[:2]:
        program = found.program(kernel.address)
        assert program.text[0] == f"v_cmp_lt_i32_e32 {expected}, v1, v1"
