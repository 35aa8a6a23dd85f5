"""Waves grouped by the way they took: drawings, and simulated captures counted with plain json."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.health.note import HealthNote
from rcv_py.analysis.waves.populations import ALL, POPULATIONS, WORKING, Populations, wave_choice
from rcv_py.base.errors import UsageError
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.analysis import build
from tests.support.health import capture_health
from tests.support.opened import all_waves, sample_trace
from tests.support.samples import sample, sample_path

# A row is four bytes here, so a jump of n goes to the n-th row behind the next one.
KERNEL = (
    "; kernel",  # 0
    "s_load_dword s3, s[0:1], 0x58",  # 1
    "s_cmp_ge_i32 s2, s3",  # 2
    "s_cbranch_scc1 7",  # 3  to 11
    "global_load_dwordx4 v[0:3], v[4:5], off",  # 4
    "s_nop 0",  # 5
    "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]",  # 6
    "v_add_u32_e32 v1, v2, v3",  # 7
    "s_cbranch_scc0 -4",  # 8  to 5
    "global_store_dwordx4 v[4:5], v[0:3], off",  # 9
    "v_mov_b32_e32 v1, v2",  # 10
    "s_endpgm",  # 11
)
PROLOGUE, BODY, TAIL = (1, 2, 3), (4,), (9, 10, 11)
LOOP = (5, 6, 7, 8)
WORKS = (*PROLOGUE, *BODY, *LOOP, *LOOP, *TAIL)
LONGER = (*PROLOGUE, *BODY, *LOOP, *LOOP, *LOOP, *TAIL)
EXIT = (*PROLOGUE, 11)


def read(trace: Trace) -> list[WaveBatch]:
    return [all_waves(trace)] if len(trace.waves) else []


def look(*ways: tuple[int, ...], text: tuple[str, ...] = KERNEL, kernel: tuple[int, ...] = ()) -> Populations:
    """The populations of waves that executed these code rows, one token of four cycles each."""
    trace = made(*ways, text=text, kernel=kernel)
    return POPULATIONS.of(trace, read(trace))


def made(*ways: tuple[int, ...], text: tuple[str, ...] = KERNEL, kernel: tuple[int, ...] = ()) -> Trace:
    waves = []
    for row, way in enumerate(ways):
        picture = "|".join(["SSSS"] * len(way)) or "...."
        waves.append(build.wave(picture, list(way), row=row, place=(0, row % 4, row // 4, 0)))
    table = build.code(text)
    table = replace(table, address=np.arange(len(table), dtype=np.uint64) * np.uint64(4))
    trace = build.trace(table, waves)
    if kernel:
        trace = replace(trace, waves=replace(trace.waves, kernel=np.array(kernel, dtype=np.int32)))
    return trace


def told(found: Populations) -> dict[str, tuple[int, bool]]:
    """Waves of each population, and whether it works, by id."""
    return dict(zip(found.id, zip(found.waves.tolist(), found.is_working.tolist(), strict=True), strict=True))


# -- what works -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ways", "expected"),
    [
        ((WORKS, LONGER, LONGER), {"working": (3, True)}),  # iterations make no population
        ((*[EXIT] * 6, WORKS), {"working": (1, True), "early-exit": (6, False)}),
        ((PROLOGUE, PROLOGUE), {"working": (2, True)}),  # none reached the end, so none left
        (((11,), WORKS, ()), {"working": (1, True), "empty": (2, False)}),  # waves that only end
    ],
)
def test_what_works(ways: tuple[tuple[int, ...], ...], expected: dict[str, tuple[int, bool]]) -> None:
    assert told(look(*ways)) == expected


def test_a_wave_that_leaves_before_the_loop_and_the_store_left_early() -> None:
    found = look(EXIT, WORKS, EXIT)
    assert told(found) == {"working": (1, True), "early-exit": (2, False)}
    assert found.working == {1}
    assert found.label.tolist() == [1, 0, 1]
    assert found.instructions.tolist() == [15.0, 4.0]
    assert (found.ran, found.of) == (11, 11)


def test_all_left_early_if_the_program_has_work_that_none_did() -> None:
    found = look(EXIT, EXIT)
    assert told(found) == {"early-exit": (2, False)}
    assert not found.has_working
    assert found.working == frozenset()
    assert (found.ran, found.of) == (4, 11)


def test_a_wave_that_is_cut_before_the_loop_belongs_to_those_that_work() -> None:
    found = look(WORKS, PROLOGUE, (1,), (*PROLOGUE, 4, 5, 6))
    assert told(found) == {"working": (4, True)}
    assert found.cut.tolist() == [3]


def test_waves_that_are_all_empty_do_not_work() -> None:
    assert not look((), (11,)).has_working


def test_halves_that_take_turns_both_work() -> None:
    """Both halves of a workgroup go round a loop of their own."""
    text = (
        "; kernel",
        "s_cbranch_scc1 4",  # 1 to 6
        "s_barrier",  # 2
        "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]",  # 3
        "s_cbranch_scc0 -3",  # 4 to 2
        "s_branch 3",  # 5 to 9
        "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]",  # 6
        "s_barrier",  # 7
        "s_cbranch_scc0 -3",  # 8 to 6
        "s_endpgm",  # 9
    )
    found = look((1, 2, 3, 4, 2, 3, 4, 5, 9), (1, 6, 7, 8, 6, 7, 8, 9), text=text)
    assert told(found) == {"main-way": (1, True), "without-loop-2": (1, True)}
    assert found.name == ("main way", "without the loop at instruction 2")
    assert found.working == {0, 1}


def test_a_boundary_tile_works() -> None:
    text = (*KERNEL[:10], "s_cbranch_scc1 1", "v_mov_b32_e32 v1, v2", "s_endpgm")
    text = (*text[:3], "s_cbranch_scc1 8", *text[4:])  # to the end, which is a row further down
    full = (1, 2, 3, 4, *LOOP, 9, 10, 11, 12)
    edge = (1, 2, 3, 4, *LOOP, 9, 10, 12)
    found = look(full, full, edge, text=text)
    assert told(found) == {"main-way": (2, True), "without-11": (1, True)}


def test_kernels_are_told_apart() -> None:
    text = (*KERNEL, "; other", "global_store_dword v[0:1], v2, off", "s_endpgm")
    found = look(WORKS, (13, 14), EXIT, text=text, kernel=(1, 2, 1))
    expected = {"kernel1-working": (1, True), "kernel2-working": (1, True), "kernel1-early-exit": (1, False)}
    assert told(found) == expected
    assert found.name[1] == "kernel 2: working"


def test_a_wave_of_an_unknown_kernel_joins_those_of_its_blocks() -> None:
    found = look(WORKS, WORKS, EXIT, kernel=(1, -1, -1))
    assert told(found) == {"working": (2, True), "early-exit": (1, False)}


def test_a_kernel_without_memory_and_loops_is_judged_by_size() -> None:
    text = ("; kernel", "s_cbranch_scc1 20", *["v_add_u32_e32 v1, v2, v3"] * 20, "s_endpgm")
    whole = tuple(range(1, 23))
    assert told(look(whole, (1, 22), text=text)) == {"working": (1, True), "early-exit": (1, False)}
    assert told(look(whole, text=text)) == {"working": (1, True)}


def test_nothing_is_said_of_no_waves() -> None:
    found = look()
    assert (len(found), found.read, found.has_working) == (0, 0, False)


# -- choosing -------------------------------------------------------------------------------------------


def test_choices() -> None:
    found = look(EXIT, WORKS, EXIT)
    working, all_of, early = (wave_choice(found, name) for name in (WORKING, ALL, "early-exit"))
    assert (working.rows, working.text) == ({1}, "1 working wave of 3")
    assert (all_of.rows, all_of.text) == (None, "all 3 waves")
    assert (early.rows, early.text) == ({0, 2}, "2 waves of 3 (early exit)")
    assert wave_choice(found, "Early exit") == replace(early, name="Early exit")


def test_where_none_works_all_are_chosen_and_the_text_says_so() -> None:
    choice = wave_choice(look(EXIT, EXIT))
    assert choice.rows is None
    assert choice.text == "all 2 waves, none of which works: 4 of 11 instructions ran"


def test_an_unknown_population_names_those_there_are() -> None:
    with pytest.raises(UsageError) as told_of:
        wave_choice(look(EXIT, WORKS), "lazy")
    assert "lazy" in str(told_of.value)
    assert told_of.value.hint == "There are: working, all, early-exit."


# -- counted with plain json ----------------------------------------------------------------------------


@cache
def plain_ways(folder: Path) -> Counter[tuple[int, int]]:
    """(Executions, distinct instructions) of each wave: how many waves; by json and loops alone."""
    named = json.loads((folder / "filenames.json").read_text())["wave_filenames"]
    waves = [one for simds in named.values() for slots in simds.values() for one in slots.values()]
    files = [entry[0] for one in waves for entry in one.values()]
    found: Counter[tuple[int, int]] = Counter()
    for file in files:
        instructions = json.loads((folder / file).read_text())["wave"]["instructions"]
        found[len(instructions), len({one[4] for one in instructions})] += 1
    return found


@pytest.mark.parametrize("name", ["mixed_populations", "vector_add", "groups_512"])
def test_waves_of_a_population_executed_the_same_instructions(name: str) -> None:
    """And as many as the files hold: populations of these samples differ in that number."""
    trace = sample_trace(name)
    found = POPULATIONS.of(trace, read(trace))
    distinct = Counter[int]()
    for (_, instructions), waves in plain_ways(sample_path(name)).items():
        distinct[instructions] += waves
    assert dict(zip(found.reached.tolist(), found.waves.tolist(), strict=True)) == distinct
    assert found.read == distinct.total()
    assert int(found.cut.sum()) == 0


def test_health_says_which_waves_do_not_work() -> None:
    def notes(*ways: tuple[int, ...]) -> dict[str, HealthNote]:
        trace = made(*ways)
        return {note.name: note for note in capture_health(trace, read(trace))}

    some = notes(EXIT, WORKS, EXIT)["early_waves"]
    assert some.title == "2 of 3 traced waves did not do the work of the kernel"
    assert some.number("early exit") == 2
    none = notes(EXIT, EXIT)["no_working_waves"]
    assert none.number("instructions that ran") == 4
    assert none.settings == {"kernel_iteration_range": "[2]"}
    assert not {"early_waves", "no_working_waves"} & notes(WORKS, WORKS).keys()


# -- the simulator --------------------------------------------------------------------------------------


def test_waves_that_the_simulator_sends_out_at_once_left_early() -> None:
    """Waves that multiplied nothing by what the simulator knows of them left early; all others work."""
    trace, (_, truth) = sample_trace("mixed_populations"), sample("mixed_populations")
    found = POPULATIONS.of(trace, read(trace))
    texts = [text for text, label in zip(trace.code.text, trace.code.is_label, strict=True) if not label]
    left = set()
    for (se, simd, slot, wid), wave in truth.waves.items():
        if not any(texts[at].startswith("v_mfma") for at in wave.instruction.tolist()):
            left.add(trace.waves.row(WaveId(se, simd, slot, wid)))
    assert 0 < len(left) < len(trace.waves)
    assert found.working == set(range(len(trace.waves))) - left
    assert found.rows([found.id.index("early-exit")]) == left
    assert int(found.waves.sum()) == len(truth.waves)


@pytest.mark.parametrize("name", ["ping_pong", "reduction", "straggler", "groups_512"])
def test_all_waves_of_these_samples_work(name: str) -> None:
    """Halves that meet at different barriers, uneven loops, large workgroups: all of their ways work."""
    trace = sample_trace(name)
    found = POPULATIONS.of(trace, read(trace))
    assert found.working == set(range(len(trace.waves)))
    assert len(set(found.id)) == len(found)
