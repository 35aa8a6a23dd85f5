"""The hotspot scripts of both generations: every number, row, class and order of their recorded outputs."""

import pytest

from rcv_py.cli.main import main
from tests.analysis.test_legacy_analyzer import (
    CLASS_ROW,
    DETAIL_HEAD,
    DETAIL_ROW,
    EXCERPT,
    FACTS,
    FORMS,
    SOURCE_ROW,
    TEXT_ROW,
    facts,
    rows,
)
from tests.real import captures

KERNELS = {"flash_attn_small": "flash_attn_func_kernel_0", "pa_mqa": "pa_mqa_logits_fp4_kernel_0"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", captures.GOLDEN)
def test_every_number_of_the_scripts(
    name: str, form: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    folder = captures.trace_path(name)
    expected = (captures.SHARED / "golden" / "hotspot_analyzer" / f"{name}.{form}").read_text()
    words = list(FORMS[form])
    if words[-1] == "--kernel":
        words.append(next(kernel for start, kernel in KERNELS.items() if name.startswith(start)))
    assert main(["hotspot", str(folder), *words]) == 0
    text = capsys.readouterr().out
    names = set(FACTS) - ({"bound"} if "new" not in form else set())
    assert facts(text, names) == facts(expected, names)
    for pattern in (CLASS_ROW, SOURCE_ROW, TEXT_ROW, DETAIL_HEAD, DETAIL_ROW):
        assert rows(pattern, text) == rows(pattern, expected), pattern
    assert rows(CLASS_ROW, expected)
    assert rows(SOURCE_ROW, expected)
    assert len(rows(TEXT_ROW, expected)) == (0 if form == "detail.txt" else 15)
    shown = [(bool(mark), number) for mark, number in rows(EXCERPT, text)]
    assert shown == [(bool(mark), number) for mark, number in rows(EXCERPT, expected)]
    assert ("the first is taken" in text) == ("using the first match" in expected)
    assert ("from the instructions alone" in text) == ("CSV not matched" in expected)
