"""Choose the waves to play, and the default experiments for a kernel."""

import numpy as np

from rcv_py.analysis.attribution.lines import NONE
from rcv_py.analysis.core.parcels import WaveLifetimes, stretches
from rcv_py.analysis.waits.load_batch import load_batches
from rcv_py.analysis.whatif.changes import UNITS, Change, Free, Latency, NoBarrier, Relax
from rcv_py.analysis.whatif.hoist import hoisted
from rcv_py.analysis.whatif.predict import Player
from rcv_py.base.record import Value
from rcv_py.model.trace import Trace

EVERYTHING = 1 << 62
FEW_TOKENS = 200_000  # played tokens: about a tenth of a second per experiment
MAX_TOKENS = 2_000_000  # of a single engine, from which on only a part of its time is played
EACH = 4  # instructions of each kind that are tried


class SampledWaves(Value):
    """Waves to play: the waves of some shader engines, or of a part of the time of one engine."""

    rows: tuple[int, ...]  # of the wave index
    engines: tuple[int, ...]
    of: int  # total number of waves
    tokens: int = 0  # of the chosen waves, estimated from the size of their files

    @property
    def is_part(self) -> bool:
        """Whether waves are left out."""
        return len(self.rows) < self.of


def sample(trace: Trace, most: int = FEW_TOKENS) -> SampledWaves:
    """Return the waves of the first shader engines that have at most `most` tokens together, at least one.

    The tokens of a wave are estimated from the size of its file.  If a single engine has too many tokens,
    only waves that begin in the middle of its time are returned.
    """
    index = trace.waves
    engines = np.unique(index.se)
    tokens = float(trace.code.hits.sum())
    size = float(max(1, index.size.sum()))
    taken: list[int] = []
    had = 0.0
    for se in engines.tolist():
        own = tokens * float(index.size[index.se == se].sum()) / size
        if taken and had + own > most:
            break
        taken.append(se)
        had += own
    rows = np.flatnonzero(np.isin(index.se, taken))
    if had > max(most, MAX_TOKENS):
        lives = WaveLifetimes(index.se[rows], index.begin[rows], index.end[rows], index.size[rows])
        rows = rows[stretches(lives, int(most * size / tokens), 1)]
    held = int(tokens * float(index.size[rows].sum()) / size)
    return SampledWaves(tuple(rows.tolist()), tuple(taken), len(index), held)


def usual_experiments(player: Player, trace: Trace) -> list[tuple[Change, ...]]:
    """Return the experiments that show best where the time goes.

    They are: each kind of memory twice as fast; the operations that were waited for longest; the longest
    waits, each with one more operation outstanding, and with the loads below it issued before it; no
    barriers; no nops.
    """
    recordings, code = player.recordings(), trace.code
    changes: list[Change] = [Latency(units=(name,), factor=0.5) for name in UNITS]
    rows = len(code)
    waited = np.zeros(rows + 1)  # cycles of waits for the return of an operation, by its instruction
    stalled = np.zeros(rows + 1)  # cycles of waits, by instruction
    for one in recordings:
        np.add.at(waited, one.line[one.is_measured], one.latency[one.is_measured])
        is_wait = (one.unit == NONE) & ~one.is_loose
        several = np.flatnonzero((np.diff(one.await_first) > 1) & is_wait)
        np.add.at(stalled, one.line[several], one.delay[several] + 1)
    changes += [Latency(lines=(line,), factor=0.5) for line in _largest(waited[:rows])]
    waits = _largest(stalled[:rows])
    changes += [Relax(line, 1) for line in waits]
    for line in waits:
        changes += map(hoisted, load_batches(code, trace.architecture, line).values())
    if any((one.meeting >= 0).any() for one in recordings):
        changes.append(NoBarrier())
    if nops := tuple(
        row for row, text in enumerate(code.text) if text.startswith(("s_nop", "v_nop")) and code.hits[row]
    ):
        changes.append(Free(nops))
    return [(change,) for change in changes]


def _largest(cycles: np.ndarray) -> list[int]:
    rows = np.argsort(-cycles, kind="stable")[:EACH]
    return [int(row) for row in rows if cycles[row] > 0]
