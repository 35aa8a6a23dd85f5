"""What libLLVM says of real code."""

import pytest

from tests.real.golden_sqtt import NAMES, code_object, golden
from tests.support.llvm import need_llvm


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_those_of_the_golden_code(name: str) -> None:
    need_llvm()
    for number, code in golden(name)["code"].items():
        found = code_object(name, int(number))
        program = found.program(found.kernels[0].address)
        assert program is not None
        known = {address: text for address, _, text in code["isa"]}
        assert dict(zip(program.address.tolist(), program.text, strict=True)).items() <= known.items()
        assert "LLVM" in found.disassembler
