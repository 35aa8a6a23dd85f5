"""The tutorial says what its samples are; its numbers come from the simulator's truth."""

import re
from pathlib import Path

import numpy as np
import pytest

from rcv_py.formats.open import open_trace
from rcv_py.synth.capture import Truth
from tests.support import command_runs
from tests.support.paths import ROOT
from tests.support.samples import write_sample

PAGE = (ROOT / "docs" / "tutorial.md").read_text()
NAMES = ("tutorial_before", "tutorial_after")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Truth]]:
    """Both samples, as the tutorial has them written, and what is true of them."""
    folder = tmp_path_factory.mktemp("tutorial")
    return {name: (folder / name, write_sample(name, folder / name)) for name in NAMES}


def duration(truth: Truth) -> int:
    """Cycles from the first start of a wave to the last end, on all shader engines."""
    offsets = np.array([truth.offset_of_se[se] for se in truth.residencies[:, 0].tolist()])
    return int((truth.residencies[:, 5] + offsets).max() - (truth.residencies[:, 4] + offsets).min())


def test_the_gain_is_that_of_the_samples(written: dict[str, tuple[Path, Truth]]) -> None:
    before, after = (duration(written[name][1]) for name in NAMES)
    assert (
        f"The launch takes {after:,} cycles instead of {before:,}: **{1 - after / before:.1%}"
        in PAGE.replace(" %", "%")
    )
    assert 0.11 < 1 - after / before < 0.14


def test_instructions_and_lines_are_where_the_tutorial_says(written: dict[str, tuple[Path, Truth]]) -> None:
    code = open_trace(written["tutorial_before"][0]).code
    assert code.text[69] == "s_waitcnt vmcnt(0)"
    assert code.text[67].startswith("global_load_dword v12, v6")
    assert code.text[58].startswith("global_load_dwordx4 v[8:11]")
    assert "line 27, `const float scale = *block_scale;`" in PAGE
    assert "all 1,536 executions" in PAGE
    assert written["tutorial_before"][1].lines[69, 0] == 1536


def test_the_change_is_that_of_the_sources(written: dict[str, tuple[Path, Truth]]) -> None:
    old, new = (next(written[name][0].glob("source_*dequant.hip")).read_text().splitlines() for name in NAMES)
    assert old[26].strip() == "const float scale = *block_scale;"
    (shown,) = re.findall(r"```diff\n(.*?)```", PAGE, re.DOTALL)
    lines = shown.splitlines()
    was = [line[1:] for line in lines if line[0] != "+"]
    becomes = [line[1:] for line in lines if line[0] != "-"]
    start = old.index(was[0])
    assert old[start : start + len(was)] == was
    assert new[start : start + len(becomes)] == becomes


def test_commands_print_what_the_tutorial_shows(written: dict[str, tuple[Path, Truth]]) -> None:
    folder = written["tutorial_before"][0].parent
    shown = re.findall(r"```sh\n(rcv .+)\n```\n+```text\n([^`]*)```", PAGE)
    assert [command.split()[1] for command, _ in shown] == ["triage", "whatif", "compare"]
    for command, text in shown:
        words = command.replace("tutorial/", f"{folder}/").split()[1:]
        printed = command_runs.run_anew(*words).out
        for line in filter(None, text.splitlines()):  # the page leaves out columns and sentences
            assert re.search(".*".join(map(re.escape, line.split())), printed), line
