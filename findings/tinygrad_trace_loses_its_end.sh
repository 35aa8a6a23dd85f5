#!/usr/bin/env bash
# Package: tinygrad 0.14.0 (its decoder of SQ thread traces, which has no GPU to ask).
# Expected: a trace that ends with its last token is decoded to the last token.
# Instead: the decoder keeps 64 bits in hand and takes from the stream as many as the token before was
#   long. It stops once these are not there, though the next tokens are in hand already. Up to 8 bytes
#   of tokens are lost, without an error: here both instructions and the end of the wave. With 8
#   bytes of zeros appended, which are tokens themselves, all come out.
# Seen (RDNA3: header, start of a wave, two VALU instructions, end of the wave):
#   no bytes appended: LAYOUT_HEADER WAVESTART
#   4 bytes appended:  LAYOUT_HEADER WAVESTART VALUINST VALUINST
#   8 bytes appended:  LAYOUT_HEADER WAVESTART VALUINST VALUINST WAVEEND NOP NOP
# Why it matters: a tool that cuts a trace at the write pointer, which is its size, loses the ends
#   of the last waves. These waves then seem to be running when the trace ends, as if the buffer had
#   been full, and the last wait of the kernel has no end. Zeros after the data help.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check tinygrad==0.14.0
cat > "$dir/see.py" <<'PY'
from tinygrad.renderer.amd.sqtt import LAYOUT_HEADER, VALUINST, WAVEEND, WAVESTART, decode


def token(kind, **fields):
    """The bits of a token, by the field positions that the decoder's own classes tell."""
    value = kind.encoding.default << kind.encoding.lo
    for name, what in fields.items():
        value |= what << kind.__dict__[name].lo
    return value, kind._size_nibbles * 4


value = length = 0
for bits, size in (
    token(LAYOUT_HEADER, layout=3),
    token(WAVESTART, delta=1, wave=5),
    token(VALUINST, delta=2, wave=5),
    token(VALUINST, delta=2, wave=5),
    token(WAVEEND, delta=1, wave=5),
):
    value |= bits << length
    length += size
assert length % 4 == 0
data = value.to_bytes((length + 7) // 8, "little")
seen = {}
for zeros in (0, 4, 8):
    seen[zeros] = [type(one).__name__ for one in decode(data + bytes(zeros))]
    print(zeros or "no", "bytes appended:", *seen[zeros])
assert seen[0] == ["LAYOUT_HEADER", "WAVESTART"]
assert seen[4] == ["LAYOUT_HEADER", "WAVESTART", "VALUINST", "VALUINST"]
assert seen[8][:5] == ["LAYOUT_HEADER", "WAVESTART", "VALUINST", "VALUINST", "WAVEEND"]
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
