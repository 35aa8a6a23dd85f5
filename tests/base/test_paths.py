"""Paths in tables: as short as tells them apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.base.text import short_paths, short_place


@pytest.mark.parametrize(
    ("paths", "short"),
    [
        (["/a/b/one.py", "/a/c/two.py"], ["one.py", "two.py"]),
        (["/a/b/one.py", "/a/c/one.py"], ["b/one.py", "c/one.py"]),
        (["/x/a/b/one.py", "/y/a/b/one.py", "/z.py"], ["x/a/b/one.py", "y/a/b/one.py", "z.py"]),
        (["one.py", "/a/one.py"], ["one.py", "a/one.py"]),
        (["C:\\src\\one.hip", "C:\\inc\\one.hip"], ["src/one.hip", "inc/one.hip"]),
        (["/a/./b/one.py", "/a/b/one.py"], ["one.py", "one.py"]),
        (["", "/"], ["", "/"]),
    ],
)
def test_as_many_folders_as_it_takes(paths: list[str], short: list[str]) -> None:
    found = short_paths(paths)
    assert [found[path] for path in paths] == short


def test_places_keep_their_line() -> None:
    short = short_paths(["/a/one.py"])
    assert short_place("/a/one.py:12", short) == "one.py:12"
    assert short_place("/a/one.py", short) == "one.py"
    assert short_place("elsewhere.py:3", short) == "elsewhere.py:3"
    assert short_place("", short) == ""


names = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))


@given(st.lists(names, max_size=12, unique=True))
def test_different_paths_stay_different(paths: list[str]) -> None:
    short = short_paths(paths)
    assert len(set(short.values())) == len(paths)
    assert all(path.endswith(text) for path, text in short.items())
