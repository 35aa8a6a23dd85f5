"""The page of a real capture."""

from tests.export.test_interactive import takes_little_room
from tests.real.captures import trace_path


def test_a_real_capture_takes_little_room() -> None:
    takes_little_room(trace_path("flash_attn_small_after"))
