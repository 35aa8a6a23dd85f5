"""The health of a real capture that is known, as notes."""

from collections.abc import Callable

from tests.features.health.test_panel import health, show  # noqa: F401
from tests.real import captures


def test_the_notes_of_a_known_capture(show: Callable) -> None:  # noqa: F811
    panel = show(captures.real_trace("flash_attn_small_before"))
    assert panel.verdict.text() == "2 warnings, 3 notes"
    assert panel.text.toPlainText().startswith("Warning · 90.8 % of the instructions")
    assert "representative" in [note.name for note in panel.notes]
