"""Read `.sqtt_funcmap`, the section of a code object in which a compiler names the markers of its kernels.

It is text, a row a line, with a zero after the rows of each translation unit.

```
F:3:_Z4loadPf@gemm.hip:41 -> gemm.hip:90    function, with its place and callers outwards
U:4:load tiles                              scope that the program names
P:5:vmem_load@gemm.hip:44                   point
R:5:extra_payload_count=1                   words of data after marker 5
M:shader_clock_bits=12;shader_clock_shift=4 markers carry the low bits of the clock
K:_Z4gemmPf@gemm.hip:80                     kernel, without a marker
```
Source: ROCm/rocm-systems, projects/rocprof-trace-decoder, docs/markers.
"""

import re
from typing import Any

TABLES = ("sqtt_funcmap", "sqtt_funcmap_layout", "sqtt_funcmap_payloads")  # their names in a code.json
_NAMED = ("F", "U", "P")
_NUMBER = re.compile(r"\d{1,10}", re.ASCII)
_WORDS = re.compile(r"extra_payload_count=(\d{1,6})", re.ASCII)
_CLOCK = re.compile(r"shader_clock_bits=(\d{1,4});shader_clock_shift=(\d{1,4})", re.ASCII)


def marker_tables(section: bytes, codeobj: int) -> tuple[dict[str, list[list[Any]]], int]:
    """Return the rows of TABLES as a code.json has them, and how many rows of the section are unusable."""
    tables: dict[str, list[list[Any]]] = {name: [] for name in TABLES}
    names, layout, payloads = tables.values()
    unusable = 0
    for row in re.split(r"[\n\0]+", section.decode("utf-8", "replace")):
        kind, _, rest = row.strip().partition(":")
        number, _, text = rest.partition(":")
        if kind == "M" and (clock := _CLOCK.fullmatch(rest)):
            layout.append([codeobj, *map(int, clock.groups())])
        elif kind == "R" and (words := _WORDS.fullmatch(text)) and _NUMBER.fullmatch(number):
            payloads.append([codeobj, int(number), int(words[1])])
        elif kind == "K":
            names.append([codeobj, 0, kind, *_placed(kind, rest)])
        elif kind in _NAMED and text and _NUMBER.fullmatch(number):
            names.append([codeobj, int(number), kind, *_placed(kind, text)])
        else:
            unusable += kind in (*_NAMED, "M", "R")
    return tables, unusable


def _placed(kind: str, text: str) -> tuple[str, str]:
    """Name and source place; names of scopes may hold the sign between both."""
    name, _, place = text.partition("@")
    return (name, place) if kind != "U" and place.rpartition(":")[2].isdigit() else (text, "")
