#!/usr/bin/env bash
# Package: tinygrad 0.14.0 (its decoder of SQ thread traces, which has no GPU to ask).
# Expected: time of a decoded trace never runs backward. A timestamp that agrees with the cycles that
#   the tokens before it counted changes nothing.
# Instead, for CDNA: each absolute timestamp but the first sets the clock to its value, rounded down
#   to 4 cycles, and less 4. One that agrees moves the clock back by 4 cycles, one that is 3 cycles
#   ahead also. The instruction after it is then dated before the one in front of it.
# Seen (time of the tokens; the first timestamp is 1000, 100 cycles are counted):
#   second timestamp 1100: instruction at 100, timestamp at  96, instruction at  96
#   second timestamp 1103: instruction at 100, timestamp at  96, instruction at  96
#   second timestamp 1104: instruction at 100, timestamp at 100, instruction at 100
# Why it matters: gaps between instructions that are made by subtraction become -4 across a timestamp,
#   and a list in order of the stream is not in order of time. Compared with another decoder's
#   result such a trace differs by up to 4 cycles, at places that change with the data. Sort, or
#   take the maximum so far.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check tinygrad==0.14.0
cat > "$dir/see.py" <<'PY'
from tinygrad.renderer.amd.sqtt import CDNA_INST, CDNA_MISC, CDNA_TIMESTAMP, decode


def token(kind, **fields):
    """The bytes of a token, by the field positions that the decoder's own classes tell."""
    value = kind.encoding.default << kind.encoding.lo
    for name, what in fields.items():
        value |= what << kind.__dict__[name].lo
    return value.to_bytes(kind._size_nibbles // 2, "little")


instruction = token(CDNA_INST, op=5)
for second, expected in ((1100, [100, 96, 96]), (1103, [100, 96, 96]), (1104, [100, 100, 100])):
    data = b"".join((
        token(CDNA_TIMESTAMP, _reserved=1),  # the header, by which the decoder knows the family
        token(CDNA_TIMESTAMP, timestamp=1000),
        token(CDNA_MISC, delta=25),  # 25 times 4 cycles
        instruction,
        token(CDNA_TIMESTAMP, timestamp=second),
        instruction,
        token(CDNA_MISC) * 8,  # no time; the decoder needs more bytes
    ))
    kinds = [(type(one).__name__, one._time) for one in decode(data)]
    at = next(place for place, (kind, _) in enumerate(kinds) if kind == "CDNA_INST")
    names, times = zip(*kinds[at : at + 3], strict=True)
    print(f"second timestamp {second}: instruction at {times[0]}, timestamp at {times[1]:3},",
          f"instruction at {times[2]:3}")
    assert names == ("CDNA_INST", "CDNA_TIMESTAMP", "CDNA_INST")
    assert list(times) == expected
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
