"""What decoding a raw capture must give, and the same as the records that a decoder gives.

`Raw.said` is what a raw capture holds in a form that depends on no decoder: its kernels by code object, and
for each `.att` file waves with their tokens (time, kind, address, stall, duration) and states, residents,
launches and clocks.  Captures that are simulated say it (`raw_samples.py`), and so do real ones.
"""

from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rcv_py.base.runs import borders
from rcv_py.formats.isa.code_object import CodeObject
from rcv_py.formats.isa.program import Program, categories
from rcv_py.formats.raw.objects import Places
from rcv_py.formats.sqtt.records import DecodedStream, DispatchRecord, OccupancyRecords, WaveRecords
from rcv_py.model.kinds import TokenKind, WaveState


class Stitched(NamedTuple):
    """What `stitch` returns, and what it leaves open."""

    waves: WaveRecords
    row: np.ndarray

    @property
    def matched(self) -> np.ndarray:
        """Tokens of each wave with a line, or of a trap, which has none; int64."""
        is_matched = (self.row >= 0) | (self.waves.kind == TokenKind.TRAP)
        return np.diff(borders(is_matched)[self.waves.token_first])

    @property
    def is_complete(self) -> bool:
        """Whether every wave was walked to its end."""
        return bool((self.matched == np.diff(self.waves.token_first)).all())


@dataclass(frozen=True, eq=False)
class Raw:
    """A raw capture with known truth."""

    name: str
    folder: Path
    said: dict[str, Any]
    dispatch: int = 1

    @property
    def arch(self) -> str:
        """The GPU family, such as `gfx950`."""
        arch: str = self.said["arch"]
        return arch

    @property
    def engines(self) -> list[dict[str, Any]]:
        """What is known of each `.att` file of the dispatch."""
        return [one for one in self.said["captures"] if one["file"].endswith(f"_{self.dispatch}.att")]

    @property
    def waves(self) -> dict[tuple[int, int, int, int], dict[str, Any]]:
        """The waves that are shown, by engine, SIMD, slot and number: they are numbered as they ended.

        On gfx12 they have each s_barrier_wait that left no token.
        """
        found: dict[tuple[int, int, int, int], dict[str, Any]] = {}
        for engine in self.engines:
            count: dict[tuple[int, int], int] = {}
            for wave in engine["waves"]:
                if wave["insts"] or len(wave["timeline"]) >= 3:
                    slot = wave["simd"], wave["slot"]
                    shown = self._with_silent_waits(engine, wave) if self.arch == "gfx1200" else wave
                    found[engine["se"], *slot, count.get(slot, 0)] = shown
                    count[slot] = count.get(slot, 0) + 1
        return found

    def _with_silent_waits(self, engine: dict[str, Any], wave: dict[str, Any]) -> dict[str, Any]:
        """The wave with waits between two tokens around them, and with these cycles as waiting."""
        isa = self.said["code"][str(engine["code_object"])]["isa"]
        after = {one[0]: other for one, other in pairwise(isa) if other[2].startswith("s_barrier_wait")}
        insts, cycles = [], [state for state, lasts in wave["timeline"] for _ in range(lasts)]
        for row, later in zip(wave["insts"], [*wave["insts"][1:], None], strict=True):
            insts.append(row)
            wait = after.get(row[2])
            if wait and later and later[2] == wait[0] + wait[1]:
                begin, end = row[0] + row[4], later[0]
                insts.append([begin, TokenKind.IMMED, wait[0], 0, end - begin])
                cycles[begin - wave["begin"] : end - wave["begin"]] = [WaveState.WAIT] * (end - begin)
        timeline = [[state, len(list(same))] for state, same in groupby(cycles)]
        return wave | ({"insts": insts, "timeline": timeline} if len(insts) > len(wave["insts"]) else {})

    def code_object(self, number: int) -> CodeObject:
        """One of its code objects, read anew."""
        return CodeObject.open(self.folder / f"{self.arch}_code_object_id_{number}.out")


def _ints(values: list[Any], dtype: Any = np.int64) -> np.ndarray:
    return np.array(values, dtype=dtype)


def stream_of(arch: str, engine: dict[str, Any], base: int) -> DecodedStream:
    """One engine's records; its code lies at `base`."""
    waves, occupancy = engine["waves"], engine["occupancy"]
    spans = [wave["timeline"] for wave in waves]
    tokens = [wave["insts"] for wave in waves]
    rows = _ints([row for wave in tokens for row in wave]).reshape(-1, 5)
    span = _ints([row for wave in spans for row in wave]).reshape(-1, 2)
    nobody = np.full(len(waves), -1, dtype=np.int16)
    table = _ints(occupancy).reshape(-1, 9)
    return DecodedStream(
        gfxip=9 if arch == "gfx950" else int(arch[3:5]),
        version=engine["tt_version"],
        se=engine["se"],
        cu=engine["target"]["cu"] if engine["target"]["cu"] is not None else -1,
        simds=15,
        waves=WaveRecords(
            **{name: _ints([wave[name] for wave in waves], np.int16) for name in ("simd", "slot", "cu")},
            begin=_ints([wave["begin"] for wave in waves]),
            end=_ints([wave["end"] for wave in waves]),
            is_complete=_ints([wave["complete"] for wave in waves], bool),
            entry=_ints([wave["entry"][0] for wave in waves], np.uint64),
            **dict.fromkeys(("workgroup", "cluster", "me", "pipe"), nobody),
            contexts=nobody * 0,
            token_first=borders([len(wave) for wave in tokens]),
            state_first=borders([len(wave) for wave in spans]),
            break_first=np.zeros(len(waves) + 1, dtype=np.int64),
            time=rows[:, 0],
            kind=rows[:, 1].astype(np.uint8),
            stall=rows[:, 3],
            duration=rows[:, 4],
            flags=np.zeros(len(rows), dtype=np.uint8),
            state=span[:, 0].astype(np.uint8),
            state_duration=span[:, 1],
            break_token=_ints([]),
            break_address=_ints([], np.uint64),
        ),
        occupancy=OccupancyRecords(
            time=table[:, 0],
            is_start=table[:, 1] != 0,
            **dict(zip(("cu", "simd", "slot", "me", "pipe"), table[:, 2:7].astype(np.int16).T, strict=True)),
            entry=np.where(table[:, 7], table[:, 7] + base, 0).astype(np.uint64),
            workgroup=table[:, 8].astype(np.int16),
            cluster=np.full(len(table), -1, dtype=np.int16),
        ),
        realtime=_ints(engine["realtime"]).reshape(-1, 2),
        dispatches=tuple(
            DispatchRecord(time=time, me=me, pipe=pipe, entry=entry + base if entry else 0)
            for time, me, pipe, entry in engine["dispatches"]
        ),
        other_simd=_ints(engine["other_simd"]).reshape(-1, 3),
        other_simd_number=1,
    )


def places_of_tokens(engine: dict[str, Any]) -> tuple[Places, np.ndarray]:
    """A table of places, and where in it the tokens of one engine stand."""
    found = [row[2] for wave in engine["waves"] for row in wave["insts"]]
    address = sorted(set(found) - {0})
    at = {one: row for row, one in enumerate(address)} | {0: -1}
    places = Places(np.full(len(address), engine["code_object"]), _ints(address, np.uint64))
    return places, _ints([at[one] for one in found])


def program_of(code: dict[str, Any]) -> Program:
    """The instructions of a kernel."""
    address, size, text = zip(*code["isa"], strict=True)
    return Program(
        name=code["kernel"],
        address=_ints(address, np.uint64),
        size=_ints(size, np.uint8),
        text=text,
        category=categories(text),
        target=np.full(len(text), -1),
    )
