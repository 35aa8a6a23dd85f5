"""What LLVM's tools say of code objects: kernels, what they allocate, starts of instructions, source lines.

    python -m tests.support.llvm_truth FILE… --out truth.json

`told_by_llvm` and `told_by_rcv` have the same form, so a difference between them is a fault of one of both.
Needs llvm-readelf, llvm-objdump and llvm-symbolizer of LLVM 22, as Debian's llvm-22 has them.
"""

import argparse
import json
import re
import subprocess
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any

from rcv_py.formats.isa.code_object import CodeObject
from rcv_py.formats.isa.elf import allocated_registers
from rcv_py.model.resources import AllocatedRegisters
from tests.support.limits import HANG_S

VERSION = "-22"  # of LLVM's tools, at the end of their names
UNKNOWN = -1
_SYMBOL = re.compile(r" ([0-9a-f]{16}) +(\d+) (FUNC|OBJECT) .* (\S+)$", re.MULTILINE)
_NOTED = re.compile(r"^(?:  - |    )\.(\w+): +(\S+)$")
_TOLD = re.compile(r"^\t\.amdhsa_(\w+) (\d+)$", re.MULTILINE)
_CODE = re.compile(r"// ([0-9A-F]{12,16}):((?: [0-9A-F]{8})+)")


def tool(name: str, *words: str | Path, given: str = "") -> str:
    """The output of a tool of LLVM."""
    command = [f"llvm-{name}{VERSION}", *words]
    return subprocess.run(
        command, input=given, capture_output=True, text=True, check=True, timeout=HANG_S
    ).stdout


def told_by_llvm(file: Path) -> dict[str, Any]:
    """Return the kernels and functions of a code object, by name."""
    symbols: dict[str, tuple[int, int]] = {}
    code: dict[str, tuple[int, int]] = {}
    for at, size, kind, name in _SYMBOL.findall(tool("readelf", "-sW", file)):
        (code if kind == "FUNC" else symbols)[name] = int(at, 16), int(size)
    words = {int(at, 16): len(code.split()) for at, code in _CODE.findall(tool("objdump", "-d", file))}
    kernels = {one["name"]: one for one in _noted(tool("readelf", "--notes", file))}
    functions = {}
    for name, (at, size) in code.items():
        inside = [one for one in words if at <= one < at + size]
        if inside:
            functions[name] = _code([words[one] for one in inside], _chains(file, inside))
    return {
        "kernels": {
            name: _allocated(file, noted, symbols[f"{name}.kd"][0]) for name, noted in kernels.items()
        },
        "functions": functions,
    }


def _noted(notes: str) -> list[dict[str, str]]:
    """The kernels of a note, by keys."""
    found: list[dict[str, str]] = []
    for line in notes.splitlines():
        if line.startswith("  - "):
            found.append({})
        if found and (one := _NOTED.match(line)):
            found[-1][one[1]] = one[2]
    return [one for one in found if "name" in one and "symbol" in one]


def _allocated(file: Path, noted: dict[str, str], descriptor: int) -> dict[str, int]:
    span = f"--start-address={descriptor}", f"--stop-address={descriptor + 64}"
    told = dict(_TOLD.findall(tool("objdump", "-D", "-j", ".rodata", *span, file)))
    is_gfx9 = "wavefront_size32" not in told
    return {
        "vgprs": int(told["next_free_vgpr"]),
        "sgprs": int(told["next_free_sgpr"]) if is_gfx9 else UNKNOWN,  # later GPUs give each wave all
        "lds": int(told["group_segment_fixed_size"]),
        "scratch": int(told["private_segment_fixed_size"]),
        "lanes": 32 if told.get("wavefront_size32") == "1" else 64,
        "threads": int(noted["max_flat_workgroup_size"]),
        "spilled_vgprs": int(noted["vgpr_spill_count"]),
        "spilled_sgprs": int(noted["sgpr_spill_count"]),
    }


def _chains(file: Path, addresses: Sequence[int]) -> list[str]:
    said = tool(
        "symbolizer", "--output-style=JSON", "--inlines", "-e", file, given="\n".join(map(hex, addresses))
    )
    found = [json.loads(line)["Symbol"] for line in said.splitlines()]
    return [_chain([(one["FileName"], one["Line"]) for one in places if one["FileName"]]) for places in found]


def _chain(places: Sequence[tuple[str, int]]) -> str:
    return " < ".join(f"{PurePosixPath(file).name}:{line}" for file, line in places)


def _code(words: Sequence[int], chains: Sequence[str]) -> dict[str, Any]:
    """Words of each instruction, and runs of instructions with the same lines."""
    runs = [[len(list(run)), chain] for chain, run in groupby(chains)]
    return {"words": "".join(map(str, words)), "lines": runs}


def told_by_rcv(file: Path) -> dict[str, Any]:
    """Return the same by our own reader."""
    found = CodeObject.open(file)
    assert found.image is not None
    functions = {}
    for one in found.functions:
        if one.name:
            program = found.program(one.address)
            assert program is not None
            chains = [_chain(places) for places in found.places(program.address)]
            functions[one.name] = _code((program.size // 4).tolist(), chains)
    kernels = {}
    for kernel in found.kernels:
        allocated = allocated_registers(found.image, kernel.name, file.name)
        assert allocated is not None
        kernels[kernel.name] = _own(allocated)
    return {"kernels": kernels, "functions": functions}


def _own(allocated: AllocatedRegisters) -> dict[str, int]:
    names = ("vgprs", "sgprs", "lds", "scratch", "lanes", "threads", "spilled_vgprs", "spilled_sgprs")
    return {name: getattr(allocated, name) for name in names}


def differences(said: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """Return a line for each fact that LLVM says and we do not, with both."""
    found = []
    for kind in ("kernels", "functions"):
        for name in sorted(said[kind].keys() | ours[kind].keys()):
            one, other = said[kind].get(name, {}), ours[kind].get(name, {})
            found += [
                f"{name}: {key}: LLVM {one.get(key)}, rcv {other.get(key)}"
                for key in one.keys() | other.keys()
                if one.get(key) != other.get(key)
            ]
    return found


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    rows = (f"{json.dumps(file.name)}: {json.dumps(told_by_llvm(file))}" for file in given.files)
    given.out.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
