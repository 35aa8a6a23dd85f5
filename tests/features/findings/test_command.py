"""`rcv triage` prints what the page shows."""

import shutil
from pathlib import Path

import pytest

from rcv_py.features.findings.result import finding_table
from rcv_py.formats.open import open_trace
from rcv_py.work.whatif import with_predictions
from tests.support.command_runs import printed, printed_csv, printed_json
from tests.support.findings import findings_near
from tests.support.opened import all_waves
from tests.support.samples import sample_path, write_sample


def test_json_is_what_the_engine_says() -> None:
    folder = sample_path("matmul_small")
    document = printed_json("triage", folder, "--top", 0)
    trace = open_trace(folder)
    found = findings_near(trace, [all_waves(trace)])
    found = with_predictions(trace, found)
    assert document["findings"] == finding_table(found.findings).rows()
    assert document["waves"] == {"read": 24, "traced": 24, "counted": 24, "missing": 0}
    assert document["totals"]["no_issue"] <= document["totals"]["simd_cycles"]


def test_csv_has_a_row_a_finding() -> None:
    folder = sample_path("matmul_small")
    rows = printed_csv("triage", folder, "--top", 4)
    document = printed_json("triage", folder, "--top", 4)
    assert [row["name"] for row in rows] == [one["name"] for one in document["findings"]]
    assert [int(row["cycles"]) for row in rows] == [one["cycles"] for one in document["findings"]]


def test_text_fits_the_screen_and_names_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = printed("triage", sample_path("matmul_small"), "--top", 4)
    assert all(len(line) <= 80 for line in text.splitlines() if not line.startswith((" 1", " 2", " 3", " 4")))
    assert "Duration" in text
    assert " 1  " in text
    assert "· instruction " in text
    assert "--top 0 shows all" in text
    assert "Gains are bounds" in text
    assert text.splitlines()[1].startswith("Latency-bound: "), "the class is the first sentence"
    assert "of the kernel's duration" in text
    assert "simd" not in " ".join(
        line for line in text.splitlines() if "·" not in line and "/simd" not in line
    )


def test_markdown_has_a_section_a_finding() -> None:
    text = printed("triage", sample_path("reduction"), "--markdown", "--top", 3)
    assert text.count("\n## ") == 3
    assert "**Fix**: " in text


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    write_sample("matmul_small", tmp_path / "ui_output_agent_1_dispatch_1", 0)
    write_sample("placeholder", tmp_path / "ui_output_agent_1_dispatch_2", 0)
    write_sample("pc_sampling", tmp_path / "ui_output_agent_1_dispatch_3", 0)
    shutil.copytree(tmp_path / "ui_output_agent_1_dispatch_1", tmp_path / "ui_output_agent_1_dispatch_4")
    (tmp_path / "ui_output_agent_1_dispatch_4" / "code.json").write_text("{")
    return tmp_path


def test_a_folder_of_captures_gets_a_line_each(parent: Path) -> None:
    document = printed_json("triage", parent)
    assert document["schema"] == "rcv.triage.folder/2"
    by_name = {Path(row["path"]).name[-1]: row for row in document["captures"]}
    assert by_name["1"]["cycles"] > 0
    assert by_name["2"]["name"] is None
    assert by_name["2"]["note"]
    assert by_name["3"]["name"].startswith("samples-")
    assert by_name["4"]["note"] or by_name["4"]["name"], "a broken one is told, and stops nothing"
    text = printed("triage", parent, "--jobs", "0")
    assert len(text.splitlines()) == 1 + len(document["captures"]) + 2
    assert printed("triage", parent, "--jobs", "0", "--csv").count("\n") == 1 + len(document["captures"])
    assert printed("triage", parent, "--jobs", "0", "--markdown").count("\n") == 2 + len(document["captures"])


def test_a_placeholder_says_why(tmp_path: Path) -> None:
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    write_sample("placeholder", folder, 0)
    assert "Nothing ran on the traced compute unit" in printed("triage", folder)


def test_a_remedy_names_no_instruction_that_does_not_exist() -> None:
    """At the barriers of this sample the last wave waited for nothing that has a place in the program."""
    text = printed("triage", sample_path("gfx12"), "--top", "0")
    assert "it waited for an instruction that is not known" in " ".join(text.split())
    assert "instruction -1" not in text
