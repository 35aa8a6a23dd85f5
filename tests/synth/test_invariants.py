"""What holds in every real capture holds in every made-up one; recomputed from the files alone.

What columns show as well is in tests/formats/test_invariants.py.
"""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from rcv_py.synth.samples import SAMPLES
from tests.support.made_captures import write_large
from tests.synth.conftest import Written
from tests.synth.folder import Folder, painted, queue_replay, unrolled

THREAD_TRACES = [name for name in SAMPLES if not name.startswith(("pc_sampling", "placeholder"))]
GFX9 = [name for name in THREAD_TRACES if "gfx1" not in name and name not in ("markers", "other_simd")]
EXACT = [name for name in THREAD_TRACES if name != "packed"]  # its occupancy has coarser times
WITH_LISTS = [name for name in THREAD_TRACES if name not in ("events", "scripted_gfx12")]


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    path = tmp_path_factory.mktemp("large")
    write_large(path, waves=72, seed=1, tokens_per_wave=400)  # on all engines, and again behind the first
    return Folder(path)


@pytest.fixture
def folder(request: pytest.FixtureRequest, written: Written) -> Folder:
    """A sample, or the large folder."""
    if request.param == "large":
        return request.getfixturevalue("large")
    return written(request.param)[0]


every = pytest.mark.parametrize("folder", [*THREAD_TRACES, "large"], indirect=True)
gfx9 = pytest.mark.parametrize("folder", [*GFX9, "large"], indirect=True)


@every
def test_index_and_wave_files_agree(folder: Folder) -> None:
    assert folder.waves
    for (se, simd, slot, wid), wave in folder.waves.items():
        detail = wave["wave"]
        assert wave["name"] == f"SE{se}"
        assert (detail["simd"], detail["slot"], detail["id"]) == (simd, slot, wid)
        assert wave["entry"] == [f"se{se}_sm{simd}_sl{slot}_wv{wid}.json", detail["begin"], detail["end"]]
        assert wave["duration"] == detail["end"] - detail["begin"]
        assert wave["num_insts"] == wave["num_stitched"] == len(detail["instructions"])


@every
def test_timeline_is_what_the_tokens_paint(folder: Folder) -> None:
    step = 4 if folder.is_gfx9 else 1
    for wave in folder.waves.values():
        timeline = wave["wave"]["timeline"]
        assert timeline[0][0] == 1
        np.testing.assert_array_equal(unrolled(timeline, step), painted(wave, step))


@gfx9
def test_gfx9_counts_in_fours_and_overlaps_by_four_at_most(folder: Folder) -> None:
    for wave in folder.waves.values():
        tokens = folder.tokens(wave)
        numbers = [*tokens[:, [0, 2, 3]].ravel(), wave["wave"]["begin"], wave["wave"]["end"]]
        assert not np.any(np.array(numbers) % 4)
        assert not np.any(np.array(wave["wave"]["timeline"])[:, 1] % 4)
        overlap = (tokens[:, 0] + tokens[:, 3])[:-1] - tokens[1:, 0]
        assert overlap.max() <= 4
        assert set(tokens[1:, 1][overlap > 0]) <= {9}
        last = tokens[-1, 0] + tokens[-1, 3]
        assert -28 <= last - wave["wave"]["end"] <= 4


@pytest.mark.parametrize("folder", [*EXACT, "large"], indirect=True)
def test_traced_waves_are_the_residencies_of_the_target_cu(folder: Folder) -> None:
    kernels = Counter()
    for se in folder.events:
        waves = {key: wave["wave"] for key, wave in folder.waves.items() if key[0] == se}
        cu = {wave["cu"] for wave in waves.values()}
        traced = {key[1] for key in waves}
        pairs = [pair for pair in folder.pairs(se) if pair[0] in cu and pair[1] in traced]
        expected = [(key[1], key[2], wave["begin"], wave["end"]) for key, wave in waves.items()]
        assert sorted(pair[1:5] for pair in pairs) == sorted(expected)
        kernels.update(pair[5] for pair in pairs)
    names = folder.json("occupancy.json")["dispatches"]
    assert names["0"] == "0 / 0x0"
    labels = {row[0].removeprefix("; ") for row in folder.code if row[0].startswith(";")}
    assert {names[str(kernel)] for kernel in kernels} <= labels


@pytest.mark.parametrize("folder", [*WITH_LISTS, "large"], indirect=True)
def test_wait_lists_are_the_queue_replay(folder: Folder) -> None:
    if not folder.is_gfx9:
        assert any(wave["wave"]["waitcnt"] for wave in folder.waves.values())
        return
    for wave in folder.waves.values():
        lines = [token[4] for token in wave["wave"]["instructions"]]
        expected = [
            [lines[wait], [[lines[item], 0] for item in items]]
            for wait, items in queue_replay(folder.texts(wave))
        ]
        assert (wave["wave"]["waitcnt"] or []) == expected


@every
def test_code_rows_are_numbered_in_order_and_addresses_grow(folder: Folder) -> None:
    first = 1 if folder.index.get("version") == "3.1.0" else 0
    assert [row[2] for row in folder.code] == list(range(first, first + len(folder.code)))
    for before, after in pairwise(folder.code):
        size = after[5] - before[5]
        assert size == 0 if before[0].startswith(";") else size in (4, 8, 16) or after[0].startswith(";")


@every
def test_copied_sources_have_the_lines_the_code_refers_to(folder: Folder) -> None:
    tree = folder.json("snapshots.json")["/"]
    for row in folder.code:
        if row[0].startswith(";"):
            continue
        for place in row[3].split(" -> "):
            path, _, line = place.rpartition(":")
            if path.startswith("/opt/"):
                continue
            branch = tree
            for part in path.removeprefix("/").split("/"):
                branch = branch[part]
            assert 1 <= int(line) <= len((folder.path / branch).read_text().splitlines())
