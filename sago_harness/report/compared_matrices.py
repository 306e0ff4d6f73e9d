"""Rank correlations and independence as matrices: the same rows that CSV and JSON list pair by pair."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sago_harness.report.cells import Cell
from sago_harness.report.matrix import Matrices, Matrix, filled
from sago_harness.report.shown import Column, missing, shown
from sago_harness.report.tables import Table

#: A list of one pair says all that a matrix of two names would.
LEAST_NAMES = 3

#: Matrices without a single number that are named; the rest are counted.
MOST_BLANK = 10

#: Why a correlation is blank, in the words of a legend.
REASONS = {
    "not_measured": "one of the two was not measured",
    "no_chance": "an axis of several measures needs their chance levels",
    "too_few_variants": "a half needs a variant, so there must be two",
    "too_few_documents": "under 10 documents are scored on both halves",
    "constant": "no document, or no model, differs from the others",
    "reliability": "the reliability of one of the two is under .4",
    "no_model": "no model has a value",
    "too_few_models": "under 10 models",
}

#: What the key columns of a list say each matrix is of.
_Key = tuple[str, ...]


def tau_matrices(table: Table) -> Matrices:
    """Return one matrix a score, of Kendall's tau between its data sets.

    Parameters
    ----------
    table : Table
        The list ``tau``, one row a pair of data sets.

    Examples
    --------
    >>> columns = (Column("score", kind="text"), Column("first"), Column("second"), Column("tau"))
    >>> rows = (("sago", "p", "q", 0.5), ("sago", "p", "r", 1.0), ("sago", "q", "r", 0.0))
    >>> (made,) = tau_matrices(Table("tau", "Tau", columns, rows)).each
    >>> made.names, made.cells[1]
    (('p', 'q', 'r'), (0.5, '1', 0.0))
    """
    made = []
    (value,) = [column for column in table.columns if column.key == "tau"]
    tied = False
    for (score,), pairs in _grouped(table, ("score",)).items():
        names = _names(pairs)
        cells = filled(names, [_itself(name, pairs, "tau") for name in names])
        for pair in pairs:
            a, b = names.index(pair["first"]), names.index(pair["second"])
            cells[a][b] = cells[b][a] = pair["tau"]
            tied = tied or missing(pair["tau"])
        made.append(Matrix(score, "data set", names, tuple(map(tuple, cells)), value, _mixed(pairs)))
    return Matrices(made, ("-: all models tie on one of the two data sets",) if tied else ())


def independence_matrices(table: Table) -> Matrices:
    """Return one matrix a data set over all models, then those over models, then one a model.

    Above the diagonal the correlation and its interval, on it the reliability, below it the verdict or
    why the pair is blank.

    Parameters
    ----------
    table : Table
        The list ``independence``, one row a pair of axes. What has no number at all is told in a line.
    """
    columns = {column.key: column for column in table.columns}
    groups = [
        _Group(key, pairs, columns) for key, pairs in _grouped(table, ("kind", "task", "model")).items()
    ]
    groups.sort(key=lambda one: (not one.over_all, one.kind == "models"))
    shown_ones = [one for one in groups if not one.blank]
    reading = []
    if shown_ones:
        over_models = any(one.kind == "models" for one in shown_ones)
        reading.append(
            f"above the diagonal: correlation and {columns['interval'].heading}, - where it is blank"
        )
        reading.append(
            "on the diagonal: reliability, the correlation of an axis with itself between halves"
            + ("; over models 1" if over_models else "")
        )
        reading.append(
            "below the diagonal: verdict (independent: the whole interval within .3 of 0; related: it is "
            "not, and excludes 0), or in brackets why it is blank"
        )
    reading += _blank([one for one in groups if one.blank])
    seen = dict.fromkeys(reason for one in groups for reason in one.reasons)
    reading += [f"({reason}): {REASONS[reason]}" for reason in seen if reason in REASONS]
    return Matrices([one.matrix() for one in shown_ones], tuple(reading))


@dataclass(frozen=True, slots=True)
class _Group:
    """The pairs of one matrix of independence."""

    key: _Key
    pairs: Sequence[Mapping[str, Any]]
    columns: Mapping[str, Column]

    @property
    def kind(self) -> str:
        return self.key[0]

    @property
    def over_all(self) -> bool:
        return self.key[2] == "all models"

    @property
    def title(self) -> str:
        _, task, model = self.key
        return f"{task}, over models" if self.kind == "models" else f"{task}, {model}"

    @property
    def blank(self) -> bool:
        """Whether there is no number in it."""
        keys = ("correlation", "reliability_first", "reliability_second")
        return all(missing(pair[key]) for pair in self.pairs for key in keys)

    @property
    def reasons(self) -> Iterator[str]:
        """Why pairs are blank."""
        return (str(pair["verdict"]) for pair in self.pairs if missing(pair["correlation"]))

    def matrix(self) -> Matrix:
        """Return the cells as people read them."""
        names = _names(self.pairs)
        cells = filled(names, [self._reliability(name) for name in names])
        for pair in self.pairs:
            a, b = sorted((names.index(pair["first"]), names.index(pair["second"])))
            bare = missing(pair["correlation"])
            parts = [
                shown(pair[key], self.columns[key])
                for key in ("correlation", "interval")
                if not missing(pair[key])
            ]
            cells[a][b] = None if bare else " ".join(parts)
            cells[b][a] = f"({pair['verdict']})" if bare else pair["verdict"]
        valued = [pair for pair in self.pairs if not missing(pair["correlation"])]
        counted = [int(pair["documents"]) for pair in valued or self.pairs]
        n = _span(f"{min(counted):,}", f"{max(counted):,}", " to ")
        what = "models" if self.kind == "models" else "documents"
        return Matrix(
            f"{self.title} (n = {n} {what})",
            "axis" if self.kind in ("axis", "models") else self.kind,
            names,
            tuple(map(tuple, cells)),
            Column("correlation"),
            _mixed(self.pairs),
        )

    def _reliability(self, name: str) -> Cell:
        if self.kind == "models":
            return _itself(name, self.pairs, "correlation")
        own = [
            float(pair[f"reliability_{side}"])
            for pair in self.pairs
            for side in ("first", "second")
            if pair[side] == name
        ]
        known = [value for value in own if math.isfinite(value)]
        if not known:
            return "reliability -"
        # Pairs are over the documents that both axes have: it may be another one in each.
        low, high = (shown(end, self.columns["reliability_first"]) for end in (min(known), max(known)))
        return f"reliability {_span(low, high, ' to ')}"


def _blank(groups: Sequence[_Group]) -> Iterator[str]:
    """Yield which matrices hold no number, by reason."""
    by_reason: dict[str, list[str]] = {}
    for one in groups:
        reasons = ", ".join(f"({reason})" for reason in dict.fromkeys(one.reasons))
        by_reason.setdefault(reasons, []).append(one.title)
    for reasons, titles in by_reason.items():
        more = f"; and {len(titles) - MOST_BLANK:,} more" if len(titles) > MOST_BLANK else ""
        yield f"blank throughout {reasons}: {'; '.join(titles[:MOST_BLANK])}{more}"


def _grouped(table: Table, by: Sequence[str]) -> dict[_Key, list[Mapping[str, Any]]]:
    """Return the rows that have the same names in some columns together, in their order."""
    keys = [column.key for column in table.columns]
    groups: dict[_Key, list[Mapping[str, Any]]] = {}
    for row in table.rows:
        pair = dict(zip(keys, row, strict=True))
        groups.setdefault(tuple(str(pair[key]) for key in by), []).append(pair)
    return groups


def _names(pairs: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the names in the order of the list: that of all first ones, then the last second one."""
    pairs = list(pairs)
    return tuple(dict.fromkeys([str(pair[side]) for side in ("first", "second") for pair in pairs]))


def _itself(name: str, pairs: Iterable[Mapping[str, Any]], key: str) -> Cell:
    """Return the rank correlation of a ranking with itself: none if all tie in it."""
    known = any(name in (pair["first"], pair["second"]) and not missing(pair[key]) for pair in pairs)
    return "1" if known else None


def _mixed(pairs: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    marks = dict.fromkeys(str(pair["mixed"]) for pair in pairs if pair.get("mixed"))
    return (f"mixed on: {'; '.join(marks)}",) if marks else ()


def _span(low: str, high: str, between: str) -> str:
    return low if low == high else f"{low}{between}{high}"
