"""The beginning of a raw capture is a capture of its own, shown while the rest is decoded."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rcv_py.formats.open import open_capture, open_trace
from rcv_py.formats.raw import open as opening
from rcv_py.formats.raw.open import open_beginning
from rcv_py.formats.raw.options import RawOptions
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.work.opening import decoders
from tests.support.raw_samples import copied, raw_sample


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A capture that nobody has opened."""
    return copied(raw_sample("gfx12"), tmp_path)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every capture takes long, of which half can be had at once."""
    monkeypatch.setattr(opening, "LARGE_BYTES", 0)
    monkeypatch.setattr(opening, "LEAST_BYTES", 4000)
    monkeypatch.setattr(opening, "FIRST_BYTES", 0)


def waves(trace: Trace) -> WaveBatch:
    return trace.reader.read(list(range(len(trace.waves))))


def test_the_beginning_comes_before_the_whole(folder: Path, large: None) -> None:
    seen: list[Trace] = []
    whole = open_capture(folder, early=seen.append)
    (part,) = seen
    assert (part.is_part, whole.is_part) == (True, False)
    assert part.path == whole.path == folder
    assert 0 < int(part.code.hits.sum()) < int(whole.code.hits.sum())
    assert any(problem.text.startswith("This is the beginning") for problem in part.problems)
    assert not any("cut off" in problem.text for problem in part.problems)
    known = {wave.id: wave for wave in waves(whole).waves}
    for wave in waves(part).waves:
        tokens, all_of_it = wave.tokens, known[wave.id].tokens
        sure = len(tokens) - 1  # what follows the last one decides how long that took
        assert np.array_equal(tokens.start[:sure], all_of_it.start[:sure])
        assert np.array_equal(tokens.kind[:sure], all_of_it.kind[:sure])


def test_what_is_there_already_has_no_beginning(folder: Path, large: None) -> None:
    open_trace(folder)
    assert not open_capture(folder, early=lambda _: pytest.fail("it takes no time")).is_part


def test_a_small_capture_has_no_beginning(folder: Path) -> None:
    open_capture(folder, early=lambda _: pytest.fail("it takes no time"))


class _Listed(Executor):
    """Notes the names of what it is asked for, and does it here."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.names.append(fn.__name__)
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def test_the_next_process_makes_what_comes_after_decoding(folder: Path, large: None) -> None:
    executor = _Listed()
    open_capture(folder, jobs=lambda _: nullcontext(executor), early=lambda _: None)
    assert executor.names[:3] == ["decoded_engine", "prepare", "decoded_engine"]
    assert executor.names.count("prepare") == 1


def test_with_processes_it_is_the_same(folder: Path, large: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rcv_py.work.opening.HERE_BYTES", 0)
    asked: list[list[int]] = []

    def jobs(sizes: list[int]) -> Executor:
        asked.append(sizes)
        return decoders(sizes)  # type: ignore[return-value]

    seen: list[Trace] = []
    whole = open_capture(folder, jobs=jobs, early=seen.append)
    assert [trace.is_part for trace in seen] == [True]
    assert not whole.is_part
    sizes = [path.stat().st_size for path in folder.glob("*.att")]
    assert sorted(asked[0]) == sorted([*sizes, *(min(size, 4000) for size in sizes)])


def test_a_look_at_the_beginning_tells_the_kernel(folder: Path, large: None) -> None:
    part = open_beginning(folder, RawOptions())
    assert part.is_part
    assert part.kernel_name == open_trace(folder).kernel_name != ""
    assert open_beginning(folder).code.hits.tolist() == part.code.hits.tolist()
