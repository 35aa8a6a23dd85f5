#!/usr/bin/env bash
# Packages: Debian 12's mesa-vulkan-drivers 22.3.6-1+deb12u2 (RADV, the Vulkan driver whose compiler ACO needs no GPU)
#   with the libraries that it loads, glslang-tools 12.0.0-2, and vulkan 1.3.275.1 for Python. Needs Debian 12 with apt.
# Expected: fma(x, y, z) of GLSL is v_fma_f32, which every AMD GPU of the last ten years has. With "precise" it must
#   round once, by the language. RDNA1 and RDNA2 give the same digits.
# Instead: for Vega and RDNA1 fma() is a multiplication and an addition to the compiler, and becomes v_mad_f32 or
#   v_mac_f32, which round twice and flush denormals. "precise" changes nothing. The error of a product,
#   fma(x, y, -x * y), is v_sub_f32 of the product and itself, or the constant 0 at once; for x = y = 1 + 2^-12 it is
#   2^-24. For RDNA2 and RDNA3, which have no v_mad_f32, the same shaders have v_fma_f32, and so has x * y + z
#   without "precise". FP64 is fused everywhere.
# Seen (precise p = x * y, precise e = fma(x, y, -p); then fma(x, y, z); then x * y + z; then fma of FP64):
#   Vega 20, Navi 10:         v_sub_f32 of p and p | v_mac_f32  | v_mac_f32  | v_fma_f64
#   Navi 21, gfx1100:         v_fma_f32            | v_fmac_f32 | v_fmac_f32 | v_fma_f64
#   Navi 10, no "precise":    e is the constant 0
# Why it matters: sums with two floats for one number, compensated dot products and exact remainders are built on that
#   error term. They are right on RDNA2; on RDNA1 they are plain FP32 sums at several times the cost, and nothing
#   says so but the disassembly. Split the factors by hand (Dekker's product) where older cards count.
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
SHADER = """
#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) writeonly buffer B { float b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[i], y = a[i + 4096], z = a[i + 8192];
    BODY
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

def float_arithmetic(lines):
    kept = [line for line in lines if re.match(r"v_(mul|add|sub|mad|mac|fma|fmac)\w*_f(32|64)", line)]
    return [re.sub(r"_e(32|64)\b", "", line) for line in kept]


PRECISE = "precise float p = x * y; precise float e = fma(x, y, -p); b[i] = p; b[i + 4096] = e;"
RELAXED = PRECISE.replace("precise ", "")
FUSED, PLAIN = "b[i] = fma(x, y, z);", "b[i] = x * y + z;"
DOUBLE = "b[i] = float(fma(double(x), double(y), double(z)));"
for family in ("vega20", "navi10", "navi21", "gfx1100"):
    new = family in ("navi21", "gfx1100")
    product, error = float_arithmetic(compiled(PRECISE, family))
    (fused,), (plain,), (double,) = (float_arithmetic(compiled(body, family)) for body in (FUSED, PLAIN, DOUBLE))
    print(f"{family:9} {error} | {fused} | {plain} | {double}")
    result = product.split()[1].rstrip(",")
    assert product.startswith("v_mul_f32")
    expected = r"v_fma_f32 v\d+, v\d+, v\d+, -" + result if new else rf"v_sub_f32 v\d+, {result}, {result}"
    assert re.fullmatch(expected, error), expected
    assert fused.split()[0] == plain.split()[0] == ("v_fmac_f32" if new else "v_mac_f32")
    assert double.startswith("v_fma_f64")
lines = compiled(RELAXED, "navi10")
(product,) = float_arithmetic(lines)
(zero,) = [line for line in lines if line.startswith("v_mov_b32")]
print(f"navi10, no precise: {product}; {zero}")
assert zero.endswith(", 0")
stores = [line.split()[1].rstrip(",") for line in lines if line.startswith("buffer_store")]
assert stores == [product.split()[1].rstrip(","), zero.split()[1].rstrip(",")]
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
