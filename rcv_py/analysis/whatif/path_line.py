"""The critical path as a timeline draws it: which wave it passes through when, and why.

This module does not import the replay, for which drawing would wait.
"""

import numpy as np

from rcv_py.model.columns import ColumnTable


class PathLine(ColumnTable):
    """Pieces in order of time, int64 columns; pieces of a compute unit follow each other without a gap."""

    wave: np.ndarray  # row of the wave index
    line: np.ndarray  # code row, -1: no instruction
    cause: np.ndarray  # PathCause
    begin: np.ndarray  # cycles, aligned
    end: np.ndarray

    @property
    def cycles(self) -> int:
        """Total cycles of all pieces."""
        return int((self.end - self.begin).sum())

    def piece_at(self, wave: int, time: int) -> int:
        """Return the piece that is in a wave at a time, -1: none."""
        found = np.flatnonzero((self.wave == wave) & (self.begin <= time) & (time < self.end))
        return int(found[0]) if len(found) else -1
