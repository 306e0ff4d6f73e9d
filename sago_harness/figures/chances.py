"""How far an unrelated question moves a model: the chance level of a distance, model by model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sago_harness.errors import SagoError
from sago_harness.stats.table import Doubles, Places

if TYPE_CHECKING:
    from sago_harness.report.study import Study
    from sago_harness.runs.find import RunFile

#: What chance controls are called in records.
_ROLE = "control"


def chance_of(study: Study, measure: str) -> dict[tuple[str, str], float]:
    """Return the chance level of a measure.

    Parameters
    ----------
    study : Study
    measure : str
        Part of a score: then it is the level of the tests of instability. Others (``x_jsd``) have no
        test; their level is read from the records, where those are at hand.

    Returns
    -------
    dict of (str, str) to float
        (data set, model) -> mean over documents of the root mean square distance of the chance controls,
        from 0 on; what has none is not there.

    Raises
    ------
    SagoError
        If a file of records cannot be read.
    """
    tested = {(one.task, one.model): one.chance for one in study.found.unstable if one.measure == measure}
    found = tested or {key: _of_run(run, measure) for key, run in study.runs.items()}
    return {key: float(level) for key, level in found.items() if math.isfinite(level)}


def _of_run(run: RunFile, measure: str) -> float:
    distances, documents = (
        _of_parquet(run, measure) if run.path.suffix == ".parquet" else _of_samples(run, measure)
    )
    return chance_level(distances, documents)


def chance_level(distances: Doubles, documents: Places) -> float:
    """Return the mean over documents of the root mean square of their distances, NaN for none.

    Parameters
    ----------
    distances : ndarray of shape (N,)
        Of chance controls, in [0, 1]; NaN = unscored.
    documents : ndarray of int of shape (N,)
        Place of each one's document.

    Examples
    --------
    >>> round(chance_level(np.array([0.3, 0.4, np.nan, 0.5]), np.array([0, 0, 1, 2])), 4)
    0.4268
    """
    known = np.isfinite(distances)
    places = documents[known]
    sums = np.bincount(places, np.square(distances[known]))
    counts = np.bincount(places)
    there = counts > 0
    return float(np.sqrt(sums[there] / counts[there]).mean()) if there.any() else math.nan


def _of_parquet(run: RunFile, measure: str) -> tuple[Doubles, Places]:
    """Read the chance controls' two columns, and no more."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from sago_harness.runs.arrow import doubles

    none: Places = np.zeros(0, dtype=np.intp)
    try:
        if measure not in pq.read_schema(run.path).names:
            return np.zeros(0), none
        table = pq.read_table(
            run.path, columns=["document", measure], filters=[("role", "=", _ROLE)], partitioning=None,
            use_threads=False,
        )  # fmt: skip
    except (OSError, pa.ArrowException) as error:
        raise SagoError(f"{run.path} is no Parquet file: {error}") from error
    if not table.num_rows:
        return np.zeros(0), none
    _, places = np.unique(np.array(table.column("document").to_pylist(), dtype=object), return_inverse=True)
    return doubles(table.column(measure)), places


def _of_samples(run: RunFile, measure: str) -> tuple[Doubles, Places]:
    from sago_harness.runs.columns import CONTROL, read_columns

    # Whether damaged lines may be left out was decided where the numbers were read.
    columns = read_columns(run, [])
    rows = np.flatnonzero(columns.role == CONTROL)
    values: Mapping[str, Doubles] = columns.numbers
    return values.get(measure, np.full(len(columns.role), np.nan))[rows], columns.document[rows]
