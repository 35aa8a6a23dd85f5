"""Reading bytes and JSON: what is refused, and in which words."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.base.errors import BrokenFile, MissingFile
from rcv_py.base.problems import Problems
from rcv_py.formats.input.files import is_inside, parse_json, read_bytes, read_json


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.json").write_text('"secret"')
    inside = tmp_path / "capture"
    inside.mkdir()
    (inside / "a.json").write_text("[1]")
    return inside


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../secret.json", "sub/../../secret.json", "/etc/passwd"),
        *("\\windows\\system.ini", "..\\secret.json", "a\\..\\..\\secret.json", "C:\\secret.json"),
        *("C:secret.json", "\\\\host\\share\\x", "a\0.json"),
    ],
)
def test_a_name_cannot_leave_the_folder(folder, name):
    assert not is_inside(name)
    with pytest.raises(BrokenFile, match="outside the capture folder"):
        read_bytes(folder, name)


@pytest.mark.parametrize("name", ["a.json", "./a.json", "se0..json", "..a", "a b#ü.json"])
def test_an_ordinary_name_is_inside(name):
    assert is_inside(name)


def test_a_link_out_of_the_folder_is_refused_and_one_inside_is_followed(folder):
    (folder / "out.json").symlink_to(folder.parent / "secret.json")
    (folder / "in.json").symlink_to("a.json")
    (folder / "up").symlink_to(folder.parent)
    for name in ("out.json", "up/secret.json"):
        with pytest.raises(BrokenFile, match="outside"):
            read_bytes(folder, name)
    assert read_bytes(folder, "in.json") == b"[1]"


def test_a_capture_folder_that_is_itself_a_link_is_read(folder):
    link = folder.parent / "link"
    link.symlink_to(folder)
    assert read_bytes(link, "a.json") == b"[1]"


def test_pipes_devices_and_folders_are_no_files_and_do_not_block(folder):
    os.mkfifo(folder / "pipe.json")
    (folder / "sub").mkdir()
    (folder / "zero.json").symlink_to("/dev/zero")
    for name in ("pipe.json", "sub", "zero.json"):
        with pytest.raises(BrokenFile):
            read_bytes(folder, name)


def test_a_missing_file_and_a_file_used_as_a_folder_are_missing(folder):
    for name in ("none.json", "a.json/b.json"):
        with pytest.raises(MissingFile, match="is missing"):
            read_bytes(folder, name)


def test_a_file_above_the_limit_is_not_read(folder):
    with pytest.raises(BrokenFile, match="more than the 2 that"):
        read_bytes(folder, "a.json", limit=2)


def test_a_name_too_long_is_a_sentence(folder):
    with pytest.raises(BrokenFile, match="cannot be read"):
        read_bytes(folder, "x" * 5000)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        ('\ufeff{"é":1}'.encode("utf-16-le"), {"é": 1}),
        (b" [1.0]\n", [1.0]),
    ],
)
def test_byte_order_marks_and_white_space_are_tolerated(folder, data, value):
    (folder / "b.json").write_bytes(data)
    assert read_json(folder, "b.json") == value


def test_latin_1_bytes_are_replaced_and_told(folder):
    (folder / "b.json").write_bytes('{"a": "/h/Jürgen"}'.encode("latin-1"))
    problems = Problems()
    assert read_json(folder, "b.json", problems) == {"a": "/h/J\ufffdrgen"}
    assert "b.json has characters that are not UTF-8" in problems[0].text


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "b.json is damaged: it is empty."),
        (b" \n", "b.json is damaged: it is empty."),
        (b'{"a": [1, 2', "b.json is damaged: it ends in the middle, after 11 bytes."),
        (b'{"a": "x', "b.json is damaged: it ends in the middle, after 8 bytes."),
        (b"[1,\n }", "b.json is damaged: it is not JSON (line 2, column 2)."),
        (b"[NaN]", "b.json is damaged: it is not JSON (line 1, column 2)."),
        (b"[" * 5000, "b.json is damaged: it is not JSON"),
    ],
)
def test_bytes_that_are_not_json_are_told_in_a_sentence(data, sentence):
    with pytest.raises(BrokenFile) as caught:
        parse_json(data, "b.json")
    assert str(caught.value).startswith(sentence)
    assert caught.value.hint


@given(st.binary(max_size=60))
def test_any_bytes_are_json_or_a_broken_file(data):
    with suppress(BrokenFile):
        parse_json(data, "x.json")
