"""`rcv latency`: the same numbers as the analyses, and sentences where there are none."""

import csv
import io
import json

import pytest

from rcv_py.cli.main import main
from tests.support.plain_capture import plain
from tests.support.samples import sample, sample_path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[str, str]:
    """What a command that works prints, and what it complains about."""
    assert main(["latency", *(str(word) for word in words)]) == 0
    output = capsys.readouterr()
    return output.out, output.err


@pytest.mark.parametrize("rule", ["usual", "reference"])
def test_totals_hold_every_cycle(rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sample_path("matmul_small")
    found = plain(folder)
    asked = ("--rule", rule) if rule == "reference" else ()
    text, errors = run(capsys, folder, *asked, "--json", "--top", 0)
    document = json.loads(text)
    totals = document["totals"]
    assert not errors
    assert document["schema"] == "rcv.latency/2"
    tokens = [token for wave in found.waves for token in wave.tokens]
    assert totals["total"] == sum(token.duration + token.gap for token in tokens)
    assert totals["hidden"] + totals["not_hidden"] == totals["total"]
    assert sum(row["hidden"] for row in document["rows"]) == totals["hidden"] > 0
    assert document["total_rows"] == len(document["rows"])
    assert ("reference" in document["assumption"]) == (rule == "reference")
    products = sum(found.text(token.line).startswith("v_mfma_f32_32x32x8_f16") for token in tokens)
    assert totals["mfma_busy"] == products * 32 * 32 * 8 // 256 > 0, "a unit does 256 products a cycle"
    present = {
        (place, time)
        for place, waves in found.simds().items()
        for wave in waves
        for time in range(wave.begin, wave.end, 4)
    }
    assert totals["simd_cycles"] == 4 * len(present)


def test_text_says_what_is_hidden_and_what_is_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    folder = sample_path("matmul_small")
    whole = sum(token.duration + token.gap for wave in plain(folder).waves for token in wave.tokens)
    text, _ = run(capsys, folder, "--top", 3)
    lines = text.splitlines()
    assert len(lines) == 4 + 3
    assert "s_waitcnt vmcnt(3)" in lines[1]
    assert lines[5].startswith("3 of ")
    assert f"of {whole:,} cycles" in lines[5]
    assert lines[6].startswith("Estimate: ")


def true_latencies() -> dict[int, list[int]]:
    """Cycles from issue to return of each memory instruction, by the simulator."""
    folder, truth = sample("counters")
    found: dict[int, list[int]] = {}
    for wave in plain(folder).waves:
        returned = truth.waves[wave.se, wave.simd, wave.slot, wave.number].returned
        for token, time in zip(wave.tokens, returned.tolist(), strict=True):
            if time >= 0:
                took = time + truth.offset_of_se[wave.se] - token.issue
                found.setdefault(token.line, []).append(took)
    return found


def test_memory_latency_as_a_spreadsheet(capsys: pytest.CaptureFixture[str]) -> None:
    folder, every = sample_path("counters"), 40  # cycles from sample to sample
    true = true_latencies()
    text, errors = run(capsys, folder, "--by", "memory", "--rule", "reference", "--csv", "--top", 0)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert not errors
    assert {int(row["instruction"]) for row in rows} == set(true)
    kinds = {"global": "VMEM", "ds": "LDS", "s": "SMEM"}
    for row in rows:
        latencies = true[int(row["instruction"])]
        assert row["counter"] == kinds[row["text"].split("_")[0]]
        assert int(row["samples"]) + int(row["in_flight"]) == len(latencies)
        if row["in_flight"] == "0":
            assert float(row["mean"]) == pytest.approx(sum(latencies) / len(latencies), abs=every / 2)
    assert sum(row["in_flight"] == "0" for row in rows) > 10
    means = [float(row["mean"]) for row in rows if row["counter"] == "VMEM"]
    assert means == sorted(means, reverse=True)
    table, _ = run(capsys, folder, "--by", "memory")
    assert f"a sample every {every} cycles" in table


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("pc_sampling", "hidden", "PC samples"),
        ("pc_sampling", "memory", "PC samples"),
        ("matmul_small", "memory", "SQ_INST_LEVEL_VMEM"),
    ],
)
def test_where_there_is_nothing_a_sentence_says_why(
    name: str, kind: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sample_path(name)
    assert sentence in run(capsys, folder, "--by", kind)[0]
    assert sentence in json.loads(run(capsys, folder, "--by", kind, "--json")[0])["reason"]
    table, errors = run(capsys, folder, "--by", kind, "--csv")
    assert sentence in errors
    assert table.startswith("instruction,")


def test_recorded_addresses_as_a_document_and_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Three waves with 64 lanes and one with 48, two iterations, on two engines."""
    folder = sample_path("addresses")
    text, errors = run(capsys, folder, "--by", "address", "--json")
    document = json.loads(text)
    assert not errors
    assert document["kind"] == "address"
    assert document["totals"] == {
        "blocks": 4 * 16, "incomplete": 0, "unusable": 0, "apart": 1, "conflicting": 1, "cache_line": 128,
        "banks": 32,
    }  # fmt: skip
    rows = {row["kind"]: row for row in document["rows"]}
    lanes = (3 * 64 + 48) / 4
    for row in rows.values():
        assert (row["blocks"], row["lanes"], row["width"], row["strided_share_of_executions"]) == (
            16,
            lanes,
            4,
            1,
        )
    assert {kind: row["stride"] for kind, row in rows.items()} == {
        "load": 4, "lds_store": 4, "lds_load": 256, "store": 1024,
    }  # fmt: skip
    assert rows["store"]["lines"] == lanes  # a line a lane
    assert rows["store"]["requests"] == lanes * 16
    assert rows["store"]["used_bytes"] == 4
    assert rows["load"]["lines"] == 2  # 256 or 192 bytes from a multiple of 256 on
    assert rows["load"]["used_bytes"] == lanes * 4 / 2
    assert rows["lds_load"]["passes"] == lanes  # all lanes want one bank
    assert rows["lds_load"]["conflict"] == lanes / 2  # two groups of 32 lanes
    assert rows["lds_store"]["conflict"] == 1
    assert [row["text"].split()[0] for row in (rows["load"], rows["lds_load"])] == [
        "global_load_dword",
        "ds_read_b32",
    ]
    shown, _ = run(capsys, folder, "--by", "address")
    assert "bank conflicts: 60.0 passes, 2.0 needed" in shown
    inferred, _ = run(capsys, folder, "--by", "access")
    assert "bank conflicts: 60.0 passes, 2.0 needed" in inferred


def test_without_addresses_the_command_says_how_to_record_them(capsys: pytest.CaptureFixture[str]) -> None:
    text, _ = run(capsys, sample_path("matmul_small"), "--by", "address")
    assert "SQTT_TRACE_ADDRESSES=memory,lds" in text
    document = json.loads(run(capsys, sample_path("matmul_small"), "--by", "address", "--json")[0])
    assert document["rows"] == []
    assert "SQTT_TRACE_ADDRESSES" in document["reason"]
