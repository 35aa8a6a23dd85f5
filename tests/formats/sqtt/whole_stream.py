"""What holds of every stream, whatever bytes it was."""

import numpy as np

from rcv_py.formats.sqtt.records import DecodedStream, OccupancyRecords, WaveRecords

MOST = 400  # bytes that a byte of a stream may become: a mask of sixteen waves has three
MOST_OF_ANY = 1 << 20


def check(stream: DecodedStream, size: int) -> None:
    """Assert that the columns fit together, and are no larger than `size` bytes of a stream justify."""
    waves = stream.waves
    count = len(waves)
    for first, columns in (
        (waves.token_first, (waves.time, waves.kind, waves.stall, waves.duration, waves.flags)),
        (waves.state_first, (waves.state, waves.state_duration)),
        (waves.break_first, (waves.break_token, waves.break_address)),
    ):
        assert len(first) == count + 1
        assert first[0] == 0
        assert np.all(np.diff(first) >= 0)
        assert all(len(column) == first[-1] for column in columns)
    for column in (waves.begin, waves.end, waves.entry, waves.me, waves.workgroup, waves.contexts):
        assert len(column) == count
    assert np.all(waves.begin <= waves.end)
    assert np.all(waves.stall >= 0)
    assert np.all(waves.duration >= 0)
    assert np.all(waves.state_duration > 0)
    held = np.concatenate([[0], np.cumsum(waves.state_duration)])[waves.state_first]
    spare = np.diff(held) - (waves.end - waves.begin)  # a wait ends a cycle behind its token
    assert np.all((spare == 0) | (spare == 1))
    occupancy = stream.occupancy
    assert len({len(getattr(occupancy, name)) for name in occupancy.__struct_fields__}) == 1
    assert stream.realtime.shape[1:] == (2,)
    assert stream.events.shape[1:] == (5,)
    assert stream.shader_data.shape[1:] == (6,)
    assert stream.other_simd.shape[1:] == (3,)
    assert -1 <= stream.lost_at < size
    assert held_bytes(stream) <= MOST * size + MOST_OF_ANY


def held_bytes(record: DecodedStream | WaveRecords | OccupancyRecords) -> int:
    """Bytes of all columns."""
    total = 0
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if isinstance(value, np.ndarray):
            total += value.nbytes
        elif isinstance(value, (WaveRecords, OccupancyRecords)):
            total += held_bytes(value)
    return total
