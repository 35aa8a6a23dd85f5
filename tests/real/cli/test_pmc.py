"""`rcv pmc --like`: the text of the script letter by letter."""

import re

import pytest

from rcv_py.cli.main import main
from tests.real import captures

GOLDEN = captures.SHARED / "golden" / "pmc_l2_analyzer"
CASES = {
    "case1_kern_a_ideal8.59": (["--kernel", "kern_a", "--ideal-mb", "8590"], True),
    "case2_other_ea1": (["--kernel", "other", "--channels", "1"], True),
    "case3_all_l2only": ([], False),
    "case4_nomatch": (["--kernel", "no_such_kernel"], True),
}


@pytest.mark.parametrize("case", CASES)
def test_the_text_of_the_script(
    case: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    words, with_memory = CASES[case]
    tables = [str(GOLDEN / "synth_l2.csv"), *([str(GOLDEN / "synth_ea.csv")] if with_memory else [])]
    code = main(["pmc", *tables, "--like", *words])
    expected = (GOLDEN / f"{case}.txt").read_text()
    failed = re.search(r"^rc=1\n", expected, re.MULTILINE)
    assert capsys.readouterr().out == expected.replace("rc=1\n", "")
    assert code == (2 if failed else 0)
