"""Real captures with damaged bytes give a result or a TraceError."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.test_fuzz import TABLES, damaged_capture_survives
from tests.real.captures import trace_path


@given(
    name=st.sampled_from(TABLES),
    cut=st.none() | st.integers(0, 60_000),
    flips=st.dictionaries(st.integers(0, 1 << 20), st.integers(0, 255), max_size=8),
)
@settings(max_examples=40)
def test_real_files_with_damaged_bytes(name: str, cut: int | None, flips: dict[int, int]) -> None:
    damaged_capture_survives(trace_path("fused_rope_cache"), name, cut, flips)
