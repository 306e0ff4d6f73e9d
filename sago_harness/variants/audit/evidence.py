"""What is measured on two texts before anything is decided."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields

from sago_harness.variants.audit.align import PROTECTED, align, distance, opposed
from sago_harness.variants.audit.words import Word, read_words


@dataclass(frozen=True, slots=True)
class Evidence:
    """How a variant differs from a canonical text; everything is 0 for equal texts.

    Attributes
    ----------
    numbers : float
        Numbers without a partner, on either side.
    protected : float
        Negations, quantifiers, comparisons and units without a partner, on either side.
    question : float
        Question words of the canonical text without a partner.
    names : float
        Canonical names without a partner.
    missing : float
        Canonical content words without a partner; short words and near misses count less.
    extra : float
        The same for the variant; what a speaker took back is left out.
    replaced : float
        The smaller of ``missing`` (with names) and ``extra``: words that gave way to others.
    uncovered : float
        Share of the canonical content words and names without a partner.
    edits : float
        Character edits inside the pairs of words, over the letters of the canonical text.
    distance : float
        1 - cosine of the sentence encoder.
    """

    numbers: float
    protected: float
    question: float
    names: float
    missing: float
    extra: float
    replaced: float
    uncovered: float
    edits: float
    distance: float

    def row(self) -> tuple[float, ...]:
        """Return the values in the order of :data:`NAMES`."""
        return astuple(self)


NAMES: tuple[str, ...] = tuple(field.name for field in fields(Evidence))


def gather(canonical: str, variant: str, cosine: float) -> Evidence:
    """Compare two texts of one language.

    Parameters
    ----------
    canonical, variant : str
    cosine : float
        Similarity of the sentence encoder.

    Examples
    --------
    >>> found = gather("Who won in 1966?", "Who won in 1967?", 0.97)
    >>> found.numbers, found.protected, found.missing
    (2.0, 0.0, 0.0)
    """
    own, other = read_words(canonical), read_words(variant)
    found = align(own, other)
    loose = (*found.missing, *found.extra)
    letters = max(1, sum(len(word.form) for word in own))
    missing = _loss(found.missing, found.extra, ("content",))
    names = _loss(found.missing, found.extra, ("name",))
    extra = _loss(found.extra, found.missing, ("content", "name"))
    return Evidence(
        numbers=float(min(2, sum(word.kind == "number" for word in loose))),
        protected=float(min(2, sum(word.kind in PROTECTED for word in loose))),
        question=float(min(1, sum(word.kind == "wh" for word in found.missing))),
        names=min(_MOST, names),
        missing=min(_MOST, missing),
        extra=min(_MOST_EXTRA, extra),
        replaced=min(_MOST, missing + names, extra),
        uncovered=(missing + names) / max(1.0, sum(word.kind in ("content", "name") for word in own)),
        edits=found.edits / letters,
        distance=max(0.0, 1.0 - cosine),
    )


#: More lost words than this say no more; added words alone, where nothing is lost, say less.
_MOST = 3.0
_MOST_EXTRA = 2.0
_LONG = 40_000


def _loss(words: tuple[Word, ...], opposite: tuple[Word, ...], kinds: tuple[str, ...]) -> float:
    """Count words, each less the shorter it is and the nearer the opposite side has one."""
    total = 0.0
    # Between two long texts with little in common no nearness is left that could matter.
    near = opposite if len(words) * len(opposite) <= _LONG else ()
    for word in words:
        if word.kind in kinds:
            far = [_far(word.form, other.form) for other in near]
            total += min(1.0, len(word.form) / 5) * min([1.0, *far])
    return total


def _far(a: str, b: str) -> float:
    """Say how far two words are apart, 1 or more for two words that share little."""
    return 1.0 if opposed(a, b) else 1.4 * distance(a, b) / max(len(a), len(b))
