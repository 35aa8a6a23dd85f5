"""Shader engines are decoded side by side: the same comes of it, and what happens to one costs that one."""

from concurrent.futures import Executor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, Stage, stoppable
from rcv_py.formats.raw import kept
from rcv_py.formats.raw import open as raw_open
from rcv_py.formats.raw.files import RawCapture, raw_capture
from rcv_py.formats.raw.open import decoded, open_raw
from rcv_py.model.waves import WaveColumns
from rcv_py.work import opening
from rcv_py.work.captures import Processes
from tests.support.decoding_calls import begun, deadly
from tests.support.raw_samples import copied, raw_sample


@pytest.fixture
def capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RawCapture:
    """Two shader engines without code objects, which take longest; nothing of it was kept before."""
    monkeypatch.setenv(kept.PLACE, str(tmp_path / "kept"))
    found = raw_capture(copied(raw_sample("gfx12"), tmp_path / "capture", "*.att"))
    assert found is not None
    return found


def two(_: list[int]) -> AbstractContextManager[Executor]:
    return Processes(2)


def same(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other)) if isinstance(one, np.ndarray) else one == other


def test_processes_give_what_this_one_does(capture: RawCapture) -> None:
    here, there = decoded(capture), decoded(capture, jobs=two)
    assert here.is_sure
    assert there.is_sure
    assert here.trace.problems == there.trace.problems
    pairs = list(zip(here.columns, there.columns, strict=True))
    assert sum(len(ours.facts) for ours, _ in pairs) == len(here.trace.waves)
    for ours, theirs in pairs:
        for name in WaveColumns._fields:
            assert same(getattr(ours, name), getattr(theirs, name)), name
    for name in ("waves", "occupancy"):
        ours, theirs = getattr(here.trace, name), getattr(there.trace, name)
        for field in ours.__struct_fields__:
            assert same(getattr(ours, field), getattr(theirs, field)), field


def test_a_killed_process_costs_its_engine_once(capture: RawCapture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_open, "decoded_engine", deadly)
    trace = open_raw(capture.folder, jobs=two)
    assert {*trace.waves.se.tolist()} == {1}
    (problem,) = [one for one in trace.problems if "ended before it was done" in one.text]
    assert problem.where == "1_0_shader_engine_0_1.att"
    assert "The other shader engines are shown" in problem.hint
    monkeypatch.undo()
    monkeypatch.setenv(kept.PLACE, str(capture.folder.parent / "kept"))
    again = open_raw(capture.folder)
    assert {*again.waves.se.tolist()} == {0, 1}
    assert not [one for one in again.problems if "ended before" in one.text]


def test_cancelling_waits_for_no_engine(capture: RawCapture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_open, "decoded_engine", begun)
    flag = CancelFlag()

    def report(stage: Stage) -> None:
        if stage.done == 1:
            flag.set()

    with stoppable(flag), pytest.raises(Cancelled):
        open_raw(capture.folder, report, two)
    assert (capture.folder.parent / "begun").exists()
    assert [*(capture.folder.parent / "kept").iterdir()] == []


def test_little_is_decoded_here_and_much_by_many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    class Counted(Processes):
        def __init__(self, size: int, **more: bool) -> None:
            made.append(size)
            super().__init__(size, **more)

    monkeypatch.setattr("rcv_py.work.captures.Processes", Counted)
    monkeypatch.setattr("rcv_py.work.machine.cores", lambda: 3)
    with opening.decoders([1000, 1000]):
        assert made == []
    for memory, count in ((None, 3), (1 << 40, 3), (3 << 30, 2), (0, None)):
        made.clear()
        monkeypatch.setattr("rcv_py.work.machine.memory", lambda memory=memory: memory)
        with opening.decoders([30 << 20] * 5):
            assert made == ([count] if count else [])
