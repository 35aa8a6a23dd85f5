"""One function a variant of the format: simulate, add what the variant is about, write the folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from rcv_py.base.registry import Registry
from rcv_py.synth import monitors, plans, samplers
from rcv_py.synth.build import Plan, Simulated, build
from rcv_py.synth.capture import Capture
from rcv_py.synth.kernels_rdna import MARKERS
from rcv_py.synth.sample import Sample
from rcv_py.synth.truth import Truth
from rcv_py.synth.write import (
    CODE_HEADER,
    NATIVE,
    PACKED,
    SCRIPTED,
    Layout,
    code_rows,
    code_table,
    dump,
    index_table,
    occupancy_table,
    realtime_table,
    write_folder,
    write_sources,
)

SAMPLES: Registry[Sample] = Registry("sample")
MakePlan = Callable[[int], Plan]
SHIPPED = ("matmul_tiled", "pc_sampling", "placeholder")  # kept in sample_traces/, made with seed 0


def _plain(name: str, text: str, plan: MakePlan) -> None:
    """Register a sample that is a plan written in the usual layout."""

    def write(folder: Path, seed: int, with_truth: bool) -> Truth:
        return _write(build(plan(seed)).capture, folder, NATIVE, with_truth)

    SAMPLES.add(name, Sample(name, text, write))


def _variant(
    name: str, text: str, plan: MakePlan, extend: Callable[[Simulated], Capture], layout: Layout = NATIVE
) -> None:
    """Register a sample that adds something to a simulated capture."""

    def write(folder: Path, seed: int, with_truth: bool) -> Truth:
        return _write(extend(build(plan(seed))), folder, layout, with_truth)

    SAMPLES.add(name, Sample(name, text, write))


def _write(capture: Capture, folder: Path, layout: Layout, with_truth: bool) -> Truth:
    write_folder(capture, folder, layout, with_truth)
    return capture.truth


def _with_counters(simulated: Simulated) -> Capture:
    capture = simulated.capture
    tables = {se: samplers.counters(capture, se) for se in simulated.live}
    return replace(capture, counter_names=samplers.COUNTERS, counters=tables)


def _with_units(simulated: Simulated) -> Capture:
    capture = simulated.capture
    tables = {se: monitors.unit_counters(capture, se) for se in simulated.live}
    return replace(capture, counter_names=samplers.COUNTERS, counters=tables)


def _with_shader_monitors(simulated: Simulated) -> Capture:
    return replace(simulated.capture, spm=monitors.shader_monitors(simulated.capture))


def _with_monitors(simulated: Simulated) -> Capture:
    return replace(simulated.capture, spm=samplers.monitors(simulated.capture))


def _with_markers(simulated: Simulated) -> Capture:
    capture = simulated.capture
    codeobj = capture.kernels[0].codeobj
    names = [[codeobj, *marker] for marker in MARKERS]
    data = {se: samplers.shader_data(waves, capture.waves[0].cu) for se, waves in simulated.live.items()}
    return replace(capture, shaderdata=data, code_extras={"sqtt_funcmap": names})


def _with_events(simulated: Simulated) -> Capture:
    capture = simulated.capture
    kernels = [
        {
            "address": kernel.address,
            "codeobj": kernel.codeobj,
            "name": kernel.symbol,
            "demangled": kernel.demangled,
        }
        for kernel in capture.kernels
    ]
    extras = {"kernels": kernels, "hsaco": ["out_gfx942_code_object_id_2.out"]}
    return replace(capture, events=samplers.events(capture), code_extras=extras)


def _with_sibling(simulated: Simulated) -> Capture:
    tables = {se: samplers.other_simd_of(simulated, se, traced=0) for se in simulated.live}
    return replace(simulated.capture, other_simd=tables)


def _placeholder(folder: Path, seed: int, with_truth: bool) -> Truth:
    """Occupancy of other compute units, but nothing ran on the traced one."""
    full = build(plans.small_plan(seed)).capture
    lives = full.truth.residencies
    elsewhere = lives[lives[:, 1] != full.waves[0].cu]
    none = np.zeros((0, 4), dtype=np.int64)
    truth = replace(full.truth, waves={}, lines=none, residencies=elsewhere)
    capture = replace(full, waves=(), truth=truth)
    folder.mkdir(parents=True, exist_ok=True)
    dump(folder / "filenames.json", index_table(capture))
    dump(folder / "code.json", {"code": None, "header": CODE_HEADER, "version": NATIVE.version})
    dump(folder / "occupancy.json", occupancy_table(capture))
    dump(folder / "realtime.json", realtime_table(capture))
    if with_truth:
        dump(folder / "truth.json", truth.as_json())
    return truth


def _pc_sampling(folder: Path, seed: int, with_truth: bool, is_list: bool = True) -> Truth:
    """Samples instead of tokens; the header is a list of 13 names, or one string of 14."""
    capture = build(plans.matmul_plan(seed)).capture
    issued, reasons = samplers.pc_samples(capture)
    rows = []
    for row, hits, why in zip(code_rows(capture), issued.tolist(), reasons.tolist(), strict=True):
        service = [] if is_list else [2]
        rows.append([*row, 0, 0, 0, 0, *service, hits, sum(why), why])
    names = ["PC_Issued", "PC_Stalled", "Stall_Reasons"]
    more = "ServiceType, Issued, Stalled, NotIssuedReasons"
    header = CODE_HEADER.split(", ") + names if is_list else f"{CODE_HEADER}, {more}"
    folder.mkdir(parents=True, exist_ok=True)
    index = index_table(replace(capture, waves=()))
    flags = {"thread_trace": False, "pc_sampling": True, "is_pcs_stochastic": True}
    dump(folder / "filenames.json", index | flags)
    dump(folder / "code.json", {"code": rows, "header": header, "version": NATIVE.version})
    write_sources(capture, folder)
    if with_truth:
        dump(folder / "truth.json", capture.truth.as_json())
    return capture.truth


def _pc_sampling_string(folder: Path, seed: int, with_truth: bool) -> Truth:
    return _pc_sampling(folder, seed, with_truth, is_list=False)


def _packed(folder: Path, seed: int, with_truth: bool) -> Truth:
    """The layout before version 3: packed occupancy, no version anywhere, no header."""
    capture = build(plans.vector_plan(seed)).capture
    write_folder(capture, folder, PACKED, with_truth)
    dump(folder / "code.json", {"code": code_table(capture, PACKED)["code"]})
    return capture.truth


_plain(
    "matmul_tiled",
    "Tiled matrix product on gfx9: loops, LDS, matrix unit, four shader engines.",
    plans.matmul_plan,
)
_plain("matmul_small", "The same product, short, on two shader engines.", plans.small_plan)
_plain("vector_add", "Hundreds of short waves, eight a SIMD.", plans.vector_plan)
_plain("reduction", "A sum with ds_bpermute, a barrier and uneven loops.", plans.reduction_plan)
_plain("kernels", "Four kernels one after the other in one capture.", plans.kernels_plan)
_plain("gfx11", "Matrix product on gfx11: cycle resolution, overlapping tokens, vscnt.", plans.gfx11_plan)
_plain("gfx12", "Matrix product on gfx12: a counter a kind of memory.", plans.gfx12_plan)
_plain("rivals", "Causes of stalls that compete: queue, matrix unit, results.", plans.rivals_plan)
_plain("untold", "The same with stalls that no file explains.", plans.untold_plan)
_plain("straggler", "Barriers whose last wave was often not traced.", plans.straggler_plan)
_plain("combined", "Waits on two counters, and scalar loads in any order.", plans.combined_plan)
_plain("ceiling", "Matrix products that keep the matrix unit busy.", plans.ceiling_plan)
_plain("crowded", "Memory, LDS and scalar queues that are full.", plans.crowded_plan)
_plain("groups_256", "Workgroups of four waves, two at a time.", plans.groups_256_plan)
_plain("groups_512", "Workgroups of eight waves, two a SIMD.", plans.groups_512_plan)
_plain("groups_1024", "Workgroups of sixteen waves, four a SIMD.", plans.groups_1024_plan)
_plain("ping_pong", "Halves of a workgroup that meet at different barriers.", plans.ping_pong_plan)
_plain("several_groups", "Small workgroups in whatever slots are free.", plans.several_groups_plan)
_plain("mixed_populations", "Waves that leave their workgroup early.", plans.mixed_populations_plan)
_plain(
    "split_barriers_gfx12",
    "Barriers in two instructions, a quarter of the waves traced.",
    plans.split_barriers_plan,
)
_variant("counters", "Streamed counters of both banks.", plans.small_plan, _with_counters)
_variant("spm", "Streamed performance monitors.", plans.small_plan, _with_monitors)
_variant(
    "counters_units", "Streamed counters of three compute units an engine.", plans.small_plan, _with_units
)
_variant("spm_gfx12", "Streamed performance monitors of gfx12.", plans.gfx12_plan, _with_shader_monitors)
_variant("markers", "Markers written with s_ttracedata, and their names.", plans.gfx12_plan, _with_markers)
_variant("other_simd", "Memory instructions of the sibling SIMD.", plans.gfx11_plan, _with_sibling)
_variant(
    "events",
    "Version 3.1: events, dispatches, workgroups, no wait lists.",
    plans.kernels_plan,
    _with_events,
    SCRIPTED,
)
_variant("scripted_gfx12", "Version 3.1 of gfx12.", plans.gfx12_plan, _with_markers, SCRIPTED)
SAMPLES.add("packed", Sample("packed", "The layout before version 3.", _packed))
SAMPLES.add("placeholder", Sample("placeholder", "Nothing ran on the traced compute unit.", _placeholder))
SAMPLES.add("pc_sampling", Sample("pc_sampling", "PC samples with stall reasons, 13 columns.", _pc_sampling))
SAMPLES.add(
    "pc_sampling_string", Sample("pc_sampling_string", "PC samples, 14 columns.", _pc_sampling_string)
)
