"""Fields that many documents share."""

from __future__ import annotations

from rcv_py.results.json_types import Fields, cycles, maybe, share, text, times, waves, whole

CAPTURE: Fields = {"capture": text("Name of the capture: that of its folder.")}
LINE = whole("Row of the program, counted from 0; `rcv line` takes it.")
LINE_OR_NONE = whole("Row of the program, counted from 0; -1 if there is none.", least=-1)
INSTRUCTION = text("Text of the instruction.")
SOURCE = text("Innermost source place as file:line; empty if there is none.")
PLACE: Fields = {"line": LINE, "text": INSTRUCTION, "source": SOURCE}
OF = times("Rows there are, of which --top may have left some out")
WAVE_NAME = text("A wave, such as se0/simd2/slot5/wv3.")
COSTS: Fields = {
    "hits": times("Executions by all traced waves"),
    "latency": cycles("Stall and issue (gfx9) or stall and execution, summed over all traced waves"),
    "stall": cycles("Part of the latency in which the instruction could not issue, summed over all waves"),
    "idle": cycles("Gaps in front of the instruction in its own wave, summed over all waves"),
}
COST_SHARE = share("Part of latency and idle time of all rows (PC samples: of all samples)")
MEASURE = text("What the numbers count: cycles of latency in one of its modes, or PC samples.")
WAVE_ASKED = maybe(text("The wave that was asked for; null for all."))
WAVES_READ = waves("Waves that could be read")
