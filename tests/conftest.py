"""What every test gets: no display, its own settings, and nothing left behind."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from random import Random
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_SCALE_FACTOR", "1")
os.environ.setdefault("LC_ALL", "C.UTF-8")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `rcv` does: idle threads of numpy spin
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # tests start hundreds of processes: each would compile anew
os.environ.pop("COLUMNS", None)  # a terminal or a test runner exports it, and tables would be cut to it

import pytest
from hypothesis import HealthCheck, settings
from PySide6.QtCore import SignalInstance
from pytestqt.qtbot import QtBot
from pytestqt.wait_signal import SignalBlocker

from rcv_py.formats.notes.store import PLACE as NOTES
from rcv_py.formats.raw.kept import PLACE
from tests.support.kernels import kept_kernels
from tests.support.limits import HANG_MS
from tests.support.paths import ROOT
from tests.support.samples import STORE

sys.dont_write_bytecode = False  # as for the processes that tests start
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell that starts us in the background ignores Ctrl+C for us, and for every program that we start.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "rcv",
    max_examples=50,  # the same wherever it runs; `make fuzz` tries as many as one likes
    derandomize=bool(os.environ.get("CI")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rcv")

_NUMBERS = count()
MACHINE_CODE = "NUMBA_CACHE_DIR"
LONGEST = (  # files that take 7 s or more are begun first: processes then end at about the same time
    *("cli/test_schemas.py", "cli/test_exit_codes.py", "ui/test_same_tomorrow.py", "ui/test_shot.py"),
    *("test_automation.py", "cli/test_mcp.py", "cli/test_bombs.py", "analysis/test_kernel_change.py"),
    *("ui/test_hostile_texts.py", "analysis/test_reductions.py", "cli/test_failing_exports.py"),
    *("analysis/test_prediction_truth.py", "fuzz/test_short.py", "ui/test_copy_command.py"),
    *("cli/test_compiled.py", "cli/test_numbers.py", "cli/test_options.py", "work/test_executors.py"),
    *("cli/test_mcp_hostile.py", "synth/test_same_bytes.py", "ui/test_late_panels.py"),
    *("analysis/test_whatif_limits.py", "cli/test_hostile_text.py", "formats/test_fuzz.py"),
    *("features/findings/test_one_answer.py", "cli/test_mcp_root.py", "analysis/test_findings.py"),
    *("features/source/test_beside.py", "formats/raw/test_official.py", "formats/test_invariants.py"),
    *("export/test_report.py", "work/test_reduce.py", "test_skill.py", "api/test_capture.py"),
    *("ui/test_layouts.py", "cli/test_golden.py", "features/record/test_command.py"),
    *("api/test_same_numbers.py", "features/compare/test_panel.py", "features/compare/test_command.py"),
)
OF_SOURCES = (
    *("results/test_columns.py", "results/test_glossary.py", "test_catalogues.py", "test_house.py"),
    *("test_layers.py", "test_texts.py"),
)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the processes of a run share what the first one makes
        os.environ[STORE] = mkdtemp(prefix="rcv-samples-")
        os.environ[PLACE] = str(Path(os.environ[STORE]) / "decoded")  # nobody's cache is asked, or grows
        os.environ[NOTES] = str(Path(os.environ[STORE]) / "notes")  # nobody's notes are read, or changed
        os.environ[MACHINE_CODE] = str(kept_kernels(ROOT / "build" / "kernels"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One process of a run reads all sources: the files of tests that look at them go to the same."""
    from tests.support.scheduling import FileScheduling

    if config.getvalue("dist") != "loadfile":
        return None
    scheduling = FileScheduling(config, log)
    scheduling.together = OF_SOURCES
    return scheduling


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tests and modules stay to the end: what collects garbage after every window need not look at them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # tables of results are many objects, and next to none of them garbage


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """What a file leaves behind stays to the end, too: captures and answers that others use again.

    A window that is closed looks for all garbage; with what hundreds of files left that took seconds each.
    """
    yield
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        rmtree(os.environ.pop(STORE, ""), ignore_errors=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--order-seed",
        type=int,
        metavar="NUMBER",
        help="shuffle the files, and the tests of each; the same number gives the same order",
    )


def pytest_report_header(config: pytest.Config) -> str:
    seed = config.getoption("--order-seed")
    return "order: that of the files" if seed is None else f"order: --order-seed {seed}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest files come first; with a seed, files and tests within them are shuffled.

    pytest then puts those together that share what a file makes once for each capture.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    paths = list(files)
    if (seed := config.getoption("--order-seed")) is not None:
        random = Random(seed)
        random.shuffle(paths)
        for tests in files.values():
            random.shuffle(tests)
    longest = [Path(__file__).parent / name for name in LONGEST]
    paths.sort(key=lambda path: longest.index(path) if path in longest else len(longest))
    items[:] = [item for path in paths for item in files[path]]


class PatientBot(QtBot):
    """Waits with the limit that all tests have: none gives one of its own."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = HANG_MS) -> None:
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: SignalInstance, *, timeout: int = HANG_MS, **more: Any) -> SignalBlocker:
        return super().waitSignal(signal, timeout=timeout, **more)


@pytest.fixture
def qtbot(qapp: object, request: pytest.FixtureRequest) -> QtBot:
    """The bot of pytest-qt, which is more patient."""
    return PatientBot(request)


@pytest.fixture(autouse=True)
def isolated_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings, caches and recent files of a test go to a folder of its own, which is made if it is used."""
    home = tmp_path_factory.getbasetemp() / "homes" / f"{next(_NUMBERS)}"
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
