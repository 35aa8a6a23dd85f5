"""Broken captures: the sentence a person reads for each, and the rules every such sentence keeps."""

import re

import pytest

from rcv_py.formats.open import open_trace
from tests.support.folders import GOOD, WAVE, code, one_wave, row, waves, write

# What is changed in a good folder, and what its problems have to say.
DAMAGED = {
    "no index": (
        {"filenames.json": None},
        "filenames.json is missing. Waves found by the names of their files: 1.",
    ),
    "index is a list": ({"filenames.json": []}, "filenames.json is damaged: it is not an index of waves."),
    "code is a number": ({"code.json": b"7"}, "code.json is damaged: it is not a table of instructions."),
    "code rows are a number": (
        {"code.json": {"code": 7}},
        "code.json is damaged: it is not a table of instructions.",
    ),
    "bad code row": ({"code.json": code(row("s_nop 0", 1, "/a.py:1"), None)}, "code.json has 1 unusable row"),
    "same number twice": (
        {"code.json": code(row("s_nop 0", 1, "/a.py:1", 0), row("s_nop 1", 1, "", 4))},
        "code.json gives 1 line number to a second instruction; their tokens are counted for the first.",
    ),
    "no debug info": ({"code.json": code(row("s_nop 0", 1))}, "No instruction has a source line"),
    "bad events": ({"occupancy.json": {"0": [[1, 2], "x"]}}, "occupancy.json has 2 unusable wave events"),
    "placeholder": ({"filenames.json": waves(None), WAVE: None}, "No wave ran on the traced compute unit"),
    "wave gone": ({WAVE: None}, f"Wave files that are missing or empty: 1 of 1, such as {WAVE}."),
    "wave empty": ({WAVE: b""}, f"Wave files that are missing or empty: 1 of 1, such as {WAVE}."),
    "clocks missing": (
        {"filenames.json": waves(one_wave() | one_wave(se=1)), "realtime.json": None},
        "realtime.json is missing or empty: the clocks of 2 shader engines are not aligned.",
    ),
    "clock of one missing": (
        {"filenames.json": waves(one_wave() | one_wave(se=1))},
        "realtime.json has no clock samples for SE1: its times are not aligned with the others.",
    ),
    "clock backwards": (
        {"realtime.json": {"SE0": [[1, 9], [5, 3]]}},
        "realtime.json: the constant clock of SE0 runs backwards; nanoseconds are doubtful.",
    ),
    "source copy gone": (
        {"source_0_k.py": None},
        "snapshots.json has no copy of 1 of 1 source file, such as /src/k.py.",
    ),
    "snapshots is a list": ({"snapshots.json": []}, "snapshots.json is damaged: it is not a tree of names."),
    "marker of no kind": (
        {"code.json": code(row("s_nop 0", 1, "/a.py:1"), sqtt_funcmap=[[1, 1, "?", "x"]])},
        "code.json has 1 unusable marker name",
    ),
    "packets lost": (
        {"occupancy.json": {"0": [[1, 1, 0, 0, 1, 0]], "events": {"0": [{"type": 6}, {"type": 9}]}}},
        "The trace unit stalled or lost packets 2 times",
    ),
    "state curve": (
        {WAVE: None, "wstates2.json": {"time": [1], "state": []}},
        "wstates2.json has 1 unusable curve",
    ),
}


def is_sentence(text):
    return bool(re.fullmatch(r"[A-Za-z0-9/].*[^.]\.", text)) and "  " not in text and "Errno" not in text


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_capture_opens_and_says_what_is_wrong(tmp_path, case):
    changes, sentence = DAMAGED[case]
    problems = open_trace(write(tmp_path / "c", changes)).problems
    assert any(problem.text.startswith(sentence) for problem in problems), [p.text for p in problems]
    for problem in problems:
        assert is_sentence(problem.text), problem.text
        assert is_sentence(problem.hint), problem.hint
        assert problem.where


def test_files_of_the_good_folder_are_what_the_cases_change():
    assert {name for changes, _ in DAMAGED.values() for name in changes} >= set(GOOD) - {"source_0_k.py"}
