"""Any bytes, any JSON, damaged real files: every reader gives a result or a TraceError, and does so soon."""

import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rcv_py.base.errors import TraceError
from rcv_py.formats.open import find_captures, open_trace
from tests.support.folders import mutated, write
from tests.support.samples import sample_path
from tests.support.whole_capture import every_kind

SLOW = 30.0  # s of processor time; an opened folder of this size takes 5 ms

FULL = every_kind()  # so that damage reaches every reader
JSON_FILES = sorted(name for name in FULL if name.endswith(".json"))

numbers = st.one_of(
    st.integers(-5, 5),
    st.sampled_from(
        [1 << 31, -(1 << 31) - 1, 1 << 53, (1 << 60) - 1, 1 << 60, 1 << 63, (1 << 64) - 1, -(1 << 63)]
    ),
    st.floats(allow_nan=False, allow_infinity=False),
)
# What UTF-8 can say; of the codec by its name each process would try all characters first.
LETTERS = st.characters(exclude_categories=["Cs"])
scalars = st.one_of(st.none(), st.booleans(), numbers, st.text(LETTERS, max_size=6))
keys = st.sampled_from(["0", "1", "-1", "x", "time", "SE0", "code", "data"])
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of each kind, which is whole again after each example."""
    return write(tmp_path_factory.mktemp("fuzz") / "c", base=FULL)


def survives(good: Path, changes: dict[str, bytes]) -> None:
    """Open the folder, damaged, in every way; check what a result promises."""
    was = {name: (good / name).read_bytes() for name in changes}
    try:
        write(good, changes, base={})
        begin = time.process_time()
        with suppress(TraceError):
            check(open_trace(good))
        for entry in find_captures(good):
            assert isinstance(entry.note, str)
        assert time.process_time() - begin < SLOW
    finally:
        write(good, was, base={})


def check(trace) -> None:
    code, index, events = trace.code, trace.waves, trace.occupancy
    rows = len(code)
    columns = (code.number, code.codeobj, code.address, code.hits, code.latency, code.stall, code.idle)
    assert {len(column) for column in (*columns, code.is_label, code.kind, code.kernel)} == {rows}
    assert len(code.chain_first) == rows + 1
    assert code.chain_first[-1] == len(code.chain_file) == len(code.chain_line)
    assert set(code.chain_file.tolist()) <= set(range(len(trace.sources)))
    assert all(column.dtype == np.int64 for column in (code.hits, index.begin, events.time))
    assert {len(column) for column in (events.se, events.cu, events.kernel, events.workgroup)} == {
        len(events)
    }
    assert np.all(np.diff(events.time) >= 0)
    assert np.all(index.end >= index.begin)
    assert trace.span.width > 0
    assert isinstance(trace.kernel_name, str)
    batch = trace.reader.read(list(range(len(index))))
    assert len(batch.waves) + len(batch.missing) == len(index)
    for problem in trace.problems:
        assert problem.text.endswith(".")


def replaced(document: Any, path: list[int], value: Any) -> Any:
    """The document with the value at a place (counted down through lists and dictionaries) replaced."""
    if not path or not isinstance(document, list | dict) or not document:
        return value
    keys = list(document) if isinstance(document, dict) else range(len(document))
    key = keys[path[0] % len(keys)]
    copy = document.copy()
    copy[key] = replaced(document[key], path[1:], value)
    return copy


@pytest.mark.parametrize("name", JSON_FILES)
@given(data=st.binary(max_size=40))
@settings(max_examples=12)
def test_any_bytes_in_any_file(good, name, data):
    survives(good, {name: data})


@pytest.mark.parametrize("name", JSON_FILES)
@given(document=documents)
@settings(max_examples=20)
def test_any_json_in_any_file(good, name, document):
    survives(good, {name: orjson.dumps(document)})


@pytest.mark.parametrize("name", JSON_FILES)
@given(path=st.lists(st.integers(0, 30), min_size=1, max_size=6), value=documents)
@settings(max_examples=40)
def test_any_value_at_any_place_of_a_good_file(good, name, path, value):
    survives(good, {name: orjson.dumps(replaced(FULL[name], path, value))})


@given(
    name=st.sampled_from(JSON_FILES),
    cut=st.none() | st.integers(0, 2000),
    flips=st.dictionaries(st.integers(0, 5000), st.integers(0, 255), max_size=4),
)
@settings(max_examples=150)
def test_good_files_with_damaged_bytes(good, name, cut, flips):
    survives(good, {name: mutated(orjson.dumps(FULL[name]), cut, flips)})


TABLES = ("filenames.json", "code.json", "occupancy.json", "realtime.json", "snapshots.json")


@given(
    name=st.sampled_from(TABLES),
    cut=st.none() | st.integers(0, 60_000),
    flips=st.dictionaries(st.integers(0, 1 << 20), st.integers(0, 255), max_size=8),
)
@settings(max_examples=40)
def test_whole_captures_with_damaged_bytes(name, cut, flips):
    damaged_capture_survives(sample_path("gfx12"), name, cut, flips)


def damaged_capture_survives(folder: Path, name: str, cut: int | None, flips: dict[int, int]) -> None:
    """Open a capture with a file that is cut or changed."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith("wstates")}
    with TemporaryDirectory() as place, suppress(TraceError):
        check(open_trace(write(Path(place), {name: mutated(files[name], cut, flips)}, base=files)))


@pytest.mark.parametrize("depth", [500, 3000])
def test_deep_nesting_is_no_recursion_error(good, depth):
    deep = b'{"0":' * depth + b"1" + b"}" * depth
    for name in JSON_FILES:
        survives(good, {name: deep})
