"""What kernels allocate, by their descriptors: encodings of each generation, and files without any."""

import pytest
from msgspec import msgpack

from rcv_py.formats.isa.elf import allocated_registers, read_image
from rcv_py.model.resources import AllocatedRegisters
from tests.support.object_files import code_file

END = bytes.fromhex("000081bf")  # s_endpgm
GFX906, GFX942, GFX1100, GFX1250 = 0x2F, 0x4C, 0x41, 0x49  # low byte of the flags
GFX9, GFX9_4, GFX12_5 = 0x51, 0x5F, 0x5B  # targets for several GPUs
WAVE32 = 1 << 10


@pytest.mark.parametrize(
    ("machine", "properties", "vgprs", "sgprs"),
    [
        (GFX906, 0, 4 * 19, 48),
        (GFX942, 0, 8 * 19, 48),
        (GFX9, 0, 4 * 19, 48),
        (GFX9_4, 0, 8 * 19, 48),
        (GFX1100, 0, 4 * 19, -1),
        (GFX1100, WAVE32, 8 * 19, -1),
        (GFX1250, WAVE32, 16 * 19, -1),
        (GFX12_5, WAVE32, 16 * 19, -1),
    ],
)
def test_registers_come_in_granules_of_the_gpu(machine: int, properties: int, vgprs: int, sgprs: int) -> None:
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
    assert (found.vgprs, found.sgprs, found.lds, found.file) == (vgprs, sgprs, 2_048, "a.out")


def about(kernel: str, **keys: object) -> dict[str, object]:
    """What a note says about a kernel."""
    return {".symbol": f"{kernel}.kd", **{f".{name}": value for name, value in keys.items()}}


def of_note(note: object, **fields: int) -> AllocatedRegisters:
    data = code_file({"mine": END}, kernels=("mine",), machine=GFX942, note=msgpack.encode(note), **fields)
    found = allocated_registers(read_image(data, "a.out"), "mine", "a.out")
    assert found is not None
    return found


def test_the_note_has_the_workgroup_and_what_was_spilled() -> None:
    mine = about("mine", max_flat_workgroup_size=256, vgpr_spill_count=3, sgpr_spill_count=2)
    found = of_note(
        {"amdhsa.kernels": [about("other", max_flat_workgroup_size=64), mine]},
        scratch=16,
        properties=1 << 11,
        preload=2 << 7 | 14,
    )
    assert (found.threads, found.is_exact, found.spilled_vgprs, found.spilled_sgprs) == (256, False, 3, 2)
    assert (found.scratch, found.has_dynamic_stack, found.lanes, found.preloaded) == (16, True, 64, 14)
    exact = about("mine", max_flat_workgroup_size=256, reqd_workgroup_size=[16, 16, 1])
    assert of_note({"amdhsa.kernels": [exact]}).is_exact


@pytest.mark.parametrize(
    "note",
    [
        *([], 7, {"amdhsa.kernels": 7}, {"amdhsa.kernels": [7]}, {"amdhsa.kernels": [[]]}),
        {"amdhsa.kernels": [about("mine", max_flat_workgroup_size=-1, vgpr_spill_count="3")]},
        {"amdhsa.kernels": [about("mine", max_flat_workgroup_size=1 << 40, vgpr_spill_count=True)]},
    ],
)
def test_a_note_that_makes_no_sense_says_nothing(note: object) -> None:
    found = of_note(note)
    assert (found.threads, found.is_exact, found.spilled_vgprs) == (-1, False, -1)


def test_no_descriptor_allocates_nothing() -> None:
    image = read_image(code_file({"mine": END}, kernels=("mine",)), "a.out")
    assert allocated_registers(image, "other", "a.out") is None
    without = read_image(code_file({"mine": END}, kernels=("mine",), has_symbols=False), "a.out")
    assert allocated_registers(without, "mine", "a.out") is None
    unknown = read_image(code_file({"mine": END}, kernels=("mine",), machine=0xFF), "a.out")
    assert allocated_registers(unknown, "mine", "a.out") is None
