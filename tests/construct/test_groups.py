"""Groups that are known to differ, or not to, come out of a comparison as they went in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from sago_harness.axes.activation import layer_angles
from sago_harness.documents.identity import partners
from sago_harness.runs.find import RunFile
from sago_harness.runs.read import read_table
from sago_harness.scores.composite import relative_instability
from sago_harness.scores.table import write_parquet
from sago_harness.stats.compare import compare
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.independence import IndependenceResult
from sago_harness.stats.resampling import Settings
from tests.construct.dosed import Dosed, Level, follow, save_encoder, world

#: Share of switched answers of six models; the last two are equal but for their seed.
DOSES = {"m00": 0.0, "m10": 0.1, "m20": 0.2, "m50": 0.5, "m30": 0.3, "m30b": 0.3}
ORDER = ["m00", "m10", "m20", "m30", "m50"]
QUICK = Settings(resamples=1999)
MANY, SOME, FEW = 120, 80, 30

Models = Mapping[str, Mapping[str, Mapping[str, Level]]]
Saved = Callable[[Models, int], list[RunFile]]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Saved]:
    """Run models (data set -> model -> doses) and write their records as a run does."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SAGO_HOME", str(tmp_path_factory.mktemp("home")))
        encoder = save_encoder(tmp_path_factory.mktemp("encoder"))

        def run(models: Models, documents: int) -> list[RunFile]:
            asked = world(documents, "quick")
            runs = []
            for t, (task, doses) in enumerate(models.items()):
                for m, (model, dose) in enumerate(doses.items()):
                    path: Path = folder / f"{len(list(folder.iterdir()))}.parquet"
                    backend = Dosed(asked, dose, seed=100 * t + m)
                    write_parquet(follow(asked, backend, encoder).records, path)
                    runs.append(RunFile(model, task, path, ""))
            return runs

        yield run


@pytest.fixture(scope="module")
def doses(saved: Saved) -> Comparison:
    runs = saved({"made": {model: {"switched": dose} for model, dose in DOSES.items()}}, MANY)
    return compare(read_table(runs), QUICK)


@pytest.mark.parametrize("score", ["sago", "sago_core", "sago_text"])
def test_the_ranking_is_the_order_of_the_doses(doses: Comparison, score: str) -> None:
    ranked = [row for row in doses.ranks["made"][score].rows() if row.model != "m30b"]
    assert [row.model for row in ranked] == ORDER
    values = [row.value for row in doses.ranks["made"][score].rows()]
    assert values == sorted(values, reverse=True)
    # The sets of ranks hold the true ones: the two equal models share 4 and 5.
    sets = {row.model: (row.lower, row.upper) for row in doses.ranks["made"][score].rows()}
    for model, true in {"m00": 1, "m10": 2, "m20": 3, "m30": 4, "m30b": 4, "m50": 6}.items():
        assert sets[model][0] <= true <= sets[model][1]
    assert sets["m10"][1] < sets["m50"][0]


@pytest.mark.parametrize("score", ["sago", "sago_core", "sago_text", "sago_generation", "x_bleu", "x_bert"])
def test_models_of_different_doses_are_told_apart_and_equal_ones_are_not(
    doses: Comparison, score: str
) -> None:
    pairs = {frozenset((row.a, row.b)): row for row in doses.pairs["made"].rows() if row.quantity == score}
    assert len(pairs) == 15
    far, equal = pairs[frozenset(("m10", "m50"))], pairs[frozenset(("m30", "m30b"))]
    assert far.pvalue_adjusted <= 0.05
    assert not far.too_close
    assert (far.a if far.p_plus < far.p_minus else far.b) == "m10"
    assert equal.too_close
    assert equal.confidence_interval[0] < 0.0 < equal.confidence_interval[1]


@pytest.mark.parametrize("score", ["sago_activation", "sago_confidence", "sago_mirroring"])
def test_axes_without_a_dose_tell_no_models_apart(doses: Comparison, score: str) -> None:
    """The models are at rest there, each by its own seed: fifteen pairs without a difference."""
    rows = [row for row in doses.pairs["made"].rows() if row.quantity == score]
    assert len(rows) == 15
    assert all(row.too_close and np.isfinite(row.pvalue) for row in rows)


def test_a_model_that_nothing_moves_is_the_only_one_that_is_not_unstable(doses: Comparison) -> None:
    found = {one.model: one for one in doses.unstable if one.measure == "x_bleu"}
    assert set(found) == set(DOSES)
    for model, one in found.items():
        if DOSES[model]:
            assert one.adjusted <= 0.05
        else:
            assert not one.adjusted <= 0.05


def test_a_planted_reversal_is_confirmed_and_none_where_none_is(saved: Saved) -> None:
    low, high = {"switched": 0.05}, {"switched": 0.4}
    calm, turning = {"a": low, "b": high}, {"a": high, "b": low}
    runs = saved({"first": calm, "second": turning, "third": calm}, FEW)
    turned = compare(read_table(runs, tasks=["first", "second"]), QUICK)
    plain = compare(read_table(runs, tasks=["first", "third"]), QUICK)
    for score in ("sago", "sago_core", "sago_text"):
        table = turned.reversals[score]
        assert table.confirmed_somewhere.tolist() == [True]
        assert table.confirmed.tolist() == [[True]]
        (pair,) = table.pairs()
        assert (pair.a_ahead, pair.b_ahead) == ("first", "second")
        assert not plain.reversals[score].confirmed_somewhere.any()
        assert not plain.reversals[score].confirmed.any()
    # No axis but the dosed one turns round.
    for score in ("sago_activation", "sago_confidence", "sago_mirroring"):
        assert not turned.reversals[score].confirmed.any()


def test_axes_are_related_where_the_same_documents_are_dosed(saved: Saved) -> None:
    """Two kinds of dose, drawn for each document: once each by itself, once one draw for both."""
    rng = np.random.default_rng(5)
    one, other = rng.random((2, SOME))
    apart = {"switched": 0.9 * one, "rotated": 5.0 + 35.0 * other}
    together = {"switched": 0.9 * one, "rotated": 5.0 + 35.0 * one}
    found = compare(read_table(saved({"made": {"apart": apart, "together": together}}, SOME)), QUICK)

    def of(model: str) -> IndependenceResult:
        (row,) = (
            row
            for row in found.independence
            if (row.model, row.first, row.second) == (model, "generation", "activation")
        )
        return row

    assert of("together").verdict == "related"
    assert of("together").statistic > 0.8
    assert of("apart").reason == ""
    assert of("apart").verdict != "related"
    assert of("apart").confidence_interval[0] < 0.0 < of("apart").confidence_interval[1]
    assert abs(of("apart").statistic) < 0.3


def test_the_error_from_chance_is_as_large_as_stated() -> None:
    """300 models of one law, 120 documents: the spread of r over models against its standard error.

    All variants move every model by 30 degrees; r differs by its chance level alone. Prompts are
    directions round a common one, and the controls those of a run.
    """
    names = [f"d{i:03d}" for i in range(MANY)]
    chosen = partners(names, names, [None] * MANY, 2, 42)
    controls = np.array([[names.index(other) for other in chosen[name]] for name in names])
    squares = np.full(MANY, (30.0 / 90.0) ** 2)
    values, errors = [], []
    for seed in range(300):
        states = 1.0 + np.random.default_rng(seed).normal(size=(MANY, 16))
        # All pairs of a document and its control at once, shape (2 N, 16).
        angles = layer_angles(np.repeat(states, 2, axis=0), states[controls.ravel()]).reshape(MANY, 2)
        asked = np.square(angles)
        found = relative_instability(squares, np.mean(asked, axis=1), controls=asked, partners=controls)
        values.append(found.value)
        errors.append(found.stderr)
    # The spread of 300 values is known to 4 %.
    assert np.std(values, ddof=1) == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=0.15)
