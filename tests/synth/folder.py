"""Reads a folder with nothing but json and numpy, and recomputes what must agree."""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Folder:
    path: Path

    def json(self, name: str) -> Any:
        return json.loads((self.path / name).read_bytes())

    @cached_property
    def index(self) -> dict[str, Any]:
        return self.json("filenames.json")

    @property
    def is_gfx9(self) -> bool:
        return self.index.get("gfxip", 9) == 9

    @cached_property
    def code(self) -> list[list[Any]]:
        return self.json("code.json")["code"] or []

    @cached_property
    def row_of(self) -> dict[int, int]:
        return {row[2]: place for place, row in enumerate(self.code)}

    @cached_property
    def waves(self) -> dict[tuple[int, int, int, int], dict[str, Any]]:
        """Wave files by (se, simd, slot, wid), with the entry of the index, `tokens` and `texts` added."""
        found = {}
        for se, simds in (self.index["wave_filenames"] or {}).items():
            for simd, slots in simds.items():
                for slot, wids in slots.items():
                    for wid, entry in wids.items():
                        key = (int(se), int(simd), int(slot), int(wid))
                        wave = self.json(entry[0])
                        tokens = np.array(wave["wave"]["instructions"], dtype=np.int64)
                        tokens.flags.writeable = False
                        found[key] = wave | {"entry": entry, "tokens": tokens, "texts": self._texts(wave)}
        return found

    def tokens(self, wave: dict[str, Any]) -> np.ndarray:
        return wave["tokens"]

    def texts(self, wave: dict[str, Any]) -> list[str]:
        return wave["texts"]

    def _texts(self, wave: dict[str, Any]) -> list[str]:
        return [self.code[self.row_of[token[4]]][0] for token in wave["wave"]["instructions"]]

    @cached_property
    def events(self) -> dict[int, list[list[int]]]:
        table = self.json("occupancy.json")
        return {int(se): rows for se, rows in table.items() if se.isdigit()}

    def pairs(self, se: int) -> list[tuple[int, int, int, int, int, int]]:
        """(cu, simd, slot, begin, end, kernel); fails where an event has no partner."""
        rows = self.events[se]
        assert rows == sorted(rows, key=lambda row: row[0])
        running: dict[tuple[int, int, int], tuple[int, int]] = {}
        found = []
        for time, cu, simd, slot, start, kernel in (row[:6] for row in rows):
            if start:
                assert (cu, simd, slot) not in running
                running[cu, simd, slot] = (time, kernel)
            else:
                begin, began = running.pop((cu, simd, slot))
                assert began == kernel
                found.append((cu, simd, slot, begin, time, kernel))
        assert not running
        return found


def painted(wave: dict[str, Any], step: int) -> np.ndarray:
    """The state of every step from wave begin to the last cycle, painted token by token."""
    detail = wave["wave"]
    tokens = detail["instructions"]
    begin = detail["begin"]
    last = max(time + duration for time, _, _, duration, _ in tokens)
    cells = np.full((max(last, detail["end"]) - begin) // step, 1)
    cells[(tokens[0][0] - begin) // step : (last - begin) // step] = 2
    for number, (time, kind, stall, duration, _) in enumerate(tokens):
        is_end = number == len(tokens) - 1
        length = duration if is_end else stall
        state = 3 if kind == 9 or is_end else 4
        cells[(time - begin) // step : (time - begin + length) // step] = state
    return cells


def unrolled(timeline: list[list[int]], step: int) -> np.ndarray:
    """The same from the file's segments."""
    state, length = np.array(timeline).T
    return np.repeat(state, length // step)


def queue_replay(texts: list[str]) -> list[tuple[int, list[int]]]:
    """What each gfx9 wait released, by the plainest reading of the rules (no flat memory)."""
    queues: dict[str, list[int]] = {"lgkmcnt": [], "vmcnt": []}
    found = []
    for place, text in enumerate(texts):
        if text.startswith(("ds_", "s_load")):
            queues["lgkmcnt"].append(place)
        elif text.startswith(("global_", "buffer_", "scratch_")):
            queues["vmcnt"].append(place)
        # A wait looks at lgkmcnt first, whatever its text names first: so the lists of real files are.
        for name, keep in sorted(re.findall(r"(lgkmcnt|vmcnt)\((\d+)\)", text)):
            released = _released(queues[name], int(keep), texts)
            queues[name] = queues[name][len(released) :]
            found += [(place, released)] if released else []
    return found


def _released(queue: list[int], keep: int, texts: list[str]) -> list[int]:
    """A queue with a scalar load in it is out of order: it releases all or nothing."""
    is_ordered = not any(texts[place].startswith("s_load") for place in queue)
    return queue[: max(0, len(queue) - keep)] if is_ordered or keep == 0 else []
