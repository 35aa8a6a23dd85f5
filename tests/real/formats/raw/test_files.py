"""Which captures lie in real folders."""

from rcv_py.formats.raw.files import raw_captures
from tests.real.golden_sqtt import raw_folder


def test_real_folders_have_their_dispatches() -> None:
    assert [one.dispatch for one in raw_captures(raw_folder("gfx1100/sync_run_0"))] == [1, 2]
    (capture,) = raw_captures(raw_folder("gfx950/gemm_run_0"))
    assert (len(capture.streams), len(capture.codes)) == (32, 1)
