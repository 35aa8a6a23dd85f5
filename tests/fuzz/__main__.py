"""`python -m tests.fuzz`: feed mutated input to the project, and print how it took it."""

import argparse
import sys

from tests.fuzz.areas import AREAS
from tests.fuzz.runner import run


def main() -> int:
    """Return 0 if there was no traceback, no hang, no read outside, and nothing over the limits."""
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the same seed, the same inputs (default 1)")
    parser.add_argument("--count", type=int, default=1_000_000, help="inputs (default 1,000,000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one, to go on (default 0)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--area", choices=tuple(AREAS), default="", help="only inputs of this area")
    parser.add_argument("--repeat", metavar="SEED:N", help="only the input of that seed and number")
    given = parser.parse_args()
    if given.repeat:
        seed, number = map(int, given.repeat.split(":"))
        totals = run(seed, range(number, number + 1), 1)
    else:
        totals = run(given.seed, range(given.first, given.first + given.count), given.workers, given.area)
    for report in totals.reports:
        print(report, end="\n\n")
    print(totals.table())
    print(f"seed {given.seed}, {totals.seconds:,.0f} s, {totals.bad:,} bad")
    return 1 if totals.bad else 0


if __name__ == "__main__":
    sys.exit(main())
