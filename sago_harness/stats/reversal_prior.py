"""P(reversal): how probable it is that two models swap places, given all pairs of models.

The true differences (d_p, d_q) of a pair of models on two data sets are taken as drawn from a
normal law with mean 0 (which model is named first means nothing) and a covariance T that all pairs
share; what is observed adds independent sampling errors of known variance. The posterior of
(d_p, d_q) is normal, and P(reversal) is its probability of opposite signs.

T comes from second moments, net of sampling variances. With few models it is hardly known, and a
plug-in estimate then claims far too much (.96 where .65 reverse, with ten models and noise as large
as the spread). So the probability is averaged over what T may be: the moments of observed
differences are taken as those of a Wishart law with nu degrees of freedom, M - 1 for all pairs of M
models; total variances have prior 1 / v above the sampling variance. The correlation has a prior
that is learned from all pairs of data sets, beginning with a uniform one, which stays where there
is one pair of data sets only. Where the data say little, P goes to one half: it is then too high
for data sets that in truth order the models alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sago_harness.stats.table import Doubles, Flags, Places

#: Values of T: two variances, correlation, weight; each of shape (K,).
_Law = tuple[Doubles, Doubles, Doubles, Doubles]

#: Under so many pairs of models their law cannot be learned.
LEAST_PAIRS = 15

#: Values of each variance, and of the correlation, that are averaged over.
_VARIANCES, _CORRELATIONS = 5, 11

#: What the uniform prior of the correlation counts beside that of each data set, and rounds of learning.
_UNIFORM, _ROUNDS = 1.0, 3

#: Orthant probabilities worked out at most, but never under this many values of T for two data sets.
_BUDGET, _LEAST_NODES = 12_000_000, 12

#: Smallest sampling variance beside the mean one: of a difference that is known exactly.
_TINY = 1e-12


@dataclass(frozen=True)
class _Moments:
    """Of two data sets, over the pairs of models that both have; each of shape (C,)."""

    square_p: Doubles
    square_q: Doubles
    product: Doubles
    noise_p: Doubles
    noise_q: Doubles
    freedom: Doubles
    count: Doubles


def reversal_probability(
    difference: Doubles, stderr: Doubles, pairs: tuple[Places, Places], tasks: tuple[Places, Places]
) -> tuple[Doubles, tuple[str, ...]]:
    """Return the probability that each pair of models is ordered differently on two data sets.

    Parameters
    ----------
    difference, stderr : ndarray of shape (Q, P)
        Of each pair of models on each data set; NaN where one of them is not scored.
    pairs : pair of ndarray of shape (P,)
        Places of the two models of each pair.
    tasks : pair of ndarray of shape (C,)
        Places of the two data sets of each comparison.

    Returns
    -------
    probability : ndarray of shape (C, P)
        In [0, 1]; NaN where a pair of models has not both data sets, or the law is not learned.
        0 where two models are known to be equal: there is no order to reverse.
    reasons : tuple of str
        Of each comparison of data sets, "" where there are probabilities.

    Examples
    --------
    >>> d = np.linspace(-2.0, 2.0, 15)
    >>> p, _ = reversal_probability(
    ...     np.array([d, d]), np.full((2, 15), 0.1), np.triu_indices(6, 1), (np.array([0]), np.array([1]))
    ... )
    >>> bool(p[0, 0] < 0.01 < p[0, 7])
    True
    """
    known = np.isfinite(difference) & np.isfinite(stderr)
    count = len(tasks[0])
    models = 1 + max((int(side.max()) for side in pairs if side.size), default=-1)
    probability = np.full((count, difference.shape[1]), np.nan)
    moments = _moments(
        np.where(known, difference, 0.0), np.where(known, stderr, 0.0), known, tasks, pairs, models
    )
    nodes = max(_LEAST_NODES, _BUDGET // max(1, probability.size))
    reasons = [_lacking(moments, c) for c in range(count)]
    fine = [c for c, reason in enumerate(reasons) if not reason]
    laws = [_law(moments, c) for c in fine]
    weights = _pooled([law[3] for law in laws], len({int(side[c]) for c in fine for side in tasks}))
    for c, law, weight in zip(fine, laws, weights, strict=True):
        p, q = int(tasks[0][c]), int(tasks[1][c])
        both = known[p] & known[q]
        noise = (moments.noise_p[c], moments.noise_q[c])
        chosen = _thinned((*law[:3], weight), nodes)
        probability[c, both] = _posterior(chosen, difference[[p, q]][:, both], stderr[[p, q]][:, both], noise)
    return probability, tuple(reasons)


def orthant_reversal(h: Doubles, k: Doubles, rho: Doubles) -> Doubles:
    """Return P(X Y < 0) of a bivariate normal with means h and k, unit variances, correlation rho.

    Owen (1956): 2 T(h, (k/h - rho) / s) + 2 T(k, (h/k - rho) / s) + [h k < 0], s = sqrt(1 - rho^2).

    Parameters
    ----------
    h, k : ndarray
    rho : ndarray
        In (-1, 1).

    Returns
    -------
    ndarray
        In [0, 1].

    Examples
    --------
    >>> round(float(orthant_reversal(np.array(0.0), np.array(0.0), np.array(0.5))), 6)
    0.333333
    """
    from scipy.special import owens_t

    h, k = (np.where(np.abs(x) < 1e-100, 1e-100, x) for x in (h, k))
    s = np.sqrt((1.0 - rho) * (1.0 + rho))
    ratio = np.clip(k / h, -1e100, 1e100), np.clip(h / k, -1e100, 1e100)
    found = 2.0 * owens_t(h, (ratio[0] - rho) / s) + 2.0 * owens_t(k, (ratio[1] - rho) / s)
    value: Doubles = np.clip(found + (np.sign(h) != np.sign(k)), 0.0, 1.0)
    return value


def _moments(
    d: Doubles,
    s: Doubles,
    known: Flags,
    tasks: tuple[Places, Places],
    pairs: tuple[Places, Places],
    models: int,
) -> _Moments:
    """Return mean squares and products over the pairs of models that two data sets share.

    The pairs are not independent: two that share a model correlate by a half. Squares of P such
    differences are worth nu = P^2 / (P + sum_m k_m (k_m - 1) / 4) independent ones, k_m the pairs of
    a model: M - 1 for all pairs.
    """
    p, q = tasks
    inside = known.astype(np.float64)
    count = (inside @ inside.T)[p, q]
    least = np.maximum(count, 1.0)
    squares, noises = d**2 @ inside.T, s**2 @ inside.T
    incidence = np.zeros((len(pairs[0]), models))
    for side in pairs:
        incidence[np.arange(len(side)), side] = 1.0
    both = inside[p] * inside[q]
    degree = both @ incidence
    shared = np.square(degree).sum(axis=1) - degree.sum(axis=1)
    freedom = count**2 / np.maximum(count + shared / 4.0, 1.0)
    return _Moments(
        squares[p, q] / least, squares[q, p] / least, (d @ d.T)[p, q] / least,
        noises[p, q] / least, noises[q, p] / least, freedom, count,
    )  # fmt: skip


def _lacking(moments: _Moments, c: int) -> str:
    """Say why two data sets tell nothing about the law, "" where they do."""
    if moments.count[c] < LEAST_PAIRS:
        found = int(moments.count[c])
        return f"{found} pairs of models on both data sets: P(reversal) needs {LEAST_PAIRS}"
    if not (moments.square_p[c] > 0.0 and moments.square_q[c] > 0.0):
        return "all models are equal on one of the data sets"
    return ""


def _law(moments: _Moments, c: int) -> _Law:
    """Return values of T, the correlation varying fastest, and how well each fits the moments."""
    a = (float(moments.square_p[c]), float(moments.square_q[c]))
    nu = float(moments.freedom[c])
    noise = [
        max(float(s), _TINY * square)
        for s, square in zip((moments.noise_p[c], moments.noise_q[c]), a, strict=True)
    ]
    totals = [_variances(square, s, nu) for square, s in zip(a, noise, strict=True)]
    grid = (np.arange(_CORRELATIONS) + 0.5) / _CORRELATIONS * 2.0 - 1.0
    v_p, v_q, rho = (x.ravel() for x in np.meshgrid(*totals, grid, indexing="ij"))
    t_p, t_q = v_p - noise[0], v_q - noise[1]
    shared = rho * np.sqrt(t_p * t_q)
    det = v_p * v_q - shared**2
    fit = np.log(det) + (v_q * a[0] + v_p * a[1] - 2.0 * shared * moments.product[c]) / det
    # The variances were drawn from what each data set alone says: that part is not counted twice.
    alone = np.log(v_p) + a[0] / v_p + np.log(v_q) + a[1] / v_q
    log_weight = -0.5 * nu * (fit - alone)
    weight = np.exp(log_weight - log_weight.max())
    return t_p, t_q, rho, weight / weight.sum()


def _pooled(weights: list[Doubles], data_sets: int) -> list[Doubles]:
    """Give the correlation the prior that all pairs of data sets have in common.

    Pairs of data sets are no independent witnesses: together they count as Q - 1.
    """
    if len(weights) < 2:
        return weights
    stacked = np.array(weights).reshape(len(weights), -1, _CORRELATIONS)
    likelihood = stacked.sum(axis=1)
    prior = np.full(_CORRELATIONS, 1.0 / _CORRELATIONS)
    for _ in range(_ROUNDS):
        believed = likelihood * prior
        believed /= believed.sum(axis=1, keepdims=True)
        prior = _UNIFORM / _CORRELATIONS + (data_sets - 1) * believed.mean(axis=0)
        prior /= prior.sum()
    joint = (stacked * prior).reshape(len(weights), -1)
    return list(joint / joint.sum(axis=1, keepdims=True))


def _thinned(law: _Law, most: int) -> _Law:
    """Return few values in the place of many: evenly spaced through the weights, which are then equal."""
    weight = law[3]
    if most >= len(weight):
        return law
    drawn = np.searchsorted(np.cumsum(weight), (np.arange(most) + 0.5) / most)
    at, times = np.unique(np.minimum(drawn, len(weight) - 1), return_counts=True)
    return law[0][at], law[1][at], law[2][at], times / most


def _variances(square: float, noise: float, nu: float) -> Doubles:
    """Return equally probable values of the variance of observed differences, none under the noise."""
    from scipy import special

    most = special.chdtr(nu, nu * square / noise)
    least = noise * (1.0 + 1e-6)
    if most < _TINY:
        return np.full(_VARIANCES, noise * (1.0 + 1e-3))
    shares = (np.arange(_VARIANCES) + 0.5) / _VARIANCES
    value: Doubles = np.maximum(nu * square / (2.0 * special.gammaincinv(nu / 2.0, shares * most)), least)
    return value


def _posterior(law: _Law, d: Doubles, stderr: Doubles, noise: tuple[float, float]) -> Doubles:
    """Return P(reversal) of each pair of models, averaged over the values of T."""
    t_p, t_q, rho, weight = (part[:, None] for part in law)
    (d_p, d_q), (s_p, s_q) = d, np.square(stderr)
    equal = ((d_p == 0.0) & (s_p == 0.0)) | ((d_q == 0.0) & (s_q == 0.0))
    scale = np.mean(d_p**2), np.mean(d_q**2)
    s_p = np.maximum(s_p, _TINY * max(noise[0], scale[0]))
    s_q = np.maximum(s_q, _TINY * max(noise[1], scale[1]))
    shared = rho * np.sqrt(t_p * t_q)
    v_p, v_q = t_p + s_p, t_q + s_q
    det = v_p * v_q - shared**2
    g_p, g_q = (v_q * d_p - shared * d_q) / det, (v_p * d_q - shared * d_p) / det
    mean_p, mean_q = t_p * g_p + shared * g_q, shared * g_p + t_q * g_q
    # Posterior covariance, T (T + S)^-1 S, written without differences of nearly equal numbers.
    left = t_p * t_q - shared**2
    var_p, var_q = s_p * (left + t_p * s_q) / det, s_q * (left + t_q * s_p) / det
    between = s_p * s_q * shared / det
    correlation = np.clip(between / np.sqrt(var_p * var_q), -1.0 + 1e-9, 1.0 - 1e-9)
    found = orthant_reversal(mean_p / np.sqrt(var_p), mean_q / np.sqrt(var_q), correlation)
    value: Doubles = np.where(equal, 0.0, (weight * found).sum(axis=0))
    return value
