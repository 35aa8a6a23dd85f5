"""Every kind of file, damaged in every way: the capture opens, or says in a sentence why it cannot.

No damage may cost more than the file it is in: whatever the others hold must still be there.
"""

import json
import os

import orjson
import pytest

from rcv_py.base.errors import BrokenFile, NotATrace, TraceError
from rcv_py.base.problems import Severity
from rcv_py.cli.main import main
from rcv_py.formats.input.files import read_bytes
from rcv_py.formats.open import find_captures, open_trace
from rcv_py.formats.uiout.load import NO_WAVE
from tests.support.whole_capture import (
    PLACES,
    capture,
    check_sentence,
    every_kind,
    name_of,
    opened,
    read_all,
    told,
    wave_tree,
    write,
)

FIRST = name_of(PLACES[0])
COUNTERS, MARKERS, SIBLING = "se0_perfcounter.json", "shader.json", "other.json"
STATES, SPM = "wstates1.json", "spm.json"


def rich():
    """A capture with one file of every kind; a wave is lost, since state curves are read only then."""
    return every_kind() | {name_of(PLACES[1]): b""}


FILES = tuple(name for name in rich() if name not in (FIRST, name_of(PLACES[1]), "source_0_k.py"))
FILES = tuple(name for name in FILES if not name.startswith("se1_"))


def seen(trace):
    """What each file gives to a trace: a number by file name, 0 if there is nothing."""
    return {
        "filenames.json": len(trace.waves),
        "code.json": len(trace.code),
        "occupancy.json": len(trace.occupancy),
        "realtime.json": len(trace.clock.samples),
        "snapshots.json": sum(source.lines is not None for source in trace.sources),
        COUNTERS: len(trace.counters),
        MARKERS: sum(len(data.time) for data in trace.shader_data),
        SIBLING: sum(len(other.time) for other in trace.other_simd),
        SPM: len(trace.spm),
        STATES: len(trace.state_curves),
    }


# What else a file gives: without it, these are not found or have nothing to say.
LEADS_TO = {"filenames.json": {MARKERS, SIBLING, STATES}, "code.json": {"snapshots.json"}}

WORDS = {
    "empty": (b"", "it is empty"),
    "blank": (b" \r\n\t ", "it is empty"),
    "a mark alone": (b"\xef\xbb\xbf", "it is empty"),
    "cut in half": (None, "it ends in the middle, after "),
    "zeros": (b"\0" * 64, "it is not JSON (line 1, column 1)"),
    "text": (b"hello\n", "it is not JSON (line 1, column 1)"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0", "it is not JSON"),
    "a web page": (b"<!doctype html>\n<html>404</html>", "it is not JSON (line 1, column 1)"),
    "two documents": (b"{}\n{}", "it is not JSON (line 2, column 1)"),
    "a number that is none": (b'{"a": NaN}', "it is not JSON (line 1, column 7)"),
    "brackets without end": (b"[" * 100_000, "it "),
    "single quotes": (b"{'a': 1}", "it is not JSON (line 1, column 2)"),
}
SHAPES = {
    "null": None,
    "true": True,
    "a number": 7,
    "a fraction": 0.5,
    "a text": "x",
    "a list": [],
    "a list of lists": [[1, [2, [3]]], {"a": []}],
    "an object": {},
    "an object of nothing": {"0": None, "SE0": {}, "data": 1},
    "an object of objects": {
        "0": {"0": {"0": {"0": {"0": {}}}}},
        "code": {"0": 1},
        "header": {},
        "SE1": {"a": 1},
    },
    "endless numbers": {"0": [[10**30] * 11], "SE0": [[10**25, -(10**25)]], "time": [10**19], "state": [1]},
    "everything negative": {
        "0": [[-1] * 11],
        "SE0": [[-5, -5], [-3, -3]],
        "data": [[-1] * 7],
        "code": [[-1] * 10],
    },
    "odd keys": {"": 1, " ": [], "-0": {}, "٣": [], "1e3": [], "0x1": [], "\0": [], "dispatches": [1]},
}


def damaged(name, data):
    if data is None:
        whole = orjson.dumps(rich()[name])
        data = whole[: len(whole) // 2]
    return rich() | {name: data}


def check_others(trace, name):
    """Whatever the other files hold is still there."""
    whole = {
        "filenames.json": 4,
        "code.json": 8,
        "occupancy.json": 12,
        "realtime.json": 2,
        "snapshots.json": 1,
    }
    whole |= dict.fromkeys((COUNTERS, MARKERS, SIBLING, SPM, STATES), 1)
    exempt = {name} | LEADS_TO.get(name, set())
    found = seen(trace)
    assert {key: found[key] for key in whole.keys() - exempt} == {
        key: whole[key] for key in whole.keys() - exempt
    }
    for problem in trace.problems:
        check_sentence(problem)
    assert len(trace.waves) > 0 or name == "filenames.json"
    for wave in read_all(trace).waves:
        assert wave.tokens.stall.tolist() == [0, 40, 8, 0, 0, 0]


def test_the_rich_capture_has_something_of_every_file(tmp_path):
    trace = opened(tmp_path, rich())
    assert 0 not in seen(trace).values()
    assert [problem.where for problem in trace.problems] == [name_of(PLACES[1])]  # the one left empty


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", WORDS)
def test_a_file_that_is_no_json_costs_only_itself(tmp_path, name, damage):
    data, why = WORDS[damage]
    trace = opened(tmp_path, damaged(name, data))
    check_others(trace, name)
    mine = [problem for problem in trace.problems if problem.where == name]
    assert mine[0].text.startswith(f"{name} is damaged: {why}")
    assert mine[0].hint


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("shape", SHAPES)
def test_json_of_another_shape_costs_only_its_file(tmp_path, name, shape):
    trace = opened(tmp_path, damaged(name, json.dumps(SHAPES[shape]).encode()))
    check_others(trace, name)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_costs_only_itself(tmp_path, name):
    files = rich()
    del files[name]
    check_others(opened(tmp_path, files), name)


# -- the index ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [None, b"", b"{", b"[]", b"7", b'"x"', b"null", b"\x89PNG"])
def test_without_a_usable_index_waves_are_found_by_their_names(tmp_path, data):
    files = capture()
    del files["filenames.json"]
    trace = opened(tmp_path, files if data is None else files | {"filenames.json": data})
    assert [str(trace.waves.id(row)) for row in range(4)] == [
        f"se{se}/simd0/slot0/wv{number}" for se, _, _, number in PLACES
    ]
    assert trace.waves.begin.tolist() == [2000, 2200, 2000, 2200]
    assert trace.waves.cu.tolist() == [1] * 4
    found = told(trace, "filenames.json")
    assert found.severity is Severity.WARNING
    assert found.text.startswith(
        "filenames.json is missing." if data is None else "filenames.json is damaged: "
    )
    assert "4" in found.text


@pytest.mark.parametrize(
    "name",
    [
        *("../se0_sm0_sl0_wv0.json", "a/../../x.json", "/etc/passwd", "//host/share/x"),
        *("\\\\host\\share\\x", "C:\\x.json", "c:x.json", "\\x.json", "..\\x.json", "..", ".", "a\0b"),
    ],
)
def test_a_name_that_leaves_the_folder_is_never_opened(tmp_path, name):
    outside = wave_tree({PLACES[0]: capture()[FIRST]})
    outside["0"]["0"]["0"]["0"][0] = name
    files = capture() | {"filenames.json": {"gfxip": 9, "wave_filenames": outside}}
    files["snapshots.json"] = {"/": {"src": {"k.py": name}}}
    write(tmp_path, {FIRST: capture()[FIRST], "x.json": b"secret", "se0_sm0_sl0_wv0.json": b"secret"})
    trace = opened(tmp_path / "c", files)
    assert len(trace.waves) == 0
    assert trace.sources[0].lines is None
    (first, _) = [problem for problem in trace.problems if problem.where == "filenames.json"]
    assert first.text == (
        f"filenames.json names 1 file outside the capture folder, such as {name!r}; they are not opened."
    )
    assert first.hint == "Be careful with this capture if you do not know where it comes from."


@pytest.mark.parametrize("name", [FIRST, "code.json", "occupancy.json", "filenames.json", "source_0_k.py"])
def test_a_link_that_leaves_the_folder_is_not_followed(tmp_path, name):
    files = capture()
    secret = tmp_path / "secret"
    secret.write_bytes(files[name] if isinstance(files[name], bytes) else orjson.dumps(files[name]))
    del files[name]
    folder = write(tmp_path / "c", files)
    (folder / name).symlink_to(secret)
    trace = open_trace(folder)
    texts = [problem.text for problem in trace.problems] + [source.note for source in trace.sources]
    texts += [text for _, text in read_all(trace).missing]
    assert any(f"{name} is damaged: it lies outside the capture folder." in text for text in texts), texts


def test_a_link_inside_the_folder_is_followed(tmp_path):
    files = capture()
    folder = write(tmp_path / "c", files | {"real.json": files[FIRST]})
    (folder / FIRST).unlink()
    (folder / FIRST).symlink_to("real.json")
    trace = open_trace(folder)
    assert trace.problems == ()
    assert read_all(trace).missing == ()


def test_links_in_a_circle_and_to_nowhere_are_missing_files(tmp_path):
    folder = write(tmp_path / "c", capture())
    for name, target in ((FIRST, FIRST), ("code.json", "nowhere")):
        (folder / name).unlink()
        (folder / name).symlink_to(target)
    trace = open_trace(folder)
    assert told(trace, "code.json").text == "code.json is missing: instructions have no text and no totals."
    ((row, text),) = read_all(trace).missing
    assert (row, text.startswith(f"{FIRST} is ")) == (0, True)


@pytest.mark.parametrize("name", [FIRST, "code.json", "source_0_k.py"])
def test_a_pipe_is_not_waited_for(tmp_path, name):
    folder = write(tmp_path / "c", capture())
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(BrokenFile) as caught:
        read_bytes(folder, name)
    assert str(caught.value) == f"{name} is damaged: it is not a plain file."
    trace = open_trace(folder)
    batch = read_all(trace)
    assert len(batch.waves) + len(batch.missing) == 4
    texts = [problem.text for problem in trace.problems] + [source.note for source in trace.sources]
    assert any(name in text for text in (*texts, *(text for _, text in batch.missing)))


# -- the choice ---------------------------------------------------------------------------------------


def refusal(path):
    """The sentence and the advice a person gets who opens this path."""
    with pytest.raises(TraceError) as caught:
        open_trace(path)
    assert str(caught.value).endswith(".")
    assert caught.value.hint.endswith(".")
    return str(caught.value)


def test_folders_that_are_no_capture_say_why(tmp_path):
    empty, photos, raw = (tmp_path / name for name in ("empty", "photos", "raw"))
    for folder in (empty, photos, raw):
        folder.mkdir()
    (photos / "a.png").write_bytes(b"")
    (raw / "run_1_shader_engine_0_5.att").write_bytes(b"")
    begin = "is not a decoded thread trace:"
    assert refusal(empty) == f"{empty} {begin} it is empty."
    assert (
        refusal(photos)
        == f"{photos} {begin} neither it nor a folder below it has a filenames.json or .att files."
    )
    assert refusal(raw).startswith(f"{raw} cannot be decoded: run_1_shader_engine_0_5.att is damaged: ")
    assert (
        refusal(photos / "a.png") == f"{photos / 'a.png'} {begin} it is a file outside of any capture folder."
    )
    assert refusal(tmp_path / "no") == f"{tmp_path / 'no'} {begin} there is no such file or folder."
    (listed,) = find_captures(tmp_path)
    assert (listed.path, listed.waves) == (raw, 0)
    assert listed.note.startswith(f"{raw} cannot be decoded: ")


@pytest.mark.parametrize("name", ["x\0y", "y" * 300])
def test_a_path_that_cannot_be_is_refused(tmp_path, name):
    assert "is not a decoded thread trace:" in refusal(tmp_path / name)


@pytest.mark.parametrize("index", [{}, {"gfxip": 9, "wave_filenames": None}, {"version": "9.9"}])
def test_an_index_alone_is_no_capture(tmp_path, index):
    folder = write(tmp_path / "c", {"filenames.json": index})
    with pytest.raises(
        NotATrace, match=r"it holds no waves, no occupancy and no code \(code\.json is missing: "
    ):
        open_trace(folder)


@pytest.mark.parametrize("code", [{"code": None}, {"code": []}, {}, []])
@pytest.mark.parametrize("occupancy", [{"dispatches": {"0": "0 / 0x0"}, "version": "3.0.0"}, {}])
def test_a_folder_of_a_decoder_that_found_nothing_is_a_placeholder(tmp_path, code, occupancy, capsys):
    """What rocprofv3 leaves when no wave of the traced engines was in the stream."""
    index = {"gfxip": 11, "wave_filenames": None, "other_simd_filenames": None, "version": "3.0.0"}
    files = {"filenames.json": index, "code.json": code, "occupancy.json": occupancy}
    folder = write(tmp_path / "ui_output_agent_1_dispatch_1", files)
    trace = open_trace(folder)
    assert not len(trace.waves)
    assert NO_WAVE[0] in [problem.text for problem in trace.problems]
    (entry,) = find_captures(tmp_path)
    assert entry.note.startswith("No wave ran on the traced compute unit")
    assert main(["check", str(folder), "--yaml"]) == 0
    assert 'att_shader_engine_mask: "0x11111111"' in capsys.readouterr().out


@pytest.mark.parametrize("file", ["filenames.json", "code.json", "occupancy.json"])
def test_a_damaged_folder_without_anything_is_no_capture(tmp_path, file):
    index = {"gfxip": 11, "wave_filenames": None}
    files = {"filenames.json": index, "code.json": {"code": None}, "occupancy.json": {}, file: b"{"}
    assert f"{file} is damaged" in refusal(write(tmp_path / "c", files))


@pytest.mark.parametrize("data", [b"", b"{", b"[]"])
def test_a_damaged_index_alone_is_no_capture(tmp_path, data):
    folder = write(tmp_path / "c", {"filenames.json": data})
    assert "filenames.json is damaged" in refusal(folder)
    (entry,) = find_captures(tmp_path)
    assert entry.note.startswith("filenames.json is damaged: ")
    assert (entry.waves, entry.kernel) == (0, "")


def test_a_list_of_captures_tells_which_ones_are_damaged(tmp_path):
    write(tmp_path / "a", capture())
    write(tmp_path / "b", capture() | {"code.json": b"{"})
    write(tmp_path / "c", {"filenames.json": b"?"})
    write(tmp_path / "d", capture() | {"filenames.json": {"wave_filenames": None}})
    a, b, c, d = find_captures(tmp_path)
    assert (a.note, a.kernel, a.waves) == ("", "my_kernel", 4)
    assert (b.note, b.waves) == ("code.json is damaged: it ends in the middle, after 1 byte.", 4)
    assert c.note == "filenames.json is damaged: it is not JSON (line 1, column 1)."
    assert d.note.startswith("filenames.json lists no wave, although wave files lie beside it")
