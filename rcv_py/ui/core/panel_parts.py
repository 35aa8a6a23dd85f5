"""What the modules of panels import, in parts that take few milliseconds each."""

from __future__ import annotations

# Of modules of panels: what they need, a part for a turn of the event loop.
PARTS: dict[str, tuple[str, ...]] = {
    "rcv_py.features.compare.panel": (
        "rcv_py.analysis.compare.costs",
        "rcv_py.analysis.program.matrix_forms",
        "rcv_py.analysis.compare.compare",
        "rcv_py.features.flame.result",
        "rcv_py.features.compare.result",
        "rcv_py.analysis.compare.flame",
        "rcv_py.ui.table.table_panel",
        "rcv_py.ui.flame.flame_view",
    ),
    "rcv_py.features.counters.panel": (
        "rcv_py.ui.plot.curve_panel",
        "rcv_py.analysis.counters.counter_help",
        "rcv_py.features.counters.formula_dialog",
        "rcv_py.analysis.counters.derived_counters",
    ),
    "rcv_py.features.flame.panel": (
        "rcv_py.analysis.latency.hidden_latency",
        "rcv_py.features.flame.jobs",
        "rcv_py.features.flame.head",
    ),
    "rcv_py.features.health.health_panel": (
        "rcv_py.analysis.health.buffer",
        "rcv_py.analysis.health.grid_fill",
        "rcv_py.analysis.health.capture_health",
    ),
    "rcv_py.features.health.problems_panel": (
        "rcv_py.analysis.health.buffer",
        "rcv_py.analysis.health.grid_fill",
        "rcv_py.analysis.health.capture_health",
    ),
    "rcv_py.features.hotspot.files_rows": (
        "rcv_py.analysis.device.occupancy_limits",
        "rcv_py.features.hotspot.result",
    ),
    "rcv_py.features.hotspot.panel": (
        "rcv_py.analysis.device.occupancy_limits",
        "rcv_py.features.occupancy.result",
        "rcv_py.features.hotspot.result",
    ),
    "rcv_py.features.latency.panel": (
        "rcv_py.analysis.attribution.lines",
        "rcv_py.features.latency.result",
        "rcv_py.analysis.latency.access_holds",
        "rcv_py.analysis.latency.memory_latency",
    ),
    "rcv_py.features.loops.panel": (
        "rcv_py.features.loops.result",
        "rcv_py.analysis.iterations.segments",
    ),
    "rcv_py.features.notes.matches_panel": ("rcv_py.ui.table.searched_panel",),
    "rcv_py.features.notes.notes_panel": ("rcv_py.ui.table.searched_panel",),
    "rcv_py.features.occupancy.dispatches_panel": ("rcv_py.ui.plot.curve_panel",),
    "rcv_py.features.occupancy.panel": ("rcv_py.ui.plot.curve_panel",),
    "rcv_py.features.range.panel": (
        "rcv_py.analysis.attribution.issue",
        "rcv_py.analysis.attribution.attribute",
        "rcv_py.analysis.attribution.survey",
        "rcv_py.analysis.overview.range_costs",
    ),
    "rcv_py.features.roofline.panel": (
        "rcv_py.analysis.attribution.stream",
        "rcv_py.analysis.attribution.issue",
        "rcv_py.analysis.attribution.attribute",
        "rcv_py.analysis.waits.load_to_use",
        "rcv_py.analysis.findings.bounds",
        "rcv_py.analysis.program.language",
        "rcv_py.analysis.latency.cross_lane",
        "rcv_py.analysis.findings.inputs",
        "rcv_py.analysis.overview.roofline",
        "rcv_py.analysis.latency.access_widths",
    ),
    "rcv_py.features.summary.panel": (
        "rcv_py.analysis.counters.counter_shares",
        "rcv_py.analysis.device.simd_work",
        "rcv_py.analysis.device.pipe_use",
        "rcv_py.features.registers.result",
        "rcv_py.formats.pmc_files",
        "rcv_py.analysis.counters.pmc.decision",
        "rcv_py.work.occupancy",
        "rcv_py.features.summary.parts",
        "rcv_py.analysis.overview.device_summary",
    ),
    "rcv_py.features.whatif.panel": ("rcv_py.analysis.whatif.asked",),
    "rcv_py.features.why.panel": (
        "rcv_py.analysis.latency.bubbles",
        "rcv_py.analysis.attribution.stream",
        "rcv_py.analysis.attribution.attribute",
        "rcv_py.features.why.waits_result",
        "rcv_py.features.why.bubbles_panel",
        "rcv_py.features.why.waits_panel",
    ),
}
