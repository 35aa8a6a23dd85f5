"""How often a prediction is right where the truth is known: pairs simulated without and with a change.

`python -m tests.support.prediction_truth` prints the table and fails where a limit is missed;
`--write` writes the table and the plot of `docs/prediction.md`; `--seed=1` lets chance decide otherwise.
What is measured on real captures is in `tests.real.prediction_truth`.

What is compared is the change of the span of the traced waves of all compute units, from the first begin to
the last end: what the replay says from the capture before alone, and what the simulator says by running the
kernel again.
"""

import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.whatif.changes import Change
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
from tests.support.prediction_pairs import PAIRS, Pair
from tests.support.prediction_scenes import Scene

DOCS = ROOT / "docs" / "prediction.md"
PLOT = ROOT / "docs" / "pictures" / "prediction.svg"
CLEAR = 0.01  # changes at least as large have a sign that a prediction must not miss
RUNS = 3  # of each changed kernel: chance makes them differ
TIGHT = 2.0  # times as wide as needed, which a range should not exceed
HALF = 0.01  # of the span: the limit of the error of half of the predictions
MOST = 0.04  # of nine of ten
HELD = 0.9  # the part of the ranges that hold the truth
OFTEN = 0.5  # the part of the ranges that are tight


@dataclass(frozen=True)
class Measured:
    """A pair: changes of the span, as parts of it."""

    name: str
    predicted: float
    simulated: float
    low: float
    high: float
    runs: tuple[float, ...] = ()  # other runs of the changed kernel

    @property
    def error(self) -> float:
        """How far apart they are, in parts of the span."""
        return abs(self.predicted - self.simulated)

    @property
    def is_held(self) -> bool:
        """Whether the range holds the truth."""
        return self.low <= self.simulated <= self.high

    @property
    def needed(self) -> float:
        """The width of the smallest range of the same centre that holds all runs."""
        centre = (self.low + self.high) / 2
        return 2 * max(abs(run - centre) for run in (self.simulated, *self.runs))

    @property
    def is_tight(self) -> bool:
        """Whether the range is hardly wider than needed."""
        return self.high - self.low <= TIGHT * self.needed + 1e-9

    @property
    def is_wrong_way(self) -> bool:
        """Whether one says faster and the other slower, and that clearly."""
        return self.predicted * self.simulated < 0 and min(abs(self.predicted), abs(self.simulated)) > CLEAR


@lru_cache(maxsize=8)
def simulated(scene: Scene, seed: int = 0) -> Simulated:
    """A scene, run once."""
    return build(scene.plan(seed))


@cache
def span(scene: Scene, seed: int = 0) -> int:
    """Cycles from the first begin to the last end of the traced waves, summed over engines."""
    runs = simulated(scene, seed).capture.waves
    engines = {run.se for run in runs}
    return sum(
        max(run.end for run in runs if run.se == se) - min(run.begin for run in runs if run.se == se)
        for se in engines
    )


class Captured(NamedTuple):
    """What is read of a scene's files."""

    player: Player
    found: Findings


@lru_cache(maxsize=16)
def captured(scene: Scene, seed: int = 0) -> Captured:
    """What is recorded of a scene, by way of its files."""
    with tempfile.TemporaryDirectory() as folder:
        write_folder(simulated(scene, seed).capture, Path(folder))
        trace = open_trace(Path(folder))
        batch = trace.reader.read(list(range(len(trace.waves))))
        return Captured(player_of(trace), findings(trace, [batch]))


def player(scene: Scene, seed: int = 0) -> Player:
    """The recordings of a scene."""
    return captured(scene, seed).player


def player_of(trace: Trace) -> Player:
    """The recordings of all compute units of a capture."""
    batch = trace.reader.read(list(range(len(trace.waves))))
    return Player([one for waves in waves_by_engine([batch]) for one in streams(trace, waves)])


def asked(pair: Pair, seed: int = 0) -> Sequence[Change]:
    """The changes of a pair; where it plays a remedy, what the finding itself would play."""
    if not pair.finding:
        return pair.changes
    trials = [one.trial for one in captured(pair.before, seed).found.findings if one.name == pair.finding]
    if not trials or trials[0] is None:
        raise LookupError(f"{pair.before.name} has no trial of {pair.finding}")
    if not pair.is_limit and trials[0].is_limit:
        raise LookupError(f"{pair.before.name}: the trial of {pair.finding} is its limit")
    return trials[0].limits[0] if pair.is_limit else trials[0].changes


def measured(pair: Pair, seed: int = 0, runs: int = RUNS) -> Measured:
    """Simulate both sides, the changed one so often, predict the change from the first, and compare."""
    found = player(pair.before, seed).predict(asked(pair, seed))
    before = span(pair.before, seed)
    simulated, *others = (span(pair.after, run) / before - 1 for run in range(seed, seed + runs))
    return Measured(pair.name, found.share, simulated, found.low, found.high, tuple(others))


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
    """What all pairs say together, in sentences."""
    held = sum(one.is_held for one in found)
    runs = [one.low <= run <= one.high for one in found for run in (one.simulated, *one.runs)]
    wrong = [one.name for one in found if one.is_wrong_way]
    half, most, all_ = (f"{100 * quantile(found, share):.1f} %" for share in (0.5, 0.9, 1.0))
    return (
        f"{len(found)} pairs: half of the predictions are within {half} of the span, "
        f"nine of ten within {most}, all within {all_}; "
        f"{len(wrong)} clear changes have the wrong sign{': ' + ', '.join(wrong) if wrong else ''}.  "
        f"The range holds the true change in {held} ({_share(held, len(found))}), "
        f"and {_share(sum(runs), len(runs))} of all {len(runs)} runs of the changed kernels; "
        f"it is at most twice as wide as needed in {_share(sum(one.is_tight for one in found), len(found))}."
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.0f} %"


def missed(found: Sequence[Measured]) -> list[str]:
    """The limits that pairs miss, in words."""
    parts = [
        (quantile(found, 0.5) > HALF, f"half of the predictions are off by more than {HALF:.0%}"),
        (quantile(found, 0.9) > MOST, f"one of ten predictions is off by more than {MOST:.0%}"),
        (any(one.is_wrong_way for one in found), "a clear change has the wrong sign"),
        (sum(one.is_held for one in found) < HELD * len(found), f"fewer than {HELD:.0%} of ranges hold"),
        (sum(one.is_tight for one in found) < OFTEN * len(found), f"fewer than {OFTEN:.0%} are tight"),
    ]
    return [text for is_missed, text in parts if is_missed]


def plot(found: Sequence[Measured]) -> str:
    """Predicted and simulated changes with ranges, as SVG."""
    size, edge, least, most = 560, 48, -0.8, 0.1

    def at(share: float) -> float:
        inside = min(max(share, least), most)
        return round(edge + (inside - least) / (most - least) * (size - 2 * edge), 1)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" font-family="sans-serif">',
        f'<rect width="{size}" height="{size}" fill="#fff"/>',
    ]
    for mark in (-0.8, -0.6, -0.4, -0.2, 0.0):
        x, y = at(mark), size - at(mark)
        lines += [
            f'<path d="M{x} {edge}V{size - edge}M{edge} {y}H{size - edge}" stroke="#ddd"/>',
            f'<text x="{x}" y="{size - edge + 18}" font-size="12" text-anchor="middle">{mark:.0%}</text>',
            f'<text x="{edge - 6}" y="{y + 4}" font-size="12" text-anchor="end">{mark:.0%}</text>',
        ]
    low, high = at(least), at(most)
    lines.append(f'<path d="M{low} {size - low}L{high} {size - high}" stroke="#888"/>')
    for one in sorted(found, key=lambda each: -each.is_held):
        x, colour = at(one.simulated), "#1f6fb2" if one.is_held else "#c0392b"
        bar = f"M{x} {size - at(one.low):.1f}V{size - at(one.high):.1f}"
        lines.append(f'<path d="{bar}" stroke="{colour}" stroke-opacity="0.45"/>')
        place = f'cx="{x}" cy="{size - at(one.predicted):.1f}"'
        lines.append(f'<circle {place} r="2.5" fill="{colour}"><title>{one.name}</title></circle>')
    middle = size // 2
    lines += [
        f'<text x="{middle}" y="{size - 8}" font-size="13" text-anchor="middle">simulated change</text>',
        f'<text x="14" y="{middle}" font-size="13" text-anchor="middle" '
        f'transform="rotate(-90 14 {middle})">predicted change, with its range</text>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def chosen(words: Sequence[str]) -> list[Pair]:
    """The pairs whose names contain one of some words, or all."""
    return [pair for pair in PAIRS if not words or any(word in pair.name for word in words)]


def main(words: list[str]) -> int:
    """Print the table, or write it into the docs; return 1 if all pairs together miss a limit."""
    seed = next((int(word[len("--seed=") :]) for word in words if word.startswith("--seed=")), 0)
    names, is_written = [word for word in words if not word.startswith("--")], "--write" in words
    by_scene = sorted(chosen(names), key=lambda pair: pair.before.name)
    found = [measured(pair, seed) for pair in by_scene]
    show(f"{summary(found)}\n\n{markdown(rows_of(found))}", "tables", is_written)
    if is_written:
        PLOT.write_text(plot(found), encoding="utf-8")
    wrong = [] if names else missed(found)
    for text in wrong:
        print(f"missed: {text}", file=sys.stderr)
    return 1 if wrong else 0


def show(text: str, mark: str, is_written: bool) -> None:
    """Print a text, or write it into the docs between the two comments of a name."""
    if not is_written:
        print(text)
        return
    head, begin, rest = DOCS.read_text(encoding="utf-8").partition(f"<!-- {mark} -->\n")
    _, end, tail = rest.partition(f"<!-- end of {mark} -->")
    DOCS.write_text(f"{head}{begin}\n{text}\n\n{end}{tail}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
