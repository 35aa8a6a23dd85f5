"""Settings of a recording, and changes after a check of the result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rcv_py.analysis.health.input_yaml import BUFFER, FORMS
from rcv_py.analysis.health.note import HealthNote, Setting
from rcv_py.base.text import Message

NAME = "out"  # of the files
# Notes about captures that show nothing: their recommendation is worth another run.
AGAIN = ("placeholder", "buffer", "no_working_waves")
FULL = {"att_buffer_size": "0x40000000"}  # when rocprofv3 itself reports a full buffer
EMPTY = {"att_shader_engine_mask": "0x11111111"}  # when it wrote no capture at all
DEFAULTS: Mapping[str, Setting] = {
    "output_file": NAME,
    "output_format": FORMS,
    "kernel_trace": True,
    "advanced_thread_trace": True,
    "att_target_cu": 1,
    "att_shader_engine_mask": "0x1",
    "att_buffer_size": BUFFER,
}


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting that another run changes."""

    name: str
    before: Setting | None  # None: rocprofv3's own
    after: Setting

    def __str__(self) -> str:
        before = "" if self.before is None else Message(" instead of {0}", self.before)
        return f"{self.name} {self.after}{before}"


def mended(
    settings: Mapping[str, Setting], chosen: Mapping[str, Setting], wanted: Mapping[str, Setting]
) -> tuple[dict[str, Setting], list[SettingChange]]:
    """Return settings with the `wanted` values, and the changes.

    Settings that the user has `chosen` stay.
    """
    changes = [
        SettingChange(name, settings.get(name), value)
        for name, value in wanted.items()
        if name not in chosen and settings.get(name) != value
    ]
    return {**settings, **{change.name: change.after for change in changes}}, changes


def recommended(notes: Sequence[HealthNote]) -> tuple[str, dict[str, Setting]]:
    """Return why a capture should be recorded again, "" if it should not, and with which settings."""
    grave = [note for note in notes if note.name in AGAIN and note.is_serious]
    wanted: dict[str, Setting] = {}
    for note in reversed(grave):
        wanted |= note.settings
    return (grave[0].title if grave else ""), wanted
