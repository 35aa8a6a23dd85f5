"""The executed instructions of one shader engine as columns, with everything the rules ask for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rcv_py.analysis.attribution.lines import Lines
from rcv_py.analysis.core.saturated import later, since
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks
from rcv_py.analysis.waves.workgroups import (
    GFX9_DELAY,
    MAX_DELAY,
    Crossings,
    Meetings,
    crossings,
    grouped,
    last_ends,
    meetings,
)
from rcv_py.model.code import CodeTable

_FARTHEST = 1 << 62  # cycles: no time that is shifted by `stride` is as late
_MARGIN = 4096  # cycles behind the last time in which results may still be on their way


@dataclass(frozen=True, eq=False)
class Stream:
    """Tokens of some waves of one shader engine, wave by wave.  Times are int64 cycles since `base`.

    Times that only a damaged file holds, years behind the base, are taken as just before `stride`; `stall` is
    always that of the token.
    """

    piece: TokenColumns
    lines: Lines
    links: WaitLinks
    base: int
    line: np.ndarray  # int64 [n], row of `lines`; the last one if no code line matched
    owner: np.ndarray  # int64 [n], place of the wave
    start: np.ndarray  # int64 [n]
    issue: np.ndarray  # int64 [n]
    end: np.ndarray  # int64 [n]
    simd: np.ndarray  # int64 [waves], number of its SIMD
    cu: np.ndarray  # int64 [waves], number of its compute unit
    stride: int  # no time is as late as this; times a SIMD, unit, wave or cache line still fit into int64
    crossings: Crossings  # barriers the waves went through; times are aligned, not since `base`
    meetings: Meetings  # of those

    def __len__(self) -> int:
        return len(self.line)

    @cached_property
    def unit(self) -> np.ndarray:
        """Unit of each token, uint8."""
        return self.lines.unit[self.line]

    @cached_property
    def stall(self) -> np.ndarray:
        """Stalled cycles of each token, int64."""
        return self.piece.stall.astype(np.int64)

    @cached_property
    def first(self) -> np.ndarray:
        """The first token of the wave of each token, int64."""
        return self.piece.first[:-1][self.owner]

    @cached_property
    def released(self) -> np.ndarray:
        """When each token's operation was done at the latest: the end of the first wait for it, int64.

        Operations nobody waited for count until the end of their wave.
        """
        stops = np.zeros(len(self.simd), dtype=np.int64)
        np.maximum.at(stops, self.owner, self.end)
        done = stops[self.owner]
        links = self.links
        np.minimum.at(done, links.producers, self.issue[links.token[links.row_of]])
        return done

    def at_simd(self, time: np.ndarray, token: np.ndarray) -> np.ndarray:
        """Shift times of tokens so that SIMDs do not overlap."""
        return time + self.simd[self.owner[token]] * self.stride

    def at_cu(self, time: np.ndarray, token: np.ndarray) -> np.ndarray:
        """Shift times of tokens so that compute units do not overlap."""
        return time + self.cu[self.owner[token]] * self.stride

    def last_of(self, is_meant: np.ndarray) -> np.ndarray:
        """Return for each token the last token of its wave before it that is meant, int64, -1: none."""
        place = np.where(is_meant, np.arange(len(self)), -1)
        last = np.maximum.accumulate(np.append(-1, place[:-1])) if len(self) else place
        return np.where(last >= self.first, last, -1)


def stream(piece: TokenColumns, lines: Lines, links: WaitLinks, code: CodeTable) -> Stream:
    """Return the columns of the waves of a piece, all of one shader engine."""
    count = len(code)
    line = piece.line.astype(np.int64)
    line[(line < 0) | (line >= count)] = count
    far = np.iinfo(np.int64).max
    base = min([int(piece.start.min(initial=far)), *(wave.begin for wave in piece.waves)], default=0)
    simd = _numbers([(wave.cu, wave.id.simd) for wave in piece.waves])
    cu = _numbers([(wave.cu,) for wave in piece.waves])
    lanes = len(piece.waves) + len(lines) * (1 + int(cu.max(initial=0)))
    most = _FARTHEST // (lanes + 1) - _MARGIN
    start = since(piece.start, base, most)
    issue = np.minimum(later(start, piece.stall), most)
    end = np.minimum(later(issue, piece.busy), most)
    stride = int(max(end.max(initial=0), start.max(initial=0))) + _MARGIN
    owner = piece.owner
    crossed = crossings(piece, code)
    slowest = GFX9_DELAY if lines.step == 4 else MAX_DELAY
    met = meetings(crossed, grouped(list(piece.waves), crossed)[0], last_ends(piece), slowest)
    times = (start, issue, end)
    return Stream(piece, lines, links, base, line, owner, *times, simd, cu, stride, crossed, met)


def _numbers(places: list[tuple[int, ...]]) -> np.ndarray:
    known = {place: number for number, place in enumerate(sorted(set(places)))}
    return np.array([known[place] for place in places], dtype=np.int64)
