"""PC samples of a real capture: 4,690 of them, 777 where a pipe was stalled."""

from pathlib import Path

import pytest

from tests.real import captures
from tests.support.fixtures import fixture_of
from tests.support.plain_samples import reasons, sampled
from tests.ui.test_pc_sampling import (  # noqa: F401
    IS_PAINTED,
    barrier,
    test_every_panel_shows_something_or_says_why_not,
    test_reasons_of_the_kernel,
    test_samples_reach_every_view_of_code,
)

samples = fixture_of(captures.trace_path, "pcsampling")


@pytest.fixture
def without_waves(samples: Path) -> Path:
    return samples


def test_the_files_are_known(samples: Path, barrier: int) -> None:  # noqa: F811
    rows = sampled(samples)
    assert sum(row.issued + row.stalled for row in rows) == 4690
    assert reasons(samples)["pipe stalled"] == 777
    assert barrier == 102
