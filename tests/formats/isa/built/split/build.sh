#!/bin/sh
# Compile nested.hip with inlined calls in files of their own (-gsplit-dwarf).
# LLVM's tools read the same source built without that; what they say of both must be equal.
set -eu
cd "$(dirname "$0")"
built() {  # output, target, DWARF, further options
    out=$1 target=$2 dwarf=$3
    shift 3
    clang-22 -x hip -O2 "-gdwarf-$dwarf" -nogpuinc -nogpulib -fuse-cuid=none "-ffile-prefix-map=$PWD=." \
        --offload-device-only "--offload-arch=$target" --no-gpu-bundle-output "$@" nested.hip -o "$out"
}
top=$PWD/../../../../..
told() {
    PYTHONPATH=$top "${PYTHON:-python}" -m tests.support.llvm_truth nested_*.co --out "$1"
}
for each in "gfx942 5" "gfx1100 4"; do
    built "nested_${each% *}.co" "${each% *}" "${each#* }" -gsplit-dwarf
    llvm-dwp-22 -e "nested_${each% *}.co" -o "nested_${each% *}.co.dwp"
done
told split.json
mkdir -p whole
for each in "gfx942 5" "gfx1100 4"; do
    built "whole/nested_${each% *}.co" "${each% *}" "${each#* }"
done
cd whole
told ../truth.json
cd ..
cmp split.json truth.json
rm -r whole split.json
chmod -x ./*.co
