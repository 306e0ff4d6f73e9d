"""Mirroring: how much of the prompt's change of manner the response takes over.

Each operator declares the surface feature it moves. A variant's value is the signed share
of the prompt's change that shows up in the response; the floor is the same share read off
the document's variants that do not move that feature, so that ordinary fluctuation
averages out instead of looking like mirroring.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sago_harness.axes.script import is_empty
from sago_harness.variants.features import FEATURES


@dataclass(frozen=True, slots=True)
class Manner:
    """What mirroring needs of one variant.

    Attributes
    ----------
    prompt, response : str
        The varied span and the response.
    feature : str or None
        Feature that the variant's operator moves.
    in_floor : bool
        May serve as floor: not for variants that form no score (people's, other languages).
    """

    prompt: str
    response: str
    feature: str | None
    in_floor: bool = True


@dataclass(frozen=True, slots=True)
class Mirrored:
    """One variant's value, its floor, and the reason where there is none."""

    value: float
    floor: float
    prompt_change: float
    reason: str = ""

    @property
    def net(self) -> float:
        """Value minus floor; NaN where either is missing."""
        return self.value - self.floor


def mirroring(canonical: Manner, variants: Sequence[Manner], language: str = "en") -> list[Mirrored]:
    """Return the mirroring of every variant of one document.

    Parameters
    ----------
    canonical : Manner
        The canonical prompt and its response.
    variants : sequence of Manner
        The document's scored variants.
    language : str
        Passed to the features.

    Returns
    -------
    list of Mirrored
        ``value`` = (f(y_v) - f(y_0)) / (f(x_v) - f(x_0)), held to [-1, 1]; ``floor`` = the
        mean of the same ratio with f(y) of the variants that do not move f: by what their
        operator declares, and by the change measured in their prompt. NaN with a
        reason: ``no_feature``, ``small_change`` (the prompt's change is below the feature's
        minimum), ``empty_response``, ``no_floor``.

    Examples
    --------
    >>> shout, plain = Manner("SAY HI", "HELLO", "upper_share"), Manner("say  hi", "hello", "extra_spaces")
    >>> one = mirroring(Manner("say hi", "hello", None), [shout, plain])[0]
    >>> one.value, one.floor, one.net
    (1.0, 0.0, 1.0)
    """
    names = {variant.feature for variant in variants} - {None}
    gauges = {name: _Gauge(str(name), canonical, variants, language) for name in names}
    return [_mirrored(canonical, variant, gauges) for variant in variants]


class _Gauge:
    """One feature over one document: each text is read once, and only if it is needed."""

    def __init__(self, name: str, canonical: Manner, variants: Sequence[Manner], language: str) -> None:
        feature = FEATURES.load(name)()
        self.name = name
        self.minimum = feature.minimum
        self.read: Callable[[str], float] = functools.cache(lambda text: feature.value(text, language))
        self._canonical = canonical
        self._variants = variants

    @functools.cached_property
    def others(self) -> npt.NDArray[np.float64]:
        """f(y) of the variants that do not move f; the same for every variant that does."""
        at_rest = self.read(self._canonical.prompt)
        found = [
            self.read(v.response)
            for v in self._variants
            if v.in_floor
            and v.feature != self.name
            and not is_empty(v.response)
            and abs(self.read(v.prompt) - at_rest) < self.minimum
        ]
        return np.array(found, dtype=np.float64)


def _mirrored(canonical: Manner, variant: Manner, gauges: dict[str | None, _Gauge]) -> Mirrored:
    nan = float("nan")
    if variant.feature is None:
        return Mirrored(nan, nan, nan, "no_feature")
    gauge = gauges[variant.feature]
    change = gauge.read(variant.prompt) - gauge.read(canonical.prompt)
    if abs(change) < gauge.minimum or not math.isfinite(change):
        return Mirrored(nan, nan, change, "small_change")
    if is_empty(canonical.response) or is_empty(variant.response):
        return Mirrored(nan, nan, change, "empty_response")
    base = gauge.read(canonical.response)
    value = float(np.clip((gauge.read(variant.response) - base) / change, -1.0, 1.0))
    if not gauge.others.size:
        return Mirrored(value, nan, change, "no_floor")
    return Mirrored(value, float(np.mean(np.clip((gauge.others - base) / change, -1.0, 1.0))), change)
