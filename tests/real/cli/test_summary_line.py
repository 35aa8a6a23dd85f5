"""`rcv summary` and `rcv line` of captures whose numbers were found elsewhere."""

import csv
import io

import pytest

from tests.real import captures
from tests.support.command_runs import printed, printed_json
from tests.support.marked_cycles import overlapping_cycles


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_a_summary_says_what_was_measured_elsewhere(name: str) -> None:
    document = printed_json("summary", captures.trace_path(name))
    assert document["states"] == captures.golden(f"beyond/{name}.json")["state_cycles"]


def test_counters_in_a_summary() -> None:
    folder = captures.synthetic_path("counters_gfx9")
    document = printed_json("summary", folder)
    assert document["counters"]["MFMA Peak"] == 36.25
    text = printed("summary", folder)
    assert "MFMA Peak  36.2 %" in text
    assert "BUSY_CU_CYCLES" in text


def test_samples_in_a_summary() -> None:
    folder = captures.trace_path("pcsampling")
    document = printed_json("summary", folder)
    assert document["stall_reasons"]["pipe stalled"] == 777
    assert "units" not in document
    assert "lost arbitration" in printed("summary", folder)
    assert "barrier,761,4690" in printed("summary", folder, "--csv")


def test_the_hits_of_a_line() -> None:
    folder = captures.trace_path("pa_mqa_small")
    document = printed_json("line", folder, 62)
    assert document["schema"] == "rcv.line/2"
    assert document["measures"]["latency"]["total"] == 4088
    assert [hit["latency"] for hit in document["slowest"]] == [1048, 1016, 1012, 1012]
    assert sum(document["bins"]["hits"]) == document["hits"] == 4
    text = printed("line", folder, 62, "--by", "stall", "--top", "2", "--log")
    assert "s_waitcnt lgkmcnt(0)" in text
    assert "The slowest 2 hits by stall" in text
    rows = list(csv.DictReader(io.StringIO(printed("line", folder, 62, "--csv"))))
    assert [int(row["latency"]) for row in rows] == [1048, 1016, 1012, 1012]
    assert rows[0]["since"] == ""
    assert "No wave ran it twice." in printed("line", folder, 62, "--by", "since")


def test_the_samples_of_a_line() -> None:
    folder = captures.trace_path("pcsampling")
    assert "no distribution" in printed("line", folder, 700)
    assert printed_json("line", folder, 700)["samples"]["stalled"] == 21
    assert "pipe stalled,17" in printed("line", folder, 700, "--csv")


def test_samples_are_called_samples_in_the_ranking() -> None:
    text = printed("hotspot", captures.trace_path("pcsampling"), "--top", "1")
    facts, head, first = (*text.split("\n\n")[0:1], *text.split("\n\n")[1].splitlines()[:2])
    assert "4,690, 3,384 of them stalled (72.2 %)" in facts
    assert head.split()[:5] == ["#", "samples", "issued", "stalled", "share"]
    assert first.split()[:4] == ["102", "153", "0", "153"]


def test_kinds_that_add_up_to_more_than_all_cycles_overlap() -> None:
    """Waves wait in s_endpgm for their last stores while others issue."""
    folder = captures.trace_path("moe_reduce")
    row = printed_json("summary", folder, "--waves", "all")["simds"][0]
    assert overlapping_cycles(folder, row) > 0.1 * row["simd_cycles"]
    assert sum(row[name] for name in ("VALU", "VMEM", "Scalar", "Other")) > row["simd_cycles"]
