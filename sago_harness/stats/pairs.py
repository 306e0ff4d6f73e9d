"""Which of two models is more stable: sign-flip tests of all pairs of models of a data set.

The test. For a plain mean, d(i) is the difference of two models on document i, and under the null
hypothesis each d(i) might as well have the other sign; the observed mean of d is held against its
means over random signs. For a ratio, an axis or ``sago`` the difference of the two models is not a
mean over documents, but it is one to first order: with the influence u/n of each document,

    d(i) / n = (value(a) - value(b)) / n + u_a(i) / n - u_b(i) / n

(``pair_data.py`` has the form for roots). The influences of a model sum to 0, so the d(i) / n sum
to the observed difference; without their common part there would be nothing to test, the flipped
sums alone would move. Statistics are studentised, t = T / sqrt(n / (n - 1) (sum c^2 - T^2 / n)) for
a sum T of signed c(i) = d(i) / n. As flips leave sum c^2 as it is, t rises with T alone, and the
test of t is the test of T. Where the c(i) are skewed against the difference, its t is taken smaller
(``moments.py``).

The interval of the difference rests on the standard error of the influence values. That of the test is
right where two models are equal, and too wide where they are not: intervals of ``sago_core`` from it
covered up to 99.9 % in place of 95 %, those from influence values 93.0 to 95.6 %, at 12 to 100 documents
[sim]. For plain means the two are one.

Documents that count for one model of a pair only do not enter it: both values are formed again
without them.
"""

from __future__ import annotations

import numpy as np

from sago_harness.errors import unknown
from sago_harness.stats.flips import BLOCK, ROWS, Flips, Tally, ratio, rounding
from sago_harness.stats.moments import moments, squared_distances, sums
from sago_harness.stats.pair_data import PairData, contributions, pair_data
from sago_harness.stats.pair_results import PairBlock, PairColumns, PairResult, adjust_family
from sago_harness.stats.quantities import Quantity
from sago_harness.stats.resampling import TIE, Settings, smallest_pvalue
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.shared_sums import SHARED_TERMS, PairSums, SharedSums
from sago_harness.stats.table import Doubles, Flags, Places

__all__ = [
    "PairBlock", "PairColumns", "PairResult", "adjust_family", "compare", "pair_block", "pair_places",
]  # fmt: skip

#: Power at which a difference counts as detectable.
POWER = 0.8


def pair_block(scored: ScoredTask, settings: Settings) -> PairBlock:
    """Compare all pairs of models of a data set, or all models with the control, in every score.

    Parameters
    ----------
    scored : ScoredTask
    settings : Settings
        ``control`` names a model that the others are compared with.

    Raises
    ------
    SagoError
        If the control is no model of this data set.
    """
    first, second = pair_places(scored.models, settings.control)
    shared = SharedSums(Flips(len(scored.documents), settings, "pairs", scored.task))
    columns: dict[str, PairColumns] = {}
    of = pair_data(scored)
    shared.prepare([term for data in of.values() if len(data.terms) <= SHARED_TERMS for term in data.terms])
    for name, data in of.items():
        # An axis of one measure is that measure, unless a value was held to 1, or is on fewer documents.
        groups = data.groups()
        alike = len(np.unique(groups[groups >= 0])) < 2
        twin = next((n for n in columns if alike and _same(scored.quantities[n], data.quantity)), None)
        columns[name] = (
            columns[twin] if twin else compare(data, first, second, shared, settings, scored.models)
        )
    return PairBlock(scored.task, scored.models, first, second, columns, settings.level, settings.correction)


def _same(one: Quantity, other: Quantity) -> bool:
    """Say whether two scores are the same numbers under two names."""
    return (
        one.higher_is_better == other.higher_is_better
        and one.reasons == other.reasons
        and np.array_equal(one.values, other.values, equal_nan=True)
        and np.array_equal(one.influence, other.influence)
        and np.array_equal(one.counts, other.counts)
    )


def pair_places(models: tuple[str, ...], control: str = "") -> tuple[Places, Places]:
    """Return the places of the first and of the second model of every pair.

    Examples
    --------
    >>> [p.tolist() for p in pair_places(("a", "b", "c"))]
    [[0, 0, 1], [1, 2, 2]]
    >>> [p.tolist() for p in pair_places(("a", "b", "c"), "b")]
    [[0, 2], [1, 1]]
    """
    if not control:
        first, second = np.triu_indices(len(models), 1)
        return first, second
    if control not in models:
        raise unknown("control model", control, models)
    at = models.index(control)
    others = np.array([i for i in range(len(models)) if i != at], dtype=np.intp)
    return others, np.full(len(others), at, dtype=np.intp)


def compare(
    data: PairData,
    first: Places,
    second: Places,
    shared: SharedSums,
    settings: Settings,
    models: tuple[str, ...],
) -> PairColumns:
    """Compare pairs of models in one score.

    Models with the same scored documents share flipped sums of the measures, and the sums of a pair
    are differences of them; other pairs get sums of their own.

    Parameters
    ----------
    data : PairData
    first, second : ndarray of shape (P,)
        Places of the models of each pair.
    shared : SharedSums
        For all scores over the same documents.
    settings : Settings
    models : tuple of str

    Returns
    -------
    PairColumns
    """
    tally = Tally.of(len(first))
    groups = data.groups()
    tally.exact[:] = shared.flips.exact
    # Rows of pairs share a model: the control, or the first one.
    hubs, others = (second, first) if settings.control else (first, second)
    scored = (groups[hubs] >= 0) & (groups[others] >= 0)
    same = scored & (groups[hubs] == groups[others]) & (len(data.terms) <= SHARED_TERMS)
    if same.any():
        near = _Near(data, shared)
        for group in np.unique(groups[hubs[same]]):
            alike = np.flatnonzero(same & (groups[hubs] == group))
            for start in range(0, len(alike), ROWS):
                block = alike[start : start + ROWS]
                near.tally(tally, block, hubs[block], others[block])
    step = max(1, BLOCK // max(len(shared.flips), data.quantity.influence.shape[1]))
    for hub in np.unique(hubs[scored & ~same]):
        places = np.flatnonzero(scored & ~same & (hubs == hub))
        alike = groups[others[places]] == groups[hub]
        for chosen, restrict in ((places[alike], False), (places[~alike], True)):
            for start in range(0, len(chosen), step):
                block = chosen[start : start + step]
                _tally_apart(tally, block, data, int(hub), others[block], shared.flips, restrict=restrict)
    if settings.control:
        tally.difference = 0.0 - tally.difference
    return _columns(tally, data.quantity, first, second, settings, models)


class _Near:
    """Pairs of models over the same documents, from sums that all pairs share."""

    def __init__(self, data: PairData, shared: SharedSums) -> None:
        quantity = data.quantity
        models, documents = quantity.influence.shape
        self.data, self.shared = data, shared
        self.sums = PairSums(shared, data.terms, np.arange(models))
        self.documents = documents
        self.size = _size(quantity)

    def tally(self, tally: Tally, places: Places, hubs: Places, others: Places) -> None:
        """Fill in pairs of models over the same documents."""
        quantity, terms, shared, size = self.data.quantity, self.data.terms, self.shared, self.size
        part: Flags = np.any(self.data.masks[:, hubs[0]], axis=0)
        difference = quantity.values[hubs] - quantity.values[others]
        tally.n[places] = np.minimum(quantity.counts[hubs], quantity.counts[others])
        tally.documents[places] = int(part.sum())
        signs, observed = tally.enter(
            places,
            difference,
            moments(terms, self.documents, hubs, others),
            squared_distances(quantity.influence, hubs, others),
            np.maximum(size[hubs], size[others]),
        )
        slack = shared.slack(terms, hubs, others, difference)
        draws = self.sums.draws(hubs, others, signs, difference, shared.even(part))
        tally.count(places, draws, observed, slack)


def _tally_apart(
    tally: Tally, places: Places, data: PairData, hub: int, others: Places, flips: Flips, *, restrict: bool
) -> None:
    """Fill in pairs from sums of their own; values are formed again on what two models share."""
    k = len(places)
    hubs = np.full(k, hub, dtype=np.intp)
    keep: Flags = data.masks[:, hub, None] & data.masks[:, others]
    part: Flags = np.any(keep, axis=0)
    quantity, terms, a, b = data.quantity, data.terms, hubs, others
    if restrict:
        quantity, terms = data.restrict(np.concatenate([hubs, others]), np.concatenate([keep, keep], axis=1))
        a, b = np.arange(k), np.arange(k, 2 * k)
    documents = part.sum(axis=1)
    tally.n[places] = np.minimum(quantity.counts[a], quantity.counts[b])
    tally.documents[places] = documents
    difference = quantity.values[a] - quantity.values[b]
    known = np.isfinite(difference) & (documents > 0)
    parts = contributions(terms, a, b, np.zeros(k), part)
    parts[~known] = 0.0
    np.nan_to_num(parts, copy=False, posinf=0.0, neginf=0.0)
    moments_of = sums(parts)
    # From here on with the difference, spread evenly over the documents.
    share = np.where(known, difference, 0.0) / np.maximum(documents, 1)
    np.add(parts, share[:, None], out=parts, where=part)
    size = _size(quantity)
    difference = np.where(known, difference, np.nan)
    plain = squared_distances(quantity.influence, a, b)
    signs, observed = tally.enter(places, difference, moments_of, plain, np.maximum(size[a], size[b]))
    parts *= signs[:, None]
    draws = flips.sums(parts)
    slack = rounding(flips.exact) * np.abs(parts).sum(axis=1)
    for start in range(0, k, ROWS):
        some = slice(start, start + ROWS)
        tally.count(places[some], draws[some], observed[some], slack[some])


def _size(quantity: Quantity) -> Doubles:
    """Return the size of a document's value in each model, of shape (M,)."""
    spread = np.abs(quantity.influence).max(axis=1, initial=0.0) * np.maximum(quantity.counts, 1)
    size: Doubles = np.maximum(spread, np.where(np.isfinite(quantity.values), np.abs(quantity.values), 0.0))
    return size


def _columns(
    tally: Tally,
    quantity: Quantity,
    first: Places,
    second: Places,
    settings: Settings,
    models: tuple[str, ...],
) -> PairColumns:
    n, difference = tally.n, tally.difference
    known = np.isfinite(difference) & (n >= 2)
    wide = np.maximum(n, 2).astype(np.float64)
    size = np.where(known, difference, 0.0)
    squares = np.where(known, tally.squares, 0.0)
    scale = np.where(known, tally.scale, 0.0)
    left = np.maximum(squares - np.square(size) / np.maximum(tally.documents, 1), 0.0)
    # Where all documents differ by the same amount, what is left over is rounding.
    left = np.where(left <= np.square(TIE * scale) / wide, 0.0, left)
    factor = wide / (wide - 1.0)
    spread = np.sqrt(factor * left)
    statistic = ratio(size, spread)
    # The spread of the test holds where two models are equal, that of influence values anywhere.
    plain = known & (tally.plain > np.square(TIE * scale) / wide)
    stderr = np.where(plain, np.sqrt(factor * np.where(plain, tally.plain, 0.0)), spread)
    toward, against, two = tally.pvalues(known, statistic, wide - 1.0)
    ahead = size >= 0.0
    greater, less = np.where(ahead, toward, against), np.where(ahead, against, toward)
    plus, minus = (greater, less) if quantity.higher_is_better else (less, greater)
    pairs = max(1, int(known.sum()))
    single, joint = (_critical(settings.level / (2.0 * k), wide - 1.0) for k in (1, pairs))
    numbers = {
        "difference": difference, "stderr": stderr, "statistic": statistic,
        "pvalue": two, "p_plus": plus, "p_minus": minus,
        "low": difference - single * stderr, "high": difference + single * stderr,
        "low_all": difference - joint * stderr, "high_all": difference + joint * stderr,
        # Without a spread there is nothing to measure a difference in.
        "effect_size": np.where(np.isfinite(statistic), statistic, np.nan) / np.sqrt(wide),
        # After correction, as a verdict is: Bonferroni's share, of which Holm and BH find no less.
        "detectable": (joint + _critical(1.0 - POWER, wide - 1.0)) * stderr,
        "smallest": _smallest(n, settings.resamples),
    }  # fmt: skip
    reasons = [""] * len(n)
    for k in np.flatnonzero(~known):
        reasons[k] = _reason(quantity, int(first[k]), int(second[k]), int(tally.documents[k]), models)
    return PairColumns(
        **{name: np.where(known, values, np.nan) for name, values in numbers.items()},
        n=n,
        reasons=tuple(reasons),
    )


def _smallest(n: Places, resamples: int) -> Doubles:
    """Return the smallest p of each pair; few different numbers of documents come up."""
    unique, back = np.unique(n, return_inverse=True)
    value: Doubles = np.array([smallest_pvalue(int(k), resamples) for k in unique])[back]
    return value


def _critical(tail: float, df: Doubles) -> Doubles:
    """Return Student's t with so much above it; few different degrees of freedom come up."""
    from scipy import special

    unique, back = np.unique(df, return_inverse=True)
    value: Doubles = -special.stdtrit(unique, tail)[back]
    return value


def _reason(quantity: Quantity, i: int, j: int, documents: int, models: tuple[str, ...]) -> str:
    for m in (i, j):
        if not np.isfinite(quantity.values[m]):
            return f"unscored: {models[m]} ({quantity.reasons[m] or 'unknown'})"
    return "no_common_document" if documents == 0 else "too_few_common_documents"
