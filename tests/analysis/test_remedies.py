"""No remedy is named that the program or the launch does not allow."""

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.core.reduction import InMemory
from rcv_py.analysis.findings.detect import of_inputs
from rcv_py.analysis.findings.finding import Finding
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.findings.remedies import remedies, remedy_fields
from rcv_py.analysis.findings.situation import PRECONDITIONS, FindingContext
from rcv_py.analysis.latency.access_widths import is_scalar
from rcv_py.analysis.program.language import language
from rcv_py.base.tables import table
from rcv_py.formats.uiout.run_files import run_facts
from rcv_py.model.code import SourceFile
from rcv_py.model.trace import Trace
from tests.analysis import build
from tests.support.fixtures import fixture_of_each
from tests.support.opened import VARIED, all_waves, sample_trace, sample_waves
from tests.support.pattern_kernels import ARITHMETIC, PATTERNS, captured, loop


def of_text(text: str, folder: Path) -> FindingInputs:
    trace, batch = captured(text, folder / "ui_output_agent_1_dispatch_1")
    return FindingInputs(InMemory(trace, [batch]))


def named(inputs: FindingInputs) -> dict[str, Finding]:
    return {one.name: one for one in of_inputs(inputs).findings}


def of_trace(trace: Trace) -> FindingInputs:
    batch = all_waves(trace)
    facts = run_facts(trace.path, trace.kernel_name, trace.target)
    return FindingInputs(InMemory(trace, [batch]), facts=facts, waves="all")  # also where none works


inputs = fixture_of_each(lambda name: of_trace(sample_trace(name)), VARIED)


def test_the_table_is_whole() -> None:
    needs = {need for found in remedies().values() for remedy in found for need in remedy.needs}
    assert needs == set(PRECONDITIONS), "each precondition is used, and each need is known"
    for name, found in remedies().items():
        ids = [remedy.id for remedy in found]
        assert len(set(ids)) == len(ids), name
        assert all(remedy.effort in ("low", "medium", "high") for remedy in found)


def test_no_partial_count_behind_scalar_loads(inputs: FindingInputs) -> None:
    """Scalar loads overtake each other: 0 is the only count that says anything."""
    for one in of_inputs(inputs).findings:
        if one.remedy_id in ("partial-count", "prefetch-registers", "read-ahead", "second-lds-buffer"):
            waits = [at for at in one.evidence if at.kind == "instruction" and "s_wait" in at.text]
            blamed = [place for place in one.evidence if "waited for" in place.text]
            assert waits
            assert not any(is_scalar(place.text) for place in blamed)
        if one.name == "redundant-wait":
            text = " ".join(place.text for place in one.evidence)
            assert "s_load" not in text
            assert "lgkmcnt(0)" not in text or "ds_read" in text


def test_a_wait_behind_scalar_loads_is_not_over_conservative(tmp_path: Path) -> None:
    body = (
        "{one} s[20:21], s[0:1], 0x10\n{one} s[22:23], s[0:1], 0x20\ns_waitcnt lgkmcnt(0)\n"
        "s_add_u32 s9, s20, s21\n" + "v_add_u32_e32 v40, v60, v80\n" * 12 + "s_add_u32 s10, s22, s23"
    )
    assert "redundant-wait" not in named(of_text(loop(body.format(one="s_load_dwordx2")), tmp_path))
    assert "redundant-wait" in named(of_text(PATTERNS["redundant-wait"], tmp_path / "loads"))


def test_dpp_is_for_chains_through_lds(tmp_path: Path) -> None:
    found = named(of_text(PATTERNS["serial-cross-lane-chain"], tmp_path))["serial-cross-lane-chain"]
    assert found.remedy_id == "dpp"
    plain = of_text(loop(READ), tmp_path / "b")
    rows = plain.rows_of(Cause.WAIT_LDS)
    assert not PRECONDITIONS["through-lds"].holds(FindingContext(plain, plain.claimed(rows)))


def test_widths_decide_about_wider(tmp_path: Path) -> None:
    def queue(load: str, registers: str, folder: str) -> Finding:
        lines = "\n".join(f"{load} {registers.format(4 * i, 4 * i + 3)}, v1, s[4:5]" for i in range(1, 15))
        return named(of_text(loop(lines), tmp_path / folder))["memory-back-pressure"]

    narrow, wide = queue("global_load_ushort", "v{}", "a"), queue("global_load_dwordx4", "v[{}:{}]", "b")
    assert narrow.remedy_id == "widen"
    assert "2 bytes per lane" in narrow.sentence
    assert "2 bytes per lane" in narrow.remedy
    assert wide.remedy_id in ("spread", "fewer-bytes")
    assert "16 bytes per lane" in wide.sentence
    assert "if each" not in wide.remedy.lower()


def test_loads_that_can_be_issued_earlier(tmp_path: Path) -> None:
    arithmetic = "\n".join(f"v_add_u32_e32 v{40 + i}, v{60 + i}, v{80 + i}" for i in range(8))
    load = "global_load_dwordx4 v[4:7], v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v2, v4, v5"
    free = named(of_text(loop(f"{arithmetic}\n{load}"), tmp_path / "a"))["exposed-vector-load"]
    assert free.remedy_id == "hoist"
    assert "8 instructions before" in free.remedy
    bound = loop(f"{arithmetic}\nv_add_u32_e32 v1, v1, v40\n{load}")
    assert named(of_text(bound, tmp_path / "b"))["exposed-vector-load"].remedy_id != "hoist"


READ = "ds_read_b128 v[4:7], v1\ns_waitcnt lgkmcnt(0)\nv_add_f32_e32 v2, v4, v5"
LOAD = "global_load_dwordx4 v[4:7], v1, s[4:5]\n"
USE = "s_waitcnt vmcnt(0)\nv_add_f32_e32 v2, v4, v5\n"


@pytest.mark.parametrize(
    ("body", "producer", "rows"),
    [
        (f"{ARITHMETIC}\n{LOAD}{USE}", LOAD, 12),
        (f"{ARITHMETIC}\ns_mov_b64 exec, s[10:11]\n{LOAD}{USE}", LOAD, 0),  # other lanes would load
        (
            f"global_load_dword v9, v1, s[4:5]\n{ARITHMETIC}\nglobal_store_dword v1, v8, s[4:5]",
            "global_store",
            12,
        ),
        (f"ds_read_b32 v9, v1\n{ARITHMETIC}\nds_write_b32 v1, v8\ns_waitcnt lgkmcnt(0)", "ds_write", 12),
    ],
)
def test_what_moves_up_does_the_same_there(body: str, producer: str, rows: int, tmp_path: Path) -> None:
    inputs = of_text(loop(body), tmp_path)
    row = next(i for i, text in enumerate(inputs.trace.code.text) if text.startswith(producer.strip()))
    assert FindingContext(inputs, inputs.claimed(inputs.rows_of()), (row,)).room_before == rows


@pytest.mark.parametrize(
    ("between", "rows"),
    [
        ("", 12),
        ("global_store_dword v1, v3, s[6:7]", 0),  # it may say to other waves that the data was read
        ("s_barrier", 0),
        ("buffer_wbl2 sc1", 0),
    ],
)
def test_a_wait_moves_down_only_where_it_protects_nothing(between: str, rows: int, tmp_path: Path) -> None:
    text = f"{LOAD}s_waitcnt vmcnt(0)\n{between}\n{ARITHMETIC}\nv_mov_b32_e32 v2, v4"
    inputs = of_text(loop(text), tmp_path)
    claimed = inputs.claimed(inputs.rows_of(Cause.WAIT_LOAD))
    assert FindingContext(inputs, claimed).room_after == rows


def test_reads_ahead_do_not_pass_a_barrier(tmp_path: Path) -> None:
    meets = f"{READ}\ns_barrier\nds_write_b128 v1, v[20:23]\ns_waitcnt lgkmcnt(0)\ns_barrier"
    for text, is_free in ((READ, True), (meets, False)):
        inputs = of_text(loop(text), tmp_path / str(is_free))
        read = next(row for row, one in enumerate(inputs.trace.code.text) if one.startswith("ds_read"))
        case = FindingContext(inputs, inputs.claimed(inputs.rows_of(Cause.WAIT_LDS)), (read,))
        assert (remedy_fields("exposed-lds", case)["remedy_id"] == "read-ahead") is is_free


def test_registers_have_to_be_free_for_a_second_set(tmp_path: Path) -> None:
    load = "global_load_dwordx4 v[{}:{}], v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v2, v{}, v1"
    few = named(of_text(loop(load.format(4, 7, 4)), tmp_path / "a"))["exposed-vector-load"]
    assert few.remedy_id == "prefetch-registers"
    # 256 vector and 256 accumulation registers are all that a wave can have.
    full = loop(load.format(252, 255, 252) + "\nv_accvgpr_write_b32 a255, v1")
    assert named(of_text(full, tmp_path / "b"))["exposed-vector-load"].remedy_id != "prefetch-registers"


def test_registers_are_no_remedy_for_writes_to_lds(tmp_path: Path) -> None:
    def situation(body: str, folder: str) -> FindingContext:
        inputs = of_text(loop(body), tmp_path / folder)
        producer = next(row for row, text in enumerate(inputs.trace.code.text) if text.startswith("ds_"))
        return FindingContext(inputs, inputs.claimed(inputs.rows_of(Cause.WAIT_LDS)), (producer,))

    write = situation("ds_write_b128 v1, v[4:7]\ns_waitcnt lgkmcnt(0)\nv_add_u32_e32 v40, v60, v80", "write")
    read = situation(READ, "read")
    for one, returns in ((write, False), (read, True)):
        assert PRECONDITIONS["returns-data"].holds(one) is returns
        assert PRECONDITIONS["writes-lds"].holds(one) is not returns
    assert remedy_fields("exposed-lds", write)["remedy_id"] not in ("read-ahead", "fewer-registers")
    nobody = FindingContext(write.inputs, write.claimed)
    assert not PRECONDITIONS["returns-data"].holds(nobody)
    assert not PRECONDITIONS["writes-lds"].holds(nobody)


def test_where_none_fits_it_is_said() -> None:
    inputs = of_trace(sample_trace("matmul_small"))
    nothing = np.zeros(0, dtype=np.int64)
    empty = FindingContext(inputs, inputs.claimed(nothing))
    found = remedy_fields("serial-cross-lane-chain", empty)
    assert list(found) == ["remedy"]
    said = "No remedy that is known for it can be applied here: that lanes are exchanged"
    assert found["remedy"].startswith(said)
    assert found["remedy"].endswith(".")


def test_remedies_of_captures_hold(inputs: FindingInputs) -> None:
    for one in of_inputs(inputs).findings:
        assert "{" not in one.remedy, "all words are filled in"
        if one.remedy_id:
            rows = {remedy.id: remedy for remedy in remedies()[one.name]}
            assert one.effort == rows[one.remedy_id].effort


TOLD = {
    "exposed-vector-load": Cause.WAIT_LOAD,
    "exposed-lds": Cause.WAIT_LDS,
    "exposed-lds-dma": Cause.WAIT_DMA,
    "exposed-scalar-load": Cause.WAIT_SCALAR,
    "hazard-nops": Cause.NOP,
    "instruction-fetch": Cause.FETCH,
    "memory-back-pressure": Cause.MEMORY_QUEUE,
    "dependent-arithmetic": Cause.REGISTER,
}


def test_the_worst_execution_is_of_the_findings_own_cause(inputs: FindingInputs) -> None:
    """Its cycles are claimed by one of the causes of the finding's pattern there."""
    table = inputs.attribution
    waves = {wave.id: wave for batch in inputs.answers.batches for wave in batch.waves}
    looked = 0
    for one in of_inputs(inputs).findings:
        for place in one.evidence:
            if one.name not in TOLD or "worst execution" not in place.text:
                continue
            rows = (table.line == place.line) & (table.cause == TOLD[one.name])
            cycles = int(place.text.split(", ")[1].split(" ")[0].replace(",", ""))
            assert 0 < cycles <= int(table.cycles[rows].sum())
            if "stalled" in place.text:
                assert cycles <= int(waves[place.wave].tokens.stall[place.token])
            looked += 1
    assert looked


def test_languages_by_path_and_signs() -> None:
    code = build.code(["v_mov_b32 v0, 0"], latency=[5], hits=[1], chains=[[(0, 1)]])
    trace = build.trace(code, [build.wave("V", [0])])

    def told(path: str, *lines: str) -> str:
        return language(replace(trace, sources=(SourceFile(path, lines or None),))).name

    assert told("/a/kernel.py", "import triton.language as tl") == "Triton"
    assert told("/a/flydsl/kernel.py") == "FlyDSL"
    assert told("/a/kernel.py", "import numpy") == "Python"
    assert told("/a/kernel.hip") == told("/a/kernel.cpp") == "HIP"
    assert told("/a/kernel.s") == "assembly"
    assert told("/a/kernel.rs") == ""
    rows = table("languages")["language"]
    assert [row["name"] for row in rows if "num_stages" in row["prefetch"]] == ["Triton"]


@pytest.mark.parametrize("sample", ["gfx11", "gfx12", "matmul_small"])
def test_samples_of_other_generations(sample: str) -> None:
    trace, batch = sample_waves(sample)
    inputs = FindingInputs(InMemory(trace, [batch]))
    for one in of_inputs(inputs).findings:
        assert one.remedy.endswith(".")
        assert Cause.WAIT_SCALAR not in inputs.attribution.cause or one.name != "redundant-wait"
