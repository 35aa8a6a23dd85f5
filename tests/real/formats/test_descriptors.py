"""What descriptors of real kernels allocate is what their launches recorded, and what compilers printed."""

import pytest

from rcv_py.formats.isa.code_object import CodeObject
from rcv_py.formats.isa.elf import allocated_registers
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.run_files import facts_about
from tests.real.captures import SHARED


@pytest.mark.parametrize("name", ["gfx950/gemm_run_0", "gfx1100/gemm_run_0", "gfx1200/plus_run_0"])
def test_a_descriptor_agrees_with_the_recorded_launch(name: str) -> None:
    trace = open_trace(SHARED / "raw" / name)
    found = facts_about(trace).allocated
    assert found.vgprs == trace.dispatches[0].vgprs > 0
    assert [kernel.lanes for kernel in trace.code.kernels] == [found.lanes]
    assert found.lanes == (64 if name.startswith("gfx9") else 32)


def test_a_kernel_that_calls_allocates_what_its_note_says() -> None:
    """152 vector registers, of which its own instructions name 41; 46 scalar ones are six eights."""
    path = SHARED / "cases/isa_metadata_unused/caller_gfx942.co"
    image = CodeObject.open(path).image
    assert image is not None
    found = allocated_registers(image, "caller", path.name)
    assert (found.vgprs, found.sgprs, found.lds) == (152, 48, 2_048)
    assert (found.threads, found.is_exact, found.lanes, found.scratch) == (256, True, 64, 0)
