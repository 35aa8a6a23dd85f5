"""Reports of real captures: the rules of tests/export/test_report.py, and facts from tables of their runs."""

from pathlib import Path

import pytest

from tests.export.test_report import (  # noqa: F401 - collected here, too
    LOOPING,
    SAMPLED,
    SHORT,
    Reports,
    asked,
    report_of,
    tables,
    test_anchors_name_lines_waves_and_cycles,
    test_health_is_that_of_check_with_its_input_file,
    test_markdown_tables_are_rectangular_and_links_have_places,
    test_numbers_are_those_of_hotspot,
    test_numbers_are_those_of_summary_and_waits,
    test_pages_are_small,
    test_pages_are_well_formed_and_every_link_has_its_place,
    test_peaks_and_registers_are_those_of_their_commands,
    test_places_are_what_go_to_place_accepts,
    test_segments_and_accesses_are_those_of_their_commands,
    test_shares_of_causes_add_up,
    test_the_map_tells_every_line_once_by_blocks,
    test_the_verdict_comes_first_and_findings_are_those_of_triage,
)
from tests.real.captures import trace_path


@pytest.fixture(scope="module")
def paths() -> dict[str, Path]:
    """Real captures by the simulated ones that they take the place of."""
    names = {LOOPING: "flash_attn_small_after", SHORT: "vec_add", SAMPLED: "pcsampling"}
    return {simulated: trace_path(name) for simulated, name in names.items()}


@pytest.fixture(scope="module")
def reports(paths: dict[str, Path]) -> Reports:
    return {name: report_of(path) for name, path in paths.items()}


def test_configuration_says_where_each_fact_is_from(reports: Reports, paths: dict[str, Path]) -> None:
    rows = {
        row[0].text: (row[1].text, row[2].text) for row in tables(reports[LOOPING], "configuration")[0].rows
    }
    table = "discover_kernel_trace.csv"
    # The launch of this kernel in that table, and the device in the other one.
    assert rows["Workgroup"] == ("256 × 1 × 1 threads", table)
    assert rows["Grid"] == ("131,072 × 1 × 1 threads, 512 workgroups", table)
    assert rows["Device has"][1] == "small_agent_info.csv"
    assert rows["Device"][0] == "gfx950"
    assert rows["Program"] == (
        "python tests/kernels/test_flash_attn_func.py --batch 1 --seq_len 1024 --num_heads 16 --head_dim 128 "
        "--dtype bf16 --causal --warmup 3 --iters 12",
        "small_results.json",
    )
    assert Path(rows["Folder"][0]) == paths[LOOPING].absolute()


def test_fetches_are_those_of_their_command(
    reports: Reports, paths: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = asked(capsys, "latency", paths[LOOPING], "--by", "fetch", "--top", 0, "--json")["rows"]
    (table,) = tables(reports[LOOPING], "fetches")
    assert [row[0].value for row in table.rows] == [row["first_instruction"] for row in rows]
