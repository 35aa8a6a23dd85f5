"""Captures of any size, fast: `python -m tests.support.made_captures --out DIR --megabytes 50`.

A few waves are simulated, then copied to other engines and later times.

A block of eight waves (two workgroups on one compute unit) is the pattern.  Copies stand on different
shader engines or one after the other on the same slots, so nothing overlaps and every invariant holds.
State curves (`wstates`) are not written: they would be as large as the waves and can be derived.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from msgspec.structs import replace

from rcv_py.formats.uiout.written import dump, realtime_table
from rcv_py.synth.build import Plan, build, realtime
from rcv_py.synth.capture import SyntheticCapture, Truth, WaveRun
from rcv_py.synth.hardware import CDNA
from rcv_py.synth.program import first_rows, kernel
from rcv_py.synth.wave_state import SyntheticLaunch
from rcv_py.synth.write import code_table, index_table, occupancy_table, wait_lists, wave_table, write_sources

_BLOCK = 8  # waves of a block
_ENGINES = 8
_ENGINE_STEP = 752  # cycles one engine's clock lags behind the one before
_WAVE_BYTES = (200_000, 1_250_000)  # smallest and largest file, if nothing is said about waves
_WAVES = 80  # as many as these two allow
_PAUSE = 2_000  # cycles between two blocks on the same slots
_FIRST_WAVE = 70_000
_NO_TOKENS = np.zeros((0, 5), dtype=np.int64)
_NO_STATES = np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Pattern:
    """A simulated wave, its unchanging parts already encoded."""

    run: WaveRun
    timeline: orjson.Fragment
    waits: orjson.Fragment
    totals: np.ndarray  # int64 [rows, 4]


@dataclass(frozen=True, slots=True)
class _Copy:
    """Where a pattern goes."""

    pattern: int
    se: int
    wid: int
    shift: int  # cycles to add


def write_large(
    folder: Path,
    megabytes: float = 0,
    waves: int | None = None,
    seed: int = 0,
    tokens_per_wave: int | None = None,
) -> None:
    """Write a gfx9 folder of about so many megabytes (10^6 bytes), or of so many waves and tokens.

    What is left out follows from the rest; a wave has 0.2 to 1.25 MB if nothing says otherwise.
    """
    waves, rounds = _measures(megabytes * 1_000_000, waves, seed, tokens_per_wave)
    pattern = build(_product_plan(seed, rounds)).capture
    patterns = [_pattern(run, pattern) for run in pattern.waves]
    copies = list(_copies(pattern.waves, waves))
    folder.mkdir(parents=True, exist_ok=True)
    for copy in copies:
        _write_wave(folder, patterns[copy.pattern], copy)
    _write_tables(folder, pattern, patterns, copies)


def _product_plan(seed: int, rounds: int) -> Plan:
    """The tiled product alone on one compute unit of one shader engine."""
    launch = SyntheticLaunch(kernel("matmul_tiled"), 2, {"K": (rounds,)}, resident=2)
    return Plan(CDNA, (launch,), seed=seed)


def _measures(size: float, waves: int | None, seed: int, tokens: int | None) -> tuple[int, int]:
    """Number of waves, and rounds of the loop in each."""
    (few, few_bytes), (many, many_bytes) = _measured(4, seed), _measured(12, seed)
    per_round, bytes_per_round = (many - few) / 8, (many_bytes - few_bytes) / 8
    if tokens is not None:
        rounds = max(2, round(4 + (tokens - few) / per_round))
        wave_bytes = few_bytes + (rounds - 4) * bytes_per_round
        return waves or max(1, round(size / wave_bytes)), rounds
    small, big = _WAVE_BYTES
    waves = waves or max(_BLOCK, round(size / min(big, max(small, size / _WAVES))))
    return waves, max(2, round(4 + (size / waves - few_bytes) / bytes_per_round))


@cache
def _measured(rounds: int, seed: int) -> tuple[int, float]:
    """Tokens and bytes of a wave, times of eight digits assumed."""
    capture = build(_product_plan(seed, rounds)).capture
    sizes = [len(_encoded(_pattern(run, capture), _Copy(0, 0, 0, 10_000_000))) for run in capture.waves]
    return len(capture.waves[0].tokens), sum(sizes) / len(sizes)


def _pattern(run: WaveRun, capture: SyntheticCapture) -> _Pattern:
    states = orjson.dumps(run.timeline, option=orjson.OPT_SERIALIZE_NUMPY)
    waits = orjson.dumps(wait_lists(run))
    totals = code_totals((run,), first_rows(capture.kernels)[-1])
    return _Pattern(run, orjson.Fragment(states), orjson.Fragment(waits), totals)


def _copies(runs: Sequence[WaveRun], waves: int) -> Iterator[_Copy]:
    """Blocks one engine after the other, then again behind them."""
    first = min(run.begin for run in runs)
    period = max(run.end for run in runs) - first + _PAUSE
    engines = min(_ENGINES, -(-waves // len(runs)))
    for number in range(waves):
        block, pattern = divmod(number, len(runs))
        turn, se = divmod(block, engines)
        shift = _FIRST_WAVE - first + turn * period - se * _ENGINE_STEP + 4 * (block * 7 % 5)
        yield _Copy(pattern, se, turn, shift)


def _moved(run: WaveRun, copy: _Copy, with_tokens: bool = False) -> WaveRun:
    """The wave at its new place; its tokens only if asked for, they are large."""
    tokens = run.tokens + np.array([copy.shift, 0, 0, 0, 0]) if with_tokens else _NO_TOKENS
    return replace(
        run,
        se=copy.se,
        wid=copy.wid,
        begin=run.begin + copy.shift,
        end=run.end + copy.shift,
        tokens=tokens,
        timeline=_NO_STATES,
        waits=(),
    )


def _encoded(pattern: _Pattern, copy: _Copy) -> bytes:
    table: dict[str, Any] = wave_table(_moved(pattern.run, copy, with_tokens=True))
    table["wave"] |= {"timeline": pattern.timeline, "waitcnt": pattern.waits}
    return orjson.dumps(table, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_SORT_KEYS)


def _write_wave(folder: Path, pattern: _Pattern, copy: _Copy) -> None:
    name = _moved(pattern.run, copy).file
    (folder / name).write_bytes(_encoded(pattern, copy))


def _write_tables(
    folder: Path, capture: SyntheticCapture, patterns: list[_Pattern], copies: list[_Copy]
) -> None:
    used = np.bincount([copy.pattern for copy in copies], minlength=len(patterns))
    totals = sum(pattern.totals * count for pattern, count in zip(patterns, used, strict=True))
    moved = tuple(_moved(patterns[copy.pattern].run, copy) for copy in copies)
    lives = np.array([_life(run, number) for number, run in enumerate(moved)], dtype=np.int64)
    offsets = {se: se * _ENGINE_STEP for se in sorted({run.se for run in moved})}
    truth = Truth({}, np.asarray(totals), lives, offsets, np.zeros((0, 8), dtype=np.int64))
    whole = replace(capture, waves=moved, truth=truth, realtime=realtime(lives.tolist(), offsets))
    dump(folder / "filenames.json", index_table(whole))
    dump(folder / "code.json", code_table(whole))
    dump(folder / "occupancy.json", occupancy_table(whole))
    dump(folder / "realtime.json", realtime_table(whole.realtime))
    write_sources(whole, folder)


def _life(run: WaveRun, number: int) -> list[int]:
    return [run.se, run.cu, run.simd, run.slot, run.begin, run.end, run.kernel, number // 4]


def code_totals(waves: Sequence[WaveRun], rows: int) -> np.ndarray:
    """Return hits, latency, stall and idle of each code row over all waves, int64 [rows, 4]."""
    totals = np.zeros((rows, 4), dtype=np.int64)
    for wave in waves:
        totals += token_totals(wave.begin, wave.tokens, rows)
    return totals


def token_totals(begin: int, tokens: np.ndarray, rows: int) -> np.ndarray:
    """Return the same of one wave; `tokens` are rows of start, kind, stall, duration and code row."""
    totals = np.zeros((rows, 4), dtype=np.int64)
    time, _, stall, duration, row = tokens.T
    before = np.maximum.accumulate(np.append(begin, (time + duration)[:-1]))[: len(time)]
    values = np.column_stack([np.ones_like(time), duration, stall, np.maximum(time - before, 0)])
    np.add.at(totals, row, values)
    return totals


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a large synthetic capture.")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--waves", type=int)
    parser.add_argument("--tokens", type=int, help="instructions a wave")
    given = parser.parse_args()
    write_large(given.out, given.megabytes, given.waves, given.seed, given.tokens)


if __name__ == "__main__":
    main()
