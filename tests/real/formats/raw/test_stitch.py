"""Every instruction of real raw captures is found."""

import pytest

from rcv_py.formats.isa.code_object import CodeObject
from tests.formats.raw.test_stitch import _both_ways, every_instruction_is_found  # noqa: F401 - a fixture
from tests.real.golden_sqtt import NAMES, code_object, golden, raw


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("is_disassembled", [True, False], ids=["named", "by lengths alone"])
def test_every_instruction_of_the_golden_captures(name: str, is_disassembled: bool) -> None:
    objects = {}
    for number in map(int, golden(name)["code"]):
        found = code_object(name, number)
        objects[number] = (
            found if is_disassembled else CodeObject(found.id, found.name, found.image, known=())
        )
    every_instruction_is_found(raw(name), objects)


def test_the_golden_captures_are_all_here() -> None:
    engines = [engine for name in NAMES for engine in golden(name)["captures"]]
    assert sum(len(wave["insts"]) for engine in engines for wave in engine["waves"]) == 5952
