"""More of the edge cases of files and folders, on a capture of two shader engines, by their numbers."""

import json
import shutil

import numpy as np
import orjson
import pytest

from rcv_py.base.errors import TraceError
from rcv_py.base.problems import Affects
from rcv_py.formats.open import find_captures, open_trace
from tests.support.whole_capture import (
    PLACES,
    REALTIME,
    capture,
    check_sentence,
    default_waves,
    lives,
    name_of,
    only_wave,
    opened,
    read_all,
    told,
    wave,
    write,
)

FIRST = name_of(PLACES[0])


def changed(name, **values):
    """The default capture with keys of one file replaced."""
    files = capture()
    files[name] |= values
    return files


def without(*names):
    return {name: content for name, content in capture().items() if name not in names}


@pytest.mark.parametrize(
    ("name", "sizes"), [("instructions", (0, 6, 1)), ("timeline", (6, 0, 1)), ("waitcnt", (6, 6, None))]
)
@pytest.mark.parametrize("nothing", [None, []])
def test_edge_03_a_table_of_a_wave_is_empty(tmp_path, name, sizes, nothing):
    tokens, states, waits = sizes
    _, one = only_wave(tmp_path, **{name: nothing})
    assert len(one.tokens) == tokens
    assert len(one.states) == states
    if waits is None:
        # null: the writer says nothing; []: a wave that never waited.
        assert one.waits is None if nothing is None else len(one.waits) == 0
    else:
        assert len(one.waits) == waits
    assert (one.begin, one.end) == (1000, 1120)


def test_edge_04_state_curves_are_kept_where_wave_files_are_lost(tmp_path):
    curve = {"name": "wstates3.json", "time": [1036, 1076], "state": [1, 0]}
    files = without(FIRST) | {"wstates3.json": curve}
    (found,) = opened(tmp_path, files).state_curves
    assert (found.state, found.time.tolist(), found.waves.tolist()) == (3, [1036, 1076], [1, 0])


def test_edge_04_no_occupancy(tmp_path):
    trace = opened(tmp_path, without("occupancy.json"))
    assert len(trace.occupancy) == 0
    assert trace.waves.begin.tolist() == [2000, 2200, 2000, 2200]
    assert trace.waves.cu.tolist() == [-1] * 4
    assert read_all(trace).waves[0].cu == 1  # the wave file knows
    found = told(trace, "occupancy.json")
    assert found.text == "occupancy.json is missing: what ran on the other compute units is not known."
    assert found.affects == (Affects.OCCUPANCY,)


def test_edge_04_all_but_the_index_missing(tmp_path):
    trace = opened(tmp_path, {"filenames.json": capture()["filenames.json"]})
    assert len(trace.waves) == 4
    wheres = [problem.where for problem in trace.problems]
    assert wheres == ["code.json", "realtime.json", FIRST, "occupancy.json"]
    for problem in trace.problems:
        check_sentence(problem)


def test_edge_05_every_json_file_may_begin_with_a_byte_order_mark(tmp_path):
    files = {
        name: b"\xef\xbb\xbf" + orjson.dumps(content) if name.endswith(".json") else content
        for name, content in capture().items()
    }
    trace = opened(tmp_path, files)
    assert trace.problems == ()
    assert trace.waves.begin.tolist() == [2000, 2200, 2000, 2200]
    assert read_all(trace).waves[3].tokens.line.tolist() == [1, 2, 3, 4, 5, 7]


def test_edge_05_a_byte_order_mark_of_a_source_copy_is_no_letter(tmp_path):
    trace = opened(tmp_path, capture() | {"source_0_k.py": b"\xef\xbb\xbfimport os\r\nx = 1\r\n"})
    assert trace.sources[0].lines == ("import os", "x = 1")


def test_edge_05_floats_where_whole_numbers_belong(tmp_path):
    def floats(value):
        if isinstance(value, dict):
            return {key: floats(child) for key, child in value.items()}
        if isinstance(value, list | tuple):
            return [floats(child) for child in value]
        return float(value) if type(value) is int else value

    plain = opened(tmp_path / "plain", capture())
    trace = opened(tmp_path / "floats", floats(capture()))
    assert trace.problems == ()
    assert trace.gfxip == 9
    assert trace.waves.begin.tolist() == plain.waves.begin.tolist()
    assert trace.waves.cu.tolist() == [1] * 4
    assert trace.code.latency.tolist() == plain.code.latency.tolist()
    assert trace.clock.offsets == plain.clock.offsets
    for one, other in zip(read_all(trace).waves, read_all(plain).waves, strict=True):
        assert one.tokens.start.tolist() == other.tokens.start.tolist()
        assert one.waits.line.tolist() == other.waits.line.tolist()


def backwards(value):
    """The same JSON with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: backwards(child) for key, child in reversed(value.items())}
    return [backwards(child) for child in value] if isinstance(value, list | tuple) else value


def columns(trace):
    """Everything the folder says, as comparable columns."""
    batch = read_all(trace)
    return [
        trace.code.text,
        trace.code.latency.tolist(),
        trace.code.chain_line.tolist(),
        trace.waves.begin.tolist(),
        trace.waves.kernel.tolist(),
        trace.occupancy.time.tolist(),
        trace.clock.offsets,
        trace.sources[0].lines,
        [one.tokens.start.tolist() for one in batch.waves],
        [one.tokens.line.tolist() for one in batch.waves],
        [one.states.state.tolist() for one in batch.waves],
        [one.waits.line.tolist() for one in batch.waves],
    ]


@pytest.mark.parametrize("indent", [None, 0, 2, "\t"])
def test_edge_06_spaces_and_the_order_of_keys_do_not_matter(tmp_path, indent):
    plain = opened(tmp_path / "plain", capture())
    texts = {
        name: json.dumps(backwards(content), indent=indent).encode()
        for name, content in capture().items()
        if name.endswith(".json")
    }
    other = opened(tmp_path / "other", capture() | texts)
    assert other.problems == ()
    assert columns(other) == columns(plain)


@pytest.mark.parametrize(
    "name", ["renamed", "with spaces", "ünï 传感 🙂", "a#b?c=%20&d", "ui_output_agent_x", "-rf"]
)
def test_edge_07_the_name_of_the_folder_says_nothing(tmp_path, name):
    trace = opened(tmp_path / name, capture())
    assert trace.name == name
    assert trace.problems == ()
    assert read_all(trace).missing == ()
    assert [entry.name for entry in find_captures(tmp_path)] == [name]


def test_edge_07_opening_writes_nothing_into_the_folder(tmp_path):
    folder = write(tmp_path / "read only", capture())
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    before = {path.name: path.stat().st_mtime_ns for path in [folder, *folder.iterdir()]}
    try:
        assert read_all(open_trace(folder)).missing == ()
        assert {path.name: path.stat().st_mtime_ns for path in [folder, *folder.iterdir()]} == before
    finally:
        folder.chmod(0o755)


def test_edge_07_a_folder_that_was_moved_while_it_was_open(tmp_path):
    trace = opened(tmp_path / "here", capture())
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert read_all(trace).missing[0] == (0, f"{FIRST} is missing.")
    assert read_all(open_trace(tmp_path / "there")).missing == ()


def test_edge_07_a_link_to_a_folder_is_that_folder(tmp_path):
    write(tmp_path / "real", capture())
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    trace = open_trace(tmp_path / "link")
    assert trace.name == "link"
    assert read_all(trace).missing == ()


def test_edge_08_the_parent_lists_all_captures(tmp_path):
    for name in ("b", "a"):
        write(tmp_path / f"ui_output_{name}", capture())
    write(tmp_path / "deeper" / "run" / "ui_output_c", changed("code.json", code=None))
    (tmp_path / "stats_ui_output_a.csv").write_text("CodeObj,Vaddr\n")
    found = find_captures(tmp_path)
    assert [entry.name for entry in found] == ["ui_output_c", "ui_output_a", "ui_output_b"]
    assert [(entry.kernel, entry.waves, entry.hits) for entry in found[1:]] == [("my_kernel", 4, 24)] * 2
    assert [(entry.instructions, entry.executed, entry.mapped) for entry in found[1:]] == [(7, 6, 7)] * 2
    with pytest.raises(TraceError) as caught:
        open_trace(tmp_path)
    assert str(caught.value).endswith(" holds 3 captures, and one is needed.")
    assert str(tmp_path / "deeper" / "run" / "ui_output_c") in caught.value.hint


def test_edge_09_an_engine_with_occupancy_but_without_waves(tmp_path):
    waves = {place: content for place, content in default_waves().items() if place[0] == 0}
    files = capture(waves)
    files["occupancy.json"]["1"] = lives(default_waves())["1"]
    files["realtime.json"] = REALTIME
    trace = opened(tmp_path, files)
    assert np.unique(trace.waves.se).tolist() == [0]
    assert np.unique(trace.occupancy.se).tolist() == [0, 1]
    assert trace.problems == ()
    assert trace.clock.offsets == {0: 1000, 1: 0}


@pytest.mark.parametrize("rows", [None, [], "absent"])
def test_edge_09_an_engine_with_waves_but_without_occupancy(tmp_path, rows):
    files = capture()
    if rows == "absent":
        del files["occupancy.json"]["1"]
    else:
        files["occupancy.json"]["1"] = rows
    trace = opened(tmp_path, files)
    assert trace.waves.cu.tolist() == [1, 1, -1, -1]
    assert trace.waves.kernel.tolist() == [1, 1, -1, -1]
    assert trace.waves.begin.tolist() == [2000, 2200, 2000, 2200]
    assert [one.cu for one in read_all(trace).waves] == [1] * 4


def test_edge_11_more_columns_than_known_without_names(tmp_path):
    content = {"0": [[1000, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 5, 6], [1120, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 5, 6]]}
    trace = opened(tmp_path, capture({PLACES[0]: wave(1000)}) | {"occupancy.json": content})
    assert trace.waves.cu.tolist() == [1]


def test_edge_11_an_index_of_bare_names_takes_times_from_the_files(tmp_path):
    tree = {"0": {"0": {"0": {"0": FIRST}}}}
    files = changed("filenames.json", wave_filenames=tree)
    trace = opened(tmp_path, files | {FIRST: json.dumps(files[FIRST], indent=2).encode()})
    assert (trace.waves.begin.tolist(), trace.waves.end.tolist()) == ([2000], [2120])
