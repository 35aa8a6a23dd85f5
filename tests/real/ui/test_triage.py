"""The triage page of real captures."""

from pathlib import Path

import pytest

from rcv_py.features.findings.panel import TriagePanel
from rcv_py.model.trace import Trace
from tests.features.findings.test_panel import (  # noqa: F401
    shown,
    test_evidence_of_every_kind_leads_to_its_place,
    test_numbers_are_never_cut,
    test_open_then_one_click_selects_everywhere,
)
from tests.real import captures
from tests.support.fixtures import fixture_of

path = fixture_of(captures.trace_path, "flash_attn_small_after")


@pytest.fixture
def with_all_kinds(path: Path) -> Path:
    return path


@pytest.fixture
def measured() -> tuple[Trace, list[str]]:
    return captures.real_trace("flash_attn_small_after"), ["80,484 cycles", "1.0 waves per SIMD"]


def test_samples_of_a_known_capture(shown: TriagePanel, open_in, qtbot) -> None:  # noqa: F811
    open_in(captures.real_trace("pcsampling"), [])
    qtbot.waitUntil(lambda: shown.findings is not None)
    assert shown.current.name == "samples-pipe-stalled"
