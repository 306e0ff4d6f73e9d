"""What the report says in words: that its numbers are the study's, and its verdict the tests'."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from sago_harness.report.main_score import main_score
from sago_harness.report.page.board import board_of
from sago_harness.report.page.standing import sentences, standings
from sago_harness.report.page.verdict import CONFIRMED, IMPOSSIBLE, NOT_SHOWN, smallest_adjusted, verdict
from sago_harness.report.page.whisker import scale_of
from sago_harness.report.tables import as_csv
from sago_harness.stats.compare import compare
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.resampling import Settings
from sago_harness.stats.table import ScoreTable
from tests.stats.made import table

MODELS = ("a", "b", "c")


def found(
    levels: Mapping[str, Sequence[float]], documents: int = 40, resamples: int = 199, **settings: object
) -> Comparison:
    rng = np.random.default_rng(5)
    tables = [
        table(rng, task=task, models=MODELS[: len(of)], documents=documents, level=list(of), spread=0.3)
        for task, of in levels.items()
    ]
    return compare(
        ScoreTable.of(tables),
        Settings(resamples=resamples, **settings),
        workers=1,  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def steady() -> Comparison:
    return found({"p": (0.2, 0.4, 0.6), "q": (0.3, 0.4, 0.7)})


def said(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def test_the_rows_are_the_study_s(steady: Comparison) -> None:
    assert steady.total is not None
    rows = standings(steady)
    assert main_score(steady) == "sago"
    values = dict(zip(steady.total.models, steady.total.quantities["sago"].values, strict=True))
    assert [one.model for one in rows] == sorted(values, key=lambda model: -values[model])
    interval = steady.intervals["overall"]["sago"]
    ranks = steady.ranks["overall"]["sago"]
    for one in rows:
        at = steady.total.models.index(one.model)
        assert one.score.value == values[one.model]
        assert (one.score.low, one.score.high) == (interval.low[at], interval.high[at])
        place = ranks.models.index(one.model)
        assert one.ranks == (ranks.lower[place], ranks.upper[place])
        axes = {name: q.values[at] for name, q in steady.total.quantities.items() if q.kind == "axis"}
        assert one.axes[0].name == max(axes, key=lambda name: axes[name])
        on = {
            task: part.quantities["sago"].values[part.models.index(one.model)]
            for task, part in steady.scored.items()
        }
        assert one.weakest is not None
        assert one.weakest.where == min(on, key=lambda task: on[task])
        tests = [t for t in steady.unstable if t.model == one.model and np.isfinite(t.pvalue)]
        assert (one.tests, one.unstable) == (len(tests), sum(t.adjusted <= 0.05 for t in tests))


def test_a_sentence_holds_the_numbers_with_their_uncertainty(steady: Comparison) -> None:
    one = standings(steady)[0]
    words = sentences(one, steady).striptags()
    for value in (one.score.value, one.score.low, one.score.high, one.axes[0].value):
        assert said(value) in words
    assert one.weakest is not None
    assert f"on {one.weakest.where}, with {said(one.weakest.value)}" in words
    assert f"{one.unstable} of {one.tests} tests" in words
    assert "95 % interval" in words
    assert "rank 1 of 3" in words or "rank between 1" in words


def test_noise_is_named_only_where_it_was_looked_at(steady: Comparison) -> None:
    one = standings(steady)[-1]
    assert "beyond 5 % of chance" in sentences(one, steady), "the made runs hold no repeats"
    repeated = replace(steady, unstable=[replace(test, pvalue_noise=0.001) for test in steady.unstable])
    assert "beyond noise and chance" in sentences(standings(repeated)[-1], repeated)


def test_a_stock_model_is_not_ranked_and_says_why() -> None:
    rng = np.random.default_rng(2)
    made = [table(rng, task=task, models=("a", "b"), documents=20) for task in ("p", "q")]
    for one in made:
        assert one.responses is not None
        one.responses[1, :] = "same"
    study = compare(ScoreTable.of(made), Settings(resamples=99), workers=1)
    row = next(one for one in standings(study) if one.model == "b")
    assert row.ranks is None
    words = sentences(row, study).striptags()
    assert "not ranked: more than a tenth of its answers are empty or the same for another question" in words
    assert "stock answers (all data sets)" in words


def test_confirmed() -> None:
    study = found({"p": (0.15, 0.8), "q": (0.8, 0.15)}, documents=60)
    one = verdict(study)
    assert study.reversals["sago"].confirmed_somewhere.all()
    assert one.state == CONFIRMED
    assert one.number == "1 of 1 pair of models"
    words = one.text.striptags()
    assert "a, ahead on p, and b, ahead on q" in words
    assert "1 of 1 pair of models swaps places" in words


def test_not_shown(steady: Comparison) -> None:
    one = verdict(steady)
    table = steady.reversals["sago"]
    assert not table.confirmed_somewhere.any()
    assert one.state == NOT_SHOWN
    assert one.number == "0 of 3 pairs of models"
    swapped = int(table.observed.any(axis=0).sum())
    assert swapped == 0
    assert "no pair changes order in sago over 2 data sets" in one.text
    given = [steady.pairs[task].columns["sago"].detectable for task in steady.tasks]
    assert f"a difference of {said(float(np.median(np.concatenate(given))))} four times" in one.text
    assert len(one.others) == 2


def test_too_few_documents_to_show_anything() -> None:
    study = found({"p": (0.15, 0.8), "q": (0.8, 0.15)}, documents=4)
    one = verdict(study)
    assert one.state == IMPOSSIBLE
    # Sixteen patterns of signs of four documents: no one-sided p-value is under 1/16.
    assert smallest_adjusted(study, study.reversals["sago"]) == pytest.approx(1 / 16)
    assert ".0625" in one.text
    assert np.nanmin(study.reversals["sago"].somewhere_adjusted) >= 1 / 16 - 1e-12


def test_many_pairs_make_few_documents_too_few() -> None:
    """Five documents can give 1/32 for one pair, which is below the level, but not for three."""
    alone = found({"p": (0.15, 0.8), "q": (0.8, 0.15)}, documents=5)
    assert smallest_adjusted(alone, alone.reversals["sago"]) == pytest.approx(1 / 32)
    three = found({"p": (0.15, 0.8, 0.4), "q": (0.8, 0.15, 0.4)}, documents=5)
    assert smallest_adjusted(three, three.reversals["sago"]) == pytest.approx(3 / 32)
    assert verdict(three).state == IMPOSSIBLE


def test_one_data_set_or_one_model() -> None:
    for levels in ({"p": (0.2, 0.6)}, {"p": (0.2,), "q": (0.4,)}):
        one = verdict(found(levels))
        assert one.state == IMPOSSIBLE
        assert not one.number
        assert "two data sets with two models" in one.text


@pytest.mark.parametrize(
    "values", [[0.42, 0.61], [0.5], [0.0, 1.0], [0.499, 0.501], [-2.0, 3.0], [12.0, 340.0], [0.0]]
)
def test_a_scale_holds_its_values(values: list[float]) -> None:
    scale = scale_of([*values, float("nan")])
    assert scale.low <= min(values) <= max(values) <= scale.high
    assert 2 <= len(scale.ticks) <= 6
    assert list(scale.ticks) == sorted(set(scale.ticks))
    steps = np.diff(scale.ticks)
    assert np.allclose(steps, steps[0])
    places = [scale.place(value) for value in sorted(values)]
    assert places == sorted(places)


def lines_of(drawing: str, name: str) -> list[float]:
    """Where the upright lines of a class stand."""
    return [float(x) for x in re.findall(rf'<line class="{name}" x1="([\d.]+)"', drawing)]


def repeated(level: float) -> Comparison:
    """Repeats at a distance of ``level``, controls at .6: noise is known in closed form."""
    rng = np.random.default_rng(5)
    tables = []
    for task in ("p", "q"):
        one = table(rng, task=task, models=MODELS, documents=12, repeats=2)
        fixed = {
            "controls": {name: np.full_like(values, 0.6) for name, values in one.controls.items()},
            "repeats": {name: np.full_like(values, level) for name, values in one.repeats.items()},
        }
        tables.append(replace(one, **fixed))  # type: ignore[arg-type]
    return compare(ScoreTable.of(tables), Settings(resamples=99), workers=1)


def test_the_leaderboard_draws_chance_and_noise_in_every_interval() -> None:
    study = repeated(0.06)
    board = board_of(standings(study), study)
    # A tenth of chance on three axes, none on mirroring.
    assert board.noise == {model: pytest.approx(1.0 - 0.3 / 4.0) for model in MODELS}
    assert board.scale.low == 0.0
    for one in board.rows:
        drawing = board.drawn(one)
        assert lines_of(drawing, "chance") == [board.scale.place(0.0)]
        assert lines_of(drawing, "noise") == [board.scale.place(0.925)]
        assert lines_of(drawing, "span") == [board.scale.place(one.score.low)]
    assert "dashed line at 0, chance" in board.key
    assert "noise" in board.key
    assert board.notes == ()
    rows = list(csv.DictReader(io.StringIO(as_csv(board.table))))
    for one, row in zip(board.rows, rows, strict=True):
        assert (row["model"], float(row["value"]), row["score"]) == (one.model, one.score.value, "sago")
        assert (float(row["interval_low"]), float(row["interval_high"])) == (one.score.low, one.score.high)
        assert (float(row["noise"]), float(row["chance"])) == (board.noise[one.model], 0.0)


def test_the_leaderboard_says_that_there_is_no_noise_floor(steady: Comparison) -> None:
    board = board_of(standings(steady), steady)
    assert board.notes == ("no noise floor: no run repeats its canonical prompts",)
    assert "noise" not in board.key
    assert lines_of(board.drawn(board.rows[0]), "noise") == []
    assert lines_of(board.drawn(board.rows[0]), "chance")
