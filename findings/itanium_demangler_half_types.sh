#!/usr/bin/env bash
# Package: itanium-demangler 1.1 (pure Python).
# Expected: parse() of a symbol that it does not support gives None. A kernel template
#   of _Float16 is either named so or not at all.
# Instead: the one type that it calls _Float16 is another one, Dh, the IEEE half that OpenCL and AMD's
#   device libraries use. The real _Float16 (DF16_) and bfloat16 (DF16b) raise KeyError, and a lambda
#   or a function-local type raises NotImplementedError. None comes for vectors (Dv4_f, as MFMA
#   operands are), for address spaces (U3AS1) and for the kernel descriptor's symbol (.kd).
# Seen:
#   _Z4gemmIfEvPT_           void gemm<float>(float*)
#   _Z4gemmIDhEvPT_          void gemm<_Float16>(_Float16*)
#   _Z4gemmIDF16_EvPT_       KeyError: 'DF'
#   _Z4gemmIDF16bEvPT_       KeyError: 'DF'
#   _Z4mfmaDv4_f             None
#   _Z4copyPU3AS1f           None
#   _Z3fooPf.kd              None
#   _Z3runIZ4mainEUlPfE_EvT_ NotImplementedError: local names are not supported
# Why it matters: names of a trace are read in a loop over all symbols. The first half-precision kernel
#   ends the loop by an error that a check for None does not catch, and where no error comes, the
#   type in the name may be the wrong one of two that overloads tell apart.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check itanium-demangler==1.1
cat > "$dir/see.py" <<'PY'
from itanium_demangler import parse

EXPECTED = {
    "_Z4gemmIfEvPT_": "void gemm<float>(float*)",
    "_Z4gemmIDhEvPT_": "void gemm<_Float16>(_Float16*)",
    "_Z4gemmIDF16_EvPT_": "KeyError: 'DF'",
    "_Z4gemmIDF16bEvPT_": "KeyError: 'DF'",
    "_Z4mfmaDv4_f": "None",
    "_Z4copyPU3AS1f": "None",
    "_Z3fooPf.kd": "None",
    "_Z3runIZ4mainEUlPfE_EvT_": "NotImplementedError: local names are not supported",
}
for name, expected in EXPECTED.items():
    try:
        found = str(parse(name))
    except (KeyError, NotImplementedError) as error:
        found = f"{type(error).__name__}: {error}"
    print(f"{name:25} {found}")
    assert found == expected, expected
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
