"""What is measured of simulated captures, against loops over what a plain reader finds in their files."""

import json
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from rcv_py.analysis.core.cost_columns import cost_columns, mean, wave_lines
from rcv_py.analysis.core.occupancy import global_rows, residencies, resident
from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.device.utilization import utilization
from rcv_py.analysis.program.branches import branches
from rcv_py.analysis.waits.program_waits import Arrows, arrows, wait_pairs
from rcv_py.model.ids import WaveId
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import LatencyMode
from rcv_py.model.waves import TracedWave
from tests.analysis import build
from tests.analysis.in_memory import all_lines, jumps
from tests.support.columns import in_rows
from tests.support.opened import VARIED
from tests.support.read_twice import Case, opened, opened_plainly, reading_differences
from tests.support.reference_rules import reference_curves
from tests.support.samples import sample, sample_path
from tests.support.simd_cycles import passes_of, worked

Pair = tuple[int, int]


@pytest.fixture
def plain(case: Case) -> Case:
    """The same capture, read plainly."""
    return Case(*opened_plainly(case.trace.path))


def longest(case: Case) -> TracedWave:
    """The wave with most instructions, the first of equal ones."""
    return max(case.waves, key=lambda wave: len(wave.tokens))


def executed(wave: TracedWave) -> list[tuple[int, int, int, int, int]]:
    """(line, kind, start, stall, duration) of every instruction."""
    one = wave.tokens
    return in_rows(one.line, one.kind, one.start, one.stall, one.duration)


def occurred(case: Case) -> list[tuple[int, bool, tuple[int, ...], int]]:
    """(time, is a start, place, kernel) of every start and end, ends first."""
    one = case.trace.occupancy
    places = zip(*(getattr(one, name).tolist() for name in ("se", "sa", "cu", "simd", "slot")), strict=True)
    rows = zip(one.time.tolist(), one.is_start.tolist(), places, one.kernel.tolist(), strict=True)
    return sorted(rows, key=lambda row: row[:2])


def test_both_readers_find_the_same_in_the_files(case: Case) -> None:
    """So what is measured of one reading holds for the other: no other test is run for each of them."""
    assert not reading_differences(case.trace.path)


# -- costs ------------------------------------------------------------------------------------------


def test_totals_of_the_code_are_the_sums_over_all_waves(case: Case, plain: Case) -> None:
    code, sums = case.trace.code, all_lines(case.batches, len(case.trace.code))
    expected = build.counted(plain.trace.code, plain.batches)
    assert expected.latency.any()
    assert expected.idle.any()
    for name in ("hits", "latency", "stall", "idle"):
        assert getattr(code, name).tolist() == getattr(sums, name).tolist(), name
        assert getattr(sums, name).tolist() == getattr(expected, name).tolist(), name


def test_lines_of_a_wave(case: Case, plain: Case) -> None:
    code, main = case.trace.code, longest(case)
    stats, first = wave_lines(main, len(code)), cost_columns(code, LatencyMode.ITERATION, main, 0)
    times, gaps = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    latest = main.begin
    for line, _, start, _, duration in executed(plain.waves[main.row]):
        times[line].append(duration)
        gaps[line].append(max(0, start - latest))
        latest = max(latest, start + duration)
    assert times
    for line in range(len(code)):
        took, idle = times[line], gaps[line]
        found = [column[line] for column in (stats.hits, stats.latency, stats.longest, stats.idle)]
        assert found == [len(took), sum(took), max(took, default=0), sum(idle)]
        half_up = int(sum(took) / len(took) + 0.5) if took else 0
        assert mean(stats.latency, stats.hits)[line] == half_up
        assert first.latency[line] == (took[0] if took else 0)


def test_cycles_of_a_kind_and_stalls_of_every_wave(case: Case) -> None:
    """By the numbers of the files; matrix instructions are written as vector ones on gfx9."""
    texts = case.trace.code.text
    row_of = case.trace.code.row_of_number
    for wave in case.waves:
        file = case.trace.path / case.trace.waves.file[wave.row]
        cycles, stall = Counter[int](), 0
        for _, kind, waited, duration, number in json.loads(file.read_text())["wave"]["instructions"]:
            text = texts[row_of[number]]
            cycles[13 if kind == 6 and text.startswith(("v_mfma", "v_wmma")) else kind] += duration
            stall += waited
        found = np.bincount(wave.tokens.kind, wave.tokens.duration).astype(int)
        assert {kind: n for kind, n in enumerate(found.tolist()) if n} == +cycles
        assert int(wave.tokens.stall.sum()) == stall


# -- waits and branches -----------------------------------------------------------------------------


def written(case: Case, wave: TracedWave) -> list[tuple[int, list[int]]]:
    """The executed waits in the file of a wave, by line numbers."""
    file = case.trace.path / case.trace.waves.file[wave.row]
    waits = json.loads(file.read_text())["wave"]["waitcnt"] or []
    return [(wait, [line for line, _ in released]) for wait, released in waits]


def test_waits_and_their_pairs_are_those_of_the_files(case: Case) -> None:
    number, seen = case.trace.code.number, 0
    for wave in case.waves:
        expected = written(case, wave)
        found = [
            (int(number[wave.waits.line[row]]), number[wave.waits.producers(row)].tolist())
            for row in range(len(wave.waits))
        ]
        assert found == expected
        pairs = {(wait, line) for wait, lines in expected for line in lines if line != wait}
        wait, producer = wait_pairs(wave.waits)
        rows = in_rows(number[wait], number[producer])
        assert list(rows) == sorted(pairs)
        seen += len(pairs)
    assert seen


@pytest.mark.parametrize("name", VARIED)
def test_waits_are_those_of_the_simulation(name: str) -> None:
    path, truth = sample(name)
    case = Case(*opened(path))
    for key, known in truth.waves.items():
        wave = case.waves[case.trace.waves.row(WaveId(*key))]
        line = wave.tokens.line
        waits = wave.waits
        found = [(int(waits.line[row]), waits.producers(row).tolist()) for row in range(len(waits))]
        assert found == [(int(line[wait]), line[list(those)].tolist()) for wait, those in known.releases]


def placed(pairs: list[Pair]) -> dict[Pair, tuple[int, bool]]:
    """Slot and interior flag of each arrow (wait, producer), row after row of the code.

    An arrow that reaches no further than the waits beside its own is interior: these count outward.  The
    others follow, the shortest first, each at the first place from 1 that is free in all rows it spans.  The
    place outside the interior arrows of a wait is kept free along the longest of them.
    """
    waits = sorted({wait for wait, _ in pairs})
    around = zip([-1, *waits], waits, [*waits[1:], 1 << 40], strict=False)
    beside = {wait: (before, after) for before, wait, after in around}
    taken: dict[int, set[int]] = defaultdict(set)
    found: dict[Pair, tuple[int, bool]] = {}
    near = [pair for pair in pairs if beside[pair[0]][0] <= pair[1] <= beside[pair[0]][1]]
    for wait in waits:
        for sign in (-1, 1):
            own = sorted(
                (one for one in near if one[0] == wait and (one[1] - wait) * sign > 0),
                key=lambda one: abs(one[1] - wait),
            )
            for slot, pair in enumerate(own):
                found[pair] = slot, True
                held = {slot, slot + 1} if pair == own[-1] else {slot}
                for row in range(min(pair), max(pair) + 1):
                    taken[row] |= held
    far = [pair for pair in pairs if pair not in found]
    for pair in sorted(far, key=lambda pair: abs(pair[0] - pair[1])):
        rows = range(min(pair), max(pair) + 1)
        slot = 1
        while any(slot in taken[row] for row in rows):
            slot += 1
        found[pair] = slot, False
        for row in rows:
            taken[row].add(slot)
    return found


def arrows_of(table: Arrows) -> dict[Pair, tuple[int, bool]]:
    pairs = in_rows(table.wait, table.producer)
    return dict(zip(pairs, in_rows(table.slot, table.is_interior), strict=True))


def test_arrows_lie_where_there_is_room(case: Case) -> None:
    wave = longest(case)
    wait, producer = wait_pairs(wave.waits)
    pairs = in_rows(wait, producer)
    assert arrows_of(arrows(wait, producer)) == placed(pairs)
    assert pairs


def test_branches_went_to_the_line_of_the_next_instruction(case: Case, plain: Case) -> None:
    main = longest(case)
    rows = executed(plain.waves[main.row])
    jumped = Counter((one[0], next_one[0]) for one, next_one in pairwise(rows) if one[1] == TokenKind.JUMP)
    found = branches([main], case.trace.code)
    pairs = in_rows(found.source, found.target)
    assert dict(zip(pairs, found.taken.tolist(), strict=True)) == dict(jumped)
    of_all = sum(one[1] == TokenKind.JUMP for wave in plain.waves for one in executed(wave))
    assert int(jumps(case.batches, case.trace.code).taken.sum()) == of_all


# -- the device -------------------------------------------------------------------------------------


def points(curve: StepCurve) -> list[Pair]:
    return in_rows(curve.time, curve.value)


@pytest.mark.parametrize("by", ["se", "kernel"])
def test_curves_of_occupancy_and_of_dispatches(case: Case, plain: Case, by: str) -> None:
    events = occurred(plain)
    expected: dict[int, list[Pair]] = {}
    for time, is_start, place, kernel in events:
        curve = expected.setdefault(place[0] if by == "se" else kernel, [(time - 1, 0)])
        curve.append((time, curve[-1][1] + (1 if is_start else -1)))
    theirs, lives = reference_curves(case.trace.occupancy, by), residencies(case.trace.occupancy)
    ours = resident(lives, getattr(lives, by))
    assert theirs.keys() == ours.keys() == expected.keys() != set()
    for name, curve in expected.items():
        drawn = curve if by == "se" else curve[1:]
        assert points(theirs[name]) == drawn
        assert points(ours[name]) == list(dict(curve[1:]).items()), "the last value of each moment"
        area = sum(waves * (after - time) for (time, waves), (after, _) in pairwise(drawn))
        assert theirs[name].area == ours[name].area == area


def test_lives_in_the_rows_of_all_slots(case: Case, plain: Case) -> None:
    expected: dict[tuple[int, ...], list[list[int]]] = {}
    for time, is_start, place, kernel in occurred(plain):
        if is_start:
            expected.setdefault(place, []).append([time, -1, kernel])
        else:
            expected[place][-1][1] = time
    found = residencies(case.trace.occupancy)
    slots, row = global_rows(found)
    assert [(slot.se, slot.sa, slot.cu, slot.simd, slot.slot) for slot in slots] == sorted(expected)
    for number, place in enumerate(sorted(expected)):
        own = np.flatnonzero(row == number)
        columns = (found.begin, found.end, found.kernel)
        assert np.stack([column[own] for column in columns], axis=1).tolist() == expected[place]


TRACKS_OF = {  # of a kind: the track before gfx10, and later; those without a number are of all SIMDs
    TokenKind.VALU: ("VALU{}", "VALU{}"),
    TokenKind.MATRIX: ("VALU{}", "WMMA{}"),
    TokenKind.VMEM: ("VMEM{}", "VMEM{}"),
    TokenKind.FLAT: ("VMEM{}", "VMEM{}"),
    TokenKind.LDS: ("VMEM{}", "LDS{}"),
    TokenKind.JUMP: ("SCAL{}", "JUMP"),
    TokenKind.NEXT: ("SCAL{}", "JUMP"),
    TokenKind.IMMED: ("IMMED", "IMMED"),
    TokenKind.MSG: ("MSG", "MSG"),
}


def test_tracks_of_the_units(case: Case, plain: Case) -> None:
    main = longest(case)
    later = case.trace.gfxip > 9
    base = 1 if later else 4
    expected: dict[str, list[Pair]] = defaultdict(list)
    issued: dict[str, list[Pair]] = defaultdict(list)
    for wave in plain.waves:
        if (wave.id.se, wave.cu) == (main.id.se, main.cu):
            for line, kind, start, stall, duration in executed(wave):
                if kind == TokenKind.MATRIX:
                    cycles = passes_of(case.trace.code.text[line], case.trace.gfxip)
                    issued[f"MATRIX{wave.id.simd}"].append((start + stall, cycles))
                name = TRACKS_OF.get(TokenKind(kind), ("SCAL{}", "SCAL{}"))[later].format(wave.id.simd)
                hidden = min(stall, max(0, duration - base))
                if name in ("IMMED", "MSG"):
                    hidden = max(0, duration - base)
                expected[name].append((start + hidden, start + duration))
    expected |= {name: worked(spans) for name, spans in issued.items()}
    own = [wave for wave in case.waves if (wave.id.se, wave.cu) == (main.id.se, main.cu)]
    tracks = utilization(own, case.trace)
    found = {track.name: sorted(in_rows(track.start, track.end)) for track in tracks}
    assert found == {name: sorted(spans) for name, spans in expected.items()}
    assert all(np.all(np.diff(track.start) >= 0) for track in tracks)


# -- more samples -----------------------------------------------------------------------------------


def test_the_sibling_s_records_are_on_a_track_of_their_simd() -> None:
    case = Case(*opened(sample_path("other_simd")))
    for other in case.trace.other_simd:
        waves = [wave for wave in case.waves if wave.id.se == other.se]
        (track,) = (one for one in utilization(waves, case.trace) if one.name == f"VMEM{other.simd}")
        rows: list[Any] = in_rows(track.start, track.end)
        records = in_rows(other.time, other.time + other.duration)
        assert sorted(rows) == sorted(records)
    assert case.trace.other_simd
