"""How often the prediction of a batch of loads is right: 84 kernels, simulated without and with the batch.

`python -m tests.support.batch_truth` prints a line for each and their sum, in a minute or two; the sum is in
`docs/prediction.md`.  The kernels differ in loads of a tile, workgroups, waves a SIMD, and rounds of the
loop.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import product
from pathlib import Path

from rcv_py.analysis.whatif.hoist import hoisted
from tests.analysis.test_load_batch import of_preloop, player_of, preloop
from tests.support.pattern_kernels import captured
from tests.support.prediction_truth import Measured

LOADS, GROUPS, WAVES, ROUNDS = (2, 4, 6, 8, 12, 16, 20), (4, 8, 16), (1, 2), (1, 4)


def measured(loads: int, groups: int, waves: int, rounds: int) -> Measured:
    """Predict the change from the kernel without the batch, and simulate the one with it."""
    captures = []
    for is_early in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            text = preloop(is_early=is_early, loads=loads)
            captures.append(captured(text, Path(folder), rounds=(rounds,), groups=groups, waves=waves))
    before, after = (int(one.waves.end.max() - one.waves.begin.min()) for one, _ in captures)
    trace, batch = captures[0]
    found = player_of(trace, batch).predict((hoisted(of_preloop(trace)),))
    name = f"{loads} loads, {groups} workgroups, {waves} a SIMD, {rounds} rounds"
    return Measured(name, found.share, after / before - 1, found.low, found.high)


def main() -> None:
    """Print all, and their sum."""
    every = [measured(*one) for one in product(LOADS, GROUPS, WAVES, ROUNDS)]
    for one in every:
        range_of = f"{one.low:+.1%} to {one.high:+.1%}"
        sys.stdout.write(f"{one.name:50} {one.simulated:+.1%}, predicted {one.predicted:+.1%}, {range_of}\n")
    errors = sorted(one.error for one in every)
    sys.stdout.write(
        f"{len(every)} batches: {sum(one.is_wrong_way for one in every)} the wrong way,"
        f" {sum(one.predicted < 0 <= one.simulated for one in every)} promise a gain that is none,"
        f" {sum(one.is_held for one in every)} ranges hold; median error {errors[len(errors) // 2]:.1%},"
        f" largest {errors[-1]:.1%}\n"
    )


if __name__ == "__main__":
    main()
