"""Make the samples of a compiled kernel: code objects, and a raw capture of one of them.

    python -m tests.support.compiled_sample --out sample_traces [--clang clang-22]

`compiled_rms_norm/` gets two builds of `rms_norm.hip` by a stock clang with lld, without ROCm.  The
simulator plays the first one: instructions, addresses and lines are the compiler's, times are its own.
`raw_rms_norm/` gets what `rocprofv3 --att` would leave behind of it.  Needs a disassembler that knows gfx942.
"""

import argparse
import shutil
import subprocess
from pathlib import Path

from msgspec.structs import replace

from rcv_py.formats.isa.code_object import CodeObject
from rcv_py.synth.build import Plan, build
from rcv_py.synth.hardware import CDNA
from rcv_py.synth.isa import meaning
from rcv_py.synth.program import SyntheticInstruction, SyntheticKernel
from rcv_py.synth.wave_state import SyntheticLaunch
from tests.support.limits import HANG_S
from tests.support.raw_samples import gfx9_stream

SOURCE = "rms_norm.hip"
TARGET = "gfx942"
BUILDS = {"rms_norm_gfx942.co": [], "rms_norm_unrolled_gfx942.co": ["-DUNROLL=4"]}
COMPILED, RAW = "compiled_rms_norm", "raw_rms_norm"
CODE_OBJECT = f"{TARGET}_code_object_id_1.out"
STREAM_KIND = 5  # of MI300
ENGINES = (0, 752)  # cycles by which the clocks of the shader engines lag
GROUPS = 4  # workgroups a compute unit; two of them at a time
LOOPS = (12, 8, 12)  # iterations: groups of a row, halvings of 256, groups of a row


def compile_builds(folder: Path, clang: str) -> None:
    """Compile the source of the folder into its builds; names in the debug information are relative."""
    words = [clang, "-x", "hip", "-O2", "-g", "-nogpuinc", "-nogpulib", "-fuse-cuid=none"]
    words += ["--offload-device-only", f"--offload-arch={TARGET}", "--no-gpu-bundle-output"]
    words += [f"-ffile-prefix-map={folder.resolve()}=."]
    for name, options in BUILDS.items():
        subprocess.run([*words, *options, SOURCE, "-o", name], cwd=folder, check=True, timeout=HANG_S)
        (folder / name).chmod(0o644)


def played_kernel(file: Path) -> SyntheticKernel:
    """Return the only kernel of a code object as the simulator plays it."""
    found = CodeObject.open(file, target=TARGET)
    (entry,) = found.kernels
    program = found.program(entry.address)
    assert program is not None
    rows = {address: row for row, address in enumerate(program.address.tolist())}
    heads = [
        rows[to]
        for to, at in zip(program.target.tolist(), program.address.tolist(), strict=True)
        if 0 <= to <= at
    ]
    labels = {f"loop{number}": row for number, row in enumerate(heads)}
    loops = iter(LOOPS)
    instructions = []
    for row, text in enumerate(program.text):
        target, notes = rows.get(int(program.target[row]), -1), {}
        if target >= 0:
            notes = {"iterations": str(next(loops))} if target <= row else {"chance": "0"}
        timing = replace(meaning(text, CDNA.generation), size=int(program.size[row]))
        instructions.append(SyntheticInstruction(text, "", timing, target, notes))
    return SyntheticKernel(
        entry.name, entry.demangled, CDNA.generation, entry.address, tuple(instructions), labels, codeobj=1
    )


def streams(file: Path) -> dict[str, bytes]:
    """Return the `.att` files of a run of a code object's kernel, by name."""
    launch = SyntheticLaunch(played_kernel(file), GROUPS, {})
    capture = build(Plan(CDNA, (launch,), ENGINES, cus=(0, 1, 2))).capture
    ran = capture.waves[0].cu
    found = {}
    for se in range(len(ENGINES)):
        elsewhere = [row for row in capture.truth.residencies.tolist() if row[0] == se and row[1] != ran]
        alone = replace(capture, waves=tuple(wave for wave in capture.waves if wave.se == se))
        found[f"1_0_shader_engine_{se}_1.att"], _ = gfx9_stream(alone, se, elsewhere, kind=STREAM_KIND)
    return found


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--out", type=Path, required=True, help="folder with both samples")
    options.add_argument("--clang", default="clang-22")
    given = options.parse_args()
    built, raw = given.out / COMPILED, given.out / RAW
    compile_builds(built, given.clang)
    raw.mkdir(exist_ok=True)
    shutil.copyfile(built / next(iter(BUILDS)), raw / CODE_OBJECT)
    shutil.copyfile(built / SOURCE, raw / SOURCE)
    for name, data in streams(raw / CODE_OBJECT).items():
        (raw / name).write_bytes(data)


if __name__ == "__main__":
    main()
