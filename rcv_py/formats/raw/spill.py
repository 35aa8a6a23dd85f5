"""Keep columns of waves in a file, not in memory, until the other shader engines are decoded."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rcv_py.formats.packed import npy
from rcv_py.formats.packed.pieces import COLUMNS, stored_columns
from rcv_py.model.waves import WaveColumns, restored_facts


@dataclass(slots=True, eq=False)
class Spill:
    """Columns as they were added, without lanes and levels of detail; it pickles as the path of its file.

    Adding and reading raise OSError; reading raises `npy.Unreadable` if another program wrote to the file.
    """

    path: Path
    count: int = field(default=0, init=False)

    def append(self, columns: WaveColumns) -> None:
        """Add columns at the end."""
        with self.path.open("ab" if self.count else "wb") as stream:
            stream.write(npy.packed([*stored_columns(columns).values()]))
        self.count += 1

    def __iter__(self) -> Iterator[WaveColumns]:
        if not self.count:
            return
        with self.path.open("rb") as stream:
            data = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        arrays = npy.unpacked(data, self.count * len(COLUMNS))
        for at in range(0, len(arrays), len(COLUMNS)):
            columns: dict[str, Any] = dict(zip(COLUMNS, arrays[at : at + len(COLUMNS)], strict=True))
            yield WaveColumns(**{**columns, "facts": restored_facts(columns["facts"])})

    def remove(self) -> None:
        """Remove the file, if there is one."""
        with suppress(OSError):
            self.path.unlink()
