"""Kinds and states can be told apart, by any eye and in both themes, and belong to two families of hues.

Eyes that lack a cone: the matrices of Machado, Oliveira and Fernandes (IEEE TVCG 15, 2009) at full strength.
Distances are those of OKLab (B. Ottosson), in which about 0.02 is just visible beside each other.
"""

from itertools import combinations, product

import numpy as np
import pytest

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.base import colors
from rcv_py.base.colors import contrast, rgb
from rcv_py.model.activity import ACTIVITIES
from rcv_py.model.kinds import TokenKind, WaveState

THEMES = {"light": 0, "dark": 1}
EYES = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
_TO_CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
_TO_LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]
TOUCH = {kind.name for kind, _ in ACTIVITIES}  # kinds that pictures stack in a pixel
RARE = {kind.name for kind in TokenKind} - TOUCH
LIVING = [state.name for state in WaveState if state is not WaveState.EMPTY]
FAR, RARELY_FAR, STATES_FAR = 0.07, 0.05, 0.12
GRAY = 0.03  # chroma, below which a hue means nothing
OF_STATES = (285, 365)  # degrees of hue: violet to magenta, which no kind has


def lab(color: str, eye: str = "all cones") -> np.ndarray:
    """What an eye sees of `#rrggbb`, in OKLab."""
    share = np.array(rgb(color)) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return _TO_LAB @ np.cbrt(np.clip(_TO_CONES @ np.clip(EYES[eye] @ linear, 0, 1), 0, None))


def distance(one: str, other: str, eye: str) -> float:
    return float(np.linalg.norm(lab(one, eye) - lab(other, eye)))


def hue(color: str) -> tuple[float, float]:
    """Hue in degrees and chroma."""
    _, a, b = lab(color)
    return float(np.degrees(np.arctan2(b, a)) % 360), float(np.hypot(a, b))


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("theme", THEMES)
def test_kinds_that_touch_can_be_told_apart(theme: str, eye: str) -> None:
    kinds = {name: pair[THEMES[theme]] for name, pair in colors.TOKEN_KINDS.items()}
    for one, other in combinations(kinds, 2):
        least = RARELY_FAR if {one, other} & RARE else FAR
        assert distance(kinds[one], kinds[other], eye) >= least, (one, other)


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("theme", THEMES)
def test_states_can_be_told_apart(theme: str, eye: str) -> None:
    for one, other in combinations(LIVING, 2):
        pair = (colors.WAVE_STATES[name][THEMES[theme]] for name in (one, other))
        assert distance(*pair, eye) >= STATES_FAR, (one, other)


@pytest.mark.parametrize("theme", THEMES)
def test_causes_of_a_legend_can_be_told_apart(theme: str) -> None:
    assert list(colors.CAUSES) == [cause.name for cause in Cause], "the number of a cause is its place"
    causes = {name: pair[THEMES[theme]] for name, pair in colors.CAUSES.items()}
    for one, other in combinations(causes, 2):
        assert distance(causes[one], causes[other], "all cones") >= FAR, (one, other)
    for name, ground in product(causes, ("canvas", "base")):
        assert contrast(causes[name], colors.ROLES[ground][THEMES[theme]]) >= 3, name


@pytest.mark.parametrize("theme", THEMES)
def test_kinds_and_states_are_two_families_of_hues(theme: str) -> None:
    low, high = OF_STATES
    for table, is_of_states in ((colors.TOKEN_KINDS, False), (colors.WAVE_STATES, True)):
        for name, pair in table.items():
            angle, chroma = hue(pair[THEMES[theme]])
            inside = low <= angle <= high or low <= angle + 360 <= high
            assert chroma < GRAY or inside == is_of_states, name


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ground", ["canvas", "base"])
def test_kinds_and_states_stand_out_from_the_ground(ground: str, theme: str) -> None:
    at, below = THEMES[theme], colors.ROLES[ground][THEMES[theme]]
    living = {name: colors.WAVE_STATES[name] for name in LIVING}
    for name, pair in {**colors.TOKEN_KINDS, **living}.items():
        assert contrast(pair[at], below) >= 3, name
