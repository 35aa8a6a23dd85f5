"""`rcv check`: the card, the input file, exit codes."""

from pathlib import Path

from tests.support import folders
from tests.support.command_runs import printed, printed_csv, printed_json, refused
from tests.support.paths import ROOT
from tests.support.plain_capture import LABEL, plain
from tests.support.samples import sample_path, write_sample
from tests.support.yaml_subset import jobs

PLACEHOLDER = ROOT / "sample_traces" / "placeholder"


def test_the_card() -> None:
    """Most of the instructions of the sample have one source line, and no counter was streamed."""
    folder = sample_path("combined")
    places = [str(row[3]) for row in plain(folder).code if not str(row[0]).startswith(LABEL)]
    most = max(places.count(place) for place in places) / len(places)
    text = printed("check", folder)
    assert "verdict  1 warning, 1 note" in text
    assert f"warning: {100 * most:.1f} % of the instructions are on one source line, vector.hip:8" in text
    for word in ("evidence", "impact", "fix", "settings", "att_activity: ", "Looked at:"):
        assert word in text
    assert "settings  att_shader_engine_mask: 0x3, att_target_cu: 0" in printed("check", PLACEHOLDER)


def test_serious_notes_cost_an_exit_code_only_if_wanted() -> None:
    printed("check", PLACEHOLDER)
    printed("check", PLACEHOLDER, "--strict", code=4)
    printed("check", PLACEHOLDER, "--strict", "--json", code=4)
    printed("check", sample_path("pc_sampling"), "--strict")
    printed("check", sample_path("gfx12"), "--strict")


def test_json_and_csv_say_the_same() -> None:
    folder = sample_path("combined")
    document = printed_json("check", folder)
    assert document["is_serious"] is True
    assert document["command"].startswith("rocprofv3 -i input.yaml")
    rows = printed_csv("check", folder)
    said = [(note["name"], one["name"]) for note in document["notes"] for one in note["evidence"]]
    assert [(row["note"], row["evidence"]) for row in rows] == said
    (job,) = jobs(document["input_yaml"])
    assert job == document["settings"] | {"output_format": ["json", "csv"]}


def test_the_input_file_alone() -> None:
    (job,) = jobs(printed("check", PLACEHOLDER, "--yaml"))
    assert job["advanced_thread_trace"] is True


def apart(one: Path, twin: Path) -> float:
    """By which share of its latency an instruction differs, weighed as often as it ran in the first."""
    difference = total = 0.0
    for mine, other in zip(plain(one).code, plain(twin).code, strict=True):
        hits, latency, ran, took = (int(str(number)) for number in (*mine[6:8], *other[6:8]))
        if hits and ran:
            total += latency
            difference += hits * abs(took / ran - latency / hits)
    return difference / total


def test_a_replicate_tells_the_noise(tmp_path: Path) -> None:
    one, twin = sample_path("matmul_small"), tmp_path / "twin"
    write_sample("matmul_small", twin, seed=1)
    noise = apart(one, twin)
    assert noise > 0
    said = f"A replicate differs by {100 * noise:.1f} % of the latency per execution"
    assert said in printed("check", one, "--twin", twin)


def test_what_is_no_replicate_is_refused() -> None:
    words = [sample_path("matmul_small"), "--twin", sample_path("vector_add")]
    assert "is not a replicate of" in refused("check", *words)


def test_a_damaged_capture_is_checked_as_far_as_it_goes(tmp_path: Path) -> None:
    folder = folders.write(tmp_path / "x", {folders.WAVE: b"{", "occupancy.json": None})
    text = printed("check", folder)
    assert "Wave files are missing or damaged" in text
    assert "problem" in text
