"""Read data recorded along with the waves: counters, sibling SIMD, shader data, wave states, source files.

Each reader returns usable data and never raises: the rest becomes a Problem.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rcv_py.base.errors import TraceError
from rcv_py.base.problems import Affects, Problem, Problems, Severity
from rcv_py.base.text import Message, plural
from rcv_py.formats.input.columns import (
    clipped,
    fit,
    frozen,
    int_column,
    list_of,
    number_rows,
    numbered,
    ordered,
    report_skipped,
    table_of,
    whole_number,
)
from rcv_py.formats.input.files import read_bytes, try_json
from rcv_py.formats.uiout.folder import FolderFiles
from rcv_py.formats.uiout.index import ChunkFile
from rcv_py.formats.uiout.written import OTHER_SIMD_COLUMNS, SHADER_COLUMNS
from rcv_py.model.code import SourceFile
from rcv_py.model.device import CounterSamples, OtherSimd, ShaderData, SpmSeries, StateCurve

_COUNTERS = re.compile(r"se(\d{1,4})_perfcounter\.json")
_COUNTER_COLUMNS = 7  # time, four values, cu, bank
_SPM = "spm.json"
_STATES = re.compile(r"wstates(\d)\.json")
SNAPSHOTS = "snapshots.json"
_TAB = 4
SOURCE_BYTES = 32 << 20  # bytes of one source copy
_MAX_DEPTH = 200
_MAX_COLUMNS = 16  # of a table with a schema


def read_counters(
    files: FolderFiles, offsets: Mapping[int, int], problems: Problems
) -> tuple[CounterSamples, ...]:
    """Return the samples of se<S>_perfcounter.json of every shader engine that has one; times are aligned."""
    samples = []
    for match in files.matching(_COUNTERS):
        name, se = match.group(), int(match[1])
        data = try_json(files.path, name, problems, Affects.COUNTERS)
        rows = data.get("data") if isinstance(data, dict) else data
        table, skipped = number_rows(rows, _COUNTER_COLUMNS, _COUNTER_COLUMNS)
        report_skipped(problems, name, skipped, "sample")
        if len(table):
            samples.append(counter_samples(se, table, offsets.get(se, 0)))
        elif data is not None:
            _report_no_samples(problems, name)
    return tuple(sorted(samples, key=lambda one: one.se))


def counter_samples(se: int, table: np.ndarray, offset: int) -> CounterSamples:
    """Return rows (int64 [n, 7]: time, four values, CU, bank) as samples; `offset` aligns the times."""
    time, value = frozen(table[:, 0] + offset), clipped(table[:, 1:5], np.int32, low=-(1 << 31))
    return CounterSamples(se, time, value, clipped(table[:, 5], np.int16), clipped(table[:, 6], np.int16))


def read_spm(files: FolderFiles, problems: Problems) -> tuple[SpmSeries, ...]:
    """Return the series of spm.json in file order; time deltas are summed up, not aligned."""
    if _SPM not in files:
        return ()
    data = try_json(files.path, _SPM, problems, Affects.COUNTERS)
    series, skipped = [], 0
    for counter, about in table_of(data).items():
        is_xcc = list_of(table_of(about).get("dimensions"))[:1] == ["XCC"]
        listed = numbered(table_of(about).get("values"))
        for place, instance, rows in ((se, at, rows) for se, some in listed for at, rows in numbered(some)):
            table, bad = number_rows(rows, 2, 2)
            skipped += bad
            if len(table):
                time, value = frozen(np.cumsum(table[:, 0])), frozen(table[:, 1].astype(np.float64))
                series.append(SpmSeries(counter, place, instance, time=time, value=value, is_xcc=is_xcc))
    if not series and data is not None:
        _report_no_samples(problems, _SPM)
    report_skipped(problems, _SPM, skipped, "sample")
    return tuple(series)


def _report_no_samples(problems: Problems, name: str) -> None:
    text = Message("{0} holds no counter sample that can be used.", name)
    hint = "Nothing was counted, or recording was cut short; record the trace again."
    problems.inform(name, text, hint, Affects.COUNTERS)


def read_other_simd(
    files: FolderFiles,
    chunks: tuple[ChunkFile, ...],
    simd_of: Mapping[int, int],
    offsets: Mapping[int, int],
    problems: Problems,
) -> tuple[OtherSimd, ...]:
    """Return one table per file other_simd_se<SE>_<i>.json (gfx11 and later), sorted by time, times aligned.

    `simd_of` is the SIMD that a shader engine traced; the records belong to its sibling (number with the
    last bit flipped), -1 if the engine traced none.
    """
    found = []
    parts = _tables(files, chunks, problems, "instructions", OTHER_SIMD_COLUMNS, min_columns=2)
    for chunk, table, data in parts:
        traced, wgp = simd_of.get(chunk.se, -1), whole_number(data.get("wgp"), -1)
        simd = traced ^ 1 if traced >= 0 else -1
        found.append(other_simd(chunk.se, wgp, simd, table, offsets.get(chunk.se, 0)))
    return tuple(found)


def other_simd(se: int, cu: int, simd: int, table: np.ndarray, offset: int) -> OtherSimd:
    """Return rows (int64 [n, 3]: time, cycles, TokenKind) by time; `offset` aligns the times."""
    table = table[np.argsort(table[:, 0], kind="stable")]
    time, duration = frozen(table[:, 0] + offset), frozen(np.maximum(table[:, 1], 0))
    return OtherSimd(se, cu, simd, time, duration, clipped(table[:, 2], np.uint8))


def read_shader_data(
    files: FolderFiles, chunks: tuple[ChunkFile, ...], offsets: Mapping[int, int], problems: Problems
) -> tuple[ShaderData, ...]:
    """Return the values of s_ttracedata from shaderdata_<SE>_<i>.json, one table per shader engine.

    Its files are concatenated, records are in file order, times aligned.  Records are never sorted: payload
    words follow their header in the file, also at equal times.
    """
    parts: dict[int, list[np.ndarray]] = {}
    in_time = sorted(chunks, key=lambda chunk: (chunk.se, chunk.begin))
    for chunk, part, _ in _tables(files, in_time, problems, "records", SHADER_COLUMNS):
        is_word = (part[:, 1] >= -1 << 31) & (part[:, 1] < 1 << 32)  # signed or not
        report_skipped(problems, chunk.file, int(np.count_nonzero(~is_word)), "record")
        parts.setdefault(chunk.se, []).append(part[is_word])
    return tuple(shader_data(se, np.concatenate(part), offsets.get(se, 0)) for se, part in parts.items())


def shader_data(se: int, table: np.ndarray, offset: int) -> ShaderData:
    """Return rows (int64 [n, 6], as in SHADER_COLUMNS) in their order; `offset` aligns the times."""
    return ShaderData(
        se=se,
        time=frozen(table[:, 0] + offset),
        value=frozen((table[:, 1] & 0xFFFFFFFF).astype(np.uint32)),
        **{
            name: clipped(table[:, at], np.int16)
            for at, name in enumerate(("cu", "simd", "slot", "flags"), 2)
        },
    )


def _tables(
    files: FolderFiles,
    chunks: Iterable[ChunkFile],
    problems: Problems,
    key: str,
    columns: tuple[str, ...],
    *,
    min_columns: int = 0,
) -> Iterator[tuple[ChunkFile, np.ndarray, dict[str, Any]]]:
    """Yield each file that can be read, its rows under `key` in the order of `columns`, and its content."""
    for chunk in chunks:
        data = try_json(files.path, chunk.file, problems)
        if isinstance(data, dict):
            table, skipped = number_rows(data.get(key), min_columns or len(columns), _MAX_COLUMNS, 0)
            report_skipped(problems, chunk.file, skipped, key.removesuffix("s"))
            yield chunk, ordered(table, data.get(f"{key}_schema"), columns), data


def read_state_curves(files: FolderFiles, problems: Problems) -> tuple[StateCurve, ...]:
    """Return the number of traced waves in a state, as counted by the writer in wstates<K>.json.

    Times are not aligned, since the file mixes engines.
    """
    curves = []
    for match in files.matching(_STATES):
        data = try_json(files.path, match.group(), problems)
        said = table_of(data)
        try:
            time, waves = int_column(said["time"]), int_column(said["state" if "state" in said else "data"])
            if len(time) != len(waves):
                raise ValueError
            curves.append(StateCurve(int(match[1]), fit(time, np.int64), fit(waves, np.int32)))
        except (LookupError, TypeError, ValueError):
            report_skipped(problems, match.group(), int(data is not None), "curve")
    return tuple(curves)


def read_sources(files: FolderFiles, paths: tuple[str, ...], problems: Problems) -> tuple[SourceFile, ...]:
    """Return a SourceFile for each path that code lines refer to, in the order of `paths`.

    A copy is found by the exact path, else by the normalised path.  Never raises.
    """
    listed = SNAPSHOTS in files
    tree = try_json(files.path, SNAPSHOTS, problems, Affects.SOURCE_TEXT) if listed else None
    if not isinstance(tree, dict | None):
        text = Message("{0} is damaged: it is not a tree of names.", SNAPSHOTS)
        problems.warn(SNAPSHOTS, text, "Sources are not shown.")
    copies = dict(_leaves(table_of(tree), "", 0))
    by_normal = {_normal(path): name for path, name in reversed(copies.items())}
    found = []
    for path in paths:
        name, lines, why = copies.get(path) or by_normal.get(_normal(path)), None, ""
        try:
            lines = None if name is None else source_lines(read_bytes(files.path, name, SOURCE_BYTES))
            why = "" if name else Message("The capture has no copy of {0}.", path)
        except TraceError as error:
            why = str(error)
        found.append(SourceFile(path, lines, why))
    problems += missing_copies(found)
    return tuple(found)


def missing_copies(sources: Sequence[SourceFile]) -> list[Problem]:
    """Return a Problem if sources have no copy."""
    lost = [source for source in sources if source.lines is None]
    if not lost:
        return []
    some = Message("{0:,} of {1}", len(lost), plural(len(sources), "source file"))
    return [
        Problem(
            Severity.WARNING,
            SNAPSHOTS,
            Message("{0} has no copy of {1}, such as {2}.", SNAPSHOTS, some, lost[0].path),
            "Costs by line are still shown; say where the sources are: Locate … above the source, or"
            " --source-map FROM=TO.",
            (Affects.SOURCE_TEXT,) if len(lost) == len(sources) else (),
        )
    ]


def source_lines(data: bytes) -> tuple[str, ...]:
    """Return the lines of a source file as compilers count them, tabs as spaces."""
    # `str.splitlines` would also cut at form feeds and the like.
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    return tuple(line.expandtabs(_TAB) for line in (text.split("\n") if text else ()))


def _leaves(tree: dict[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, str]]:
    for name, child in tree.items():
        path = f"{prefix}/{name}" if prefix and not prefix.endswith("/") else prefix + name
        if isinstance(child, str):
            yield path, child
        elif isinstance(child, dict) and depth < _MAX_DEPTH:
            yield from _leaves(child, path, depth + 1)


def _normal(path: str) -> str:
    return posixpath.normpath(path.replace("\\", "/"))
