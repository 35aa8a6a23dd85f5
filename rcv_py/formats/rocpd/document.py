"""Read `*_results.json` of rocprofv3: the data of its database, as one document per run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rcv_py.base.errors import NotATrace
from rcv_py.base.problems import Problems
from rcv_py.base.record import Value
from rcv_py.formats.input.columns import list_of, table_of, text_of, whole_number
from rcv_py.formats.input.files import read_json
from rcv_py.formats.rocpd.parts import ENGINES, UNSURE, CounterPlace, Records, is_raw_name, reason_of
from rcv_py.model.profile import Profile

ROOT = "rocprofiler-sdk-tool"
GPU = 2  # type of an agent
_KERNEL = (
    "code_object_id", "arch_vgpr_count", "accum_vgpr_count", "sgpr_count",
    "group_segment_size", "private_segment_size",
)  # fmt: skip
_ENGINE = "DIMENSION_SHADER_ENGINE"
_AXES = {"DIMENSION_XCC": 0x3F, _ENGINE: 0x3F, "DIMENSION_INSTANCE": 0x3FF}  # and the largest number on each
_WITHIN = ("DIMENSION_SHADER_ARRAY", "DIMENSION_WGP")  # axes of a shader engine
_BITS = (0, 12, 36)  # their bits in the number of an instance, the last resort
_KINDS = (("pc_sample_host_trap", True), ("pc_sample_stochastic", False))
_TEXTS = ("instructions", "comments")


def read_document(path: Path) -> Profile:
    """Read a document; raise a TraceError if it is another kind, or cannot be read."""
    problems, document = Problems(), _Document()
    for run in _records(table_of(read_json(path.parent, path.name, problems)).get(ROOT)):
        document.take(run)
    if document.process < 0:
        raise NotATrace(path, "it is not what rocprofv3 writes as JSON")
    return document.profile(path, "results.json", problems)


class _Places(Value):
    """Places of the instances of a counter: from the document, else from their numbers."""

    engines: int  # shader engines of an XCC that it counts for, 0: it counts for the XCC
    by_instance: Mapping[int, tuple[int, ...]]  # → XCC, shader engine and instance of it, array, WGP

    @classmethod
    def of(cls, counter: Mapping[str, Any]) -> _Places:
        """Return the places in a record of a counter."""
        sizes = {
            text_of(one.get("name")): whole_number(one.get("instance_size"), 0)
            for one in _records(counter.get("dimensions"))
        }
        by_instance = {}
        for one in _records(counter.get("instances")):
            at = {
                text_of(axis.get("dimension_name")): whole_number(axis.get("index"), 0)
                for axis in _records(one.get("dimensions"))
            }
            xcc, engine, instance = (min(max(at.get(name, 0), 0), most) for name, most in _AXES.items())
            within = (min(max(at.get(name, -1), -1), 0x3F) for name in _WITHIN)
            by_instance[whole_number(one.get("instance_id"), -1)] = xcc, engine, instance, *within
        return cls(min(max(sizes.get(_ENGINE, 0), 0), _AXES[_ENGINE]) if sizes else ENGINES, by_instance)

    def of_instance(self, number: int) -> CounterPlace:
        bits = tuple(number >> at & most for at, most in zip(_BITS, _AXES.values(), strict=True))
        xcc, engine, instance, *within = self.by_instance.get(number, bits)
        place = xcc * self.engines + engine if self.engines else xcc
        return CounterPlace(place, instance, not self.engines, *within)


class _Document(Records):
    """The records of a document."""

    def take(self, run: Mapping[str, Any]) -> None:
        """Read the records of a process."""
        self.process += 1
        words = table_of(run.get("metadata")).get("command")
        self.command = self.command or " ".join(text_of(word) for word in list_of(words))
        for one in _records(run.get("agents")):
            id = _handle(one.get("id"))
            self.add_agent(id, one.get("name"), one.get("product_name"), one.get("type") == GPU, one)
        for one in _records(run.get("code_objects")):
            names = ("load_base", "load_size", "load_delta")
            address, size, delta = (whole_number(one.get(name), -1) for name in names)
            id = whole_number(one.get("code_object_id", one.get("id")), -1)
            if id > 0:
                agent = _handle(one.get("agent_id"))
                self.add_code(id, agent, one.get("uri"), address, size, delta)
        for one in _records(run.get("kernel_symbols")):
            id = whole_number(one.get("kernel_id"), -1)
            if id > 0:
                name = one.get("demangled_kernel_name") or one.get("formatted_kernel_name")
                numbers = [one.get(name) for name in _KERNEL]
                self.add_kernel(id, one.get("kernel_name"), name, numbers)
        strings, buffers = table_of(run.get("strings")), table_of(run.get("buffer_records"))
        for name in ("att_filenames", "code_object_snapshot_filenames"):
            self.files += [one for one in list_of(strings.get(name)) if is_raw_name(one)]
        for one in _records(buffers.get("kernel_dispatch")):
            self._take_launch(one)
        self._take_counters(run)
        self._take_samples(buffers, strings)

    def _take_launch(self, record: Mapping[str, Any], info: Mapping[str, Any] | None = None) -> int:
        """Add a launch once, by its number; return its row."""
        info = table_of(record.get("dispatch_info")) if info is None else info
        id = whole_number(info.get("dispatch_id"), -1)
        row = self.launch_of.setdefault((self.process, id), len(self.launches))
        if row == len(self.launches):
            kernel, agent = whole_number(info.get("kernel_id"), -1), _handle(info.get("agent_id"))
            times = record.get("start_timestamp"), record.get("end_timestamp")
            segments = info.get("group_segment_size"), info.get("private_segment_size")
            both = table_of(info.get("workgroup_size")), table_of(info.get("grid_size"))
            sizes = (size.get(axis) for size in both for axis in "xyz")
            graph = _handle(info.get("graph_exec_id")), _handle(info.get("graph_node_id"))
            keys = (self.process, kernel), (self.process, agent)
            self.launches.append((id, *keys, *times, *segments, *sizes, *graph))
        return row

    def _take_counters(self, run: Mapping[str, Any]) -> None:
        names = {_handle(one.get("id")): text_of(one.get("name")) for one in _records(run.get("counters"))}
        calls = table_of(run.get("callback_records"))
        for one in _records(calls.get("counter_collection")):
            about = table_of(one.get("dispatch_data"))
            info = table_of(about.get("dispatch_info"))
            launch = self._take_launch(about, info)
            begin, end = self.launches[launch][3:5]
            times = about.get("start_timestamp", begin), about.get("end_timestamp", end)
            execution = self.add_execution(launch, *times)
            for record in _records(one.get("records")):
                counter = _handle(record.get("counter_id"))
                self.values.append((launch, execution, names.get(counter, ""), record.get("value")))
        places = {_handle(one.get("id")): _Places.of(one) for one in _records(run.get("counters"))}
        for one in _records(calls.get("spm_counter_collection")):
            about = table_of(table_of(one.get("dispatch_data")).get("dispatch_info"))
            launch = whole_number(about.get("dispatch_id"), -1)
            for record in _records(one.get("records")):
                counter = _handle(record.get("counter_id"))
                if names.get(counter):
                    place = places[counter].of_instance(whole_number(record.get("instance_id"), 0))
                    self.stream(launch, names[counter], place, record.get("timestamp"), record.get("value"))

    def _take_samples(self, buffers: Mapping[str, Any], strings: Mapping[str, Any]) -> None:
        texts = list(zip_longest(*(list_of(strings.get(f"pc_sample_{name}")) for name in _TEXTS)))
        for kind, is_host_trap in _KINDS:
            rows: list[tuple[Any, ...]] = []
            for one in _records(buffers.get(kind)):
                record = table_of(one.get("record"))
                pc, at = table_of(record.get("pc")), whole_number(one.get("inst_index"), -1)
                code, offset = pc.get("code_object_id"), pc.get("code_object_offset")
                if 0 <= at < len(texts):
                    place = self.process, whole_number(code, -1), whole_number(offset, -1)
                    self.samples.name(place, *texts[at])
                said, issued = table_of(record.get("snapshot")), record.get("wave_issued")
                launch = self.launch_of.get((self.process, whole_number(record.get("dispatch_id"), -1)), -1)
                issued = UNSURE if is_host_trap else int(issued) if isinstance(issued, bool) else issued
                reason = reason_of(said.get("stall_reason", said.get("reason_not_issued")))
                waves = record.get("wave_cnt", record.get("wave_count"))
                rows.append((launch, code, offset, issued, reason, record.get("exec_mask"), waves))
            if rows:
                self.samples.add(self.process, *zip(*rows, strict=True))


def _records(value: object) -> Iterator[Mapping[str, Any]]:
    return (one for one in list_of(value) if isinstance(one, dict))


def _handle(value: object) -> int:
    """An id, which is a number or a record with one."""
    return whole_number(value.get("handle") if isinstance(value, dict) else value, -1)
