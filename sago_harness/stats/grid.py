"""Scores of models on several data sets or paraphrases: a grid of numbers, and its file.

A grid is what agreement of rankings looks at (:mod:`sago_harness.stats.agreement`): one row for
each data set, or each way of asking, one column for each model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sago_harness.errors import SagoError
from sago_harness.jsonsafe import dumps
from sago_harness.stats.table import Doubles
from sago_harness.whole import whole

#: Names our own file, so that another one is refused and not guessed at.
SCHEMA = "sago-grid"
VERSION = 1


@dataclass(frozen=True)
class Grid:
    """One score of M models in Q rows.

    Attributes
    ----------
    name : str
        What the numbers are: a quantity of a study, or the name of a file.
    rows : tuple of str
        Q data sets, or paraphrases.
    models : tuple of str
        M names.
    values : ndarray of shape (Q, M)
        NaN where a model has no value; any unit, the same within a row.
    higher_is_better : bool
    unit : str
        What a row is, in a word or two.

    Raises
    ------
    ValueError
        If names and values do not fit, a name comes twice, or a value is infinite.

    Examples
    --------
    >>> Grid("sago", ("facts", "maths"), ("a", "b"), np.array([[0.5, 0.6], [0.7, np.nan]]))
    Grid(sago: 2 data sets x 2 models, higher is better)
    """

    name: str
    rows: tuple[str, ...]
    models: tuple[str, ...]
    values: Doubles
    higher_is_better: bool = True
    unit: str = "data set"

    def __post_init__(self) -> None:
        shape = (len(self.rows), len(self.models))
        if self.values.shape != shape:
            raise ValueError(f"values of shape {self.values.shape} for {shape[0]} rows and {shape[1]} models")
        for names in (self.rows, self.models):
            if len(set(names)) != len(names):
                raise ValueError(f"a name comes twice: {_first_repeated(names)!r}")
        if np.isinf(self.values).any():
            raise ValueError("a value is infinite")

    def __repr__(self) -> str:
        direction = "higher" if self.higher_is_better else "lower"
        counts = f"{len(self.rows)} {self.unit}s x {len(self.models)} models"
        return f"Grid({self.name}: {counts}, {direction} is better)"

    __str__ = __repr__


def load_grids(path: Path) -> list[Grid]:
    """Read our own file of grids, or a published file of accuracies by paraphrase.

    Parameters
    ----------
    path : Path
        Own: ``{"schema": "sago-grid", "version": 1, "grids": [...]}``, of :func:`save_grids`.
        Published: ``{"paraphrases": {index: {"accs": {model: accuracy}, ...}}}``, the format of the
        data of *State of What Art? A Call for Multi-Prompt LLM Evaluation*; all paraphrases enter,
        those that were judged not to mean the same included.

    Returns
    -------
    list of Grid
        One of a published file, named after it.

    Raises
    ------
    SagoError
        If the file is not there, not whole, or of another format.
    """
    read = _json(path)
    if isinstance(read, dict) and "schema" in read:
        return _own(read, path)
    if isinstance(read, dict) and "paraphrases" in read:
        if not isinstance(read["paraphrases"], dict):
            raise SagoError(f"{path} is no grid: 'paraphrases' must map each paraphrase to its 'accs'")
        return [_published(read["paraphrases"], path)]
    raise SagoError(
        f"{path} is no grid of models: needs 'paraphrases' with 'accs' each, or a file of schema {SCHEMA!r}"
    )


def save_grids(path: Path, grids: Sequence[Grid]) -> None:
    """Write grids to one JSON file, whole or not at all.

    Parameters
    ----------
    path : Path
        Its folder is made where it is missing.
    grids : sequence of Grid

    Raises
    ------
    SagoError
        If the file cannot be written.
    """
    plain = [
        {
            "name": grid.name,
            "unit": grid.unit,
            "higher_is_better": grid.higher_is_better,
            "models": grid.models,
            "rows": grid.rows,
            "values": grid.values,
        }
        for grid in grids
    ]
    text = dumps({"schema": SCHEMA, "version": VERSION, "grids": plain})
    with whole(path) as partial:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text + "\n", encoding="utf-8")


def _json(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SagoError(f"{path} is no text in UTF-8: expected a JSON file of a grid") from error
    except OSError as error:
        raise SagoError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise SagoError(f"{path} is no whole JSON file: {error}") from error
    except (KeyError, RecursionError, ValueError) as error:
        raise SagoError(f"{path} cannot be used: {error.args[0] if error.args else error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict; a key that comes twice would hide a value."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise KeyError(f"the key {_first_repeated([key for key, _ in pairs])!r} comes twice")
    return made


def _first_repeated(names: Sequence[str]) -> str:
    return next(name for place, name in enumerate(names) if name in names[:place])


def _published(paraphrases: Mapping[str, Any], path: Path) -> Grid:
    if not paraphrases:
        raise SagoError(f"{path} holds no paraphrase")
    models: dict[str, None] = {}
    for index, row in paraphrases.items():
        accs = row.get("accs") if isinstance(row, dict) else None
        if not isinstance(accs, dict) or not accs:
            raise SagoError(f"{path}, paraphrase {index!r}: 'accs' must give an accuracy for each model")
        models |= dict.fromkeys(accs)
    values = np.array(
        [
            [
                _accuracy(row["accs"].get(model), f"{path}, paraphrase {index!r}, model {model!r}")
                for model in models
            ]
            for index, row in paraphrases.items()
        ]
    )
    return Grid(path.stem, tuple(paraphrases), tuple(models), values, True, "paraphrase")


def _own(read: Mapping[str, Any], path: Path) -> list[Grid]:
    if read["schema"] != SCHEMA:
        raise SagoError(f"{path} is of schema {read['schema']!r}: expected {SCHEMA!r}")
    if read.get("version") != VERSION:
        raise SagoError(
            f"{path} is of version {read.get('version')!r} of {SCHEMA}: this program reads version {VERSION}"
        )
    grids = read.get("grids")
    if not isinstance(grids, list) or not grids:
        raise SagoError(f"{path} holds no grid")
    return [_own_grid(entry, f"{path}, grid {number}") for number, entry in enumerate(grids, start=1)]


def _own_grid(entry: Any, where: str) -> Grid:
    fields = {
        "name": str,
        "unit": str,
        "higher_is_better": bool,
        "models": list,
        "rows": list,
        "values": list,
    }
    for field, kind in fields.items():
        if not isinstance(entry, dict) or not isinstance(entry.get(field), kind):
            raise SagoError(f"{where}: {field!r} is missing or no {kind.__name__}")
    rows, models = tuple(map(str, entry["rows"])), tuple(map(str, entry["models"]))
    if len(entry["values"]) != len(rows):
        raise SagoError(f"{where}: {len(entry['values'])} rows of values for {len(rows)} names")
    values = np.empty((len(rows), len(models)))
    for place, row in enumerate(entry["values"]):
        if not isinstance(row, list) or len(row) != len(models):
            raise SagoError(f"{where}, row {rows[place]!r}: expected {len(models)} values, one a model")
        values[place] = [
            _number(value, f"{where}, row {rows[place]!r}, model {model!r}")
            for value, model in zip(row, models, strict=True)
        ]
    try:
        return Grid(entry["name"], rows, models, values, entry["higher_is_better"], entry["unit"])
    except ValueError as error:
        raise SagoError(f"{where}: {error}") from error


def _accuracy(value: object, where: str) -> float:
    number = _number(value, where)
    if number < 0.0 or number > 1.0:
        raise SagoError(f"{where}: {number:g} is no accuracy from 0 to 1 (divide a percentage by 100)")
    return number


def _number(value: object, where: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SagoError(f"{where}: {value!r} is no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise SagoError(f"{where}: the value is infinite")
    return number
