"""The result of recording: each run of rocprofv3, why it was repeated, and the resulting capture."""

from rcv_py.features.health.result import SETTINGS
from rcv_py.results import kinds
from rcv_py.results.field import Field
from rcv_py.results.table import Schema, Spec

_RUN = (
    kinds.INDEX("run", "Number of the run, counted from 1", "run"),
    kinds.NOTE("why", "Why it was recorded; empty for the first run", "why"),
    kinds.TEXT("folder", "The folder that it was recorded into"),
    kinds.TEXT.maybe("capture", "The capture with most waves; null if none was written"),
    kinds.COUNT("captures", "Captures that were written"),
    kinds.INDEX("exit_code", "Exit code of rocprofv3", "exit code"),
    kinds.NOTE("verdict", "What `rcv check` says of the capture"),
)
RUNS = Spec("record runs", "One row per run of rocprofv3.", "run", *_RUN)
DOCUMENT = Spec("runs", "One row per run of rocprofv3.", "run", *_RUN, SETTINGS)
HEAD = (
    kinds.TEXT.maybe("capture", "Path of the capture to look at"),
    kinds.TEXT.maybe("replicate", "Path of another run with the same settings; null without one"),
    kinds.FLAG("is_serious", "Whether the capture is still truncated, empty or otherwise not trustworthy"),
    Field("command", kinds.texts("A word."), "The last command that recorded"),
)
SCHEMA = Schema("record", "Runs of rocprofv3, and the resulting capture.", (*HEAD, DOCUMENT.field("runs")))
