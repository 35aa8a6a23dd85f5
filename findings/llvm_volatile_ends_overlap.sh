#!/usr/bin/env bash
# Package: llvmlite 0.50.0 (its LLVM 22.1 compiles for AMD GPUs).
# Expected: volatile keeps each access, in its order, and past the caches. Whether the next one may start before
#   the value has come is left to the hardware, as on a CPU; the wait stands in front of the first use. An
#   atomic asks for more than a volatile, so a relaxed atomic is at least as slow, and both together
#   are slowest.
# Instead: each volatile load of global memory is followed by a wait until no load is in flight, and each volatile
#   store by one for all stores. N volatile loads are N times the latency of memory, a plain load that was
#   issued before is waited for as well, and a kernel that ends with a volatile store waits for it. Relaxed
#   atomic loads, on gfx942 with the same cache bits, are all in flight together. So are loads that are
#   atomic and volatile: the second word alone makes the wait, and the first takes it away. Volatile in LDS
#   keeps the accesses and adds no wait at all.
# Seen (eight loads, then one use of all; loads in flight at most):
#   all five targets, memory: volatile 1, relaxed atomic 8, atomic volatile 8; LDS: volatile 8
#   gfx942: both volatile and relaxed atomic loads of system scope are global_load_dword .. sc0 sc1
#   four volatile stores: 4 waits for all stores; four relaxed atomic stores: none
# Why it matters: volatile is what a microbenchmark takes to keep its loads, and what it then measures is the
#   latency of one load at a time, never the bandwidth of several. In a trace the waits stand at lines that
#   use no value. A relaxed atomic load through a pointer to volatile keeps the accesses and the overlap.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check llvmlite==0.50.0
cat > "$dir/see.py" <<'PY'
import re

import llvmlite.binding as llvm

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
TRIPLE = "amdgcn-amd-amdhsa"
KERNEL = """
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @kernel(ptr addrspace({space}) noalias %in, ptr addrspace(1) noalias %other,
                                  ptr addrspace(1) noalias %out) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %from = getelementptr i32, ptr addrspace({space}) %in, i32 %lane
  %elsewhere = getelementptr i32, ptr addrspace(1) %other, i32 %lane
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %lane
{body}
  ret void
}}
"""
ATOMIC = {"atomic", "atomic volatile"}
LOAD = re.compile(r"(global_load|ds_read|ds_load)_")
STORE = re.compile(r"(global_store|ds_write|ds_store)_")
WAIT = re.compile(r"s_wait(?:cnt|_\w+)")
NUMBER = r"(?:vmcnt\(|lgkmcnt\(|loadcnt 0x|dscnt 0x)(\d+)"  # how many may still be in flight
STORES = re.compile(r"s_waitcnt vmcnt\(0\)|s_waitcnt_vscnt null, 0x0|s_wait_storecnt 0x0")


def compiled(processor, body, space=1):
    """The memory instructions and waits of the kernel, in their order."""
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=processor, opt=3)
    module = llvm.parse_assembly(KERNEL.format(space=space, body="\n".join(body)))
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    text = machine.emit_assembly(module).split("\nkernel:")[1].split("s_endpgm")[0]
    lines = (" ".join(line.split(";")[0].split()) for line in text.splitlines())
    return [line for line in lines if LOAD.match(line) or STORE.match(line) or WAIT.match(line)]


def order(how):
    return " monotonic" if how in ATOMIC else ""


def loads(how, count, space=1):
    """Loads of one kind from addresses 256 bytes apart, then their sum, which is stored."""
    for i in range(count):
        yield f"  %p{i} = getelementptr i32, ptr addrspace({space}) %from, i32 {64 * i}"
        yield f"  %v{i} = load {how} i32, ptr addrspace({space}) %p{i}{order(how)}, align 4"
    yield "  %s0 = add i32 %v0, 0"
    for i in range(1, count):
        yield f"  %s{i} = add i32 %s{i - 1}, %v{i}"
    yield f"  store i32 %s{count - 1}, ptr addrspace(1) %to"


def stores(how, count):
    for i in range(count):
        yield f"  %p{i} = getelementptr i32, ptr addrspace(1) %to, i32 {64 * i}"
        yield f"  store {how} i32 {i}, ptr addrspace(1) %p{i}{order(how)}, align 4"


def most_in_flight(lines):
    """The most loads that were issued and not yet waited for."""
    flying = most = 0
    for line in lines:
        if LOAD.match(line):
            flying += 1
            most = max(most, flying)
        elif WAIT.match(line) and (left := re.search(NUMBER, line)):
            flying = min(flying, int(left[1]))
    return most


for processor in "gfx90a", "gfx942", "gfx1100", "gfx1201", "gfx1250":
    seen = {how: compiled(processor, loads(how, 8)) for how in ("volatile", "atomic", "atomic volatile")}
    flying = {how: most_in_flight(lines) for how, lines in seen.items()}
    in_lds = most_in_flight(compiled(processor, loads("volatile", 8, space=3), space=3))
    print(f"{processor:7} loads in flight: {flying}; volatile in LDS {in_lds}")
    assert all(sum(bool(LOAD.match(line)) for line in lines) == 8 for lines in seen.values())
    assert flying == {"volatile": 1, "atomic": 8, "atomic volatile": 8} and in_lds == 8
    if processor == "gfx942":
        assert all("sc0 sc1" in line for how in seen for line in seen[how] if LOAD.match(line))
    kept, relaxed = compiled(processor, stores("volatile", 4)), compiled(processor, stores("atomic", 4))
    sequence = ["store" if STORE.match(line) else "wait" for line in kept if STORE.match(line) or STORES.match(line)]
    assert sequence == ["store", "wait"] * 4, kept
    assert sum(bool(STORE.match(line)) for line in relaxed) == 4 and not any(map(STORES.match, relaxed)), relaxed
    # A plain load is in flight, and the other value is not used before that of the plain load is.
    plain = ["  %plain = load i32, ptr addrspace(1) %elsewhere"]
    use = ["  store i32 %plain, ptr addrspace(1) %to"]
    for how, left in ("volatile", "0"), ("atomic", "1"):
        lines = compiled(processor, [*plain, *list(loads(how, 1))[:2], *use])
        last = max(place for place, line in enumerate(lines) if LOAD.match(line))
        waits = [found[1] for line in lines[last:] if WAIT.match(line) and (found := re.search(NUMBER, line))]
        assert last > 1 and waits == [left], lines
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
