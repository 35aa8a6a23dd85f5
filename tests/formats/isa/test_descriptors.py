"""What kernels allocate, by their descriptors: encodings of each generation, and files without any."""

from __future__ import annotations

import pytest

from rcv_py.formats.isa.elf import allocated_registers, read_image
from tests.support.object_files import code_file

END = bytes.fromhex("000081bf")  # s_endpgm
GFX906, GFX942, GFX1100, GFX1250 = 0x2F, 0x4C, 0x41, 0x49  # low byte of the flags
WAVE32 = 1 << 10


@pytest.mark.parametrize(
    ("machine", "properties", "vgprs", "sgprs"),
    [
        (GFX906, 0, 4 * 19, 48),
        (GFX942, 0, 8 * 19, 48),
        (GFX1100, 0, 4 * 19, -1),
        (GFX1100, WAVE32, 8 * 19, -1),
        (GFX1250, WAVE32, 16 * 19, -1),
    ],
)
def test_registers_are_counted_in_the_granules_of_the_gpu(
    machine: int, properties: int, vgprs: int, sgprs: int
) -> None:
    """Eighteen in the field of vector registers is nineteen granules; five in the next is six eights."""
    data = code_file(
        {"other": END, "mine": END},
        kernels=("other", "mine"),
        machine=machine,
        registers=18 | 5 << 6,
        lds=2_048,
        properties=properties,
    )
    found = allocated_registers(read_image(data, "a.out"), "mine", "a.out")
    assert found is not None
    assert (found.vgprs, found.sgprs, found.lds, found.file) == (vgprs, sgprs, 2_048, "a.out")


def test_no_descriptor_allocates_nothing() -> None:
    image = read_image(code_file({"mine": END}, kernels=("mine",)), "a.out")
    assert allocated_registers(image, "other", "a.out") is None
    without = read_image(code_file({"mine": END}, kernels=("mine",), has_symbols=False), "a.out")
    assert allocated_registers(without, "mine", "a.out") is None
    unknown = read_image(code_file({"mine": END}, kernels=("mine",), machine=0xFF), "a.out")
    assert allocated_registers(unknown, "mine", "a.out") is None
