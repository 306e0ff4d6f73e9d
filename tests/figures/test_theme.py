"""Colours are told apart by eyes that see no red or green, and series without any colour."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest

from sago_harness.figures.heat import Colours, instability_colours
from sago_harness.figures.theme import DARK, DASHES, HEAT, LIGHT, MOST, PARTS, SHAPES, ink_on, luminance

Numbers = npt.NDArray[np.float64]

#: Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB.
DEFICIENT = {
    "ordinary": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}

#: Linear sRGB to XYZ under D65 (IEC 61966-2-1).
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour: str, seen: Numbers) -> Numbers:
    """CIE 1976 L*a*b* of a colour as such eyes see it."""
    given = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(given <= 0.04045, given / 12.92, ((given + 0.055) / 1.055) ** 2.4)
    xyz = XYZ @ np.clip(seen @ linear, 0.0, 1.0) / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("eyes", DEFICIENT)
@pytest.mark.parametrize("palette", [LIGHT, DARK, PARTS], ids=["light", "dark", "parts"])
def test_any_two_colours_differ(palette: tuple[str, ...], eyes: str) -> None:
    given = [lab(colour, DEFICIENT[eyes]) for colour in palette]
    for a, b in itertools.combinations(given, 2):
        assert np.linalg.norm(a - b) > 15.0


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("palette", "page"), [(LIGHT, "#ffffff"), (DARK, "#1b1d21")])
def test_series_stand_out_against_the_page(palette: tuple[str, ...], page: str) -> None:
    """3 to 1, as WCAG 2.1 asks of graphical objects."""
    assert all(contrast(colour, page) >= 3.0 for colour in palette)


def test_series_differ_without_colour() -> None:
    assert len(set(SHAPES)) == len(SHAPES) == MOST
    assert len(set(DASHES)) == len(DASHES) == MOST


@pytest.mark.parametrize("scale", [HEAT, tuple(reversed(PARTS))], ids=["heat", "parts"])
def test_sequences_can_be_read_in_grey(scale: tuple[str, ...]) -> None:
    grey = [lab(colour, np.eye(3))[0] for colour in scale]
    assert all(a > b + 1.0 for a, b in itertools.pairwise(grey))


@pytest.mark.parametrize("eyes", DEFICIENT)
def test_heat_darkens_to_all_eyes(eyes: str) -> None:
    level = [lab(colour, DEFICIENT[eyes])[0] for colour in HEAT]
    assert all(a > b for a, b in itertools.pairwise(level))


def test_numbers_can_be_read_on_their_cells() -> None:
    """4.5 to 1 for text, whatever the step."""
    assert all(contrast(colour, ink_on(colour)) >= 4.5 for colour in (*HEAT, *PARTS))


def test_steps_of_colour() -> None:
    colours: Colours = instability_colours("r")
    assert len(colours.colours) == len(colours.ends) + 1
    assert (colours.ink(0.05), colours.ink(1.2)) == ("#000000", "#ffffff")
    assert instability_colours("s", higher=True).ink(0.05) == "#ffffff"
