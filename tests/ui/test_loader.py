"""The loader: waves arrive, the newest folder wins, failures are sentences, nothing stays behind."""

import gc
import threading
from contextlib import suppress
from multiprocessing import active_children

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QTimer

from rcv_py.base.errors import Cancelled, NotATrace, RcvError
from rcv_py.base.progress import Stage
from rcv_py.model.ids import WaveId
from rcv_py.state.selection import Selection
from rcv_py.ui.core.loader import MAX_BATCHES_AHEAD, Loader
from rcv_py.ui.core.settings_store import Settings
from rcv_py.work import load
from rcv_py.work.ahead import Preload
from tests.support.deadly_readers import Deadly
from tests.support.limits import HANG_S
from tests.support.paths import ROOT
from tests.support.wave_folder import reader, trace, wave


@pytest.fixture
def folders(tmp_path):
    """Two folders of 12 and 5 waves, by path."""
    made = {}
    for name, count in (("first", 12), ("second", 5)):
        folder = tmp_path / name
        folder.mkdir()
        made[folder] = trace(reader(folder, {f"{i}.json": wave() for i in range(count)}))
    return made


@pytest.fixture
def loader(qtbot, folders, ui):
    """A loader that knows the two folders and feeds the session."""
    del qtbot

    def open_path(path, report, early):
        report(Stage("Reading the index"))
        if path not in folders:
            raise NotATrace(path)
        return folders[path]

    made = Loader(ui.session, Settings(None), open_path)
    made.context = ui
    yield made
    made.close()
    assert not active_children()
    assert not [thread for thread in threading.enumerate() if thread.name == "rcv-loader"]


@pytest.fixture
def one_a_job(monkeypatch):
    monkeypatch.setattr(load, "SMALL_JOB_BYTES", 1)


@pytest.fixture
def processes(monkeypatch):
    monkeypatch.setattr(load, "IN_PROCESS_BYTES", 0)
    monkeypatch.setattr(load, "JOB_BYTES", 33_000)


def settle(qtbot, loader):
    qtbot.waitUntil(lambda: loader.idle)


@pytest.mark.parametrize("threshold", [0, 1 << 30])
def test_all_waves_arrive_in_the_session(qtbot, loader, folders, monkeypatch, threshold):
    monkeypatch.setattr(load, "IN_PROCESS_BYTES", threshold)
    first, _ = folders
    ui = loader.context
    with qtbot.waitSignal(loader.finished):
        loader.open(first)
    settle(qtbot, loader)
    assert ui.session.trace.value is folders[first]
    assert ui.session.store.is_complete
    assert ui.session.loaded.value > 0
    assert ui.session.busy.value == ()


def test_stages_are_told_in_order(qtbot, loader, folders, one_a_job):
    first, _ = folders
    stages = []
    loader.stage.connect(stages.append)
    loader.open(first)
    settle(qtbot, loader)
    assert str(stages[0]) == "Reading the index"
    assert str(stages[-2]) == "Reading waves 12 of 12"
    assert stages[-1] is None


def test_what_is_read_within_a_moment_is_shown_once_with_all_its_waves(qtbot, loader, folders, ui):
    first, _ = folders
    shown, told = [], []
    loader.opened.connect(lambda _: QTimer.singleShot(0, lambda: shown.append(ui.session.store.is_complete)))
    loader.stage.connect(told.append)
    loader.open(first)
    settle(qtbot, loader)
    qtbot.waitUntil(lambda: bool(shown))
    assert shown == [True], "before anything could be painted"
    assert [str(stage) for stage in told] == ["Reading the index", "None"]


def test_a_second_folder_ends_the_first(qtbot, loader, folders, ui, one_a_job):
    first, second = folders
    heard = []
    loader.opened.connect(heard.append)
    loader.open(first)
    loader.open(second)
    settle(qtbot, loader)
    assert heard == [folders[second]]
    assert ui.session.trace.value is folders[second]
    assert sorted(row for batch in ui.session.store.batches for row in batch.rows.tolist()) == [0, 1, 2, 3, 4]


def test_a_second_folder_while_the_first_streams(qtbot, loader, folders, ui, processes):
    first, second = folders
    with qtbot.waitSignal(loader.batch):
        loader.open(first)
    loader.open(second)
    settle(qtbot, loader)
    assert ui.session.trace.value is folders[second]
    assert ui.session.store.count == 5


def test_cancelling_keeps_what_has_arrived_and_brings_no_more(qtbot, loader, folders, ui, one_a_job):
    first, _ = folders
    loader.batch.connect(loader.cancel)
    with qtbot.waitSignal(loader.batch):
        loader.open(first)
    settle(qtbot, loader)
    assert 0 < ui.session.store.count <= 1 + MAX_BATCHES_AHEAD + 1
    ui.session.select(Selection(WaveId(0, 0, 0, 11)))
    qtbot.waitUntil(lambda: ui.session.store.wave(11) is not None)
    assert ui.session.busy.value == ()


def test_a_wave_that_is_selected_while_it_is_under_way_is_read_once(qtbot, loader, folders, ui):
    first, _ = folders
    batches, waits = [], threading.Event()
    loader.batch.connect(batches.append)
    loader.opened.connect(lambda _: ui.session.select(Selection(WaveId(0, 0, 0, 0))))

    def lag(stage):  # until the thread has read everything and comes to what was wanted
        while stage is not None and stage.done == 0 and not loader._load._wanted.empty():
            waits.wait(0.001)

    loader.stage.connect(lag)
    loader.open(first)
    settle(qtbot, loader)
    assert ui.session.store.count == 12
    assert sum(0 in batch.rows for batch in batches) == 1


def test_a_wave_of_the_capture_before_is_not_asked_of_the_next(qtbot, loader, folders, ui, one_a_job):
    """It stays on the screen, and its waves can be chosen, until the next capture is there."""
    first, second = folders
    broken = []
    loader.failed.connect(broken.append)
    loader.batch.connect(loader.cancel)
    with qtbot.waitSignal(loader.batch):
        loader.open(first)
    settle(qtbot, loader)
    loader.batch.disconnect(loader.cancel)
    assert not ui.session.store.is_settled(11)
    loader.open(second)
    ui.session.select(Selection(WaveId(0, 0, 0, 11)))
    ui.session.looked_at.set((10, 11))
    settle(qtbot, loader)
    assert broken == []
    assert ui.session.trace.value is folders[second]
    assert ui.session.store.count == 5


@pytest.mark.usefixtures("one_a_job")
def test_a_wave_of_the_capture_before_is_not_asked_of_one_that_failed(qtbot, loader, folders, ui, tmp_path):
    first, _ = folders
    loader.batch.connect(loader.cancel)
    with qtbot.waitSignal(loader.batch):
        loader.open(first)
    settle(qtbot, loader)
    with qtbot.waitSignal(loader.failed):
        loader.open(tmp_path)
    ui.session.select(Selection(WaveId(0, 0, 0, 11)))
    settle(qtbot, loader)
    assert ui.session.trace.value is folders[first]


def test_a_failure_arrives_as_an_error_with_a_sentence(qtbot, loader, tmp_path, ui):
    with qtbot.waitSignal(loader.failed) as heard:
        loader.open(tmp_path)
    assert isinstance(heard.args[0], RcvError)
    assert str(heard.args[0]).endswith(".")
    settle(qtbot, loader)
    assert ui.session.trace.value is None


def test_a_bug_while_opening_arrives_too(qtbot, ui):
    def broken(path, report, early):
        raise ZeroDivisionError("a bug")

    loader = Loader(ui.session, Settings(None), broken)
    with qtbot.waitSignal(loader.failed) as heard:
        loader.open("somewhere")
    assert isinstance(heard.args[0], ZeroDivisionError)
    settle(qtbot, loader)
    loader.close()


@pytest.mark.usefixtures("processes")
def test_a_dead_process_becomes_a_sentence(qtbot, loader, folders, ui, monkeypatch):
    first, _ = folders
    folders[first] = replace(folders[first], reader=Deadly(folders[first].reader, deadly=range(12)))
    monkeypatch.setattr(load, "RETRIES", 1)  # each starts a process
    monkeypatch.setattr(load, "MAX_GIVEN_UP", 1)
    with qtbot.waitSignal(loader.failed) as heard:
        loader.open(first)
    assert "probably for lack of memory" in str(heard.args[0])
    settle(qtbot, loader)
    assert len(ui.session.store.missing) == 12
    assert ui.session.problems.value


def test_a_closed_loader_can_open_again(qtbot, loader, folders, ui):
    first, second = folders
    loader.open(first)
    loader.close()
    assert loader.idle
    loader.open(second)
    settle(qtbot, loader)
    assert ui.session.store.count == 5


def test_no_garbage_is_collected_in_the_thread_that_reads(qtbot, folders, ui):
    """It would delete widgets there."""
    seen = []
    first = next(iter(folders))

    def open_path(path, report, early):
        seen.append(gc.isenabled())
        return folders[path]

    made = Loader(ui.session, Settings(None), open_path)
    with qtbot.waitSignal(made.finished):
        made.open(first)
    assert seen == [False]
    made.close()
    assert not gc.isenabled(), "other threads may make objects as long as there are widgets"


SAMPLE = ROOT / "sample_traces" / "matmul_tiled"


def test_a_capture_that_is_being_read_already_is_taken_over(qtbot, loader, processes):
    """Nothing is opened or read again, and what came before anybody asked arrives as all else does."""
    loader.ahead = ahead = Preload.of(SAMPLE)
    with qtbot.waitSignal(loader.finished):
        loader.open(SAMPLE)
    settle(qtbot, loader)
    session = loader.context.session
    assert session.trace.value is ahead.open()
    assert session.store.is_complete
    assert loader.ahead is None


def test_a_capture_that_nobody_wants_any_more_is_read_no_further(qtbot, loader, folders, processes):
    first, _ = folders
    loader.ahead = ahead = Preload.of(SAMPLE)
    with qtbot.waitSignal(loader.finished):
        loader.open(first)
    settle(qtbot, loader)
    assert loader.context.session.trace.value is folders[first]
    with suppress(Cancelled):  # or there is a stream, of which nothing more comes
        assert not list(ahead.stream())


def test_a_window_that_closes_early_ends_what_was_begun(loader, processes):
    """Nobody has asked for it yet; the fixture looks for processes."""
    loader.ahead = Preload.of(SAMPLE)


def test_whoever_chose_how_many_processes_read_gets_so_many(qtbot, loader, folders, processes):
    loader._settings["load.workers"] = 3
    loader.ahead = ahead = Preload.of(SAMPLE)
    loader._open_path = lambda path, report, early: folders[min(folders)]
    ended = []
    loader.finished.connect(lambda: ended.append(None))
    loader.failed.connect(ended.append)
    loader.open(SAMPLE)
    qtbot.waitUntil(lambda: bool(ended))
    assert ended == [None]
    assert ahead.processes != 3
    assert loader._load._stream.processes == 3


def test_the_beginning_is_shown_until_the_whole_is_there(qtbot, folders, ui):
    """What the user chose meanwhile stays; what nobody touched is as of a capture that was just opened."""
    whole = folders[max(folders, key=lambda folder: len(folders[folder].waves))]
    goes_on, seen = threading.Event(), []
    few = reader(whole.path, {f"{i}.json": wave() for i in range(4)})
    part = replace(trace(few), is_part=True)

    def open_path(path, report, early):
        early(part)
        assert goes_on.wait(HANG_S)
        return replace(whole, path=part.path)

    loader = Loader(ui.session, Settings(None), open_path)
    loader.opened.connect(seen.append)
    loader.open(whole.path)
    qtbot.waitUntil(lambda: ui.session.store is not None and ui.session.store.count == 4)
    assert ui.session.trace.value is part
    assert not ui.session.store.is_complete
    chosen = Selection(WaveId(0, 0, 0, 3), line=2, hit=0)
    ui.session.select(chosen)
    goes_on.set()
    settle(qtbot, loader)
    assert [one.is_part for one in seen] == [True, False]
    assert ui.session.store.count == 12
    assert ui.session.store.is_complete
    assert ui.session.selection.value == chosen
    assert ui.session.view.value == ui.session.outer(whole), "nobody zoomed"
    loader.close()


def test_a_beginning_that_nobody_waits_for_ends(qtbot, folders, ui):
    first = min(folders)
    goes_on = threading.Event()
    part = replace(folders[first], is_part=True)

    def open_path(path, report, early):
        early(part)
        while not goes_on.wait(0.01):
            report(Stage("Decoding"))
        raise AssertionError

    loader = Loader(ui.session, Settings(None), open_path)
    loader.open(first)
    qtbot.waitUntil(lambda: ui.session.trace.value is part)
    loader.cancel()
    settle(qtbot, loader)
    assert ui.session.trace.value is part
    assert ui.session.busy.value == ()
    loader.close()
