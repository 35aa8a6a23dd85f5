"""Real captures are written as they were read."""

from pathlib import Path

import pytest

from rcv_py.formats.open import open_trace
from tests.formats.test_written_folders import ELSEWHERE, content, written
from tests.real import captures
from tests.support.equal import trace_differences

REAL = ("flash_attn_small_after", "fused_rope_cache", "pa_mqa_small", "preshuffle_gemm", "pcsampling")


@pytest.mark.parametrize("name", REAL)
def test_a_real_capture_is_written_as_it_was_read(name: str, tmp_path: Path) -> None:
    trace = captures.real_trace(name)
    folder = written(trace, tmp_path / "again")
    without = ("sources", "problems") if name == "pcsampling" else ()  # of which a copy is missing
    assert trace_differences(trace, open_trace(folder), (*ELSEWHERE, *without)) == []
    assert content(folder) == content(trace.path)
