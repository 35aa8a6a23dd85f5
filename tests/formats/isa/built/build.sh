#!/bin/sh
# Compile calls.hip with Debian's clang 22 (packages clang-22 and lld-22; no ROCm, no GPU), and let LLVM's own
# tools (llvm-22) say what is in each object.
set -eu
cd "$(dirname "$0")"
built() {  # target, optimization, DWARF, waves of 64 lanes
    lanes=""
    [ "$4" = 64 ] && lanes="-mwavefrontsize64"
    clang-22 -x hip "-O$2" "-gdwarf-$3" $lanes -nogpuinc -nogpulib -fuse-cuid=none "-ffile-prefix-map=$PWD=." \
        --offload-device-only "--offload-arch=$1" --no-gpu-bundle-output calls.hip \
        -o "calls_$1_O$2_dwarf$3_wave$4.co"
}
built gfx906 2 4 64
built gfx90a 2 5 64
built gfx942 0 5 64
built gfx950 0 4 64
built gfx1030 2 5 32
built gfx1030 0 4 64
built gfx1100 0 4 32
built gfx1100 2 5 64
built gfx1151 2 4 32
built gfx1201 0 5 32
built gfx1201 2 4 64
built gfx1250 0 4 32
built gfx1250 2 5 32
# Relocatable, as an assembler leaves it.
clang-22 -x hip -O0 -gdwarf-5 -nogpuinc -nogpulib -fuse-cuid=none "-ffile-prefix-map=$PWD=." --offload-device-only \
    --offload-arch=gfx1201 -S calls.hip -o calls.s
clang-22 --target=amdgcn-amd-amdhsa -mcpu=gfx1201 -c calls.s -o calls_gfx1201_O0_dwarf5_wave32.o
rm calls.s
chmod -x ./*.co
cd ../../../..
python -m tests.support.llvm_truth tests/formats/isa/built/*.co \
    tests/formats/isa/built/*.o --out tests/formats/isa/built/truth.json
