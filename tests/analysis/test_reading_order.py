"""Waves arrive in the order in which processes end: no analysis may answer otherwise because of it."""

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import numpy as np
import pytest

from rcv_py.analysis.attribution.attribute import token_causes
from rcv_py.analysis.findings.detect import findings
from rcv_py.model.waves import WaveBatch
from tests.analysis.plain import batch_of
from tests.support.equal import differences
from tests.support.health import capture_health
from tests.support.read_twice import opened
from tests.support.samples import sample_path

SAMPLE = "counters"  # workgroups of four waves in a loop with barriers, and levels of memory

# Those that are not reductions, whose parts tests/analysis/test_reductions.py merges in any order
ANALYSES: dict[str, Callable[..., Any]] = {"findings": findings, "health": capture_health}


def shuffled(batches: Iterable[WaveBatch], seed: int) -> list[WaveBatch]:
    """The waves in another order, each in a batch of its own."""
    waves = [wave for batch in batches for wave in batch.waves]
    Random(seed).shuffle(waves)
    return [batch_of([wave]) for wave in waves]


@pytest.mark.parametrize("name", ANALYSES)
def test_the_order_of_reading_does_not_matter(name: str) -> None:
    trace, batches = opened(sample_path(SAMPLE))
    for seed in range(2):
        assert not differences(ANALYSES[name](trace, batches), ANALYSES[name](trace, shuffled(batches, seed)))


def test_the_causes_of_a_token_are_those_of_any_order() -> None:
    trace, batches = opened(sample_path(SAMPLE))
    for wave in batches[0].waves[:2]:
        stalled = np.flatnonzero(wave.tokens.stall > 200)[:20].tolist()
        assert stalled
        for row in stalled:
            found = token_causes(trace, batches, wave, row)
            assert token_causes(trace, shuffled(batches, row), wave, row) == found
