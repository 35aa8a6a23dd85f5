#!/usr/bin/env bash
# Package: perfdigest-mcp 1.3.0 (digests profiler reports for coding agents), no GPU needed.
# Expected: compute_pct_peak of a rocprof report is how busy the vector units were, VALUBusy; and
#   dram_pct_peak comes from bytes moved against the peak of the memory.
# Instead: compute_pct_peak is VALUUtilization where the report has it, and that is the share of lanes that
#   were active in the vector instructions there were. A copy without a branch has 100 % of it. VALUBusy
#   counts only where the other column is absent. dram_pct_peak is MemUnitBusy, the time in which the
#   address unit of a compute unit had work, whether DRAM, a cache or LDS conflicts kept it busy.
# Seen (a copy whose vector units are busy 3 % of the time; then a rewrite that makes it 60 %):
#   compute_pct_peak 100.0 -> 100.0, delta 0.0
#   the same two reports without VALUUtilization: 3.0 -> 60.0, delta 57.0
# Why it matters: an agent that reads "100 % of compute peak" goes to reduce arithmetic in a kernel that
#   waits for memory, and compares a rewrite of twenty times the arithmetic as no change.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check perfdigest-mcp==1.3.0
cat > "$dir/see.py" <<'PY'
import sys
from pathlib import Path

import perfdigest.adapters.rocm.backend  # registers the format
from perfdigest.server.tools import compare_metrics, get_metrics

here = Path(sys.argv[1])
LANES, BUSY, UNIT = "VALUUtilization", "VALUBusy", "MemUnitBusy"


def report(name, **counters):
    path = here / name
    columns = {"Index": 0, "KernelName": "copy", "DurationNs": 100000, **counters}
    path.write_text(",".join(columns) + "\n" + ",".join(map(str, columns.values())) + "\n")
    return str(path)


def compute(before, after):
    found = compare_metrics(before, after, "rocprof", "copy", metrics=["compute_pct_peak"])
    change = found["metrics"]["compute_pct_peak"]
    return change["a"], change["b"], change["delta"]


lanes = compute(
    report("before.csv", **{LANES: 100.0, BUSY: 3.0, UNIT: 95.0}),
    report("after.csv", **{LANES: 100.0, BUSY: 60.0, UNIT: 40.0}),
)
busy = compute(report("before2.csv", **{BUSY: 3.0}), report("after2.csv", **{BUSY: 60.0}))
memory = get_metrics(str(here / "before.csv"), "rocprof", "copy", ["dram_pct_peak"])["metrics"]["dram_pct_peak"]
print("compute_pct_peak {} -> {}, delta {}".format(*lanes))
print("the same two reports without VALUUtilization: {} -> {}, delta {}".format(*busy))
print(f"dram_pct_peak {memory}, of a report with no byte in it")
assert lanes == (100.0, 100.0, 0.0)
assert busy == (3.0, 60.0, 57.0)
assert memory == 95.0
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
