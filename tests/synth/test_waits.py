"""The rule by which wait lists are made is the rule of real captures."""

from __future__ import annotations

import pytest

from rcv_py.synth.waits import replay
from tests.support import captures
from tests.synth.folder import Folder


@pytest.mark.parametrize("case", range(3))
def test_replay_gives_the_expected_sets(case: int) -> None:
    captures.need_shared()
    vector = captures.golden("waitcnt_vectors.json")["cases"][case]
    program = vector["program"] * vector["loops"]
    found: dict[str, set[int]] = {}
    for wait, items in replay([text for _, text in program], int(vector["arch"].removeprefix("gfx"))):
        found.setdefault(str(program[wait][0]), set()).update(program[item][0] for item in items)
    assert found == {line: set(lines) for line, lines in vector["expected"].items()}


@pytest.mark.parametrize("name", [name for name in captures.THREAD_TRACES if name != "moe_reduce"])
def test_replay_gives_the_lists_of_real_waves(name: str) -> None:
    folder = Folder(captures.trace_path(name))
    assert folder.waves
    for wave in folder.waves.values():
        lines = [token[4] for token in wave["wave"]["instructions"]]
        made = [
            [lines[wait], [[lines[item], 0] for item in items]]
            for wait, items in replay(folder.texts(wave), generation=9)
        ]
        assert made == (wave["wave"]["waitcnt"] or [])


def test_a_combined_wait_looks_at_both_counters() -> None:
    texts = ["global_load_b32 v0, v1, s[0:1]", "ds_load_b32 v2, v3", "s_wait_loadcnt_dscnt 0x0"]
    assert replay(texts, 12) == [(2, [0]), (2, [1])]


def test_a_scalar_load_makes_a_partial_wait_release_nothing() -> None:
    texts = ["s_load_dword s0, s[2:3], 0x0", "ds_read_b32 v0, v1", "s_waitcnt lgkmcnt(1)"]
    assert replay(texts, 9) == []
    assert replay([*texts, "s_waitcnt lgkmcnt(0)"], 9) == [(3, [0, 1])]
