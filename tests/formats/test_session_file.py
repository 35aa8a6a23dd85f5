"""Session files: what is written reads back, what is hostile is refused with a sentence or left out."""

import random
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest

from rcv_py.analysis.whatif.asked import ChangeRequest
from rcv_py.base.errors import TraceError
from rcv_py.formats.open import open_trace
from rcv_py.formats.session_file import read_session, write_session
from rcv_py.model.notes import Note
from rcv_py.state.saved import restore_state, state_of
from rcv_py.state.session import Session
from tests.fuzz.mutate import damaged_bytes, damaged_tree
from tests.support.samples import sample_path, write_sample

NAME = "matmul_small"
STATE = {
    "place": "se1/simd0/slot0/wv0:instruction 7",
    "view": [74000, 76000],
    "range": [74000, 75000],
    "bookmarks": ["se1/simd0/slot0/wv0", "nowhere", 5],
    "experiments": [
        {"latency": [["memory", 0.5]], "more_waves": 1},
        {"free": [10**9]},
        {"latency": [["memory", True]]},
        {"move": [[1]]},
        7,
    ],
}


def written(folder: Path, path: Path) -> dict[str, Any]:
    write_session(path, open_trace(folder), state=STATE, layout={}, notes=(Note("a", "t"),))
    document: dict[str, Any] = orjson.loads(path.read_bytes())
    return document


def test_a_session_goes_with_its_capture(tmp_path: Path) -> None:
    here = tmp_path / "here"
    write_sample(NAME, here / "capture")
    written(here / "capture", here / "s.rcvsession")
    shutil.move(here, tmp_path / "there")
    saved = read_session(tmp_path / "there" / "s.rcvsession")
    assert saved.capture == tmp_path / "there" / "capture"
    assert [note.title for note in saved.notes] == ["t"]
    shutil.rmtree(saved.capture)
    with pytest.raises(TraceError, match="is not there"):
        read_session(saved.path)


@pytest.mark.parametrize(
    "change",
    [
        {"session": 2},
        {"capture": None},
        {"capture": {"path": "//server/share/capture"}},
        {"capture": {"path": "\\\\server\\share"}},
        {"capture": {"path": 5}},
        {"capture": {"path": "x" * 5000}},
        {"capture": {"path": "a\0b"}},
        {"notes": {"annotations": 5}},
    ],
)
def test_what_is_no_session_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "s.rcvsession"
    document = written(sample_path(NAME), path) | change
    path.write_bytes(orjson.dumps(document))
    with pytest.raises(TraceError):
        read_session(path)


def test_what_does_not_fit_is_left_out() -> None:
    session = Session()
    session.open(open_trace(sample_path(NAME)))
    restore_state(session, STATE)
    assert [str(mark) for mark in session.bookmarks.value] == ["se1/simd0/slot0/wv0"]
    (asked,) = session.experiments.value
    assert (list(asked.latency), asked.more_waves) == ([("memory", 0.5)], 1)
    assert session.selection.value.line == 7
    assert (session.view.value.begin, session.clock_range.value.end) == (74000, 75000)
    again = Session()
    again.open(session.trace.value)
    restore_state(again, orjson.loads(orjson.dumps(state_of(session))))
    assert state_of(again) == state_of(session)


def test_every_field_of_an_experiment_is_saved() -> None:
    session = Session()
    session.open(open_trace(sample_path(NAME)))
    session.experiments.set((ChangeRequest(batch=(5,), free=(6,)),))
    (saved,) = orjson.loads(orjson.dumps(state_of(session)))["experiments"]
    assert saved.keys() == set(ChangeRequest._fields)
    assert (saved["batch"], saved["free"]) == ([5], [6])


def test_damaged_sessions_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.rcvsession"
    whole = written(sample_path(NAME), path)
    session = Session()
    session.open(open_trace(sample_path(NAME)))
    for seed in range(200):
        rng = random.Random(seed)
        data = orjson.dumps(damaged_tree(rng, whole), option=orjson.OPT_NON_STR_KEYS)
        path.write_bytes(damaged_bytes(rng, data) if seed % 2 else data)
        try:
            restore_state(session, read_session(path).state)
        except TraceError:
            continue
