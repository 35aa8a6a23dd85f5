import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from threading import Timer

import numpy as np
import pytest

from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, stoppable
from rcv_py.formats.isa import code_object, disassembly, processes
from rcv_py.formats.isa.alone import GAVE_UP
from rcv_py.formats.isa.disassembly import CodeBytes, DisassemblerChoice, disassemble
from rcv_py.formats.isa.processes import Candidate, candidates
from rcv_py.formats.isa.program import Category, category_of, mnemonic
from tests.formats.isa.test_lengths import CASES
from tests.support.limits import HANG_S
from tests.support.llvm import need_llvm
from tests.support.object_files import TEXT, code_file
from tests.support.paths import ROOT

WORDS = struct.pack("<5I", 0xBF8CC07F, 0x7E000280, 0xBF85FFFD, 0xD1FF0004, 0x00000000)


@pytest.fixture(autouse=True)
def _forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disassembly, "_choice", DisassemblerChoice())


OLD = "this machine has no old libLLVM: install the package libllvm14 or libllvm15"


def piece(data: bytes = WORDS, address: int = 0x100) -> CodeBytes:
    return CodeBytes("kernel", address, memoryview(data))


def old_llvm() -> Candidate:
    found = sorted(Path("/usr/lib").glob("*-linux-gnu/libLLVM-1[45].so.1"))
    return Candidate("llvm", str(found[-1])) if found else pytest.skip(OLD)


def test_texts_are_those_that_were_assembled() -> None:
    """What libLLVM says of bytes is what they were made of, but for how a number or an operand is written."""
    newest = need_llvm()
    for target in ("gfx90a", "gfx950", "gfx1030", "gfx1100"):  # gfx12 has other names for the same
        cases = CASES[target]
        (program,), name = disassemble([piece(bytes.fromhex("".join(cases.values())))], target, [newest])
        assert re.search(r" \(LLVM \d+\.\d+\.\d+\)$", name)
        assert [mnemonic(text) for text in program.text] == [mnemonic(text) for text in cases]
        assert program.size.tolist() == [len(code) // 2 for code in cases.values()]


def test_a_branch_goes_to_its_target() -> None:
    (program,), _ = disassemble([piece()], "gfx950", [])
    assert program.address.tolist() == [0x100, 0x104, 0x108, 0x10C]
    assert program.category.tolist() == [Category.IMMED, Category.VALU, Category.BRANCH, Category.VALU]
    assert program.target.tolist() == [-1, -1, 0x108 + 4 - 12, -1]
    assert program.row(0x108) == 2
    assert program.row(0x106) == -1


def test_without_a_disassembler_there_are_lengths_categories_and_raw_words() -> None:
    (program,), name = disassemble([piece()], "gfx950", [])
    assert name == ""
    assert program.size.tolist() == [4, 4, 4, 8]
    assert program.text == (
        *("s_waitcnt lgkmcnt(0)", "v_unknown 0x7e000280", "s_cbranch_scc1 65533"),
        "v_unknown 0xd1ff0004 0x00000000",
    )


def test_a_target_that_nobody_knows_has_its_words() -> None:
    (program,), name = disassemble([piece()], "", candidates())
    assert name == ""
    assert program.text[1] == ".long 0x7e000280"
    assert len(program) == 5
    assert set(program.category) == {Category.UNKNOWN}


def test_a_library_that_is_too_old_for_the_target_is_passed_over() -> None:
    newest, old = need_llvm(), old_llvm()
    (program,), name = disassemble([piece()], "gfx950", [old, newest])
    assert name.startswith(str(newest))
    assert program.text[3].startswith("v_")
    assert (old, "gfx950") in disassembly._choice.unfit


def test_an_old_library_is_good_for_what_it_knows() -> None:
    (program,), name = disassemble([piece()], "gfx90a", [old_llvm()])
    assert name.startswith("libLLVM")
    assert program.text[:2] == ("s_waitcnt lgkmcnt(0)", "v_mov_b32_e32 v0, 0")


@pytest.mark.parametrize(
    ("target", "code", "lanes", "expected"),
    [
        ("gfx1201", "80010764", 0, "v_add_f16_e32 v3.l, v0.h, v0.h"),
        ("gfx1201", "0103887c", 32, "v_cmp_gt_i32_e32 vcc_lo, v1, v1"),
        ("gfx1201", "0103887c", 64, "v_cmp_gt_i32_e32 vcc, v1, v1"),
        ("gfx1030", "0103027d", 64, "v_cmp_lt_i32_e32 vcc, v1, v1"),
    ],
)
def test_halves_and_lane_masks_fit_target_and_wave(target: str, code: str, lanes: int, expected: str) -> None:
    (program,), _ = disassemble([piece(bytes.fromhex(code))], target, [need_llvm()], lanes=lanes)
    assert program.text == (expected,)


@pytest.mark.parametrize(
    ("target", "words", "text"),
    [
        ("gfx1100", (0xD72C0003, 0x02000902), "v_mul_lo_u32 v3, v2, s4"),
        ("gfx1100", (0xD59C408C, 0x02010120), "v_mov_b16_e64 v140.h, v32.l op_sel:[0,1]"),
        ("gfx1201", (0xD58A4027, 0x02010184), "v_cvt_f16_f32_e64 v39.h, v132 op_sel:[0,1]"),
        ("gfx1250", (0xCC294002, 0x1A020902), "v_pk_add_f32 v[2:3], v[2:3], v[4:5]"),
        (
            "gfx1250",
            (0xCC284002, 0x120204FF, 0x3FB8AA3B),
            "v_pk_mul_f32 v[2:3], 0x3fb8aa3b, v[2:3] op_sel_hi:[0,1]",
        ),
    ],
)
def test_old_libraries_know_unused_sources_of_zero(target: str, words: tuple[int, ...], text: str) -> None:
    """LLVM 23 writes 0x080 in bits 26 to 18 of the second word, with one source also in bits 17 to 9.

    The texts are those of LLVM 22.1, which knows such words.
    """
    old = next((one for one in candidates() if "rocmllvm" in one.library), None)
    if old is None:
        pytest.skip("this machine has no LLVM 22.0: pip install rocm-llvm-python")
    data = struct.pack(f"<{len(words)}I", *words)
    (program,), _ = disassemble([piece(data)], target, [old])
    assert program.text == (text,)


def test_code_object_manager_says_what_llvm_says() -> None:
    """Its old version of distributions knows gfx90a, as their old libLLVM does."""
    found = next((one for one in candidates() if one.engine == "comgr"), None)
    if found is None:
        pytest.skip("this machine has no libamd_comgr: install the package libamd-comgr2, or ROCm")
    data = bytes.fromhex("".join(CASES["gfx90a"].values()))
    (said,), name = disassemble([piece(data)], "gfx90a", [found])
    assert name.startswith("libamd_comgr")
    (known,), _ = disassemble([piece(data)], "gfx90a", [need_llvm()])
    assert said.size.tolist() == known.size.tolist()
    assert [mnemonic(text) for text in said.text] == [mnemonic(text) for text in known.text]
    same = [one == other for one, other in zip(said.text, known.text, strict=True)]
    assert sum(same) >= len(same) - 2, "versions may write an operand in another way"


def test_an_instruction_that_one_does_not_know_is_asked_of_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in that knows all but the third; the real one knows it."""
    sizes, texts = bytes([4, 4, 4 | 128, 8]), b"one\ntwo\n\nfour"
    answer = b"ready LLVM 1\n" + struct.pack("<I", 4) + sizes + struct.pack("<I", len(texts)) + texts
    asked = []

    def answers(program: str, words: tuple[str, ...], *_: object) -> tuple[bytes, bool]:
        asked.append(words[1])
        full = answer.replace(b"\n\nfour", b"\nthree\nfour").replace(bytes([4 | 128]), b"\4")
        full = full.replace(struct.pack("<I", len(texts)), struct.pack("<I", len(texts) + 5))
        return (answer if words[1] == "old" else full), True

    monkeypatch.setattr(disassembly, "answer_of", answers)
    old, new = Candidate("llvm", "old"), Candidate("llvm", "new")
    (program,), name = disassemble([piece()], "gfx950", [old, new])
    assert (name, program.text) == ("new (LLVM 1)", ("one", "two", "three", "four"))
    (program,), name = disassemble([piece()], "gfx950", [old, new])
    assert asked == ["old", "new", "new"], "what knew all is asked first from then on"
    (program,), name = disassemble([piece()], "gfx942", [old])
    assert program.text == ("one", "two", "s_cbranch_scc1 65533", "four"), "the raw words stand in"


def test_words_that_end_a_library_cost_its_answer_alone() -> None:
    """A 16-bit source of a register that does not exist ends the libLLVM of today."""
    newest = need_llvm()
    deadly = bytes.fromhex("f93ad640046f333688bde795ee3126f93ca70ddafe296aed")
    for _ in range(disassembly.MAX_CRASHES + 1):
        (program,), _name = disassemble([piece(deadly)], "gfx950", [newest])
        assert int(program.size.sum()) == len(deadly)
    (program,), _name = disassemble([piece()], "gfx950", [newest])
    assert len(program) == 4


def test_a_library_that_is_none_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "libLLVM.so").write_bytes(b"no library")
    (program,), name = disassemble([piece()], "gfx950", [Candidate("llvm", str(tmp_path / "libLLVM.so"))])
    assert (name, len(program)) == ("", 4)


ALONE = Path(processes.__file__).with_name("alone.py").read_bytes()


def test_without_a_process_there_are_lengths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    (program,), name = disassemble([piece()], "gfx950", [Candidate("llvm", "libLLVM.so")])
    assert (name, len(program)) == ("", 4)


def test_cancel_and_time_end_the_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_bytes(ALONE)
    (tmp_path / "forever.py").write_text("while True: pass\n")
    monkeypatch.setattr(processes, "__file__", str(tmp_path / "processes.py"))
    flag = CancelFlag()
    timer = Timer(0.1, flag.set)
    timer.start()
    with pytest.raises(Cancelled), stoppable(flag):
        processes.answer_of("forever", (), (), 600.0)
    timer.join()
    assert processes.answer_of("forever", (), (), 0.1) is None


def alone(module: Path, seconds: float, parent: int) -> subprocess.Popen[bytes]:
    """A process of `alone.py` that runs a module of the test's."""
    program = module.with_name("alone.py")
    program.write_bytes(ALONE)
    return subprocess.Popen([sys.executable, "-I", str(program), module.stem, str(seconds), str(parent)])


@pytest.mark.parametrize(("seconds", "is_orphan"), [(0.1, False), (600.0, True)])
def test_a_process_nobody_waits_for_ends_by_itself(seconds: float, is_orphan: bool, tmp_path: Path) -> None:
    (tmp_path / "forever.py").write_text("while True: pass\n")
    with alone(tmp_path / "forever.py", seconds, 1 if is_orphan else os.getpid()) as process:
        assert process.wait(60.0) == GAVE_UP


def test_memory_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "much.py").write_text("bytearray(8 << 30)\n")
    with alone(tmp_path / "much.py", 60.0, os.getpid()) as process:
        assert process.wait(60.0) == 1


def test_a_frozen_program_runs_its_own_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    command = processes._command()
    monkeypatch.delattr(sys, "frozen")
    assert command == [sys.executable, "--own-program"]
    frozen = "import sys, runpy; sys.frozen = True; runpy.run_module('rcv_py', run_name='__main__')"
    told = ["dwarf", "60", str(os.getpid()), code_object.PACKAGES]
    words = [sys.executable, "-c", frozen, *command[1:], *told]
    data = code_file({"one": WORDS})
    question = struct.pack("<3Q", 8, TEXT, len(data)) + data
    done = subprocess.run(words, input=question, capture_output=True, check=True, cwd=ROOT, timeout=HANG_S)
    assert b'"chain":[-1]' in done.stdout.replace(b" ", b""), done.stderr.decode()


def test_libraries_are_from_rocm_and_python_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    processes.candidates.cache_clear()
    (tmp_path / "capture").mkdir()
    (tmp_path / "capture" / "libLLVM-99.so").write_bytes(b"")
    rocm = tmp_path / "rocm" / "llvm" / "lib"
    rocm.mkdir(parents=True)
    (rocm / "libLLVM-98.so").write_bytes(b"")
    monkeypatch.chdir(tmp_path / "capture")
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    packages = tmp_path / "site-packages"
    for name in (
        "rocm/llvm/librocmllvm.so",
        "rocm/bindings/llvm/libLLVM-97.so",
        "llvm_nanobind.libs/libLLVM-99fe0123.so.96.1",
    ):
        (packages / name).parent.mkdir(parents=True)
        (packages / name).write_bytes(b"")
    bundled = tmp_path / "_internal" / "rocm/llvm/librocmllvm.so"
    bundled.parent.mkdir(parents=True)
    bundled.write_bytes(b"")
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages), str(tmp_path / "_internal")])
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path / "_internal"), raising=False)
    monkeypatch.setattr(processes, "SYSTEM_FOLDERS", {})
    monkeypatch.setattr(processes, "MAX_OF_A_KIND", 9)
    found = [one.library for one in candidates()]
    processes.candidates.cache_clear()
    assert found[:3] == [
        str(rocm / "libLLVM-98.so"),
        str(packages / "rocm/bindings/llvm/libLLVM-97.so"),
        str(packages / "llvm_nanobind.libs/libLLVM-99fe0123.so.96.1"),
    ], "the newest first"
    assert {str(packages / "rocm/llvm/librocmllvm.so"), str(bundled)} <= {*found}
    assert not any("capture" in path for path in found)


def test_many_instructions_are_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in knows all of them: every fourth has 8 bytes."""
    calls = []

    def answers(*_: object) -> tuple[bytes, bool]:
        calls.append(1)
        texts = b"\n".join([b"s_nop 0"] * 40_000)
        sizes = bytes([4, 4, 4, 8]) * 10_000
        said = struct.pack("<I", 40_000) + sizes + struct.pack("<I", len(texts)) + texts
        return b"ready LLVM 1\n" + said, True

    monkeypatch.setattr(disassembly, "answer_of", answers)
    data = np.tile(np.frombuffer(WORDS, "<u4"), 5_000).tobytes()
    programs, _ = disassemble([piece(data), piece(data)], "gfx950", [Candidate("llvm", "new")])
    assert [len(one) for one in programs] == [20_000, 20_000]
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("word", "category"),
    [
        *(("v_mfma_f32_32x32x8_f16", Category.VALU), ("v_dual_mov_b32", Category.VALU)),
        *(("s_mov_b32", Category.SALU), ("s_setprio_inc_wg", Category.SALU), ("s_call_b64", Category.SALU)),
        *(("s_setprio", Category.IMMED), ("s_waitcnt", Category.IMMED), ("s_waitcnt_depctr", Category.IMMED)),
        *(("s_wait_loadcnt", Category.IMMED), ("s_wait_alu", Category.SKIP), ("s_delay_alu", Category.SKIP)),
        *(("s_dcache_inv", Category.IMMED), ("s_dcache_wb", Category.SMEM), ("s_load_b64", Category.SMEM)),
        *(("s_memrealtime", Category.SMEM), ("s_prefetch_inst", Category.SMEM)),
        *(
            ("buffer_load_dword", Category.VMEM),
            ("buffer_nop", Category.SKIP),
            ("flat_load_b32", Category.FLAT),
        ),
        *(
            ("scratch_load_b32", Category.VMEM),
            ("image_sample", Category.VMEM),
            ("tensor_load", Category.VMEM),
        ),
        *(("image_bvh_intersect_ray", Category.BVH), ("ds_bvh_stack_push4_pop1_rtn_b32", Category.BVH)),
        *(
            ("ds_bvh_stack_rtn_b32", Category.LDS),
            ("lds_direct_load", Category.LDS),
            ("ds_read_b32", Category.LDS),
        ),
        *(("s_cbranch_vccnz", Category.BRANCH), ("s_branch", Category.BRANCH), ("exp", Category.UNKNOWN)),
        *(("s_barrier_signal", Category.IMMED), ("s_set_vgpr_msb", Category.SKIP), ("", Category.UNKNOWN)),
    ],
)
def test_categories_follow_mnemonics(word: str, category: Category) -> None:
    assert category_of(word) == category
