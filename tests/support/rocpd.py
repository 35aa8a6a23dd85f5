"""Databases as rocprofv3 writes them, small: two kernels, four launches, counters; of schema 3 or 4."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

UUID = "_0001a2b3_4c5d_7e6f_8a9b_0c1d2e3f4a5b"
MORE = {
    "cu_count": 256,
    "simd_per_cu": 4,
    "max_waves_per_simd": 8,
    "wave_front_size": 64,
    "num_shader_banks": 32,
    "num_xcc": 8,
    "lds_size_in_kb": 160,
}
ATT = "out_7_shader_engine_2_4.att"
CODE = "out_gfx950_code_object_id_5.out"
Rows = Sequence[Sequence[Any]]
# kernel, dispatch, begin, end
LAUNCHES = ((1, 1, 1000, 1400), (2, 2, 2000, 2100), (1, 3, 3000, 3200), (1, 4, 4000, 4300))
# launch → counter, instance (XCC from bit 0, shader engine of it from bit 12, instance from bit 36), time
STREAMED = {
    1: ((1, 2 | 3 << 12, 30), (1, 2 | 3 << 12, 10), (1, 2 | 3 << 12, 10), (1, 5 << 36, 12), (3, 77, 40)),
    3: ((1, 1, 90),),
}


def write(
    path: Path, *, schema: int = 3, suffix: str = UUID, is_squeezed: bool = False, without: Sequence[str] = ()
) -> Path:
    """Write a database; tables `without` are left out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as database:
        add(database, schema=schema, suffix=suffix, is_squeezed=is_squeezed, without=without)
    database.close()
    return path


def add(
    database: sqlite3.Connection,
    *,
    schema: int = 3,
    suffix: str = UUID,
    is_squeezed: bool = False,
    without: Sequence[str] = (),
) -> None:
    """Add the tables of a process."""
    extra = b"\x04\x22\x4d\x18squeezed" if is_squeezed else json.dumps(MORE)
    sizes = (64, 1, 1, 1024, 1, 1)
    tables: dict[str, tuple[str, Rows]] = {
        "metadata": ("id, tag, value", [(1, "schema_version", str(schema)), (2, "uuid", suffix)]),
        "string": ("id, guid, string", [(1, "g", "hipLaunchKernel"), (2, "g", ATT), (3, "g", CODE)]),
        "info_process": ("id, pid, command", [(1, 77, "./app --fast")]),
        "info_agent": (
            "id, guid, type, name, product_name, extdata",
            [(1, "g", "CPU", "EPYC", "AMD EPYC", "{}"), (2, "g", "GPU", "gfx950", "MI350X", extra)],
        ),
        "info_code_object": (
            "id, agent_id, uri, load_base, load_size",
            [(5, 2, "memory://1", 1 << 40, 4096)],
        ),
        "info_kernel_symbol": (
            "id, code_object_id, kernel_name, display_name, group_segment_size, private_segment_size,"
            " sgpr_count, arch_vgpr_count, accum_vgpr_count",
            [
                (1, 5, "_Z4slowv.kd", "slow()", 2048, 16, 96, 128, 64),
                (2, 5, "quick.kd", "quick", 0, 0, 32, 24, 0),
            ],
        ),
        "info_pmc": ("id, name, symbol", [(1, "SQ_WAVES", "SQ_WAVES"), (2, "TCC_HIT_sum", "TCC_HIT_sum")]),
        "event": ("id, guid", [(10 + number, "g") for number in range(4)]),
        "pmc_event": (
            "id, event_id, pmc_id, value",
            [(1, 10, 1, 16.0), (2, 10, 1, 4.0), (3, 12, 2, 1e6), (4, 99, 1, 1.0)],
        ),
    }
    head = "id, kernel_id, dispatch_id, event_id, group_segment_size, private_segment_size,"
    head += " workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z,"
    plain = [
        (at, kernel, number, 10 + at, 4096, 16, *sizes) for at, (kernel, number, *_) in enumerate(LAUNCHES)
    ]
    if schema < 4:
        rows = [(*row, 2, begin, end) for row, (*_, begin, end) in zip(plain, LAUNCHES, strict=True)]
        tables["kernel_dispatch"] = (f'{head} agent_id, "start", "end"', rows)
    else:
        moments = [time for *_, begin, end in LAUNCHES for time in (begin, end)]
        tables["timestamp"] = ("id, value", [(100 + at, time) for at, time in enumerate(moments)])
        tables["track"] = ("id, agent_id", [(3, 2)])
        rows = [(*row, 3, 100 + 2 * at, 101 + 2 * at) for at, row in enumerate(plain)]
        tables["kernel_dispatch"] = (f"{head} track_id, start_id, end_id", rows)
    for name, (columns, rows_of) in tables.items():
        if name in without:
            continue
        table = f"rocpd_{name}{suffix}"
        database.execute(f'CREATE TABLE "{table}" ({columns})')
        marks = ", ".join("?" * (columns.count(",") + 1))
        database.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows_of)
        if suffix and suffix == UUID:
            database.execute(f'CREATE VIEW IF NOT EXISTS "rocpd_{name}" AS SELECT * FROM "{table}"')


def document() -> dict[str, Any]:
    """The same run as rocprofv3 writes it as JSON, with PC samples and streamed counters."""
    sizes = {"workgroup_size": {"x": 64, "y": 1, "z": 1}, "grid_size": {"x": 1024, "y": 1, "z": 1}}

    def info(kernel: int, number: int) -> dict[str, Any]:
        about = {"dispatch_id": number, "kernel_id": kernel, "agent_id": {"handle": 2}}
        return about | sizes | {"group_segment_size": 4096, "private_segment_size": 16}

    def symbol(id: int, name: str, nice: str, lds: int, vgprs: int) -> dict[str, Any]:
        about = {"kernel_id": id, "code_object_id": 5, "kernel_name": name, "demangled_kernel_name": nice}
        return about | {"group_segment_size": lds, "arch_vgpr_count": vgprs}

    def sample(offset: int, is_issued: int, text: int) -> dict[str, Any]:
        pc = {"code_object_id": 5, "code_object_offset": offset}
        return {"record": {"pc": pc, "wave_issued": is_issued}, "inst_index": text}

    run = {
        "metadata": {"command": ["./app", "--fast"]},
        "agents": [
            {"id": {"handle": 1}, "type": 1, "name": "EPYC", "product_name": "AMD EPYC"},
            {"id": {"handle": 2}, "type": 2, "name": "gfx950", "product_name": "MI350X", **MORE},
        ],
        "counters": [
            {"id": {"handle": 1}, "name": "SQ_WAVES"},
            {"id": {"handle": 2}, "name": "TCC_HIT_sum"},
            {
                "id": {"handle": 3},
                "name": "TCC_REQ",
                "dimensions": [
                    {"name": "DIMENSION_XCC", "instance_size": 8},
                    {"name": "DIMENSION_INSTANCE", "instance_size": 16},
                ],
                "instances": [
                    {
                        "instance_id": 77,
                        "dimensions": [
                            {"dimension_name": "DIMENSION_XCC", "index": 6},
                            {"dimension_name": "DIMENSION_INSTANCE", "index": 9},
                        ],
                    }
                ],
            },
        ],
        "strings": {
            "att_filenames": [ATT],
            "code_object_snapshot_filenames": ["", CODE],
            "pc_sample_instructions": ["v_add_f32 v0, v1, v2", "s_endpgm"],
        },
        "code_objects": [
            {"code_object_id": 0},
            {
                "code_object_id": 5,
                "agent_id": {"handle": 2},
                "uri": "memory://1",
                "load_base": 1 << 40,
                "load_size": 4096,
            },
        ],
        "kernel_symbols": [
            {"kernel_id": 0},
            symbol(1, "_Z4slowv.kd", "slow() [clone .kd]", 2048, 128),
            symbol(2, "quick.kd", "quick", 0, 24),
        ],
        "buffer_records": {
            "kernel_dispatch": [
                {"start_timestamp": begin, "end_timestamp": end, "dispatch_info": info(kernel, number)}
                for kernel, number, begin, end in LAUNCHES
            ],
            "pc_sample_host_trap": [],
            "pc_sample_stochastic": [sample(64, 1, 0), sample(64, 0, 0), sample(72, 0, 1)],
        },
        "callback_records": {
            "counter_collection": [
                {
                    "dispatch_data": {"dispatch_info": info(1, number)},
                    "records": [
                        {"counter_id": {"handle": counter}, "value": value} for counter, value in values
                    ],
                }
                for number, values in ((1, ((1, 16.0), (1, 4.0))), (3, ((2, 1e6),)))
            ],
            "spm_counter_collection": [
                {
                    "dispatch_data": {"dispatch_info": info(1, number)},
                    "records": [
                        {
                            "counter_id": {"handle": counter},
                            "instance_id": instance,
                            "timestamp": time,
                            "value": 2.0,
                        }
                        for counter, instance, time in samples
                    ],
                }
                for number, samples in STREAMED.items()
            ],
        },
    }
    return {"rocprofiler-sdk-tool": [run]}
