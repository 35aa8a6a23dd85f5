"""`rcv latency`: the same numbers as the analyses, and sentences where there are none."""

import json
from pathlib import Path

import pytest

from tests.support.command_runs import printed, printed_csv, printed_json, run_anew
from tests.support.plain_capture import plain
from tests.support.samples import sample, sample_path, write_sample


@pytest.mark.parametrize("rule", ["usual", "reference"])
def test_totals_hold_every_cycle(rule: str) -> None:
    folder = sample_path("matmul_small")
    found = plain(folder)
    asked = ("--rule", rule) if rule == "reference" else ()
    document = printed_json("latency", folder, *asked, "--top", 0)
    totals = document["totals"]
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


def test_text_says_what_is_hidden_and_what_is_assumed() -> None:
    folder = sample_path("matmul_small")
    whole = sum(token.duration + token.gap for wave in plain(folder).waves for token in wave.tokens)
    text = printed("latency", folder, "--top", 3)
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


def test_memory_latency_as_a_spreadsheet() -> None:
    folder, every = sample_path("counters"), 40  # cycles from sample to sample
    true = true_latencies()
    rows = printed_csv("latency", folder, "--by", "memory", "--rule", "reference", "--top", 0)
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
    assert f"a sample every {every} cycles" in printed("latency", folder, "--by", "memory")


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("pc_sampling", "hidden", "PC samples"),
        ("pc_sampling", "memory", "PC samples"),
        ("matmul_small", "memory", "SQ_INST_LEVEL_VMEM"),
    ],
)
def test_where_there_is_nothing_a_sentence_says_why(name: str, kind: str, sentence: str) -> None:
    folder = sample_path(name)
    assert sentence in printed("latency", folder, "--by", kind)
    assert sentence in printed_json("latency", folder, "--by", kind)["reason"]
    table = run_anew("latency", str(folder), "--by", kind, "--csv")
    assert sentence in table.err
    assert (table.code, table.out.partition(",")[0]) == (0, "instruction")


def test_recorded_addresses_as_a_document_and_as_text() -> None:
    """Three waves with 64 lanes and one with 48, two iterations, on two engines."""
    folder = sample_path("addresses")
    document = printed_json("latency", folder, "--by", "address")
    assert document["kind"] == "address"
    assert document["totals"] == {
        "blocks": 4 * 16, "incomplete": 0, "unusable": 0, "apart": 1, "conflicting": 1, "cache_line": 128,
        "banks": 32,
    }  # fmt: skip
    rows = {row["kind"]: row for row in document["rows"]}
    lanes = (3 * 64 + 48) / 4
    for row in rows.values():
        assert (row["blocks"], row["lanes"], row["width"]) == (16, lanes, 4)
        assert row["strided_share_of_executions"] == 1
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
    mnemonics = [rows[kind]["text"].split()[0] for kind in ("load", "lds_load")]
    assert mnemonics == ["global_load_dword", "ds_read_b32"]
    for by in ("address", "access"):  # as recorded, and inferred
        assert "bank conflicts: 60.0 passes, 2.0 needed" in printed("latency", folder, "--by", by), by


def test_counters_that_contradict_each_other_give_no_share(tmp_path: Path) -> None:
    """Two counters of the second bank stand for conflicts and cycles of LDS, one way round and the other."""
    write_sample("counters", tmp_path)
    samples = [json.loads(path.read_text())["data"] for path in tmp_path.glob("*_perfcounter.json")]
    more, less = (sum(row[at] for rows in samples for row in rows if row[6]) for at in (2, 3))
    assert more > less > 0
    path = tmp_path / "filenames.json"
    document, names = json.loads(path.read_text()), ["SQ_LDS_IDX_ACTIVE", "SQ_LDS_BANK_CONFLICT"]
    for order, share in ((names, pytest.approx(less / more, abs=1e-6)), (names[::-1], None)):
        document["counter_names"][5:7] = order
        path.write_text(json.dumps(document))
        totals = printed_json("latency", tmp_path, "--by", "access")["totals"]
        assert totals["conflict_share_of_lds_cycles"] == share
    assert "Counters" not in printed("latency", tmp_path, "--by", "access")


def test_without_addresses_the_command_says_how_to_record_them() -> None:
    folder = sample_path("matmul_small")
    assert "SQTT_TRACE_ADDRESSES=memory,lds" in printed("latency", folder, "--by", "address")
    document = printed_json("latency", folder, "--by", "address")
    assert document["rows"] == []
    assert "SQTT_TRACE_ADDRESSES" in document["reason"]
