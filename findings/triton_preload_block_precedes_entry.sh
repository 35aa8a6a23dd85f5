#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one), pyelftools 0.33.
# Expected: a wave begins at the kernel's symbol, where also the kernel descriptor points, and the
#   first row of the line table, marked prologue_end, is the first line that runs.
# Instead, on gfx942 and gfx950: Triton has kernel arguments preloaded into SGPRs. The descriptor then
#   has a preload length, and firmware that knows preloading starts waves 256 bytes after the
#   symbol. What stands at the symbol is a fallback for old firmware: it loads the same arguments,
#   waits and branches, and the rest of the 256 bytes is s_nop. The prologue_end row lies in it,
#   and nowhere else. gfx1100 preloads nothing: there symbol, entry and prologue_end are where waves begin.
# Seen:
#   gfx942  preloads 12 dwords, descriptor points at symbol + 0, prologue_end at symbol + 0
#           first 5 instructions: s_load s_load s_load s_waitcnt s_branch, then 56 x s_nop
#   gfx950  the same
#   gfx1100 preloads 0 dwords, descriptor points at symbol + 0, prologue_end at symbol + 0
# Why it matters: with such firmware traces of MI300 and MI350 never show the loads and the wait with which
#   the listing begins. Program counters that are counted from the descriptor's entry are off by 256
#   bytes, a breakpoint at prologue_end is never hit, and a walk from the entry meets a wait for
#   lgkmcnt that no wave does.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check triton==3.9.0 pyelftools==0.33
export TRITON_HOME="$dir" TRITON_CACHE_DIR="$dir/cache" TRITON_DEFAULT_FP_FUSION=1
cat > "$dir/kernel.py" <<'PY'
import io
import struct

import triton
import triton.language as tl
from elftools.elf.elffile import ELFFile
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scale_add(a, b, c, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(a + at, mask=inside)
    y = tl.load(b + at, mask=inside)
    tl.store(c + at, x * 2.0 + 1.0 + y, mask=inside)


def look(target, wave):
    types = {"a": "*fp32", "b": "*fp32", "c": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = ASTSource(fn=scale_add, signature=types, constexprs={"BLOCK": 1024})
    made = triton.compile(source, target=GPUTarget("hip", target, wave), options={"num_warps": 4})
    elf = ELFFile(io.BytesIO(made.asm["hsaco"]))
    symbols = {symbol.name: symbol["st_value"] for symbol in elf.get_section_by_name(".symtab").iter_symbols()}
    start, table = symbols["scale_add"], symbols["scale_add.kd"]
    rodata, text = elf.get_section_by_name(".rodata"), elf.get_section_by_name(".text")
    descriptor = rodata.data()[table - rodata["sh_addr"] :][:64]
    entry = table + struct.unpack_from("<q", descriptor, 16)[0]
    preload = struct.unpack_from("<H", descriptor, 58)[0] & 127
    dwarf = elf.get_dwarf_info()
    rows = [row.state for unit in dwarf.iter_CUs() for row in dwarf.line_program_for_CU(unit).get_entries() if row.state]
    ends = [row.address - start for row in rows if row.prologue_end]
    words = struct.unpack_from("<64I", text.data(), start - text["sh_addr"])
    print(f"{target:7} preloads {preload} dwords, descriptor points at symbol + {entry - start},",
          "prologue_end at symbol +", *ends)
    return preload, entry - start, ends, words


for target in ("gfx942", "gfx950"):
    preload, entry, ends, words = look(target, 64)
    at, names = 0, []
    while words[at] >> 16 != 0xBF82:  # s_branch
        scalar_load = words[at] >> 26 == 0x30
        names.append("s_load" if scalar_load else "s_waitcnt" if words[at] >> 16 == 0xBF8C else "?")
        at += 2 if scalar_load else 1
    nops = words[at + 1 :]
    print(" " * 7, "first", len(names) + 1, "instructions:", *names, "s_branch, then", len(nops), "x s_nop")
    assert preload == 12 and entry == 0 and ends == [0]
    assert names == ["s_load"] * 3 + ["s_waitcnt"]
    assert set(nops) == {0xBF800000} and (words[at] & 0xFFFF) == len(nops)  # to symbol + 256
preload, entry, ends, _ = look("gfx1100", 32)
assert preload == 0 and entry == 0 and ends == [0]
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
