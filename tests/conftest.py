"""What every test gets: no display, its own settings, and nothing left behind."""

from __future__ import annotations

import os
import signal

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_SCALE_FACTOR", "1")
os.environ.setdefault("LC_ALL", "C.UTF-8")
os.environ.pop("COLUMNS", None)  # a terminal or a test runner exports it, and tables would be cut to it

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell that starts us in the background ignores Ctrl+C for us, and for every program that we start.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("dev", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "ci",
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(autouse=True)
def isolated_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings, caches and recent files of a test go to its own folder."""
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
