#!/usr/bin/env bash
# Packages: Debian 12's mesa-vulkan-drivers 22.3.6-1+deb12u2 (RADV, the Vulkan driver whose compiler ACO needs no GPU)
#   with the libraries that it loads, glslang-tools 12.0.0-2, and vulkan 1.3.275.1 for Python. Needs Debian 12 with apt.
# Expected: tanh(x), sinh(x), asinh(x) and atanh(x) of a small x are x, but for a few bits, as in the C library and in
#   HIP. None of these functions is steep there, so no digits have to get lost.
# Instead: each is its formula from the textbook. tanh is the difference of two exponentials over their sum. Both are
#   near 1, where FP32 has steps of 6e-8 and 1.2e-7, and so the result comes in steps of 3e-8: for 1e-5 three digits are
#   right, for 1e-7 none, and below 2.9e-8 tanh is 0. asinh and atanh take the logarithm of a number near 1, with
#   the same effect. Vulkan allows it, as its bounds for these functions are those of the formulas. sin, asin and
#   atan are made otherwise.
# Seen (Navi 21: vector instructions; result for x, each instruction rounded as if it were exact):
#                        x = 0.1     0.001         1e-5          1e-7         1e-8
#   tanh   11 (2 exp)    0.0996680   0.00100001646 1.00135803e-5 1.1920929e-7 0
#   sinh    4 (2 exp)    0.1001668   0.00100001693 1.00135803e-5 1.1920929e-7 0
#   asinh   9 (1 log)    0.0998341   0.00100002345 1.00135303e-5 1.1920927e-7 0
#   atanh   6 (1 log)    0.1003354   0.00099999981 1.00134803e-5 1.1920927e-7 0
# Why it matters: soft caps, gates and stretched images take tanh of small numbers. Beside HIP or the CPU the results
#   are off by more than FP32 explains, and in steps, so that the first guess is FP16 somewhere. Below 0.01,
#   x - x * x * x / 3 is tanh to the last bits, and shorter.
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
import math
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

here = Path(sys.argv[1])
LIBRARIES = {"LD_LIBRARY_PATH": str(here / "root/usr/lib/x86_64-linux-gnu")}
SHADER = """
#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) writeonly buffer B { float b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    b[i] = BODY(a[i]);
}
"""


def compiled(body, family):
    """The instructions of a compute shader with one element a lane."""
    source, binary = here / "shader.comp", here / "shader.spv"
    source.write_text(SHADER.replace("BODY", body).strip() + "\n")
    subprocess.run([here / "root/usr/bin/glslangValidator", "-V", "--target-env", "vulkan1.3", "-o", binary, source],
                   check=True, capture_output=True, env={**os.environ, **LIBRARIES})
    radv = {"RADV_FORCE_FAMILY": family, "RADV_DEBUG": "shaders,nocache", "VK_ICD_FILENAMES": str(here / "icd.json")}
    done = subprocess.run([sys.executable, here / "compile.py", binary, "0"], check=True, text=True,
                          capture_output=True, env={**os.environ, **LIBRARIES, **radv})
    text = done.stderr.rpartition("disasm:")[2]
    return re.findall(r"^\t(\S.*?) +; ", text, re.M)

def arithmetic(function):
    """The vector instructions between load and store, without registers: names, constants and signs."""
    lines = compiled(function, "navi21")
    (load,) = [i for i, line in enumerate(lines) if line.startswith("buffer_load")]
    kept = [line for line in lines[load:] if line.startswith("v_")]
    kept = [re.sub(r"_e(32|64)\b", "", line).replace("v_", "", 1) for line in kept]
    return [" ".join(re.sub(r"\|?\b(v\d+|vcc|s\d+)\b\|?,?", "", line).replace(",", "").split()) for line in kept]


def f32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def bits(number):
    return struct.unpack("f", struct.pack("I", number))[0]


LOG2_E, LN_2, HALF_LN_2 = bits(0x3FB8AA3B), bits(0x3F317218), bits(0x3EB17218)


def exponentials(x):
    scaled = f32(x * LOG2_E)
    return f32(2.0**scaled), f32(2.0**-scaled)


def tanh(x):
    up, down = exponentials(x)
    return f32(f32(up - down) * f32(1 / f32(up + down)))


def sinh(x):
    up, down = exponentials(x)
    return f32((up - down) / 2)


def asinh(x):
    return f32(f32(math.log2(f32(x + f32(math.sqrt(f32(x * x + 1)))))) * LN_2)


def atanh(x):
    return f32(f32(math.log2(f32(f32(1 + x) * f32(1 / f32(1 - x))))) * HALF_LN_2)


SEEN = {
    tanh: (
        ["med3_f32 0x41200000", "mul_f32 1.0", "mul_f32 0x3fb8aa3b", "exp_f32 -", "exp_f32", "add_f32", "sub_f32",
         "rcp_f32", "mul_f32", "cmp_lt_f32 0", "cndmask_b32"],
        ["0.0996680111", "0.00100001646", "1.00135803e-05", "1.1920929e-07", "0"],
    ),
    sinh: (
        ["mul_f32 0x3fb8aa3b", "exp_f32 -", "exp_f32", "sub_f32 div:2"],
        ["0.100166768", "0.00100001693", "1.00135803e-05", "1.1920929e-07", "0"],
    ),
    asinh: (
        ["fma_f32 1.0", "sqrt_f32", "add_f32", "log_f32", "mul_f32 0x3f317218", "add_f32 0", "med3_i32 -1 1",
         "cvt_f32_i32", "mul_f32"],
        ["0.0998341367", "0.00100002345", "1.00135303e-05", "1.19209275e-07", "0"],
    ),
    atanh: (
        ["sub_f32 1.0", "add_f32 1.0", "rcp_f32", "mul_f32", "log_f32", "mul_f32 0x3eb17218"],
        ["0.100335389", "0.000999999815", "1.00134803e-05", "1.19209275e-07", "0"],
    ),
}
for function, (code, expected) in SEEN.items():
    found = arithmetic(function.__name__)
    results = [f"{function(f32(x)):.9g}" for x in (0.1, 0.001, 1e-5, 1e-7, 1e-8)]
    print(f"{function.__name__:6} {len(found):2}: {', '.join(found)}\n          {', '.join(results)}")
    assert found == code, code
    assert results == expected, expected
for other in ("sin", "asin", "atan"):
    assert not any(each.startswith(("exp_f32", "log_f32")) for each in arithmetic(other))
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
