"""A capture as a file for speedscope: costs by source as sampled profiles, chosen waves as evented profiles.

```
tokens  aaaa  bb  ccc      a, b: source line 5; c: line 9      events   O5 Oa Ca Ob Cb C5 O9 Oc Cc C9
```

Between two instructions of one source line the line stays open: its own time there is idle time.  Units are
cycles, which the format calls `none`.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, BinaryIO

import numpy as np
import orjson

from rcv_py import __version__
from rcv_py.analysis.core.cost_columns import SAMPLES, cost_columns
from rcv_py.analysis.flame import flame
from rcv_py.analysis.flame.flame_layout import full_name, labels
from rcv_py.base.record import Value
from rcv_py.base.runs import ranges
from rcv_py.base.text import Message, visible
from rcv_py.model.tokens import Tokens
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
UNIT = "none"
AT_ONCE = 1 << 17  # events that are turned into text together
_METRICS = {
    flame.Metric.TOTAL: "latency and idle",
    flame.Metric.STALL: "stall",
    flame.Metric.HITS: "executions",
}


class Paths(Value):
    """Enclosing frames of each code line, outermost first, the line itself last; last row: others."""

    frames: np.ndarray  # int64 [rows + 1, longest], -1 after the last
    depth: np.ndarray  # int64 [rows + 1], how many


def write_speedscope(trace: Trace, waves: Iterable[TracedWave], target: BinaryIO) -> int:
    """Write the profiles of all code and one profile per wave; return the number of profiles."""
    trees = _trees(trace)
    frames, places = _frames(trace, [tree for _, tree in trees])
    head = {
        "$schema": SCHEMA,
        "exporter": Message("rcv {0}", __version__),
        "name": trace.name,
        "activeProfileIndex": 0,
        "shared": {"frames": frames},
    }
    target.write(orjson.dumps(_valid(head))[:-1] + b',"profiles":[')
    paths, count = _paths(trace, trees[0][1], places[0], len(frames) - 1), 0
    sampled = ([orjson.dumps(profile)] for profile in _sampled(trees, places))
    for count, parts in enumerate(chain(sampled, (_evented(wave, paths) for wave in waves)), 1):
        target.write(b",\n" if count > 1 else b"\n")
        target.writelines(parts)
    target.write(b"\n]}\n")
    return count


def _trees(trace: Trace) -> list[tuple[str, flame.FlameTree]]:
    """Trees of the whole program: by source if there is any, and by kernel and block."""
    code = trace.code
    costs = cost_columns(code)
    own = flame.code_costs(costs, True)
    unit = "samples" if costs.label == SAMPLES else "cycles"
    every = np.ones_like(own)  # a stack for each line, also for those that only a single wave ran
    ways = {"source": flame.source_stacks, "kernel and block": flame.kernel_stacks}
    if not len(code.chain_file):
        del ways["source"]
    trees = []
    for name, way in ways.items():
        stacks = way(code, every)
        costing = flame.Stacks(stacks.first, stacks.element, own[stacks.order], stacks.order)
        trees.append((name, flame.fold(costing, (), unit)))
    return trees


def _frames(trace: Trace, trees: Sequence[flame.FlameTree]) -> tuple[list[dict[str, Any]], list[np.ndarray]]:
    """Return the frames of all trees, and for each tree the frame of each of its rows.

    The last frame is for instructions outside the program.
    """
    number: dict[int, int] = {}
    frames: list[dict[str, Any]] = []
    places = []
    for tree in trees:
        texts = labels(trace, tree)
        place = np.empty(len(tree), dtype=np.int64)
        for row, element in enumerate(tree.element.tolist()):
            if element not in number:
                number[element] = len(frames)
                frames.append(_frame(trace, tree, row, texts[row]))
            place[row] = number[element]
        places.append(place)
    return [*frames, {"name": "unknown instruction"}], places


def _frame(trace: Trace, tree: flame.FlameTree, row: int, label: str) -> dict[str, Any]:
    what, first, second = int(tree.what[row]), int(tree.first[row]), int(tree.second[row])
    if what == flame.What.CODE:
        leaf = trace.code.chain(second)
        frame: dict[str, Any] = {"name": f"{label}  [#{second}]"}
        if len(leaf):
            frame |= {"file": trace.sources[leaf[0][0]].path, "line": int(leaf[0][1])}
        return frame
    if what in (flame.What.FILE, flame.What.LINE):
        path = trace.sources[first].path
        return {"name": label, "file": path} | ({"line": second} if what == flame.What.LINE else {})
    return {"name": full_name(trace, tree, row, label)}


def _sampled(
    trees: Sequence[tuple[str, flame.FlameTree]], places: Sequence[np.ndarray]
) -> Iterator[dict[str, Any]]:
    """Yield a profile per tree and metric; a sample is an instruction with its enclosing frames."""
    for (name, tree), place in zip(trees, places, strict=True):
        for metric, text in _METRICS.items():
            is_sampled = tree.unit == "samples"
            if is_sampled and metric is flame.Metric.HITS:
                continue
            rows = np.flatnonzero(tree.own[:, metric.value] > 0).tolist()
            weights = tree.own[rows, metric.value].tolist()
            measure = (
                ("stalled PC samples" if metric is flame.Metric.STALL else SAMPLES) if is_sampled else text
            )
            unit = "" if is_sampled or metric is flame.Metric.HITS else ", cycles of all waves"
            yield {
                "type": "sampled",
                "name": Message("{0} by {1}{2}", measure, name, unit),
                "unit": UNIT,
                "startValue": 0,
                "endValue": sum(weights),
                "samples": [[int(place[one]) for one in tree.ancestors(row)] for row in rows],
                "weights": weights,
            }


def _paths(trace: Trace, tree: flame.FlameTree, place: np.ndarray, nameless: int) -> Paths:
    """Return the enclosing frames of each code line, outermost first; lines without any have one frame."""
    rows = np.flatnonzero(tree.code_row >= 0)
    frames = np.full((len(trace.code) + 1, tree.levels or 1), -1, dtype=np.int64)
    depth = np.ones(len(trace.code) + 1, dtype=np.int64)
    frames[:, 0] = nameless
    for row in rows.tolist():
        path = tree.ancestors(row)
        line = int(tree.code_row[row])
        frames[line, : len(path)] = place[path]
        depth[line] = len(path)
    return Paths(frames, depth)


def _evented(wave: TracedWave, paths: Paths) -> Iterator[bytes]:
    """Yield the profile of one wave, its events as JSON objects in batches.

    Times are cycles since it began and never decrease; overlapping instructions end when the next begins.
    """
    tokens = wave.tokens
    begin = min(wave.begin, int(tokens.start.min())) if len(tokens) else wave.begin
    end = max(wave.end, int(tokens.end.max())) if len(tokens) else wave.end
    head = {
        "type": "evented",
        "name": Message("{0}, cycles from {1:,}", wave.id, begin),
        "unit": UNIT,
        "startValue": 0,
        "endValue": max(0, end - begin),
    }
    yield orjson.dumps(head)[:-1] + b',"events":['
    columns = _events(tokens, paths, begin) if len(tokens) else ()
    for first in range(0, len(columns[0]) if columns else 0, AT_ONCE):
        rows = zip(*(column[first : first + AT_ONCE].tolist() for column in columns), strict=True)
        events = [{"type": "O" if is_open else "C", "frame": frame, "at": at} for is_open, frame, at in rows]
        yield (b"," if first else b"") + orjson.dumps(events)[1:-1]
    yield b"]}"


def _events(tokens: Tokens, paths: Paths, begin: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whether each event opens a frame (bool), the frame, and the time (int64).

    A token opens the frames that it does not share with the previous token, and closes its own instruction at
    its end; enclosing frames are closed by the next token outside of them.
    """
    last = len(paths.depth) - 1
    line = np.where((tokens.line >= 0) & (tokens.line < last), tokens.line, last).astype(np.int64)
    start = np.maximum.accumulate(tokens.start - begin)
    end = np.minimum(tokens.end - begin, np.append(start[1:], np.iinfo(np.int64).max))
    end = np.maximum(end, start)
    until = np.append(start[1:], end[-1:])
    outer, shared = paths.depth[line] - 1, _shared(paths, line)
    opened = outer + 1 - shared
    size = opened + 1 + np.append(outer[:-1] - shared[1:], outer[-1])
    token, nth = np.repeat(np.arange(len(line)), size), ranges(0, size)
    is_open = nth < opened[token]
    after = nth - opened[token]  # 0: the instruction ends; then the frames around it, the innermost first
    level = np.where(is_open, shared[token] + nth, outer[token] - after)
    time = np.where(is_open, start[token], np.where(after == 0, end[token], until[token]))
    return is_open, paths.frames[line[token], level], time


def _shared(paths: Paths, line: np.ndarray) -> np.ndarray:
    """Number of enclosing frames, without its own, that each token shares with the previous one, int64."""
    frames, around = paths.frames[line], paths.depth[line] - 1
    both = np.minimum(around, np.roll(around, 1))[:, None]
    same = (frames == np.roll(frames, 1, axis=0)) & (np.arange(frames.shape[1]) < both)
    shared = np.cumprod(same, axis=1).sum(axis=1)
    shared[0] = 0
    return shared


def _valid(value: Any) -> Any:
    """Escape invisible characters: names come from files, and viewers put them into pages."""
    if isinstance(value, dict):
        return {key: _valid(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_valid(item) for item in value]
    return visible(value) if isinstance(value, str) else value
