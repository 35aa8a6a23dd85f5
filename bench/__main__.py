"""`python -m bench [--full] [--only WORD] [--strict]`."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator

from bench.table import Options, Row, discover, lines


def rows(options: Options, seen: list[Row]) -> Iterator[Row]:
    for name, measure in discover().items():
        if options.only in name:
            for row in measure(options):
                seen.append(row)
                yield row


def main() -> int:
    parser = ArgumentParser(prog="python -m bench", description="Measure against the budgets.")
    parser.add_argument("--full", action="store_true", help="also the largest folder (1.5 GB, some minutes)")
    parser.add_argument("--only", default="", metavar="WORD", help="measurements whose name contains WORD")
    parser.add_argument("--strict", action="store_true", help="fail if a limit is exceeded")
    arguments = parser.parse_args()
    seen: list[Row] = []
    for line in lines_as_they_come(Options(arguments.full, arguments.only), seen):
        print(line, flush=True)
    return int(arguments.strict and not all(row.is_ok for row in seen))


def lines_as_they_come(options: Options, seen: list[Row]) -> Iterator[str]:
    busy = ", ".join(f"{load:.2f}" for load in os.getloadavg())
    yield f"{os.cpu_count()} processors; load average of 1, 5 and 15 minutes before: {busy}"
    yield from lines([])
    for row in rows(options, seen):
        yield list(lines([row]))[-1]


if __name__ == "__main__":
    sys.exit(main())
