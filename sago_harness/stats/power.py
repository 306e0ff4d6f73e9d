"""Planning: how many documents and variants show a difference between two models, at what cost.

The test that is planned for is that of two models on the same documents: paired differences of
influence values, with Student's t (the sign-flip test of :mod:`sago_harness.stats` has its power
for all but the smallest studies). Its power is that of the noncentral t distribution.

The variance that it depends on comes from a pilot (:mod:`sago_harness.stats.pilot`) or is a default
(:mod:`sago_harness.stats.components`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sago_harness.errors import SagoError
from sago_harness.stats.components import VarianceComponents
from sago_harness.stats.resampling import ENUMERATED, smallest_pvalue
from sago_harness.stats.rich import Rich

#: More documents than this are not a plan.
MOST_DOCUMENTS = 10_000_000

#: Chance controls of a document.
CONTROLS = 2

#: Response tokens where no pilot says: as many as the measures of confidence look at.
RESPONSE_TOKENS = 32.0

#: Under this many documents intervals have been seen to be too narrow.
FEW_DOCUMENTS = 40


@dataclass(frozen=True)
class PlanResult(Rich):
    """A study, what it can show and what it costs.

    Attributes
    ----------
    score : str
    documents : int
        Of each data set.
    variants : int
        Of each document.
    detectable : float
        Smallest true difference between two models on one data set that is found with ``power``.
    detectable_overall : float
        The same for the unweighted mean over the data sets.
    difference : float
        The difference that was asked for; NaN where documents were given in its place.
    power, level : float
    comparisons : int
        Comparisons over which the level is shared out, ``level / comparisons`` for each.
    models, datasets : int
    prompts : int
        Prompts of all documents, data sets and models: canonical, variants, chance controls, repeats.
    passes : int
        Rows of forward passes, without anything saved; divided by the batch size, passes.
    components : VarianceComponents
    notes : tuple of str
    """

    score: str
    documents: int
    variants: int
    detectable: float
    detectable_overall: float
    difference: float
    power: float
    level: float
    comparisons: int
    models: int
    datasets: int
    prompts: int
    passes: int
    components: VarianceComponents
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            f"{self.documents} documents x {self.variants} variants: a difference of {self.detectable:.3f} "
            f"of {self.score} with power {self.power:g} at level {self.level:g}, {self.prompts} prompts"
        )


def paired_power(difference: float, stderr: float, n: int, level: float = 0.05) -> float:
    """Return the power of a two-sided paired t-test.

    Parameters
    ----------
    difference : float
        True difference of two models' scores.
    stderr : float
        Standard error of the difference of scores, s / sqrt(n) of the paired differences.
    n : int
        Documents.
    level : float
        Error rate of the test.

    Returns
    -------
    float
        P(abs(T) > t) for T of the noncentral t distribution with n - 1 degrees of freedom and
        noncentrality ``difference / stderr``; 0 under two documents, 1 without any error.

    Examples
    --------
    >>> round(paired_power(0.05, 0.1 / 40**0.5, 40), 3)
    0.869
    """
    from scipy import stats

    if n < 2:
        return 0.0
    if stderr <= 0.0:
        return 1.0 if difference else level
    df, shift = n - 1, abs(difference) / stderr
    bound = float(stats.t.isf(level / 2.0, df))
    if shift == 0.0:
        return level
    above, below = float(stats.nct.sf(bound, df, shift)), float(stats.nct.cdf(-bound, df, shift))
    if not math.isfinite(above):
        # Far out the noncentral t is lost to rounding, and a normal one in all but name.
        above = float(stats.norm.sf(bound - shift))
    return min(1.0, above + (below if math.isfinite(below) else 0.0))


def detectable_difference(stderr: float, n: int, power: float = 0.8, level: float = 0.05) -> float:
    """Return the smallest true difference that a paired test finds with a power.

    Parameters
    ----------
    stderr : float
        Standard error of the difference of scores.
    n : int
        Documents.
    power, level : float
        ``level < power < 1``.

    Returns
    -------
    float
        NaN under two documents.

    Raises
    ------
    SagoError
        If power or level are out of range.

    Examples
    --------
    >>> round(detectable_difference(0.1 / 40**0.5, 40), 4)
    0.0454
    """
    from scipy import optimize

    _check(power, level)
    if n < 2 or not math.isfinite(stderr):
        return math.nan
    if stderr <= 0.0:
        return 0.0
    high = 4.0
    while paired_power(high, 1.0, n, level) < power:
        high *= 2.0
    shift: float = optimize.brentq(lambda s: paired_power(s, 1.0, n, level) - power, 0.0, high)
    return shift * stderr


def documents_needed(
    difference: float,
    components: VarianceComponents,
    variants: float,
    power: float = 0.8,
    level: float = 0.05,
) -> int:
    """Return the fewest documents on which a difference is found with a power.

    Never fewer than a sign-flip test needs to get under the level at all (6 for .05).

    Raises
    ------
    SagoError
        If the difference is not positive, or 10 million documents are not enough.

    Examples
    --------
    >>> components = VarianceComponents("sago_core", 0.01, 0.0, 12, 50, 2, "")
    >>> documents_needed(0.05, components, 12)
    34
    """
    _check(power, level)
    if not difference > 0.0:
        raise SagoError(f"a difference must be above 0, it is {difference:g}")
    sd = math.sqrt(components.per_document(variants))

    def enough(n: int) -> bool:
        return paired_power(difference, sd / math.sqrt(n), n, level) >= power

    low = 2
    while low <= ENUMERATED and smallest_pvalue(low, 2**low) > level:
        low += 1
    if enough(low):
        return low
    high = low
    while not enough(high):
        if high >= MOST_DOCUMENTS:
            raise SagoError(
                f"a difference of {difference:g} of {components.score} needs more than {MOST_DOCUMENTS} "
                "documents: ask for a larger one"
            )
        low, high = high, min(2 * high, MOST_DOCUMENTS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def variants_needed(
    difference: float, components: VarianceComponents, documents: int, power: float = 0.8, level: float = 0.05
) -> int | None:
    """Return the fewest variants with which a number of documents is enough.

    Returns
    -------
    int or None
        None where no number of variants is: the variance between documents alone is too large, or it
        cannot be told apart.

    Examples
    --------
    >>> components = VarianceComponents("sago_core", 0.01, 0.12, 12, 50, 2, "")
    >>> variants_needed(0.05, components, 50), variants_needed(0.05, components, 30)
    (23, None)
    """
    _check(power, level)
    # The variance at which so many documents just suffice.
    unit = (
        detectable_difference(1.0 / math.sqrt(documents), documents, power, level) if documents > 1 else 0.0
    )
    allowed = (difference / unit) ** 2 if unit else 0.0
    if not components.splits or allowed <= components.document:
        return None
    return max(1, math.ceil(components.variant / (allowed - components.document)))


def passes_of_document(
    variants: int, response_tokens: float, controls: int = CONTROLS, repeats: int = 0
) -> float:
    """Return rows of forward passes that a document costs, at most.

    The formula of the fast path (docs/scale.md), T + V (1 + (1 - a) T / (1 + d)) + C, with nothing saved:
    responses that part at once (a = 0), no accepted draft (d = 0). Repeats are generated like the
    canonical response.

    Examples
    --------
    >>> passes_of_document(12, 32)
    430.0
    """
    return response_tokens + variants * (1.0 + response_tokens) + controls + repeats * response_tokens


def plan(
    components: VarianceComponents,
    variants: int,
    *,
    difference: float | None = None,
    documents: int | None = None,
    power: float = 0.8,
    level: float = 0.05,
    comparisons: int = 1,
    models: int = 2,
    datasets: int = 1,
    repeats: int = 0,
    response_tokens: float | None = None,
) -> PlanResult:
    """Return the documents that a difference needs, or the difference that documents can show.

    Parameters
    ----------
    components : VarianceComponents
    variants : int
        Of each document.
    difference, documents : float, int
        One of the two.
    power, level : float
    comparisons : int
        The level is shared out over so many comparisons (Bonferroni, which the first step of Holm is).
    models, datasets, repeats : int
        For the cost, and for the difference over all data sets.
    response_tokens : float, optional
        For the cost; by default the pilot's, or :data:`RESPONSE_TOKENS`.

    Returns
    -------
    PlanResult

    Raises
    ------
    SagoError
        If a number is out of range, or both or none of difference and documents are given.

    Examples
    --------
    >>> print(plan(VarianceComponents("sago_core", 0.01, 0.0, 12, 50, 2, ""), 12, difference=0.05))
    34 documents x 12 variants: a difference of 0.050 of sago_core with power 0.8 at level 0.05, 1020 prompts
    """
    _check(power, level)
    if (difference is None) == (documents is None):
        raise SagoError("a plan needs a difference or a number of documents, one of the two")
    counts = {"variants": variants, "models": models, "data sets": datasets, "comparisons": comparisons}
    for name, count in counts.items():
        if count < 1:
            raise SagoError(f"a plan needs at least one of {name}, it was given {count}")
    each = level / comparisons
    if documents is None:
        n = documents_needed(float(difference or 0.0), components, variants, power, each)
    elif documents < 2:
        raise SagoError(f"a plan needs at least 2 documents, it was given {documents}")
    else:
        n = documents
    stderr = math.sqrt(components.per_document(variants) / n)
    tokens = response_tokens or (components.tokens if math.isfinite(components.tokens) else RESPONSE_TOKENS)
    runs = n * models * datasets
    return PlanResult(
        components.score,
        n,
        variants,
        detectable_difference(stderr, n, power, each),
        detectable_difference(stderr / math.sqrt(datasets), n, power, each),
        math.nan if difference is None else difference,
        power,
        level,
        comparisons,
        models,
        datasets,
        runs * (1 + variants + CONTROLS + repeats),
        math.ceil(runs * passes_of_document(variants, tokens, CONTROLS, repeats)),
        components,
        _notes(n, each, variants, components),
    )


def _notes(documents: int, level: float, variants: int, components: VarianceComponents) -> tuple[str, ...]:
    notes = []
    if documents <= ENUMERATED and smallest_pvalue(documents, 2**documents) > level:
        notes.append(f"{documents} documents cannot give a p-value under {level:.2g} in a sign-flip test")
    if documents < FEW_DOCUMENTS:
        notes.append(f"under {FEW_DOCUMENTS} documents intervals tend to be too narrow: take {FEW_DOCUMENTS}")
    if variants != round(components.variants):
        if components.splits:
            notes.append(
                f"variances were measured with {components.variants:.3g} variants a document; other numbers "
                "are taken to be more, or fewer, of the same kinds"
            )
        else:
            notes.append(
                "the pilot cannot tell what variants contribute: their number is taken not to matter"
            )
    return tuple(notes)


def _check(power: float, level: float) -> None:
    if not 0.0 < level < 0.5:
        raise SagoError(f"a level must lie between 0 and 0.5, it is {level:g}")
    if not level < power < 1.0:
        raise SagoError(f"a power must lie between the level ({level:g}) and 1, it is {power:g}")
