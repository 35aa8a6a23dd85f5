"""What this feature adds: commands, panels, schemas, sections of reports."""

from __future__ import annotations

from rcv_py.base.manifest import CommandEntry, Feature, Group
from rcv_py.features.record.options import RecordOptions

FEATURE = Feature(id="record", commands=(CommandEntry(RecordOptions, Group.MANAGE, 10),))
