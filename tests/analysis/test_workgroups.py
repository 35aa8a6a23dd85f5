"""Workgroups: from drawings, by the definition itself, for random plans by the truth."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.attribution.attribute import stalls
from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.stream import engine_stream
from rcv_py.analysis.latency.barrier_skew import BARRIER_SKEW
from rcv_py.analysis.waves.workgroups import WORKGROUPS, KnownBy, Workgroups
from rcv_py.formats.open import open_trace
from rcv_py.model.tokens import Tokens
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch
from rcv_py.synth.build import Plan, build
from rcv_py.synth.hardware import CDNA
from rcv_py.synth.program import kernel
from rcv_py.synth.wave_state import SyntheticLaunch
from rcv_py.synth.write import write_folder
from tests.analysis import build as tables
from tests.analysis.in_memory import capture_costs
from tests.support import workgroup_truth
from tests.support.attribution_truth import markdown
from tests.support.columns import in_rows
from tests.support.engines import waves_by_engine
from tests.support.opened import all_waves, sample_trace, sample_waves, traces_of
from tests.support.paths import ROOT
from tests.support.samples import sample

TEXTS = ["v_mov_b32 v0, 0", "s_barrier", "s_barrier", "s_endpgm", "s_barrier_signal -1", "s_barrier_wait -1"]
Row = tuple[int, int, int, int]  # start, stall, cycles of issue and code row of a token
Met = Sequence[tuple[int, int] | tuple[int, int, int]]  # arrival, release and, unless it is 1, the code row


def of_rows(rows: list[Row], begin: int, end: int, kinds: Sequence[int] = (9,), **where: Any) -> TracedWave:
    """A wave of these tokens, whose kinds repeat."""
    start, stall, busy, line = np.array(rows).T
    tokens = tables.tokens(begin, start - begin, stall, busy, line=line, kind=np.resize(kinds, len(rows)))
    return tables.of_tokens(tokens, begin=begin, end=end, **where)


def wave(row: int, begin: int, met: Met, *, end: int = 0, **where: Any) -> TracedWave:
    """A wave that went through these barriers and ended."""
    rows = [(one[0], one[1] - one[0], 0, one[2] if len(one) > 2 else 1) for one in met]
    end = end or max([begin, *(one[1] for one in met)]) + 100
    place = {"place": (0, row % 4, row // 4, 0)}
    return of_rows([*rows, (end - 8, 0, 8, 3)], begin, end, row=row, **place | where)


def told(*waves: TracedWave) -> Workgroups:
    """The workgroups of waves of a drawing."""
    return WORKGROUPS.of(tables.trace(tables.code(TEXTS), list(waves)), [tables.batch(*waves)])


def numbers(*waves: TracedWave) -> list[int]:
    return told(*waves).number.tolist()


def test_waves_in_different_slots_at_different_barriers_are_one_workgroup() -> None:
    found = told(
        wave(0, 0, [(100, 208, 1), (300, 412, 2)], place=(0, 0, 0, 0)),
        wave(1, 4, [(200, 212, 2), (400, 408, 1)], place=(0, 0, 1, 3)),
        wave(2, 128, [(100, 308), (300, 608)], place=(0, 1, 0, 0)),
    )
    assert found.number.tolist() == [0, 0, 1]
    assert found.waves.tolist() == [2, 1]
    assert found.known_by.tolist() == [KnownBy.BARRIERS] * 2
    assert not found.is_guess


def test_barriers_that_open_together_now_and_then_do_not_make_a_workgroup() -> None:
    first = [(90, 200), (290, 400), (490, 600)]
    second = [(90, 200), (290, 448), (490, 600)]
    waves = wave(0, 0, first), wave(1, 4, first), wave(2, 128, second), wave(3, 132, second)
    assert numbers(*waves) == [0, 0, 1, 1]


@pytest.mark.parametrize("splits", [(0,), (5,), (3, 9), (6, 7), (15,), (2, 12, 13)])
def test_workgroups_whose_barriers_differ_only_late_or_only_once(splits: tuple[int, ...]) -> None:
    """At the turns of `splits` the waves with a bit of their number set are released later."""
    count = 2 ** len(splits)
    waves = []
    for n in range(2 * count):
        late = {turn: 64 * (n >> bit & 1) for bit, turn in enumerate(splits)}
        waves.append(wave(n, 4 * n, [(200 * t + 90, 200 * t + 200 + late.get(t, 0)) for t in range(16)]))
    assert numbers(*waves) == [n % count for n in range(2 * count)]


def test_a_chain_of_near_releases_is_told_apart_by_another_turn() -> None:
    chain = [[(90, 200 + 6 * n), (290, 400 + 100 * (n // 2))] for n in range(4)]
    assert numbers(*(wave(n, 4 * n, met) for n, met in enumerate(chain))) == [0, 0, 1, 1]


def test_a_wave_whose_recording_was_cut_belongs_to_those_it_met() -> None:
    whole, other = [(90, 200), (290, 400), (490, 600)], [(90, 240), (290, 460), (490, 700)]
    cut = wave(3, 12, whole[:2], end=480)
    assert numbers(wave(0, 0, whole), wave(1, 4, whole), wave(2, 128, other), cut) == [0, 0, 1, 0]


def test_a_cut_wave_that_fits_two_workgroups_belongs_to_the_one_it_started_with() -> None:
    first, second = [(90, 200), (290, 400)], [(90, 200), (290, 440)]
    cut = wave(4, 136, first[:1], end=250)
    found = told(wave(0, 0, first), wave(1, 4, first), wave(2, 128, second), wave(3, 132, second), cut)
    assert found.number.tolist() == [0, 0, 1, 1, 1]


def test_waves_that_leave_before_the_first_barrier_belong_to_those_they_started_with() -> None:
    first, second = [(90, 200), (290, 400)], [(90, 300), (290, 560)]
    found = told(
        wave(0, 0, first), wave(1, 4, [], end=60), wave(2, 8, first),
        wave(3, 128, second), wave(4, 132, second), wave(5, 136, [], end=190),
        wave(6, 256, [], end=300), wave(7, 260, [], end=300), wave(8, 264, [], end=300),
    )  # fmt: skip
    assert found.number.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert found.known_by.tolist() == [KnownBy.STARTS] * 3
    assert found.is_guess


def test_one_barrier_that_opens_for_two_workgroups_at_once_is_seen_by_their_starts() -> None:
    """Three workgroups of two waves; the first barriers of two of them open in the same cycle."""
    met = [(90, 200)]
    late = [(90, 900)]
    found = numbers(
        wave(0, 0, met), wave(1, 4, met), wave(2, 128, met), wave(3, 132, met),
        wave(4, 256, late), wave(5, 260, late), wave(6, 384, [(90, 1200)]), wave(7, 388, [(90, 1200)]),
    )  # fmt: skip
    assert found == [0, 0, 1, 1, 2, 2, 3, 3]


def test_engines_and_compute_units_share_no_workgroup() -> None:
    met = [(90, 200), (290, 400)]
    found = numbers(
        wave(0, 0, met, place=(0, 0, 0, 0)),
        wave(1, 0, met, place=(1, 0, 0, 0)),
        wave(2, 0, met, place=(1, 1, 0, 0), cu=2),
        wave(3, 4, met, place=(1, 1, 1, 0)),
    )
    assert found == [0, 1, 2, 1]


def test_a_number_in_the_capture_wins_and_is_used_again() -> None:
    met = [(90, 200)]
    waves = [wave(0, 0, met), wave(1, 4, met), wave(2, 400, [(490, 600)]), wave(3, 404, [(490, 700)])]
    numbered = [one._replace(workgroup=number) for one, number in zip(waves, (7, 8, 7, 7), strict=True)]
    found = told(*numbered)
    assert found.number.tolist() == [0, 1, 2, 2]
    assert set(found.known_by.tolist()) == {KnownBy.CAPTURE}


def test_a_split_barrier_holds_only_those_that_came_before_the_last_signal() -> None:
    """gfx12: a wave that signals and goes on working passes its wait later, without being held."""

    def split(row: int, begin: int, signal: int, wait: int, released: int) -> TracedWave:
        rows = [(signal, 0, 4, 4), (wait, released - wait, 0, 5), (released + 40, 0, 8, 3)]
        return of_rows(rows, begin, released + 48, row=row, place=(0, 0, row, 0))

    waves = [split(0, 0, 100, 110, 300), split(1, 4, 290, 500, 501), split(2, 8, 100, 120, 300)]
    other = [split(3, 128, 100, 110, 700), split(4, 132, 690, 900, 901)]
    assert numbers(*waves, *other) == [0, 0, 0, 1, 1]
    trace = tables.trace(tables.code(TEXTS), [*waves, *other])
    skew = BARRIER_SKEW.of(trace, [tables.batch(*waves, *other)])
    assert (skew.skew.tolist(), skew.last.tolist()) == ([190, 590], [1, 4])


def test_a_message_and_the_wait_behind_it_are_one_barrier() -> None:
    """Some captures of gfx9 tell a barrier with two tokens of one line."""

    def twice(row: int, begin: int, met: Met) -> TracedWave:
        rows = [one for a, b in met for one in ((a, 0, 4, 1), (a + 4, b - a - 4, 0, 1), (b, 0, 4, 0))]
        rows.append((met[-1][1] + 4, 0, 8, 3))
        end, place = met[-1][1] + 12, (0, row % 4, row // 4, 0)
        return of_rows(rows, begin, end, (11, 9, 6), row=row, place=place)

    waves = [twice(0, 0, [(100, 208), (300, 408)]), twice(1, 4, [(200, 208), (400, 408)])]
    waves.append(twice(2, 128, [(100, 308), (400, 508)]))
    assert numbers(*waves) == [0, 0, 1]
    skew = BARRIER_SKEW.of(tables.trace(tables.code(TEXTS), waves), [tables.batch(*waves)])
    assert (skew.skew.tolist(), skew.last.tolist(), skew.stall.tolist()) == ([100, 100], [1, 1], [116, 116])


def test_barriers_of_clusters_and_with_names_do_not_count() -> None:
    texts = [*TEXTS, "s_barrier_signal -3", "s_barrier_wait -3"]
    both = [wave(0, 0, [(100, 500, 7)]), wave(1, 128, [(400, 500, 7)])]
    found = WORKGROUPS.of(tables.trace(tables.code(texts), both), [tables.batch(*both)])
    assert found.number.tolist() == [0, 1]
    assert found.is_guess


def test_without_barriers_waves_that_start_in_one_burst_are_a_workgroup() -> None:
    """The fifth workgroup starts right behind the fourth: most bursts have four waves, so that one is two."""
    starts = [128 * n + 4 * k for n in range(4) for k in range(4)] + [400 + 4 * k for k in range(4)]
    found = told(*(wave(row, begin, []) for row, begin in enumerate(starts)))
    assert found.waves.tolist() == [4] * 5
    assert found.is_guess


def test_waves_of_one_traced_simd_start_further_apart() -> None:
    """The waves between them started on the three SIMDs that are not traced."""
    starts = [begin + 16 * turn for begin in (0, 200, 420) for turn in (0, 1)]
    found = told(*(wave(row, begin, [], place=(0, 2, row, 0)) for row, begin in enumerate(starts)))
    assert found.number.tolist() == [0, 0, 1, 1, 2, 2]


def test_waves_that_were_not_read_have_no_workgroup() -> None:
    both = [wave(0, 0, [(90, 200)]), wave(1, 4, [(90, 200)])]
    found = WORKGROUPS.of(tables.trace(tables.code(TEXTS), both), [tables.batch(both[1])])
    assert found.number.tolist() == [-1, 0]
    none = WORKGROUPS.of(tables.trace(tables.code(TEXTS), both), [])
    assert (none.number.tolist(), len(none)) == ([-1, -1], 0)


# By the definition itself


# A capture whose workgroups meet at barriers, each at moments of its own
trace = traces_of(["matmul_small", "groups_512", "groups_1024", "ping_pong"])


@pytest.fixture
def batch(trace: Trace) -> WaveBatch:
    return all_waves(trace)


def releases(trace: Trace, one: TracedWave) -> list[tuple[int, int]]:
    """Arrival and release of each barrier of a wave."""
    found = []
    for token, line in enumerate(one.tokens.line.tolist()):
        if line >= 0 and trace.code.text[line].startswith("s_barrier"):
            start = int(one.tokens.start[token])
            found.append((start, start + int(one.tokens.stall[token]) + int(one.tokens.busy[token])))
    return found


def mates(trace: Trace, waves: Sequence[TracedWave]) -> dict[int, set[int]]:
    """By the definition, pair by pair: those whose barriers released within 8 cycles, always."""
    met = {one.row: releases(trace, one) for one in waves}
    found: dict[int, set[int]] = {row: {row} for row in met}
    for a in waves:
        for b in waves:
            both = list(zip(met[a.row], met[b.row], strict=False))
            if a.id.se == b.id.se and both and all(abs(x[1] - y[1]) <= 8 for x, y in both):
                found[a.row].add(b.row)
    return found


def test_groups_are_those_of_the_definition(trace: Trace, batch: WaveBatch) -> None:
    number = WORKGROUPS.of(trace, [batch]).number
    for row, others in mates(trace, batch.waves).items():
        assert set(np.flatnonzero(number == number[row]).tolist()) == others


def test_the_named_wave_is_the_one_the_definition_says_came_last(trace: Trace, batch: WaveBatch) -> None:
    """Named producers agree with co-release on at least 98 % of all cycles that waves waited at barriers."""
    of = mates(trace, batch.waves)
    met = {one.row: releases(trace, one) for one in batch.waves}
    good = whole = 0
    for waves in waves_by_engine([batch]):
        one = engine_stream(trace, waves)
        claims = stalls(one).claims()
        rows = np.flatnonzero(claims.cause == Cause.BARRIER)
        columns = (claims.token[rows], claims.producer[rows], claims.cycles[rows])
        for token, producer, cycles in in_rows(*columns):
            mine = waves[one.owner[token]].row
            arrived = int(one.start[token]) + one.base
            nth = [start for start, _ in met[mine]].index(arrived)
            latest = max(met[row][nth][0] for row in of[mine] if nth < len(met[row]))
            named = waves[one.owner[producer]].row if producer >= 0 else -1
            whole += cycles
            good += cycles * (named in of[mine] and met[named][nth][0] == latest)
    assert whole > 3_000
    assert good >= 0.98 * whole


def test_bootstrap_draws_whole_workgroups() -> None:
    truth = sample("groups_512")[1]
    trace, batch = sample_waves("groups_512")
    assert capture_costs(trace, [batch]).workgroups == len(set(true_groups(trace, truth))) == 8


def test_workgroups_without_barriers_are_of_one_size() -> None:
    """Those of a launch of four waves each; which they are is a guess."""
    trace = sample_trace("vector_add")
    found = WORKGROUPS.of(trace, [all_waves(trace)])
    assert set(found.waves.tolist()) == {4}
    assert int(found.waves.sum()) == len(trace.waves)
    assert found.is_guess
    for rows in (np.flatnonzero(found.number == n) for n in range(len(found))):
        assert len({(trace.waves.se[row], trace.waves.cu[row]) for row in rows}) == 1


# Simulated captures


def true_groups(trace: Trace, truth: object) -> list[tuple[int, int, int]]:
    found = []
    for row in range(len(trace.waves)):
        one = trace.waves.id(row)
        wave = truth.waves[one.se, one.simd, one.slot, one.wid]
        found.append((one.se, wave.kernel, wave.workgroup))
    return found


def assert_found(trace: Trace, truth: object) -> None:
    batch = all_waves(trace)
    assert all(one.workgroup < 0 for one in batch.waves), "the files must not say it"
    number = WORKGROUPS.of(trace, [batch]).number.tolist()
    true = true_groups(trace, truth)
    pairs = set(zip(number, true, strict=True))
    assert len(pairs) == len(set(number)) == len(set(true))
    # Half of the batches each: how waves are read makes no difference.
    half = len(trace.waves) // 2
    parts = [trace.reader.read(list(range(half, len(trace.waves)))), trace.reader.read(list(range(half)))]
    assert WORKGROUPS.of(trace, parts).number.tolist() == number


@pytest.mark.parametrize(
    "name", [name for names in workgroup_truth.SIZES.values() for name in names] + ["gfx11", "gfx12"]
)
def test_simulated_workgroups_are_found(name: str) -> None:
    assert_found(sample_trace(name), sample(name)[1])


@pytest.mark.parametrize("seed", range(12))
def test_workgroups_of_random_plans_are_found(seed: int, tmp_path: Path) -> None:
    """Sizes, numbers of groups and of barriers, free slots, traced SIMDs and kernels are drawn."""
    rng = random.Random(seed)
    name = rng.choice(["tiles", "ping_pong", "leaving"])
    size = rng.choice([1, 2, 3, 4, 5, 6, 8, 12, 16])
    slots = max(-(-size // 4), rng.choice([2, 4, 6]))
    rounds = tuple(rng.randint(2, 6) for _ in range(rng.randint(1, 3)))
    hardware = replace(CDNA, slots=slots, barrier_spread=rng.randint(0, 1))
    launch = SyntheticLaunch(kernel(name), rng.randint(1, 6), {"n": rounds}, waves_per_group=size)
    traced = (0, 1, 2, 3) if name == "leaving" else rng.choice([(0, 1, 2, 3), (0, 1), (2,)])
    offsets = tuple(752 * n for n in range(rng.randint(1, 2)))
    capture = build(Plan(hardware, (launch,), offsets, traced_simds=traced, seed=seed)).capture
    write_folder(capture, tmp_path)
    trace = open_trace(tmp_path)
    assert_found(trace, capture.truth)
    judged = workgroup_truth.of_capture(trace, capture.truth)
    assert judged.right >= 0.98 or judged.cycles < 1_000, judged.said


def cut(one: TracedWave, when: int) -> TracedWave:
    """A wave as a full buffer leaves it: nothing that began later is recorded."""
    n = int(np.searchsorted(one.tokens.start, when))
    columns = (getattr(one.tokens, name)[:n] for name in ("offset", "stall", "busy", "kind", "line"))
    return one._replace(tokens=Tokens(one.tokens.base, *columns), end=min(one.end, max(when, one.begin)))


@pytest.mark.parametrize("name", ["groups_512", "ping_pong", "several_groups", "mixed_populations"])
@pytest.mark.parametrize("is_ragged", [False, True])
def test_workgroups_cut_at_the_end_of_a_buffer_are_found(name: str, is_ragged: bool) -> None:
    """At one moment for all; or for each SIMD at another, where some waves are there that met nobody yet."""
    (trace, batch), (_, truth) = sample_waves(name), sample(name)
    waves = batch.waves
    first, last = min(one.begin for one in waves), max(one.end for one in waves)
    for part in (0.3, 0.6, 0.8):
        when = first + round(part * (last - first))
        kept = [cut(one, when + is_ragged * 900 * one.id.simd) for one in waves]
        kept = [one for one in kept if len(one.tokens)]
        number = WORKGROUPS.of(trace, [tables.batch(*kept)]).number
        met = {one.row for one in kept if not is_ragged or releases(trace, one)}
        pairs = {(int(number[one.row]), true_groups(trace, truth)[one.row]) for one in kept if one.row in met}
        assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


@pytest.fixture(scope="module")
def by_size(tmp_path_factory: pytest.TempPathFactory) -> dict[str, workgroup_truth.Judged]:
    return workgroup_truth.by_size(tmp_path_factory.mktemp("sizes"))


def assert_right(size: str, found: workgroup_truth.Judged) -> None:
    assert found.cycles > 100_000
    assert found.right >= 0.98, found.said
    assert found.right_instruction >= 0.98
    if "traced" not in size:
        assert found.named >= 0.98


@pytest.mark.parametrize("size", workgroup_truth.SIZES)
def test_the_wave_all_waited_for_is_named(size: str, by_size: dict[str, workgroup_truth.Judged]) -> None:
    assert_right(size, by_size[size])


def test_other_seeds_are_no_worse(tmp_path: Path) -> None:
    for size, found in workgroup_truth.by_size(tmp_path, 7).items():
        assert_right(size, found)


def test_the_page_shows_the_barriers_by_size(by_size: dict[str, workgroup_truth.Judged]) -> None:
    page = (ROOT / "docs" / "attribution.md").read_text(encoding="utf-8")
    assert markdown(workgroup_truth.table(by_size)) in page, markdown(workgroup_truth.table(by_size))
