"""Texts that belong to other code raise an alarm: none of the genuine ones, all of those that are shifted."""

import json
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.program.code_match import MATCH
from rcv_py.cli.main import main
from rcv_py.formats.isa.program import kind_of
from rcv_py.formats.open import open_trace
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.synth.samples import SAMPLES
from tests.support.health import capture_health
from tests.support.samples import sample_path, write_sample

MOST = 300  # waves of a capture that are read here


def shifted(trace: Trace, by: int) -> Trace:
    """The same trace with texts, and kinds told by them, moved by some rows."""
    code = trace.code
    texts = np.roll(np.array(code.text, dtype=object), by).tolist()
    kind, label = np.roll(code.kind, by), np.roll(code.is_label, by)
    return replace(trace, code=replace(code, text=tuple(texts), kind=kind, is_label=label))


def opened(folder: Path) -> tuple[Trace, list[WaveBatch]]:
    trace = open_trace(folder)
    return trace, [trace.reader.read(list(range(min(MOST, len(trace.waves)))))]


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=lambda one: one.name)
def test_samples(sample: object) -> None:
    trace, batches = opened(sample_path(sample.name))  # type: ignore[attr-defined]
    found = MATCH.of(trace, batches)
    assert found.mismatched == 0
    assert not found.sentence
    assert bool(found.judged) == bool(len(trace.waves))
    for by in (1, -1, 7) if found.judged else ():
        wrong = MATCH.of(shifted(trace, by), batches)
        assert wrong.is_wrong
        assert wrong.share > 0.05, "ten times what raises the alarm"


@pytest.mark.parametrize(
    "word", ["s_monitor_sleep", "s_setprio_inc_wg", "s_frob_u32", "v_add_f32", "ds_read_b32"]
)
@pytest.mark.parametrize("unit", [TokenKind.SALU, TokenKind.IMMED, TokenKind.LDS])
def test_a_mnemonic_on_an_unexpected_unit_is_no_other_code(word: str, unit: TokenKind) -> None:
    """Every execution of the instruction with most of them goes to a unit that its text does not name."""
    trace, batches = opened(sample_path("matmul_small"))
    row = int(trace.code.hits.argmax())
    kind = trace.code.kind.copy()
    kind[row] = kind_of(word, trace.architecture)
    text = tuple(f"{word} 1" if at == row else one for at, one in enumerate(trace.code.text))
    changed = replace(trace, code=replace(trace.code, text=text, kind=kind))
    tokens = [replace(one, kind=np.where(one.line == row, np.uint8(unit), one.kind)) for one in batches]
    found = MATCH.of(changed, tokens)
    assert not found.is_wrong
    executions = sum(int((one.line == row).sum()) for one in batches)
    assert executions > found.judged / 100, "far more than the alarm needs"
    if word in ("v_add_f32", "ds_read_b32") and kind_of(word, trace.architecture) != unit:
        assert found.mismatched == executions
    assert MATCH.of(shifted(changed, 1), tokens).is_wrong, "real shifts are still found"


def test_nothing_is_concluded_from_texts_of_other_code() -> None:
    trace, batches = opened(sample_path("matmul_small"))
    wrong = shifted(trace, 1)
    found = findings(wrong, batches)
    assert not found.findings
    assert found.bound_class is None
    assert "do not belong to this trace" in found.alarm
    assert found.headline == found.sentence == found.why == found.alarm
    assert {one.id for one in found.numbers} <= {"kernel", "waves", "duration", "occupancy"}
    notes = capture_health(wrong, batches)
    assert notes[0].name == "wrong_code", "above everything else"
    assert not any(note.name == "wrong_code" for note in capture_health(trace, batches))


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    """A capture whose code.json has the texts of its rows one row further down."""
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    write_sample("reduction", folder)
    content = json.loads((folder / "code.json").read_text())
    texts = [row[0] for row in content["code"]]
    for row, text in zip(content["code"], [texts[-1], *texts[:-1]], strict=True):
        row[0] = text
    (folder / "code.json").write_text(json.dumps(content))
    return folder


def test_commands_say_so(moved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["triage", str(moved)]) == 0
    text = capsys.readouterr().out
    assert "do not belong to this trace" in " ".join(text.split())
    assert " 1  " not in text
    assert main(["triage", str(moved), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["alarm"]
    assert document["class"] is None
    assert document["findings"] == []
    for command in ("isa", "causes", "hotspot", "waits", "source"):
        assert main([command, str(moved)]) == 0
        assert "do not belong to this trace" in capsys.readouterr().err, command
    assert main(["check", str(moved)]) in (0, 3)
    assert "another code object" in capsys.readouterr().out
