"""The real captures: what was measured of them, and the laws that hold without exception."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest

from rcv_py.formats.open import find_captures, open_trace
from rcv_py.formats.uiout.folder import listing
from rcv_py.formats.uiout.load import open_folder
from rcv_py.formats.uiout.wstates import read_state_curves
from rcv_py.model.kinds import TokenKind, WaveState
from rcv_py.model.modes import ReferenceRule
from rcv_py.work.load import batches
from tests.support.captures import GOLDEN, SHARED, THREAD_TRACES, TRACES, golden, synthetic_path, trace_path

# waves, code rows, those without hits, occupancy pairs, tokens, latency, stall, idle: by another program.
MEASURED = {
    "flash_attn_small_before": (4, 2070, 176, 64, 26412, 208060, 107884, 12312),
    "flash_attn_small_after": (8, 2070, 176, 64, 43360, 342176, 176060, 25964),
    "fused_rope_cache": (4, 208, 2, 32, 824, 17856, 12412, 872),
    "mla_decode": (32, 4949, 4932, 256, 544, 45952, 43464, 1752),
    "moe_reduce": (4112, 432, 261, 32768, 622968, 59005036, 45693520, 722052),
    "pa_mqa_big": (32, 727, 6, 256, 165632, 1482216, 791816, 119980),
    "pa_mqa_small": (4, 727, 333, 36, 1576, 19088, 11820, 1220),
    "preshuffle_gemm": (68, 864, 1, 512, 192916, 6420596, 5309332, 92968),
    "vec_add": (632, 23, 1, 5000, 13904, 3729624, 2101364, 45744),
}


@cache
def opened(name):
    return open_trace(trace_path(name))


@cache
def columns(name):
    """All waves of a capture: the batches, and the token columns of them one after the other."""
    found = tuple(batches(opened(name), workers=0))
    return found, *(
        np.concatenate([getattr(batch, key) for batch in found]) for key in ("stall", "busy", "kind", "line")
    )


@pytest.mark.parametrize("name", MEASURED)
def test_a_capture_holds_what_was_measured(name):
    trace = opened(name)
    code = trace.code
    found = (
        len(trace.waves), len(code), int(np.count_nonzero(code.hits == 0)), len(trace.occupancy) // 2,
        int(code.hits.sum()), int(code.latency.sum()), int(code.stall.sum()), int(code.idle.sum()),
    )  # fmt: skip
    assert found == MEASURED[name]


def test_pc_samples_are_what_was_measured():
    code = opened("pcsampling").code
    assert (len(code), code.samples_issued.sum(), code.samples_stalled.sum()) == (1635, 1306, 3384)
    assert code.stall_reasons.sum(axis=0).tolist() == [0, 190, 138, 657, 252, 761, 609, 777, 0, 0]
    assert np.array_equal(code.stall_reasons.sum(axis=1), code.samples_stalled)


@pytest.mark.parametrize("name", TRACES)
def test_a_capture_opens_without_a_problem_that_is_not_there(name):
    where = {problem.where for problem in opened(name).problems}
    expected = {"pcsampling": {"snapshots.json", "filenames.json"}}
    assert where == expected.get(name, {"code.json"} if name.startswith("pa_mqa") else set())


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_every_capture_is_known_to_be_of_gfx950(name):
    trace = opened(name)
    assert (trace.target, trace.gfxip, trace.version) == ("gfx950", 9, "3.0.0")
    assert 1.5e9 < trace.clock.shader_hz < 2.3e9


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_each_wave_ran_on_unit_1_for_one_kernel_that_has_a_name(name):
    trace = opened(name)
    assert set(trace.waves.cu.tolist()) == {1}
    kernels = set(trace.waves.kernel.tolist())
    assert len(kernels) == 1
    assert trace.occupancy.names[kernels.pop()] == trace.code.kernels[0].name == trace.kernel_name


# -- the laws ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_law_1_and_2_code_totals_are_sums_over_tokens(name):
    code, (found, stall, busy, _, line) = opened(name).code, columns(name)
    for column, weights in (
        (code.hits, None),
        (code.stall, stall),
        (code.latency, stall.astype(float) + busy),
    ):
        assert np.array_equal(np.bincount(line, weights, len(code)), column)
    idle = np.concatenate([_idle(wave) for batch in found for wave in batch.waves])
    assert np.array_equal(np.bincount(line, idle, len(code)), code.idle)


def _idle(wave):
    """Cycles in front of each token in which nothing of the wave ran."""
    before = np.maximum.accumulate(np.concatenate([[wave.begin], wave.tokens.end]))[:-1]
    return np.maximum(wave.tokens.start - before, 0)


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_law_3_names_index_and_files_agree(name):
    trace, (found, *_) = opened(name), columns(name)
    waves = [wave for batch in found for wave in batch.waves]
    assert sorted(wave.row for wave in waves) == list(range(len(trace.waves)))
    assert not any(batch.missing or batch.notes for batch in found)
    for wave in waves:
        one = wave.id
        assert trace.waves.file[wave.row] == f"se{one.se}_sm{one.simd}_sl{one.slot}_wv{one.wid}.json"
        assert (wave.begin, wave.end, wave.cu) == (trace.waves.begin[wave.row], trace.waves.end[wave.row], 1)


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_law_4_and_5_timelines_and_costs_fill_the_wave(name):
    code, (found, *_) = opened(name).code, columns(name)
    life = overlap = overrun = tail = 0
    for wave in (wave for batch in found for wave in batch.waves):
        last = wave.begin + wave.states.length
        ends = np.maximum.accumulate(np.concatenate([[wave.begin], wave.tokens.end]))
        assert last == max(wave.end, int(ends[-1]))
        assert wave.states.base == wave.begin
        life += wave.end - wave.begin
        overlap += int(np.maximum(ends[:-1] - wave.tokens.start, 0).sum())
        overrun += max(0, int(ends[-1]) - wave.end)
        tail += max(0, wave.end - int(ends[-1]))
    assert code.latency.sum() + code.idle.sum() == life + overlap + overrun - tail


@pytest.mark.parametrize("name", ["flash_attn_small_after", "moe_reduce", "vec_add"])
def test_law_6_state_curves_are_the_steps_of_the_timelines(name):
    trace, (found, *_) = opened(name), columns(name)
    folder = trace_path(name)
    waves = [wave for batch in found for wave in batch.waves]
    shift = [trace.clock.offsets.get(wave.id.se, 0) for wave in waves]  # the writer's clocks are not aligned
    starts = np.concatenate([wave.states.start - by for wave, by in zip(waves, shift, strict=True)])
    ends = starts + np.concatenate([wave.states.duration for wave in waves])
    state = np.concatenate([wave.states.state for wave in waves])
    curves = read_state_curves(folder, listing(folder), [])
    assert {curve.state for curve in curves} == set(state.tolist()) <= set(map(int, WaveState))
    for curve in curves:
        mine = state == curve.state
        times = np.concatenate([starts[mine], ends[mine]])
        change = np.repeat([1, -1], np.count_nonzero(mine))
        at, place = np.unique(times, return_inverse=True)
        assert np.array_equal(at, curve.time)
        assert np.array_equal(np.cumsum(np.bincount(place, change)), curve.waves)


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_law_8_and_9_waves_are_the_occupancy_of_the_traced_unit(name):
    trace = opened(name)
    events, index = trace.occupancy, trace.waves
    mine = (events.cu == 1) & np.isin(events.se, index.se)
    starts, ends = mine & events.is_start, mine & ~events.is_start
    place = ("se", "simd", "slot")
    assert _sorted(events, starts, place, "time") == _sorted(index, slice(None), place, "begin")
    assert _sorted(events, ends, place, "time") == _sorted(index, slice(None), place, "end")
    same = (np.diff(index.se) == 0) & (np.diff(index.simd) == 0) & (np.diff(index.slot) == 0)
    assert np.all(index.wid[1:][same] == index.wid[:-1][same] + 1)
    assert np.all(index.wid[1:][~same] == 0)
    assert np.all((index.begin[1:] - index.end[:-1])[same] >= 28)


def _sorted(table, rows, place, time):
    """Rows of (place…, time), sorted: a multiset that can be compared."""
    return sorted(zip(*(getattr(table, key)[rows].tolist() for key in (*place, time)), strict=True))


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_law_10_11_and_12_tokens(name):
    trace, (found, stall, busy, kind, line) = opened(name), columns(name)
    assert np.all(line >= 0)
    assert not trace.code.is_label[line].any()
    assert np.all(busy[kind == TokenKind.IMMED] == 0)
    assert not (stall & 3).any()
    assert not (busy & 3).any()
    ends = np.array([text.startswith("s_endpgm") for text in trace.code.text])
    for wave in (wave for batch in found for wave in batch.waves):
        assert np.all(np.diff(wave.tokens.offset) > 0)
        assert np.flatnonzero(ends[wave.tokens.line]).tolist() == [len(wave.tokens) - 1]


def test_mnemonics_tell_the_kind_that_tokens_have():
    branches = {TokenKind.JUMP, TokenKind.NEXT}
    for name in THREAD_TRACES:
        _, _, _, kind, line = columns(name)
        expected = opened(name).code.kind[line]
        wrong = (kind != expected) & ~(np.isin(kind, list(branches)) & np.isin(expected, list(branches)))
        assert not wrong.any(), {opened(name).code.text[row] for row in line[wrong][:20]}


# -- clocks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOLDEN)
def test_the_reference_rule_gives_the_offsets_of_the_reference(name):
    found = open_folder(trace_path(name), rule=ReferenceRule.REFERENCE)
    expected = {int(se): cycles for se, cycles in golden(f"rcv/{name}.json")["se_time_offset"].items()}
    mine = {se: found.clock.offsets[se] for se in np.unique(found.waves.se).tolist()}
    assert {se: cycles for se, cycles in mine.items() if se in expected} == expected
    assert all(cycles == 0 for se, cycles in mine.items() if se not in expected)


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_our_offsets_bring_the_first_samples_together(name):
    clock = opened(name).clock
    firsts = {int(clock.samples[se].shader[0]) + clock.offsets[se] for se in clock.samples}
    assert len(firsts) == 1  # all engines wrote their first sample at the same tick of the constant clock


def test_a_made_up_capture_is_aligned_as_the_reference_does():
    expected = golden("synthetic/counters_gfx9.rcv.json")["se_time_offset"]
    path = synthetic_path("counters_gfx9")
    reference = open_folder(path, rule=ReferenceRule.REFERENCE).clock.offsets
    assert {str(se): cycles for se, cycles in reference.items()} == expected == {"0": 0, "1": 799}
    assert open_trace(path).clock.offsets == {0: 0, 1: 800}  # what the file was made with


def test_the_captures_of_a_folder_are_listed_with_their_facts():
    entries = {entry.path: entry for entry in find_captures(SHARED / "traces")}
    assert len(entries) == len(TRACES)
    for name, (waves, rows, unhit, _, hits, latency, *_) in MEASURED.items():
        entry = entries[trace_path(name)]
        facts = (
            entry.waves,
            entry.instructions,
            entry.instructions - entry.executed,
            entry.hits,
            entry.latency,
        )
        assert facts == (waves, rows - 1, unhit - 1, hits, latency)
        assert entry.note == ""


@pytest.mark.parametrize("name", ["moe_reduce", "mla_decode"])
def test_opening_is_quick(name):
    path = trace_path(name)
    open_trace(path)
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        open_trace(path)
        times.append(time.perf_counter() - begin)
    assert min(times) < 0.6  # 0.13 s on an idle machine, most of it for 65,536 occupancy events
