"""How source places are written: short, told apart, and a dash where there is none."""

import json

from rcv_py.analysis.cost.place_text import NO_PLACE, beside, instruction_place, place_text
from rcv_py.formats.open import open_trace
from rcv_py.model.code import SourceFile
from tests.support.samples import sample_path

SOURCES = tuple(SourceFile(path, None) for path in ("/a/expr/numeric.py", "/a/ops/numeric.py", "/b/main.py"))


def test_a_name_has_as_many_folders_as_tell_it_apart() -> None:
    assert place_text(SOURCES, 2, 186) == "main.py:186"
    assert place_text(SOURCES, 0, 7) == "expr/numeric.py:7"
    assert place_text(SOURCES, 1, 7) == "ops/numeric.py:7"
    assert place_text(SOURCES, 1, 7, full=True) == "/a/ops/numeric.py:7"
    assert place_text(SOURCES, 2, 0) == "main.py:no line"
    assert place_text(SOURCES, 3, 1) == "?:1"


def test_every_instruction_has_the_innermost_place_of_the_file_or_a_dash() -> None:
    folder = sample_path("matmul_small")
    trace = open_trace(folder)
    rows = json.loads((folder / "code.json").read_text())["code"]
    told = ["" if row[0].startswith(";") else row[3] for row in rows]
    full = [instruction_place(trace, row, full=True) for row in range(len(trace.code))]
    assert len(set(full)) > 2
    assert NO_PLACE in full
    for row, (place, text) in enumerate(zip(full, told, strict=True)):
        assert place == (text.split(" -> ")[0] or NO_PLACE), row
        name = instruction_place(trace, row)
        assert place.endswith(name)
        assert beside(trace, row) == ("" if name == NO_PLACE else f"  {name}")
    assert instruction_place(trace, -1) == instruction_place(trace, len(trace.code)) == NO_PLACE
