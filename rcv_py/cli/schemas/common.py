"""JSON types of fields that many documents share."""

from __future__ import annotations

from rcv_py.results import common
from rcv_py.results.field import shapes
from rcv_py.results.json_types import Fields

CAPTURE: Fields = shapes([common.CAPTURE])
LINE = common.LINE.shape
LINE_OR_NONE = common.LINE_OR_NONE.shape
INSTRUCTION = common.INSTRUCTION_TEXT.shape
SOURCE = common.SOURCE_PLACE.shape
PLACE: Fields = shapes(common.PLACE)
OF = common.OF.shape
WAVE_NAME = common.WAVE_NAME.shape
COSTS: Fields = shapes(common.COSTS)
COST_SHARE = common.COST_SHARE.shape
MEASURE = common.MEASURE.shape
WAVE_ASKED = common.WAVE_ASKED.shape
WAVES_READ = common.WAVES_READ.shape
