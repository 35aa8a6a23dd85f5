"""What every test gets: no display, its own settings, and nothing left behind."""

from __future__ import annotations

import os
import signal
import sys
from itertools import count
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_SCALE_FACTOR", "1")
os.environ.setdefault("LC_ALL", "C.UTF-8")
os.environ.pop("COLUMNS", None)  # a terminal or a test runner exports it, and tables would be cut to it

import pytest
from hypothesis import HealthCheck, settings

if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    # Every program that a test starts would compile the package again: its code lies beside the tree instead.
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(ROOT / ".pytest_cache" / "bytecode")
    sys.dont_write_bytecode = False

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
_NUMBERS = count()
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(autouse=True)
def isolated_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings, caches and recent files of a test go to a folder of its own, which is made if it is used."""
    home = tmp_path_factory.getbasetemp() / "homes" / f"{next(_NUMBERS)}"
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
