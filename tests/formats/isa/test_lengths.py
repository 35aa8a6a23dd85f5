import json
from pathlib import Path

import numpy as np
import pytest

from rcv_py.formats.isa.disassembly import FAMILIES, encodings, family_of, read, word_lengths
from rcv_py.formats.isa.program import category_of, mnemonic
from tests.support.assembler import assembled
from tests.support.llvm import need_llvm
from tests.support.raw_samples import raw_sample
from tests.support.sqtt_truth import Raw

# One instruction or more of every encoding, and of what adds words to it, with the bytes that libLLVM makes.
CASES: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("assembled.json").read_text())
END = "s_endpgm"


@pytest.mark.parametrize("name", ["gfx9", "kernels", "gfx11"])
def test_lengths_and_categories_of_whole_code_objects(name: str) -> None:
    lengths_and_categories_agree(raw_sample(name))


def lengths_and_categories_agree(raw: Raw) -> None:
    """Read the code objects of a raw capture by lengths alone, and compare with what is known of them."""
    for number, code in raw.said["code"].items():
        found = raw.code_object(int(number))
        assert found.image is not None
        start, size = {}, {}
        for region in found.image.regions:
            own = read(region.data, found.target)
            places = (region.address + np.cumsum(own.size, dtype=int) - own.size).tolist()
            start |= dict(zip(places, own.text, strict=True))
            size |= dict(zip(places, own.size.tolist(), strict=True))
        for address, length, text in code["isa"]:
            assert size[address] == length, text
            assert category_of(mnemonic(start[address])) == category_of(mnemonic(text)), text


def test_the_bytes_are_those_of_the_assembler() -> None:
    library = need_llvm().library
    for target, cases in CASES.items():
        data = assembled(library, target, [line for text in cases for line in (text, END)])
        known = "".join(cases[line] for text in cases for line in (text, END))
        assert data.hex().startswith(known), target


@pytest.mark.parametrize("target", CASES)
def test_lengths_and_categories_of_every_encoding(target: str) -> None:
    cases = CASES[target]
    own = read(bytes.fromhex("".join(cases[line] for text in cases for line in (text, END))), target)
    for at, (text, code) in enumerate(cases.items()):
        assert own.text[2 * at + 1] == END, f"{text}: {own.text[2 * at :][:3]}"
        assert own.size[2 * at] == len(code) // 2
        shown = own.text[2 * at]
        assert category_of(mnemonic(shown)) == category_of(mnemonic(text)), shown
        if "unknown" not in shown:
            assert mnemonic(shown) == mnemonic(text)


def test_waits_have_their_counters() -> None:
    assert read(bytes.fromhex("730f8cbf"), "gfx942").text == ["s_waitcnt vmcnt(3)"]
    assert read(bytes.fromhex("7f c0 8c bf"), "gfx942").text == ["s_waitcnt lgkmcnt(0)"]
    assert read(bytes.fromhex("f70f89bf"), "gfx1100").text == ["s_waitcnt vmcnt(3)"]


@pytest.mark.parametrize("target", [*FAMILIES, ""])
def test_any_words_have_a_length(target: str) -> None:
    words = np.random.default_rng(5).integers(0, 1 << 32, 20_000, dtype=np.uint64).astype("<u4")
    family = family_of(target)
    lengths = word_lengths(words.tobytes(), family)
    assert len(lengths) == len(words)
    assert set((lengths % 4).tolist()) == {0}
    assert 4 <= int(lengths.min()) <= int(lengths.max()) <= 20
    own = read(words.tobytes(), target)
    assert int(own.size.sum(dtype=int)) == 4 * len(words), "the last one ends with the bytes"
    if family is not None:
        assert (encodings(words, family) < len(family.encodings)).all()
    assert read(b"", target).text == []
