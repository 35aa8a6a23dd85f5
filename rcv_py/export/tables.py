"""Every table of a capture as plain columns, for spreadsheets and data frames.

Tables of tokens, states and waits come batch by batch, all others at once.  Cycles are aligned; `line` is the
row of the program as every command names it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.token_columns import columns_of
from rcv_py.analysis.cost.place_text import leaf_texts
from rcv_py.analysis.counters.counters import counters
from rcv_py.analysis.events.event_table import ENTRY_TEXT, NO_DURATION, EntryKind, event_table
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.program.blocks import blocks
from rcv_py.analysis.waits.waitcnt.generations import COUNTERS
from rcv_py.analysis.waits.waitcnt.replay import replay
from rcv_py.model.kinds import KIND_COUNT, TokenKind, WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.results import tables
from rcv_py.results.table import Spec, Words

Column = np.ndarray | Words | list[str]
Columns = dict[str, Column]


@dataclass(frozen=True, slots=True)
class Table:
    """One table: `make` makes all of it, or `part` what one batch of waves adds."""

    text: str
    spec: Spec
    make: Callable[[Trace, MarkerSpans | None], Columns] | None = None
    part: Callable[[Trace, WaveBatch], Columns] | None = None


def code_columns(trace: Trace, spans: MarkerSpans | None = None) -> Columns:
    """One row a line of the program; costs are sums over all traced waves."""
    code = trace.code
    table = blocks(code)
    kernels = [kernel.demangled for kernel in code.kernels]
    columns: Columns = {
        "line": np.arange(len(code)),
        "number": code.number,
        "code_object": code.codeobj,
        "address": code.address,
        "text": list(code.text),
        "kind": _kinds(code.kind),
        "kernel": Words([*kernels, ""], np.where(code.kernel >= 0, code.kernel, len(kernels))),
        "block": Words(table.name, table.of_row) if len(table) else [""] * len(code),
        "is_label": code.is_label,
        "hits": code.hits,
        "latency": code.latency,
        "stall": code.stall,
        "idle": code.idle,
        "source": list(leaf_texts(code, trace.sources)),
        "chain": [
            " -> ".join(f"{trace.sources[file].path}:{line}" for file, line in code.chain(row))
            for row in range(len(code))
        ],
    }
    for name in ("samples_issued", "samples_stalled"):
        samples = getattr(code, name)
        if samples is not None:
            columns[name] = samples
    return columns


def wave_columns(trace: Trace, spans: MarkerSpans | None = None) -> Columns:
    """One row a traced wave, without opening it."""
    index = trace.waves
    names = trace.occupancy.names
    kernels = [names.get(kernel, "") for kernel in index.kernel.tolist()]
    places = {name: getattr(index, name) for name in ("se", "sa", "cu", "simd", "slot", "wid")}
    return {
        "wave": [str(index.id(row)) for row in range(len(index))],
        **places,
        "begin": index.begin,
        "end": index.end,
        "duration": index.end - index.begin,
        "kernel": kernels,
        "bytes": index.size,
        "file": list(index.file),
    }


def token_columns(trace: Trace, batch: WaveBatch) -> Columns:
    """One row an executed instruction: `idle` is the gap before it, `hit` counts from 0 in its wave."""
    columns = columns_of(batch)
    return {
        "wave": Words([str(wave.id) for wave in batch.waves], columns.owner),
        "start": columns.start,
        "stall": batch.stall,
        "busy": batch.busy,
        "idle": columns.idle,
        "kind": _kinds(batch.kind),
        "line": batch.line,
        "hit": _hits(columns.owner, batch.line),
    }


def state_columns(trace: Trace, batch: WaveBatch) -> Columns:
    """One row a segment of a wave's timeline."""
    counts = [len(wave.states) for wave in batch.waves]
    names = [state.name for state in WaveState]
    state = _joined([wave.states.state for wave in batch.waves]).astype(np.int64)
    return {
        "wave": Words([str(wave.id) for wave in batch.waves], np.repeat(np.arange(len(counts)), counts)),
        "start": _joined([wave.states.start for wave in batch.waves]),
        "duration": _joined([wave.states.duration for wave in batch.waves]),
        "state": Words([*names, "unknown"], np.minimum(state, len(names))),
    }


def wait_columns(trace: Trace, batch: WaveBatch) -> Columns:
    """One row for each executed wait and each instruction it waited for, by our replay of the counters.

    The stall is that of all of the wait: it repeats for each producer, so add it up where `is_newest`.
    """
    links = replay(batch, trace.code, trace.gfxip, trace.target)
    row, start = links.row_of, columns_of(batch).start
    token, producer = links.token[row], links.producers
    newest_of_token = np.full(len(start), -1, dtype=np.int64)
    np.maximum.at(newest_of_token, links.token, links.newest)
    return {
        "wave": Words([str(wave.id) for wave in batch.waves], links.wave[row]),
        "start": start[token],
        "line": batch.line[token],
        "stall": batch.stall[token],
        "counter": Words([f"{name}cnt" for name in COUNTERS], links.counter[row]),
        "left": links.left[row],
        "producer_line": batch.line[producer],
        "producer_start": start[producer],
        "is_newest": newest_of_token[token] == producer,
    }


def occupancy_columns(trace: Trace, spans: MarkerSpans | None = None) -> Columns:
    """One row for each time a wave began or ended anywhere on the traced shader engines."""
    events = trace.occupancy
    kernels = sorted(set(events.kernel.tolist()))
    names = [events.names.get(kernel, "") for kernel in kernels]
    numbers = ("time", "se", "sa", "cu", "simd", "slot", "is_start", "kernel", "workgroup", "cluster")
    return {name: getattr(events, name) for name in numbers} | {
        "kernel_name": Words(names, np.searchsorted(kernels, events.kernel))
    }


def event_columns(trace: Trace, spans: MarkerSpans | None = None) -> Columns:
    """One row a dispatch, hardware event, marker or value of shader data; no duration is -1."""
    table = event_table(trace, spans)
    kinds = [ENTRY_TEXT[kind] for kind in EntryKind]
    return {
        "time": table.time,
        "duration": np.where(table.duration < 0, NO_DURATION, table.duration),
        "kind": Words(kinds, table.kind),
        **{name: Words(table.texts, getattr(table, name)) for name in ("name", "place", "detail")},
    }


def counter_columns(trace: Trace, spans: MarkerSpans | None = None) -> Columns:
    """One row a sample of a counter; `value` is what was counted since the sample before."""
    raw = counters(trace).raw
    sizes = [len(counter.samples) for counter in raw]
    owner = np.repeat(np.arange(len(raw)), sizes)
    columns: Columns = {
        "counter": Words([counter.name for counter in raw], owner),
        "family": Words([counter.family.value for counter in raw], owner),
    }
    for name in ("time", "xcc", "se", "cu"):
        columns[name] = _joined([getattr(counter.samples, name) for counter in raw])
    columns["value"] = _joined([counter.samples.value for counter in raw]).astype(np.float64)
    return columns


TABLES = {
    "code": Table("lines of the program with their costs and sources", tables.CODE, code_columns),
    "waves": Table("traced waves", tables.WAVES, wave_columns),
    "tokens": Table("executed instructions", tables.TOKENS, part=token_columns),
    "states": Table("states of waves", tables.STATES, part=state_columns),
    "waits": Table("waits, and what each waited for", tables.WAITS, part=wait_columns),
    "occupancy": Table("begins and ends of waves everywhere", tables.OCCUPANCY, occupancy_columns),
    "events": Table("dispatches, events, markers and shader data", tables.EVENTS, event_columns),
    "counters": Table("samples of hardware counters", tables.COUNTERS, counter_columns),
}


def _kinds(kind: np.ndarray) -> Words:
    code = np.where(kind < KIND_COUNT, kind, TokenKind.NONE).astype(np.int64)
    return Words([one.name for one in TokenKind], code)


def _hits(owner: np.ndarray, line: np.ndarray) -> np.ndarray:
    """How often the wave had executed the line before, int64."""
    key = owner.astype(np.int64) << 32 | (line.astype(np.int64) & 0xFFFFFFFF)
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    hit = np.empty(len(key), dtype=np.int64)
    hit[order] = np.arange(len(key)) - np.searchsorted(ordered, ordered)
    return hit


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
