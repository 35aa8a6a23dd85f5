#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: num_stages=N of a matmul is the number of tiles in flight, and so the number of buffers in LDS. A
#   configuration takes the same LDS on MI300X and on its successor, but for padding.
# Instead: gfx942 loads a tile to registers and writes it to LDS an iteration later. Its last stage is in
#   VGPRs, and LDS has N - 1 buffers. gfx950 and gfx1250 load from memory into LDS, and have N. The default
#   num_stages=2 is a single buffer on MI300X and a double one on MI355X. With num_stages=1 both have half
#   a buffer, as the two operands take turns. Without direct loads (TRITON_HIP_USE_ASYNC_COPY=0) gfx950 has the
#   sizes of gfx942 to the byte. Nor does the compiler look at what there is: on gfx942, which has
#   65536 bytes, num_stages=4 is compiled to 98304 without a word.
# Seen (tiles of 128 x 64 and 64 x 128, FP16, together 32768 bytes: bytes of LDS, writes from registers to LDS):
#   num_stages      1           2           3            4
#   gfx942      16384, 12   32768, 24   65536, 35    98304, 48
#   gfx950      16384,  8   68016,  0  102064,  0   136112,  0
#   gfx1250     16384, 16   71632,  0  107472,  0   143312,  0
#   gfx950, without direct loads: 16384, 32768, 65536, 98304
# Why it matters: a table of configurations that was tuned on one device is taken over to the other with the
#   same num_stages. There LDS doubles, and may become what limits occupancy, while VGPRs get fewer. Of two
#   traces at equal num_stages one has writes to LDS behind the wait for each load, and the other has none;
#   and an LDS size that is computed from num_stages is wrong for one of them.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check triton==3.9.0
export TRITON_HOME="$dir" TRITON_DEFAULT_FP_FUSION=1
cat > "$dir/kernel.py" <<'PY'
import re
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def matmul(a, b, c, N, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    deep = tl.arange(0, DEPTH)
    from_a = a + row[:, None] * K + deep[None, :]
    from_b = b + deep[:, None] * N + column[None, :]
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for _ in range(0, K, DEPTH):
        total = tl.dot(tl.load(from_a), tl.load(from_b), total)
        from_a += DEPTH
        from_b += DEPTH * N
    tl.store(c + row[:, None] * N + column[None, :], total.to(tl.float16))


TYPES = dict.fromkeys("abc", "*fp16") | dict.fromkeys("NK", "i32")
TILE = {"ROWS": 128, "COLUMNS": 128, "DEPTH": 64}
BYTES = 2 * 2 * 128 * 64


def staged(stages, target, wave):
    """Bytes of LDS, writes from registers to LDS, and loads from memory into LDS."""
    facts = {(place,): [["tt.divisibility", 16], ["tt.pointer_range", 32]] for place in range(3)}
    facts |= {(place,): [["tt.divisibility", 16]] for place in (3, 4)}
    source = ASTSource(matmul, TYPES | dict.fromkeys(TILE, "constexpr"), TILE, facts)
    kernel = triton.compile(source, target=GPUTarget("hip", target, wave), options={"num_stages": stages})
    text = kernel.asm["amdgcn"]
    writes = len(re.findall(r"^\s+ds_(?:write|store)", text, re.M))
    direct = len(re.findall(r"^\s+(?:buffer_load_\w+ .* lds$|global_load_async_to_lds)", text, re.M))
    print(f"{target:7} num_stages={stages}: {kernel.metadata.shared:6} bytes, {writes:2} writes, {direct:2} direct")
    return kernel.metadata.shared, writes, direct


DIRECT = "without" not in sys.argv
SEEN = {
    "gfx942": ((16384, 12), (32768, 24), (65536, 35), (98304, 48)),
    "gfx950": ((16384, 8), (68016, 0), (102064, 0), (136112, 0)),
    "gfx1250": ((16384, 16), (71632, 0), (107472, 0), (143312, 0)),
}
for target in SEEN if DIRECT else ("gfx950",):
    found = [staged(stages, target, 32 if target == "gfx1250" else 64) for stages in (1, 2, 3, 4)]
    if DIRECT:
        assert tuple(each[:2] for each in found) == SEEN[target]
    for stages, (size, writes, direct) in enumerate(found, 1):
        if target == "gfx942" or not DIRECT:
            assert size == max(stages - 1, 0.5) * BYTES and writes > 0 and direct == 0
        elif stages > 1:
            assert 0 < size - stages * BYTES < BYTES / 2 and direct > 0  # the rest is padding
print("as described", *sys.argv[1:])
PY
TRITON_CACHE_DIR="$dir/with" "$dir/venv/bin/python" "$dir/kernel.py"
TRITON_HIP_USE_ASYNC_COPY=0 TRITON_CACHE_DIR="$dir/without" "$dir/venv/bin/python" "$dir/kernel.py" without
