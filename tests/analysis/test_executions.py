"""Which execution of an instruction is the median one, by the files and without our code."""

from pathlib import Path
from statistics import median

import numpy as np

from rcv_py.analysis.cost.distribution import NEVER, hits_of, pick
from rcv_py.model.modes import Which
from tests.analysis import build
from tests.analysis.in_memory import line_hits
from tests.support.fixtures import fixture_of_each
from tests.support.plain_capture import plain
from tests.support.read_twice import opened
from tests.support.samples import sample_path

folder = fixture_of_each(sample_path, ["matmul_small", "vector_add", "gfx11"])


def test_the_median_is_that_of_the_files(folder: Path) -> None:
    found: dict[int, list[tuple[int, int, str, int]]] = {}
    for wave in plain(folder).waves:
        times: dict[int, int] = {}
        for token in wave.tokens:
            hit = times[token.line] = times.get(token.line, -1) + 1
            found.setdefault(token.line, []).append((token.duration, token.time, wave.name, hit))
    costly = sorted(found, key=lambda line: -sum(row[0] for row in found[line]))
    often = sorted(found, key=lambda line: -len(found[line]))
    trace, batches = opened(folder)
    order = {str(trace.waves.id(row)): row for row in range(len(trace.waves))}
    for line in {*costly[:12], *often[:6]}:
        hits = hits_of(line, has_idle=False).of(trace, batches)
        picked = {
            which: (str(trace.waves.id(int(hits.wave[at]))), int(hits.hit[at]), int(hits.latency[at]))
            for which in (Which.MEDIAN, Which.FASTEST, Which.SLOWEST)
            for at in (pick(hits, which),)
        }
        middle = median(row[0] for row in found[line])
        near = min(found[line], key=lambda row: (abs(row[0] - middle), row[1], order[row[2]]))
        assert picked[Which.MEDIAN] == (near[2], near[3], near[0])
        quick = min(found[line], key=lambda row: (row[0], row[1], order[row[2]]))
        assert picked[Which.FASTEST] == (quick[2], quick[3], quick[0])
        slow = min(found[line], key=lambda row: (-row[0], row[1], order[row[2]]))
        assert picked[Which.SLOWEST] == (slow[2], slow[3], slow[0])


def test_a_rare_quick_execution_is_not_the_median() -> None:
    waves = [build.wave("lL|lllllL", [4, 4], row=0), build.wave("lllllL", [4], row=1, begin=50)]
    hits = line_hits([build.batch(*waves)], 4)
    assert hits.latency.tolist() == [2, 6, 6]
    assert pick(hits, Which.MEDIAN) == 1, "the first that began of those that took as long"


def test_next_slower_and_faster_go_through_all_in_order(folder: Path) -> None:
    trace, batches = opened(folder)
    hits = hits_of(int(trace.code.latency.argmax())).of(trace, batches)
    assert len(hits) > 2
    at, seen = pick(hits, Which.FASTEST), []
    while at >= 0:
        seen.append(at)
        at = pick(hits, Which.SLOWER, at)
    assert sorted(seen) == list(range(len(hits)))
    assert (np.diff(hits.latency[seen]) >= 0).all()
    assert pick(hits, Which.FASTER, seen[1]) == seen[0]
    assert pick(hits, Which.FASTER) == seen[-1], "of none of them the slowest"


def test_without_idle_cycles_hits_are_the_same(folder: Path) -> None:
    trace, batches = opened(folder)
    line = int(np.argmax(trace.code.hits))
    whole, light = (hits_of(line, has_idle=idle).of(trace, batches) for idle in (True, False))
    assert (light.idle == NEVER).all()
    for column in ("wave", "token", "hit", "se", "start", "stall", "busy", "since"):
        assert np.array_equal(getattr(whole, column), getattr(light, column)), column


def test_of_no_execution_there_is_none() -> None:
    assert pick(line_hits([], 3), Which.MEDIAN) == -1
