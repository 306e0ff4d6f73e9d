"""How often a rule on the mean over data sets passes, or fails, wrongly at its margin."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from sago_harness.gate.evidence import Draws, over_data_sets
from sago_harness.gate.joined import joined
from sago_harness.gate.metrics import measured, metric_of
from sago_harness.gate.strata import Stratum
from sago_harness.stats.overall import OverallTable, overall
from sago_harness.stats.resampling import Purpose
from sago_harness.stats.table import TaskTable
from tests.gate.studies import (
    MEASURES,
    NAMES,
    pairs,
    scored,
    scores,
    slants,
    studies,
    true_differences,
    truth,
)
from tests.gate.wrong_verdicts import LONG, Pair, allowed, bounds_of_pairs, bounds_of_runs, parts, shares

LEVELS = (0.5, 0.4)


@dataclass(frozen=True)
class Design:
    """Data sets of a study: laws and documents."""

    laws: tuple[str, ...]
    documents: tuple[int, ...]

    def __str__(self) -> str:
        return " ".join(f"{law}{n}" for law, n in zip(self.laws, self.documents, strict=True))


#: Alike; one of a tenth of the documents, which brings most of the error; of different laws and sizes.
DESIGNS = (
    Design(("plain",) * 3, (40,) * 3),
    Design(("skewed",) * 3, (40,) * 3),
    Design(("skewed",) * 2, (40, 400)),
    Design(("ties",) * 2, (40, 400)),
    Design(("plain", "zeros", "skewed"), (40, 100, 60)),
    Design(("zeros", "rare"), (100, 100)),
)

#: Nearly all documents of these are never moved: the gate decides no margin on them.
COMPARED = tuple(design for design in DESIGNS if "rare" not in design.laws)


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def strata_of(documents: Sequence[int]) -> tuple[Stratum, ...]:
    """The draws that the gate has for data sets of these names."""
    return tuple(Stratum(n, n, Purpose(0, "gate", f"t{k}")) for k, n in enumerate(documents))


def tables(design: Design, seed: int, count: int, *, pair: bool) -> list[TaskTable]:
    """Data sets of the same runs, independent of each other."""
    return [
        pairs(law, 10 * seed + k, count, n, LEVELS) if pair else studies(law, 10 * seed + k, count, n)
        for k, (law, n) in enumerate(zip(design.laws, design.documents, strict=True))
    ]


def mean_over(made: Sequence[TaskTable]) -> tuple[OverallTable, dict[str, np.ndarray]]:
    """Scores over data sets, and how far they lie too low on average."""
    each = [scored(table, f"t{k}") for k, table in enumerate(made)]
    low_by = [slants(one) for one in each]
    return overall(each), {name: np.mean([one[name] for one in low_by], axis=0) for name in NAMES}


def decidable(made: Sequence[TaskTable], name: str, count: int) -> np.ndarray:
    """Pairs of which each data set has forty documents that every measure moved on either side."""
    fine = np.ones(count, dtype=bool)
    for table in made if name != "x_mr" else ():
        for measure in ("x_bleu",) if name == "x_bleu" else tuple(MEASURES):
            moved = (table.distances[measure] > 0.0).any(axis=2).reshape(2, count, -1).any(axis=0)
            fine &= moved.sum(axis=1) >= 40
    return fine


def thresholds(design: Design, seed: int, count: int, resamples: int) -> dict[str, Pair]:
    whole, low_by = mean_over(tables(design, seed, count, pair=False))
    strata = strata_of(design.documents)
    true = {name: np.mean([truth(law, parts(count))[name] for law in design.laws]) for name in NAMES}
    return {
        name: shares(
            bounds_of_runs(whole.quantities[name], resamples, low_by[name], strata), float(true[name])
        )
        for name in NAMES
    }


def margins(design: Design, seed: int, count: int, resamples: int) -> dict[str, Pair]:
    made = tables(design, seed, count, pair=True)
    (whole, low_by), strata = mean_over(made), strata_of(design.documents)
    of_laws = [true_differences(law, LEVELS, parts(count)) for law in design.laws]
    return {
        name: shares(
            bounds_of_pairs(whole.quantities[name], resamples, low_by[name], strata),
            float(np.mean([one[name] for one in of_laws])),
            decidable(made, name, count),
        )
        for name in NAMES
    }


def check(found: dict[str, Pair], count: int) -> None:
    for name, pair in found.items():
        assert max(pair) <= allowed(count), (name, pair)


def show(kind: str, design: Design, found: dict[str, Pair]) -> None:
    print(kind, design, {name: [round(side, 4) for side in pair] for name, pair in found.items()})


@pytest.mark.parametrize("design", [DESIGNS[2], DESIGNS[4]], ids=str)
def test_thresholds_on_a_mean_over_data_sets(design: Design) -> None:
    check(thresholds(design, 21, 300, 999), 300)


@pytest.mark.parametrize("design", [COMPARED[0]], ids=str)
def test_margins_of_a_mean_over_data_sets(design: Design) -> None:
    check(margins(design, 22, 300, 999), 300)


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_thresholds_on_a_mean_over_data_sets_long(design: Design) -> None:
    found = thresholds(design, 21, LONG, 1999)
    show("thresholds", design, found)
    check(found, LONG)


@pytest.mark.slow
@pytest.mark.parametrize("design", COMPARED, ids=str)
def test_margins_of_a_mean_over_data_sets_long(design: Design) -> None:
    found = margins(design, 22, LONG, 1999)
    show("margins", design, found)
    check(found, LONG)


@pytest.mark.parametrize("pair", [False, True])
def test_what_is_simulated_is_what_the_gate_does(pair: bool) -> None:
    """Value, error and bounds of three studies, by the gate's own way from the tables."""
    design, count = Design(("skewed", "plain"), (40, 60)), 3
    made = [replace(table, task=f"t{k}") for k, table in enumerate(tables(design, 5, count, pair=pair))]
    (whole, low_by), strata = mean_over(made), strata_of(design.documents)
    for name in ("x_bleu", "sago_core"):
        quantity = whole.quantities[name]
        found = (bounds_of_pairs if pair else bounds_of_runs)(quantity, 999, low_by[name], strata)
        for m in range(count):
            alone = [table.with_models([table.models[m]]) for table in made]
            if pair:
                before = [table.with_models([table.models[m + count]]) for table in made]
                alone = [joined(a, b) for a, b in zip(alone, before, strict=True)]
            gate = over_data_sets(
                [measured(one) for one in alone], metric_of(quantity), Draws(999, 0), pair=pair
            )
            assert gate.bounds.value == pytest.approx(found[m].value, abs=1e-12)
            assert gate.bounds.stderr == pytest.approx(found[m].stderr, rel=1e-9)
            for level in (0.05, 0.01):
                assert gate.bounds.upper(level) == pytest.approx(found[m].upper(level), rel=1e-4)
                assert gate.bounds.lower(level) == pytest.approx(found[m].lower(level), rel=1e-4)


def test_the_scores_are_those_of_the_studies() -> None:
    made = tables(DESIGNS[4], 6, 2, pair=False)
    each = [scores(table)["sago"].values for table in made]
    np.testing.assert_allclose(mean_over(made)[0].quantities["sago"].values, np.mean(each, axis=0))
