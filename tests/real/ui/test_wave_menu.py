"""A real capture whose waves all left early: 32 of them ran 17 of 4,948 instructions."""

from tests.features.waves.test_menu import (
    test_a_capture_without_working_waves_says_so,  # noqa: F401
    test_an_instruction_has_causes_without_findings,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of

idle = fixture_of(captures.trace_path, "mla_decode")
