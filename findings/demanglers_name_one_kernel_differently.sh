#!/usr/bin/env bash
# Packages: pydemumble 0.1.1 (LLVM's demangler) and cpp-demangle 0.1.3 (Rust's cpp_demangle).
# Expected: a mangled name has one demangled form, up to spaces. So tables of two tools can be joined by
#   the names of kernels.
# Instead: of the names that HIP kernels have, one in two differs in more than spaces: vectors, unsigned
#   and floating-point constants, lambdas, and suffixes. A kernel descriptor's .kd is "(.kd)" with one
#   and "[clone .kd]" with the other, a template with a declared parameter type is refused by one, and
#   __bf16 of the sources is "std::bfloat16_t" with both.
# Seen (pydemumble | cpp-demangle):
#   void gemm<float vector[4]>(...)              | void gemm<float __vector(4)>(...)
#   void tile<64u>(float*)                       | void tile<(unsigned int)64>(float*)
#   void scale<0x1p+0f>()                        | void scale<(float)[3f800000]>()
#   void run<main::'lambda'(float*)>(...)        | void run<main::{lambda(float*)#1}>(...)
#   gemm(float*) (.kd)                           | gemm(float*) [clone .kd]
#   void pick<64>(float*)                        | refused
#   void gemm<std::bfloat16_t>(std::bfloat16_t*) | the same
# Why it matters: a profiler's CSV, a trace's kernel list and a viewer each have demangled names of their
#   own demangler. Joined by name they lose just the kernels that matter, those of matrix cores with
#   vector and half types, and a filter on "__bf16" or "hip_bfloat16" finds nothing. Join by the mangled
#   name.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check pydemumble==0.1.1 cpp-demangle==0.1.3
cat > "$dir/see.py" <<'PY'
import cpp_demangle
import pydemumble

EXPECTED = {
    "_Z4gemmIDv4_fEvPT_": ("void gemm<float vector[4]>(float vector[4]*)",
                           "void gemm<float __vector(4)>(float __vector(4)*)"),
    "_Z4tileILj64EEvPf": ("void tile<64u>(float*)", "void tile<(unsigned int)64>(float*)"),
    "_Z5scaleILf3f800000EEvv": ("void scale<0x1p+0f>()", "void scale<(float)[3f800000]>()"),
    "_Z3runIZ4mainEUlPfE_EvT_": ("void run<main::'lambda'(float*)>(main::'lambda'(float*))",
                                 "void run<main::{lambda(float*)#1}>(main::{lambda(float*)#1})"),
    "_Z4gemmPf.kd": ("gemm(float*) (.kd)", "gemm(float*) [clone .kd]"),
    "_Z4pickITnDaLi64EEvPf": ("void pick<64>(float*)", "refused"),
    "_Z4gemmIDF16bEvPT_": ("void gemm<std::bfloat16_t>(std::bfloat16_t*)",) * 2,
    "_Z4gemmIfEvPT_": ("void gemm<float>(float*)",) * 2,
}
for name, expected in EXPECTED.items():
    one = pydemumble.demangle(name)
    try:
        other = cpp_demangle.demangle(name)
    except ValueError:
        other = "refused"
    print(name, one, other, sep="\n  ")
    assert (one, other) == expected, expected
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
