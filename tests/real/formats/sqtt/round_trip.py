"""Every real gfx9 capture as a raw stream and back: `python -m tests.real.formats.sqtt.round_trip`."""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson

from rcv_py.formats.sqtt.decode import decode
from rcv_py.formats.sqtt.records import WaveRecords
from tests.formats.sqtt.encode_gfx9 import Played, Tape, played
from tests.real.captures import SHARED, trace_path

Key = tuple[int, int, int]

# Where recorded waves are not what a stream can tell, in how many records.  An older decoder made them, and
# - gave the end of a program all the time until the wave's end, as a wait (one a wave; now it is a message);
# - left out that a wave came to a barrier where it waited before that, too;
# - let scaled MFMA begin a step earlier (that is done beside the disassembly), which can reach into the next;
# - had counted overlaps that were not recorded, so that its phase of the clock is another for a while.
CHANGED: dict[str, dict[str, int]] = {
    "flash_attn_small_after": {"entry of a barrier": 32, "end of program": 8, "runs into the next": 41},
    "flash_attn_small_before": {"entry of a barrier": 20, "end of program": 4, "runs into the next": 27},
    "fused_rope_cache": {"end of program": 4, "runs into the next": 1},
    "mla_decode": {"end of program": 32},
    "moe_reduce": {"end of program": 4112, "runs into the next": 59, "told in another phase": 119},
    "pa_mqa_big": {"end of program": 32, "runs into the next": 3},
    "pa_mqa_small": {"end of program": 4, "runs into the next": 1},
    "preshuffle_gemm": {
        "scaled MFMA moved forward": 82,
        "end of program": 68,
        "entry of a barrier": 3,
        "entry of a barrier was a stall": 3,
    },
    "vec_add": {"end of program": 620, "runs into the next": 1, "end of program behind the end": 1},
}
SMALL = ("fused_rope_cache", "mla_decode", "pa_mqa_small", "vec_add")


@dataclass
class Encoded:
    """A capture as streams."""

    tapes: dict[int, Tape] = field(default_factory=dict)  # by shader engine
    waves: dict[int, dict[Key, tuple[Played, int]]] = field(default_factory=lambda: defaultdict(dict))
    changed: Counter[str] = field(default_factory=Counter)


def encoded(name: str) -> Encoded:
    """Return what a capture's files say as raw streams, one a shader engine."""
    folder = trace_path(name)
    code = orjson.loads((folder / "code.json").read_bytes())["code"]
    scaled = {row[2] for row in code if "mfma_scale" in row[0]}
    made = Encoded()
    for path in sorted(folder.glob("se*_sm*_sl*_wv*.json")):
        se, simd, slot, _ = (int(word[2:]) for word in path.stem.split("_"))
        wave: dict[str, Any] = orjson.loads(path.read_bytes())["wave"]
        tape = made.tapes.setdefault(se, Tape(cu=wave["cu"]))
        rows, life = wave["instructions"] or [], (wave["begin"], wave["end"])
        earlier = frozenset(at for at, row in enumerate(rows) if row[4] in scaled)
        told = played(tape, (simd, slot), life, rows, wave["timeline"], scaled=earlier)
        made.waves[se][simd, slot, wave["begin"]] = told, wave["end"]
        made.changed.update(told.changed)
    return made


def differences(name: str) -> Iterator[str]:
    """What is not the same of a capture that went to raw streams and back."""
    made = encoded(name)
    if made.changed != CHANGED[name]:
        yield f"{name}: changed {dict(made.changed)}"
    for se, tape in made.tapes.items():
        waves = decode(tape.stream()).waves
        left = dict(made.waves[se])
        for row in range(len(waves)):
            key = (int(waves.simd[row]), int(waves.slot[row]), int(waves.begin[row]))
            if key not in left:
                yield f"{name} SE{se} {key}: nobody wrote it"
                continue
            told, end = left.pop(key)
            yield from (f"{name} SE{se} {key}: {what}" for what in _unequal(waves, row, told, end))
        yield from (f"{name} SE{se} {key}: missing" for key in left)


def _unequal(waves: WaveRecords, row: int, told: Played, end: int) -> Iterator[str]:
    if int(waves.end[row]) != end or not waves.is_complete[row]:
        yield f"ends at {waves.end[row]}, not {end}"
    own = slice(*waves.token_first[row : row + 2])
    columns = (waves.time, waves.kind, waves.stall, waves.duration)
    if _rows(columns, own) != told.rows:
        yield f"records differ: {_first(_rows(columns, own), told.rows)}"
    did = slice(*waves.state_first[row : row + 2])
    if _rows((waves.state, waves.state_duration), did) != told.states:
        yield f"states differ: {_first(_rows((waves.state, waves.state_duration), did), told.states)}"


def _rows(columns: tuple[np.ndarray, ...], own: slice) -> list[list[int]]:
    rows: list[list[int]] = np.stack([column[own] for column in columns], axis=1, dtype=np.int64).tolist()
    return rows


def _first(found: list[list[int]], wanted: list[list[int]]) -> str:
    at = next((at for at, pair in enumerate(zip(found, wanted, strict=False)) if pair[0] != pair[1]), -1)
    return f"{len(found)} and {len(wanted)}, the first at {at}: {found[at : at + 2]} {wanted[at : at + 2]}"


def main() -> int:
    """Print what differs, of every capture; return 1 if anything does."""
    found = 0
    if not SHARED.is_dir():
        print(f"There are no real captures at {SHARED} that could become streams.")
        return 0
    for name in CHANGED:
        for text in differences(name):
            found += 1
            print(text)
        print(f"{name}: raw and back", flush=True)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
