"""`rcv isa-docs`: words of AMD's files are kept by family, and found without an option."""

import json
from pathlib import Path

import pytest

from rcv_py import api
from rcv_py.base.machine.user_folders import data_folder
from rcv_py.features.line.token_facts import described
from rcv_py.formats.isa.described import FAMILIES, family_of
from rcv_py.formats.open import open_trace
from tests.formats.test_isa_described import FILE, HEAD
from tests.support.command_runs import run_anew
from tests.support.samples import sample_path

GPU, MNEMONIC = "matmul_small", "s_waitcnt"


def said(*words: object, code: int = 0) -> str:
    done = run_anew(*map(str, words))
    assert done.code == code
    return done.err if code else done.out


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file about the family of a capture, which says something of one of its instructions."""
    family = family_of(open_trace(sample_path(GPU)).target)
    path = tmp_path / "amdgpu_isa.xml"
    name = f"AMD {family[:4].upper()} {family[4:]}"
    path.write_text(FILE.replace("AMD CDNA 3", name).replace("V_ADD_F32", MNEMONIC.upper()))
    return path


def test_what_is_added_is_shown_without_an_option_until_it_is_removed(file: Path) -> None:
    folder = sample_path(GPU)
    target = open_trace(folder).target
    assert "No ISA file is kept." in said("isa-docs")
    assert "floats & more" not in said("isa", folder, "--help-of", MNEMONIC)
    assert "3 instructions." in said("isa-docs", "add", file)
    file.unlink()
    assert "Add two floats & more." in said("isa", folder, "--help-of", MNEMONIC)
    assert described("", target, MNEMONIC) == "Add two floats & more."
    assert described("", "gfx90a", MNEMONIC) == "", "another family"
    answer = api.open(folder).instruction_help(MNEMONIC)
    assert list(answer["described"]) == ["Add two floats & more."]
    (row,) = json.loads(said("isa-docs", "list", "--json"))["rows"]
    assert (row["family"], row["instructions"], row["file"]) == (family_of(target), 3, str(file))
    said("isa-docs", "remove", row["family"])
    assert described("", target, MNEMONIC) == ""
    assert "Nothing is kept" in said("isa-docs", "remove", row["family"], code=2)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{HEAD}<!DOCTYPE x [<!ENTITY a 'aa'>]><Spec>&a;</Spec>", "is not a machine-readable ISA file"),
        ("no xml", "is not a machine-readable ISA file"),
        (FILE.replace("AMD CDNA 3", "../../etc"), "does not say of which family"),
    ],
)
def test_what_is_none_is_refused_and_nothing_is_kept(text: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(text)
    assert sentence in said("isa-docs", "add", path, code=2)
    assert "missing.xml" in said("isa-docs", "add", tmp_path / "missing.xml", code=2)
    assert not data_folder("isa").exists()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"schema": "rcv.isa-docs/1"}',
        '{"schema": "rcv.isa-docs/1", "file": "", "architecture": "", "instructions": {"a": [1, 2, 3]}}',
    ],
)
def test_what_is_damaged_says_what_to_do(text: str, file: Path) -> None:
    said("isa-docs", "add", file)
    (kept,) = data_folder("isa").iterdir()
    kept.write_text(text)
    folder = sample_path(GPU)
    assert "is damaged" in said("isa", folder, "--help-of", MNEMONIC, code=2)
    assert "is damaged" in described("", open_trace(folder).target, MNEMONIC)
    said("isa-docs", "remove", kept.stem)
    assert "s_waitcnt" in said("isa", folder, "--help-of", MNEMONIC)


def test_every_gpu_of_a_family_is_known_by_its_target() -> None:
    """As AMD's files and the targets of LLVM have them."""
    known = {
        "gfx942": "cdna3", "gfx950": "cdna4", "gfx90a": "cdna2", "gfx1100": "rdna3", "gfx1151": "rdna3.5",
        "gfx1201": "rdna4", "gfx1030": "rdna2", "gfx1010": "rdna1", "gfx908": "cdna1", "gfx9": "", "": "",
    }  # fmt: skip
    assert {target: family_of(target) for target in known} == known
    assert set(known.values()) == {*FAMILIES, ""}
