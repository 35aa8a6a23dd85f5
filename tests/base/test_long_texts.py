"""Our own regular expressions read long texts of a capture once, whatever stands in them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rcv_py.base.text import no_formula
from rcv_py.formats.uiout.run_files import run_facts
from tests.support.limits import HANG_S
from tests.support.paths import ROOT

CPU_S = 20  # in which the process is killed; expressions that take the square of a text take hours
LONG = 400_000
READ = {
    "a number with a letter behind": f"no_formula('-' + '1' * {LONG} + 'x')",
    "a number with commas": f"no_formula('-' + '1,' * {LONG} + 'x')",
    "the head of a function": f"what_line(['def ' + 'a' * {LONG}], 1)",
    "a line below a head": f"what_line(['def ' + 'a' * {LONG}, 'return 1'], 2)",
    "a number of a formula": f"[form.match('9' * {LONG} + '.9.9') for form in _TOKENS]",
    "an atomic operation": "[access_width('global' + '_atomic_x' * 3000 + str(i)) for i in range(20)]",
    "a register": f"count_of('v_mov_b32 ' + 'x' * {LONG})",
}
SCRIPT = """
import resource; resource.setrlimit(resource.RLIMIT_CPU, ({cpu}, {cpu}))
from importlib import import_module
from rcv_py.analysis.latency.access_widths import access_width
from rcv_py.analysis.program.registers import _UNPRINTED
from rcv_py.model.operands import _TO_LDS
from rcv_py.analysis.counters.formula.parser import _TOKENS
from rcv_py.base.text import no_formula
from pathlib import Path
from rcv_py.formats.uiout.run_files import run_facts
what_line = import_module("rcv_py.analysis.health.mapping").what_line
count_of = lambda text: (_TO_LDS.match(text), *(form.match(text) for form, _, _ in _UNPRINTED))
{line}
"""


def run(line: str) -> None:
    command = [sys.executable, "-c", SCRIPT.format(cpu=CPU_S, line=line)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=HANG_S)
    assert done.returncode == 0, done.stderr.decode()[-2000:]


@pytest.mark.skipif(sys.platform != "linux", reason="limits the time of a process as Linux does")
def test_long_texts_are_read_once() -> None:
    run("\n".join(READ.values()))


@pytest.mark.skipif(sys.platform != "linux", reason="limits the time of a process as Linux does")
def test_a_results_file_of_commands_is_read_once(tmp_path: Path) -> None:
    """Each took ten seconds, and there may be eight in each of many folders."""
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    folder.mkdir()
    for number, text in enumerate(('"command":[', '"command":["', '"command":[""', '"command":' + "[" * 99)):
        (folder / f"{number}_results.json").write_text(text * ((64 << 10) // len(text)))
        (folder / f"1{number}_results.json").write_text('"command":' + text * ((64 << 10) // len(text)))
    run(f"assert run_facts(Path({str(folder)!r}), 'k').command == ()")


def test_the_command_is_found_behind_its_name_in_an_argument(tmp_path: Path) -> None:
    words = ["./app", "--say", '"command": [', "\u00e9", 'a "quoted" \\ text']
    for text in (json.dumps({"args": '"command":[', "command": words}), json.dumps({"command": words})):
        (tmp_path / "run_results.json").write_text(text + " " * 9)
        assert run_facts(tmp_path, "k").command == tuple(words)


@pytest.mark.parametrize("text", ["-1", "+1.5", "-1,000.25", "-.5", "+1e5", "-5 %", "-5%", "-1e-3", "-1,.5"])
def test_numbers_are_no_formulas(text: str) -> None:
    assert no_formula(text) == text


@pytest.mark.parametrize("text", ["-1,", "-1.", "-1x", "-", "+cmd", "-1.5.5", "-e5", "-,1", "=1"])
def test_what_only_begins_like_a_number_is_one(text: str) -> None:
    assert no_formula(text) == (text if len(text) == 1 else f"'{text}")
