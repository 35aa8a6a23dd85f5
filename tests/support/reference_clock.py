"""How the reference viewer aligns the clocks of shader engines."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from unittest.mock import patch

from rcv_py.formats.uiout import clock
from rcv_py.formats.uiout.clock import align
from rcv_py.formats.uiout.load import open_folder
from rcv_py.model.device import ClockSamples
from rcv_py.model.trace import Trace


def reference_align(
    samples: Mapping[int, ClockSamples], engines: Iterable[int] = ()
) -> tuple[dict[int, int], float]:
    """Return the offsets of the reference, and our rate.

    It estimates k = (1 + sum of rt differences) / (25 + sum of sc differences), counts ticks since boot, cuts
    an offset down to a whole cycle, and shifts nothing if any engine with data lacks samples.
    """
    _, known = align(samples)
    ends = {
        se: (places[0], places[-1])
        for se, one in samples.items()
        if (places := sorted(zip(one.shader.tolist(), one.realtime.tolist(), strict=True)))
    }
    usable = [(r1 - r0, s1 - s0) for (s0, r0), (s1, r1) in ends.values() if s0 > 0 and r1 > r0 and s1 > s0]
    rate = (1 + sum(rt for rt, _ in usable)) / (25 + sum(sc for _, sc in usable))
    if len(ends) < 2 or any(se not in ends for se in engines):
        return {}, known
    origin = {se: rt - sc * rate for se, ((sc, rt), _) in ends.items()}
    return {se: int((value - min(origin.values())) / rate) for se, value in origin.items()}, known


def open_as_reference(path: Path) -> Trace:
    """Open a folder with its clocks aligned by the rule of the reference."""
    with patch.object(clock, "align", reference_align):
        return open_folder(path)
