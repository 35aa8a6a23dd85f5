"""A real capture in which no wave works."""

from tests.real.captures import trace_path
from tests.support.command_runs import printed, printed_json


def test_a_capture_without_working_waves_ranks_nothing() -> None:
    folder = trace_path("mla_decode")
    document = printed_json("triage", folder)
    assert document["findings"] == []
    said = "All 32 traced waves left early, so there is nothing to rank. 17 of 4,948 instructions ran"
    assert said in document["note"]
    for key in ("kernel_iteration_range", "att_target_cu", "att_shader_engine_mask"):
        assert key in document["note"]
    assert printed_json("triage", folder, "--waves", "all")["findings"]
    assert "none of which works: 17 of 4,948 instructions ran" in printed("causes", folder)
