"""`rcv flame` on real captures, and on one with reference results."""

from tests.real.captures import golden, synthetic_path, trace_path
from tests.support.command_runs import printed, printed_json, refused

FLASH = "flash_attn_small_after"


def test_the_tree_names_the_heaviest_frames_first() -> None:
    lines = printed("flame", str(trace_path(FLASH)), "--least", "4").splitlines()
    assert lines[1].split() == ["354,552", "96.3", "%", "flash_attn_func.py"]
    assert lines[2].split() == ["182,996", "49.7", "%", "flash_attn_func.py:258"]
    assert lines[-1] == "368,140 cycles of latency and idle time of all waves."
    assert "s_endpgm" not in "".join(lines)


def test_folded_stacks_sum_up_to_everything() -> None:
    lines = printed("flame", str(trace_path(FLASH)), "--folded").splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == 368_140
    assert all(line.count(";") == 2 for line in lines)


def test_json_has_the_stall_of_the_reference() -> None:
    document = printed_json("flame", str(synthetic_path("markers_gfx12")), "--metric", "stall")
    assert (document["total"], document["unit"]) == (1507, "cycles")
    assert sum(frame["self"] for frame in document["frames"]) == 1507
    assert {frame["instruction"] for frame in document["frames"] if frame["what"] == "code"} >= {2, 7}


def test_what_is_not_hidden_comes_with_its_assumption() -> None:
    text = printed("flame", str(trace_path(FLASH)), "--metric", "nonhidden", "--least", "90")
    assert "cycles of all waves that no other wave hid." in text
    assert "Estimate:" in text


def test_scopes_alone_and_with_their_instructions() -> None:
    folder = str(synthetic_path("markers_gfx12"))
    scopes = printed("flame", folder, "--content", "markers")
    assert "mma_scope" in scopes
    assert "v_wmma" not in scopes
    both = printed("flame", folder, "--content", "both", "--folded").splitlines()
    assert any(line.startswith("synth_kernel;foo::bar;mma_scope;a.py;a.py:6;v_wmma") for line in both)
    whole = golden("synthetic/markers_gfx12.rcv.json")["flame_total"]["totalLatency"]
    assert sum(int(line.rpartition(" ")[2]) for line in both) == whole


def test_code_without_sources_is_told_by_kernel() -> None:
    text = printed("flame", str(trace_path("pa_mqa_small")), "--least", "50")
    assert "pa_mqa_logits_fp4_kernel_0" in text
    assert "kernels and basic blocks" in text


def test_samples() -> None:
    folder = str(trace_path("pcsampling"))
    assert "4,690 PC samples." in printed("flame", folder, "--least", "50")
    assert "neither executions" in refused("flame", folder, "--metric", "hits")
