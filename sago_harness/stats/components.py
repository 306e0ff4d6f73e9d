"""The variance of a document's paired difference between two models, and what it is without a pilot.

It has a part that stays however many variants are made, and a part from which variants were made,
which falls as 1 / V.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sago_harness.errors import unknown
from sago_harness.stats.rich import Rich


@dataclass(frozen=True)
class VarianceComponents(Rich):
    """Where the variance of a document's paired difference between two models comes from.

    Attributes
    ----------
    score : str
    document : float
        Variance that no number of variants takes away, chance controls included.
    variant : float
        Variance of a document with one variant of each kind that it has: V variants add
        ``variant / V``. NaN where it cannot be told apart; it is then part of ``document``.
    variants : float
        V of the documents that it was estimated on.
    documents : int
        Documents that it was estimated on; of several data sets, the fewest.
    models : int
    origin : str
        Where the figures come from, in words.
    smallest, largest : float
        Standard deviation of the pair of models that differs least and most evenly.
    tokens : float
        Mean response length; NaN where unknown.
    """

    score: str
    document: float
    variant: float
    variants: float
    documents: int
    models: int
    origin: str
    smallest: float = math.nan
    largest: float = math.nan
    tokens: float = math.nan

    def per_document(self, variants: float) -> float:
        """Return the variance of a document's paired difference with so many variants.

        Examples
        --------
        >>> VarianceComponents("sago_core", 0.01, 0.12, 12, 50, 2, "").per_document(6)
        0.03
        """
        return self.document + (self.variant / variants if math.isfinite(self.variant) else 0.0)

    @property
    def splits(self) -> bool:
        """Say whether documents and variants can be traded."""
        return math.isfinite(self.variant)

    def __str__(self) -> str:
        sd = math.sqrt(self.per_document(self.variants))
        return f"{self.score}: sd {sd:.3f} of a document's paired difference ({self.origin})"


#: Score -> standard error of one model on 24 questions of TruthfulQA with 12 variants each, and the
#: share of its variance that comes from which variants were made (SmolLM2-135M-Instruct, the table of
#: the README; the share as :func:`sago_harness.stats.pilot.pilot_components` finds it there).
MEASURED: Mapping[str, tuple[float, float]] = {
    "sago": (0.0132, 0.24),
    "sago_core": (0.0154, 0.23),
    "sago_text": (0.0145, 0.37),
    "sago_generation": (0.0247, 0.27),
    "sago_activation": (0.0221, 0.05),
    "sago_confidence": (0.0354, 0.14),
    "sago_mirroring": (0.0142, 0.94),
}
MEASURED_DOCUMENTS, MEASURED_VARIANTS, MEASURED_TOKENS = 24, 12, 23.5
#: A standard deviation of 24 documents may be too small by so much (upper limit of 90 %).
MARGIN = 1.25


def default_components(score: str) -> VarianceComponents:
    """Return components for a study without a pilot, on the safe side.

    One model's measured standard error, times the root of the documents, is the standard deviation
    of its documents' influence. Two models are taken to be unrelated (twice the variance; on the
    same documents they mostly go together, which helps), with :data:`MARGIN` on top.

    Parameters
    ----------
    score : str
        A composite or an axis. A single measure of an axis needs a pilot.

    Raises
    ------
    SagoError
        For a score that was not measured.

    Examples
    --------
    >>> print(default_components("sago_core"))
    sago_core: sd 0.133 of a document's paired difference (defaults: SmolLM2-135M ...)
    """
    if score not in MEASURED:
        raise unknown("score", score, MEASURED, "the defaults (others need a pilot)")
    error, share = MEASURED[score]
    variance = 2.0 * (MARGIN * error) ** 2 * MEASURED_DOCUMENTS
    origin = (
        "defaults: SmolLM2-135M on 24 TruthfulQA questions with 12 variants each, two models taken as "
        "unrelated, 25 % added to the sd"
    )
    return VarianceComponents(
        score,
        (1.0 - share) * variance,
        share * variance * MEASURED_VARIANTS,
        MEASURED_VARIANTS,
        MEASURED_DOCUMENTS,
        1,
        origin,
        tokens=MEASURED_TOKENS,
    )
