"""How often a prediction is right where the truth is known: pairs simulated without and with a change.

`python -m tests.support.prediction_truth` prints the table; `--write` writes it into `docs/prediction.md`
between its marks; `--seed=1` lets chance decide otherwise.  What is measured on real captures is in
`tests.real.prediction_truth`.

What is compared is the change of the span of the traced waves of all compute units, from the first begin to
the last end: what the replay says from the capture before alone, and what the simulator says by running the
kernel again.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from rcv_py.analysis.whatif.event_loop import play
from rcv_py.analysis.whatif.predict import Player
from rcv_py.analysis.whatif.recording import OTHERS, USUAL, recording, streams
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.synth.build import Simulated, build
from rcv_py.synth.write import write_folder
from tests.support.attribution_truth import markdown
from tests.support.engines import waves_by_engine
from tests.support.paths import ROOT
from tests.support.prediction_pairs import PAIRS, Pair, Scene

DOCS = ROOT / "docs" / "prediction.md"
CLEAR = 0.02  # changes at least as large have a sign that a prediction must not miss


@dataclass(frozen=True)
class Measured:
    """A pair: changes of the span, as parts of it."""

    name: str
    predicted: float
    simulated: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """How far apart they are, in parts of the span."""
        return abs(self.predicted - self.simulated)

    @property
    def is_wrong_way(self) -> bool:
        """Whether one says faster and the other slower, and that clearly."""
        return self.predicted * self.simulated < 0 and min(abs(self.predicted), abs(self.simulated)) > CLEAR


@cache
def simulated(scene: Scene, seed: int = 0) -> Simulated:
    """A scene, run once."""
    return build(scene.plan(seed))


def span(scene: Scene, seed: int = 0) -> int:
    """Cycles from the first begin to the last end of the traced waves, summed over engines."""
    runs = simulated(scene, seed).capture.waves
    engines = {run.se for run in runs}
    return sum(
        max(run.end for run in runs if run.se == se) - min(run.begin for run in runs if run.se == se)
        for se in engines
    )


@cache
def player(scene: Scene, seed: int = 0) -> Player:
    """What is recorded of a scene, by way of its files."""
    with tempfile.TemporaryDirectory() as folder:
        write_folder(simulated(scene, seed).capture, Path(folder))
        return player_of(open_trace(Path(folder)))


def player_of(trace: Trace) -> Player:
    """The recordings of all compute units of a capture."""
    batch = trace.reader.read(list(range(len(trace.waves))))
    return Player([one for waves in waves_by_engine([batch]) for one in streams(trace, waves)])


def measured(pair: Pair, seed: int = 0) -> Measured:
    """Simulate both sides, predict the change from the first, and compare."""
    found = player(pair.before, seed).predict(pair.changes)
    before, after = span(pair.before, seed), span(pair.after, seed)
    return Measured(pair.name, found.share, after / before - 1, found.low, found.high)


def quantile(found: Iterable[Measured], share: float) -> float:
    """The error that so many of the pairs stay within."""
    return float(np.quantile([one.error for one in found], share, method="inverted_cdf"))


def identity(trace: Trace) -> float:
    """By how much of its span any compute unit differs when it is played unchanged, at most."""
    worst = 0.0
    batch = trace.reader.read(list(range(len(trace.waves))))
    for waves in waves_by_engine([batch]):
        for stream in streams(trace, waves):
            for guess in (USUAL, *OTHERS):
                recorded = recording(stream, guess)
                if not len(recorded):
                    continue
                apart = int(np.abs(play(recorded).issue - recorded.issued).max())
                worst = max(worst, apart / max(1, int(recorded.issued.max() - recorded.issued.min())))
    return worst


def _percent(share: float) -> str:
    return f"{100 * share:+.1f} %".replace("-", "−")


def rows_of(found: Sequence[Measured]) -> list[tuple[str, ...]]:
    """Rows of the table of pairs, the head first, largest errors first."""
    rows: list[tuple[str, ...]] = [("pair", "simulated", "predicted", "range", "apart by")]
    for one in sorted(found, key=lambda one: -one.error):
        span_of = f"{_percent(one.low)} … {_percent(one.high)}"
        rows.append(
            (one.name, _percent(one.simulated), _percent(one.predicted), span_of, f"{100 * one.error:.1f} %")
        )
    return rows


def summary(found: Sequence[Measured]) -> str:
    """What all pairs say together, in a sentence."""
    within = sum(one.low - 0.02 <= one.simulated <= one.high + 0.02 for one in found)
    wrong = [one.name for one in found if one.is_wrong_way]
    half, most, all_ = (f"{100 * quantile(found, share):.1f} %" for share in (0.5, 0.9, 1.0))
    return (
        f"{len(found)} pairs: half of the predictions are within {half} of the span, "
        f"nine of ten within {most}, all within {all_}; "
        f"{len(wrong)} clear changes have the wrong sign{': ' + ', '.join(wrong) if wrong else ''}.  "
        f"The true change lies in the range that was told, give or take 2 %, in {within}."
    )


def chosen(words: Sequence[str]) -> list[Pair]:
    """The pairs whose names contain one of some words, or all."""
    return [pair for pair in PAIRS if not words or any(word in pair.name for word in words)]


def main(words: list[str]) -> None:
    """Print the table, or write it into the docs."""
    seed = next((int(word[len("--seed=") :]) for word in words if word.startswith("--seed=")), 0)
    found = [measured(pair, seed) for pair in chosen([word for word in words if not word.startswith("--")])]
    show(f"{summary(found)}\n\n{markdown(rows_of(found))}", "tables", "--write" in words)


def show(text: str, mark: str, is_written: bool) -> None:
    """Print a text, or write it into the docs between the two comments of a name."""
    if not is_written:
        print(text)
        return
    head, begin, rest = DOCS.read_text(encoding="utf-8").partition(f"<!-- {mark} -->\n")
    _, end, tail = rest.partition(f"<!-- end of {mark} -->")
    DOCS.write_text(f"{head}{begin}\n{text}\n\n{end}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
