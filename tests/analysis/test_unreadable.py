"""Operands that could not be read decide nothing: no move, byte, register or class follows from raw words."""

from functools import cache

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.attribution.wait_costs import LOAD_TO_USE, WAITS
from rcv_py.analysis.device.occupancy_limits import occupancy_limits
from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.health.capture_health import table_problems
from rcv_py.analysis.iterations.loop_summary import LOOPS
from rcv_py.analysis.latency.access_widths import WIDTHS
from rcv_py.analysis.overview.roofline import roofline
from rcv_py.analysis.program.code_match import INSTALL, why_not_known
from rcv_py.analysis.program.live_registers import live_registers
from rcv_py.analysis.program.registers import definition, next_use, operands, registers
from rcv_py.analysis.waits.hoisting import UNREADABLE, HoistLimit, hoists, room_above
from rcv_py.analysis.waits.load_order import LOAD_ORDER
from rcv_py.analysis.whatif.block_schedule import block_schedules
from rcv_py.features.findings.result import facts
from rcv_py.features.registers.result import file_table, instruction_table, place_table
from rcv_py.features.roofline.result import roofline_note
from rcv_py.model.code import has_known_operands
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.support.health import capture_health
from tests.support.opened import sample_trace, sample_waves

RAW = {"v_": "v_unknown", "global_": "global_unknown", "s_load": "s_load_unknown", "ds_": "ds_unknown"}


@cache
def unread() -> tuple[Trace, list[WaveBatch]]:
    """A sample as it is without a disassembler, vector and memory instructions as raw words; its waves."""
    trace, batch = sample_waves("gfx12")

    def raw(text: str) -> str:
        known = (word for start, word in RAW.items() if text.strip().startswith(start))
        return next((f"{word} 0xee05007c 0x00000003" for word in known), text)

    return replace(trace, code=replace(trace.code, text=tuple(map(raw, trace.code.text)))), [batch]


@pytest.mark.parametrize(
    ("text", "is_known"),
    [
        ("global_unknown 0xee05007c 0x00000003 0x00000000", False),
        ("v_unknown 0x7e020280", False),
        (".long 0xbf9f0000", False),
        ("exp 0xf8000000 0x00000000", False),
        ("s_nop 0", True),
        ("s_waitcnt_depctr 0xfffe", True),
        ("s_mov_b32 s0, 0x12345678", True),
        ("v_mov_b32_e32 v1, 0x40490fdb", True),
        ("; kernel", True),
    ],
)
def test_raw_words_name_no_operands(text: str, is_known: bool) -> None:
    assert has_known_operands(text) is is_known


def test_an_unreadable_instruction_may_use_any_register() -> None:
    known = registers("v_unknown 0x7e020280")
    wanted = registers("v_add_f32_e32 v4, v5, v6")
    assert known.writes & wanted.reads == wanted.reads
    assert known.reads & wanted.writes == wanted.writes
    assert operands("v_unknown 0x7e020280") == ()


def test_no_definition_or_use_is_named_across_raw_words() -> None:
    texts = ["v_mov_b32_e32 v4, 0", "v_unknown 0x7e020280", "v_add_f32_e32 v5, v4, v4"]
    v4 = registers(texts[0]).writes
    assert definition(texts, 2, v4, range(3)) == -1  # raw words may have written it since
    assert next_use(texts, 0, v4, range(3)) == -1
    texts[1] = "s_nop 0"
    assert definition(texts, 2, v4, range(3)) == 0
    assert next_use(texts, 0, v4, range(3)) == 2


def test_nothing_moves_that_is_unreadable_or_above_raw_words() -> None:
    trace, _ = unread()
    known = hoists(trace.code, trace.architecture)
    for row in np.flatnonzero(trace.code.hits).tolist():
        if trace.code.is_unreadable[row]:
            assert known.of(row).limit is HoistLimit.UNREADABLE
            assert known.of(row).up == known.of(row).renamed_up == 0
            assert room_above(trace, row).why == UNREADABLE
        top = room_above(trace, row).top
        assert not trace.code.is_unreadable[top:row].any()


def counts(trace: Trace) -> tuple[int, int]:
    """Raw and all instructions, counted by their texts alone."""
    texts = [text for text, label in zip(trace.code.text, trace.code.is_label, strict=True) if not label]
    return sum("_unknown " in text for text in texts), len(texts)


def test_health_and_triage_say_how_many_texts_and_what_to_install() -> None:
    trace, batches = unread()
    few, many = counts(trace)
    said = f"{few:,} of {many:,} instruction texts are unreadable"
    (note,) = (note for note in capture_health(trace) if note.name == "unreadable")
    assert said in note.title
    assert INSTALL in note.remedy
    (problem,) = (one for one in table_problems(trace) if said in one.text)
    assert INSTALL in problem.hint
    found = findings(trace, batches)
    assert said in found.sentence
    assert INSTALL in found.sentence
    whole = sample_trace("gfx12")
    assert not [note for note in capture_health(whole) if note.name == "unreadable"]


def test_no_finding_and_no_class_uses_operands_that_were_not_read() -> None:
    found = findings(*unread())
    assert found.bound_class is None or found.bound_class.name == "launch-bound"
    assert "bytes a CU" not in str(found)
    for finding in found.findings:
        assert "Issue instruction" not in finding.remedy
        assert "registers" not in finding.remedy


def test_bytes_and_operations_are_not_known() -> None:
    trace, batches = unread()
    widths = WIDTHS.of(trace, batches)
    assert widths.vector_rate is None
    scope = roofline(trace, widths, LOOPS.of(trace, batches)).scopes[0]
    assert np.isnan([scope.bytes, scope.byte_rate, scope.flop(), scope.intensity, scope.matrix_busy]).all()


def test_registers_and_orders_are_not_known() -> None:
    trace, batches = unread()
    held = live_registers(trace.code)
    limits = occupancy_limits(trace)
    assert not [one for one in limits.limits if one.name == "vector registers"]
    assert not len(file_table(trace, held, limits))
    assert not len(place_table(trace, held, 3))
    assert not len(instruction_table(trace, held))
    assert not len(LOAD_ORDER.of(trace, batches))
    for block in block_schedules(trace, trace.code, WAITS.of(trace, batches).latency):
        assert not trace.code.is_unreadable[block.first : block.last + 1].any()


def test_instructions_between_a_load_and_its_wait_are_not_counted() -> None:
    """An unreadable vector instruction may be a matrix instruction."""
    (trace, batches), known = unread(), sample_trace("gfx12")
    assert np.isfinite(LOAD_TO_USE.of(known, batches).matrix).all()
    uses = LOAD_TO_USE.of(trace, batches)
    assert len(uses)
    assert np.isnan(uses.matrix).all()
    assert np.isnan(uses.vector).all()
    said = " ".join(one.sentence for one in findings(trace, batches).findings)
    assert "before its wait (median)" in said
    assert "VALU instructions between" not in said


def test_triage_has_the_unreadable_texts_for_programs() -> None:
    trace, batches = unread()
    assert facts(findings(trace, batches))["unreadable"] == why_not_known(trace) != ""
    known = sample_trace("gfx12")
    assert facts(findings(known, batches))["unreadable"] == ""


def test_the_roofline_says_why_bytes_are_not_known() -> None:
    trace, batches = unread()
    found = roofline(trace, WIDTHS.of(trace, batches), LOOPS.of(trace, batches))
    assert why_not_known(trace) in roofline_note(trace, found, RunFacts())
