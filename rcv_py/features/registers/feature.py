"""What this feature adds: commands, panels, schemas, sections of reports."""

from rcv_py.base.manifest import CommandEntry, Feature, Group

FEATURE = Feature(commands=(CommandEntry("registers", Group.DIG, 130),), sections={"registers": 220})
