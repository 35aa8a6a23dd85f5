"""Whether s_barrier_wait of gfx12 left a token, in a stream that says that it may leave none."""

import json
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rcv_py.formats.open import open_trace
from rcv_py.formats.raw.decode import with_barrier_waits
from rcv_py.formats.raw.stitch import StreamStarts, listing, stitch
from rcv_py.model.trace import Trace
from tests.formats.raw.test_stitch import program, waves
from tests.formats.sqtt.rdna_encoder import EXEC, IDLE, IMMED, MESSAGE, STALL, VALU, WAIT, Encoder, Step, Wave
from tests.support.object_files import TEXT, code_file

BASE = 0x7F12_3450_0000
EXCLUDES = 1 << 59  # in the header: s_barrier_wait may leave no token
# Four rounds of nothing that a unit issues, so that only the number of tokens decides.
ROUND = ("s_sleep 4", "s_barrier_signal -1", "s_barrier_wait 0xffff", *["s_nop 0"] * 4)
LINES = (*ROUND * 4, "s_endpgm")
WAVES = 4


def opened(folder: Path, lines: Sequence[str], ran: Sequence[Wave]) -> Trace:
    """A raw capture of waves that run these lines of four bytes."""
    encoder = Encoder(12)
    encoder.program(10, BASE + TEXT)
    encoder.dispatch(20)
    encoder.waves(ran)
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
    ran = [
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
    trace = opened(tmp_path, LINES, ran)
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


@pytest.mark.parametrize("seed", range(20))
def test_any_tokens_keep_their_rows_and_waves_their_length(seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = ["s_nop", "v_nop", "s_branch", "s_barrier_signal", "s_barrier_wait", "s_barrier_wait", "ds_read"]
    texts = rng.choice(words, 40).tolist()
    goes = {row: int(rng.integers(0, 40)) for row, text in enumerate(texts) if text == "s_branch"}
    breaks = {int(token): 0x100 + 4 * int(rng.integers(0, 40)) for token in sorted(rng.choice(9, 3, False))}
    first = rng.integers(0, 15, 40).tolist()
    records = waves(
        first, *(rng.integers(0, 15, rng.integers(0, 60)).tolist() for _ in range(5)), breaks=breaks
    )
    lines = listing([(1, program(*texts, goes=goes))])
    entry = np.zeros(len(records), dtype=np.int32)
    named = lines.rows(np.ones(len(breaks), int), records.break_address)
    walked, rows = stitch(records, lines, StreamStarts(entry, named), 12, excludes=True)
    more, row = with_barrier_waits(walked, rows, lines)
    assert len(row) == len(more.time) == len(more.kind) == more.token_first[-1] >= len(rows)
    kept = iter(row.tolist())
    assert all(one in kept for one in rows.tolist()), "in their order"
    assert (np.diff(more.token_first) >= np.diff(records.token_first)).all()
    of_wave = np.add.reduceat(np.append(more.state_duration, 0), more.state_first[:-1])
    lengths = np.where(np.diff(more.state_first) > 0, of_wave, 0)
    assert lengths.tolist() == records.state_duration.tolist()
    token = more.token_first[0] + more.break_token
    assert row[token].tolist() == rows[records.break_token].tolist(), "breaks follow the same tokens"
