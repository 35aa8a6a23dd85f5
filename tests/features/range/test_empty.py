"""A range of time in which no wave ran is answered with nothing, or with a sentence, by every command."""

from pathlib import Path

import pytest

from tests.support.command_runs import ON_A_CAPTURE, in_forms
from tests.support.fixtures import fixture_of_each
from tests.support.plain_capture import plain
from tests.support.samples import sample_path

VARIANTS = [(command, more) for command, variants in ON_A_CAPTURE.items() for more in variants]


folder = fixture_of_each(sample_path, ["matmul_small", "gfx12"])  # A capture


@pytest.mark.parametrize(("command", "more"), VARIANTS)
def test_no_wave_in_the_range(folder: Path, command: str, more: str) -> None:
    end = min(wave.begin for wave in plain(folder).waves)
    if "--clock" in more or "--within" in more:
        more = ""
    for done in in_forms(command, folder, f"{more} --to {min(5, end)}", ((), ("--json",))):
        assert done.code in {0, 2}, done.err[-600:]
        assert done.code == 0 or done.err, "refused without a sentence"
