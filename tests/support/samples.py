"""Made-up captures as tests want them: simulated once a run, for all of its processes."""

from __future__ import annotations

import os
import pickle
import shutil
from contextlib import suppress
from pathlib import Path

from rcv_py.synth.capture import Truth
from rcv_py.synth.samples import SAMPLES

STORE = "RCV_TEST_SAMPLES"  # the folder of this run, see tests/conftest.py


def write_sample(name: str, folder: Path, seed: int = 0) -> Truth:
    """Write a sample into a folder, which may be changed afterwards; return what is true of it."""
    if STORE not in os.environ:
        return SAMPLES[name].write(folder, seed)
    made = Path(os.environ[STORE]) / f"{name}-{seed}"
    if not made.exists():
        part = made.with_suffix(f".{os.getpid()}")
        truth = SAMPLES[name].write(part / "capture", seed)
        (part / "truth").write_bytes(pickle.dumps(truth))
        with suppress(OSError):  # another process was first
            part.rename(made)
    shutil.copytree(made / "capture", folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
    return pickle.loads((made / "truth").read_bytes())
