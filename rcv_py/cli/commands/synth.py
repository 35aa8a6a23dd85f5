"""`rcv synth`: writes captures that a simulator made up, whose truth is known."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rcv_py.base.csv_text import csv_text
from rcv_py.base.errors import UsageError
from rcv_py.base.text import plural
from rcv_py.base.whole_files import unwritable, whole_folder
from rcv_py.cli.about import about
from rcv_py.cli.options.output_options import SynthOptions
from rcv_py.cli.report import Column, json_text, print_table
from rcv_py.synth.samples import SAMPLES, Sample


def run(arguments: SynthOptions) -> int:
    """List the samples, or write the named ones, each into a folder of its name."""
    names = SAMPLES.ids() if arguments.all else tuple(arguments.names)
    is_table = arguments.json or arguments.csv
    rows: list[tuple[str, str, str | None, int | None]] = []
    if not names:
        rows = [(sample.name, sample.text, None, None) for sample in SAMPLES]
        if not is_table:
            print_table(_COLUMNS, [row[:2] for row in rows])
    else:
        for sample in _chosen(names):
            folder = arguments.out / sample.name
            size = _write(sample, folder, arguments.seed)
            rows.append((sample.name, sample.text, str(folder), size))
            if not is_table:
                print(f"{folder}: {plural(size, 'file')}")
    if arguments.csv:
        sys.stdout.write(csv_text(_HEAD, rows))
    elif arguments.json:
        content = {"samples": [dict(zip(_HEAD, row, strict=True)) for row in rows]}
        print(json_text("rcv.samples/1", content, about(arguments)))
    return 0


_HEAD = ("name", "text", "folder", "files")
_COLUMNS = (Column("sample"), Column("what is in it", elastic="right"))


def _chosen(names: Sequence[str]) -> list[Sample]:
    unknown = [name for name in names if name not in SAMPLES]
    if unknown:
        raise UsageError(
            f"There is no sample called {unknown[0]}.", hint=f"There are {', '.join(SAMPLES.ids())}."
        )
    return [SAMPLES[name] for name in names]


def _write(sample: Sample, folder: Path, seed: int) -> int:
    """Write into a folder that is new or empty, so that nothing of the user's is lost."""
    try:
        if folder.exists() and any(folder.iterdir()):
            raise UsageError(f"{folder} is there already.", hint="Remove it, or choose another --out.")
    except (OSError, ValueError) as error:
        raise unwritable(folder, error) from error
    with whole_folder(folder) as part:
        sample.write(part, seed)
        return sum(1 for _ in part.iterdir())
