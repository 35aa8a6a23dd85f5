"""`python -m rcv_py.synth NAME --out DIR`: write a made-up capture."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rcv_py.synth.large import write_large
from rcv_py.synth.variants import SAMPLES, SHIPPED

_MORE = {
    "large": "Any size; see --megabytes, --waves, --tokens.",
    "shipped": "Those of sample_traces/, a folder each.",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the sample the arguments ask for; return the exit code."""
    given = _parser().parse_args(arguments)
    try:
        _write(given)
    except OSError as error:
        sys.stderr.write(f"{given.out} cannot be written: {error.strerror}.  Choose another folder.\n")
        return 1
    return 0


def _write(given: argparse.Namespace) -> None:
    if given.name == "large":
        write_large(given.out, given.megabytes, given.waves, given.seed, given.tokens)
    elif given.name == "shipped":
        for name in SHIPPED:
            SAMPLES[name].write(given.out / name)
    else:
        SAMPLES[given.name].write(given.out, given.seed, given.truth)


def _parser() -> argparse.ArgumentParser:
    texts = {sample.name: sample.text for sample in SAMPLES} | _MORE
    names = "\n".join(f"  {name:20} {text}" for name, text in texts.items())
    parser = argparse.ArgumentParser(
        prog="python -m rcv_py.synth",
        description="Write a made-up capture.",
        epilog=f"samples:\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=list(texts), metavar="NAME")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--truth", action="store_true", help="also write truth.json")
    parser.add_argument("--megabytes", type=float, default=50, help="size of a large folder")
    parser.add_argument("--waves", type=int, help="waves of a large folder")
    parser.add_argument("--tokens", type=int, help="instructions a wave of a large folder")
    return parser


if __name__ == "__main__":
    sys.exit(main())
