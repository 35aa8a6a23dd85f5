"""Made-up captures as tests want them: simulated once a run, for all of its processes."""

import json
import os
import pickle
import shutil
from collections.abc import Callable
from contextlib import suppress
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import TypeVar

import numpy as np

from rcv_py.synth.capture import Truth
from rcv_py.synth.samples import SAMPLES, simulated

STORE = "RCV_TEST_SAMPLES"  # the folder of this run, see tests/conftest.py
Made = TypeVar("Made")


def write_sample(name: str, folder: Path, seed: int = 0) -> Truth:
    """Write a sample into a folder, which may be changed afterwards; return what is true of it."""
    if STORE not in os.environ:
        return SAMPLES[name].write(folder, seed)
    made = _made(name, seed)
    shutil.copytree(made / name, folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
    return pickle.loads((made / "truth").read_bytes())


def sample_path(name: str) -> Path:
    """The folder of a sample that all tests of the run share: nobody writes into it."""
    return _made(name, 0) / name


def sample(name: str) -> tuple[Path, Truth]:
    """The same, and what is true of it."""
    made = _made(name, 0)
    return made / name, pickle.loads((made / "truth").read_bytes())


def lives(truth: Truth) -> tuple[np.ndarray, np.ndarray]:
    """Begin and end of every wave of the device, int64 cycles on one clock."""
    shift = np.array([truth.offset_of_se[se] for se in truth.residencies[:, 0].tolist()])
    return truth.residencies[:, 4] + shift, truth.residencies[:, 5] + shift


def resident(truth: Truth) -> np.ndarray:
    """Waves on the device in each cycle from the first start to the last end."""
    begin, end = lives(truth)
    change = np.zeros(end.max() - begin.min() + 1, dtype=np.int64)
    np.add.at(change, begin - begin.min(), 1)
    np.add.at(change, end - begin.min(), -1)
    return np.cumsum(change)[:-1]


def once(name: str, make: Callable[[], Made]) -> Made:
    """What `make` gives, which can be pickled, made by the first process of a run that asks for the name."""
    if STORE not in os.environ:
        return make()
    known = Path(os.environ[STORE]) / f"once-{name}"
    with suppress(OSError):
        return pickle.loads(known.read_bytes())
    made = make()
    part = known.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps(made))
    part.replace(known)
    return made


def _made(name: str, seed: int) -> Path:
    """The folder with a capture and what is true of it, which the first that asks makes; others wait for it.

    What was simulated is written as every sample that is made of it: each of them is wanted in a run.
    """
    made = Path(os.environ[STORE]) / f"{name}-{seed}"
    if made.exists():
        return made
    plan = SAMPLES[name].plan
    of_plan = [sample for sample in SAMPLES.values() if sample.plan == plan]
    with (made.parent / f"making-{of_plan[0].name}-{seed}").open("w") as lock:
        flock(lock, LOCK_EX)  # until it is closed, or this process ends
        if not made.exists():
            done = simulated(plan, seed)
            for sample in of_plan:
                part = made.parent / f"part-{sample.name}-{seed}"
                truth = sample.write_simulated(done, part / sample.name)
                (part / "truth").write_bytes(pickle.dumps(truth))
                part.rename(made.with_name(f"{sample.name}-{seed}"))
    return made


def markers_alone(parent: Path) -> Path:
    """Write a capture with markers, without its traced waves; return its folder."""
    folder = parent / "ui_output_agent_1_dispatch_1"
    write_sample("markers", folder)
    path = folder / "filenames.json"
    index = json.loads(path.read_text())
    index["wave_filenames"] = None
    path.write_text(json.dumps(index))
    for file in folder.glob("se*_sm*_sl*_wv*.json"):
        file.unlink()
    return folder


def write_slow(name: str, folder: Path) -> Path:
    """Write a sample whose instructions all take four times as long, stalled; return its folder."""
    write_sample(name, folder)
    for path in folder.glob("se*_wv*.json"):
        document = json.loads(path.read_text())
        wave, late = document["wave"], 0
        for token in wave["instructions"]:
            token[0] += late
            more = 3 * token[3]
            token[2], token[3], late = token[2] + more, token[3] + more, late + more
        wave["end"] += late
        path.write_text(json.dumps(document))
    return folder
