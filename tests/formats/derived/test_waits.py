"""The rule by which wait lists are made is the rule of captures."""

import numpy as np
import pytest

from rcv_py.formats.derived.waits import replay, wait_lists
from tests.support.fixtures import fixture_of_each
from tests.support.samples import sample_path
from tests.synth.folder import Folder, queue_replay

# A capture of gfx9
folder = fixture_of_each(
    lambda name: Folder(sample_path(name)), ["matmul_small", "vector_add", "reduction", "kernels"]
)


def test_replay_gives_the_lists_of_waves(folder: Folder) -> None:
    assert folder.waves
    listed = 0
    for wave in folder.waves.values():
        lines = [token[4] for token in wave["wave"]["instructions"]]
        made = [
            [lines[wait], [[lines[item], 0] for item in items]]
            for wait, items in replay(folder.texts(wave), generation=9)
        ]
        assert made == (wave["wave"]["waitcnt"] or [])
        listed += len(made)
    assert listed


def test_replay_gives_what_the_plainest_reading_of_the_rules_does(folder: Folder) -> None:
    for wave in folder.waves.values():
        texts = folder.texts(wave)
        assert replay(texts, generation=9) == queue_replay(texts)


def test_a_combined_wait_looks_at_both_counters() -> None:
    texts = ["global_load_b32 v0, v1, s[0:1]", "ds_load_b32 v2, v3", "s_wait_loadcnt_dscnt 0x0"]
    assert replay(texts, 12) == [(2, [0]), (2, [1])]


def test_a_scalar_load_makes_a_partial_wait_release_nothing() -> None:
    texts = ["s_load_dword s0, s[2:3], 0x0", "ds_read_b32 v0, v1", "s_waitcnt lgkmcnt(1)"]
    assert replay(texts, 9) == []
    assert replay([*texts, "s_waitcnt lgkmcnt(0)"], 9) == [(3, [0, 1])]


def test_flat_operations_are_taken_whole_by_the_first_counter_that_is_waited_for() -> None:
    loads = ["flat_load_dword v0, v[0:1]", "global_load_dword v2, v3, s[0:1]", "s_waitcnt vmcnt(0)"]
    assert replay([*loads, "s_waitcnt lgkmcnt(0)"], 9) == [(2, [0, 1])]
    later = ["flat_load_b32 v0, v[0:1]", "flat_store_b32 v[0:1], v2", "s_waitcnt_vscnt null, 0x0"]
    assert replay([*later, "s_waitcnt lgkmcnt(0)"], 11) == [(2, [1]), (3, [0])]


def test_a_wait_for_idle_takes_everything_at_once() -> None:
    texts = [
        "global_load_b32 v0, v1, s[0:1]",
        "s_load_b32 s0, s[2:3], 0x0",
        "ds_load_b32 v2, v3",
        "s_wait_idle",
    ]
    assert replay(texts, 12) == [(3, [1, 0, 2])]


def test_waves_know_nothing_of_each_other_and_places_without_text_are_passed_over() -> None:
    texts = ("ds_read_b32 v0, v1", "s_waitcnt lgkmcnt(1)", "s_load_dword s0, s[2:3], 0x0")
    row = np.array([0, -1, 0, 2, 0, 0, 1, 1])
    found = wait_lists(row, np.array([0, 0, 4, 8, 8]), texts, 9)
    assert (found.token.tolist(), found.producers.tolist()) == ([6], [4])
    assert found.wave_first.tolist() == [0, 0, 0, 1, 1]


@pytest.mark.parametrize(("number", "releases"), [("001", [0]), ("9" * 30, []), ("0x", [0, 1])])
def test_numbers_of_a_strangers_text_are_read_whatever_they_are(number: str, releases: list[int]) -> None:
    texts = ["ds_read_b32 v0, v1", "ds_read_b32 v2, v3", f"s_waitcnt lgkmcnt({number})"]
    assert replay(texts, 9) == ([(2, releases)] if releases else [])
