"""A packed capture is the capture: the same tables, the same columns, the same answers."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.formats.locate import locate
from rcv_py.formats.open import capture_entry, find_captures, open_capture, open_trace, origin_of
from rcv_py.formats.packed import capture as reading
from rcv_py.formats.packed import capture as write
from rcv_py.formats.packed import pieces
from rcv_py.formats.packed.archive import Archive
from rcv_py.formats.packed.capture import write_packed
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.trace import Trace
from rcv_py.work.load import plan
from tests.support.equal import differences, trace_differences
from tests.support.opened import VARIED, load_all, sample_trace
from tests.support.samples import write_sample
from tests.support.whole_capture import (
    BEGINS,
    END,
    LOAD,
    PLACES,
    capture,
    name_of,
    opened,
    read_all,
    tokens,
    wave,
)

KINDS = (*VARIED, "matmul_tiled", "pc_sampling", "events", "counters", "spm", "markers")
AGENTS = "Agent_Type,Name,Simd_Per_Cu,Cu_Count,Max_Waves_Per_Simd\nGPU,gfx942,4,304,8\n"
LAUNCH_COLUMNS = "Dispatch_Id,Kernel_Name,VGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z"


def pack(trace: Trace, path: Path, **how: Any) -> Trace:
    """Pack a capture, and open what was written."""
    write_packed(path, trace, map(trace.reader.columns, plan(trace.waves)), **how)
    return open_trace(path)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """A small capture in a folder as rocprofv3 names it, with tables of the run beside it."""
    folder = tmp_path_factory.mktemp("run") / "ui_output_agent_4567_dispatch_12"
    write_sample("groups_512", folder)
    trace = open_trace(folder)
    (folder.parent / "run_agent_info.csv").write_text(AGENTS)
    launch = f'12,"{trace.kernel_name}",64,512,1,1'
    (folder.parent / "run_kernel_trace.csv").write_text(f"{LAUNCH_COLUMNS}\n{launch}\n")
    return trace


@pytest.fixture(scope="module")
def packed(recorded: Trace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trace]:
    """That capture, packed in pieces of a few waves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "PIECE_TOKENS", 1_500)
        yield pack(
            recorded,
            tmp_path_factory.mktemp("packed") / "it.rcvz",
            facts=facts_about(recorded),
            origin=origin_of(recorded.path),
        )


@pytest.mark.parametrize("name", KINDS)
def test_a_capture_is_the_same_packed(name: str, tmp_path: Path) -> None:
    trace = sample_trace(name)
    assert trace_differences(trace, pack(trace, tmp_path / "it.rcvz")) == []


@pytest.mark.parametrize("name", ["kernels", "counters", "markers", "pc_sampling"])
def test_a_capture_is_the_same_packed_without_compression(name: str, tmp_path: Path) -> None:
    trace = sample_trace(name)
    assert trace_differences(trace, pack(trace, tmp_path / "it.rcvz", is_compressed=False)) == []


def test_waves_come_in_any_choice_and_order(packed: Trace, recorded: Trace) -> None:
    trace = recorded
    assert len([name for name in Archive(packed.path).members if name.startswith("waves/")]) > 3
    for rows in ([], [5], [3, 0, 2], [*range(64)], [63, 6, 1, 2]):
        found = packed.reader.columns(rows)
        assert found.facts["row"].tolist() == rows
        if rows:
            assert differences(trace.reader.columns(rows), found) == []


def test_other_processes_read_it_by_its_path(packed: Trace) -> None:
    packed.reader.columns([0])
    reader = pickle.dumps(packed.reader)
    assert len(reader) < 1_000
    assert differences(packed.reader.columns([4, 5]), pickle.loads(reader).columns([4, 5])) == []
    batches = load_all(packed, workers=2)
    assert sorted(wave.row for batch in batches for wave in batch.waves) == [*range(64)]


def test_pieces_unused_for_longest_are_forgotten(packed: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = pickle.loads(pickle.dumps(packed.reader))
    read: list[str] = []
    monkeypatch.setattr(reading, "KEPT_BYTES", 1)
    monkeypatch.setattr(
        Archive, "read", lambda self, name, old=Archive.read: read.append(name) or old(self, name)
    )
    for row in (0, 0, 63, 0):
        reader.columns([row])
    assert [name for name in read if name.startswith("waves/")] == [
        reading.piece_name(number) for number in (0, int(reader._places[0][63]), 0)
    ]


def test_what_is_not_compressed_is_mapped_and_not_copied(tmp_path: Path, recorded: Trace) -> None:
    trace = recorded
    mapped = pack(trace, tmp_path / "it.rcvz", is_compressed=False)
    (wave,) = mapped.reader.read([3]).waves
    column = wave.tokens.offset
    assert column.ctypes.data % 4 == 0
    while isinstance(column.base, np.ndarray):
        column = column.base
    assert isinstance(column.base, memoryview)
    assert type(column.base.obj).__name__ == "mmap"


def test_waves_may_be_added_in_any_order(tmp_path: Path, recorded: Trace) -> None:
    trace = recorded
    parts = map(trace.reader.columns, ([*range(6, 64)], [1], [5, 4, 3, 2, 0]))
    write_packed(tmp_path / "it.rcvz", trace, parts)
    assert trace_differences(trace, open_trace(tmp_path / "it.rcvz")) == []


def test_what_could_not_be_read_is_said_as_before(tmp_path: Path) -> None:
    files = capture()
    del files[name_of(PLACES[2])]
    trace = opened(tmp_path / "capture", files | {name_of(PLACES[1]): b"{"})
    again = pack(trace, tmp_path / "it.rcvz")
    assert [row for row, _ in read_all(trace).missing] == [1, 2]
    assert read_all(again).missing == read_all(trace).missing
    assert trace_differences(trace, again) == []


def test_notes_about_waves_are_kept(tmp_path: Path) -> None:
    changed = wave(BEGINS[1], PLACES[1], end=BEGINS[1] + 400, timeline=[[1, 20], [2, -4]])
    trace = opened(tmp_path / "capture", capture() | {name_of(PLACES[1]): changed})
    assert len(read_all(trace).notes) == 2
    assert trace_differences(trace, pack(trace, tmp_path / "it.rcvz")) == []


def test_long_times_and_durations_stay_whole(tmp_path: Path) -> None:
    rows = ((32, 1, 3 << 31, 5 << 31, LOAD), (6 << 31, 11, 0, 20, END))
    changed = wave(BEGINS[1], PLACES[1], instructions=tokens(BEGINS[1], rows), timeline=[[1, 7 << 31]])
    trace = opened(tmp_path / "capture", capture() | {name_of(PLACES[1]): changed})
    again = pack(trace, tmp_path / "it.rcvz")
    assert again.reader.columns([1]).stall.dtype == np.int64
    assert again.reader.columns([0]).stall.dtype == np.int32
    assert trace_differences(trace, again) == []
    assert differences(trace.reader.columns([0]), again.reader.columns([0])) == []


def test_the_same_capture_gives_the_same_bytes(packed: Trace, tmp_path: Path, recorded: Trace) -> None:
    trace = recorded
    pack(trace, tmp_path / "a.rcvz")
    pack(trace, tmp_path / "b.rcvz")
    assert (tmp_path / "a.rcvz").read_bytes() == (tmp_path / "b.rcvz").read_bytes()


def test_sources_can_stay_at_home(tmp_path: Path, recorded: Trace) -> None:
    trace = recorded
    again = pack(trace, tmp_path / "it.rcvz", has_sources=False)
    assert [source.path for source in again.sources] == [source.path for source in trace.sources]
    assert {source.lines for source in again.sources} == {None}
    assert all(source.note.endswith(".") for source in again.sources)
    assert trace_differences(trace, again, without=("sources",)) == []


def test_what_tables_of_the_run_tell_goes_with_it(packed: Trace, recorded: Trace) -> None:
    trace = recorded
    assert packed.facts == facts_about(packed) == facts_about(trace)
    assert packed.facts.agent is not None


# -- found and opened as a folder is ----------------------------------------------------------------------


def test_it_is_found_as_a_folder_is(packed: Trace, tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "one.rcvz").write_bytes(packed.path.read_bytes())
    (inner / "two.zip").write_bytes(packed.path.read_bytes())
    assert locate(tmp_path).captures() == (inner / "one.rcvz",)
    assert open_trace(tmp_path).path == inner / "one.rcvz"
    assert open_trace(inner / "two.zip").kernel_name == packed.kernel_name
    (inner / "other.zip").write_bytes(b"PK\5\6" + bytes(18))
    assert "unpack it first" in str(locate(inner / "other.zip").error)


def test_a_library_tells_of_it_what_it_tells_of_the_folder(packed: Trace, recorded: Trace) -> None:
    folder = recorded.path
    ours, theirs = capture_entry(packed.path), capture_entry(folder)
    assert differences(ours, theirs, without=("path", "name", "size")) == []
    assert (ours.agent, ours.dispatch, ours.recorded) != (-1, -1, "")
    assert ours.size == packed.path.stat().st_size
    assert origin_of(packed.path) == origin_of(folder), "and so does one that is packed once more"
    assert find_captures(packed.path.parent)[0].kernel == theirs.kernel
    assert packed.title.startswith(theirs.kernel[:8])


def test_it_is_opened_again_only_after_it_changed(packed: Trace, tmp_path: Path) -> None:
    path = tmp_path / "it.rcvz"
    path.write_bytes(packed.path.read_bytes())
    cache = CaptureCache()
    first = open_trace(path, cache)
    assert open_trace(path, cache) is first
    pack(sample_trace("gfx12"), path)
    assert open_trace(path, cache) is not first


def test_open_capture_takes_both_kinds(packed: Trace, recorded: Trace) -> None:
    assert open_capture(packed.path).name == open_capture(recorded.path).name == recorded.name


def test_differences_of_starts_are_undone_whatever_waves_are_empty() -> None:
    first = np.array([0, 0, 3, 3, 5, 5])
    starts = np.array([7, 9, 9, 0, 4])
    steps = pieces._differences(starts, first)
    assert pieces._summed(steps, first).tolist() == starts.tolist()
    assert pieces._summed(np.zeros(0, np.int64), np.zeros(3, np.int64)).tolist() == []
