"""Waves of whole shader engines, for oracles that look at all of them at once."""

from collections.abc import Iterable

from rcv_py.model.waves import TracedWave, WaveBatch


def waves_by_engine(batches: Iterable[WaveBatch]) -> list[list[TracedWave]]:
    """The waves of each shader engine, each once, in the order of the index."""
    waves = sorted({wave.row: wave for batch in batches for wave in batch.waves}.items())
    engines = sorted({wave.id.se for _, wave in waves})
    return [[wave for _, wave in waves if wave.id.se == se] for se in engines]
