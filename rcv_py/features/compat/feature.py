"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import Feature

FEATURE = Feature()
