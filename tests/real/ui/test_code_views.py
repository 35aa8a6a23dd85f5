"""The rules of tests/ui/test_code_views.py on real captures."""

import pytest

from rcv_py.model.trace import Trace
from tests.real import captures
from tests.ui.test_code_views import (
    test_the_arrows_of_a_wave_are_those_of_its_waits,  # noqa: F401
    test_the_views_agree_about_a_capture,  # noqa: F401
)


@pytest.fixture(params=["flash_attn_small_after", "mla_decode", "pcsampling", "pa_mqa_small"])
def trace(request: pytest.FixtureRequest) -> Trace:
    return captures.real_trace(request.param)


@pytest.fixture
def waiting() -> Trace:
    """A wave with 129 arrows."""
    return captures.real_trace("flash_attn_small_after")
