#!/bin/sh
# Compile tiny.hip with Debian's clang 22 (packages clang-22, clang-tools-22 and lld-22); no ROCm, no GPU.
set -eu
cd "$(dirname "$0")"
export PATH=/usr/lib/llvm-22/bin:$PATH
hip="clang -x hip -O2 -gline-tables-only -nogpuinc -nogpulib -ffile-prefix-map=$PWD=/src"
all=""
for target in gfx942 gfx950 gfx1100 gfx1201; do
    all="$all --offload-arch=$target"
    $hip --offload-device-only --offload-arch=$target --no-gpu-bundle-output tiny.hip -o tiny_$target.co
done
$hip -DCHANGED --offload-device-only --offload-arch=gfx942 --no-gpu-bundle-output tiny.hip -o changed_gfx942.co
$hip $all --offload-device-only --offload-compress tiny.hip -o tiny.ccob
$hip $all -g0 -fPIC --offload-compress -c tiny.hip -o libtiny.o
ld.lld -shared libtiny.o -o libtiny.so
rm libtiny.o
chmod -x ./*.co ./*.so
