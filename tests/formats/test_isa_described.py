"""Machine-readable ISA files: what is kept, and what is refused."""

from pathlib import Path

import pytest

from rcv_py.base.errors import RcvError
from rcv_py.formats.isa import described
from rcv_py.formats.isa.described import read_description

HEAD = "<?xml version='1.0' encoding='utf-8'?>"
FILE = (
    f"{HEAD}<Spec><Document><Copyright>x</Copyright></Document><ISA><Architecture><ArchitectureName>AMD CDNA"
    " 3</ArchitectureName></Architecture><Instructions>"
    "<Instruction><InstructionName>V_ADD_F32</InstructionName>"
    "<AliasedInstructionNames><InstructionName>V_PLUS_F32</InstructionName></AliasedInstructionNames>"
    "<Description>Add two\n  floats &amp; more.</Description><InstructionEncodings><InstructionEncoding>"
    "<EncodingName>ENC_VOP2</EncodingName></InstructionEncoding></InstructionEncodings>"
    "<FunctionalGroup><Name>VALU</Name></FunctionalGroup></Instruction>"
    "<Instruction><InstructionName>S_NOP</InstructionName><Description/></Instruction></Instructions></ISA>"
    "</Spec>"
)


def written(folder: Path, text: str) -> Path:
    path = folder / "isa.xml"
    path.write_text(text)
    return path


def test_what_a_file_says(tmp_path: Path) -> None:
    found = read_description(written(tmp_path, FILE))
    assert found.architecture == "AMD CDNA 3"
    one = found.of("v_add_f32_e32")
    assert (one.name, one.description, one.group) == ("v_add_f32", "Add two floats & more.", "VALU")
    assert found.of("v_plus_f32") is one
    assert found.of("s_nop").description == ""  # type: ignore[union-attr]
    assert found.of("v_sub_f32") is None


BOMB = "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]>"
OUTSIDE = "<!DOCTYPE x [<!ENTITY secret SYSTEM 'file:///etc/hostname'>]>"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + BOMB + "<Spec>&b;</Spec>",
        HEAD + OUTSIDE + "<Spec>&secret;</Spec>",
        HEAD + "<!DOCTYPE Spec SYSTEM 'http://example.invalid/x.dtd'><Spec/>",
        "<Spec>",
        "<Spec/>",
        "",
        "no xml",
        "<a>" * 1000,
        "<Spec>&undefined;</Spec>",
    ],
)
def test_what_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(RcvError, match=r"isa\.xml"):
        read_description(written(tmp_path, text))


def test_what_is_too_long_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(described, "MAX_LETTERS", 10)
    monkeypatch.setattr(described, "MAX_INSTRUCTIONS", 1)
    found = read_description(written(tmp_path, FILE))
    assert set(found.instructions) == {"v_add_f32", "v_plus_f32"}
    assert len(found.instructions["v_add_f32"].description) <= 10
