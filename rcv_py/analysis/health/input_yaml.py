"""An input file for rocprofv3 that records the same kernel again, with better settings.

The file is written line by line: it has one job with plain values, and comments with reasons.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from rcv_py.analysis.health.note import HealthNote, Setting
from rcv_py.analysis.health.traced_units import CU_BITS, engine_mask
from rcv_py.base.text import Message, short_kernel
from rcv_py.model.trace import Trace

FILE = "input.yaml"
BUFFER = "0x10000000"  # 256 MB, the default of present versions of rocprofv3; older ones had 96 MB
FORMS = "[json, csv]"  # of the tables of the run

KEYS = (  # in the order in which they are written
    *("kernel_include_regex", "kernel_iteration_range", "selected_regions"),
    *("output_directory", "output_file", "output_format"),
    *("kernel_trace", "marker_trace", "advanced_thread_trace"),
    *("att_gpu_index", "att_target_cu", "att_shader_engine_mask", "att_simd_select", "att_buffer_size"),
    *("att_activity", "att_perfcounter_target_only", "att_consecutive_kernels", "att_serialize_all"),
)


def input_settings(trace: Trace, notes: Sequence[HealthNote]) -> dict[str, Setting]:
    """Return the settings of the file: the settings of this capture, overridden by the notes."""
    wanted = {name: value for note in reversed(notes) for name, value in note.settings.items()}
    if not trace.architecture.has_trace_counters:
        wanted.pop("att_activity", None)
    settings = _as_recorded(trace) | wanted
    return {name: settings[name] for name in KEYS if name in settings}


def input_yaml(trace: Trace, notes: Sequence[HealthNote]) -> str:
    """Return the text of an input file for `rocprofv3 -i`."""
    what = kernel_pattern(trace) or "the kernels"
    head = [
        Message("Records {0} again; written for {1}.", what, trace.name),
        command_line(),
        "Traced is the first launch of a kernel.  For a later one, past the warm-up, add:",
        '  kernel_iteration_range: "[2]"',
        *(f"{note.title}: {note.remedy}" for note in notes if note.is_serious and not note.settings),
    ]
    return job_file(input_settings(trace, notes), head, reasons(notes))


def reasons(notes: Sequence[HealthNote]) -> dict[str, str]:
    """Return, by setting, why notes recommend it; the worst note decides."""
    return {name: note.title for note in reversed(notes) for name in note.settings}


def job_file(settings: Mapping[str, Setting], head: Sequence[str], why: Mapping[str, str]) -> str:
    """Return an input file of one job after head comments; `why` gives reasons for some settings."""
    lines: list[str] = []
    for name in filter(settings.__contains__, KEYS):
        mark = "  - " if not lines else "    "
        if name in why:
            lines.append(f"    # {_comment(why[name])}")
        lines.append(f"{mark}{name}: {_value(settings[name])}")
    return "\n".join([*(f"# {_comment(line)}" for line in head), "jobs:", *lines]) + "\n"


def command_line(program: str = "./your_program") -> str:
    """Return the command that uses the file."""
    return f"rocprofv3 -i {FILE} -- {program}"


def kernel_pattern(trace: Trace) -> str:
    """Return a regular expression that matches the kernel's name, mangled or not; "" if unknown."""
    full = trace.kernel_name.replace("(anonymous namespace)", "_")
    name = short_kernel(full) if full else ""
    words = re.findall(r"[A-Za-z_]\w*", name.split("::")[-1])
    return max(words, key=len) if words else ""


def _as_recorded(trace: Trace) -> dict[str, Setting]:
    """The settings of a capture: all four SIMDs of a unit on gfx9, later the SIMD that was traced."""
    index = trace.waves
    simd = hex(int(index.simd[0]) & 3) if len(index) else "0x0"
    units = index.cu[index.cu >= 0].astype(np.int64) & CU_BITS
    engines = trace.occupancy.se if len(trace.occupancy) else index.se
    settings: dict[str, Setting] = {
        "output_directory": "rcv_capture",
        "output_file": "out",
        "output_format": FORMS,
        "kernel_trace": True,  # durations and registers, in a table next to the capture
        "advanced_thread_trace": True,
        "att_target_cu": int(np.bincount(units).argmax()) if len(units) else 1,
        "att_shader_engine_mask": engine_mask(engines),
        "att_simd_select": "0xf" if trace.architecture.traces_all_simds else simd,
        "att_buffer_size": BUFFER,
    }
    if trace.counters and trace.architecture.has_trace_counters:
        settings["att_activity"] = 8
    pattern = kernel_pattern(trace)
    return {"kernel_include_regex": pattern, **settings} if pattern else settings


def _value(value: Setting) -> str:
    """A YAML value; texts are always quoted, because YAML reads many plain words as other types."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or value == FORMS:
        return str(value)
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _comment(text: str) -> str:
    """The text on one line: a name from a capture must not end the comment."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
