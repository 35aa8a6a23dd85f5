"""`capture.range(…)` says what `rcv range` says."""

import json
from typing import Any

import pytest

import rcv_py
from rcv_py.api import UsageError
from tests.support.command_runs import run
from tests.ui.window import ROOT

SAMPLE = ROOT / "sample_traces" / "matmul_tiled"


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ((), {}),
        (("--from", "80000", "--to", "90000", "--top", "3"), {"begin": 80_000, "end": 90_000, "top": 3}),
        (("--between", "113:133", "--waves", "all"), {"between": (113, 133), "waves": None}),
    ],
)
def test_it_equals_the_command(words: tuple[str, ...], asked: dict[str, Any]) -> None:
    document = json.loads(run("range", str(SAMPLE), "--json", *words).out)
    answer = rcv_py.open(SAMPLE).range(**{"top": 8, **asked})
    names = ("part", "name", "instruction", "hits", "cycles", "source")
    told = [tuple(row[name] for name in names) for row in document["rows"]]
    assert list(zip(*(answer[name].tolist() for name in names), strict=True)) == told
    facts = {name: value for name, value in document.items() if name in answer.facts}
    assert facts.keys() >= {"flop", "tflops", "valu_flop", "valu_tflops", "between", "wave_cycles"}
    assert answer.facts == facts


def test_what_is_no_range_gets_a_sentence() -> None:
    capture = rcv_py.open(SAMPLE)
    with pytest.raises(UsageError, match="not after its begin"):
        capture.range(90_000, 80_000)
    with pytest.raises(UsageError, match="0 to"):
        capture.range(between=(0, 1 << 40))
