"""llvm-mca: a stand-in that writes down what it is given, and the real one where it is installed."""

import json
import sys
from pathlib import Path

import pytest

from rcv_py.formats.isa.mca import Estimate, estimate, find_mca

STAND_IN = """#!{python}
import json, os, sys
given = sys.stdin.read()
with open({log!r}, "a") as file:
    file.write(json.dumps([sys.argv[1:], given, os.listdir(), dict(os.environ)]) + "\\n")
if "-mcpu=gfx950" in sys.argv:
    print("'gfx950' is not a recognized processor for this target", file=sys.stderr)
for at, line in enumerate(given.splitlines(), 1):
    if "bogus" in line:
        print(f"<stdin>:{{at}}:1: error: invalid instruction", file=sys.stderr)
print("Iterations:        1\\nTotal Cycles:      " + str(10 * len(given.splitlines())))
"""


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    program = tmp_path / "llvm-mca"
    program.write_text(STAND_IN.format(python=sys.executable, log=str(tmp_path / "log")))
    program.chmod(0o755)
    return program


def calls(program: Path) -> list:
    return [json.loads(line) for line in (program.parent / "log").read_text().splitlines()]


def test_it_is_given_instructions_and_nothing_else(stand_in: Path) -> None:
    texts = [
        "v_add_f32_e32 v1, v2, v3",
        '.include "/etc/passwd"',
        'v_add_f32 v1, v2, v3\n.incbin "/etc/passwd"',
        "s_nop 0 ; .include",
        "s_cbranch_scc1 65530",
        "v_mov_b32 v1, " + "0" * 1000,
    ]
    assert estimate(str(stand_in), "gfx90a", texts) == Estimate(cycles=10, processor="gfx90a", left_out=4)
    ((words, given, folder, variables),) = calls(stand_in)
    assert given == "v_add_f32_e32 v1, v2, v3\n"
    assert "-mcpu=gfx90a" in words
    assert folder == []
    assert set(variables) <= {"LC_ALL", "LC_CTYPE", "__CF_USER_TEXT_ENCODING"}


def test_an_older_gpu_is_taken_and_unknown_instructions_are_left_out(stand_in: Path) -> None:
    found = estimate(str(stand_in), "gfx950", ["v_bogus v1", "s_nop 0", "v_mov_b32_e32 v1, v2"])
    assert found == Estimate(cycles=20, processor="gfx942", left_out=1)
    assert [given for _, given, _, _ in calls(stand_in)][-1] == "s_nop 0\nv_mov_b32_e32 v1, v2\n"


def test_what_cannot_be_asked_has_no_answer(stand_in: Path, tmp_path: Path) -> None:
    assert estimate(str(tmp_path / "none"), "gfx90a", ["s_nop 0"]) is None
    assert estimate(str(stand_in), "gfx90a --help", ["s_nop 0"]) is None
    assert estimate(str(stand_in), "gfx90a", ["s_branch 3"]) is None
    stand_in.write_text(f"#!{sys.executable}\nprint('Total Cycles: many')\n")
    assert estimate(str(stand_in), "gfx90a", ["s_nop 0"]) is None


@pytest.mark.skipif(not find_mca(), reason="llvm-mca is not there: install the package llvm")
def test_the_real_one_answers() -> None:
    few = estimate(find_mca(), "gfx90a", ["v_add_f32_e32 v1, v2, v3"])
    more = estimate(find_mca(), "gfx90a", ["v_add_f32_e32 v1, v2, v3", "v_mul_f32_e32 v2, v1, v3"])
    assert 0 < few.cycles < more.cycles
    assert (few.processor, few.left_out) == ("gfx90a", 0)
