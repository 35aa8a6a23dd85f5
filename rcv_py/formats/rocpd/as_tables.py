"""A profile as the CSV tables of rocprofv3: headings in lower case, and rows of cells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rcv_py.formats.rocpd.read import read_profile
from rcv_py.model.profile import KernelSymbol, Launches, Profile

Table = tuple[tuple[str, ...], Iterator[tuple[object, ...]]]

_LAUNCH = (
    "kernel_name", "vgpr_count", "accum_vgpr_count", "sgpr_count",
    "dispatch_id", "start_timestamp", "end_timestamp", "lds_block_size", "scratch_size",
)  # fmt: skip
_SIZES = tuple(f"{what}_size_{axis}" for what in ("workgroup", "grid") for axis in "xyz")
_AGENT = {
    "name": "name",
    "max_waves_per_simd": "waves_per_simd",
    "simd_per_cu": "simds_per_cu",
    "wave_front_size": "wave_size",
    "cu_count": "cus",
    "num_shader_banks": "engines",
    "product_name": "product",
}


def launch_table(path: Path) -> Table:
    """Return the launches of a profile; if it has none, the loaded kernels."""
    profile = read_profile(path)
    rows: Iterator[tuple[object, ...]] = (
        (*_registers(kernel), -1, -1, -1, kernel.lds, kernel.scratch) for kernel in profile.kernels
    )
    return (*_LAUNCH, *_SIZES), _launched(profile, profile.launches) if len(profile.launches) else rows


def agent_table(path: Path) -> Table:
    """Return the devices of a profile."""
    agents = read_profile(path).agents
    rows = (
        (
            "GPU" if agent.is_gpu else "CPU",
            agent.lds // 1024,
            *(getattr(agent, name) for name in _AGENT.values()),
        )
        for agent in agents
    )
    return ("agent_type", "lds_size_in_kb", *_AGENT), rows


def _launched(profile: Profile, launches: Launches) -> Iterator[tuple[object, ...]]:
    columns = (launches.dispatch, launches.begin, launches.end, launches.lds, launches.scratch)
    for at, row in enumerate(launches.kernel.tolist()):
        if row >= 0:
            own = (int(column[at]) for column in columns)
            sizes = (*launches.workgroup[at].tolist(), *launches.grid[at].tolist())
            yield (*_registers(profile.kernels[row]), *own, *sizes)


def _registers(kernel: KernelSymbol) -> tuple[object, ...]:
    return kernel.name, kernel.vgprs, kernel.accum_vgprs, kernel.sgprs
