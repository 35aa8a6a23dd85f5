#!/usr/bin/env bash
# Package: ziglang 0.17.1 (its clang 22.1 compiles HIP's device code for AMD GPUs).
# Expected: A switch that only picks one of eight constants becomes a chain of compares and selects, or a table,
#   as on a CPU. Writing it as else-if or nested ?: can only help. Eight ifs without else are the slowest,
#   because they keep testing after the answer is known.
# Instead: All three spellings become one switch, and the backend turns it into a tree of masked blocks: it
#   saves, halves and restores the lane mask at each fork, with branches around blocks that no lane takes. A
#   wave whose lanes differ executes all of them. Eight ifs without else stay compares and selects without a
#   branch, in about a third of the instructions. A table is a load from memory.
# Seen (instructions of the kernel, branches):
#                                      gfx942              gfx1201
#   cases                              4      8    16      4      8    16
#   switch, else-if, ?: (same code)    62, 6  98   165     72, 5  119  195
#   ifs without else                   21, 0  36    65     20, 0   34   62
#   table (one load of memory more)    20, 1  20    20     26, 1   26   26
#   gfx90a, gfx950, gfx1100 and gfx1250 are alike
# Why it matters: Decoders of 4-bit floats and activations selected by number are written as such chains. A
#   trace shows scalar instructions on the lane mask, waits for them, and branches, on a line that stores a
#   constant; this looks like divergence of the data. Without the elses it disappears.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$dir/cache" ZIG_LOCAL_CACHE_DIR="$dir/cache"
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
NUMBERS = 17, 903, 55, -77, 1234567, 99, 4242, 31, 8, 650, 2, -31000, 77, 123, 9090, 44


def kernel(name, choice):
    return f"""
extern "C" __attribute__((global)) void {name}(int *a) {{
    int i = __builtin_amdgcn_workitem_id_x(), x = a[i], y = 0;
    {choice}
    a[i] = y;
}}"""


def source(count):
    cases = list(enumerate(NUMBERS[:count]))
    table = ", ".join(map(str, NUMBERS[:count]))
    return "\n".join([
        kernel("by_switch", "switch (x) { " + " ".join(f"case {at}: y = {one}; break;" for at, one in cases) + " default: y = 0; }"),
        kernel("by_else", " else ".join(f"if (x == {at}) y = {one};" for at, one in cases)),
        kernel("by_question", "y = " + " : ".join(f"x == {at} ? {one}" for at, one in cases) + " : 0;"),
        kernel("by_ifs", " ".join(f"if (x == {at}) y = {one};" for at, one in cases)),
        kernel("by_table", f"const int of[] = {{{table}}}; if (x >= 0 && x < {count}) y = of[x];"),
    ])


def compiled(target, count):
    """The instructions of each kernel."""
    (folder / "pick.hip").write_text(source(count))
    clang = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
             f"--offload-arch={target}", "-O3", "-S", "-o", "-", folder / "pick.hip"]
    text = subprocess.run(clang, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^(by_\w+):.*?\n(.*?)\.section", text, re.M | re.S)
    return {name: re.findall(r"^\t([a-z]+_\w+)", body, re.M) for name, body in found}


def facts(code):
    return len(code), sum(each.startswith(("s_cbranch", "s_branch")) for each in code)


SEEN = {
    "gfx942": {4: (62, 21), 8: (98, 36), 16: (165, 65)},
    "gfx1201": {4: (72, 20), 8: (119, 34), 16: (195, 62)},
}
TABLE = {"gfx942": 20, "gfx1201": 26}
for target in "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250":
    for count in 4, 8, 16:
        code = compiled(target, count)
        seen = {name: facts(each) for name, each in code.items()}
        print(f"{target:7} {count:2} cases {seen}")
        assert code["by_switch"] == code["by_else"] == code["by_question"]
        (many, branches), (few, none) = seen["by_switch"], seen["by_ifs"]
        assert branches >= 5 and none == 0 and many > 2.5 * few
        assert sum("exec" in each for each in code["by_switch"]) > 3
        loads = {name: sum("_load_" in each for each in code[name]) for name in ("by_ifs", "by_table")}
        assert loads["by_table"] == loads["by_ifs"] + 1
        if target in SEEN:
            assert (many, few) == SEEN[target][count] and seen["by_table"] == (TABLE[target], 1)
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
