"""Which waits wait for what: lists of real files, vectors of the writer, and every place we know better."""

import pytest

from rcv_py.analysis.waits.waitcnt.replay import waits_of
from rcv_py.formats.open import open_trace
from tests.analysis.test_waitcnt_rules import (
    Entries,
    entries,
    found,
    test_every_wave_has_the_list_of_its_file,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of_each

trace = fixture_of_each(captures.real_trace, captures.THREAD_TRACES)


@pytest.mark.parametrize("case", range(3))
def test_the_vectors_of_the_writer_hold(case: int) -> None:
    vector = captures.golden("waitcnt_vectors.json")["cases"][case]
    # `_bvh_` is the middle of a name that only the writer takes for an instruction.
    texts = [text if text != "_bvh_" else "image_bvh_" for _, text in vector["program"]]
    sets: dict[str, set[int]] = {}
    for line, producers in found(
        list(range(len(texts))) * vector["loops"], texts, int(vector["arch"].removeprefix("gfx"))
    ):
        sets.setdefault(str(line), set()).update(producers)
    assert sets == {line: set(lines) for line, lines in vector["expected"].items()}


# Where we know better, by what: (name, ours alone, the reference's alone).
BETTER: dict[str, list[tuple[str, Entries, Entries]]] = {
    "waitcnt_gfx9": [
        ("scalar buffer load", [(3, [1, 2])], [(3, [1])]),
        ("FLAT is in both of its counters", [(20, [15, 16])], [(20, [16])]),
        ("immediate", [(24, [21, 22]), (31, [30])], [(31, [21, 22, 30])]),
        ("caches thrown away are not counted", [(29, [26, 27])], [(29, [26, 27, 28])]),
        ("image", [(33, [32])], []),
    ],
    "waitcnt_gfx11": [
        ("number behind null", [(8, [5]), (9, [6])], [(8, [5, 6])]),
        (
            "atomic without return, number behind null",
            [(11, [4]), (20, [16, 18, 19]), (21, [10, 19])],
            [(11, [4, 10]), (20, [16, 19])],
        ),
        ("images; caches thrown away", [(25, [23, 24])], [(25, [22])]),
    ],
    "waitcnt_gfx12": [
        ("scalar buffer load", [(3, [1, 2])], [(3, [1])]),
        (
            "two numbers in one",
            [(15, [11]), (15, [13]), (16, [12]), (17, [14])],
            [(15, [11, 12]), (17, [13, 14])],
        ),
        ("image", [(23, [22])], []),
        ("export", [(30, [29])], []),
        ("FLAT is in both of its counters", [(43, [39, 40])], [(43, [40])]),
    ],
    "markers_gfx12": [],
    "counters_gfx9": [],
}


@pytest.mark.parametrize("name", list(BETTER))
def test_we_differ_from_the_reference_only_where_it_is_wrong(name: str) -> None:
    trace = open_trace(captures.synthetic_path(name))
    wave = trace.reader.read([0]).waves[0]
    theirs = [
        (line, rows) for line, rows in captures.golden(f"synthetic/{name}.rcv.json")["main_wave_waitcnt"]
    ]
    ours = entries(waits_of(wave, trace.code, trace.architecture))
    better, worse = (sorted(row for rule in BETTER[name] for row in rule[side]) for side in (1, 2))
    assert sorted(one for one in ours if one not in theirs) == better
    assert sorted(one for one in theirs if one not in ours) == worse
