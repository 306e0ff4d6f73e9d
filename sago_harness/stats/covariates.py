"""Values of models at equal covariates, such as equal lengths of their responses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sago_harness.stats.table import Doubles


def at_equal_covariates(values: Doubles, columns: Sequence[Doubles]) -> Doubles:
    """Return each model's value in one regression over all documents of all models.

    The regressors are one dummy a model and the covariates, centred over all rows.

    Parameters
    ----------
    values : ndarray of shape (M, D)
        What a model's value is the mean of; NaN for documents that are not part.
    columns : sequence of ndarray of shape (M, D)
        Covariates; documents without one of them are not part, either.

    Returns
    -------
    ndarray of shape (M,)
        Coefficients of the dummies, of least squares with the smallest norm where covariates tell
        nothing apart; NaN for models without documents, and for all where there are not more rows
        than coefficients.

    Notes
    -----
    The dummies are orthogonal to each other, so that the M D rows are rotated into M + k without
    forming them: the solution, and the singular values, are those of the whole design.

    Examples
    --------
    Where values are nothing but lengths, models of equal lengths are equal:

    >>> lengths = np.array([[1.0, 2.0], [3.0, 5.0]])
    >>> at_equal_covariates(lengths, [lengths]).round(9).tolist()
    [2.75, 2.75]
    """
    used = np.isfinite(values)
    for column in columns:
        used &= np.isfinite(column)
    rows = used.sum(axis=1)
    present = rows > 0
    found = np.full(len(values), np.nan)
    width = int(present.sum()) + len(columns)
    if rows.sum() <= width:
        return found
    count = rows[present][:, None]
    used = used[present]
    centred = [np.where(used, column[present], 0.0) for column in columns]
    centred = [np.where(used, x - x.sum() / rows.sum(), 0.0) for x in centred]
    x = np.stack(centred, axis=-1)
    y = np.where(used, values[present], 0.0)
    # The part along the dummies, of unit length each, and the rest of the rows.
    means = x.sum(axis=1) / count
    rest = np.where(used[:, :, None], x - means[:, None], 0.0).reshape(-1, len(columns))
    turned, triangle = np.linalg.qr(rest)
    long = np.sqrt(count)
    above = np.concatenate([np.diag(long[:, 0]), long * means], axis=1)
    below = np.concatenate([np.zeros((len(triangle), len(above))), triangle], axis=1)
    target = np.concatenate([y.sum(axis=1) / long[:, 0], turned.T @ y.reshape(-1)])
    # What counts as zero is what would in the whole design.
    least = np.finfo(np.float64).eps * max(int(rows.sum()), width)
    solved = np.linalg.lstsq(np.concatenate([above, below]), target, rcond=least)[0]
    found[present] = solved[: len(above)]
    return found
