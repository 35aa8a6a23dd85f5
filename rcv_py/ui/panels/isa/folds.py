"""Which rows of the instruction table are folded away, and which row stands for them.

```
 code row   sections   folded   shown
    0          0                  0
    1          0                  1
    2          1         yes      2    stands for 2, 3 and 4
    3          1         yes
    4          1         yes
    5          2                  3
```
A folded section is shown as its first row.
"""

from __future__ import annotations

import numpy as np


class IsaFolds:
    """Sections of the code [first, stop), in program order without gaps; any of them may be folded."""

    def __init__(self) -> None:
        self.first = np.zeros(0, dtype=np.int64)
        self.stop = np.zeros(0, dtype=np.int64)
        self.folded = np.zeros(0, dtype=bool)  # of each section
        self._of_row = np.zeros(0, dtype=np.int64)
        self._shown_as = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.first)

    # -- changing -----------------------------------------------------------------------------------

    def set_sections(self, first: np.ndarray, stop: np.ndarray) -> None:
        """Divide the code anew; what began a folded section before and begins one now stays folded."""
        if np.array_equal(first, self.first) and np.array_equal(stop, self.stop):
            return
        before = self.first[self.folded]
        self.first, self.stop = first.astype(np.int64), stop.astype(np.int64)
        self._of_row = np.repeat(np.arange(len(first)), self.stop - self.first)
        self.folded = np.isin(self.first, before) & self.foldable
        self._changed()

    def forget(self) -> None:
        """Unfold everything, for another program."""
        self.__init__()  # type: ignore[misc]

    def fold(self, section: int, is_folded: bool = True) -> None:
        """Fold or unfold one section; a section of one row cannot be folded."""
        if 0 <= section < len(self):
            self.folded[section] = is_folded and bool(self.foldable[section])
            self._changed()

    def fold_where(self, sections: np.ndarray) -> None:
        """Fold exactly the sections for which `sections` (bool) is true."""
        self.folded = sections & self.foldable
        self._changed()

    def reveal(self, row: int) -> bool:
        """Unfold the section of a code row; return whether it was folded."""
        section = self.section(row)
        was_folded = section >= 0 and bool(self.folded[section])
        if was_folded:
            self.fold(section, False)
        return was_folded

    # -- asking -------------------------------------------------------------------------------------

    @property
    def foldable(self) -> np.ndarray:
        """Which sections have more than one row, bool."""
        return self.stop - self.first > 1

    @property
    def is_any(self) -> bool:
        """Whether anything is folded."""
        return bool(self.folded.any())

    def section(self, row: int) -> int:
        """The section of a code row, -1 if there is no such row."""
        return int(self._of_row[row]) if 0 <= row < len(self._of_row) else -1

    def begins(self, row: int) -> int:
        """The section that begins at a code row, -1 if none does."""
        section = self.section(row)
        return section if section >= 0 and int(self.first[section]) == row else -1

    def is_fold(self, row: int) -> bool:
        """Whether a code row stands for its folded section."""
        section = self.begins(row)
        return section >= 0 and bool(self.folded[section])

    def rows_of(self, row: int) -> range:
        """The code rows that a shown row stands for."""
        if not self.is_fold(row):
            return range(row, row + 1)
        section = self.section(row)
        return range(int(self.first[section]), int(self.stop[section]))

    @property
    def shown_as(self) -> np.ndarray:
        """The code row that stands for each code row, int64."""
        return self._shown_as

    def visible(self) -> np.ndarray | None:
        """The code rows that are shown, ascending; None if all of them are."""
        if not self.is_any:
            return None
        return np.flatnonzero(self._shown_as == np.arange(len(self._shown_as)))

    def _changed(self) -> None:
        rows = np.arange(len(self._of_row))
        if not len(rows):
            self._shown_as = rows
            return
        self._shown_as = np.where(self.folded[self._of_row], self.first[self._of_row], rows)
