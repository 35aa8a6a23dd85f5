"""Waves that are known, written as raw streams by an encoder of its own, come back as they were."""

import random

import pytest
from msgspec.structs import replace

from rcv_py.formats.sqtt.decode import decode
from rcv_py.formats.sqtt.records import FLAG_BARRIER, DecodedStream
from rcv_py.synth.build import build
from rcv_py.synth.capture import SyntheticCapture
from rcv_py.synth.samples import SAMPLES
from tests.formats.sqtt import rdna_encoder as enc
from tests.formats.sqtt.rdna_encoder import Encoder, Step, Wave, expressible
from tests.formats.sqtt.wave_rows import breaks, records, states

ENTRY = 0x7F12_3456_7800


def told(stream: DecodedStream) -> list[tuple[object, ...]]:
    """Begin, slot, end, workgroup, tokens and states of every wave, as they began."""
    waves = stream.waves
    of_waves = (waves.begin, waves.slot, waves.end, waves.workgroup)
    return sorted(
        (
            *(int(column[row]) for column in of_waves),
            list(map(tuple, records(stream, row))),
            list(map(tuple, states(stream, row))),
        )
        for row in range(len(waves))
    )


def expected(waves: list[Wave], generation: int) -> list[tuple[object, ...]]:
    return sorted(
        (wave.begin, wave.slot, wave.end, wave.workgroup, wave.rows(generation), wave.timeline(generation))
        for wave in waves
    )


def written(waves: list[Wave], generation: int) -> Encoder:
    encoder = Encoder(generation, simd=1, wgp=2, shader_array=1)
    encoder.program(10, ENTRY)
    encoder.dispatch(20)
    encoder.waves(waves)
    return encoder


def simulated(name: str, seed: int) -> list[SyntheticCapture]:
    capture: SyntheticCapture = build(replace(SAMPLES[name].plan(), seed=seed)).capture
    engines = sorted({wave.se for wave in capture.waves})
    return [replace(capture, waves=tuple(wave for wave in capture.waves if wave.se == se)) for se in engines]


def waves_of(capture: SyntheticCapture) -> list[Wave]:
    made = []
    for wave in capture.waves:
        code = capture.kernels[wave.kernel].instructions
        first = min(row for one in capture.waves if one.kernel == wave.kernel for row in one.tokens[:, 4])
        texts = [code[row - first].text for row in wave.tokens[:, 4]]
        steps = expressible(wave.tokens, texts, capture.generation)
        made.append(Wave(wave.slot, wave.begin, max(wave.end, steps[-1].time + 1), steps))
    return made


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["gfx11", "gfx12"])
def test_simulated_waves_come_back(name, seed):
    for capture in simulated(name, seed):
        waves = waves_of(capture)
        stream = decode(written(waves, capture.generation).stream())
        assert sum(len(wave.steps) for wave in waves) > 1000
        assert told(stream) == expected(waves, capture.generation)
        assert stream.waves.is_complete.all()
        assert set(stream.waves.entry.tolist()) == {ENTRY}


def test_barriers_of_the_simulator_are_told_as_such():
    capture = simulated("split_barriers_gfx12", 0)[0]
    waves = waves_of(capture)
    stream = decode(written(waves, 12).stream())
    assert told(stream) == expected(waves, 12)
    barriers = sum(step.is_barrier for wave in waves for step in wave.steps)
    assert barriers > 0
    assert int((stream.waves.flags & FLAG_BARRIER != 0).sum()) == barriers


def made_up(rng: random.Random, generation: int, count: int) -> list[Wave]:
    """Waves one after the other in every slot, with everything that a token can be, close together."""
    numbers = enc.NUMBERS_11 if generation == 11 else enc.NUMBERS_12
    free = dict.fromkeys(range(16), 100)
    waves = []
    for _ in range(count):
        slot = rng.randrange(16)
        begin = free[slot] + rng.choice((1, 2, 7, 40, 1000, 10**7))
        time = begin + rng.choice((0, 1, 5, 300))
        steps: list[Step] = []
        for _ in range(rng.randrange(40)):
            kind, cycles = rng.choice([(enc.VALU, 1), (enc.IMMED, 1), *numbers])
            time += rng.choice((1, 1, 1, 2, 5, 30, 400))
            stall = 0
            if kind != enc.IMMED and rng.random() < 0.3:
                stall = rng.choice((1, 2, 3, 90))
                time += stall
            step = Step(time, kind, cycles, stall)
            if kind == enc.IMMED and rng.random() < 0.3:
                step.is_barrier = True
            if kind == enc.SALU and rng.random() < 0.2:
                step.goes_to = rng.randrange(1 << 46) << 2
                time += 3
            steps.append(step)
        end = time + rng.choice((1, 2, 60))
        free[slot] = end + 1
        workgroup = rng.randrange(32) if generation == 12 and rng.random() < 0.5 else -1
        waves.append(Wave(slot, begin, end, steps, workgroup))
    return waves


@pytest.mark.parametrize("generation", [11, 12])
@pytest.mark.parametrize("seed", range(4))
def test_waves_with_everything_come_back(generation, seed):
    waves = made_up(random.Random(seed), generation, 300)
    stream = decode(written(waves, generation).stream())
    assert told(stream) == expected(waves, generation)
    assert stream.cu == 128 + 2
    assert stream.simds == 1 << 1


@pytest.mark.parametrize("generation", [11, 12])
def test_addresses_after_calls_come_back(generation):
    waves = made_up(random.Random(9), generation, 200)
    stream = decode(written(waves, generation).stream())
    waves_found = stream.waves
    found = [
        (int(waves_found.begin[row]), int(waves_found.slot[row]), *one)
        for row in range(len(waves_found))
        for one in breaks(stream, row)
    ]
    called = [
        (wave.begin, wave.slot, number, step.goes_to)
        for wave in waves
        for number, step in enumerate(wave.steps)
        if step.goes_to >= 0
    ]
    assert called
    assert sorted(found) == sorted(called)
