"""The rules of tests/ui/test_code_views.py on real captures."""

from tests.real import captures
from tests.support.fixtures import fixture_of, fixture_of_each
from tests.ui.test_code_views import (
    test_the_arrows_of_a_wave_are_those_of_its_waits,  # noqa: F401
    test_the_views_agree_about_a_capture,  # noqa: F401
)

trace = fixture_of_each(
    captures.real_trace, ["flash_attn_small_after", "mla_decode", "pcsampling", "pa_mqa_small"]
)
waiting = fixture_of(captures.real_trace, "flash_attn_small_after")  # A wave with 129 arrows
