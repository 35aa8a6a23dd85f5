#!/usr/bin/env bash
# Packages: Debian 12's mesa-vulkan-drivers 22.3.6-1+deb12u2 (RADV, the Vulkan driver whose compiler ACO needs no GPU)
#   with the libraries that it loads, glslang-tools 12.0.0-2, and vulkan 1.3.275.1 for Python. Needs Debian 12 with apt.
# Expected: "Subgroups per SIMD", which RADV reports for a compiled shader, is the number of waves that fit on a SIMD.
#   It is never above the slots for waves, 10 on Vega, 20 on RDNA1, 16 on RDNA2 and RDNA3. On RDNA a wave of 64 lanes
#   takes twice the registers that one of 32 lanes takes.
# Instead: on RDNA the number is in waves of 32 lanes, also for shaders compiled for 64, which is the default. It ends
#   at 32, which no generation has. So it is right only where registers limit waves of 32 lanes. Where LDS limits,
#   parts of workgroups count: beside two workgroups of 48 KB, a unit with 128 KB has room for two thirds of a
#   third one. Vega shows this, too.
# Seen (16 or 64 numbers kept over a barrier; workgroups of 256, or of 1024 with 48 KB of LDS: VGPRs, reported | fit):
#                  16, waves of 32   16, waves of 64   64, waves of 32   64, waves of 64   LDS, 32   LDS, 64
#   Vega 20                           32,  8 |  8                        128,  2 |  2                 6 |  4
#   RDNA1 Navi 10  32, 32 | 20        32, 32 | 16      128,  8 |  8      128,  8 |  4     22 | 16    22 |  8
#   RDNA2 Navi 21  32, 32 | 16        32, 32 | 16      128,  8 |  8      128,  8 |  4     22 | 16    22 |  8
#   RDNA3 gfx1100  48, 32 | 16        36, 32 | 16      144, 10 | 10      132, 10 |  5     22 | 16    22 |  8
# Why it matters: shader databases and tuning scripts compare this number. Beside the same kernel in HIP, and beside a
#   trace, it looks like twice the occupancy, and "8" hides that a fifth wave does not fit. Count from VGPRs by hand,
#   and halve for 64 lanes.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/debs"
apt="apt-get -qq -o APT::Sandbox::User=root -o Dir::State::Lists=$dir/lists -o Dir::Cache=$dir/cache"
$apt update
(cd "$dir/debs" && $apt download mesa-vulkan-drivers=22.3.6-1+deb12u2 libllvm15=1:15.0.6-4+b1 libvulkan1=1.3.239.0-1 \
    glslang-tools=12.0.0-2 libdrm-amdgpu1=2.4.114-1+b1 libdrm2=2.4.114-1+b1 libelf1=0.188-2.1 libz3-4=4.8.12-3.1 \
    libbsd0 libedit2 libexpat1 libicu72 libmd0 libwayland-client0 libx11-xcb1 libxau6 libxcb-dri3-0 libxcb-present0 \
    libxcb-randr0 libxcb-shm0 libxcb-sync1 libxcb-xfixes0 libxcb1 libxdmcp6 libxml2 libxshmfence1)
for package in "$dir"/debs/*.deb; do
    dpkg -x "$package" "$dir/root"
done
sed "s#/usr/lib/#$dir/root/usr/lib/#" "$dir/root/usr/share/vulkan/icd.d/"radeon_icd.*.json > "$dir/icd.json"
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check vulkan==1.3.275.1
cat > "$dir/compile.py" <<'PY'
import sys
from pathlib import Path

import vulkan as vk

code, lanes = Path(sys.argv[1]).read_bytes(), int(sys.argv[2])
program = vk.VkApplicationInfo(apiVersion=vk.VK_MAKE_VERSION(1, 3, 0))
instance = vk.vkCreateInstance(vk.VkInstanceCreateInfo(pApplicationInfo=program), None)
(gpu,) = vk.vkEnumeratePhysicalDevices(instance)
sizes = vk.VkPhysicalDeviceSubgroupSizeControlFeatures(subgroupSizeControl=1)
queue = vk.VkDeviceQueueCreateInfo(queueFamilyIndex=0, pQueuePriorities=[1.0])
device = vk.vkCreateDevice(gpu, vk.VkDeviceCreateInfo(pNext=sizes, pQueueCreateInfos=[queue]), None)
module = vk.vkCreateShaderModule(device, vk.VkShaderModuleCreateInfo(codeSize=len(code), pCode=code), None)
bindings = [
    vk.VkDescriptorSetLayoutBinding(
        binding=number,
        descriptorType=vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        descriptorCount=1,
        stageFlags=vk.VK_SHADER_STAGE_COMPUTE_BIT,
    )
    for number in range(2)
]
buffers = vk.vkCreateDescriptorSetLayout(device, vk.VkDescriptorSetLayoutCreateInfo(pBindings=bindings), None)
layout = vk.vkCreatePipelineLayout(device, vk.VkPipelineLayoutCreateInfo(pSetLayouts=[buffers]), None)
wave = vk.VkPipelineShaderStageRequiredSubgroupSizeCreateInfo(requiredSubgroupSize=lanes) if lanes else None
stage = vk.VkPipelineShaderStageCreateInfo(
    pNext=wave, stage=vk.VK_SHADER_STAGE_COMPUTE_BIT, module=module, pName="main"
)
pipeline = vk.VkComputePipelineCreateInfo(stage=stage, layout=layout)
vk.vkCreateComputePipelines(device, None, 1, [pipeline], None)
PY
cat > "$dir/see.py" <<'PY'
import os
import re
import subprocess
import sys
from pathlib import Path

here = Path(sys.argv[1])
LIBRARIES = {"LD_LIBRARY_PATH": str(here / "root/usr/lib/x86_64-linux-gnu")}
KEPT = """
#version 450
layout(local_size_x = 256) in;
layout(binding = 0) buffer A { float a[]; };
layout(binding = 1) buffer B { float b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float kept[COUNT];
    for (int k = 0; k < COUNT; k++) kept[k] = a[i + k * 4096];
    barrier();
    for (int k = 0; k < COUNT; k++) b[i + k * 4096] = kept[COUNT - 1 - k] * kept[k];
}
"""
SHARED = """
#version 450
layout(local_size_x = 1024) in;
layout(binding = 0) buffer A { float a[]; };
layout(binding = 1) buffer B { float b[]; };
shared float tile[12288];
void main() {
    uint i = gl_LocalInvocationID.x;
    tile[i] = a[i];
    barrier();
    b[i] = tile[(i * 7) % 12288];
}
"""


def statistics(name, text, family, lanes):
    """VGPRs and subgroups per SIMD as the driver reports them."""
    source, binary = here / f"{name}.comp", here / f"{name}.spv"
    source.write_text(text.strip() + "\n")
    subprocess.run([here / "root/usr/bin/glslangValidator", "-V", "--target-env", "vulkan1.3", "-o", binary, source],
                   check=True, capture_output=True, env={**os.environ, **LIBRARIES})
    radv = {"RADV_FORCE_FAMILY": family, "RADV_DEBUG": "shaders,shaderstats,nocache",
            "VK_ICD_FILENAMES": str(here / "icd.json")}
    done = subprocess.run([sys.executable, here / "compile.py", binary, str(lanes)], check=True, text=True,
                          capture_output=True, env={**os.environ, **LIBRARIES, **radv})
    return tuple(int(re.search(rf"^{each}: (\d+)$", done.stderr, re.M)[1]) for each in ("VGPRs", "Subgroups per SIMD"))


# Slots for waves, VGPRs a lane, workgroups of 48 KB on a unit of four SIMDs, lanes that the VGPRs are counted for.
SIMDS = {
    "vega20": (10, 256, 1, 64),
    "navi10": (20, 1024, 2, 32),
    "navi21": (16, 1024, 2, 32),
    "gfx1100": (16, 1536, 2, 32),
}


def fit(family, lanes, registers=None):
    slots, file, workgroups, narrow = SIMDS[family]
    if registers is None:
        return min(slots, workgroups * 1024 // lanes // 4)
    return min(slots, file // (registers * (lanes // narrow)))


SEEN = {
    ("vega20", 64): ((32, 8), 8, (128, 2), 2, 6, 4),
    ("navi10", 32): ((32, 32), 20, (128, 8), 8, 22, 16),
    ("navi10", 64): ((32, 32), 16, (128, 8), 4, 22, 8),
    ("navi21", 32): ((32, 32), 16, (128, 8), 8, 22, 16),
    ("navi21", 64): ((32, 32), 16, (128, 8), 4, 22, 8),
    ("gfx1100", 32): ((48, 32), 16, (144, 10), 10, 22, 16),
    ("gfx1100", 64): ((36, 32), 16, (132, 10), 5, 22, 8),
}
for (family, lanes), expected in SEEN.items():
    few = statistics("few", KEPT.replace("COUNT", "16"), family, lanes)
    many = statistics("many", KEPT.replace("COUNT", "64"), family, lanes)
    _, shared = statistics("shared", SHARED, family, lanes)
    found = few, fit(family, lanes, few[0]), many, fit(family, lanes, many[0]), shared, fit(family, lanes)
    print(f"{family:8} waves of {lanes}: {found[0]} | {found[1]}, {found[2]} | {found[3]}, LDS {shared} | {found[5]}")
    assert found == expected, expected
assert statistics("few", KEPT.replace("COUNT", "16"), "gfx1100", 0) == (36, 32)  # by default 64 lanes
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
