"""The rules of tests/formats/raw/test_assemble.py on real raw captures."""

from rcv_py.formats.open import open_trace
from tests.formats.raw.test_assemble import (  # noqa: F401 - collected here, too
    test_engines_with_clocks_are_aligned_and_others_are_told_of,
    test_every_token_stands_where_it_should,
    test_residents_have_their_kernel,
    test_the_code_is_whole_and_has_its_kernel_and_places,
    test_totals_are_those_of_the_tokens,
    trace,
)
from tests.real import captures


def test_lds_of_a_launch_is_in_granules_of_its_gpu() -> None:
    """64 bytes of LDS are one granule: 1,280 bytes on gfx950, where other gfx9 allocate 512."""
    launches = open_trace(captures.SHARED / "cases" / "gfx950_lds_granule").dispatches
    assert [one.lds_size for one in launches] == [1280]
