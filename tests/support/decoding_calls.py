"""Calls that processes make in place of decoding a shader engine; they are found by their name there."""

import os
import signal
from pathlib import Path

from rcv_py.formats.raw.decode import EngineJob, decoded_engine
from rcv_py.formats.raw.engine import Engine


def deadly(job: EngineJob) -> Engine:
    """Decode, but for shader engine 0, of which its process is killed."""
    if job.stream.se == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return decoded_engine(job)


def begun(job: EngineJob) -> Engine:
    """Say that it began by a file beside the capture, and decode."""
    Path(job.capture.folder.parent / "begun").touch()
    return decoded_engine(job)
