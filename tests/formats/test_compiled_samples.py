"""The samples of a compiled kernel: every input they stand for opens, and they are what their script makes.

Truth about `rms_norm`: the simulator ran its loops 12, 8 and 12 times in 16 waves an engine.  Lines of the
source come from `llvm-symbolizer`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rcv_py.formats.locate import locate
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from tests.support.command_runs import run
from tests.support.compiled_sample import (
    BUILDS,
    CODE_OBJECT,
    COMPILED,
    ENGINES,
    LOOPS,
    RAW,
    SOURCE,
    compile_builds,
    streams,
)
from tests.support.limits import HANG_S
from tests.support.llvm import need_llvm
from tests.support.paths import ROOT

SAMPLES = ROOT / "sample_traces"
BUILD = SAMPLES / COMPILED / next(iter(BUILDS))
WAVES = 16  # of an engine


@pytest.fixture(scope="module")
def raw() -> Trace:
    need_llvm()
    return open_trace(SAMPLES / RAW)


def line_of(fragment: str) -> int:
    """The line of the source with a fragment."""
    lines = (SAMPLES / RAW / SOURCE).read_text().splitlines()
    return next(number for number, line in enumerate(lines, start=1) if fragment in line)


def test_the_raw_sample_has_the_waves_and_loops_of_the_simulator(raw: Trace) -> None:
    assert (raw.kernel_name, raw.target) == ("rms_norm", "gfx942")
    assert np.bincount(raw.waves.se).tolist() == [WAVES] * len(ENGINES)
    code = raw.code
    loops = [
        row for row in range(len(code)) if code.text[row].startswith("s_cbranch_scc") and code.hits[row] > 32
    ]
    executed = {int(code.hits[row]) // (WAVES * len(ENGINES)) for row in loops}
    assert executed == set(LOOPS)
    assert not code.is_unreadable.any()


def test_its_instructions_have_the_lines_of_a_source_beside_it(raw: Trace) -> None:
    (source,) = raw.sources
    assert source.lines is not None
    load = next(row for row, text in enumerate(raw.code.text) if text.startswith("global_load_dwordx4"))
    assert raw.code.chain(load) == [(0, line_of("sum += squares"))]
    squares = next(row for row, text in enumerate(raw.code.text) if text.startswith("v_pk_mul_f32"))
    assert [line for _, line in raw.code.chain(squares)] == [
        line_of("float squares("),
        line_of("sum += squares"),
    ]


def test_two_builds_of_a_single_kernel_are_compared_by_their_files() -> None:
    others = [str(SAMPLES / COMPILED / name) for name in BUILDS]
    done = run("compare", *others, "--fail-on", "registers")
    assert done.code == 3
    assert "B has more registers" in done.out
    assert run("compare", str(SAMPLES / RAW), others[1], "--top", "1").code == 0


def test_the_folder_of_builds_lists_its_kernels() -> None:
    assert [path.name for path in locate(SAMPLES / COMPILED).captures()] == ["rms_norm"] * len(BUILDS)
    assert (SAMPLES / RAW / CODE_OBJECT).read_bytes() == BUILD.read_bytes()
    assert (SAMPLES / RAW / SOURCE).read_bytes() == (SAMPLES / COMPILED / SOURCE).read_bytes()


def test_the_streams_are_what_the_simulator_plays() -> None:
    need_llvm()
    kept = {file.name: file.read_bytes() for file in (SAMPLES / RAW).glob("*.att")}
    assert streams(SAMPLES / RAW / CODE_OBJECT) == kept


def test_a_build_opens_without_the_compiler_of_the_raw_decoder() -> None:
    look = (
        "import sys; from pathlib import Path; from rcv_py.formats.open import open_trace; "
        "open_trace(Path(sys.argv[1])); assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", look, str(BUILD)], check=True, timeout=HANG_S, cwd=ROOT)


def test_the_builds_are_what_clang_22_makes(tmp_path: Path) -> None:
    if not shutil.which("clang-22") or not shutil.which("ld.lld-22"):
        pytest.skip("clang-22 and lld-22 are not installed")
    version = subprocess.run(
        ["clang-22", "--version"], capture_output=True, check=True, timeout=HANG_S
    ).stdout
    if b"22.1.8" not in version:
        pytest.skip("another release of clang 22 writes its own name")
    shutil.copyfile(SAMPLES / COMPILED / SOURCE, tmp_path / SOURCE)
    compile_builds(tmp_path, "clang-22")
    for name in BUILDS:
        assert (tmp_path / name).read_bytes() == (SAMPLES / COMPILED / name).read_bytes(), name
