"""Captures with waves that left early: those of a simulated capture, or some of them."""

import json
from collections.abc import Iterable
from pathlib import Path

from tests.support.plain_capture import PlainWave, plain
from tests.support.samples import write_sample

SAMPLE = "vector_add"
EARLY = 10  # instructions of a wave beyond the end of its vectors


def waves_of(folder: Path, kind: str) -> list[PlainWave]:
    """The waves of a choice, by how many instructions they ran."""
    waves = plain(folder).waves
    return [wave for wave in waves if kind == "all" or (len(wave.tokens) == EARLY) == (kind == "early-exit")]


def only(waves: Iterable[PlainWave], folder: Path) -> Path:
    """Write the sample as if no other of its waves had been traced; return its folder."""
    write_sample(SAMPLE, folder)
    files = {f"se{one.se}_sm{one.simd}_sl{one.slot}_wv{one.number}.json" for one in waves}
    path = folder / "filenames.json"
    document = json.loads(path.read_text())
    for slots in (slots for simds in document["wave_filenames"].values() for slots in simds.values()):
        for numbers in slots.values():
            for number, (file, *_) in list(numbers.items()):
                if file not in files:
                    del numbers[number]
                    (folder / file).unlink()
    path.write_text(json.dumps(document))
    return folder
