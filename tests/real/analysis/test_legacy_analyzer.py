"""The hotspot scripts of both generations: every number, row, class and order of their recorded outputs."""

import pytest

from rcv_py.cli.main import main
from tests.analysis import test_legacy_analyzer as rules
from tests.real import captures

KERNELS = {"flash_attn_small": "flash_attn_func_kernel_0", "pa_mqa": "pa_mqa_logits_fp4_kernel_0"}


@pytest.mark.parametrize("form", rules.FORMS)
@pytest.mark.parametrize("name", captures.GOLDEN)
def test_every_number_of_the_scripts(
    name: str, form: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    folder = captures.trace_path(name)
    expected = (captures.SHARED / "golden" / "hotspot_analyzer" / f"{name}.{form}").read_text()
    words = list(rules.FORMS[form])
    if words[-1] == "--kernel":
        words.append(next(kernel for start, kernel in KERNELS.items() if name.startswith(start)))
    assert main(["hotspot", str(folder), *words]) == 0
    text = capsys.readouterr().out
    names = set(rules.FACTS) - ({"bound"} if "new" not in form else set())
    assert rules.facts(text, names) == rules.facts(expected, names)
    for pattern in (rules.CLASS_ROW, rules.SOURCE_ROW, rules.TEXT_ROW, rules.DETAIL_HEAD, rules.DETAIL_ROW):
        assert rules.rows(pattern, text) == rules.rows(pattern, expected), pattern
    assert rules.rows(rules.CLASS_ROW, expected)
    assert rules.rows(rules.SOURCE_ROW, expected)
    assert len(rules.rows(rules.TEXT_ROW, expected)) == (0 if form == "detail.txt" else 15)
    shown = [(bool(mark), number) for mark, number in rules.rows(rules.EXCERPT, text)]
    assert shown == [(bool(mark), number) for mark, number in rules.rows(rules.EXCERPT, expected)]
    assert ("the first is taken" in text) == ("using the first match" in expected)
    assert ("from the instructions alone" in text) == ("CSV not matched" in expected)
