"""Says whether two texts of one language mean the same, by counted differences and fixed weights."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from sago_harness.variants.audit.evidence import NAMES, Evidence, gather
from sago_harness.variants.phrases import read_table

#: Languages whose words the check can read.
LANGUAGES = ("en",)


@dataclass(frozen=True, slots=True)
class Checker:
    """A line through the evidence: accepted if ``intercept + weights . evidence >= threshold``.

    Attributes
    ----------
    weights : tuple of float
        One per name of the evidence, none above 0.
    intercept, threshold : float
    """

    weights: tuple[float, ...]
    intercept: float
    threshold: float

    @property
    def reads_cosine(self) -> bool:
        """Whether the sentence encoder has a say."""
        return self.weights[NAMES.index("distance")] != 0

    def score(self, evidence: Evidence) -> float:
        """Return the score, the higher the more alike."""
        return self.intercept + sum(
            weight * value for weight, value in zip(self.weights, evidence.row(), strict=True)
        )

    def judge(self, canonical: str, variant: str, cosine: float = 1.0) -> tuple[bool, float, str]:
        """Return whether the texts mean the same, the score, and what speaks most against it.

        Parameters
        ----------
        canonical, variant : str
        cosine : float
            Of the sentence encoder; only read where :attr:`reads_cosine`.

        Examples
        --------
        >>> load_checker().judge("Who won in 1966?", "who won in 1966")[0]
        True
        >>> load_checker().judge("Who won in 1966?", "Who won in 1967?")[0::2]
        (False, 'numbers')
        """
        evidence = gather(canonical, variant, cosine)
        score = self.score(evidence)
        if score >= self.threshold:
            return True, score, ""
        loss = {name: w * v for name, w, v in zip(NAMES, self.weights, evidence.row(), strict=True)}
        return False, score, min(loss, key=lambda name: loss[name])


@functools.cache
def load_checker() -> Checker:
    """Return the check with the shipped weights, fitted by ``sago variants audit``."""
    return checker_of(read_table("equivalence"))


def checker_of(table: dict[str, Any]) -> Checker:
    """Return the check that a table describes."""
    weights = tuple(float(table["weights"][name]) for name in NAMES)
    return Checker(weights, float(table["intercept"]), float(table["threshold"]))


def table_of(checker: Checker, note: dict[str, Any]) -> dict[str, Any]:
    """Return the table of a check, rounded so that machines agree on it.

    Parameters
    ----------
    checker : Checker
    note : dict
        Where the numbers come from.
    """
    return {
        "version": 1,
        "weights": {
            name: round(weight, 3) + 0.0 for name, weight in zip(NAMES, checker.weights, strict=True)
        },
        "intercept": round(checker.intercept, 3),
        "threshold": round(checker.threshold, 3),
        "fitted": note,
    }
