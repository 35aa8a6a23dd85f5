"""Memory latency by the reference's rule is the reference's, by ours it is nearer to the truth."""

import re

import pytest
from msgspec.structs import replace

from rcv_py.analysis.core.token_columns import columns_of
from rcv_py.analysis.latency.memory_latency import (
    LEVEL_COUNTERS,
    MEMORY,
    MemoryLatency,
    all_ops,
    memory_ops,
    position,
    reference_values,
)
from rcv_py.model.device import CounterSamples
from rcv_py.model.modes import ReferenceRule
from tests.analysis.test_memory_latency import (
    Loaded,
    test_a_counter_of_the_second_bank_counts_too,  # noqa: F401
    test_another_compute_unit_does_not_disturb,  # noqa: F401
    test_every_value_of_the_reference_s_rule,  # noqa: F401
)
from tests.real import captures
from tests.support.reference_clock import open_as_reference

VMEM, LDS, _ = LEVEL_COUNTERS


@pytest.fixture
def counters() -> Loaded:
    found = open_as_reference(captures.synthetic_path("counters_gfx9"))
    rows = list(range(len(found.waves)))
    return found, (found.reader.read(rows[:3]), found.reader.read(rows[3:]))


def row(table: MemoryLatency, code_line: int) -> int:
    return table.line.tolist().index(code_line)


def test_every_value_of_the_reference(counters: Loaded) -> None:
    found, batches = counters
    ops = all_ops([memory_ops(tokens, len(found.code)) for tokens in map(columns_of, batches)])
    golden = captures.golden("memory_latency.json")["rcv_per_se"]
    for counter in (VMEM, LDS):
        at = position(found.counter_names, counter)
        for samples in found.counters:
            lines, values = reference_values(ops, samples, at, counter)
            for number, expected in golden[counter.name][f"se{samples.se}"].items():
                line = found.code.row_of_number[int(number)]
                assert values[lines == line].tolist() == expected["lat"]
                own = ops.at((ops.se == samples.se) & (ops.line == line))
                assert (own.busy.sum(), own.stall.sum()) == (expected["issue"], expected["stall"])


@pytest.mark.parametrize("se", [0, 1])
def test_statistics_of_one_shader_engine(counters: Loaded, se: int) -> None:
    found, batches = counters
    waves = [wave.row for batch in batches for wave in batch.waves if wave.id.se == se]
    table = MEMORY[ReferenceRule.REFERENCE].of(found, [found.reader.read(waves)])
    golden = captures.golden("memory_latency.json")["rcv_per_se"]
    for counter in (VMEM, LDS):
        for number, expected in golden[counter.name][f"se{se}"].items():
            at = row(table, int(found.code.row_of_number[int(number)]))
            assert table.samples[at] == expected["n"]
            values = (table.mean[at], table.std[at], table.error[at])
            assert values == pytest.approx((expected["mean"], expected["std"], expected["err"]), rel=1e-12)
            assert table.issue[at] * table.samples[at] == pytest.approx(expected["issue"])
            assert table.stall[at] * table.samples[at] == pytest.approx(expected["stall"])


def test_statistics_of_both_shader_engines_in_order_of_the_mean(counters: Loaded) -> None:
    table = MEMORY[ReferenceRule.REFERENCE].of(*counters)
    golden = captures.golden("memory_latency.json")["reference_script"]
    expected = [one for counter in (VMEM, LDS) for one in golden[counter.name]["instructions"]]
    numbers = counters[0].code.number[table.line].tolist()
    assert numbers == [int(one["code"].split(":")[1]) for one in expected]
    for at, one in enumerate(expected):
        stats = one["stats"]
        assert table.samples[at] == stats["count"]
        assert (table.mean[at], table.std[at], table.error[at]) == pytest.approx(
            (stats["mean"], stats["stddev"], stats["error"]), rel=1e-12
        )
    assert (table.samples + table.censored).tolist() == [96, 96, 96]


def truths() -> dict[int, float]:
    """Mean latency by LineNumber that the made-up capture was generated with."""
    golden = captures.golden("memory_latency.json")["generator_truth_mean_cycles"]
    pairs = ((re.match(r"line(\d+)", name), text) for name, text in golden.items())
    return {int(match[1]): float(text.rsplit("->", 1)[1]) for match, text in pairs if match}


def test_our_estimate_is_nearer_to_the_truth(counters: Loaded) -> None:
    code = counters[0].code
    ours, theirs = (MEMORY[rule].of(*counters) for rule in ReferenceRule)
    for number, truth in truths().items():
        line = int(code.row_of_number[number])
        off, reference = (abs(table.mean[row(table, line)] - truth) for table in (ours, theirs))
        assert off < 0.05 * truth, code.text[line]
        assert off < (reference / 4 if code.kind[line] != 5 else 1.05 * reference), code.text[line]
    assert (ours.samples + ours.censored).tolist() == [96, 96, 96]
    assert ours.interval == 40


def test_the_interval_is_that_of_the_samples(counters: Loaded) -> None:
    found, batches = counters
    rare = []
    for samples in found.counters:
        keep = (samples.time - samples.time[0]) % 80 == 0
        columns = (getattr(samples, name)[keep] for name in ("time", "value", "cu", "bank"))
        rare.append(CounterSamples(samples.se, *columns))
    table = MEMORY[ReferenceRule.OURS].of(replace(found, counters=tuple(rare)), batches)
    assert table.interval == 80
    truth = truths()
    for line, mean in zip(table.line.tolist(), table.mean.tolist(), strict=True):
        assert mean == pytest.approx(truth[int(found.code.number[line])], rel=0.2)
