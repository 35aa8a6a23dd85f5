"""Small streams with every kind of token, for those who damage them."""

import random
from functools import cache

from tests.formats.sqtt.rdna_encoder import Encoder


def busy(generation: int) -> bytes:
    """Ten waves and everything else that can be told, in two thousand bytes."""
    rng = random.Random(generation)
    encoder = Encoder(generation)
    encoder.program(10, 0x7F00_1234_0000)
    encoder.dispatch(20)
    for slot in range(10):
        encoder.wave_start(100 + slot, slot, (0, 0, 0))
        encoder.wave_start(105 + slot, slot, (1, 2, 3))
        encoder.wave_end(3000 + 10 * slot, slot, (0, 0, 0))
        encoder.wave_end(3000 + 10 * slot, slot, (1, 2, 3))
    encoder.wave_start(1500, 4, (0, 0, 0), count=66)
    encoder.wave_start(1600, 4, (0, 0, 0), count=68)
    for time in range(200, 2900, 9):
        slot = rng.randrange(10)
        name, value = rng.choice(
            (
                ("valu", slot << 7),
                ("valu", slot << 7),
                ("wait", slot << 7),
                ("waits", rng.randrange(1 << 10) << 8),
                ("ready", rng.randrange(1 << 10) << 8),
                ("new_pc", slot << 11 | rng.randrange(1 << 40) << 16),
            )
        )
        encoder.add(time, name, value)
        encoder.instruction(time + 3, slot, rng.choice((0, 1, 3, 5, 6, 10, 19, 30, 45, 60, 84, 103, 117)))
    for number, word in enumerate((0x434F5200, 0x104, 0x200, 0x204, 0x1000, 0x004, 9 << 2)):
        encoder.register(30 + number, 0xC342, word, space=generation == 10)
    for time in (500, 1000, 2000):
        encoder.clock(time, 7 * time)
        encoder.add(time, "event", 7 << 18)
        encoder.add(time, "misc", 0x30 << 16)
        encoder.add(time, "data", time << 22)
        encoder.add(time, "short_data", 5 << 22)
        encoder.add(time, "util")
    encoder.loss(2500)
    return encoder.stream()


def storm(generation: int, count: int) -> bytes:
    """Sixteen waves that all wait, again and again: the most that can come of so few bytes."""
    encoder = Encoder(generation)
    for slot in range(16):
        encoder.wave_start(100, slot, (0, 0, 0))
    for number in range(count):
        encoder.add(200 + 2 * number, "waits", 0xFFFF << 8)
    for slot in range(16):
        encoder.wave_end(300 + 2 * count, slot, (0, 0, 0))
    return encoder.stream()


def short_tokens() -> bytes:
    """A stream of gfx1250: tokens of whole bytes, waves by how lately they issued."""
    rng = random.Random(0)
    parts = [(0b0010001 | 5 << 7).to_bytes(8, "little")]
    parts += [(0b01100 | slot << 15 | 1 << 22 | 1 << 25).to_bytes(4, "little") for slot in range(6)]
    for _ in range(300):
        slot, number = rng.randrange(6), rng.choice((rng.randrange(512), 55, 79, 183))
        parts.append(
            rng.choice(
                (
                    (0b011 | rng.randrange(16) << 4).to_bytes(1, "little"),
                    (0b0010 | 1 << 4 | slot << 7 | number << 12).to_bytes(3, "little"),
                    (0b1101 | 1 << 7 | slot << 10).to_bytes(2, "little"),
                    (0b1000 | rng.randrange(16) << 4).to_bytes(1, "little"),
                    (0b10100 | 1 << 5 | rng.randrange(64) << 8).to_bytes(3, "little"),
                )
            )
        )
    parts += [(0b1000001 | slot << 17).to_bytes(3, "little") for slot in range(6)]
    return b"".join(parts)


@cache
def streams() -> dict[str, bytes]:
    """Streams by what they are."""
    return {f"gfx{one}": busy(one) for one in (10, 11, 12)} | {"gfx1250": short_tokens()}
