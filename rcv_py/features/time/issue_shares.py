"""How much of its time a slot held a wave that did not issue, along the whole capture."""

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.program.branches import ends_of, rests
from rcv_py.base.progress import checkpoint
from rcv_py.base.runs import ascending
from rcv_py.features.time.device_rows import DeviceRows
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.wave_store import WaveStore
from rcv_py.ui.timeline.rows_item import LEVELS

BINS = 2048  # maximum parts of the capture: more than a screen has pixels
NO_LEVEL = 0xFF  # no wave in this part of the time


@dataclass(frozen=True, eq=False)
class IssueShares:
    """The share of time without issue, by screen row and part of the capture."""

    window: TimeWindow  # the capture
    row: np.ndarray  # int64, ascending: rows with instructions
    level: np.ndarray  # uint8 [rows, parts], 0: always issues, LEVELS - 1: never, NO_LEVEL: no wave

    def at(self, row: int, shown: TimeWindow, width_px: int) -> np.ndarray | None:
        """Return the mean level in each pixel of a row, uint8 [width_px]; None without instructions."""
        place = int(np.searchsorted(self.row, row))
        if place >= len(self.row) or self.row[place] != row:
            return None
        level, parts = self.level[place], self.level.shape[1]
        edge = shown.begin + np.arange(width_px + 1) * shown.width / width_px
        part = (edge - self.window.begin) * parts / self.window.width
        first = np.clip(part[:-1].astype(np.int64), 0, parts - 1)
        stop = np.clip(np.ceil(part[1:]).astype(np.int64), first + 1, parts)
        is_known = level != NO_LEVEL
        known = np.append(0, np.cumsum(is_known))
        total = np.append(0, np.cumsum(np.where(is_known, level, 0), dtype=np.int64))
        some = known[stop] - known[first]
        mean = np.rint((total[stop] - total[first]) / np.maximum(some, 1))
        return np.where(some > 0, mean, NO_LEVEL).astype(np.uint8)


def issue_shares(trace: Trace, store: WaveStore, device: DeviceRows, window: TimeWindow) -> IssueShares:
    """Count the cycles of issue (later than gfx9: of issue or execution) of the loaded waves in each row."""
    ends, traced = ends_of(trace.code), device.wave >= 0
    parts = min(BINS, window.width)  # none is shorter than a cycle
    edges = window.begin + np.arange(parts + 1) * window.width // parts
    rows, found = ascending(device.boxes.row[traced]).astype(np.int64), []
    for row in rows.tolist():
        checkpoint()
        here = device.wave[traced & (device.boxes.row == row)].tolist()
        waves = [wave for number in here if (wave := store.wave(number)) is not None]
        piece = of_waves(waves)
        end = piece.issue + piece.busy
        at, rest = rests(piece, ends)
        end[at] -= rest
        lives = np.array([(wave.begin, wave.end) for wave in waves], dtype=np.int64).reshape(-1, 2)
        issued, lived = (
            IntervalSet.of(begin, stop).covered(edges[:-1], edges[1:])
            for begin, stop in ((piece.issue, end), lives.T)
        )
        share = 1 - np.minimum(issued, lived) / np.maximum(lived, 1)
        found.append(np.where(lived > 0, np.rint(share * (LEVELS - 1)), NO_LEVEL).astype(np.uint8))
    return IssueShares(window, rows, np.array(found, dtype=np.uint8).reshape(-1, parts))
