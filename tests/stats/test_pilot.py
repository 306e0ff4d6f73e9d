"""Variance components of a pilot: against a plain oracle, known truth and other numbers of variants."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from sago_harness.errors import SagoError
from sago_harness.stats.pilot import pilot_components, pooled
from sago_harness.stats.quantities import Quantity
from sago_harness.stats.scored import score_task
from sago_harness.stats.table import TaskTable, VariantKey
from tests.stats import made

pytestmark = pytest.mark.filterwarnings("error")
NAN = float("nan")
FAMILIES = ("register", "noise", "structure")


def additive(
    rng: np.random.Generator,
    *,
    documents: int,
    each: int,
    document: float = 0.02,
    variant: float = 0.06,
    models: int = 2,
    column: float = 0.1,
    measures: tuple[str, ...] = ("x_bleu",),
) -> TaskTable:
    """Squared distances .3 + a document's effect + a column's effect + a variant's own; chance 1.

    With chance 1 for all documents a document's influence on r is q / (2 r) up to a constant, so the
    variances are known: those of the effects over 4 r^2, times two for a pair.
    """
    keys = tuple(VariantKey(f"{f}{i}", f, f"{f}{i}") for f in FAMILIES for i in range(each))
    shape = (models, documents, len(keys))
    found = {}
    for name in measures:
        q = (
            0.4
            + rng.uniform(-1, 1, (models, documents, 1)) * document * math.sqrt(3)
            + rng.uniform(-1, 1, (models, 1, len(keys))) * column
            + rng.uniform(-1, 1, shape) * variant * math.sqrt(3)
        )
        assert q.min() > 0
        found[name] = np.sqrt(q)
    axes = {"x_bleu": "generation", "x_act": "activation", "x_prob": "confidence"}
    return TaskTable(
        "made",
        tuple("abcdefgh"[:models]),
        tuple(f"d{i:05d}" for i in range(documents)),
        keys,
        {name: axes[name] for name in measures},
        dict.fromkeys(FAMILIES, each),
        found,
        {name: np.ones((models, documents, 2)) for name in measures},
    )


def test_known_components_are_found() -> None:
    table = additive(np.random.default_rng(1), documents=20_000, each=4)
    found = pilot_components(table, "x_bleu")
    slope = 1.0 / (4.0 * score_task(table).quantities["x_bleu"].values ** 2)
    assert found.document == pytest.approx(0.02**2 * slope.sum(), rel=0.05)
    assert found.variant == pytest.approx(0.06**2 * slope.sum(), rel=0.02)
    assert found.variants == 12
    assert found.documents == 20_000


def test_what_a_variant_does_to_all_documents_is_no_noise() -> None:
    """Columns that differ a lot, and nothing else: no variance at all."""
    table = additive(np.random.default_rng(2), documents=50, each=4, document=0.0, variant=0.0, column=0.3)
    found = pilot_components(table, "x_bleu")
    assert found.variant == pytest.approx(0.0, abs=1e-12)
    assert found.document == pytest.approx(0.0, abs=1e-12)


def test_the_sum_is_the_squared_standard_error() -> None:
    """document + variant / V = the variance behind the paired standard error, pair by pair."""
    table = made.table(np.random.default_rng(3), documents=60, models=("a", "b", "c"), level=(0.3, 0.4, 0.5))
    quantities = score_task(table).quantities
    for score in ("sago", "sago_core", "sago_text", "sago_generation", "sago_confidence", "x_act", "x_mr"):
        found = pilot_components(table, score)
        pairs = [pair_variance(quantities[score], a, b) for a, b in combinations(range(3), 2)]
        assert found.document > 0.0
        assert found.per_document(found.variants) == pytest.approx(np.mean(pairs))
        assert found.smallest == pytest.approx(math.sqrt(min(pairs)))
        assert found.largest == pytest.approx(math.sqrt(max(pairs)))


def pair_variance(quantity: Quantity, a: int, b: int) -> float:
    n = int(quantity.counts[a])
    return float(np.var(n * (quantity.influence[a] - quantity.influence[b]), ddof=1))


@pytest.mark.parametrize("score", ["x_bleu", "sago_core"])
def test_it_foretells_fewer_variants(score: str) -> None:
    """From 24 variants a document: the variance with 12 and with 6, measured on them."""
    rng = np.random.default_rng(4)
    table = additive(
        rng, documents=6000, each=8, column=0.05, measures=("x_bleu", "x_act", "x_prob"), models=3
    )
    found = pilot_components(table, score)
    assert found.variants == 24
    for each in (4, 2):
        keep = np.array([int(key.id[-1]) < each for key in table.variants])
        fewer = pilot_components(table.with_variants(keep), score)
        measured = fewer.per_document(3 * each)
        assert found.per_document(3 * each) == pytest.approx(measured, rel=0.04)
        assert fewer.variant == pytest.approx(found.variant, rel=0.06), "the part itself stays"
    assert found.per_document(6) > 1.5 * found.per_document(24)


def test_measures_of_one_response_move_together() -> None:
    """Equal measures in an axis: its variance is that of one, not half of it."""
    table = made.table(np.random.default_rng(5), documents=200)
    same = {**table.distances, "x_bert": table.distances["x_bleu"]}
    control = {**table.controls, "x_bert": table.controls["x_bleu"]}
    joint = TaskTable(
        "t", table.models, table.documents, table.variants, table.measures, table.families, same, control
    )
    axis, one = pilot_components(joint, "sago_generation"), pilot_components(joint, "x_bleu")
    assert axis.variant == pytest.approx(one.variant)
    assert axis.document == pytest.approx(one.document)


def test_missing_variants_and_documents() -> None:
    """Variants missing at random; documents without a value are left out."""
    full = additive(np.random.default_rng(6), documents=4000, each=6)
    holes = np.random.default_rng(7).random(full.shape) < 0.2
    distances = np.where(holes, NAN, full.distances["x_bleu"])
    distances[0, :500] = NAN
    table = TaskTable(
        "t", full.models, full.documents, full.variants, full.measures, full.families,
        {"x_bleu": distances}, full.controls,
    )  # fmt: skip
    found, whole = pilot_components(table, "x_bleu"), pilot_components(full, "x_bleu")
    made_for_both = ~(holes | np.isnan(distances)).any(axis=0)
    count = np.stack([made_for_both[:, 6 * f : 6 * f + 6].sum(axis=1) for f in range(3)])
    enters = (count >= 2).all(axis=0)
    # With n scored variants in each of 3 families the part is variant / (3 n).
    part = whole.variant * (1 / (3 * count[:, enters])).mean()
    assert found.variant / found.variants == pytest.approx(part, rel=0.03)
    assert found.documents == enters.sum() < 3500
    # A variant is made where it is scored for either model.
    assert found.variants == pytest.approx((1 - 0.2**2) * 18, rel=0.01)


def test_variants_are_those_made_not_those_scored() -> None:
    """Mirroring is scored on 6 of 10 variants, none of them of structure; what is paid for are all.

    Mirroring less its floor has variance .2^2 + .1^2, a document's mean over 6 of them a sixth of it.
    """
    table = made.table(np.random.default_rng(13), documents=4000)
    mirrored = np.where(np.arange(10) < 6, table.distances["x_mr"], NAN)
    floor = table.distances["x_mr_floor"]
    some = TaskTable(
        "t", table.models, table.documents, table.variants, table.measures, table.families,
        {**table.distances, "x_mr": mirrored + 0.2 * np.sign(floor[:, :, :1])}, table.controls,
    )  # fmt: skip
    found = pilot_components(some, "x_mr")
    assert found.variants == 10
    assert found.per_document(10) == pytest.approx(pair_variance(score_task(some).quantities["x_mr"], 0, 1))
    assert found.variant / 10 == pytest.approx(2 * (0.2**2 + 0.1**2) / 6, rel=0.03)


def test_no_part_is_negative() -> None:
    """Documents that do not differ: all of the variance is that of variants, and no more than that."""
    rng = np.random.default_rng(14)
    for _ in range(20):
        table = additive(rng, documents=20, each=4, document=0.0)
        found = pilot_components(table, "x_bleu")
        assert found.document >= 0.0
        observed = pair_variance(score_task(table).quantities["x_bleu"], 0, 1)
        assert found.per_document(12) == pytest.approx(observed)


def test_one_model_is_taken_twice() -> None:
    table = made.table(np.random.default_rng(8), documents=80)
    alone = pilot_components(table.with_models(["a"]), "sago_core")
    quantity = score_task(table.with_models(["a"])).quantities["sago_core"]
    assert alone.per_document(alone.variants) == pytest.approx(2 * 80 * quantity.stderr[0] ** 2)
    assert alone.models == 1


def test_one_variant_a_family_cannot_be_split() -> None:
    table = additive(np.random.default_rng(9), documents=100, each=1)
    found = pilot_components(table, "x_bleu")
    assert math.isnan(found.variant)
    quantity = score_task(table).quantities["x_bleu"]
    assert found.document == pytest.approx(pair_variance(quantity, 0, 1))


def test_data_sets_are_pooled_with_equal_weight() -> None:
    rng = np.random.default_rng(10)
    parts = [pilot_components(additive(rng, documents=n, each=4), "x_bleu") for n in (30, 300)]
    both = pooled(parts)
    assert both.document == pytest.approx(np.mean([one.document for one in parts]))
    assert both.variant == pytest.approx(np.mean([one.variant for one in parts]))
    assert both.documents == 30
    assert pooled(parts[:1]) is parts[0]


def test_what_a_pilot_cannot_give() -> None:
    table = made.table(np.random.default_rng(11), documents=20)
    with pytest.raises(SagoError, match="unknown score 'sago_cor' in pilot 'made': did you mean sago_core"):
        pilot_components(table, "sago_cor")
    few = table.with_documents(np.arange(20) < 2)
    with pytest.raises(SagoError, match="2 documents scored for all models"):
        pilot_components(few, "sago_core")
    blind = TaskTable(
        "t", table.models, table.documents, table.variants, {"x_bleu": "generation"}, table.families,
        {"x_bleu": table.distances["x_bleu"]}, {"x_bleu": table.controls["x_bleu"]},
    )  # fmt: skip
    with pytest.raises(SagoError, match="no value of sago_core"):
        pilot_components(blind, "sago_core")


def test_a_model_that_never_moves_adds_nothing() -> None:
    table = made.table(np.random.default_rng(12), documents=40)
    still = {
        name: np.where(np.arange(2)[:, None, None] == 0, 0.0, values)
        for name, values in table.distances.items()
    }
    fixed = TaskTable(
        "t",
        table.models,
        table.documents,
        table.variants,
        table.measures,
        table.families,
        still,
        table.controls,
    )
    found = pilot_components(fixed, "x_bleu")
    other = score_task(table).quantities["x_bleu"]
    assert found.per_document(found.variants) == pytest.approx(40 * other.stderr[1] ** 2)


def test_models_that_do_not_differ_plan_nothing() -> None:
    one = additive(np.random.default_rng(0), documents=20, each=3, models=1)
    doubled = {
        part: {name: np.repeat(values, 2, axis=0) for name, values in getattr(one, part).items()}
        for part in ("distances", "controls")
    }
    twice = replace(one, models=("a", "b"), **doubled)
    with pytest.raises(SagoError, match="its 2 models do not differ on any document in x_bleu"):
        pilot_components(twice, "x_bleu")
