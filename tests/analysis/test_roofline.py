"""Rooflines: operations of a launch, peaks of data sheets, and two ways to the same share."""

from collections import Counter
from functools import cache
from itertools import pairwise

import pytest

from rcv_py.analysis.iterations.loop_summary import LOOPS
from rcv_py.analysis.latency.access_widths import WIDTHS
from rcv_py.analysis.overview.roofline import Roofline, roofline
from rcv_py.analysis.program.matrix_forms import matrix_cycles, matrix_flops
from rcv_py.analysis.program.operations import MATRIX, VECTOR, matrix_type, vector_type
from rcv_py.features.roofline.result import roofline_facts
from rcv_py.model.architecture import architecture_of
from rcv_py.model.kinds import TokenKind
from rcv_py.model.resources import AgentFacts, KernelResources, RunFacts
from rcv_py.model.trace import Trace
from tests.support.command_runs import printed_json
from tests.support.opened import all_waves, sample_trace, traces_of
from tests.support.samples import sample, sample_path

MI300X = RunFacts(agent=AgentFacts("gfx942", 8, 4, 64, 65_536, 304, "a.csv", product="AMD Instinct MI300X"))


@cache
def of(trace: Trace, run: RunFacts = MI300X) -> Roofline:
    batches = [all_waves(trace)]
    return roofline(trace, WIDTHS.of(trace, batches), LOOPS.of(trace, batches), run)


@pytest.mark.parametrize(
    ("target", "type_", "tflops", "cus", "ghz"),
    [  # dense matrix rates of AMD's data sheets: MI100, MI250X, MI300X, MI355X, RX 7900 XTX, RX 9070 XT
        ("gfx908", "f16", 184.6, 120, 1.502),
        ("gfx90a", "bf16", 383.0, 220, 1.7),
        ("gfx90a", "f64", 95.7, 220, 1.7),
        ("gfx942", "f16", 1307.4, 304, 2.1),
        ("gfx942", "f8", 2614.9, 304, 2.1),
        ("gfx942", "xf32", 653.7, 304, 2.1),
        ("gfx950", "bf16", 2516.6, 256, 2.4),
        ("gfx950", "f8", 5033.2, 256, 2.4),
        ("gfx950", "f6f4", 10066.3, 256, 2.4),
        ("gfx950", "f64", 78.6, 256, 2.4),
        ("gfx1100", "f16", 122.8, 96, 2.499),
        ("gfx1151", "f16", 59.4, 40, 2.9),  # Radeon 8060S
        ("gfx1201", "f16", 194.6, 64, 2.97),
    ],
)
def test_peaks_are_those_of_data_sheets(target: str, type_: str, tflops: float, cus: int, ghz: float) -> None:
    peak = architecture_of(int(target[3:-2]), target).matrix_peaks[type_]
    assert peak == pytest.approx(tflops * 1e12 / (cus * ghz * 1e9), rel=0.01)


@pytest.mark.parametrize(
    ("target", "tflops", "cus", "ghz"),
    [("gfx1030", 1.44, 80, 2.25), ("gfx1100", 1.92, 96, 2.499), ("gfx1201", 0.76, 64, 2.97)],
)
def test_doubles_of_rdna_take_a_part_of_a_simd(target: str, tflops: float, cus: int, ghz: float) -> None:
    """RX 6900 XT; RX 7900 XTX: 1/32 of 61.4 TFLOP/s; RX 9070 XT: 1/64 of 48.7."""
    peak = architecture_of(int(target[3:-2]), target).vector_peaks["f64"]
    assert peak == pytest.approx(tflops * 1e12 / (cus * ghz * 1e9), rel=0.01)


def test_vector_peaks_are_those_of_data_sheets() -> None:
    peaks = architecture_of(9, "gfx942").vector_peaks
    assert peaks["f32"] == pytest.approx(163.4e12 / (304 * 2.1e9), rel=0.01)
    assert peaks["f64"] == pytest.approx(81.7e12 / (304 * 2.1e9), rel=0.01)
    assert "f32" not in architecture_of(9, "gfx999").vector_peaks


@pytest.mark.parametrize(
    ("target", "text", "type_"),
    [
        ("gfx942", "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", "f16"),
        ("gfx942", "v_mfma_f32_16x16x16_bf16 a[0:3], v[0:1], v[2:3], a[0:3]", "bf16"),
        ("gfx942", "v_mfma_f32_32x32x16_fp8_bf8 a[0:15], v[0:1], v[2:3], a[0:15]", "f8"),
        ("gfx942", "v_mfma_f64_16x16x4_f64 a[0:7], v[0:1], v[2:3], a[0:7]", "f64"),
        ("gfx942", "v_mfma_f32_32x32x2_f32 a[0:15], v0, v1, a[0:15]", "f32"),
        ("gfx942", "v_mfma_i32_32x32x16_i8 a[0:15], v[0:1], v[2:3], a[0:15]", "i8"),
        ("gfx950", "v_mfma_f32_16x16x32_bf16 a[0:3], v[0:3], v[4:7], a[0:3]", "bf16"),
        ("gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[0:3], v1, v2", "f8"),
        ("gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11] cbsz:4 blgp:4", "f6f4"),
        ("gfx1100", "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "f16"),
        ("gfx1100", "v_wmma_i32_16x16x16_iu4 v[0:7], v[8:9], v[10:11], v[0:7]", "i4"),
        ("gfx1250", "v_wmma_f32_16x16x32_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "f16"),
        ("gfx1250", "v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:39], v[40:47]", "f8"),
        ("gfx1250", "v_wmma_f32_32x16x128_f4 v[0:15], v[16:31], v[32:39], v[40:55]", "f6f4"),
    ],
)
def test_the_fastest_forms_reach_the_peak(target: str, text: str, type_: str) -> None:
    """Passes of the ISA guide and rates of the data sheet are two sources of one number."""
    assert matrix_type(text) == type_
    cycles = matrix_cycles(text, target)
    simds = 4 if target.startswith("gfx9") else 2
    peak = architecture_of(int(target[3:-2]), target).matrix_peaks[type_]
    assert matrix_flops(text) / cycles * simds == pytest.approx(peak)


def test_formats_of_gfx1250_have_names() -> None:
    form = "v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[8:15], v[24:31], v[40:47]"
    assert matrix_type(f"{form} matrix_a_fmt:MATRIX_FMT_FP4 matrix_b_fmt:MATRIX_FMT_BF6") == "f6f4"
    assert matrix_type(f"{form} matrix_a_fmt:MATRIX_FMT_FP4 matrix_b_fmt:MATRIX_FMT_BF8") == "f8"
    assert matrix_type(f"{form} matrix_a_fmt:MATRIX_FMT_FP4") == "f8"


def test_types_of_vector_instructions() -> None:
    assert vector_type("v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]") == "f64"
    assert vector_type("v_pk_fma_f16 v0, v1, v2, v3") == "f16"
    assert vector_type("v_add_f32_e32 v0, v1, v2") == "f32"
    assert vector_type("s_nop 0") == ""


def test_a_launch_computes_what_each_of_its_waves_does() -> None:
    """Ten workgroups of four waves that do as the simulated ones: products of 32 × 8 and 8 × 32."""
    truth = sample("matmul_small")[1]
    trace = sample_trace("matmul_small")
    texts = [text for text, label in zip(trace.code.text, trace.code.is_label, strict=True) if not label]
    rows = [at for one in truth.waves.values() for at in one.instruction.tolist()]
    ran = sum(texts[at].startswith("v_mfma") for at in rows)
    launch = KernelResources("matmul", 1, 64, 0, 32, 0, 0, (256, 1, 1), (640, 4, 1), "x_kernel_trace.csv")
    facts = roofline_facts(trace, of(trace), RunFacts(launch), 64)
    assert facts["launch_waves"] == 40
    assert facts["launch_flop"] == pytest.approx(40 * ran / len(truth.waves) * 2 * 32 * 32 * 8)


trace = traces_of(["matmul_small", "tutorial_before", "rivals"])


def test_the_share_of_the_peak_is_how_busy_the_unit_is(trace: Trace) -> None:
    """Operations by the peak rate, and passes by cycles: forms that run at the peak give the same."""
    for scope in of(trace).scopes:
        assert scope.share_of_peak(MATRIX) == pytest.approx(scope.matrix_busy, rel=0.001)
        assert 0 < scope.share_of_peak(VECTOR) + scope.share_of_peak(MATRIX) < 1


def test_loops_are_parts_of_the_kernel() -> None:
    """MI300X reads 5.3 TB/s and makes 2,048 operations on halves a cycle, on 304 compute units."""
    trace = sample_trace("matmul_small")
    whole, loop = of(trace).scopes
    back = Counter[tuple[int, int]]()
    for wave in all_waves(trace).waves:
        rows = zip(wave.tokens.line.tolist(), wave.tokens.kind.tolist(), strict=True)
        jumps = ((branch, line) for (branch, kind), (line, _) in pairwise(rows) if kind == TokenKind.JUMP)
        back.update((branch, line) for branch, line in jumps if line <= branch)
    assert [(loop.last, loop.first)] == list(back)
    assert loop.flop() < whole.flop()
    assert loop.cycles < whole.cycles
    assert whole.intensity == pytest.approx(whole.flop() / whole.bytes)
    assert whole.ridge == pytest.approx(2048 / (5.3e12 / (304 * (trace.clock.shader_hz or 2.1e9))))


@pytest.mark.parametrize("waves", ["all", "working"])
def test_waves_per_simd_are_those_that_count(waves: str) -> None:
    """Lives of the counted waves over the cycles in which their units held one, on all traced SIMDs."""
    folder = sample_path("mixed_populations")
    rows = printed_json("waves", folder, "--waves", waves)["rows"]
    traced = [(*row["wave"].split("/")[:2], row["cu"]) for row in printed_json("waves", folder)["rows"]]
    simds = len(set(traced)) / len({(se, cu) for se, _, cu in traced})
    held: dict[tuple[str, int], set[int]] = {}
    for row in rows:
        unit = row["wave"].split("/")[0], row["cu"]
        held.setdefault(unit, set()).update(range(row["start"], row["end"]))
    lived = sum(row["cycles"] for row in rows)
    expected = lived / (sum(map(len, held.values())) * simds)
    found = printed_json("roofline", folder, "--waves", waves)
    assert found["waves"] == len(rows)
    assert found["waves_per_simd"] == pytest.approx(expected, abs=0.01)
