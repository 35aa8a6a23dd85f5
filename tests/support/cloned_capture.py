"""A capture of any size like a recorded one: its busiest shader engine again and again, later each time.

What the simulator writes repeats one loop of one kernel.  A recorded capture has its own mix of
instructions, waits and waves, and so other costs a token.  Waves, occupancy, the index, totals of the code
and clock samples agree with each other; state curves (`wstates`) are left out, since they can be derived.
Nothing but one copy is in memory.
"""

import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from tests.support.made_captures import token_totals

PAUSE = 512  # cycles between the last event of a copy and the first of the next, at least
STEP = 64  # cycles: every clock's own step divides it
TOTALS = slice(6, 10)  # of a row of the code: hits, latency, stall, idle

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class _Wave:
    """A wave file, what never changes already encoded."""

    simd: str
    slot: str
    turn: int  # among the waves of its slot
    table: Json  # the file without the wave
    wave: Json  # the wave without times
    begin: int
    end: int
    tokens: np.ndarray  # int64 [n, 5]

    def encoded(self, shift: int, number: int) -> bytes:
        """Return the file of a copy that comes `shift` cycles later."""
        times = {"begin": self.begin + shift, "end": self.end + shift, "id": number}
        moved = self.tokens + np.array([shift, 0, 0, 0, 0])
        table = self.table | {"wave": self.wave | times | {"instructions": moved}}
        return orjson.dumps(table, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_SORT_KEYS)


def write_clone(source: Path, folder: Path, megabytes: float) -> int:
    """Write at least so many megabytes (10^6 bytes) of wave files; return how many tokens they hold."""
    index = _json(source / "filenames.json")
    engine = _busiest(source, index["wave_filenames"])
    waves = _waves(source, index["wave_filenames"][engine])
    occupancy = _json(source / "occupancy.json")
    events = np.array(occupancy[engine], dtype=np.int64)
    period = _period(waves, events)
    in_slot = Counter((wave.simd, wave.slot) for wave in waves)
    folder.mkdir(parents=True)
    files: Json = {}
    copies = written = 0
    while written < megabytes * 1_000_000:
        for wave in waves:
            number, shift = copies * in_slot[wave.simd, wave.slot] + wave.turn, copies * period
            name = f"se{engine}_sm{wave.simd}_sl{wave.slot}_wv{number}.json"
            written += (folder / name).write_bytes(wave.encoded(shift, number))
            slots = files.setdefault(wave.simd, {}).setdefault(wave.slot, {})
            slots[str(number)] = [name, wave.begin + shift, wave.end + shift]
        copies += 1
    shifts = np.arange(copies) * period
    moved = np.repeat(events[None], copies, axis=0)
    moved[:, :, 0] += shifts[:, None]
    engines = {key: None for key in occupancy if key.isdigit()}
    others = {key: value for key, value in occupancy.items() if key not in engines}
    _dump(folder / "filenames.json", index | {"wave_filenames": {engine: files}})
    _dump(folder / "occupancy.json", others | {engine: moved.reshape(-1, events.shape[1])})
    _dump(folder / "code.json", _code(_json(source / "code.json"), waves, copies))
    if (source / "realtime.json").exists():
        _dump(folder / "realtime.json", _clock(_json(source / "realtime.json"), engine, int(shifts[-1])))
    for path in (*source.glob("source_*"), *source.glob("snapshots.json")):
        shutil.copy(path, folder)
    return copies * sum(len(wave.tokens) for wave in waves)


def _busiest(source: Path, engines: Json) -> str:
    """The shader engine with most bytes of waves."""

    def size(engine: str) -> int:
        return sum(path.stat().st_size for path in source.glob(f"se{engine}_*_wv*.json"))

    return max(engines, key=size)


def _waves(source: Path, simds: Json) -> list[_Wave]:
    found = []
    for simd, slots in simds.items():
        for slot, waves in slots.items():
            for turn, (name, *_) in enumerate(waves[key] for key in sorted(waves, key=int)):
                table = _json(source / name)
                wave = table.pop("wave")
                tokens = np.array(wave.pop("instructions"), dtype=np.int64).reshape(-1, 5)
                kept = {key: orjson.Fragment(orjson.dumps(value)) for key, value in wave.items()}
                found.append(_Wave(simd, slot, turn, table, kept, wave["begin"], wave["end"], tokens))
    return found


def _period(waves: list[_Wave], events: np.ndarray) -> int:
    first = min(int(events[:, 0].min()), *(wave.begin for wave in waves))
    last = max(int(events[:, 0].max()), *(wave.end for wave in waves))
    return -(-(last - first + PAUSE) // STEP) * STEP


def _code(table: Json, waves: list[_Wave], copies: int) -> Json:
    """The code with the totals of all copies."""
    row_of = {row[2]: number for number, row in enumerate(table["code"])}
    longest = max(row_of) + 1
    totals = np.zeros((longest, 4), dtype=np.int64)
    for wave in waves:
        totals += token_totals(wave.begin, wave.tokens, longest)
    for line, number in row_of.items():
        table["code"][number][TOTALS] = (totals[line] * copies).tolist()
    return table


def _clock(table: Json, engine: str, length: int) -> Json:
    """Clock samples of one engine: the last one as much later as the copies last."""
    (cycle, tick), *_, (last_cycle, last_tick) = table[f"SE{engine}"]
    later = round(length * (last_tick - tick) / max(1, last_cycle - cycle))
    samples = [[cycle, tick], [last_cycle + length, last_tick + later]]
    return {"metadata": table["metadata"], f"SE{engine}": samples}


def _json(path: Path) -> Json:
    return dict(orjson.loads(path.read_bytes()))


def _dump(path: Path, table: Json) -> None:
    path.write_bytes(orjson.dumps(table, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_SORT_KEYS))
