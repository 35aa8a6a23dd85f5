"""Whether s_barrier_wait of gfx12 left a token, in a stream that says that it may leave none."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from rcv_py.formats.open import open_trace
from tests.formats.sqtt.rdna_encoder import IMMED, MESSAGE, Encoder, Step, Wave
from tests.support.object_files import TEXT, code_file

BASE = 0x7F12_3450_0000
EXCLUDES = 1 << 59  # in the header: s_barrier_wait may leave no token
# Four rounds of nothing that a unit issues, so that only the number of tokens decides.
ROUND = ("s_sleep 4", "s_barrier_signal -1", "s_barrier_wait 0xffff", *["s_nop 0"] * 4)
LINES = (*ROUND * 4, "s_endpgm")
WAVES = 4


@pytest.mark.parametrize("leaves", [True, False], ids=["with a token", "without"])
def test_barriers_between_lines_that_only_pause(tmp_path: Path, leaves: bool) -> None:
    encoder = Encoder(12)
    encoder.program(10, BASE + TEXT)
    encoder.dispatch(20)
    issued = [line for line in LINES[:-1] if leaves or "barrier_wait" not in line]
    encoder.waves(
        Wave(
            slot,
            100 + slot,
            1000 + slot,
            [
                Step(200 + 20 * at + slot, MESSAGE if "signal" in line else IMMED)
                for at, line in enumerate(issued)
            ],
        )
        for slot in range(WAVES)
    )
    (tmp_path / "1_0_shader_engine_0_1.att").write_bytes(encoder.stream(EXCLUDES))
    code = struct.pack("<I", 0xBF800000) * len(LINES)
    out = code_file({"rounds": code}, machine=0x48, kernels=("rounds",))
    (tmp_path / "gfx1200_code_object_id_1.out").write_bytes(out)
    rows = [["; rounds", 0, 0, "rounds", 1, TEXT, 0, 0, 0, 0]]
    rows += [[line, 0, 0, "", 1, TEXT + 4 * at, 0, 0, 0, 0] for at, line in enumerate(LINES)]
    (tmp_path / "code.json").write_text(json.dumps({"code": rows}))
    table = open_trace(tmp_path).code
    hits = dict(zip(table.address.tolist(), table.hits.tolist(), strict=True))
    silent = {TEXT + 4 * at for at, line in enumerate(LINES) if "barrier_wait" in line and not leaves}
    assert {one: hits[one] for one in range(TEXT, TEXT + 4 * len(LINES), 4)} == {
        one: 0 if one in silent else WAVES for one in range(TEXT, TEXT + 4 * len(LINES), 4)
    }
    assert np.sum(table.hits) == WAVES * (29 if leaves else 25)
