"""Help texts: how to record counters with a trace, and the language of formulas."""

from rcv_py.analysis.counters.formula.parser import FUNCTIONS
from rcv_py.base.text import Message
from rcv_py.model.architecture import Architecture

ACTIVITY = (
    "SQ_BUSY_CU_CYCLES SQ_VALU_MFMA_BUSY_CYCLES SQ_ACTIVE_INST_VALU SQ_ACTIVE_INST_LDS "
    "SQ_ACTIVE_INST_VMEM SQ_ACTIVE_INST_FLAT SQ_ACTIVE_INST_SCA SQ_ACTIVE_INST_MISC"
)
_GFX9 = Message(
    "This capture has no counters. To record some with the trace:\n\nrocprofv3 --att "
    '--att-perfcounter-ctrl 8 --att-perfcounters "{0}" -d OUT -- APPLICATION\n\n'
    "(--att-activity 8 is short for this.) At most 8 SQ counters; a mask of SIMDs can follow "
    "after a colon, as in SQ_LDS_BANK_CONFLICT:0x1. A small number samples more often, and "
    "may cost packets. In an input file: att_perfcounter_ctrl and att_perfcounters.",
    ACTIVITY,
)
_LATER = """\
This capture has no counters. A thread trace of this generation carries none; performance monitors do:

rocprofv3 --att --spm SQ_CYCLES SQ_WAVES SQ_INSTS_VALU SQ_INSTS_LDS --spm-beta-enabled 1 \
--spm-sample-interval-unit sclk_cycles --spm-sample-interval 4096 -f json -d OUT -- APPLICATION

The viewer reads the spm.json that newer writers put beside the waves."""


def how_to_record(architecture: Architecture) -> str:
    """Return why there are no counters, and the command that records some."""
    return _GFX9 if architecture.has_trace_counters else _LATER


def grammar() -> str:
    """Return the help of the language, as plain text."""
    functions = "\n".join(f"  {how}\n      {what}" for how, what in FUNCTIONS.values())
    text = """\
One formula a line:  name := expression   # [unit] what it means
A name that begins with _ is a step on the way: computed, not drawn.
Equal names replace each other; your files come after the built-in set.

Values have four axes, XCC, SE, CU and TIME.  An axis of length 1 fits any.
A number is 1 long on every axis.  One curve is drawn for each place, at most ten.

Signs, loosest first
  |   &   == != < > <= >=   + -   * /   - !
  Comparisons give 0 or 1.  x / 0 is inf, 0 / 0 nan.

Functions
{0}
  Axes: XCC, SE, CU (or WGP, INSTANCE), TIME (or SAMPLES), All; several as axis=[SE, CU].
  Indexes count from 0, negative ones from the end.

Names
  Raw counters, with or without SQ_; with a SIMD mask as in LDS_BANK_CONFLICT:1.
  SCLOCK       first cycle of each interval
  RCLOCK       clock samples: [CU 0] shader cycles, [CU 1] ticks of the constant clock
  INTERVAL     cycles of an interval
  SHADER_HZ    shader clock; FREQUENCY the constant clock, as the capture states it
  NUM_XCC NUM_SE NUM_CU NUM_SAMPLES   lengths of the axes

Examples
  busy := sum[BUSY_CU_CYCLES, axis=[XCC, SE, CU]]
  rise := delta[sum[BUSY_CU_CYCLES, axis=CU]]
  late := select[SCLOCK, -1] - select[SCLOCK, 0]
"""
    return Message(text, functions)
