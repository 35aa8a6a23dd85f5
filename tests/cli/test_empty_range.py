"""A range of time in which no wave ran is answered with nothing, or with a sentence, by every command."""

from __future__ import annotations

import pytest

from tests.support import captures
from tests.support.command_runs import ON_A_CAPTURE, in_forms

NAMES = ("pa_mqa_small", "vec_add")  # the first cycle of the second has an alignment of its own
VARIANTS = [(command, more) for command, variants in ON_A_CAPTURE.items() for more in variants]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("command", "more"), VARIANTS)
def test_no_wave_in_the_range(name: str, command: str, more: str) -> None:
    if "--clock" in more or "--within" in more:
        more = ""
    for done in in_forms(command, captures.trace_path(name), f"{more} --to 5", ((), ("--json",))):
        assert done.code in {0, 2}, done.err[-600:]
        assert done.code == 0 or done.err, "refused without a sentence"
