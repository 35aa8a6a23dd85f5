"""Fields that several results share."""

from __future__ import annotations

from rcv_py.results.field import Field
from rcv_py.results.unit import COUNT, CYCLES, INSTRUCTION, ROW, SOURCE, TEXT, WAVES

CAPTURE = Field("capture", TEXT, "Name of the capture: that of its folder")
LINE = Field("line", ROW, "Row of the program, counted from 0; `rcv line` takes it")
INSTRUCTION_TEXT = Field("text", INSTRUCTION, "Text of the instruction")
SOURCE_PLACE = Field("source", SOURCE, "Innermost source place as file:line; empty if there is none")
STALL = Field("stall", CYCLES, "Stall")
IDLE = Field("idle", CYCLES, "Gaps between instructions")
WAVE_ASKED = Field("wave", TEXT, "The wave that was asked for; null for all", is_unknown=True)
WAVES_READ = Field("waves", WAVES, "Waves that could be read")
OF = Field("of", COUNT, "Rows there are, of which --top may have left some out")
