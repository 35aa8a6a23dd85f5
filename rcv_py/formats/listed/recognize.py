"""Recognize files with PC samples, and tables of costs, by name and first bytes.

```
1234_pc_sampling_stochastic.csv, 1234_pc_sampling_host_trap.csv      a sample a row
1234_results.db, 1234_results.json                                   if they hold PC samples
stats_ui_output_agent_1_dispatch_2.csv                               the costs of code.json
```
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path

from rcv_py.base.errors import TraceError
from rcv_py.formats.input.files import csv_rows
from rcv_py.formats.input.run_places import DOCUMENT, is_profile, names_in

DEPTH = 3  # levels below a folder: OUT/PASS/HOST
MAX_FOLDERS = 2_000
MAX_FOUND = 64
HEAD = 1 << 16  # bytes in which the headings end
_TABLE = (".csv", ".csv.gz")
_NAMED = re.compile(r"(?:.*_)?pc_sampling_\w+\.csv(?:\.gz)?|stats_.*\.csv(?:\.gz)?")
_SAMPLED = re.compile(rb'"pc_sample_(?:host_trap|stochastic)"\s*:\s*\[\s*\{')
_AT_ONCE = 1 << 22  # bytes
_OVERLAP = 64  # bytes: longer than what _SAMPLED matches in any written file


class ListedForm(Enum):
    """What a file without a thread trace holds."""

    PROFILE = 1  # PC samples in a database or document
    SAMPLES = 2  # PC samples in a table
    COSTS = 3  # costs in a table


def plain_heading(cell: str) -> str:
    """Return a heading without case, separators and quotes: `waveissuedinstruction`."""
    return re.sub(r"[^a-z0-9]", "", cell.lower())


def listed_form(path: Path) -> ListedForm | None:
    """Return the form of a file; None if it is not such a file, or cannot be read."""
    if not path.is_file():
        return None
    with suppress(TraceError, OSError):
        if is_profile(path):
            return ListedForm.PROFILE if _has_samples(path) else None
        if path.name.lower().endswith(_TABLE):
            head = {plain_heading(cell) for cell in next(csv_rows(path.parent, path.name, [], size=HEAD), [])}
            if {"instruction", "execmask"} <= head:
                return ListedForm.SAMPLES
            if {"instruction", "vaddr"} <= head and head & {"hitcount", "hit", "latency"}:
                return ListedForm.COSTS
    return None


def _has_samples(path: Path) -> bool:
    if DOCUMENT.fullmatch(path.name):
        with path.open("rb") as stream:
            before = b""
            while part := stream.read(_AT_ONCE):
                if _SAMPLED.search(before + part):
                    return True
                before = part[-_OVERLAP:]
        return False
    from rcv_py.formats.rocpd.guarded import guarded  # noqa: PLC0415 - it loads SQLite

    with guarded(path) as database:
        tables = [name for name in database.tables if name.startswith("rocpd_gpu_pc_sample")]
        return any(next(database.rows(name, ("id",)), None) is not None for name in tables)


def listed_in(folder: Path) -> tuple[Path, ...]:
    """Return such files in a folder and up to DEPTH levels below: of several forms only the first."""
    level, files = [folder], list[Path]()
    for _ in range(DEPTH + 1):
        here = [place / name for place in level for name in names_in(place)]
        files += here
        level = [
            path for path in here if path.is_dir() and not path.is_symlink() and not path.name.startswith(".")
        ][:MAX_FOLDERS]
    return _best(files)


def samples_in(folder: Path) -> tuple[Path, ...]:
    """Return the files of a folder itself that hold PC samples; of several forms only the first."""
    found = _best([folder / name for name in names_in(folder)])
    return () if found and listed_form(found[0]) is ListedForm.COSTS else found


def _best(files: Sequence[Path]) -> tuple[Path, ...]:
    named = [path for path in files if is_profile(path) or _NAMED.fullmatch(path.name)]
    found = {path: form for path in named[:MAX_FOUND] if (form := listed_form(path)) is not None}
    ranks = [(form.value, DOCUMENT.fullmatch(path.name) is not None) for path, form in found.items()]
    return tuple(sorted(path for path, rank in zip(found, ranks, strict=True) if rank == min(ranks)))
