"""Read the waves that are played, and predict the gain of findings' remedies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from importlib.util import find_spec
from threading import Thread
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rcv_py.analysis.attribution.stream import TokenStream
from rcv_py.analysis.device.memory_roof import memory_roof
from rcv_py.analysis.device.occupancy_limits import occupancy_limits
from rcv_py.analysis.findings.inputs import launch_shape
from rcv_py.analysis.whatif.ceilings import Ceilings
from rcv_py.analysis.whatif.experiments import MAX_TOKENS, SampledWaves, sample
from rcv_py.analysis.whatif.predict import Player
from rcv_py.analysis.whatif.recording import streams
from rcv_py.base.machine.compiled import numba_module
from rcv_py.base.progress import Report, Stage, checkpoint, silent
from rcv_py.base.text import Message
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch

if TYPE_CHECKING:
    from rcv_py.analysis.findings.finding import Findings

QUICK_S = 2.0  # predictions that take no longer are made without being asked for
START_S = 0.4  # to load the replay
TOKEN_S = 0.15e-6  # to play a token under all guesses, once as recorded and once for each experiment
COMPILED = 5_000  # tokens: plain Python may play fewer, and loads no compiler
PLAIN = 100  # times as long without a compiler
TOO_LONG = "Remedies were not replayed, which would take about {0:.0f} s: --predict replays them."
TOO_MANY = "Remedies were not replayed: the waves of a single compute unit have too many instructions."


def player_of(
    trace: Trace, played: SampledWaves, held: Iterable[WaveBatch] = (), report: Report = silent
) -> Player:
    """Read the waves of a sample, except waves held in memory, and make recordings of them."""
    wanted = set(played.rows)
    have = {wave.row: wave for batch in held for wave in batch.waves if wave.row in wanted}
    found: list[TokenStream] = []
    for at, se in enumerate(played.engines):
        checkpoint()
        report(Stage("Replaying", at, len(played.engines)))
        rows = [row for row in played.rows if trace.waves.se[row] == se]
        missing = [row for row in rows if row not in have]
        read = {wave.row: wave for wave in trace.reader.read(missing).waves} if missing else {}
        waves: list[TracedWave] = [(have | read)[row] for row in rows if row in have or row in read]
        found += streams(trace, waves)
    return Player(found, partial(_ceilings, trace))


def _ceilings(trace: Trace) -> Ceilings:
    """What no change of a capture can exceed, by the device and the tables of the run.

    Compute units that hold no wave leave their part of memory's rate to the others.
    """
    facts = facts_about(trace)
    roof, shape = memory_roof(trace, facts), launch_shape(trace, facts)
    used = 1.0 - shape.unused_share
    return Ceilings(roof=roof / used if roof and used else None, fit=occupancy_limits(trace, facts).waves)


def player_of_waves(trace: Trace, rows: Sequence[int], held: Iterable[WaveBatch] = ()) -> Player:
    """Return a player for the waves at some rows of the wave index, such as the waves of a compute unit."""
    engines = tuple(dict.fromkeys(int(trace.waves.se[row]) for row in rows))
    return player_of(trace, SampledWaves(tuple(rows), engines, len(trace.waves)), held)


def quick_player(trace: Trace, held: Iterable[WaveBatch] = (), report: Report = silent) -> Player:
    """Return a player for the sample of a capture."""
    return player_of(trace, sample(trace), held, report)


def with_predictions(
    trace: Trace,
    found: Findings,
    held: Iterable[WaveBatch] = (),
    report: Report = silent,
    *,
    predict: bool | None = True,
    player: Player | None = None,
) -> Findings:
    """Return findings with the predicted gain of their remedies; unchanged if none can be played.

    The sample is played that `rcv whatif` plays: more would take gigabytes and minutes.  `predict` None: only
    if that takes less than QUICK_S; else the findings say how long it would take.  A given `player` already
    has the waves of the sample.
    """
    from rcv_py.analysis.findings.predicted import predicted  # noqa: PLC0415 - needed only for predictions

    experiments = {
        changes
        for one in found.findings
        if one.trial is not None
        for changes in (one.trial.changes, *one.trial.limits)
        if changes
    }
    if not experiments or predict is False:
        return found
    played = sample(trace)
    if played.tokens > MAX_TOKENS:
        return replace(found, not_replayed=TOO_MANY)
    # About, without compiling the replay for the first time.
    plays = played.tokens * (1 + len(experiments))
    seconds = START_S + plays * TOKEN_S * (1 if find_spec("numba") else PLAIN)
    if predict is None and seconds > QUICK_S:
        return replace(found, not_replayed=Message(TOO_LONG, seconds))
    if played.tokens > COMPILED:
        Thread(target=numba_module).start()  # its import takes long, and waves are read meanwhile
    return predicted(found, player or player_of(trace, played, held, report), report)
