"""Databases and tables with PC samples, as rocprofv3 writes them, small enough to count by hand."""

import json
import sqlite3
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.rocpd import UUID, add, document

OTHER = "_9999a2b3_4c5d_7e6f_8a9b_0c1d2e3f4a5b"
REASON = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"
NAMES = ("NONE", "NO_INSTRUCTION_AVAILABLE", "ALU_DEPENDENCY", "WAITCNT")
ALL_LANES = (1 << 64) - 1
FETCH, WAITCNT = 1, 3
FIELDS = (  # name, offset, bytes
    ("hw_id_chiplet", 0, 4),
    ("wave_issued", 4, 1),
    ("stall_reason", 5, 1),
    ("wave_count", 6, 2),
)
TEXTS = {64: ("v_add_f32 v0, v1, v2", "/k/a.cpp:7"), 72: ("s_waitcnt vmcnt(0)", "/k/a.cpp:9 -> /k/a.cpp:30")}


class Sample(NamedTuple):
    """A sample, of any values; the kernel `slow` has launches 1, 3 and 4, `quick` has launch 2."""

    offset: Any = 64
    issued: Any = 1
    reason: Any = 0
    lanes: Any = ALL_LANES
    waves: Any = 4
    dispatch: Any = 1
    code_object: Any = 5


SAMPLES = (
    *[Sample()] * 3,
    *[Sample(72, 0, WAITCNT, 0xFFFF, 8)] * 4,
    *[Sample(72, 0, FETCH, 0xFFFF, 8)] * 1,
    Sample(72, 1, 0, ALL_LANES, 8, dispatch=3),
)


def database(
    path: Path,
    samples: Sequence[Sample] = SAMPLES,
    *,
    is_packed: bool = True,
    texts: Mapping[int, tuple[str, str]] = TEXTS,
    order: str = "little",
    fields: Sequence[tuple[str, int, int]] = FIELDS,
    size: int = 8,
    suffix: str = UUID,
) -> Path:
    """Add a process with samples to a database: packed in blobs, or as plain columns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as connection:
        add(connection, suffix=suffix)

        def table(name: str, columns: str, rows: Sequence[Sequence[object]]) -> None:
            connection.execute(f'CREATE TABLE "rocpd_{name}{suffix}" ({columns})')
            marks = ", ".join("?" * (columns.count(",") + 1))
            connection.executemany(f'INSERT INTO "rocpd_{name}{suffix}" VALUES ({marks})', rows)

        guid = suffix.strip("_")
        plain = "id, guid, event_id, dispatch_id, code_object_id, code_object_offset"
        rows = [
            (at, "g", 1000 + at, one.dispatch, one.code_object, one.offset) for at, one in enumerate(samples)
        ]
        # SQLite's integers have a sign, EXEC has none.
        half = 1 << 63
        masks = [one.lanes for one in samples]
        lanes = [(mask + half) % (2 * half) - half if isinstance(mask, int) else mask for mask in masks]
        if is_packed:
            table(
                "gpu_pc_sample",
                f"{plain}, exec",
                [(*row, mask) for row, mask in zip(rows, lanes, strict=True)],
            )
            table(
                "info_blob_schema",
                "id, guid, source_table, byte_order, struct_size",
                [(1, "g", "rocpd_gpu_pc_sample", order, size)],
            )
            table(
                "info_blob_field",
                'id, guid, schema_id, name, "offset", size, data_type, is_signed',
                [(at, "g", 1, name, begin, length, f"uint{8 * length}_t", 0)
                 for at, (name, begin, length) in enumerate(fields)],
            )  # fmt: skip
            layout = "<IBBH" if order == "little" else ">IBBH"
            blobs = [struct.pack(layout, 9, one.issued, one.reason, one.waves) for one in samples]
            table(
                "blob_event",
                "id, guid, event_id, schema_id, blob",
                [(at, "g", 1000 + at, 1, blob) for at, blob in enumerate(blobs)],
            )
        else:
            said = [
                (*row, mask, one.issued, one.reason, one.waves)
                for row, mask, one in zip(rows, lanes, samples, strict=True)
            ]
            table("gpu_pc_sample", f"{plain}, exec_mask, wave_issued, stall_reason, wave_count", said)
        table(
            "disassembly_data",
            "id, guid, code_object_id, code_object_offset, instruction, comment",
            [(at, guid, 5, offset, *text) for at, (offset, text) in enumerate(texts.items())],
        )
    connection.close()
    return path


def samples_document(samples: Sequence[Sample] = SAMPLES, kind: str = "stochastic") -> dict[str, Any]:
    """The same as a document: reasons are names."""
    found = document()
    run = found["rocprofiler-sdk-tool"][0]
    run["strings"]["pc_sample_instructions"] = [text for text, _ in TEXTS.values()]
    run["strings"]["pc_sample_comments"] = [source for _, source in TEXTS.values()]
    run["buffer_records"] |= {"pc_sample_stochastic": [], "pc_sample_host_trap": []}
    run["buffer_records"][f"pc_sample_{kind}"] = [
        {
            "record": {
                "pc": {"code_object_id": one.code_object, "code_object_offset": one.offset},
                "exec_mask": one.lanes,
                "dispatch_id": one.dispatch,
                "wave_issued": one.issued,
                "wave_cnt": one.waves,
                "snapshot": {"stall_reason": REASON + NAMES[one.reason]},
            },
            "inst_index": list(TEXTS).index(one.offset) if one.offset in [*TEXTS] else -1,
        }
        for one in samples
    ]
    return found


def write_document(path: Path, samples: Sequence[Sample] = SAMPLES, kind: str = "stochastic") -> Path:
    """Write it."""
    path.write_text(json.dumps(samples_document(samples, kind)))
    return path


def table(path: Path, samples: Sequence[Sample] = SAMPLES, *, is_stochastic: bool = True) -> Path:
    """Write the table of a method, and the kernel trace of the same process."""
    head = ["Sample_Timestamp", "Exec_Mask", "Dispatch_Id", "Instruction", "Instruction_Comment"]
    more = ["Wave_Issued_Instruction", "Instruction_Type", "Stall_Reason", "Wave_Count"]
    lines: list[list[object]] = [[*head, *more * is_stochastic]]
    for at, one in enumerate(samples):
        text = TEXTS.get(one.offset, ("", "Unrecognized code object id"))
        said = (one.issued, "", REASON + NAMES[one.reason], one.waves)
        lines.append([at, one.lanes, one.dispatch, *text, *said * is_stochastic])
    path.write_text("\n".join(",".join(f'"{cell}"' for cell in line) for line in lines) + "\n")
    launches = ((1, "slow()"), (2, "quick"), (3, "slow()"))
    kernels = [f'"KERNEL_DISPATCH","{number}","{name}"' for number, name in launches]
    trace = path.with_name(f"{path.name.split('_pc_')[0]}_kernel_trace.csv")
    trace.write_text("\n".join(['"Kind","Dispatch_Id","Kernel_Name"', *kernels]) + "\n")
    return path
