"""Read rocpd databases, the default output of rocprofv3, schemas 3 and 4.

Each table's name ends in the id of a process, and several processes may share a file: ids of rows are valid
within the tables of one process.  Views of the plain names are not needed, and not run.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.base.errors import NotATrace, TraceError
from rcv_py.base.problems import Problems
from rcv_py.base.record import Value
from rcv_py.base.text import Message, plural
from rcv_py.formats.input.columns import table_of, text_of, whole_number
from rcv_py.formats.input.files import parse_json
from rcv_py.formats.input.limits import CALLS
from rcv_py.formats.rocpd.guarded import ROWS, Guarded, guarded
from rcv_py.formats.rocpd.parts import ENGINES, UNSURE, CounterPlace, Records, is_raw_name
from rcv_py.model.profile import Agent, GraphLaunch, Profile

_TABLE = re.compile(r"rocpd_(?P<name>[a-z]+(?:_[a-z]+)*?)(?P<process>_[0-9a-f][0-9a-f_-]{7,})?")
_OLD = {"HSA", "HIP", "OPS", "KERN", "COPY"}  # tables of the first rocprof
_RPD = "rocpd_api"  # of another tool whose tables have the same names
_AGENT = ("id", "type", "name", "product_name", "extdata")
_CODE = ("id", "agent_id", "load_base", "load_size", "load_delta", "uri")
_SEGMENTS = ("group_segment_size", "private_segment_size")
_KERNEL = (
    "id", "kernel_name", "display_name",
    "code_object_id", "arch_vgpr_count", "accum_vgpr_count", "sgpr_count", *_SEGMENTS,
)  # fmt: skip
_GRAPH = ("graph_exec_id", "graph_node_id")
_PC = ("code_object_id", "code_object_offset")
_PLACE = ("xcc", "shader_engine", "instance", "shader_array", "wgp")
_SIZES = tuple(f"{what}_size_{axis}" for what in ("workgroup", "grid") for axis in "xyz")
STATED = ("wave_issued", "stall_reason", "wave_count", "exec_mask", "exec")
# Fields of a blob, and the columns that they stand for.
_FIELDS = {name: at for at, name in enumerate(STATED)} | {"reason_not_issued": 1, "wave_cnt": 2}
_INTEGERS = (1, 2, 4, 8)  # bytes
_MAX_STRUCT = 1 << 16  # bytes of a blob; writers need fewer than a hundred
_MAX_FIELDS = 1 << 12
_AT_ONCE = 20_000  # rows
_ORDER = {"big": ">", "little": "<"}
Rows = Callable[..., Iterator[tuple[Any, ...]]]


def read_database(path: Path) -> Profile:
    """Read a database; raise a TraceError if it is not rocpd, or cannot be read."""
    problems = Problems()
    with guarded(path) as database:
        run = _Run(database, problems)
        for tables in _processes(database):
            run.take(tables)
        return replace(run.profile(path, "rocpd", problems), version=run.version)


def check_database(path: Path) -> None:
    """Raise a TraceError if a database is not rocpd, or cannot be read; rows are not checked."""
    with guarded(path) as database:
        _processes(database)


def _processes(database: Guarded) -> list[dict[str, str]]:
    """The tables of each process: full names by plain names; NotATrace if there are none."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for table in database.tables:
        if match := _TABLE.fullmatch(table):
            found[match["process"] or ""][match["name"]] = table
    processes = [one for one in found.values() if {"metadata", "info_agent", "info_process"} & one.keys()]
    if not processes:
        why = "it is a database of another program"
        if _OLD & set(database.tables):
            why = "it is a database of the first rocprof, which has no instructions; record with rocprofv3"
        elif _RPD in database.tables:
            why = "it is a database of rocmProfileData, which has no instructions; record with rocprofv3"
        raise NotATrace(database.path, why)
    return processes


class _Run(Records):
    """The records of a database."""

    def __init__(self, database: Guarded, problems: Problems) -> None:
        super().__init__()
        self._database, self._name, self._problems = database, database.path.name, problems
        self._tables: dict[str, str] = {}  # of the current process
        self._is_squeezed = False
        self._numbered: dict[Any, int] = {}  # rows of launches by recording and number
        self.version = ""

    def take(self, tables: dict[str, str]) -> None:
        """Read the tables of a process."""
        self._tables, self._numbered = tables, {}
        self.process += 1
        for tag, value in self._rows("metadata", "tag", "value"):
            self.version = str(value) if tag == "schema_version" and not self.version else self.version
        for (command,) in self._rows("info_process", "command"):
            self.command = self.command or text_of(command)
        for id, kind, name, product, more in self._rows("info_agent", *_AGENT):
            self.add_agent(id, name, product, kind == "GPU", self._more(more))
        for row in self._rows("info_code_object", *_CODE):
            id, agent, address, size, delta = (whole_number(number, -1) for number in row[:5])
            self.add_code(id, agent, row[5], address, size, delta)
        for id, symbol, name, *numbers in self._rows("info_kernel_symbol", *_KERNEL):
            self.add_kernel(id, symbol, name, numbers)
        self._take_launches()
        self._take_counters()
        for row in self._rows("graph_launch", "graph_exec_id", "start", "end", "kernel_dispatch_count"):
            graph, begin, end = (max(whole_number(number, 0), 0) for number in row[:3])
            self.graphs.append(GraphLaunch(self.process, graph, begin, end, whole_number(row[3], -1)))
        self._take_samples()
        self.files += [name for (name,) in self._rows("string", "string") if is_raw_name(name)]

    def _rows(self, name: str, *columns: str) -> Iterator[tuple[Any, ...]]:
        """Rows of a table of the process; none, and a Problem, if it cannot be read."""
        table = self._tables.get(name)
        if table is None:
            return
        try:
            yield from self._database.rows(table, columns)
        except TraceError as error:
            self._problems.warn(self._name, str(error), error.hint)

    def _more(self, extra: object) -> dict[str, Any]:
        """JSON of the writer; compressed JSON of some writers is skipped."""
        if isinstance(extra, bytes) and extra[:1] != b"{":
            if not self._is_squeezed:
                self._is_squeezed = True
                self._problems.inform(
                    self._name,
                    Message(
                        "{0} has compressed details (LZ4), which are not read: devices have no sizes.",
                        self._name,
                    ),
                    "Write the database without compression if you need them.",
                )
            return {}
        text = extra.encode() if isinstance(extra, str) else extra if isinstance(extra, bytes) else b""
        with suppress(TraceError):
            return table_of(parse_json(text, "extdata")) if text else {}
        return {}

    def _take_launches(self) -> None:
        """Read the launches; passes of a replay are executions of one launch, with the times of the first."""
        moments = dict(self._rows("timestamp", "id", "value"))  # schema 4.0 has them in place of times
        agents = dict(self._rows("track", "id", "agent_id"))  # schema 4: devices of launches
        rows = self._rows(
            *("kernel_dispatch", "guid", "replay_pass", "dispatch_id", "kernel_id", "event_id"),
            *("agent_id", "track_id", "start", "end", "start_id", "end_id", *_SEGMENTS, *_SIZES, *_GRAPH),
        )
        replayed: dict[Any, int] = {}
        for row in sorted(rows, key=lambda row: whole_number(row[1], 0)):
            guid, _, id, kernel, event, agent, track, *times = row[:11]
            place = self.process, agents.get(track) if agent is None else agent
            begin, end = (
                moments.get(moment) if time is None else time
                for time, moment in zip(times[:2], times[2:], strict=True)
            )
            # Without the column of passes too: a number is unique within a recording.
            key = (guid, id, *place, kernel) if whole_number(id, 0) > 0 else len(self.launches)
            launch = replayed.setdefault(key, len(self.launches))
            if launch == len(self.launches):
                self.launches.append((id, (self.process, kernel), place, begin, end, *row[11:]))
            execution = self.add_execution(launch, begin, end)
            self._numbered.setdefault((guid, whole_number(id, -1)), launch)
            if event is not None:
                self.launch_of[self.process, event] = launch, execution

    def _take_counters(self) -> None:
        """Read values of launches, and samples over time, which have a `sample_id`."""
        listed = self._rows("info_pmc", "id", "symbol", "name")
        counters = {id: text_of(symbol) or text_of(name) for id, symbol, name in listed}
        samples = {id: at for id, *at in self._rows("sample", "id", "timestamp", "event_id")}
        rows = self._rows("pmc_event", "event_id", "pmc_id", "value", "sample_id", *_PLACE)
        for event, counter, value, sample, *at in rows:
            time, of_sample = samples.get(sample, (None, None))
            found = self.launch_of.get((self.process, of_sample if event is None else event))
            if found is not None and sample is None:
                self.values.append((*found, counters.get(counter, ""), value))
            elif found is not None:
                launch = self.launches[found[0]]
                row = self.agent_row.get(launch[2], -1)
                place = _place(self.agents[row] if row >= 0 else None, at)
                self.stream(whole_number(launch[0], -1), counters.get(counter, ""), place, time, value)

    def _launch(self, guid: object, number: object) -> int:
        """Row of a launch, -1 if unknown: a number is unique within a guid, which older tables lack."""
        own = guid, whole_number(number, -1)
        return self._numbered.get(own, self._numbered.get((None, own[1]), -1))

    def _lines(self) -> dict[tuple[object, object], list[str]]:
        """Source places of events by guid and number, as the tables of schema 4.1 list them."""
        code, counters = (
            {id: f"{text_of(file)}:{line}" for id, file, line in self._rows(table, "id", "file", column)
             if text_of(file) and whole_number(line, 0) > 0}
            for table, column in (("info_source_code", "line_number"), ("info_pc", "line"))
        )  # fmt: skip
        found: dict[tuple[object, object], list[str]] = {}
        for guid, event, source, pc in self._rows("line_info", "guid", "event_id", "source_code_id", "pc_id"):
            place = code.get(source) or counters.get(pc)
            if place and len(places := found.setdefault((guid, event), [])) < CALLS:
                places.append(place)
        return found

    def _take_samples(self) -> None:
        """Read PC samples; what a sample says lies in columns, or in a packed blob of its event."""
        for codeobj, offset, text, source in self._rows("disassembly_data", *_PC, "instruction", "comment"):
            place = self.process, whole_number(codeobj, -1), whole_number(offset, -1)
            self.samples.name(place, text, source)
        packed = PackedFields(self._rows, self._name, self._problems)
        lines = self._lines()
        count = 0
        for rows in chunks(self._rows("gpu_pc_sample", "guid", "event_id", "dispatch_id", *_PC, *STATED)):
            guid, event, dispatch, codeobj, offset, *stated = zip(*rows, strict=True)
            issued, reason, waves, lanes = packed.stated(guid, event, stated)
            for key, code, at in zip(zip(guid, event, strict=True), codeobj, offset, strict=True):
                if key in lines:
                    place = self.process, whole_number(code, -1), whole_number(at, -1)
                    self.samples.locate(place, " -> ".join(lines[key]))
            named = list(zip(guid, dispatch, strict=True))
            row = {key: self._launch(*key) for key in set(named)}
            launch = [row[key] for key in named]
            self.samples.add(self.process, launch, codeobj, offset, issued, reason, lanes, waves)
            count += len(rows)
        if count >= ROWS:
            more = Message("{0} has more PC samples; the first {1:,} are read.", self._name, ROWS)
            self._problems.warn(self._name, more)


def _place(agent: Agent | None, at: Sequence[object]) -> CounterPlace:
    """The place of a sample; `at` are its columns of _PLACE."""
    xcc, engine, instance, array, wgp = (whole_number(one, -1) for one in at)
    is_known = agent is not None and min(agent.engines, agent.dies) > 0
    engines = agent.engines // agent.dies if agent is not None and is_known else ENGINES
    number = max(xcc, 0) if engine < 0 else max(xcc, 0) * engines + engine
    return CounterPlace(number, max(instance, 0), engine < 0, max(array, -1), max(wgp, -1))


def chunks(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows in lists that fit into caches."""
    while part := list(islice(rows, _AT_ONCE)):
        yield part


class _Layout(Value):
    size: int  # bytes
    order: str
    fields: list[tuple[int, int, np.dtype[Any]]]  # column of STATED, offset, kind


class PackedFields:
    """The packed fields of PC samples: blobs by event, decoded at once if a schema has a field that matters.

    `rocpd_info_blob_schema` gives size and byte order of a blob, `rocpd_info_blob_field` offset, size and
    sign of each field; all are checked, because a database is untrusted.
    """

    def __init__(self, rows: Rows, name: str, problems: Problems) -> None:
        layouts, others = _layouts(rows)
        self._found: dict[Any, tuple[int | None, ...]] = {}
        wrong = undescribed = 0
        for part in chunks(rows("blob_event", "guid", "event_id", "schema_id", "blob")):
            for key in {(guid, schema) for guid, _, schema, _ in part} - others:
                layout = layouts.get(key)
                of = [row for row in part if (row[0], row[2]) == key]
                if layout is None or not layout.fields:
                    undescribed += len(of)
                    continue
                whole = [row for row in of if isinstance(row[3], bytes) and len(row[3]) == layout.size]
                wrong += len(of) - len(whole)
                self._take(layout, whole)
        if wrong:
            template = "{0} of PC samples have another size than their schema says; what they say is unknown."
            problems.warn(name, Message(template, plural(wrong, "blob")))
        if undescribed:
            template = (
                "{0} of PC samples cannot be read: the database does not describe the fields; whether these "
                "samples issued, and why not, is unknown."
            )
            problems.warn(name, Message(template, plural(undescribed, "blob")))

    def _take(self, layout: _Layout, rows: list[tuple[Any, ...]]) -> None:
        table = np.frombuffer(b"".join(row[3] for row in rows), np.uint8).reshape(len(rows), layout.size)
        columns: list[Sequence[int | None]] = [[None] * len(rows)] * len(STATED)
        for column, offset, kind in reversed(layout.fields):  # the first of a name counts
            part = table[:, offset : offset + kind.itemsize]
            columns[column] = np.ascontiguousarray(part).view(kind)[:, 0].tolist()
        keys = ((guid, event) for guid, event, *_ in rows)
        self._found.update(zip(keys, zip(*columns, strict=True), strict=True))

    def stated(
        self, guid: Sequence[object], event: Sequence[object], columns: Sequence[Sequence[object]]
    ) -> tuple[Sequence[object], ...]:
        """Return whether samples issued, stall reasons, waves and EXEC: from columns, else from blobs."""
        if self._found:
            nothing = (None,) * len(STATED)
            found = [self._found.get(key, nothing) for key in zip(guid, event, strict=True)]
            columns = [_filled(*both) for both in zip(columns, zip(*found, strict=True), strict=True)]
        issued, reason, waves, mask, lanes = columns
        # Host traps do not record whether a sample issued.
        return _filled(issued, [UNSURE] * len(issued)), reason, waves, _filled(mask, lanes)


def _layouts(rows: Rows) -> tuple[dict[Any, _Layout], set[Any]]:
    """The layouts of PC samples, and the keys of those of other tables."""
    found: dict[Any, _Layout] = {}
    others = set()
    names = ("guid", "id", "source_table", "byte_order", "struct_size")
    for guid, id, table, order, size in rows("info_blob_schema", *names):
        bytes_of = whole_number(size, 0)
        if table is not None and "pc_sample" not in str(table):
            others.add((guid, id))
        elif order in _ORDER and 0 < bytes_of <= _MAX_STRUCT:
            found[guid, id] = _Layout(bytes_of, _ORDER[order], [])
    names_of_fields = ("guid", "schema_id", "name", "offset", "size", "is_signed", "data_type")
    listed = islice(rows("info_blob_field", *names_of_fields), _MAX_FIELDS)
    for guid, id, name, offset, size, is_signed, kind in listed:
        layout, column = found.get((guid, id)), _FIELDS.get(name)
        begin, bytes_of = whole_number(offset, -1), whole_number(size, 0)
        if layout is None or column is None or "float" in str(kind):
            continue
        if begin >= 0 and bytes_of in _INTEGERS and begin + bytes_of <= layout.size:
            form = np.dtype(f"{layout.order}{'i' if is_signed else 'u'}{bytes_of}")
            layout.fields.append((column, begin, form))
    return found, others


def _filled(column: Sequence[object], otherwise: Sequence[object]) -> Sequence[object]:
    """The column, with values of another one where it has none."""
    if None not in column:
        return column
    return [b if a is None else a for a, b in zip(column, otherwise, strict=True)]
