"""Lengths and categories of real code."""

import numpy as np
import orjson
import pytest

from rcv_py.formats.isa.disassembly import read
from rcv_py.formats.isa.program import category_of, mnemonic
from tests.formats.isa.test_lengths import lengths_and_categories_agree
from tests.real.captures import THREAD_TRACES, trace_path
from tests.real.golden_sqtt import NAMES, raw
from tests.support.assembler import assembled
from tests.support.llvm import need_llvm


@pytest.mark.parametrize("name", NAMES)
def test_lengths_and_categories_of_the_golden_code(name: str) -> None:
    lengths_and_categories_agree(raw(name))


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_lengths_and_categories_of_real_kernels(name: str) -> None:
    """The texts of a capture, assembled again: each instruction begins where the capture says."""
    rows = orjson.loads((trace_path(name) / "code.json").read_bytes())["code"]
    rows = sorted((row for row in rows if not row[0].startswith(";")), key=lambda row: row[5])
    data = assembled(need_llvm().library, "gfx950", [row[0] for row in rows])
    own = read(data, "gfx950")
    starts = rows[0][5] + np.cumsum(own.size, dtype=int) - own.size
    assert starts[: len(rows)].tolist() == [row[5] for row in rows]
    for text, row in zip(own.text, rows, strict=False):
        assert category_of(mnemonic(text)) == category_of(mnemonic(row[0])), row[0]
