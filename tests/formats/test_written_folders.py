"""A trace written as a folder is that trace again, and its files are those that it was read from."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.write import wave_files, write_folder
from rcv_py.model.trace import Trace
from rcv_py.work.load import plan
from tests.support.equal import trace_differences
from tests.support.samples import write_sample
from tests.support.whole_capture import BEGINS, LOAD, PLACES, capture, name_of, opened, read_all, tokens, wave

SAMPLES = (
    *("pc_sampling", "events", "counters", "markers", "other_simd", "placeholder", "spm_gfx12"),
    *("scripted_gfx12", "kernels", "matmul_small"),
)
AS_RECORDED = ("kernels", "matmul_small", "counters")  # in the layout that is written
ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = ("name", "target_from")  # of a trace: where it lay


def written(trace: Trace, folder: Path) -> Path:
    """Write a trace as a folder."""
    folder.mkdir()
    write_folder(trace, map(trace.reader.read, plan(trace.waves)), folder)
    return folder


def content(folder: Path) -> dict[str, Any]:
    """The files of a folder, what has no order of its own in an order; names of copies count for nothing."""
    files = {file.name: orjson.loads(file.read_bytes()) for file in folder.glob("*.json")}
    for rows in files.get("occupancy.json", {}).values():
        if isinstance(rows, list):
            rows.sort()
    files.pop("snapshots.json", None)
    if files["filenames.json"].get("pc_sampling"):
        del files["filenames.json"]["is_pcs_stochastic"]  # a trace knows only whether samples have reasons
    return files


@pytest.mark.parametrize("name", SAMPLES)
def test_a_made_up_capture_is_written_as_it_was_read(name: str, tmp_path: Path) -> None:
    write_sample(name, tmp_path / "capture")
    trace = open_trace(tmp_path / "capture")
    again = open_trace(written(trace, tmp_path / "again"))
    found = trace_differences(trace, again, ELSEWHERE)
    assert [text for text in found if not text.startswith("trace.waves.size")] == []  # others are compact
    if name in AS_RECORDED:
        assert content(again.path) == content(trace.path)


def test_each_engine_has_its_own_clock_again(tmp_path: Path) -> None:
    trace = opened(tmp_path / "capture", capture())
    assert set(trace.clock.offsets.values()) == {0, 1000}
    files = content(written(trace, tmp_path / "again"))
    listed = files["filenames.json"]["wave_filenames"]["0"]["0"]["0"]["0"]
    assert listed == [name_of(PLACES[0]), BEGINS[0], BEGINS[0] + 120]
    assert files[name_of(PLACES[0])] == wave(BEGINS[0])


def test_waves_that_are_missing_stay_missing(tmp_path: Path) -> None:
    files = capture()
    del files[name_of(PLACES[2])]
    trace = opened(tmp_path / "capture", files)
    folder = written(trace, tmp_path / "again")
    assert not (folder / name_of(PLACES[2])).exists()
    assert [row for row, _ in read_all(open_trace(folder)).missing] == [2]


def test_what_no_line_is_known_of_has_the_number_of_a_label(tmp_path: Path) -> None:
    rows = ((32, 1, 0, 4, LOAD), (40, 6, 0, 4, 77))
    files = capture() | {name_of(PLACES[0]): wave(BEGINS[0], instructions=tokens(BEGINS[0], rows))}
    folder = written(opened(tmp_path / "capture", files), tmp_path / "again")
    wrote = orjson.loads((folder / name_of(PLACES[0])).read_bytes())
    assert [row[4] for row in wrote["wave"]["instructions"]] == [LOAD, 0]


def test_sources_with_strange_names_stay_inside(tmp_path: Path) -> None:
    files = capture()
    paths = [
        "/src/../../k.py",
        "C:\\src\\k.py",
        "/src/" + "x" * 300,
        "rel/a b:c.py",
        "/src/k.py",
        "/src/k.py/inner",
    ]
    for row, path in zip(files["code.json"]["code"][1:], paths, strict=False):
        row[3] = f"{path}:1"
    files["snapshots.json"] = {"/": {"src": {"k.py": "source_0_k.py"}}}
    files["snapshots.json"] |= dict.fromkeys(paths[1:2], "source_0_k.py")
    trace = opened(tmp_path / "capture", files)
    folder = written(trace, tmp_path / "again")
    assert all(child.parent == folder for child in folder.iterdir())
    assert sorted(child.name for child in folder.glob("source_*")) == ["source_1_k.py", "source_4_k.py"]
    again = open_trace(folder)
    assert [source.lines for source in again.sources] == [source.lines for source in trace.sources]


def test_waves_keep_the_names_of_their_files_if_these_are_plain(tmp_path: Path) -> None:
    trace = opened(tmp_path / "capture", capture())
    assert wave_files(trace.waves) == [name_of(place) for place in PLACES]
    files = capture()
    index = files["filenames.json"]["wave_filenames"]
    index["0"]["0"]["0"]["0"][0] = "sub/x.json"
    assert wave_files(opened(tmp_path / "other", files).waves) == [name_of(place) for place in PLACES]


def test_waves_of_raw_gfx9_streams_keep_their_place_and_kernel(tmp_path: Path) -> None:
    # Such a wave ends with its last issue, 4 cycles after the occupancy record of its end.
    trace = open_trace(ROOT / "sample_traces" / "raw_rms_norm")
    again = open_trace(written(trace, tmp_path / "again"))
    assert set(trace.waves.cu.tolist()) == {1}
    assert set(trace.waves.kernel.tolist()) != {-1}
    for name in ("se", "sa", "cu", "kernel"):
        assert getattr(again.waves, name).tolist() == getattr(trace.waves, name).tolist(), name
