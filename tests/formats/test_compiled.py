"""Files that compilers write: what they hold is found, and nothing in them is trusted.

The objects of `compiled/` are made by clang from `compiled/tiny.hip` (`compiled/build.sh`): two kernels for
four targets, as code objects, as a compressed bundle and inside a shared library.
"""

import pickle
import struct
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from rcv_py.base.errors import NotATrace, TraceError
from rcv_py.base.problems import Affects, Problems
from rcv_py.formats.compiled import compiled_kernels
from rcv_py.formats.isa import containers
from rcv_py.formats.isa.containers import MAX_UNPACKED, found_objects, kernels_of
from rcv_py.formats.locate import CaptureForm, is_there, locate, shape_of
from rcv_py.formats.open import open_trace
from rcv_py.formats.raw.options import choosing

BUILT = Path(__file__).parent / "compiled"
TARGETS = ("gfx942", "gfx950", "gfx1100", "gfx1201")
KERNELS = ("vector_add", "sum_rows")
OBJECT = (BUILT / "tiny_gfx942.co").read_bytes()
HOST = b"\x7fELF\x02\x01\x01".ljust(18, b"\0") + b"\x3e\0" + bytes(44)  # x86, without sections


def bundle(*parts: tuple[str, bytes]) -> bytes:
    """A bundle as clang-offload-bundler writes it, its entries at multiples of 4096."""
    head, body, at = b"", b"", 4096
    for name, data in parts:
        head += struct.pack("<3Q", at, len(data), len(name)) + name.encode()
        body += data.ljust(-(-len(data) // 4096) * 4096, b"\0")
        at = 4096 + len(body)
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(parts)) + head
    return head.ljust(4096, b"\0") + body


def compressed(version: int, data: bytes, *, claimed: int = -1) -> bytes:
    """The bundle, compressed with zlib, which all versions allow (method 0)."""
    body, size = zlib.compress(data), len(data) if claimed < 0 else claimed
    form = {1: "<HHI", 2: "<HHII", 3: "<HHQQ"}[version]
    total = 4 + struct.calcsize(form) + 8 + len(body)
    sizes = (size,) if version == 1 else (total, size)
    return b"CCOB" + struct.pack(form, version, 0, *sizes) + bytes(8) + body


def printed(data: bytes) -> bytes:
    """The bytes as MLIR prints a string: letters and blanks as they are, others as two digits."""
    plain = {byte for byte in range(0x20, 0x7F) if byte not in b'"\\'}
    return b"".join(
        bytes([one]) if one in plain else b"\\\\" if one == 0x5C else b"\\%02X" % one for one in data
    )


PLAIN = bundle(
    ("host-x86_64-unknown-linux-gnu-", b""),
    ("hipv4-amdgcn-amd-amdhsa--gfx942:xnack-", OBJECT),
    ("hipv4-amdgcn-amd-amdhsa--gfx1201", (BUILT / "tiny_gfx1201.co").read_bytes()),
)
LISTED = {("gfx942:xnack-", name) for name in KERNELS} | {("gfx1201", name) for name in KERNELS}


def objects(path: Path) -> set[tuple[str, str]]:
    """Targets and kernels of a file, as containers are searched."""
    problems = Problems()
    found = {(one.target, name) for one in found_objects(path, problems) for name in kernels_of(one.data)}
    assert not problems
    return found


@pytest.mark.parametrize("name", ["tiny.ccob", "libtiny.so"])
def test_what_clang_wrote_for_four_targets_is_listed(name):
    assert objects(BUILT / name) == {(target, kernel) for target in TARGETS for kernel in KERNELS}


@pytest.mark.parametrize("target", TARGETS)
def test_an_object_names_its_target_and_kernels(target):
    assert objects(BUILT / f"tiny_{target}.co") == {(target, kernel) for kernel in KERNELS}


@pytest.mark.parametrize(
    "data",
    [
        PLAIN,
        bytes(4096) + PLAIN + PLAIN,
        *(compressed(version, PLAIN) for version in (1, 2, 3)),
        compressed(2, PLAIN).ljust(8192, b"\0") + compressed(3, PLAIN),
        HOST + b"code" * 99 + PLAIN,
    ],
)
def test_bundles_are_found_wherever_they_lie(tmp_path, data):
    file = tmp_path / "lib.so"
    file.write_bytes(data)
    assert objects(file) == LISTED


def test_bare_objects_are_found_in_host_files_zips_and_pickles(tmp_path):
    one = {("gfx942", name) for name in KERNELS}
    file = tmp_path / "lib.so"
    file.write_bytes(HOST + b"code" * 99 + OBJECT + b"more")
    assert objects(file) == one
    with zipfile.ZipFile(tmp_path / "m.vmfb", "w") as archive:
        archive.writestr("module.fb", b"x" * 77)
        archive.writestr("rocm.hsaco", OBJECT)
    assert objects(tmp_path / "m.vmfb") == one
    (tmp_path / "f.pkl").write_bytes(pickle.dumps({"bin": OBJECT}))
    assert objects(tmp_path / "f.pkl") == one
    text = 'gpu.binary @k [#gpu.object<"' + printed(OBJECT).decode("ascii") + '">] "tail"'
    (tmp_path / "g.pkl").write_bytes(pickle.dumps(text))
    assert objects(tmp_path / "g.pkl") == one
    (tmp_path / "h.pkl").write_bytes(pickle.dumps({"ir_zlib": zlib.compress(text.encode())}))
    assert objects(tmp_path / "h.pkl") == one


def test_a_packed_text_of_a_pickle_that_grows_without_end_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(containers, "MAX_UNPACKED", 1 << 16)
    text = b" " * (1 << 20) + printed(OBJECT)
    (tmp_path / "bomb.pkl").write_bytes(pickle.dumps({"ir_zlib": zlib.compress(text)}))
    assert objects(tmp_path / "bomb.pkl") == set()


class Trap:
    """An object whose pickle calls a function."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_pickle_is_searched_and_never_loaded(tmp_path):
    file = tmp_path / "trap.pkl"
    file.write_bytes(pickle.dumps([Trap(tmp_path / "sprung"), OBJECT]))
    assert len(compiled_kernels(file).kernels) == 2
    assert not (tmp_path / "sprung").exists()


# -- damaged and hostile ----------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [PLAIN, compressed(3, PLAIN), (BUILT / "libtiny.so").read_bytes(), OBJECT])
def test_a_cut_file_costs_only_what_was_cut(tmp_path, data):
    file = tmp_path / "cut.so"
    whole = 8 if data[:4] == b"\x7fELF" and data != OBJECT else 4
    for size in range(0, len(data), 487):
        file.write_bytes(data[:size])
        found = [kernels_of(one.data) for one in found_objects(file, Problems())]
        assert len(found) <= whole


@pytest.mark.parametrize("offset", [0, 8, 16])
@pytest.mark.parametrize("value", [0, 1, 4096, 1 << 31, (1 << 64) - 1])
def test_numbers_of_an_entry_are_checked(tmp_path, offset, value):
    data = bytearray(PLAIN)
    struct.pack_into("<Q", data, 32 + offset, value)  # of the first entry: offset, size, letters of its name
    file = tmp_path / "lib.co"
    file.write_bytes(data)
    for one in found_objects(file, Problems()):
        kernels_of(one.data)


def test_an_entry_outside_of_the_file_is_left_out_and_said(tmp_path):
    data = bytearray(PLAIN)
    at = data.index(b"hipv4-amdgcn-amd-amdhsa--gfx942") - 24
    struct.pack_into("<Q", data, at, len(data) - 10)
    file = tmp_path / "lib.co"
    file.write_bytes(data)
    problems = Problems()
    assert [one.target for one in found_objects(file, problems)] == ["gfx1201"]
    assert "outside" in problems[0].text
    assert problems[0].affects == (Affects.CODE,)


def test_entries_that_overlap_take_no_more_time_than_the_file_is_long(tmp_path):
    name = "hipv4-amdgcn-amd-amdhsa--gfx942"
    head = b"".join(struct.pack("<3Q", 4096 * 16, len(OBJECT), len(name)) + name.encode() for _ in range(900))
    data = (b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 1 << 60) + head).ljust(4096 * 16, b"\0") + OBJECT
    file = tmp_path / "lib.co"
    file.write_bytes(data)
    assert len(list(found_objects(file, Problems()))) <= len(data) // len(OBJECT)


@pytest.mark.parametrize("claimed", [MAX_UNPACKED + 1, (1 << 64) - 1, 1 << 28])
def test_a_bomb_is_not_unpacked(tmp_path, claimed):
    file = tmp_path / "bomb.co"
    file.write_bytes(compressed(3, bytes(1 << 20), claimed=claimed))
    problems = Problems()
    assert not list(found_objects(file, problems))
    assert "claims more" in problems[0].text


def test_more_bytes_than_claimed_are_not_unpacked(tmp_path):
    file = tmp_path / "more.co"
    file.write_bytes(compressed(3, PLAIN, claimed=len(PLAIN) - 4096))
    problems = Problems()
    found = [one.target for one in found_objects(file, problems)]
    assert found[0] == "gfx942:xnack-"  # it is whole
    assert len(problems) == len(LISTED) // 2 - len(found)


# -- kernels as captures ----------------------------------------------------------------------------------


def test_a_kernel_is_opened_as_a_trace_that_says_what_it_does_not_know():
    trace = open_trace(BUILT / "libtiny.so" / "gfx1201" / "sum_rows")
    assert trace.is_static
    assert not trace.has_thread_trace
    assert not trace.has_times
    assert (trace.name, trace.target, trace.gfxip) == ("libtiny.so", "gfx1201", 12)
    assert trace.kernel_name == "sum_rows"
    assert not len(trace.waves)
    assert any("has not run" in one.text for one in trace.problems_about(Affects.WAVES))
    assert trace.facts.allocated.lds == 1024  # float part[256]
    assert trace.facts.allocated.scratch == 0
    assert trace.code.kernels[0].lanes == 32


def test_instructions_have_addresses_and_source_lines():
    trace = open_trace(BUILT / "tiny_gfx942.co" / "gfx942" / "vector_add")
    code = trace.code
    assert code.is_label[0]
    sizes = np.diff(code.address[1:].astype(np.int64))
    assert set(sizes.tolist()) <= {4, 8}
    lines = (BUILT / "tiny.hip").read_text().splitlines()
    used = [lines[line - 1] for row in range(1, len(code)) for _, line in code.chain(row) if line > 0]
    assert any("x * s + 1.0f" in line for line in used)  # the inlined helper
    assert any("scaled(a[i], 2.0f) + b[i]" in line for line in used)  # and its caller


def test_a_file_with_several_kernels_names_them_and_options_choose():
    located = locate(BUILT / "libtiny.so")
    assert not located.is_capture
    assert len(located.captures()) == len(TARGETS) * len(KERNELS)
    with pytest.raises(TraceError, match="holds 8 kernels") as several:
        located.capture()
    assert "--kernel" in several.value.hint
    with choosing(kernel="sum", target="gfx950"):
        found = locate(BUILT / "libtiny.so").captures()
    assert [path.parts[-2:] for path in found] == [("gfx950", "sum_rows")]
    assert shape_of(found[0]) is CaptureForm.COMPILED
    assert is_there(found[0])
    with choosing(target="gfx90a"):
        missing = locate(BUILT / "libtiny.so").error
    assert "gfx1100, gfx1201" in missing.hint


def test_a_folder_of_a_cache_lists_the_kernels_of_its_files(tmp_path):
    (tmp_path / "KEY").mkdir()
    (tmp_path / "KEY" / "sum_rows.hsaco").write_bytes(OBJECT)
    (tmp_path / "KEY" / "sum_rows.json").write_text('{"name": "sum_rows", "num_warps": 4, "shared": 4096}')
    (tmp_path / "KEY" / "notes.txt").write_text("no kernel")
    found = locate(tmp_path).captures()
    assert [path.name for path in found] == list(KERNELS)
    facts = open_trace(found[1]).facts
    assert (facts.kernel.threads, facts.kernel.lds) == (4 * 64, 4096)  # waves of 64 lanes; LDS of the launch


@pytest.mark.parametrize("name", ["no.hsaco", "no.so", "no.pkl", "empty.co"])
def test_a_file_without_kernels_says_so_in_a_sentence(tmp_path, name):
    file = tmp_path / name
    file.write_bytes(b"" if name == "empty.co" else HOST + b"nothing" * 40)
    with pytest.raises(NotATrace, match="no kernel"):
        open_trace(file)
    with pytest.raises(TraceError):
        open_trace(file / "gfx942" / "sum_rows")


def test_an_object_of_bitcode_says_that_it_is_not_linked(tmp_path):
    file = tmp_path / "unlinked.o"
    file.write_bytes(b"BC\xc0\xde" + bytes(96))
    with pytest.raises(NotATrace, match="bitcode"):
        open_trace(file)


def test_equal_kernels_of_two_objects_have_different_paths(tmp_path):
    file = tmp_path / "lib.co"
    file.write_bytes(bundle(("hip-amdgcn-amd-amdhsa--gfx942", OBJECT)) * 2)
    paths = [one.path for one in compiled_kernels(file).kernels]
    assert len(set(paths)) == 4
    for path in paths:
        assert open_trace(path).kernel_name == path.name


def test_an_object_whose_header_was_left_empty_is_for_the_gpu_of_its_name(tmp_path):
    data = bytearray(OBJECT)
    data[5:8] = bytes(3)  # byte order, version, ABI
    data[16:20] = bytes(4)  # type, machine
    data[48:52] = bytes(4)  # flags, which name the GPU
    file = tmp_path / "gfx942_code_object_id_1.out"
    file.write_bytes(data)
    assert [(one.target, one.symbol) for one in compiled_kernels(file).kernels] == [
        ("gfx942", name) for name in KERNELS
    ]
    trace = open_trace(file / "gfx942" / "sum_rows")
    assert trace.target == "gfx942"
    assert "s_load_dword" in trace.code.text[1]


@pytest.mark.parametrize("size", [6, 20, 48, 63])
def test_a_file_that_ends_in_the_header_of_an_elf_file_holds_no_kernels(size: int, tmp_path: Path) -> None:
    """An ELF file for the host, and one behind other bytes."""
    start = b"\x7fELF\x02\x01\x01".ljust(18, b"\0") + b"\x3e\0" + bytes(44)
    for before in (b"", b"other bytes"):
        (tmp_path / "x.so").write_bytes(before + start[:size])
        assert compiled_kernels(tmp_path / "x.so").kernels == ()


def test_sections_that_end_beyond_all_numbers_end_with_the_file(tmp_path: Path) -> None:
    """An end of 2^64 + 16 bytes is not one of 16 bytes."""
    damaged = bytearray(OBJECT)
    (table,), (size,) = struct.unpack_from("<Q", damaged, 40), struct.unpack_from("<H", damaged, 58)
    struct.pack_into("<QQ", damaged, table + size + 24, (1 << 64) - 16, 32)
    (tmp_path / "x.vmfb").write_bytes(b"other bytes" + damaged)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert {one.symbol for one in compiled_kernels(tmp_path / "x.vmfb").kernels} == set(KERNELS)
