"""What an instruction does, which unit executes it, how long that takes, and what must be waited for.

Sentences come from `resources/tables/families.toml`; unit, passes and distances are those that the rules of
attribution use.
"""

import re
from functools import cache

from rcv_py.analysis.attribution import lines as traits
from rcv_py.analysis.program.instruction_classes import instruction_class
from rcv_py.analysis.program.matrix_forms import matrix_cycles, matrix_flops
from rcv_py.analysis.program.operations import vector_flops
from rcv_py.analysis.waits.hoisting import is_load
from rcv_py.analysis.waits.waitcnt.generations import generation_of
from rcv_py.base.record import Value
from rcv_py.base.tables import table
from rcv_py.base.text import Message, plural
from rcv_py.model.architecture import Architecture

UNIT_NAMES = (
    "none", "VALU", "MFMA/WMMA", "VMEM", "LDS", "SMEM", "SALU", "branch", "message",
)  # fmt: skip
_PASS = 4  # cycles
KINDS = ("v_", "s_", "ds")  # each alternative of a pattern begins so if the first one does
_ENCODING = re.compile(r"_(e32|e64|sdwa|dpp|dpp8|e64_dpp)$")


class InstructionHelp(Value):
    """Facts about an instruction."""

    mnemonic: str
    what: str  # a sentence
    kind: str  # its class, in words
    unit: str
    cycles: int  # minimum cycles during which its unit takes nothing else; 0: none
    passes: int  # of the matrix unit, 4 cycles each; 0 for other units, and if unknown
    flop: int  # operations of one execution: per wave for matrix instructions, per lane for others
    counters: tuple[str, ...]  # counters that it raises, or waits for
    distances: tuple[str, ...]  # sentences: what must lie between it and a reader of its result


_compiled = cache(re.compile)  # patterns behind the one that matches are not needed


def what_it_does(text: str) -> str:
    """Return a sentence about an instruction by its mnemonic; "" if no family matches."""
    plain = _ENCODING.sub("", text.strip().partition(" ")[0].lower())
    types, comparisons = table("families")["types"], table("families")["comparisons"]
    for pattern, sentence in table("families")["families"].items():
        if pattern[:2] in KINDS and pattern[:2] != plain[:2]:
            continue
        if found := _compiled(pattern).match(plain):
            groups = [group or "" for group in found.groups()]
            names = [group.rsplit("_", 1)[-1] for group in groups]
            spelled = {f"t{at}": types.get(name, name) for at, name in enumerate(names)}
            spelled |= {f"c{at}": comparisons.get(group, group) for at, group in enumerate(groups)}
            return Message(sentence, *groups, **spelled)
    return ""


def instruction_help(text: str, architecture: Architecture, texts: tuple[str, ...] = ()) -> InstructionHelp:
    """Return the facts about an instruction on a target; `texts` are all instructions of its program."""
    plain = text.strip()
    unit, step = traits.unit_of(plain), architecture.base_clock
    cycles = matrix_cycles(plain, architecture.target) or 0
    slow = 4 if unit == traits.VALU and re.match(traits.QUARTER, plain) else 2 if unit == traits.MATRIX else 1
    effect = generation_of(architecture, texts or (plain,)).effect(plain)
    raised = [Message("{0}cnt +1", counter) for counter, _ in effect.raises]
    waited = [Message("waits until {0}cnt is at most {1}", counter, left) for counter, left in effect.waits]
    return InstructionHelp(
        mnemonic=plain.partition(" ")[0],
        what=what_it_does(plain),
        kind=instruction_class(plain).text,
        unit=UNIT_NAMES[unit],
        cycles=max(cycles, slow * step)
        if unit in (traits.VALU, traits.MATRIX, traits.VMEM, traits.LDS, traits.SMEM)
        else 0,
        passes=cycles // _PASS,
        flop=matrix_flops(plain) or vector_flops(plain),
        counters=tuple(dict.fromkeys([*raised, *waited, *register_waits(plain)])),
        distances=tuple(_distances(plain, unit, cycles, step)),
    )


def _distances(text: str, unit: int, cycles: int, step: int) -> list[str]:
    if unit == traits.MATRIX and step == 4 and cycles in traits.RESULT_STATES:
        turns = plural(traits.RESULT_STATES[cycles], "turn")
        return [
            Message(
                "Another instruction can read its result {0} after it; an instruction that accumulates "
                "on it with the same form waits less.",
                turns,
            ),
            Message(
                "Packed and double-precision arithmetic can use the unit {0} cycles after its passes.",
                traits.TAIL,
            ),
        ]
    if unit == traits.VALU and step == 4:
        turns = plural(traits.TO_MEMORY, "turn")
        return [Message("A memory instruction that reads its result issues {0} after it.", turns)]
    return ["Its result is there when a wait for its counter says so."] if is_load(text) else []


# Fields of s_wait_alu (gfx12) and s_waitcnt_depctr (gfx10, gfx11), which wait for registers, not for memory.
# A field whose bits are all set waits for nothing.  Source: AMDGPU backend of LLVM, operand `depctr`.
_FIELDS = (  # name, first bit, bits, what is counted
    ("va_vdst", 12, 4, "vector instructions that have vector registers to write"),
    ("va_sdst", 9, 3, "vector instructions that have scalar registers to write"),
    ("va_ssrc", 8, 1, "vector instructions that have scalar registers to read"),
    ("hold_cnt", 7, 1, "instructions that hold the next"),
    ("vm_vsrc", 2, 3, "memory instructions that have vector registers to read"),
    ("va_vcc", 1, 1, "vector instructions that have vcc to write"),
    ("sa_sdst", 0, 1, "scalar instructions that have registers to write"),
)
_IS_ONE = re.compile(r"s_wait_alu|s_waitcnt_depctr")
_NUMBER = re.compile(r"\s(0x[0-9a-f]{1,4}|\d{1,5})\b", re.ASCII)


def register_waits(text: str) -> list[str]:
    """Return what each field waits for, as sentences; [] for other instructions."""
    if not _IS_ONE.match(text):
        return []
    number = _NUMBER.search(text)
    found: list[str] = []
    for name, first, bits, what in _FIELDS:
        most = (1 << bits) - 1
        named = re.search(rf"\bdepctr_{name}\((\d{{1,5}})\)", text, re.ASCII)
        left = int(named[1]) if named else int(number[1], 0) >> first & most if number else most
        if left < most:
            found.append(Message("waits until {0} is at most {1}: {2}", name, left, what))
    return found
