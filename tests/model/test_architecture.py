"""The table of architectures, beside independent statements about real GPUs."""

import pytest
from msgspec.structs import replace

from rcv_py.model.architecture import Architecture, architecture_of

CDNA = {"gfx908": "CDNA1", "gfx90a": "CDNA2", "gfx940": "CDNA3", "gfx942": "CDNA3", "gfx950": "CDNA4"}
RDNA = ("gfx1010", "gfx1030", "gfx1036", "gfx1100", "gfx1151", "gfx1152", "gfx1200", "gfx1201", "gfx1250")
GENERATIONS = (8, 9, 10, 11, 12, 13, 99)


def of(target: str) -> Architecture:
    return architecture_of(int(target[3:-2]), target)


@pytest.mark.parametrize("target", CDNA)
def test_cdna(target: str) -> None:
    found = of(target)
    assert (found.name, found.is_guess) == (CDNA[target], False)
    assert (found.wave_size, found.of_waves(is_wave32=True)) == (64, found)
    assert (found.unit_name, found.simds_per_cu, found.base_clock) == ("CU", 4, 4)
    assert (found.busy_is_issue, found.has_trace_counters, found.has_lds_dma) == (True, True, True)
    assert (found.waitcnt, found.has_store_counter) == ("gfx9", False)
    assert found.known_slots == found.waves == (10 if target == "gfx908" else 8)


@pytest.mark.parametrize("target", RDNA)
def test_rdna(target: str) -> None:
    found, wide = of(target), of(target).of_waves(is_wave32=False)
    assert (found.wave_size, wide.wave_size, wide.vgprs) == (32, 64, found.vgprs // 2)
    assert (found.unit_name, found.simds_per_cu, found.base_clock, found.sgprs) == ("WGP", 2, 1, 0)
    assert (found.busy_is_issue, found.has_trace_counters, found.has_lds_dma) == (False, False, False)
    assert found.has_store_counter
    assert found.waitcnt == ("gfx1250" if target == "gfx1250" else target[:-2])


@pytest.mark.parametrize(
    ("target", "vgprs", "granule", "waves"),
    [
        ("gfx906", 256, 4, 10),
        ("gfx90a", 512, 8, 8),
        ("gfx1010", 1024, 8, 20),
        ("gfx1030", 1024, 16, 16),
        ("gfx1100", 1536, 24, 16),
        ("gfx1102", 1024, 16, 16),
        ("gfx1151", 1536, 24, 16),
        ("gfx1201", 1536, 24, 16),
        ("gfx1250", 1024, 16, 16),
    ],
)
def test_register_files(target: str, vgprs: int, granule: int, waves: int) -> None:
    found = of(target)
    assert (found.vgprs, found.granule, found.waves) == (vgprs, granule, waves)


@pytest.mark.parametrize(
    ("target", "granule"),
    [("gfx90a", 512), ("gfx942", 512), ("gfx950", 1280), ("gfx1012", 512), ("gfx1030", 1024),
     ("gfx1036", 1024), ("gfx1100", 1024), ("gfx1201", 1024)],
)  # fmt: skip
def test_steps_of_lds(target: str, granule: int) -> None:
    """Mesa's compiler for these GPUs aligns a workgroup's LDS so (`lds_alloc_granule`); gfx950: LLVM."""
    assert of(target).lds_granule == granule


def test_gfx1250_has_more_lds_and_longer_lines_of_code() -> None:
    found = of("gfx1250")
    assert (found.lds, found.lds_granule, found.code_line) == (327_680, 1024, 128)
    assert (of("gfx1201").lds, of("gfx1201").code_line) == (131_072, 64)


@pytest.mark.parametrize(
    ("generic", "like", "is_guess"),
    [
        ("gfx9-4-generic", "gfx942", True),
        ("gfx10-1-generic", "gfx1010", False),
        ("gfx10-3-generic", "gfx1036", False),
        ("gfx11-generic", "gfx1102", True),
        ("gfx12-generic", "gfx1201", True),
        ("gfx12-5-generic", "gfx1251", True),
    ],
)
def test_a_generic_target_is_like_its_devices(generic: str, like: str, is_guess: bool) -> None:
    found = architecture_of(int(like[3:-2]), generic)
    assert found == replace(of(like), target=generic, is_guess=is_guess)
    assert found.matrix_peaks == of(like).matrix_peaks


@pytest.mark.parametrize("gfxip", GENERATIONS)
def test_a_generation_without_a_target_is_a_guess(gfxip: int) -> None:
    found = architecture_of(gfxip, f"gfx{gfxip}")
    assert found.is_guess
    assert (found.gfxip, found.layout) == (gfxip, "vega" if gfxip <= 9 else "navi")
    assert found.waitcnt == f"gfx{min(max(gfxip, 9), 12)}"


def test_a_target_of_another_generation_is_ignored() -> None:
    assert architecture_of(12, "gfx942").waitcnt == "gfx12"
