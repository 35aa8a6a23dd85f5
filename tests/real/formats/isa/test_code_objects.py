"""Real code objects."""

import pytest

from tests.formats.isa.test_code_objects import kernels_and_lengths_are_known
from tests.real.golden_sqtt import NAMES, code_object, golden, raw


@pytest.mark.parametrize("name", NAMES)
def test_kernels_and_lengths_are_those_of_the_golden_code(name: str) -> None:
    objects = {number: code_object(name, int(number)) for number in golden(name)["code"]}
    kernels_and_lengths_are_known(raw(name), objects)
