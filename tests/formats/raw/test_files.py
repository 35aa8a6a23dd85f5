"""Names of files tell which raw captures lie in a folder."""

from pathlib import Path

import pytest

from rcv_py.base.problems import Problems
from rcv_py.formats.raw.files import raw_capture, raw_captures, spans
from tests.support.raw_samples import raw_sample


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_bytes(b"1234567890")


def test_a_folder_with_one_dispatch_is_named_by_itself(tmp_path: Path) -> None:
    put(tmp_path, "7_0_shader_engine_1_25.att", "7_0_shader_engine_0_25.att", "gfx950_code_object_id_3.out")
    put(tmp_path, "odd.hsaco", "code.json", "notes.txt", "odd.hsaco-odd.dwo", "all.dwp")
    (capture,) = raw_captures(tmp_path)
    assert capture.path == tmp_path
    assert [(one.se, one.name) for one in capture.streams] == [
        (0, "7_0_shader_engine_0_25.att"),
        (1, "7_0_shader_engine_1_25.att"),
    ]
    assert (capture.agent, capture.dispatch, capture.size) == (0, 25, 20)
    assert [(code.name, code.id) for code in capture.codes] == [
        ("gfx950_code_object_id_3.out", 3),
        ("odd.hsaco", 0),
    ]
    assert capture.sidecars == {"code.json", "odd.hsaco-odd.dwo", "all.dwp"}
    assert capture.text == "Process 7 · Agent 0 · Dispatch 25 · SE0-1 · 20 B · 2 files"


def test_each_of_several_dispatches_is_named_by_any_of_its_files(tmp_path: Path) -> None:
    put(tmp_path, *(f"1_0_shader_engine_{se}_{dispatch}.att" for se in (0, 2) for dispatch in (9, 10)))
    first, second = raw_captures(tmp_path)
    assert [first.dispatch, second.dispatch] == [9, 10]
    assert first.path == tmp_path / "1_0_shader_engine_0_9.att"
    assert raw_capture(tmp_path) is None
    for name in ("1_0_shader_engine_0_10.att", "1_0_shader_engine_2_10.att"):
        capture = raw_capture(tmp_path / name)
        assert capture.path == second.path


def test_the_same_dispatch_of_another_process_is_another_capture(tmp_path: Path) -> None:
    put(tmp_path, "1_0_shader_engine_0_1.att", "2_0_shader_engine_0_1.att")
    assert [one.streams[0].run for one in raw_captures(tmp_path)] == ["1", "2"]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("12_3_shader_engine_4_5.att", ("12", 3, 4, 5)),
        ("host_12_3_shader_engine_4_5_more.att", ("host_12", 3, 4, 5)),
        ("x_shader_engine_4.att", ("x", -1, 4, -1)),
        ("_shader_engine_.att", ("", -1, 0, -1)),
        ("se6.att", ("", -1, 6, -1)),
        ("6.att", ("", -1, 6, -1)),
        ("other.att", ("", -1, 0, -1)),
        ("1_2_shader_engine_999999999999999999999_1.att", ("1", 2, 0, 1)),
    ],
)
def test_what_a_name_does_not_tell_is_unknown(tmp_path: Path, name: str, key: tuple[object, ...]) -> None:
    put(tmp_path, name)
    (capture,) = raw_captures(tmp_path)
    stream = capture.streams[0]
    assert (stream.run, stream.agent, stream.se, stream.dispatch) == key


def test_files_without_a_number_get_those_that_are_free(tmp_path: Path) -> None:
    put(tmp_path, "a.att", "b.att", "se1.att", "1.att")
    (capture,) = raw_captures(tmp_path)
    assert {one.name: one.se for one in capture.streams} == {"1.att": 1, "a.att": 0, "b.att": 2}
    problems = Problems()
    capture.report_problems(problems)
    assert [problem.where for problem in problems] == ["se1.att"]


def test_the_second_code_object_of_an_id_is_left_out_with_a_word(tmp_path: Path) -> None:
    put(tmp_path, "se0.att", "codeobj_1.out", "gfx950_code_object_id_1.out")
    (capture,) = raw_captures(tmp_path)
    problems = Problems()
    capture.report_problems(problems)
    assert [problem.where for problem in problems] == ["gfx950_code_object_id_1.out"]


def test_suffixes_are_as_writers_write_them(tmp_path: Path) -> None:
    put(tmp_path, "se0.ATT")
    (tmp_path / "se1.att").mkdir()
    assert raw_captures(tmp_path) == ()
    assert raw_captures(tmp_path / "missing") == ()


def test_runs_of_numbers_are_drawn_together() -> None:
    assert spans([0, 1, 2, 5, 7, 8]) == "0-2, 5, 7-8"
    assert spans([3]) == "3"


def test_folders_have_their_dispatches() -> None:
    assert [one.dispatch for one in raw_captures(raw_sample("gfx11").folder)] == [1, 2]
    (capture,) = raw_captures(raw_sample("kernels").folder)
    assert (len(capture.streams), len(capture.codes)) == (2, 4)
