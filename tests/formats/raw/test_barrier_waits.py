"""Whether s_barrier_wait of gfx12 left a token, in a stream that says that it may leave none."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from tests.formats.sqtt.rdna_encoder import (
    EXEC,
    IDLE,
    IMMED,
    MESSAGE,
    STALL,
    VALU,
    WAIT,
    Encoder,
    Step,
    Wave,
)
from tests.support.object_files import TEXT, code_file

BASE = 0x7F12_3450_0000
EXCLUDES = 1 << 59  # in the header: s_barrier_wait may leave no token
# Four rounds of nothing that a unit issues, so that only the number of tokens decides.
ROUND = ("s_sleep 4", "s_barrier_signal -1", "s_barrier_wait 0xffff", *["s_nop 0"] * 4)
LINES = (*ROUND * 4, "s_endpgm")
WAVES = 4


def opened(folder: Path, lines: Sequence[str], waves: Sequence[Wave]) -> Trace:
    """A raw capture of waves that run these lines of four bytes."""
    encoder = Encoder(12)
    encoder.program(10, BASE + TEXT)
    encoder.dispatch(20)
    encoder.waves(waves)
    (folder / "1_0_shader_engine_0_1.att").write_bytes(encoder.stream(EXCLUDES))
    out = code_file({"k": struct.pack("<I", 0xBF800000) * len(lines)}, machine=0x48, kernels=("k",))
    (folder / "gfx1200_code_object_id_1.out").write_bytes(out)
    rows = [["; k", 0, 0, "k", 1, TEXT, 0, 0, 0, 0]]
    rows += [[line, 0, 0, "", 1, TEXT + 4 * at, 0, 0, 0, 0] for at, line in enumerate(lines)]
    (folder / "code.json").write_text(json.dumps({"code": rows}))
    return open_trace(folder)


@pytest.mark.parametrize("leaves", [True, False], ids=["with a token", "without"])
def test_barriers_between_lines_that_only_pause(tmp_path: Path, leaves: bool) -> None:
    issued = [line for line in LINES[:-1] if leaves or "barrier_wait" not in line]
    waves = [
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
    ]
    trace = opened(tmp_path, LINES, waves)
    assert len(trace.waves) == WAVES
    for wave in trace.reader.read(list(range(WAVES))).waves:
        assert trace.code.address[wave.tokens.line].tolist() == [TEXT + 4 * at for at in range(len(LINES))]
        waits = wave.tokens.duration[[at for at, line in enumerate(LINES) if "barrier_wait" in line]]
        # A token is in the last cycle; without it the next line, a pause, begins at the signal's end.
        assert waits.tolist() == [20 if leaves else 0] * 4


@pytest.mark.parametrize("stalls", [0, 5])
def test_a_wait_without_a_token_lasts_until_the_next_instruction_begins(tmp_path: Path, stalls: int) -> None:
    lines = ("v_nop", "s_barrier_signal -1", "s_barrier_wait 0xffff", "v_nop", "v_nop", "s_endpgm")
    steps = [Step(200, VALU), Step(220, MESSAGE), Step(300, VALU, 1, stalls), Step(310, VALU)]
    trace = opened(tmp_path, lines, [Wave(0, 100, 400, steps)])
    (wave,) = trace.reader.read([0]).waves
    columns = (wave.tokens.line, wave.tokens.kind, wave.tokens.start, wave.tokens.stall, wave.tokens.duration)
    rows = [
        (int(trace.code.address[line]) - TEXT, *rest)
        for line, *rest in zip(*(one.tolist() for one in columns), strict=True)
    ]
    assert rows[2] == (8, IMMED, 221, 0, 79 - stalls)
    assert [row[0] for row in rows] == [0, 4, 8, 12, 16, 20]
    states = list(zip(wave.states.state.tolist(), wave.states.duration.tolist(), strict=True))
    told = [(IDLE, 100), (EXEC, 21), (WAIT, 79 - stalls), (STALL, stalls), (EXEC, 100)]
    assert states == [one for one in told if one[1]]
