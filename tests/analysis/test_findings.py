"""Findings: every detector finds its pattern where it was built in, and stays silent where it was not."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.core.reduction import InMemory
from rcv_py.analysis.cost.place_text import instruction_place
from rcv_py.analysis.findings import detect
from rcv_py.analysis.findings.detect import findings, findings_from
from rcv_py.analysis.findings.finding import (
    RANKED,
    SIMD_CYCLES,
    Evidence,
    Finding,
    Findings,
    markdown,
    signed_percent,
)
from rcv_py.analysis.findings.inputs import FindingInputs, is_atomic
from rcv_py.analysis.findings.shape import ceiling
from rcv_py.analysis.waves.populations import chosen_rows, only
from rcv_py.formats.open import open_trace
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.analysis import build
from tests.support.command_runs import is_unchanged
from tests.support.fixtures import fixture_of
from tests.support.opened import all_waves, opened_once, sample_trace
from tests.support.pattern_kernels import ARITHMETIC, CALM, PATTERNS, captured, loop
from tests.support.samples import sample_path
from tests.support.simd_cycles import simds

# Also of a kernel without any pattern: where it starts, how it fills the device, and that it executes at all.
EVERYWHERE = {"wave-launch", "instruction-fetch", "low-occupancy", "ramp-up", "issue-bound", "long-prologue"}
# Made of the same waits as other findings, which their texts say.
AGAIN = {"redundant-wait", "memory-bound", "long-prologue"}


def opened(folder: Path) -> InMemory:
    trace = opened_once(folder) if is_unchanged(folder) else open_trace(folder)
    return InMemory(trace, [all_waves(trace)])


@cache
def of_sample(name: str) -> InMemory:
    """What analyses say of a sample, each asked once for all tests."""
    return opened(sample_path(name))


def named(found: Findings) -> dict[str, Finding]:
    names = [one.name for one in found.findings]
    assert len(set(names)) == len(names), "one finding a pattern"
    return {one.name: one for one in found.findings}


def of_kernel(text: str, folder: Path, **launch: object) -> dict[str, Finding]:
    trace, batch = captured(text, folder / "ui_output_agent_1_dispatch_1", **launch)  # type: ignore[arg-type]
    answers = InMemory(trace, [batch])
    found = findings_from(answers)
    assert_honest(answers, found)
    return named(found)


def test_matrix_units_that_work_for_longer_than_waves_are_there_have_no_ceiling(tmp_path: Path) -> None:
    """Their cycles are a model of the form, which may not fit."""
    trace, batch = captured(PATTERNS["matrix-ceiling"], tmp_path)
    inputs = FindingInputs(InMemory(trace, [batch]))
    use = inputs.matrix
    assert [one.share for one in ceiling(inputs)] == [1 - use.busy / use.resident]
    inputs.matrix = replace(use, busy=use.resident + 1)
    assert not list(ceiling(inputs))


def assert_honest(answers: InMemory, found: Findings) -> None:
    """What must hold for findings of any capture."""
    trace, batches = answers.trace, answers.batches
    stalled = sum(int(batch.stall.sum()) for batch in batches)
    inputs = FindingInputs(answers)
    table, ending = inputs.attribution, inputs.exposure.ending
    every = [one for one in found.findings if one.rank == RANKED]
    ranked = [one for one in every if one.unit == SIMD_CYCLES and one.is_upper_bound]
    told = sum(one.attributed for one in ranked if one.name not in AGAIN)
    assert told <= stalled + table.total_idle + ending, "no cycle is told twice"
    assert found.bubbles <= found.resident
    for one in ranked:
        assert 0 < one.cycles <= found.bubbles
        assert one.cycles <= one.exposed <= one.attributed
        assert one.share == pytest.approx(one.cycles / found.resident)
    for part in (found.in_full, found.small):
        gains = [one.gain for one in part if one.rank == RANKED]
        assert gains == sorted(gains, reverse=True), "one list, whatever a finding is about"
    small = [one.is_small for one in every]
    assert small == sorted(small), "small ones come last, so that numbers stay"
    assert found.bound_class is not None
    for one in found.findings:
        assert 0 <= one.share <= 1
        assert 0 <= one.gain <= 1
        assert one.is_small == (one.rank == RANKED and one.gain < 0.02 and not one.hot)
        assert one.sentence.endswith(".")
        assert one.remedy.endswith(".")
        assert one.evidence, one.name
        assert_there(trace, batches, one.evidence)


def assert_there(trace: Trace, batches: Sequence[WaveBatch], evidence: Iterable[Evidence]) -> None:
    waves = {wave.id: wave for batch in batches for wave in batch.waves}
    for place in evidence:
        if place.line >= 0 and int(trace.code.leaf[place.line]) >= 0:
            assert place.beside == instruction_place(trace, place.line)
        if place.kind == "instruction":
            assert trace.code.text[place.line] in place.text
        elif place.kind == "token":
            tokens = waves[place.wave].tokens
            assert int(tokens.line[place.token]) == place.line
            assert (place.begin, place.end) == (tokens.span(place.token).begin, tokens.span(place.token).end)
        elif place.kind == "wave":
            assert trace.waves.row(place.wave) is not None
        elif place.kind == "window":
            assert trace.span.begin <= place.begin < place.end <= trace.span.end
        else:
            assert place.source is not None


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_that_was_built_in_is_found(name: str, tmp_path: Path) -> None:
    found = of_kernel(PATTERNS[name], tmp_path)
    assert name in found
    if found[name].unit == SIMD_CYCLES and name not in (*EVERYWHERE, *AGAIN, "drain-at-end"):
        told = [one.name for one in found.values() if one.unit == SIMD_CYCLES and one.rank == RANKED]
        told = [one for one in told if one not in (*EVERYWHERE, *AGAIN)]
        assert told[:1] == [name] or found[name].rank != RANKED, "nothing else is more costly"


@pytest.mark.parametrize(("buffer", "is_spill"), [("s[0:3]", True), ("s[8:11]", False)])
def test_spills_are_found_where_scratch_memory_is_a_buffer(
    buffer: str, is_spill: bool, tmp_path: Path
) -> None:
    """Before gfx942 and gfx11 there are no instructions for scratch memory."""
    body = PATTERNS["scratch-spills"]
    body = body.replace("scratch_store_dword off, v2,", f"buffer_store_dword v2, off, {buffer},")
    body = body.replace("scratch_load_dword v3, off,", f"buffer_load_dword v3, off, {buffer},")
    found = of_kernel(body.replace("s32 offset", "0 offset"), tmp_path)
    assert ("scratch-spills" in found) == is_spill
    assert ("exposed-vector-load" in found) != is_spill


def test_arithmetic_alone_has_none_of_them(tmp_path: Path) -> None:
    found = of_kernel(CALM, tmp_path)
    assert {one.name for one in found.values() if not one.is_small} <= EVERYWHERE


def test_nops_are_no_arithmetic(tmp_path: Path) -> None:
    """Packed math would not leave out what fills a hazard."""
    matrix = "v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[6:7], v[16:31]\n"
    found = of_kernel(loop(matrix + "v_nop\n" * 24), tmp_path, waves=2)["issue-bound"]
    assert "waits and nops" in found.sentence
    assert "floating-point" not in found.sentence
    assert found.remedy_id == "replace-nops"
    body = f"{matrix}{ARITHMETIC}\n{ARITHMETIC}"
    found = of_kernel(loop(body), tmp_path / "more", waves=2)["issue-bound"]
    assert found.remedy_id == "less-address-arithmetic"


def test_a_full_device_is_not_called_empty(tmp_path: Path) -> None:
    assert "low-occupancy" not in of_kernel(CALM, tmp_path, waves=8, groups=8)


def test_single_cross_lane_moves_are_no_chain(tmp_path: Path) -> None:
    assert "serial-cross-lane-chain" not in of_kernel(PATTERNS["exposed-cross-lane"], tmp_path)
    assert "exposed-cross-lane" not in of_kernel(PATTERNS["serial-cross-lane-chain"], tmp_path / "other")


def test_a_wait_for_all_is_needed_if_the_newest_is_read(tmp_path: Path) -> None:
    loads = "global_load_dwordx4 v[4:7], v1, s[4:5]\nglobal_load_dwordx4 v[8:11], v1, s[6:7]"
    both = loop(f"{loads}\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v2, v4, v8")
    assert "redundant-wait" not in of_kernel(both, tmp_path)


def tile(between: str, after: str = "") -> str:
    """A loop that reads two values from LDS, uses one, and writes the next tile to the same place."""
    return loop(
        "ds_read_b128 v[4:7], v1\nds_read_b128 v[8:11], v1 offset:16\ns_waitcnt lgkmcnt(0)\n"
        f"v_add_f32_e32 v2, v4, v5\n{between}\n{ARITHMETIC}\n{after}\nds_write_b128 v1, v[20:23]\n"
        "v_add_f32_e32 v3, v8, v9"
    )


@pytest.mark.parametrize(
    ("between", "after", "is_found"),
    [
        ("", "", True),
        ("s_barrier", "", False),
        ("", "s_barrier", False),  # more than a dozen instructions below the wait
        ("s_waitcnt lgkmcnt(0)", "s_barrier", True),  # what the wait above leaves, this one waits for
        ("s_waitcnt vmcnt(0)", "s_barrier", False),
        ("v_mov_b32_e32 v40, v8", "s_barrier", False),  # read soon
    ],
)
def test_a_wait_before_a_barrier_protects_what_other_waves_overwrite(
    between: str, after: str, is_found: bool, tmp_path: Path
) -> None:
    assert ("redundant-wait" in of_kernel(tile(between, after), tmp_path)) is is_found


def test_the_remedy_of_a_cold_start_is_not_that_of_a_loop(tmp_path: Path) -> None:
    cold = of_kernel(PATTERNS["long-prologue"], tmp_path)["exposed-vector-load"]
    hot = of_kernel(PATTERNS["exposed-vector-load"], tmp_path / "other")["exposed-vector-load"]
    assert "once per wave" in cold.title
    assert "once per wave" not in hot.title
    assert cold.remedy_id == "wait-later", "the loop behind the wait reads nothing of what it waits for"
    assert hot.remedy_id == "prefetch-registers"
    assert "leaves those loads outstanding" in hot.remedy


def test_the_distance_is_told_beside_the_latency(tmp_path: Path) -> None:
    sentence = of_kernel(PATTERNS["exposed-vector-load"], tmp_path)["exposed-vector-load"].sentence
    assert "is issued 0 cycles before its wait" in sentence or "is issued 4 cycles before" in sentence
    assert "and takes" in sentence


def test_what_other_waves_cover_is_not_at_stake(tmp_path: Path) -> None:
    alone = of_kernel(PATTERNS["exposed-lds"], tmp_path)["exposed-lds"]
    crowd = of_kernel(PATTERNS["exposed-lds"], tmp_path / "other", waves=8, groups=8)["exposed-lds"]
    assert crowd.exposed / crowd.attributed < alone.exposed / alone.attributed


def test_uneven_waves_and_the_tail_they_leave(tmp_path: Path) -> None:
    body = PATTERNS["exposed-lds"]
    found = of_kernel(body, tmp_path, rounds=(10, 10, 10, 90), groups=4, waves=4)
    assert "uneven-waves" in found
    assert "grid-tail" in found
    even = of_kernel(body, tmp_path / "other", rounds=(30,), groups=4, waves=4)
    assert not {"uneven-waves", "grid-tail"} & set(even)


def test_barriers_name_the_last_wave() -> None:
    answers = of_sample("reduction")
    found = findings_from(answers)
    assert_honest(answers, found)
    barrier = named(found)["barrier-skew"]
    assert any(place.kind == "wave" and "last" in place.text for place in barrier.evidence)
    assert any(place.kind == "window" for place in barrier.evidence)


def test_costs_on_a_decorator_are_called_a_collapse() -> None:
    texts = ["v_mov_b32 v0, 0", "v_mov_b32 v1, 0", "v_mov_b32 v2, 0"]
    wave = build.wave("vvvvvvvV|V|V", [0, 1, 2])
    code = build.code(texts, latency=[90, 5, 5], hits=[1, 1, 1], chains=[[(0, 1)], [(0, 3)], [(0, 4)]])
    trace = build.trace(code, [wave])
    lines = ("@kernel", "def work():", "    load()", "    store()")
    for text, is_collapsed in ((lines, True), (("total += load()", *lines[1:]), False)):
        made = replace(trace, sources=(SourceFile("k.py", text),))
        assert ("source-collapse" in named(findings(made, [build.batch(wave)]))) is is_collapsed


@pytest.mark.parametrize("name", ["matmul_tiled", "vector_add", "gfx11", "gfx12", "kernels"])
def test_findings_of_samples_are_honest(name: str) -> None:
    answers = of_sample(name)
    found = findings_from(answers)
    assert found.findings
    assert_honest(answers, found)


def stalls_of(code: CodeTable, *fragments: str) -> int:
    """Stalled cycles of all lines with these fragments by the program's own totals."""
    rows = [row for row, text in enumerate(code.text) if all(part in text for part in fragments)]
    return int(code.stall[rows].sum())


def test_waits_for_copies_to_lds_and_for_loads_are_apart(tmp_path: Path) -> None:
    copies = "buffer_load_dword v1, s[4:7], 0 offen lds\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v3, v1, v2"
    before = "global_load_dword v4, v1, s[4:5]\ns_waitcnt vmcnt(0)"
    trace, batch = captured(loop(copies, before), tmp_path / "ui_output_agent_1_dispatch_1")
    found = named(findings(trace, [batch]))
    dma, load = found["exposed-lds-dma"], found["exposed-vector-load"]
    # Waits for vector memory, but for the four cycles each takes anyway, are these two.
    total = stalls_of(trace.code, "s_waitcnt", "vmcnt")
    assert 0.95 * total <= dma.attributed + load.attributed <= total
    assert dma.attributed > 3 * load.attributed
    waited = [one.line for one in dma.evidence if one.kind == "instruction" and "waited for" in one.text]
    assert waited
    assert all(trace.code.text[line].endswith(" lds") for line in waited)


def test_waits_of_the_lgkm_counter_are_split_by_what_they_wait_for() -> None:
    answers = of_sample("reduction")
    found, code = named(findings_from(answers)), answers.trace.code
    names = ("serial-cross-lane-chain", "exposed-scalar-load", "exposed-lds")
    assert all(found[name].attributed for name in names)
    total = stalls_of(code, "s_waitcnt", "lgkmcnt")
    assert 0.9 * total <= sum(found[name].attributed for name in names) <= total


def test_no_operation_is_charged_what_it_takes() -> None:
    answers = of_sample("matmul_small")
    nops = stalls_of(answers.trace.code, "s_nop")
    assert 0.9 * nops <= named(findings_from(answers))["hazard-nops"].attributed <= nops


@pytest.mark.parametrize("name", ["matmul_small", "kernels", "reduction", "gfx12"])
def test_no_issue_cycles_are_those_without_a_token_and_those_under_s_endpgm(name: str) -> None:
    answers = of_sample(name)
    found, whole = findings_from(answers), FindingInputs(answers, waves="all").exposure
    bubbles = 0
    for simd in simds(answers.trace, answers.batches):
        cells = simd.cells()
        for wave in simd.waves:
            cells.add(wave.tokens.start + wave.tokens.stall, wave.tokens.end)
        bubbles += int(np.count_nonzero(simd.resident & ~cells.covered))
    assert found.resident == whole.resident
    assert 0 < whole.no_issue - bubbles <= whole.ending
    assert found.bubbles == whole.nothing <= whole.no_issue
    assert whole.lives == sum(wave.end - wave.begin for batch in answers.batches for wave in batch.waves)


@pytest.mark.parametrize("name", ["matmul_small", "groups_512", "tutorial_before"])
def test_the_matrix_unit_is_busy_as_long_as_its_passes(name: str) -> None:
    """All instructions of these captures fit one after the other: the union is as long as the sum."""
    answers = of_sample(name)
    code, whole = answers.trace.code, FindingInputs(answers, waves="all").exposure
    work = [row for row, text in enumerate(code.text) if text.startswith("v_mfma_f32_32x32x8_f16")]
    assert whole.matrix == 32 * int(code.hits[work].sum()) > 0
    ceiling = named(findings_from(answers))["matrix-ceiling"]
    assert 1 - ceiling.share == pytest.approx(whole.matrix / whole.resident)


def test_the_ceiling_weighs_matrix_work_against_cycles_in_which_nothing_happens(tmp_path: Path) -> None:
    whole = FindingInputs(of_sample("matmul_small")).exposure
    assert whole.matrix < whole.nothing
    small = named(findings_from(of_sample("matmul_small")))
    assert small["matrix-ceiling"].remedy.startswith("Work on the findings above first")
    busy = of_kernel(loop("v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[6:7], v[16:31]\n" * 4), tmp_path)
    assert busy["matrix-ceiling"].remedy.startswith("Lower precision or fewer operations can save more")


sampled = fixture_of(sample_trace, "pc_sampling")  # A capture of PC samples


def test_samples_are_told_by_reason(sampled: Trace) -> None:
    found = findings(sampled, [])
    samples = sampled.code.stall_reasons.sum(axis=0)
    assert [one.cycles for one in found.findings] == sorted(samples[samples > 0].tolist(), reverse=True)
    assert all(one.unit == "PC samples" and "samples" in one.cycles_at_stake_text for one in found.findings)


def test_a_capture_without_waves_says_why() -> None:
    found = findings_from(of_sample("placeholder"))
    assert not found.findings
    assert "Nothing ran on the traced compute unit" in found.headline


def test_waves_that_are_not_there_yet_make_it_partial() -> None:
    trace = sample_trace("matmul_tiled")
    assert findings(trace, []).headline == detect.UNREAD
    some = InMemory(trace, [trace.reader.read([0, 1, 2])])
    found = findings_from(some)
    assert found.partial == "3 of 64 waves"
    assert_honest(some, found)


def test_of_a_large_capture_whole_engines_are_chosen() -> None:
    trace = sample_trace("matmul_tiled")
    index = trace.waves
    assert chosen_rows(index) == list(range(len(index)))
    half = chosen_rows(index, int(index.size.sum()) // 2 + 1)
    engines = set(index.se[half].tolist())
    assert 0 < len(engines) < 4
    assert half == np.flatnonzero(np.isin(index.se, list(engines))).tolist()
    assert len(set(index.se[chosen_rows(index, 1)].tolist())) == 1
    whole = trace.reader.read(list(range(len(index))))
    kept = only([whole], frozenset(half))
    assert sorted(wave.row for batch in kept for wave in batch.waves) == half
    assert findings(trace, kept).findings == findings(trace, [trace.reader.read(half)]).findings


def test_of_an_engine_that_is_too_large_stretches_are_chosen() -> None:
    index = sample_trace("vector_add").waves
    one = index.at(index.se == index.se[0])
    begin = np.arange(len(one)) // 4 * 10_000  # four waves at a time, a gap, and the next four
    one = replace(one, begin=begin, end=begin + 4_500, size=np.ones(len(one), np.int64))
    some = np.array(chosen_rows(one, len(one) // 3))
    together, waves = np.unique(some // 4, return_counts=True)
    assert (waves == 4).all()
    assert len(one) / 4 <= len(some) <= len(one) / 2
    assert together.min() <= 4
    assert together.max() >= len(one) // 4 - 5


def test_names_of_instructions() -> None:
    assert is_atomic("global_atomic_add_f32 v0, v1, s[2:3]")
    assert not is_atomic("global_load_dword v0, v1, s[2:3]")


def test_a_finding_as_text() -> None:
    wave = WaveId(0, 1, 2, 3)
    place = Evidence("token", "stalls 8 cycles", line=3, wave=wave, token=9, begin=1000, end=1012)
    assert str(place) == "se0/simd1/slot2/wv3 instruction 3 at 1,000 to 1,012: stalls 8 cycles"
    one = Finding("x", "A_b", 1200, True, 0.123, "It *costs*.", "Do less.", (place,), gain=0.1)
    assert one.cycles_at_stake_text == "at most 1,200 cycles (12.3 %)"
    found = Findings((), (one,), waves=1, of=1, resident=9000, bubbles=2000, assumption="Bounds.")
    page = markdown("capture", found)
    assert "## 1. A\\_b" in page
    assert "It \\*costs\\*." in page
    what = {"kind": "token", "text": "stalls 8 cycles", "instruction": 3}
    where = {"wave": "se0/simd1/slot2/wv3", "token": 9, "start": 1000, "end": 1012}
    assert [place.as_json() for place in one.evidence] == [what | where]


def test_a_predicted_loss_that_is_hardly_one_has_no_sign() -> None:
    shares = (0.034, 0.0004, 0.0, -0.0004, -0.0005, -0.12)
    told = ["3.4 %", "<0.1 %", "0.0 %", "0.0 %", "−0.1 %", "−12.0 %"]
    assert [signed_percent(share) for share in shares] == told


def test_recorded_addresses_make_conflicts_and_scattered_lanes_certain() -> None:
    """Three waves with 64 lanes and one with 48: their stores touch a line a lane, where two would do."""
    found = named(findings_from(of_sample("addresses")))
    apart, conflicts = found["lanes-apart"], found["lds-bank-conflicts"]
    assert "touches 60.0, where 2.0 are needed, and uses 4.0 of 128 bytes of each" in apart.sentence
    assert "takes 60.0 passes of LDS, where 2.0 are needed" in conflicts.sentence
    code = of_sample("addresses").trace.code
    assert [code.text[one.line].split()[0] for one in apart.evidence] == ["global_store_dword"]
    assert [code.text[one.line].split()[0] for one in conflicts.evidence] == ["ds_read_b32"]
    assert "stride 1,024 bytes" in apart.evidence[0].text
    for finding in (apart, conflicts):
        assert finding.rank != RANKED
        assert finding.assumption.startswith("Certain for 16 executions")
    assert found["addresses-recorded"].rank == "caution"
    assert "may have" not in conflicts.title


def test_without_addresses_nothing_is_said_about_them() -> None:
    found = named(findings_from(of_sample("matmul_small")))
    assert not {"lanes-apart", "addresses-recorded"} & found.keys()
