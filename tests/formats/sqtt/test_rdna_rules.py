"""What tokens of RDNA mean, rule by rule, in small streams made by hand.

gfx10 and gfx1250 are tested here alone: no capture of them was at hand.
"""

import pytest

from rcv_py.formats.sqtt.decode import decode
from rcv_py.formats.sqtt.rdna_tables import OP_ACT, OP_CYCLES, Act, Token, layout
from rcv_py.formats.sqtt.records import FLAG_BARRIER, DecodedStream
from rcv_py.model.kinds import EventKind, TokenKind, WaveState
from tests.formats.sqtt import rdna_encoder as enc
from tests.formats.sqtt import wave_rows
from tests.formats.sqtt.rdna_encoder import ALL_FORMS, Encoder

HERE = (0, 0, 0)
ENTRY = 0x1234_5600
GENERATIONS = (10, 11, 12)


def begun(generation: int, slot: int = 3, begin: int = 100) -> Encoder:
    encoder = Encoder(generation)
    encoder.program(10, ENTRY)
    encoder.wave_start(begin, slot, HERE)
    return encoder


def tokens(stream: DecodedStream, wave: int = 0) -> list[tuple[int, ...]]:
    return list(map(tuple, wave_rows.records(stream, wave)))


def breaks(stream: DecodedStream, wave: int = 0) -> list[tuple[int, ...]]:
    return list(map(tuple, wave_rows.breaks(stream, wave)))


def occupancy(stream: DecodedStream) -> list[tuple[int, bool, int, int, int, int]]:
    told = stream.occupancy
    columns = (told.time, told.is_start, told.cu, told.simd, told.slot, told.entry)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_wave_has_its_tokens_between_its_begin_and_its_end(generation):
    encoder = begun(generation)
    encoder.add(110, "valu", 3 << 7)
    encoder.add(111, "valu", 4 << 7)  # a slot in which no wave is
    encoder.instruction(112, 3, 1)
    encoder.add(150, "wait", 3 << 7)
    encoder.wave_end(170, 3, HERE)
    encoder.add(180, "valu", 3 << 7)
    stream = decode(encoder.stream())
    assert stream.gfxip == generation
    assert tokens(stream) == [
        (110, TokenKind.VALU, 0, 1),
        (112, TokenKind.SMEM, 0, 1),
        (113, TokenKind.IMMED, 37, 38),
        (151, TokenKind.MSG, 0, 19),
    ]
    assert (stream.waves.begin[0], stream.waves.end[0], stream.waves.entry[0]) == (100, 170, ENTRY)
    assert (stream.waves.me[0], stream.waves.pipe[0], stream.waves.workgroup[0]) == (1, 0, -1)
    assert stream.waves.is_complete.tolist() == [True]
    assert occupancy(stream) == [(100, True, 0, 0, 3, ENTRY), (170, False, 0, 0, 3, ENTRY)]
    assert not stream.has_lost_data
    assert not stream.is_truncated


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_state_that_lasts_longer_than_32_bits_hold_is_told_whole(generation):
    late = 100 + 3 * (1 << 30)
    encoder = begun(generation)
    encoder.add(110, "valu", 3 << 7)
    encoder.add(late, "valu", 3 << 7)
    encoder.wave_end(late + 7, 3, HERE)
    waves = decode(encoder.stream()).waves
    assert waves.state_duration.tolist() == [10, late + 7 - 110]


@pytest.mark.parametrize(("generation", "began"), [(10, 119), (11, 119), (12, 120)])
def test_a_wave_that_was_ready_stalled_until_it_issued(generation, began):
    encoder = begun(generation)
    encoder.add(110, "valu", 3 << 7)
    encoder.add(120, "ready", 1 << 3 << 8)
    encoder.add(130, "valu", 3 << 7)
    encoder.wave_end(131, 3, HERE)
    stall = 130 - began
    stream = decode(encoder.stream())
    assert tokens(stream)[1] == (began, TokenKind.VALU, stall, stall + 1)


@pytest.mark.parametrize("generation", [10, 11])
def test_a_wave_is_ready_before_what_the_same_cycle_tells(generation):
    encoder = begun(generation)
    encoder.add(110, "valu", 3 << 7)
    encoder.add(120, "valu", 3 << 7)
    encoder.add(120, "ready", 1 << 3 << 8, rank=5)  # stands behind it
    encoder.wave_end(121, 3, HERE)
    assert tokens(decode(encoder.stream()))[1] == (119, TokenKind.VALU, 1, 2)


@pytest.mark.parametrize("generation", [10, 11])
def test_a_barrier_lasts_until_the_next_token(generation):
    encoder = begun(generation)
    encoder.add(110, "valu", 3 << 7)
    encoder.instruction(120, 3, enc.BARRIER)
    encoder.add(150, "valu", 3 << 7)
    encoder.wave_end(151, 3, HERE)
    stream = decode(encoder.stream())
    assert tokens(stream)[1] == (111, TokenKind.MSG, 9, 39)
    assert stream.waves.flags.tolist() == [0, FLAG_BARRIER, 0]


def test_a_wait_for_a_barrier_of_gfx12_is_a_wait():
    encoder = begun(12)
    encoder.instruction(120, 3, enc.BARRIER)
    encoder.add(150, "valu", 3 << 7)
    encoder.wave_end(151, 3, HERE)
    stream = decode(encoder.stream())
    assert tokens(stream)[0] == (120, TokenKind.IMMED, 0, 1)
    assert stream.waves.flags[0] == FLAG_BARRIER


@pytest.mark.parametrize("generation", GENERATIONS)
def test_of_a_trap_nothing_is_told_but_that_it_was(generation):
    encoder = begun(generation)
    encoder.add(110, "valu", 3 << 7)
    encoder.instruction(120, 3, 6)
    encoder.add(130, "valu", 3 << 7)
    encoder.new_pc(132, 3, 0x777700)
    encoder.instruction(140, 3, 117)
    encoder.new_pc(142, 3, 0x5550)
    encoder.add(150, "valu", 3 << 7)
    encoder.wave_end(151, 3, HERE)
    stream = decode(encoder.stream())
    assert [row[:2] for row in tokens(stream)] == [
        (110, TokenKind.VALU),
        (120, TokenKind.TRAP),
        (150, TokenKind.VALU),
    ]
    assert tokens(stream)[1] == (120, TokenKind.TRAP, 0, 21)
    assert breaks(stream) == [(1, 0x5550)]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_addresses_fill_the_oldest_open_break_also_after_the_end(generation):
    encoder = begun(generation)
    encoder.instruction(110, 3, enc.CALL)
    encoder.instruction(111, 3, 0)
    encoder.instruction(112, 3, enc.CALL)
    encoder.new_pc(113, 3, 0x1000)
    encoder.wave_end(120, 3, HERE)
    encoder.new_pc(125, 3, 0x2000)
    encoder.new_pc(126, 3, 0x3000)  # nothing is open
    stream = decode(encoder.stream())
    assert breaks(stream) == [(0, 0x1000), (2, 0x2000), (3, 0x3000)]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_context_that_is_saved_and_restored_is_the_same_wave(generation):
    encoder = begun(generation)
    encoder.add(110, "valu", 3 << 7)
    encoder.wave_start(200, 3, HERE, count=66)
    encoder.add(210, "valu", 3 << 7)
    encoder.wave_start(300, 3, HERE, count=68)
    encoder.add(310, "valu", 3 << 7)
    encoder.instruction(320, 3, 117)
    encoder.add(330, "valu", 3 << 7)
    encoder.wave_end(331, 3, HERE)
    stream = decode(encoder.stream())
    assert tokens(stream) == [
        (110, TokenKind.VALU, 0, 1),
        (200, TokenKind.TRAP, 0, 121),
        (330, TokenKind.VALU, 0, 1),
    ]
    assert stream.waves.contexts.tolist() == [2]
    assert [row[:2] for row in occupancy(stream)] == [(100, True), (200, False), (300, True), (331, False)]
    assert {row[5] for row in occupancy(stream)} == {ENTRY}


def test_a_context_that_comes_from_before_begins_somewhere():
    encoder = Encoder(12)
    encoder.program(10, ENTRY)
    encoder.wave_start(100, 3, HERE, count=72)
    encoder.instruction(110, 3, 117)
    encoder.new_pc(112, 3, 0x400)
    encoder.add(120, "valu", 3 << 7)
    encoder.wave_end(121, 3, HERE)
    stream = decode(encoder.stream())
    assert (stream.waves.entry[0], stream.waves.contexts[0]) == (0, 1)
    assert breaks(stream) == [(-1, 0x400)]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_saved_context_stops_all_waves(generation):
    encoder = begun(generation)
    encoder.add(110, "valu", 3 << 7)
    encoder.add(120, "misc", 1 << 19)
    encoder.add(130, "valu", 3 << 7)
    encoder.wave_end(140, 3, HERE)
    stream = decode(encoder.stream())
    assert tokens(stream) == [(110, TokenKind.VALU, 0, 1)]
    assert stream.events.tolist() == [[120, EventKind.SAVE_CONTEXT, 0, 0, 0]]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_wave_without_an_end_has_one_behind_its_last_token(generation):
    encoder = begun(generation)
    encoder.add(110, "valu", 3 << 7)
    encoder.wave_start(200, 3, HERE)
    encoder.instruction(210, 3, 60)
    stream = decode(encoder.stream())
    assert stream.waves.is_complete.tolist() == [False, False]
    assert stream.waves.end.tolist() == [115, 220]
    assert stream.waves.state_duration.tolist() == [10, 5, 10, 10]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_an_end_without_a_start_began_before_unless_data_was_lost(generation):
    encoder = Encoder(generation)
    encoder.wave_end(50, 7, (1, 2, 3))
    encoder.wave_end(60, 6, (1, 2, 3))
    encoder.loss(70)
    encoder.wave_end(80, 5, (1, 2, 3))
    stream = decode(encoder.stream())
    assert [row[:5] for row in occupancy(stream)] == [
        (0, True, 131, 2, 7),
        (0, True, 131, 2, 6),
        (50, False, 131, 2, 7),
        (60, False, 131, 2, 6),
        (80, False, 131, 2, 5),
    ]
    assert stream.has_lost_data
    assert stream.events.tolist() == [[70, EventKind.PACKET_LOSS, 0, 0, 0]]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_start_where_a_wave_ran_before_data_was_lost_ends_that_wave(generation):
    encoder = begun(generation)
    encoder.loss(150)
    encoder.program(160, 0x9900)
    encoder.wave_start(200, 3, HERE)
    stream = decode(encoder.stream())
    assert occupancy(stream) == [
        (100, True, 0, 0, 3, ENTRY),
        (199, False, 0, 0, 3, ENTRY),
        (200, True, 0, 0, 3, 0x9900),
    ]


def test_programs_are_told_apart_by_their_queue():
    encoder = Encoder(11)
    encoder.program(10, 0x1100, me=1, pipe=0)
    encoder.program(20, 0x2200, me=1, pipe=2)
    encoder.dispatch(30, me=1, pipe=2)
    encoder.register(31, 0, 1)  # no launch: a program writes there, too
    encoder.wave_start(40, 0, HERE)
    encoder.add(50, "start", 1 << 7 | 2 << 21 | 1 << 23 | 1 << 25)
    stream = decode(encoder.stream())
    assert stream.occupancy.entry.tolist() == [0x1100, 0x2200]
    assert [(one.time, one.pipe, one.entry) for one in stream.dispatches] == [(30, 2, 0x2200)]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_clocks_come_in_pairs(generation):
    encoder = Encoder(generation)
    encoder.clock(1000, 77_000)
    encoder.clock(90_000, 0xFFFF_FFFF1)
    assert decode(encoder.stream()).realtime.tolist() == [[1000, 77_000], [90_000, 0xFFFF_FFFF1]]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_code_objects_are_told_in_user_data(generation):
    space = 1 if generation == 10 else 0  # gfx10 has user data beside the compute registers
    words = (0x434F5200, 0x006, 0x104, 0x200, 0x204, 0x1000, 0x304, 0x7F, 0x004, 9 << 2)
    encoder = Encoder(generation)
    for number, word in enumerate((words[0], 100_000 << 12 | 6, *words[2:])):
        encoder.register(100 + number, 0xC342, word, space=space)
    stream = decode(encoder.stream())
    assert stream.frequency == 100_000_000
    (told,) = stream.code_objects
    assert (told.time, told.id, told.address, told.size) == (109, 9, 0x7F_0000_1000, 0x200)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_programs_write_into_the_trace(generation):
    encoder = Encoder(generation)
    if generation == 12:
        where = 1 << 10 | 2 << 11 | 5 << 13 | 9 << 17
        encoder.add(100, "data", where | 0xDEADBEEF << 22)
        encoder.add(110, "short_data", where | 0x5A << 22 | 1 << 30)
        cu, flags = 128 + 5, 3
    else:
        where = 1 << 8 | 2 << 9 | 5 << 11 | 9 << 15
        encoder.add(100, "data", where | 0xDEADBEEF << 20)
        encoder.add(110, "short_data", where | 0x5A << 20)
        encoder.add(120, "short_data", where | 0x5A << 20 | (generation == 11) << 14)  # not valid
        cu, flags = 128 + 5, 1
    rows = decode(encoder.stream()).shader_data.tolist()
    assert rows[:2] == [[100, 0xDEADBEEF, cu, 2, 9, 0], [110, 0x5A, cu, 2, 9, flags]]
    assert len(rows) == (3 if generation == 10 else 2)


def test_events_have_a_name_or_are_left_out():
    encoder = Encoder(11)
    for time, number in ((100, 7), (110, 0x14), (120, 0x28), (130, 0x36), (140, 0x35)):
        encoder.add(time, "event", (time == 120) << 11 | 2 << 14 | 1 << 16 | number << 18)
    encoder.add(150, "misc", 0xF3 << 16)
    found = decode(encoder.stream()).events.tolist()
    assert found[:4] == [
        [100, EventKind.CS_PARTIAL_FLUSH, 1, 2, 1],
        [110, EventKind.CACHE_FLUSH, 1, 2, 1],
        [120, EventKind.BOTTOM_OF_PIPE_TS, 1, 2, 3],
        [130, EventKind.TT_FLUSH, 1, 2, 1],
    ]
    assert sorted(row[1] for row in found[4:]) == sorted(
        (
            EventKind.SPM_SAMPLE,
            EventKind.GC_RINSE,
            EventKind.TT_STALL_BEGIN,
            EventKind.TT_STALL_END,
            EventKind.DIDT_STALL_BEGIN,
            EventKind.DIDT_STALL_END,
        )
    )


def test_what_the_other_simd_issues_is_no_token_of_a_wave():
    encoder = begun(12)
    encoder.instruction(110, 3, 84)
    encoder.instruction(111, 3, 188 + 9)
    stream = decode(encoder.stream())
    assert stream.other_simd.tolist() == [[110, 5, TokenKind.LDS], [111, 10, TokenKind.VMEM]]
    assert stream.other_simd_number == 2
    assert tokens(stream) == []


def test_the_header_says_where_and_how_fast():
    encoder = Encoder(12, simd=3, wgp=6, shader_array=1)
    encoder.wave_start(100, 0, (1, 3, 6))
    encoder.instruction(110, 0, 147)
    stream = decode(encoder.stream(header=5 << 28 | 2 << 33 | 1 << 59))
    assert (stream.cu, stream.simds, stream.excludes_barrier_waits) == (128 + 6, 1 << 3, True)
    assert tokens(stream) == [(110, TokenKind.VALU, 0, 64)]


@pytest.mark.parametrize(
    ("version", "number", "kind", "cycles"),
    [
        (2, 30, TokenKind.FLAT, 1),
        (2, 34, TokenKind.FLAT, 5),
        (2, 35, TokenKind.VMEM, 1),
        (2, 40, TokenKind.VMEM, 5),
        (2, 46, TokenKind.LDS, 5),
        (2, 54, TokenKind.VMEM, 6),
        (3, 10, TokenKind.VALU, 8),
        (3, 28, TokenKind.FLAT, 2),
        (3, 33, TokenKind.VMEM, 1),
        (3, 40, TokenKind.VMEM, 6),
        (3, 78, TokenKind.VMEM, 8),
        (3, 106, TokenKind.BVH, 12),
        (3, 118, TokenKind.LDS, 6),
        (4, 10, TokenKind.VALU, 1),
        (4, 15, TokenKind.VALU, 16),
        (4, 118, TokenKind.BVH, 6),
        (4, 122, TokenKind.MSG, 1),
        (4, 143, TokenKind.VALU, 64),
        (4, 146, TokenKind.VALU, 8),
        (4, 255, TokenKind.VMEM, 34),
        (5, 11, TokenKind.VALU, 4),
        (5, 140, TokenKind.NONE, 0),
        (5, 184, TokenKind.VALU, 4),
        (5, 279, TokenKind.MSG, 1),
        (5, 280, TokenKind.IMMED, 1),
        (5, 302, TokenKind.VALU, 8),
        (5, 179, TokenKind.VALU, 16),
    ],
)
def test_numbers_of_instructions(version, number, kind, cycles):
    op = int(layout(version).instructions(8, 2)[number])
    assert (op & 0xFF, op >> OP_CYCLES) == (kind, cycles)
    assert (op >> OP_ACT & 0xFF == Act.NOTHING) == (kind == TokenKind.NONE)


def test_durations_that_32_bits_do_not_hold():
    encoder = begun(11)
    encoder.add(110, "valu", 3 << 7)
    encoder.add(5_000_000_000, "wait", 3 << 7)
    encoder.wave_end(5_000_000_010, 3, HERE)
    assert tokens(decode(encoder.stream()))[1] == (111, TokenKind.IMMED, 4_999_999_889, 4_999_999_890)


def test_a_stream_that_is_cut_says_so():
    encoder = begun(11)
    encoder.wave_end(170, 3, HERE)
    encoder.program(400, ENTRY)
    data = encoder.stream()
    while not data[-1]:
        data = data[:-1]
    stream = decode(data[:-1])
    assert stream.is_truncated
    assert len(stream.occupancy.time) == 2


def test_half_a_time_stamp_at_the_end_of_what_the_hardware_writes_at_once_is_usual():
    data = begun(11).stream()
    assert not decode(data[:-1] + b"\x01").is_truncated
    assert decode(data + b"\x01").is_truncated
    assert decode(data[:-1] + b"\x09").is_truncated


def test_where_nothing_fits_decoding_ends():
    data = begun(12).stream()
    stream = decode(data + b"\x07" * 40 + data)
    assert stream.lost_at == len(data)
    assert len(stream.waves) == 1


def test_a_time_that_no_clock_reaches_ends_decoding():
    encoder = begun(12)
    data = encoder.stream()
    stamp = ((1 << 52) - 1) << 12 | 1
    stream = decode(data + stamp.to_bytes(8, "little") * 2000)
    assert stream.lost_at > len(data)
    assert stream.waves.end.max() < 1 << 62


# gfx1250: tokens of whole bytes


def gfx1250(*parts: tuple[int, int]) -> bytes:
    """A header, and (value, bytes) each."""
    header = 0b0010001 | 5 << 7
    return b"".join(value.to_bytes(size, "little") for value, size in ((header, 8), *parts))


START = (0b01100 | 1 << 22 | 1 << 25, 4)  # slot 0


def start(slot: int) -> tuple[int, int]:
    return START[0] | slot << 15, 4


def inst(slot: int, number: int, delta: int = 0) -> tuple[int, int]:
    return 0b0010 | delta << 4 | slot << 7 | number << 12, 3


def valu(code: int) -> tuple[int, int]:
    return 0b011 | code << 4, 1


def test_gfx1250_tells_the_wave_of_a_short_token_by_how_lately_it_issued():
    data = gfx1250(
        start(1),
        start(2),
        inst(1, 10, 1),
        inst(2, 10, 1),
        valu(0),
        valu(5),
        valu(4),
        valu(12),
        (0b1110 | 5 << 4, 1),
    )
    stream = decode(data)
    # codes: 0 is the latest wave a cycle later, 5 the one before it two cycles later, 4 that a cycle later
    assert tokens(stream, 0) == [(1, TokenKind.VALU, 0, 1), (5, TokenKind.VALU, 0, 1)]
    assert tokens(stream, 1) == [
        (2, TokenKind.VALU, 0, 1),
        (3, TokenKind.VALU, 0, 1),
        (6, TokenKind.VALU, 0, 1),
    ]
    assert stream.gfxip == 12


def test_gfx1250_has_tokens_of_its_own():
    data = gfx1250(
        start(1),
        (0b1000 | 9 << 4, 1),  # 10 cycles
        (0b10100110 | 200 << 8, 2),  # 200
        (0b1101 | 2 << 7 | 1 << 10, 2),  # a wait
        (0, 1),
        inst(1, 187, 3),
        (0b00100110, 3),
        (0b1010001 | 1 << 10 | 1 << 13, 3),
        (0b1000001 | 5 << 7 | 1 << 17, 3),
    )
    stream = decode(data)
    assert tokens(stream) == [(212, TokenKind.IMMED, 0, 1), (215, TokenKind.VALU, 0, 32)]
    assert stream.waves.end.tolist() == [220]
    assert [row[:2] for row in stream.events.tolist()] == [
        [215, EventKind.SPM_SAMPLE],
        [215, EventKind.TT_STALL_BEGIN],
    ]
    assert stream.lost_at == -1


def later(cycles: int) -> tuple[int, int]:
    return 0b10100110 | cycles << 8, 2


def ended(slot: int) -> tuple[int, int]:
    return 0b1000001 | slot << 17, 3


def states(stream: DecodedStream) -> list[tuple[int, ...]]:
    return list(map(tuple, wave_rows.states(stream)))


WAIT_1 = (0b1101 | 1 << 10, 2)
REPLAY, SCALES = inst(1, 79), inst(1, 183)


@pytest.mark.parametrize(("units", "cycles"), [(0, 4), (1, 2)])
def test_gfx1250_with_two_units_computes_transcendentals_in_half_the_cycles(units, cycles):
    data = bytearray(gfx1250(start(1), later(10), inst(1, 11), later(10), ended(1)))
    data[7] |= units << 4  # bit 60 of the header
    assert tokens(decode(bytes(data)))[0] == (10, TokenKind.VALU, 0, cycles)


def test_gfx1250_takes_back_a_memory_instruction_that_is_issued_again():
    """The load of 10 and the wait for it never were: the wave stalls from 9 until the load of 100."""
    data = gfx1250(
        *(start(1), later(10), inst(1, 55), later(20), WAIT_1, later(10), REPLAY),
        *(later(60), inst(1, 55), later(10), ended(1)),
    )
    stream = decode(data)
    assert tokens(stream) == [(9, TokenKind.VMEM, 91, 92), (101, TokenKind.MSG, 0, 9)]
    assert states(stream) == [(WaveState.IDLE, 9), (WaveState.STALL, 91), (WaveState.EXEC, 10)]


def test_gfx1250_takes_back_one_memory_instruction_per_replay():
    """Two in a row take back the wait, the LDS access of 20 and the load of 10; the jump stays."""
    data = gfx1250(
        *(start(1), later(5), inst(1, 5), later(5), inst(1, 55), later(10), inst(1, 110), later(5), WAIT_1),
        *(later(5), REPLAY, later(10), REPLAY, later(60), WAIT_1, later(10), ended(1)),
    )
    stream = decode(data)
    assert tokens(stream)[:2] == [(5, TokenKind.SALU, 0, 1), (6, TokenKind.IMMED, 94, 95)]
    assert breaks(stream) == [(0, 0)]
    assert states(stream)[:3] == [(WaveState.IDLE, 5), (WaveState.EXEC, 4), (WaveState.STALL, 31)]


def test_gfx1250_replays_nothing_if_there_was_nothing():
    data = gfx1250(start(1), later(10), REPLAY, later(20), inst(1, 0), later(10), ended(1))
    assert tokens(decode(data))[0] == (10, TokenKind.SALU, 20, 21)


def test_gfx1250_loads_scales_in_a_cycle_of_the_next_instruction():
    data = gfx1250(start(1), later(10), SCALES, later(6), inst(1, 179), later(30), inst(1, 0), ended(1))
    assert tokens(decode(data))[:2] == [(15, TokenKind.VALU, 0, 17), (46, TokenKind.SALU, 0, 1)]
    at_once = gfx1250(start(1), later(10), SCALES, inst(1, 179), ended(1))
    assert tokens(decode(at_once))[0] == (10, TokenKind.VALU, 0, 16)


def test_every_form_of_the_encoder_is_one_that_the_walk_knows():
    names = {
        "inst": Token.INST,
        "valu": Token.VALU_INST,
        "wait": Token.IMM_ONE,
        "waits": Token.IMMEDIATE,
        "start": Token.WAVE_START,
        "start_ext": Token.WAVE_START_EXT,
        "end": Token.WAVE_END,
        "data": Token.SHADER_DATA,
        "short_data": Token.SHADER_DATA_SHORT,
        "stamp": Token.TIMESTAMP,
        "util": Token.UTIL_COUNTER,
        "popcount": Token.EXEC_POPCOUNT,
    }
    for generation, forms in ALL_FORMS.items():
        rules = layout(enc.VERSIONS[generation]).rules
        for name, (prefix, bits, first, width) in forms.items():
            rule = int(rules[prefix])
            assert (
                names.get(name, Token[name.upper()] if name.upper() in Token.__members__ else rule & 0xFF)
                == rule & 0xFF
            )
            assert rule >> 8 & 0xFF == bits
            assert rule >> 16 & 0xFF == first
            assert rule >> 24 & 0xFFF == (1 << width) - 1
