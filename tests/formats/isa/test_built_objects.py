"""Code objects of our own source for every generation (`built/build.sh`): what LLVM's own tools say holds."""

import json
import random
from contextlib import suppress
from pathlib import Path

import pytest

from rcv_py.analysis.program.branches import flow
from rcv_py.analysis.program.instruction_classes import InstructionClass, instruction_class
from rcv_py.base.errors import BrokenFile
from rcv_py.formats.compiled import compiled_kernels, open_compiled
from rcv_py.formats.isa.code_object import CodeObject
from rcv_py.formats.isa.elf import read_image
from rcv_py.formats.raw.options import RawOptions
from tests.support.llvm_truth import differences, told_by_rcv

BUILT = Path(__file__).parent / "built"
TRUTH = json.loads((BUILT / "truth.json").read_text())
CALLS = [name for name in TRUTH if "_O0_" in name]


def test_the_objects_are_of_every_generation_with_both_versions_of_dwarf_and_both_numbers_of_lanes() -> None:
    assert set(TRUTH) == {file.name for file in BUILT.glob("*.*o")}
    assert {name.split("_")[1] for name in TRUTH} == {
        *("gfx906", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1151", "gfx1201", "gfx1250")
    }
    sides = {
        (part, told["kernels"]["copy"]["lanes"])
        for name, told in TRUTH.items()
        for part in name.split("_")[2:4]
    }
    assert sides == {(part, lanes) for part in ("O0", "O2", "dwarf4", "dwarf5") for lanes in (32, 64)}


@pytest.mark.parametrize("name", TRUTH)
def test_kernels_registers_starts_and_lines_are_those_of_llvm(name: str) -> None:
    assert differences(TRUTH[name], told_by_rcv(BUILT / name)) == []


@pytest.mark.parametrize("name", TRUTH)
def test_starts_need_no_disassembler(name: str) -> None:
    whole = CodeObject.open(BUILT / name)
    alone = CodeObject(0, name, whole.image, known=())
    for function in alone.functions:
        if function.name:
            program = alone.program(function.address)
            words = "".join(map(str, (program.size // 4).tolist()))
            assert words == TRUTH[name]["functions"][function.name]["words"]


@pytest.mark.parametrize("name", CALLS)
def test_a_kernel_that_calls_comes_before_the_functions_of_its_object(name: str) -> None:
    path = next(one.path for one in compiled_kernels(BUILT / name).kernels if one.symbol == "evaluate")
    trace = open_compiled(path, RawOptions())
    assert trace.kernel_name == "evaluate"
    assert [kernel.name for kernel in trace.code.kernels] == ["evaluate", "_Z10polynomialfPKfi"]
    told = TRUTH[name]["functions"]
    rows = sum(1 + len(told[function]["words"]) for function in ("evaluate", "_Z10polynomialfPKfi"))
    assert len(trace.code) == rows
    returns = [row for row, text in enumerate(trace.code.text) if text.startswith(("s_setpc", "s_set_pc"))]
    found = flow(trace.code)
    assert [(found.is_branch[row], found.falls[row]) for row in returns] == [(True, False)]
    assert instruction_class(trace.code.text[returns[0]]) is InstructionClass.BRANCH


def test_a_damaged_relocatable_object_is_a_sentence_or_less_code() -> None:
    data = (BUILT / "calls_gfx1201_O0_dwarf5_wave32.o").read_bytes()
    rng = random.Random(7)
    for _ in range(300):
        other = bytearray(data[: rng.randrange(64, len(data))] if rng.random() < 0.3 else data)
        for _ in range(rng.randrange(1, 9)):
            at = (
                rng.randrange(len(other))
                if rng.random() < 0.5
                else max(len(other) - rng.randrange(1, 2400), 0)
            )
            other[at] = rng.choice((0, 1, 0x7F, 0xFF, rng.randrange(256)))
        with suppress(BrokenFile):
            image = read_image(bytes(other), "x.o")
            assert sum(len(one.data) for one in image.regions) <= len(other)
