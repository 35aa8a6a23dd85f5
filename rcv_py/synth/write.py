"""Writing of a capture to a folder, in the layout of either tool."""

from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.base.record import Value
from rcv_py.base.runs import borders
from rcv_py.formats.derived.totals import state_curves
from rcv_py.formats.uiout import written
from rcv_py.synth.capture import SyntheticCapture, WaveRun


class FileLayout(Value):
    """The file layout of a tool: its version and its variants."""

    version: str
    is_indented: bool
    empty: Any  # the value for an empty list of waves, code, waits
    first_number: int  # LineNumber of the first code row
    forces_underscore: bool = False  # before the kernel's name in its label row
    has_states: bool = True  # writes wstates files
    has_waits: bool = True
    is_packed: bool = False  # occupancy as one number an event, and code without a header
    has_service_type: bool = False  # PC samples have one, and the header is a string


NATIVE = FileLayout(version="3.0.0", is_indented=False, empty=None, first_number=0)
SCRIPTED = FileLayout("3.1.0", is_indented=True, empty=[], first_number=1)
SCRIPTED = replace(SCRIPTED, forces_underscore=True, has_states=False, has_waits=False)
PACKED = FileLayout(version="", is_indented=False, empty=None, first_number=0, is_packed=True)


def write_folder(capture: SyntheticCapture, folder: Path, layout: FileLayout = NATIVE) -> None:
    """Write all files of a capture; create the folder if it is missing."""
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
        written.dump(folder / name, table, is_indented=layout.is_indented)
    if capture.has_code:
        write_sources(capture, folder, layout)


def index_table(capture: SyntheticCapture, layout: FileLayout = NATIVE) -> dict[str, Any]:
    """The content of `filenames.json`."""
    waves = sorted(capture.waves, key=lambda wave: wave.key)
    listed = ((wave.key, wave.file, wave.begin, wave.end) for wave in waves)
    counters = () if layout.is_indented else capture.counter_names
    table = {"version": layout.version, **written.index_table(capture.generation, listed, counters)}
    table["wave_filenames"] = table["wave_filenames"] or (layout.empty if layout.empty is None else {})
    for key, name, columns in (
        ("shaderdata_filenames", "shaderdata", capture.shaderdata),
        ("other_simd_filenames", "other_simd", capture.other_simd),
    ):
        if columns:
            table[key] = {
                str(se): [[written.part_name(name, se), *written.stretch_of(rows)]]
                for se, rows in columns.items()
            }
    if capture.pc_samples is not None:
        table |= {"thread_trace": False, "pc_sampling": True, "is_pcs_stochastic": True}
    if layout.is_packed:  # such a folder names only the family, and the waves
        del table["version"], table["gfxip"]
    return table


def code_table(capture: SyntheticCapture, layout: FileLayout = NATIVE) -> dict[str, Any]:
    """The content of `code.json`: ten columns a row, plus columns of PC samples."""
    code: list[list[Any]] = []
    header: str | list[str] = written.CODE_HEADER
    if capture.pc_samples is not None:
        service = [2] if layout.has_service_type else []
        counts = [
            [0, 0, 0, 0, *service, hits, sum(reasons), reasons]
            for hits, reasons in zip(*(column.tolist() for column in capture.pc_samples), strict=True)
        ]
        names = [*written.CODE_HEADER.split(", "), *written.SAMPLE_COLUMNS[:3]]  # stochastic: all are sure
        with_service = f"{written.CODE_HEADER}, ServiceType, Issued, Stalled, NotIssuedReasons"
        header = with_service if service else names
    else:
        counts = capture.truth.lines.tolist()
    if capture.has_code:
        code = [[*row, *rest] for row, rest in zip(code_rows(capture, layout), counts, strict=True)]
    if layout.is_packed:
        return {"code": code}
    return {"code": code or layout.empty, "header": header, "version": layout.version, **capture.code_extras}


def code_rows(capture: SyntheticCapture, layout: FileLayout = NATIVE) -> list[list[Any]]:
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


def occupancy_table(capture: SyntheticCapture, layout: FileLayout = NATIVE) -> dict[str, Any]:
    """The content of `occupancy.json`: six columns, eleven, or one packed number an event."""
    found: dict[int, list[tuple[int, ...]]] = {}
    for se, cu, simd, slot, begin, end, kernel, workgroup in capture.truth.residencies.tolist():
        rows = found.setdefault(se, [])
        for time, start in ((begin, 1), (end, 0)):
            rows.append((time, cu, simd, slot, start, kernel + 1, 1, 0, 1, workgroup, 0))
    shape = _packed if layout.is_packed else list if layout.version == "3.1.0" else itemgetter(slice(6))
    in_time = {se: sorted(rows, key=lambda row: (row[0], row[4], row[1:4])) for se, rows in found.items()}
    table: dict[str, Any] = {str(se): [shape(row) for row in rows] for se, rows in in_time.items()}
    names = {"0": "0 / 0x0"}
    names.update({str(number): one.symbol for number, one in enumerate(capture.kernels, 1)})
    table["dispatches"] = names
    if layout.is_packed:
        return table
    table["version"] = layout.version
    if layout.version == "3.1.0":
        table["occupancy_fields"] = written.OCCUPANCY_FIELDS
        table["events"] = {str(se): records for se, records in capture.events.items()}
    return table


def _packed(row: tuple[int, ...]) -> int:
    """From the lowest bit: kernel 12, SIMD 2, slot 4, start 1, CU 4, time in units of eight cycles."""
    time, cu, simd, slot, start, kernel = row[:6]
    return kernel | simd << 12 | slot << 14 | start << 18 | cu << 19 | (time // 8) << 23


def wave_table(wave: WaveRun, layout: FileLayout = NATIVE) -> dict[str, Any]:
    """One wave file."""
    tokens = wave.tokens + np.array([0, 0, 0, 0, layout.first_number])
    waits = (wait_lists(wave, layout.first_number) if layout.has_waits else []) or layout.empty
    columns = {"tokens": tokens, "timeline": wave.timeline, "waits": waits}
    table = written.wave_table(wave.key, (wave.begin, wave.end), cu=wave.cu, **columns)
    if layout.version == "3.1.0":
        table["wave"] |= {"dispatcher": 1 << 4, "workgroup_id": wave.workgroup}
    return table


def wait_lists(wave: WaveRun, first_number: int = 0) -> list[Any]:
    """The waitcnt entries of a wave file."""
    shift = first_number
    return [[wait + shift, [[row + shift, 0] for row in released]] for wait, released in wave.waits]


def _states(capture: SyntheticCapture, layout: FileLayout) -> dict[str, Any]:
    """The wstates files: number of traced waves in each state, clocks not aligned."""
    if not layout.has_states or not capture.waves:
        return {}
    spans = np.concatenate([wave.timeline for wave in capture.waves])
    curves = state_curves(
        spans[:, 0],
        spans[:, 1],
        first=borders([len(wave.timeline) for wave in capture.waves]),
        begin=np.array([wave.begin for wave in capture.waves], dtype=np.int64),
    )
    files = {}
    for curve in curves:
        name = f"wstates{curve.state}.json"
        files[name] = {"name": name, "time": curve.time, "state": curve.waves}
    return files


def _side_files(capture: SyntheticCapture) -> dict[str, Any]:
    """Clock, counters, shader data, other SIMD and monitor files that the capture has."""
    files: dict[str, Any] = {}
    if capture.realtime:
        files["realtime.json"] = written.realtime_table(capture.realtime)
    for se, rows in capture.counters.items():
        files[f"se{se}_perfcounter.json"] = {"data": rows}
    for se, rows in capture.shaderdata.items():
        files[written.part_name("shaderdata", se)] = written.shader_table(rows)
    for se, rows in capture.other_simd.items():
        files[written.part_name("other_simd", se)] = written.other_simd_table(rows, wgp=1)
    if capture.spm:
        files["spm.json"] = capture.spm
    return files


def write_sources(capture: SyntheticCapture, folder: Path, layout: FileLayout = NATIVE) -> None:
    """Copy the sources of the kernels, and write the tree that maps copies to files."""
    paths = {
        place.rpartition(":")[0]
        for kernel in capture.kernels
        for item in kernel.instructions
        for place in item.source.split(" -> ")
    }
    copied = [source for source in capture.sources.values() if source.is_copied and source.path in paths]
    names = [f"source_{number}_{source.path.rsplit('/', 1)[1]}" for number, source in enumerate(copied)]
    for name, source in zip(names, copied, strict=True):
        (folder / name).write_bytes(source.text.encode())
    tree = written.source_tree({source.path: name for name, source in zip(names, copied, strict=True)})
    if tree:
        written.dump(folder / "snapshots.json", tree, is_indented=layout.is_indented)
