"""Reading the waves that are played."""

from __future__ import annotations

from collections.abc import Iterable

from rcv_py.analysis.attribution.stream import Stream
from rcv_py.analysis.whatif.experiments import Sample
from rcv_py.analysis.whatif.predict import Player
from rcv_py.analysis.whatif.recording import streams
from rcv_py.base.progress import Report, Stage, checkpoint, silent
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave, WaveBatch


def player_of(
    trace: Trace, played: Sample, held: Iterable[WaveBatch] = (), report: Report = silent
) -> Player:
    """Read the waves of a sample, but those that are held in memory, and make recordings of them."""
    wanted = set(played.rows)
    have = {wave.row: wave for batch in held for wave in batch.waves if wave.row in wanted}
    found: list[Stream] = []
    for at, se in enumerate(played.engines):
        checkpoint()
        report(Stage("Playing again", at, len(played.engines)))
        rows = [row for row in played.rows if trace.waves.se[row] == se]
        missing = [row for row in rows if row not in have]
        read = {wave.row: wave for wave in trace.reader.read(missing).waves} if missing else {}
        waves: list[Wave] = [(have | read)[row] for row in rows if row in have or row in read]
        found += streams(trace, waves)
    return Player(found)
