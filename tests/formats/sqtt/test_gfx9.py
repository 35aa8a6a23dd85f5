"""Streams of gfx9: whole captures against their truth, and each rule on a stream of a few tokens."""

import os
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from rcv_py.base.errors import BrokenFile, Cancelled
from rcv_py.base.progress import CancelFlag, stoppable
from rcv_py.formats.sqtt.decode import decode
from rcv_py.formats.sqtt.records import DecodedStream
from rcv_py.model.kinds import EventKind, TokenKind, WaveState
from tests.formats.sqtt import encode_gfx9 as raw
from tests.formats.sqtt.encode_gfx9 import AFTER, BEFORE, Tape
from tests.formats.sqtt.wave_rows import breaks, known_waves, records, states, waves
from tests.support.programs import finished
from tests.support.raw_samples import raw_sample
from tests.support.sqtt_truth import Raw

IDLE, EXEC, WAIT, STALL = (int(getattr(WaveState, name)) for name in ("IDLE", "EXEC", "WAIT", "STALL"))


# -- whole captures ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gfx9", "kernels"])
def test_every_record_is_that_of_the_simulator(name: str) -> None:
    every_record_is_known(raw_sample(name))


def every_record_is_known(known: Raw) -> None:
    """Decode every stream of a raw capture, and compare all of it with the truth."""
    bases = {code["text"]: code["base"] for code in known.said["code"].values()}
    for capture in known.said["captures"]:
        data = (known.folder / capture["file"]).read_bytes()
        stream = decode(data)
        assert (stream.gfxip, stream.cu) == (9, capture["target"]["cu"])
        launches = [[one.time, one.me, one.pipe, one.entry] for one in stream.dispatches]
        assert launches == [[*row[:3], row[3] + bases[row[3]]] for row in capture["dispatches"]]
        assert occupancy(stream) == [
            [*row[:7], row[7] + bases[row[7]], row[8]] for row in capture["occupancy"]
        ]
        assert EventKind.RESERVED not in stream.events[:, 1], "tokens that the recording tool left, no events"
        assert waves(stream) == known_waves(capture["waves"])
        assert stream.tokens == len(heads(data))
        assert (stream.is_truncated, stream.has_lost_data) == (False, False)
        assert (len(stream.counters), len(stream.realtime)) == (0, 0)


def heads(data: bytes) -> list[int]:
    """Where the tokens of a stream begin."""
    lengths = (2, 8, 8, 4, 2, 6, 2, 2, 2, 2, 2, 8, 6, 4, 8, 6)
    found = [8]
    while found[-1] < len(data):
        found.append(found[-1] + lengths[data[found[-1]] & 15])
    return found[:-1]


def occupancy(stream: DecodedStream, base: int = 0) -> list[list[int]]:
    one = stream.occupancy
    columns = (one.time, one.is_start, one.cu, one.simd, one.slot, one.me, one.pipe, one.entry, one.workgroup)
    rows = [list(map(int, row)) for row in zip(*columns, strict=True)]
    return [[*row[:7], row[7] - base, row[8]] for row in rows]


# -- time --------------------------------------------------------------------------------------------------


def stream_of(*tokens: tuple[int, raw.Token], cu: int = 0, **facts: int) -> DecodedStream:
    tape = Tape(cu)
    for time, token in tokens:
        tape.put(time, token)
    return decode(tape.stream(**facts))


def test_the_header_says_what_was_traced() -> None:
    stream = decode(raw.header(cu=11, kind=5, se=37, simds=0b0101) + raw.misc(0)[0].to_bytes(2, "little"))
    assert (stream.version, stream.se, stream.cu, stream.simds, stream.tokens) == (5, 37, 11, 5, 1)


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0\0\0\0\0\0\0", b"PK\3\4 no trace", b"\xff" * 64])
def test_what_is_no_trace_is_refused(data: bytes) -> None:
    with pytest.raises(BrokenFile, match=r"x\.att"):
        decode(data, "x.att")


def test_a_stream_without_tokens_is_empty() -> None:
    stream = decode(raw.header(0))
    assert (stream.tokens, len(stream.waves), len(stream.occupancy.time)) == (0, 0, 0)
    assert not stream.is_truncated


def test_a_reset_takes_the_next_timestamp_and_no_other() -> None:
    stream = stream_of(
        (100, raw.misc(1)),  # the first one sets the base
        (100, raw.end(1, 0, 0)),
        (100, raw.stamp(5000)),
        (200, raw.stamp(9999)),  # nobody asked
        (200, raw.misc(1)),
        (200, raw.end(2, 0, 0)),
        (200, raw.stamp(5000 + 1003)),  # and three cycles, which are not a step
        (200, raw.misc(1)),
        (200, raw.end(3, 0, 0)),
        (200, raw.misc(1)),
        (200, raw.stamp(5000 + 2000)),
        (204, raw.end(4, 0, 0)),
    )
    ends = stream.occupancy.time[~stream.occupancy.is_start]
    base = 5000 - 100 + 4
    first, second = 5000 - base, (6003 - base) // 4 * 4
    assert ends.tolist() == [first, second, second, 7000 - base + 4]


def test_a_cut_token_ends_the_stream() -> None:
    whole = Tape()
    whole.put(8, raw.end(1, 2, 3))
    whole.put(12, raw.register(0xC342, 1))
    data = whole.stream()
    assert not decode(data).is_truncated
    for cut in range(1, 8):
        stream = decode(data[:-cut])
        assert stream.is_truncated, cut
        assert stream.occupancy.time.tolist() == [0, 8]


# -- who runs where ----------------------------------------------------------------------------------------


def test_occupancy_knows_entries_and_ignores_what_was_told_twice() -> None:
    stream = stream_of(
        (0, raw.compute(0xC, 0x12345678, me=1, pipe=2)),
        (0, raw.compute(0xD, 0xAB, me=1, pipe=2)),
        (0, raw.compute(0xC, 1, me=0, pipe=2)),
        (8, raw.start(7, 3, 9, me=1, pipe=2, group=5)),
        (12, raw.start(7, 3, 9, me=1, pipe=2)),  # again
        (16, raw.end(7, 3, 9)),
        (20, raw.end(6, 1, 2)),  # it began before the trace
        (24, raw.end(6, 1, 3)),
    )
    entry = 0xAB12345678 << 8
    assert occupancy(stream) == [
        [0, 1, 6, 1, 3, -1, -1, 0, -1],
        [0, 1, 6, 1, 2, -1, -1, 0, -1],
        [8, 1, 7, 3, 9, 1, 2, entry, 5],
        [16, 0, 7, 3, 9, 1, 2, entry, 0],
        [20, 0, 6, 1, 2, -1, -1, 0, -1],
        [24, 0, 6, 1, 3, -1, -1, 0, -1],
    ]


def test_an_end_without_a_start_says_nothing_once_data_were_lost() -> None:
    stream = stream_of((4, raw.misc(2)), (8, raw.end(6, 1, 2)))
    assert stream.has_lost_data
    assert len(stream.occupancy.time) == 0
    assert stream.events[:, :2].tolist() == [[4, EventKind.PACKET_LOSS]]


def test_a_wave_that_began_before_the_trace_is_known_by_its_kinds() -> None:
    tape = Tape()
    tape.put(40, raw.kind(2, 5, 5))
    tape.issue(48, 2, 5, raw.ISSUES)
    tape.put(48, raw.kind(2, 5, 5), AFTER)
    stream = decode(tape.stream())
    assert waves(stream) == [(0, 2, 5, 40, 56, False, 0, [[48, TokenKind.VALU, 0, 4]], [[IDLE, 8]])]


def test_a_kind_that_comes_behind_the_end_of_its_wave_opens_none() -> None:
    stream = stream_of((0, raw.start(0, 0, 0)), (8, raw.end(0, 0, 0)), (12, raw.kind(0, 0, 5)))
    assert len(stream.waves) == 1
    lone = stream_of((0, raw.kind(0, 0, 5)))
    assert len(lone.waves) == 0, "a kind alone is not a wave"


def test_waves_of_other_units_leave_no_records() -> None:
    tape = Tape(cu=3)
    tape.put(0, raw.start(2, 0, 0))
    tape.issue(8, 0, 0, raw.ISSUES)
    tape.put(12, raw.end(2, 0, 0))
    stream = decode(tape.stream())
    assert len(stream.waves) == 0
    assert occupancy(stream)[0][:5] == [0, 1, 2, 0, 0]


# -- what a wave did ---------------------------------------------------------------------------------------


def wave_of(*steps: tuple[int, int | str], until: int = 400, simd: int = 1) -> DecodedStream:
    """A wave on slot 0 from cycle 0: at each time an issue (a word) or a kind (a number)."""
    tape = Tape()
    tape.put(0, raw.start(0, simd, 0), BEFORE)
    for time, what in steps:
        if isinstance(what, str):
            tape.put(time, raw.issue(simd, {0: {"stall": 1, "issue": 2, "wait": 3}[what]}))
        else:
            tape.put(time, raw.kind(simd, 0, what))
    if until:
        tape.put(until, raw.end(0, simd, 0), raw.LAST)
    return decode(tape.stream())


def test_stalls_and_waits() -> None:
    stream = wave_of(
        (8, "issue"), (8, 5), (16, "stall"), (40, "issue"), (40, 2), (60, "wait"), (64, "issue"), (72, 1)
    )
    assert records(stream) == [
        [8, TokenKind.VALU, 0, 4],
        [16, TokenKind.VMEM, 24, 28],
        [44, TokenKind.IMMED, 20, 20],
        [64, TokenKind.SALU, 0, 8],  # told two steps later: one belongs to the unit
    ]
    assert states(stream) == [[IDLE, 8], [EXEC, 8], [STALL, 24], [EXEC, 4], [WAIT, 20], [EXEC, 0 + 340]]
    assert stream.waves.end.tolist() == [404]


def test_a_record_ends_when_the_next_begins() -> None:
    stream = wave_of((8, "issue"), (40, 5), (20, "issue"), (44, 5))
    assert records(stream) == [[8, TokenKind.VALU, 0, 12], [20, TokenKind.VALU, 0, 28]]


def test_a_replay_makes_its_instruction_longer_and_leaves_nothing() -> None:
    stream = wave_of(
        (8, "issue"), (8, 2), (16, "issue"), (16, 5), (24, "issue"), (60, 21), (64, "issue"), (64, 5)
    )
    assert records(stream) == [
        [8, TokenKind.VMEM, 52, 56],
        [16, TokenKind.VALU, 0, 4],
        [64, TokenKind.VALU, 0, 4],
    ]


def test_a_replay_of_what_was_not_issued_changes_nothing() -> None:
    stream = wave_of((8, "issue"), (8, 5), (24, "issue"), (60, 21), (64, "issue"), (64, 5))
    assert records(stream) == [[8, TokenKind.VALU, 0, 4], [64, TokenKind.VALU, 0, 4]]


def test_kinds_without_an_instruction_leave_nothing_however_many() -> None:
    stream = wave_of(*[(8, "issue")] * 50, *[(12, 9)] * 49, (16, 5))
    assert records(stream) == [[8, TokenKind.VALU, 0, 12]]


def test_records_without_a_kind_are_left_out() -> None:
    stream = wave_of((8, "issue"), (8, 5), (16, "issue"), (20, "issue"), until=0)
    assert records(stream) == [[8, TokenKind.VALU, 0, 4]]
    assert (stream.waves.end.tolist(), stream.waves.is_complete.tolist()) == ([16], [False])


def test_a_jump_to_a_computed_place_says_where_it_goes() -> None:
    tape = Tape()
    tape.put(0, raw.start(0, 0, 0), BEFORE)
    for time in (8, 16, 24):
        tape.issue(time, 0, 0, raw.ISSUES)
        tape.put(time, raw.kind(0, 0, 7 if time == 16 else 5), AFTER)
    tape.put(20, raw.place(0, 0, 0x7F00_1234_5678))
    tape.put(28, raw.place(0, 0, 0x1000))  # nobody jumped: behind the newest
    stream = decode(tape.stream())
    assert breaks(stream) == [[1, 0x7F00_1234_5678], [2, 0x1000]]
    assert records(stream)[1][1] == TokenKind.SALU


def test_a_context_switch_pauses_a_wave() -> None:
    tape = Tape()
    tape.put(0, raw.start(0, 0, 0), BEFORE)
    tape.issue(8, 0, 0, raw.ISSUES)
    tape.put(8, raw.kind(0, 0, 5), AFTER)
    tape.put(20, raw.misc(6))
    tape.issue(24, 0, 0, raw.ISSUES)  # of the handler
    tape.put(40, raw.start(0, 0, 0, count=66))
    tape.put(44, raw.end(0, 0, 0))  # it leaves
    tape.put(80, raw.start(0, 0, 0, count=68))
    tape.put(96, raw.kind(0, 0, 7))
    tape.put(100, raw.place(0, 0, 0x2000))
    tape.issue(104, 0, 0, raw.ISSUES)
    tape.put(104, raw.kind(0, 0, 5), AFTER)
    tape.put(120, raw.end(0, 0, 0))
    stream = decode(tape.stream())
    assert records(stream) == [
        [8, TokenKind.VALU, 0, 4],
        [40, TokenKind.TRAP, 0, 60],
        [104, TokenKind.VALU, 0, 4],
    ]
    assert stream.waves.contexts.tolist() == [1]
    assert breaks(stream) == [[1, 0x2000]]
    assert [row[:2] for row in occupancy(stream)] == [[0, 1], [120, 0]]
    assert stream.events[:, :2].tolist() == [[20, EventKind.SAVE_CONTEXT]]


def test_a_trap_is_entered_and_left() -> None:
    tape = Tape()
    tape.put(0, raw.start(0, 0, 0), BEFORE)
    tape.issue(8, 0, 0, raw.ISSUES)
    tape.put(8, raw.kind(0, 0, 29), AFTER)
    tape.issue(20, 0, 0, raw.ISSUES)  # of the handler
    tape.put(20, raw.kind(0, 0, 5), AFTER)
    tape.put(40, raw.kind(0, 0, 7))
    tape.put(44, raw.end(0, 0, 0))
    stream = decode(tape.stream())
    assert records(stream) == [[8, TokenKind.TRAP, 0, 36]]
    assert breaks(stream) == [[0, 0]]


def test_no_record_is_shorter_than_its_stall_where_time_goes_back() -> None:
    stream = stream_of(
        (0, raw.start(0, 0, 0)),
        (400, raw.misc(1)),
        (400, raw.stamp(1000)),
        (400, raw.issue(0, {0: raw.STALLS})),
        (800, raw.issue(0, {0: raw.ISSUES})),
        (800, raw.kind(0, 0, 29)),
        (800, raw.misc(1)),
        (800, raw.stamp(1000 + 8)),
        (800, raw.kind(0, 0, 7)),
    )
    ((_, kind, stall, duration),) = records(stream)
    assert (kind, stall, duration) == (TokenKind.TRAP, 400, 400)


def test_cycles_beyond_32_bits_are_kept() -> None:
    far = 1 << 33
    stream = stream_of(
        (0, raw.start(0, 0, 0)),
        (8, raw.misc(1)),
        (8, raw.stamp(1000)),
        (8, raw.misc(1)),
        (8, raw.stamp(1000 + far)),
        (8, raw.issue(0, {0: 2})),
        (8, raw.kind(0, 0, 5)),
        (12, raw.end(0, 0, 0)),
    )
    assert states(stream) == [[IDLE, far - 4 + 8], [EXEC, 8]]
    assert stream.waves.state_duration.dtype == np.int64


# -- everything else ---------------------------------------------------------------------------------------


def test_a_launch_has_what_its_registers_held() -> None:
    stream = stream_of(
        (0, raw.compute(0xC, 0x100, pipe=1)),
        (0, raw.compute(0xE, 0x9ABC, pipe=1)),
        (0, raw.compute(0xF, 0x12, pipe=1)),
        *[(0, raw.compute(7 + at, size, privileged=True)) for at, size in enumerate((64, 4, 2))],
        (0, raw.compute(0x12, 11 | 5 << 7 | 1 << 14)),
        (0, raw.compute(0x13, 1 | 6 << 1 | 9 << 15)),
        (8, raw.compute(0, 4, pipe=1)),  # starts nothing
        (12, raw.compute(0, 5, pipe=1)),
        (16, raw.compute(0x7F, 7, me=1, pipe=3)),
        (20, raw.compute(0x7F, 6)),
    )
    (launch,) = stream.dispatches
    assert launch.time == 12
    assert (launch.me, launch.pipe, launch.entry, launch.packet) == (0, 1, 0x10000, 0x12_0000_9ABC)
    assert (launch.vgprs, launch.sgprs, launch.user_sgprs, launch.lds_size) == (96, 96, 6, 4608)
    assert (launch.workgroup_size, launch.flags) == ((64, 4, 2), 0b1100)
    assert stream.events.tolist() == [[16, EventKind.CS_PARTIAL_FLUSH, 1, 3, 0]]


def test_user_data_tell_of_code_objects_and_clocks() -> None:
    def word(value: int) -> raw.Token:
        return raw.register(0xC342, value, me=1, pipe=2)

    def clock(value: int) -> raw.Token:
        return raw.register(0xC343, value)

    facts = [(1, 0x5000), (4, 1), (2, 0x7000_0000), (3, 0x7F), (5, 77), (6, 0)]
    loads = [one for part, value in facts for one in (word(4 | part << 8), word(value))]
    tail = [word(4), word(0b10)]
    said = [
        clock(5),  # before the mark: nothing
        word(0x434F5200),
        word(6 | 100_000 << 12),
        word(6 | 1 << 8 | 512 << 12),
        *loads,
        *tail,
        *tail,  # it is there
        word(4),
        word(1 | 77 << 2),
        clock(5),
        clock(0xFFFF_FF00),
        clock(3),
        clock(0xFFFF_FFF0),
        clock(9 | 2 << 12),  # nobody knows what
        clock(1),
        clock(2),
        clock(7),
        clock(0x10),
    ]
    stream = stream_of(*[(4 * at, token) for at, token in enumerate(said)])
    loaded, unloaded = stream.code_objects
    assert (loaded.id, loaded.address, loaded.size) == (77, 0x7F_7000_0000, 0x1_0000_5000)
    assert loaded.is_from_start is True
    assert loaded.is_unload is False
    assert unloaded.is_unload is True
    assert unloaded.id == 77
    assert stream.frequency == 100_000_000
    times = [4 * at for at, token in enumerate(said) if token in (clock(0xFFFF_FFF0), clock(0x10))]
    assert stream.realtime.tolist() == [[times[0], 3 << 32 | 0xFFFF_FFF0], [times[1], 4 << 32 | 0x10]]


def test_words_of_other_tools_are_left_alone() -> None:
    stream = stream_of(
        (0, raw.register(0xC342, 4)), (4, raw.register(0xC342, 1)), (8, raw.register(0xC343, 5))
    )
    assert (stream.code_objects, stream.frequency, len(stream.realtime)) == ((), 0, 0)


def test_user_data_count_and_other_tokens_without_the_bit_of_a_write_do_not() -> None:
    def written(kind: int, address: int, value: int) -> raw.Token:
        number, size = raw.register(address, value)
        return number ^ 1 << 15 | kind << 10, size

    words = [(0xC342, 0x434F5200), (0xC342, 6 | 100_000 << 12)]

    def frequency(kind: int) -> int:
        return stream_of(*((8, written(kind, *word)) for word in words)).frequency

    assert frequency(3) == 100_000_000
    assert [frequency(kind) for kind in (0, 1, 2, 4, 7)] == [0] * 5


@pytest.mark.parametrize("slot", [10, 15])
def test_tokens_of_slots_that_no_simd_has_are_left_out(slot: int) -> None:
    stream = stream_of(
        *((8, raw.start(0, 1, slot)), (12, raw.kind(1, slot, 5)), (16, raw.end(0, 1, slot))),
        *((20, raw.start(0, 1, 9)), (40, raw.end(0, 1, 9))),
    )
    assert occupancy(stream) == [[20, 1, 0, 1, 9, 0, 0, 0, 0], [40, 0, 0, 1, 9, 0, 0, 0, 0]]
    assert [int(one) for one in stream.waves.slot] == [9]


def test_counters_and_the_samples_that_are_not_sent() -> None:
    sample = raw.counters(2, 1, (1, 8191, 3, 4096))
    tokens = [(40, sample), (44, raw.counters(2, 1, (9, 9, 9, 9), sh=1)), (200, sample)]
    assert stream_of(*tokens).counters.tolist() == [
        [32, 1, 8191, 3, 4096, 2, 1],
        [192, 1, 8191, 3, 4096, 2, 1],
    ]
    told = stream_of(
        (0, raw.register(0xC342, 0x434F5200)), (0, raw.register(0xC342, 6 | 1 << 8 | 100 << 12)), *tokens
    )
    assert told.counters[:, [0, 1]].tolist() == [[32, 1], [132, 0], [192, 1], [292, 0]]
    assert told.counters[1].tolist() == [132, 0, 0, 0, 0, 2, 1]


def test_shader_data() -> None:
    stream = stream_of((16, raw.shader_data(9, 3, 7, 0xDEADBEEF)))
    assert stream.shader_data.tolist() == [[16, 0xDEADBEEF, 9, 3, 7, 0]]


@pytest.mark.parametrize(
    "tokens",
    [
        (raw.end(1, 0, 0),),
        (raw.start(0, 0, 0), raw.end(0, 0, 0)),
        (raw.issue(0, dict.fromkeys(range(10), raw.ISSUES)),),
        (raw.compute(0, 1),),
        (raw.register(0xC342, 4),),
    ],
)
def test_memory_follows_the_file(tokens: tuple[raw.Token, ...]) -> None:
    starts = [raw.start(0, 0, slot) for slot in range(10)]
    mark = raw.register(0xC342, 0x434F5200)
    again = b"".join(number.to_bytes(size, "little") for number, size in tokens)
    begin = b"".join(number.to_bytes(size, "little") for number, size in (mark, *starts))
    data = raw.header(0) + begin + again * (200_000 // len(again))
    decode(data)  # compiles what is not compiled yet
    tracemalloc.start()
    decode(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 160 * len(data)


def test_columns_cannot_be_changed() -> None:
    stream = wave_of((8, "issue"), (8, 5))
    for column in (stream.waves.time, stream.waves.kind, stream.occupancy.time, stream.events):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


def test_decoding_can_be_cancelled() -> None:
    flag = CancelFlag()
    flag.set()
    with stoppable(flag), pytest.raises(Cancelled):
        wave_of((8, "issue"))


# -- without numba, and where nothing can be kept ----------------------------------------------------------

DIGEST = "import sys; {before}from tests.formats.sqtt.mangled import digests; print(digests({seed}, {count}))"


def run_apart(code: str, folder: Path, **environment: str) -> str:
    known = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    done = finished([sys.executable, "-c", code], env={**known, "XDG_CACHE_HOME": str(folder), **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_plain_python_finds_the_same_and_reads_nothing_outside(tmp_path: Path) -> None:
    from tests.formats.sqtt.mangled import digests

    plain = run_apart(DIGEST.format(before="sys.modules['numba'] = None; ", seed=3, count=60), tmp_path)
    assert plain == f"{digests(3, 60)}\n"


def test_mangled_streams_are_read(tmp_path: Path) -> None:
    from tests.formats.sqtt.mangled import digests

    assert len(digests(11, 400).split()) == 400
