"""Small captures that ask for a lot are answered soon, with little memory, and with a sentence."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rcv_py.cli.main import main
from tests.support.bombs import bomb
from tests.support.limits import HANG_S
from tests.support.paths import ROOT

if sys.platform != "linux":
    pytest.skip("peaks of memory are read as Linux tells them", allow_module_level=True)

PEAK = 500 << 10  # kilobytes
TREES = ("hotspot --charge inclusive --by tree", "source", "flame", "index")
TEXTS = (
    *("hotspot --by class", "waits", "causes", "loops --by chains"),
    *("latency --by memory", "occupancy --limits"),
)
LONG = (
    *("triage", "report --out {out}.html", "isa --blocks", "isa --branches", "loops"),
    *("flame", "export --to speedscope --out {out}.json"),
)
ASKED: dict[str, tuple[str, ...]] = {
    "path of 200,000 folders": TREES,
    "path of 200,000 different folders": TREES,
    "chain of 100,000 places": TREES,
    "20,000 files in deep folders": TREES,
    "name with 90,000 template brackets": ("info", "summary", "events", "index"),
    "name with 90,000 brackets side by side": ("info", "summary"),
    "symbol with 90,000 templates": ("info", "summary"),
    "instruction of 16 KB of spaces": TEXTS,
    "instruction of 16 KB of words": TEXTS,
    "instructions of 10 MB": TEXTS,
    "label of 10 MB": ("waves", "info", "flame"),
    "25,000 branches": ("report --out {out}.html", "triage", "isa --branches"),
    "25,000 branches forward": ("isa --blocks", "loops"),
    "5,000 nested loops": ("isa --blocks", "loops"),
    "5,000 nested loops that run": LONG,
    "a wave file 30,000 times": LONG,
    "other files 20,000 times": (*LONG, "events"),
    "3,000 instructions without a word lds": TEXTS,
    "branch of 5,000 digits": TEXTS,
    "waits of 5,000 digits": TEXTS,
    "waits of 20 digits": TEXTS,
    "waits with leading zeros": TEXTS,
    "registers of 5,000 digits": TEXTS,
    "registers of 20 digits": TEXTS,
    "lines of 5,000 digits": TREES,
    "waits of gfx12 of 20 digits": TEXTS,
}
TOLD = {
    "path of 200,000 folders": "only the ends of paths",
    "chain of 100,000 places": "the innermost calls are kept",
    "instructions of 10 MB": "3 instruction or names longer than any writer makes",
    "label of 10 MB": "longer than any writer makes",
    "name with 90,000 template brackets": "longer than any writer makes",
    "a wave file 30,000 times": "the rest of them is left out (29,985 entries)",
    "other files 20,000 times": "the rest of them is left out",
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What became of each capture: all of them in one process that forks, so that we import once."""
    root = tmp_path_factory.mktemp("bombs")
    places = [
        bomb(root / f"{number}" / "ui_output_agent_1_dispatch_1", name) for number, name in enumerate(ASKED)
    ]
    asked = [
        (str(place), [line.format(out=place.parent / "written") for line in lines])
        for place, lines in zip(places, ASKED.values(), strict=True)
    ]
    words = [sys.executable, "-m", "tests.support.bombs_apart"]
    done = subprocess.run(
        words, cwd=ROOT, input=json.dumps(asked).encode(), capture_output=True, check=True, timeout=HANG_S
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    return dict(zip(ASKED, told, strict=True))


@pytest.mark.parametrize("name", ASKED)
def test_it_is_answered_soon_with_little_memory(answers: dict[str, dict[str, Any]], name: str) -> None:
    answer = answers[name]
    assert answer["status"] == 0, answer["said"][-2000:]
    assert "Traceback" not in answer["said"]
    assert answer["peak"] < PEAK


@pytest.mark.parametrize("name", TOLD)
def test_what_is_left_out_is_told(answers: dict[str, dict[str, Any]], name: str) -> None:
    assert TOLD[name] in answers[name]["problems"]


BEYOND = (
    "hotspot --bins 1000000000000", "hotspot --bins 4097", "line 1 --bars 1000000000000", "index --depth 65",
    "index --depth 99999999999999999999", "index --jobs 1000000", "report --jobs 100000 --out x",
    "hotspot --top 99999999999999999999",
    "shot --panel isa --size 99999x99999 --out x.png", "waits --wave se0/simd0/slot0/wv" + "9" * 5000,
    "isa --mode hit --wave se0/simd0/slot0/wv0 --hit 99999999999999999999", "view --goto " + "9" * 5000,
)  # fmt: skip


@pytest.mark.parametrize("line", BEYOND, ids=lambda line: line[:50])
def test_huge_numbers_are_refused(tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = bomb(tmp_path / "c", "nothing")
    command, *more = line.split()
    try:
        code = main([command, str(folder), *more])
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    assert "Traceback" not in capsys.readouterr().err
