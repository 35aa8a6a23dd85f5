"""Tokens for each s_barrier_wait of gfx12 that left none, as AMD's decoder adds them."""

from dataclasses import replace

import numpy as np

from rcv_py.base.runs import borders
from rcv_py.formats.raw.stitch import BRANCH, IMMED, IS_BARRIER_WAIT, JUMP, StitchedPrograms
from rcv_py.formats.sqtt.records import WaveRecords, with_state
from rcv_py.model.kinds import WaveState


def with_barrier_waits(
    waves: WaveRecords, row: np.ndarray, program: StitchedPrograms
) -> tuple[WaveRecords, np.ndarray]:
    """Return the waves with a token for each s_barrier_wait that left none, and the row of each token.

    Such a wait lasts from the end of the token before to the start of the next, without a stall; the wave
    waits meanwhile.
    """
    later, line = _silent(waves, row, program)
    if not len(later):
        return waves, row
    begin = waves.time[later - 1] + waves.duration[later - 1]
    lasts = np.maximum(waves.time[later] - begin, 0)
    first = waves.token_first
    wave = np.searchsorted(first, later, side="right") - 1
    owner = np.repeat(first[:-1], np.diff(waves.break_first))
    added = np.searchsorted(later, owner + waves.break_token, side="right")
    since_begin = begin - waves.begin[wave]
    changed = replace(
        waves,
        token_first=first + borders(np.bincount(wave, minlength=len(waves))),
        time=np.insert(waves.time, later, begin),
        kind=np.insert(waves.kind, later, IMMED),
        stall=np.insert(waves.stall, later, 0),
        duration=np.insert(waves.duration, later, lasts),
        flags=np.insert(waves.flags, later, 0),
        break_token=waves.break_token + added - np.searchsorted(later, owner, side="right"),
        **with_state(waves, wave, since_begin, lasts, WaveState.WAIT),
    )
    return changed, np.insert(row, later, line)


def _silent(waves: WaveRecords, row: np.ndarray, program: StitchedPrograms) -> tuple[np.ndarray, np.ndarray]:
    """The tokens before which an s_barrier_wait left none, and its row."""
    is_wait = np.append(program.traits & IS_BARRIER_WAIT > 0, False)  # -1: no line
    if not is_wait.any():
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    leads = np.append(is_wait[program.after] | is_wait[program.target], False)
    token = np.flatnonzero(leads[row[:-1]])
    jumps = (waves.kind[token] == JUMP) & (program.category[row[token]] == BRANCH)
    line = np.where(jumps, program.target[row[token]], program.after[row[token]])
    later = row[token + 1]
    breaks = np.repeat(waves.token_first[:-1], np.diff(waves.break_first)) + waves.break_token
    ends = np.concatenate((waves.token_first - 1, breaks))  # tokens that the next one does not follow
    silent = is_wait[line] & (later >= 0) & (later != line) & ~np.isin(token, ends)
    return token[silent] + 1, line[silent]
