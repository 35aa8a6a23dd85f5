"""A capture to a folder, in the layout of either tool that writes such folders."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from rcv_py.base.records import dataclass
from rcv_py.base.runs import borders
from rcv_py.model.kinds import WaveState
from rcv_py.synth.capture import Capture, WaveRun

CODE_HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"
_SHADER_COLUMNS = ["time", "value", "cu", "simd", "wave_id", "flags"]
_OCCUPANCY_FIELDS = [
    "time",
    "cu",
    "simd",
    "wave_id",
    "start",
    "kernel_id",
    "me_id",
    "pipe_id",
    "is_ext",
    "workgroup_id",
    "cluster_id",
]


@dataclass(frozen=True, slots=True)
class Layout:
    """How a tool writes: its version and its habits."""

    version: str
    is_indented: bool
    empty: Any  # what stands for an empty list of waves, code, waits
    first_number: int  # LineNumber of the first code row
    forces_underscore: bool = False  # before the kernel's name in its label row
    has_states: bool = True  # writes wstates files
    has_waits: bool = True
    is_packed: bool = False  # occupancy as one number an event, and code without a header
    has_service_type: bool = False  # PC samples have one, and the header is a string


NATIVE = Layout(version="3.0.0", is_indented=False, empty=None, first_number=0)
SCRIPTED = Layout(
    version="3.1.0",
    is_indented=True,
    empty=[],
    first_number=1,
    forces_underscore=True,
    has_states=False,
    has_waits=False,
)
PACKED = Layout(version="", is_indented=False, empty=None, first_number=0, is_packed=True)


def write_folder(capture: Capture, folder: Path, layout: Layout = NATIVE) -> None:
    """Write all files of a capture; the folder is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, Any] = {
        "filenames.json": index_table(capture, layout),
        "code.json": code_table(capture, layout),
        **{wave.file: wave_table(wave, layout) for wave in capture.waves},
        **_states(capture, layout),
    }
    if capture.pc_samples is None:
        files |= {"occupancy.json": occupancy_table(capture, layout), **_side_files(capture)}
    for name, table in files.items():
        dump(folder / name, table, layout)
    if capture.has_code:
        write_sources(capture, folder, layout)


def dump(path: Path, table: Any, layout: Layout = NATIVE) -> None:
    """Write one JSON file."""
    style = orjson.OPT_INDENT_2 if layout.is_indented else orjson.OPT_SORT_KEYS
    path.write_bytes(orjson.dumps(table, option=style | orjson.OPT_SERIALIZE_NUMPY))


def index_table(capture: Capture, layout: Layout = NATIVE) -> dict[str, Any]:
    """The content of `filenames.json`."""
    table: dict[str, Any] = {
        "version": layout.version,
        "gfxip": capture.generation,
        "gfxv": "navi" if capture.generation > 9 else "vega",
        "global_begin_time": 0,
        "counter_names": [] if layout.is_indented else list(capture.counter_names),
        "wave_filenames": _wave_names(capture.waves) or (layout.empty if layout.empty is None else {}),
    }
    for key, name, columns in (
        ("shaderdata_filenames", "shaderdata", capture.shaderdata),
        ("other_simd_filenames", "other_simd", capture.other_simd),
    ):
        if columns:
            table[key] = {str(se): [[_part(name, se), *_range(rows)]] for se, rows in columns.items()}
    if capture.pc_samples is not None:
        table |= {"thread_trace": False, "pc_sampling": True, "is_pcs_stochastic": True}
    if layout.is_packed:  # such a folder only tells the family, and names of waves
        del table["version"], table["gfxip"]
    return table


def _part(name: str, se: int) -> str:
    return f"other_simd_se{se}_0.json" if name == "other_simd" else f"shaderdata_{se}_0.json"


def _range(rows: np.ndarray) -> tuple[int, int]:
    return int(rows[0, 0]), int(rows[-1, 0]) + 1


def _wave_names(waves: tuple[WaveRun, ...]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for wave in sorted(waves, key=lambda wave: wave.key):
        se, simd, slot, wid = map(str, wave.key)
        place = names.setdefault(se, {}).setdefault(simd, {}).setdefault(slot, {})
        place[wid] = [wave.file, wave.begin, wave.end]
    return names


def code_table(capture: Capture, layout: Layout = NATIVE) -> dict[str, Any]:
    """The content of `code.json`: ten columns a row, and those of PC samples."""
    code: list[list[Any]] = []
    header: str | list[str] = CODE_HEADER
    if capture.pc_samples is not None:
        service = [2] if layout.has_service_type else []
        counts = [
            [0, 0, 0, 0, *service, hits, sum(reasons), reasons]
            for hits, reasons in zip(*(column.tolist() for column in capture.pc_samples), strict=True)
        ]
        names = [*CODE_HEADER.split(", "), "PC_Issued", "PC_Stalled", "Stall_Reasons"]
        header = f"{CODE_HEADER}, ServiceType, Issued, Stalled, NotIssuedReasons" if service else names
    else:
        counts = capture.truth.lines.tolist()
    if capture.has_code:
        code = [[*row, *rest] for row, rest in zip(code_rows(capture, layout), counts, strict=True)]
    if layout.is_packed:
        return {"code": code}
    return {
        "code": code or layout.empty,
        "header": header,
        "version": layout.version,
        **capture.code_extras,
    }


def code_rows(capture: Capture, layout: Layout = NATIVE) -> list[list[Any]]:
    """The first six columns of code.json: text, 0, number, source, code object, address."""
    rows: list[list[Any]] = []
    for kernel in capture.kernels:
        number = layout.first_number + len(rows)
        symbol = kernel.symbol
        if layout.forces_underscore and not symbol.startswith("_"):
            symbol = f"_{symbol}"
        rows.append([f"; {symbol}", 0, number, kernel.demangled, kernel.codeobj, kernel.address])
        for item, address in zip(kernel.instructions, kernel.addresses, strict=True):
            number = layout.first_number + len(rows)
            rows.append([item.text, 0, number, item.source, kernel.codeobj, address])
    return rows


def occupancy_table(capture: Capture, layout: Layout = NATIVE) -> dict[str, Any]:
    """occupancy.json: six columns, eleven, or one packed number an event."""
    table: dict[str, Any] = {str(se): rows for se, rows in _occupancy_rows(capture, layout).items()}
    names = {"0": "0 / 0x0"}
    names.update({str(index + 1): kernel.symbol for index, kernel in enumerate(capture.kernels)})
    table["dispatches"] = names
    if layout.is_packed:
        return table
    table["version"] = layout.version
    if layout.version == "3.1.0":
        table["occupancy_fields"] = _OCCUPANCY_FIELDS
        table["events"] = {str(se): records for se, records in capture.events.items()}
    return table


def _occupancy_rows(capture: Capture, layout: Layout) -> dict[int, list[Any]]:
    found: dict[int, list[tuple[int, ...]]] = {}
    for se, cu, simd, slot, begin, end, kernel, workgroup in capture.truth.residencies.tolist():
        rows = found.setdefault(se, [])
        for time, start in ((begin, 1), (end, 0)):
            rows.append((time, cu, simd, slot, start, kernel + 1, 1, 0, 1, workgroup, 0))
    shape = _packed if layout.is_packed else list if layout.version == "3.1.0" else itemgetter(slice(6))
    in_time = {se: sorted(rows, key=lambda row: (row[0], row[4], row[1:4])) for se, rows in found.items()}
    return {se: [shape(row) for row in rows] for se, rows in in_time.items()}


def _packed(row: tuple[int, ...]) -> int:
    """From the lowest bit: kernel 12, SIMD 2, slot 4, start 1, CU 4, time in units of eight cycles."""
    time, cu, simd, slot, start, kernel = row[:6]
    return kernel | simd << 12 | slot << 14 | start << 18 | cu << 19 | (time // 8) << 23


def wave_table(wave: WaveRun, layout: Layout = NATIVE) -> dict[str, Any]:
    """One wave file."""
    shift = np.array([0, 0, 0, 0, layout.first_number])
    detail: dict[str, Any] = {
        "cu": wave.cu,
        "id": wave.wid,
        "simd": wave.simd,
        "slot": wave.slot,
        "begin": wave.begin,
        "end": wave.end,
        "instructions": wave.tokens + shift,
        "timeline": wave.timeline,
        "waitcnt": (wait_lists(wave, layout.first_number) if layout.has_waits else []) or layout.empty,
    }
    if layout.version == "3.1.0":
        detail |= {"dispatcher": 1 << 4, "workgroup_id": wave.workgroup}
    return {
        "name": f"SE{wave.se}",
        "duration": wave.end - wave.begin,
        "num_insts": len(wave.tokens),
        "num_stitched": len(wave.tokens),
        "wave": detail,
    }


def wait_lists(wave: WaveRun, first_number: int = 0) -> list[Any]:
    """The waitcnt entries of a wave file."""
    shift = first_number
    return [[wait + shift, [[row + shift, 0] for row in released]] for wait, released in wave.waits]


def _states(capture: Capture, layout: Layout) -> dict[str, Any]:
    """The wstates files: how many traced waves are in each state, clocks not aligned."""
    if not layout.has_states or not capture.waves:
        return {}
    begins, ends, states = [], [], []
    for wave in capture.waves:
        edges = wave.begin + borders(wave.timeline[:, 1])
        begins.append(edges[:-1])
        ends.append(edges[1:])
        states.append(wave.timeline[:, 0])
    begin, end, state = map(np.concatenate, (begins, ends, states))
    files = {}
    for number in WaveState:
        chosen = state == number
        if chosen.any():
            name = f"wstates{int(number)}.json"
            files[name] = {"name": name, **_steps(begin[chosen], end[chosen])}
    return files


def _steps(begin: np.ndarray, end: np.ndarray) -> dict[str, np.ndarray]:
    time, place = np.unique(np.concatenate([begin, end]), return_inverse=True)
    change = np.concatenate([np.ones_like(begin), -np.ones_like(end)])
    delta = np.bincount(place, weights=change, minlength=len(time)).astype(np.int64)
    return {"time": time, "state": np.cumsum(delta)}


def _side_files(capture: Capture) -> dict[str, Any]:
    """Clock, counters, shader data, other SIMD and monitor files, as far as the capture has them."""
    files: dict[str, Any] = {}
    if capture.realtime:
        files["realtime.json"] = realtime_table(capture)
    for se, rows in capture.counters.items():
        files[f"se{se}_perfcounter.json"] = {"data": rows}
    for se, rows in capture.shaderdata.items():
        files[_part("shaderdata", se)] = _stretch("shaderdata", rows, "records", _SHADER_COLUMNS)
    for se, rows in capture.other_simd.items():
        content = _stretch("OTHER_SIMD_INSTRUCTIONS", rows, "instructions", ["time", "duration", "category"])
        files[_part("other_simd", se)] = {**content, "wgp": 1}
    if capture.spm:
        files["spm.json"] = capture.spm
    return files


def realtime_table(capture: Capture) -> dict[str, Any]:
    """The content of `realtime.json`."""
    metadata = {"descriptor": "[gfx_clock, realtime_clock]", "frequency": 100_000_000}
    samples = {f"SE{se}": [list(pair) for pair in pairs] for se, pairs in capture.realtime.items()}
    return {**samples, "metadata": metadata}


def _stretch(kind: str, rows: np.ndarray, key: str, schema: list[str]) -> dict[str, Any]:
    """A file with records of one shader engine, its columns named."""
    begin, end = _range(rows)
    about = {"type": kind, "begin_time": begin, "end_time": end}
    return {**about, f"{key}_schema": schema, f"{key}_count": len(rows), key: rows}


def write_sources(capture: Capture, folder: Path, layout: Layout = NATIVE) -> None:
    """Copy the sources the kernels refer to, and write the tree that says which copy is which file."""
    paths = {
        place.rpartition(":")[0]
        for kernel in capture.kernels
        for item in kernel.instructions
        for place in item.source.split(" -> ")
    }
    copied = [source for source in capture.sources.values() if source.is_copied and source.path in paths]
    tree: dict[str, Any] = {}
    for number, source in enumerate(copied):
        name = f"source_{number}_{source.path.rsplit('/', 1)[1]}"
        (folder / name).write_bytes(source.text.encode())
        *folders, last = source.path.removeprefix("/").split("/")
        branch = tree.setdefault("/", {})
        for part in folders:
            branch = branch.setdefault(part, {})
        branch[last] = name
    if tree:
        dump(folder / "snapshots.json", tree, layout)
