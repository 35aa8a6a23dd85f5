"""Write a trace as a ui_output folder, which the reference viewer and older tools open.

Times are converted back to the clock of each shader engine, rows of the code table to the numbers of their
lines.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rcv_py.base.progress import checkpoint
from rcv_py.base.runs import borders
from rcv_py.formats.derived.totals import state_curves
from rcv_py.formats.uiout import clock, occupancy, written
from rcv_py.formats.uiout.code import symbol
from rcv_py.formats.uiout.folder import CODE, INDEX
from rcv_py.formats.uiout.waves import PLAIN_FACTS
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.device import Dispatch, HardwareEvents, StateCurve, WaveEvents
from rcv_py.model.kinds import TokenKind
from rcv_py.model.tokens import States
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch, WaveIndex

_PLAIN = re.compile(r"se[\w-]{1,80}\.json", re.ASCII)
_ODD = re.compile(r"[^\w.-]", re.ASCII)
_NAME_LETTERS = 80
_MARKER_WORDS = {"scope": "user"}  # category in files for another of ours


def write_folder(trace: Trace, batches: Iterable[WaveBatch], folder: Path) -> None:
    """Write all files of a capture into an existing folder; `batches` are all its waves.

    Missing waves stay missing: the index lists them, and their files are not written.  Raises OSError if the
    system refuses.
    """
    version = trace.version if trace.version.startswith("3.") else written.VERSION

    def put(name: str, table: object) -> None:
        written.dump(folder / name, table)

    names = wave_files(trace.waves)
    put(INDEX, {**_index(trace, names), "version": version})
    put(CODE, {**_code(trace, version), "version": version})
    if len(trace.occupancy) or trace.events is not None or trace.dispatches or len(trace.waves):
        put(occupancy.FILE, _occupancy(trace))
    if trace.clock.samples:
        samples = {se: np.column_stack([one.shader, one.realtime]) for se, one in trace.clock.samples.items()}
        put(clock.FILE, written.realtime_table(samples, trace.clock.frequency))
    for name, table in _side_files(trace):
        put(name, table)
    states: list[States] = []
    begins: list[int] = []
    numbers = _Numbers(trace)
    for wave in (wave for batch in batches for wave in batch.waves):
        checkpoint()
        shift = trace.clock.offsets.get(wave.id.se, 0)
        put(names[wave.row], numbers.wave(wave, shift))
        states.append(wave.states)
        begins.append(wave.states.base - shift)
    for curve in trace.state_curves or _curves(states, begins):
        name = f"wstates{curve.state}.json"
        put(name, {"name": name, "time": curve.time, "state": curve.waves})
    _write_sources(trace.sources, folder)


def wave_files(index: WaveIndex) -> list[str]:
    """Return a name for the file of each wave: its own if it is a plain one, else the usual one."""
    ids = map(index.id, range(len(index)))
    usual = [f"se{one.se}_sm{one.simd}_sl{one.slot}_wv{one.wid}.json" for one in ids]
    own = [name for name in index.file if _PLAIN.fullmatch(name)]
    is_own = len(own) == len({name.lower() for name in own}) == len(index)
    return own if is_own else usual


def _index(trace: Trace, names: list[str]) -> dict[str, Any]:
    waves, offsets = trace.waves, trace.clock.offsets
    columns = (waves.se, waves.simd, waves.slot, waves.wid, waves.begin, waves.end)
    rows = zip(*(column.tolist() for column in columns), names, strict=True)
    listed = (
        ((se, simd, slot, wid), name, begin - offsets.get(se, 0), end - offsets.get(se, 0))
        for se, simd, slot, wid, begin, end, name in rows
    )
    table = written.index_table(trace.gfxip, listed, trace.counter_names)
    table["wave_filenames"] = table["wave_filenames"] or None
    for key, kind, records in (
        ("other_simd_filenames", "other_simd", _other_simd(trace)),
        ("shaderdata_filenames", "shaderdata", _shader_data(trace)),
    ):
        for number, (se, rows_of) in enumerate(records):
            entry = [written.part_name(kind, se, number), *written.stretch_of(rows_of)]
            table.setdefault(key, {}).setdefault(str(se), []).append(entry)
    if trace.has_pc_samples or not trace.has_thread_trace:
        table |= {"thread_trace": trace.has_thread_trace, "pc_sampling": trace.has_pc_samples}
        table["is_pcs_stochastic"] = bool(np.any(trace.code.stall_reasons))
    return table


def _code(trace: Trace, version: str) -> dict[str, Any]:
    code = trace.code
    numbers = (code.codeobj, code.address, code.hits, code.latency, code.stall, code.idle)
    columns: list[Iterable[object]] = [code.text, [0] * len(code), code.number.tolist(), _places(trace)]
    columns += [column.tolist() for column in numbers]
    header: str | list[str] = written.CODE_HEADER
    samples = (code.samples_issued, code.samples_stalled, code.stall_reasons, code.samples_unsure)
    named = zip(written.SAMPLE_COLUMNS, samples, strict=True)
    if kept := {name: column for name, column in named if column is not None}:
        header = [*written.CODE_HEADER.split(", "), *kept]
        columns += [column.tolist() for column in kept.values()]
    rows = [list(row) for row in zip(*columns, strict=True)]
    table: dict[str, Any] = {"code": rows or None, "header": header}
    if kernels := _kernels(code, version):
        table["kernels"] = kernels
    if trace.markers:
        table["sqtt_funcmap"] = [
            [one.codeobj, one.marker, _MARKER_WORDS.get(one.kind, one.kind), one.name, one.source]
            for one in trace.markers
        ]
    if trace.marker_layout:
        table["sqtt_funcmap_layout"] = trace.marker_layout
    if trace.marker_payloads:
        table["sqtt_funcmap_payloads"] = trace.marker_payloads
    return table


def _places(trace: Trace) -> list[str]:
    """The Source column: chains of places, and display names for the labels of kernels."""
    code = trace.code
    paths = [source.path for source in trace.sources]
    places = zip(code.chain_file.tolist(), code.chain_line.tolist(), strict=True)
    links = [f"{paths[file]}:{line or '?'}" for file, line in places]
    first = code.chain_first.tolist()
    texts = [" -> ".join(links[first[row] : first[row + 1]]) for row in range(len(code))]
    for kernel in code.kernels:
        if kernel.first < len(code) and code.is_label[kernel.first] and kernel.demangled != kernel.name:
            texts[kernel.first] = kernel.demangled
    return texts


def _kernels(code: CodeTable, version: str) -> list[dict[str, Any]]:
    """Kernels without a label row, or whose label row has another name."""
    return [
        {
            "name": kernel.name,
            "demangled": kernel.demangled,
            "codeobj": int(code.codeobj[kernel.first]),
            "address": int(code.address[kernel.first]),
        }
        for kernel in code.kernels
        if kernel.first < len(code)
        if not code.is_label[kernel.first] or symbol(code.text[kernel.first], version) != kernel.name
    ]


def _occupancy(trace: Trace) -> dict[str, Any]:
    events, offsets = trace.occupancy, trace.clock.offsets
    more = (events.workgroup, events.cluster, events.me, events.pipe)
    is_long = trace.events is not None or bool(trace.dispatches) or any(np.any(one >= 0) for one in more)
    table = np.column_stack(_event_columns(events, is_long)) if len(events) else np.zeros((0, 6), np.int64)
    found: dict[str, Any] = {}
    for se in np.unique(events.se).tolist():
        rows = table[events.se == se]
        rows[:, 0] -= offsets.get(se, 0)
        found[str(se)] = rows
    names = {str(number): name for number, name in events.names.items()}
    found |= {"dispatches": {"0": "0 / 0x0"} | names, "version": "3.1.0" if is_long else written.VERSION}
    if is_long:
        found["occupancy_fields"] = written.OCCUPANCY_FIELDS
        records: dict[int, list[dict[str, Any]]] = {}
        for se, record in _records(trace.events, trace.dispatches, offsets):
            records.setdefault(se, []).append(record)
        found["events"] = {str(se): records[se] for se in sorted(records)}
    return found


def _event_columns(events: WaveEvents, is_long: bool) -> list[np.ndarray]:
    unit = events.cu.astype(np.int64) | events.sa.astype(np.int64) << 7
    columns = [events.time, unit, events.simd, events.slot, events.is_start, events.kernel]
    if is_long:
        is_ext = (events.workgroup >= 0) | (events.cluster >= 0)
        columns += [events.me, events.pipe, is_ext, events.workgroup, events.cluster]
    return [column.astype(np.int64) for column in columns]


def _records(
    events: HardwareEvents | None, dispatches: tuple[Dispatch, ...], offsets: Mapping[int, int]
) -> Iterator[tuple[int, dict[str, Any]]]:
    if events is not None:
        names = ("time", "se", "type", "me_id", "pipe_id", "flags", "payload")
        columns = (events.time, events.se, events.kind, events.me, events.pipe, events.flags, events.payload)
        for values in zip(*(column.tolist() for column in columns), strict=True):
            record = dict(zip(names, values, strict=True))
            se = record.pop("se")
            yield se, {**record, "kind": "event", "time": record["time"] - offsets.get(se, 0)}
    for one in dispatches:
        record = {
            "kind": "dispatch",
            "time": one.time - offsets.get(one.se, 0),
            "kernel_id": one.kernel,
            "kernel_name": one.name,
            "me_id": one.me,
            "pipe_id": one.pipe,
            "entry_point": {"address": one.address, "code_object_id": one.code_object},
        }
        record |= {name: getattr(one, name) for name in ("vgprs", "sgprs", "user_sgprs", "lds_size", "flags")}
        record |= {f"thread_dim_{axis}": size for axis, size in zip("xyz", one.workgroup_size, strict=True)}
        yield one.se, record


def _side_files(trace: Trace) -> Iterator[tuple[str, object]]:
    offsets = trace.clock.offsets
    for samples in trace.counters:
        time = samples.time - offsets.get(samples.se, 0)
        rows = np.column_stack([time, samples.value, samples.cu, samples.bank])
        yield f"se{samples.se}_perfcounter.json", {"data": rows}
    if trace.spm:
        yield "spm.json", _spm(trace)
    units = [one.cu for one in trace.other_simd if len(one.time)]
    for number, (se, rows) in enumerate(_other_simd(trace)):
        yield written.part_name("other_simd", se, number), written.other_simd_table(rows, units[number])
    for number, (se, rows) in enumerate(_shader_data(trace)):
        yield written.part_name("shaderdata", se, number), written.shader_table(rows)


def _other_simd(trace: Trace) -> list[tuple[int, np.ndarray]]:
    return _stretches(trace, trace.other_simd, ("duration", "kind"))


def _shader_data(trace: Trace) -> list[tuple[int, np.ndarray]]:
    return _stretches(trace, trace.shader_data, ("value", "cu", "simd", "slot", "flags"))


def _stretches(trace: Trace, tables: Iterable[Any], names: Iterable[str]) -> list[tuple[int, np.ndarray]]:
    """The engine and the rows of each table that has any: the time of its own clock, and these columns."""
    found = []
    for one in tables:
        if len(one.time):
            columns = [one.time - trace.clock.offsets.get(one.se, 0), *(getattr(one, name) for name in names)]
            found.append((one.se, np.column_stack([column.astype(np.int64) for column in columns])))
    return found


def _spm(trace: Trace) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in trace.spm:
        axes = ["XCC" if one.is_xcc else "SE", "INSTANCE"]
        about = found.setdefault(one.counter, {"dimensions": axes, "values": {}})
        value = [int(number) for number in one.value.tolist()]
        rows = list(zip(np.diff(one.time, prepend=0).tolist(), value, strict=True))
        about["values"].setdefault(str(one.se), {})[str(one.instance)] = rows
    return found


class _Numbers:
    """Rows of the code table as the numbers of their lines, and waves as files."""

    def __init__(self, trace: Trace) -> None:
        numbers, labels = trace.code.number, trace.code.is_label
        zero = np.flatnonzero(numbers == 0)
        # Unresolved rows get the number of a label, like other tools write it, if 0 is one.
        unknown = -1 if len(zero) and not labels[zero[0]] else 0
        self._array = trace.waves.sa
        self._number = np.append(numbers, unknown)

    def wave(self, wave: TracedWave, shift: int) -> dict[str, Any]:
        """The file of a wave whose shader engine's clock was moved by `shift`."""
        tokens, states = wave.tokens, wave.states
        kind = np.where(tokens.kind == TokenKind.MATRIX, np.uint8(TokenKind.VALU), tokens.kind)
        columns = [tokens.start - shift, kind, tokens.stall, tokens.duration, self._number[tokens.line]]
        rows, id = np.column_stack(columns), wave.id
        table = written.wave_table(
            (id.se, id.simd, id.slot, id.wid),
            (wave.begin - shift, wave.end - shift),
            cu=wave.cu | max(int(self._array[wave.row]), 0) << 7,
            tokens=rows.astype(np.int64),
            timeline=np.column_stack([states.state.astype(np.int64), states.duration]),
            waits=self._waits(wave),
        )
        origin = {key: getattr(wave, name) for key, name in PLAIN_FACTS.items()}  # as newer writers write it
        if 0 <= wave.me < 8 and 0 <= wave.pipe < 16:
            origin |= {"dispatcher": wave.me << 4 | wave.pipe, "me_id": -1, "pipe_id": -1}
        table["wave"] |= {name: number for name, number in origin.items() if number >= 0}
        return table

    def _waits(self, wave: TracedWave) -> list[Any] | None:
        if wave.waits is None or not len(wave.waits):
            return None if wave.waits is None else []
        lines, made = (self._number[one].tolist() for one in (wave.waits.line, wave.waits.depends_on))
        parts = pairwise(wave.waits.first.tolist())
        return [
            [line, [[number, 0] for number in made[begin:end]]]
            for line, (begin, end) in zip(lines, parts, strict=True)
        ]


def _curves(states: list[States], begins: list[int]) -> tuple[StateCurve, ...]:
    """How many waves are in each state, in cycles of each engine's own clock, like other tools count."""
    if not states:
        return ()
    return state_curves(
        np.concatenate([one.state for one in states]),
        np.concatenate([one.duration for one in states]),
        first=borders([len(one) for one in states]),
        begin=np.array(begins, dtype=np.int64),
    )


def _write_sources(sources: tuple[SourceFile, ...], folder: Path) -> None:
    copies: dict[str, str] = {}
    for number, source in enumerate(sources):
        if source.lines is None:
            continue
        base = _ODD.sub("_", source.path.replace("\\", "/").rpartition("/")[2])[-_NAME_LETTERS:]
        copies[source.path] = name = f"source_{number}_{base}"
        text = "".join(f"{line}\n" for line in source.lines)
        (folder / name).write_text(text, encoding="utf-8", errors="replace", newline="")
    if tree := written.source_tree(copies):
        written.dump(folder / "snapshots.json", tree)
