"""A dose of one kind raises the measures of its own axis, step by step, and nothing else."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from sago_harness.axes.encoders import Encoder, baseline, load_encoder
from sago_harness.axes.representation.dataset import compare_documents, kept_states
from sago_harness.axes.vectors import VectorFile, pack
from tests.construct.dosed import (
    KINDS,
    MEASURES,
    VOCABULARY,
    Dosed,
    Doubles,
    Level,
    Outcome,
    World,
    follow,
    save_encoder,
    world,
)

DOCUMENTS = 40
AXIS_OF = {
    **MEASURES,
    "x_jsd": "confidence",
    "x_mr": "mirroring",
    "x_mr_floor": "mirroring",
    "flip": "answers",
}
AXES = ("generation", "activation", "confidence", "mirroring")
#: Other texts share an encoder's forward passes when answers are switched: single precision.
ROUNDING = {"x_bert": 1e-5}
COMPOSITES = {"sago": AXES, "sago_core": AXES[:3], "sago_text": ("generation", "mirroring")}


@dataclass(frozen=True)
class Case:
    """One kind of dose, at rising levels from none."""

    kind: str
    measures: tuple[str, ...]
    levels: tuple[float, ...]

    @property
    def axis(self) -> str:
        return KINDS[self.kind]


CASES = (
    Case("switched", ("x_bleu", "x_bert"), (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)),
    Case("rotated", ("x_act",), (0.0, 5.0, 10.0, 20.0, 40.0)),
    # Temperatures 1, 1 / 1.25, 1 / 1.5 ...
    Case("sharpened", ("x_prob", "x_ent", "x_jsd"), (0.0, 0.25, 0.5, 1.0, 1.5)),
    # Extra spaces are the one manner that no other axis sees: BLEU's tokenizer and the encoder's
    # both split at runs of white space. Capitals or repeated marks are other tokens to BLEU.
    Case("spaced", ("x_mr",), (0.0, 0.25, 0.5, 0.75, 1.0)),
)
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
SWITCHED, ROTATED, SHARPENED, SPACED = CASES

At = Callable[..., Outcome]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SAGO_HOME", str(tmp_path_factory.mktemp("home")))
        yield save_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def at(encoder: str) -> At:
    """Outcome at given doses, each worked out once."""

    @functools.cache
    def found(recipe: str = "quick", **doses: float) -> Outcome:
        return answered(doses, encoder, world(DOCUMENTS, recipe))

    return found


def outcomes(at: At, case: Case) -> list[Outcome]:
    return [at(**{case.kind: level}) for level in case.levels]


def answered(
    doses: Mapping[str, Level], encoder: str, asked: World, logits: Doubles | None = None
) -> Outcome:
    return follow(asked, Dosed(asked, doses, logits=logits), encoder)


def level_of(found: Outcome, measure: str) -> float:
    if measure == "x_jsd":
        return float(np.sqrt(np.mean(found.distances("x_jsd", "variant") ** 2)))
    return found.scores.relative[measure].value


def test_the_documents_have_all_variants_and_every_measure_is_scored(at: At) -> None:
    """What follows would mean little if variants were refused or unscored."""
    asked = world(DOCUMENTS, "quick")
    assert sum(asked.families.values()) == 6
    made = [[row for row in rows if row["role"] == "variant"] for rows in asked.payloads]
    assert np.mean([len(rows) for rows in made]) > 5.5
    for case in CASES:
        for found in outcomes(at, case):
            for measure in MEASURES:
                assert np.isfinite(found.distances(measure)).all()
            assert np.isfinite(found.column("x_mr")).all()
            assert found.scores.stock_share == 0.0


@each_case
def test_a_dose_raises_its_own_measures(at: At, case: Case) -> None:
    found = outcomes(at, case)
    for measure in case.measures:
        levels = [level_of(one, measure) for one in found]
        assert levels[0] == 0.0
        assert (np.diff(levels) > 0.0).all(), (measure, levels)
        assert levels[-1] < 1.0
        # Doses are nested, so no document can become calmer either.
        if measure == "x_mr":
            each = np.array([one.column("x_mr") for one in found])
        else:
            each = np.array([one.distances(measure, "variant") for one in found])
        assert (np.diff(each, axis=0) >= -ROUNDING.get(measure, 0.0)).all()
        assert not each[0].any()


@each_case
def test_a_dose_raises_its_own_axis_and_lowers_the_scores_that_hold_it(at: At, case: Case) -> None:
    found = outcomes(at, case)
    axis = [one.scores.axes[case.axis].value for one in found]
    assert axis[0] == 0.0
    assert (np.diff(axis) > 0.0).all()
    for name, parts in COMPOSITES.items():
        scores = np.array([getattr(one.scores, name).value for one in found])
        if case.axis in parts:
            # The other axes are at rest: all that is lost is the axis' share.
            assert (np.diff(scores) < 0.0).all()
            assert scores[0] - scores == pytest.approx(np.array(axis) / len(parts), abs=1e-12)
        else:
            assert len(set(scores)) == 1


@each_case
def test_no_other_axis_notices_to_the_last_digit(at: At, case: Case) -> None:
    first, *others = outcomes(at, case)
    own = {case.axis} | ({"answers"} if case.kind == "switched" else set())
    unmoved = [name for name, axis in AXIS_OF.items() if axis not in own]
    for name in unmoved:
        still = first.distances(name)
        # At rest is not at nought.
        assert name in ("x_mr_floor", "flip") or np.nanmax(still) > 0.0
        for other in others:
            assert np.array_equal(other.distances(name), still, equal_nan=True), name
    for other in others:
        for axis in set(AXES) - own:
            assert other.scores.axes[axis].value == first.scores.axes[axis].value > 0.0
            assert other.scores.axes[axis].stderr == first.scores.axes[axis].stderr
        # What every model says of unrelated questions is no matter of the dose either.
        for name in MEASURES:
            slack = ROUNDING.get(name, 0.0) if case.kind == "switched" else 0.0
            moved = np.abs(other.distances(name, "control") - first.distances(name, "control"))
            assert moved.max() <= slack, name
        assert np.array_equal(other.column("acc"), first.column("acc"))
        if "answers" not in own:
            assert np.array_equal(other.column("acc_mean"), first.column("acc_mean"))


def test_two_doses_at_once_do_not_add_to_each_other(at: At) -> None:
    """Each axis is what it is with its own dose alone."""
    both = at(switched=0.3, rotated=20.0, sharpened=0.5)
    for kind, level in (("switched", 0.3), ("rotated", 20.0), ("sharpened", 0.5)):
        alone = at(**{kind: level})
        assert both.scores.axes[KINDS[kind]].value == alone.scores.axes[KINDS[kind]].value
    assert both.scores.axes["mirroring"].value == at(rotated=20.0).scores.axes["mirroring"].value


# ---------------------------------------------------------------- sizes


def test_an_angle_is_told_in_right_angles(at: At) -> None:
    """x_act = theta / 90 degrees; r = that over the root mean square angle of unrelated prompts."""
    model = Dosed(world(DOCUMENTS, "quick"), {"rotated": 0.0})
    chance = []
    for prompts in world(DOCUMENTS, "quick").prompts:
        own = model.states[model.place[prompts[0].text]]
        for prompt in prompts:
            if prompt.role == "control":
                other = model.states[model.place[prompt.text]]
                sizes = np.linalg.norm(own, axis=1) * np.linalg.norm(other, axis=1)
                angles = np.degrees(np.arccos(np.sum(own * other, axis=1) / sizes))
                chance.append(np.minimum(angles[1:] / 90.0, 1.0).mean())
    by_chance = math.sqrt(np.mean(np.square(chance)))
    for degrees, found in zip(ROTATED.levels, outcomes(at, ROTATED), strict=True):
        assert found.column("x_act") == pytest.approx(degrees / 90.0, abs=1e-6)
        assert found.scores.relative["x_act"].value == pytest.approx(degrees / 90.0 / by_chance, abs=1e-6)


@pytest.mark.parametrize("kept", [1, 4])
def test_sharpening_two_levels_of_logits_has_a_closed_form(encoder: str, kept: int) -> None:
    """k of V logits are a, the others 0; at inverse temperature b the k hold k e^ab / (k e^ab + V - k)."""
    a, count = 2.5, VOCABULARY
    logits = np.zeros((12, count))
    logits[:, :kept] = a

    def law(b: float) -> Doubles:
        weights = np.array([math.exp(a * b)] * kept + [1.0] * (count - kept))
        shares: Doubles = weights / weights.sum()
        return shares

    def entropy(p: Doubles) -> float:
        return -math.fsum(p * np.log2(p)) * math.log(2.0)

    for added in SHARPENED.levels[1:]:
        p, q = law(1.0 + added), law(1.0)
        found = answered({"sharpened": added}, encoder, world(6, "quick"), logits)
        expected = {
            "x_prob": 1.0 - min(p[0], q[0]) / max(p[0], q[0]),
            "x_ent": 1.0 - math.exp(-abs(entropy(p) - entropy(q))),
            "x_jsd": (entropy((p + q) / 2.0) - (entropy(p) + entropy(q)) / 2.0) / math.log(2.0),
        }
        for name, value in expected.items():
            assert found.distances(name, "variant") == pytest.approx(value, abs=1e-6), name
        if added == SHARPENED.levels[1]:
            assert min(expected.values()) > 1e-4


def test_a_uniform_distribution_cannot_be_sharpened(encoder: str) -> None:
    found = answered({"sharpened": 1.5}, encoder, world(6, "quick"), np.zeros((12, VOCABULARY)))
    for name in SHARPENED.measures:
        assert not found.distances(name, "variant").any()


def moments(distance: Doubles) -> tuple[Doubles, Doubles]:
    """Return, for each document, the mean square and mean fourth power of its distance from the others."""
    others = ~np.eye(len(distance), dtype=bool)
    return tuple(  # type: ignore[return-value]
        np.array([np.mean(row[keep] ** power) for row, keep in zip(distance, others, strict=True)])
        for power in (2, 4)
    )


def bleu_by_sacrebleu(texts: list[str]) -> Doubles:
    from sacrebleu import sentence_bleu

    found = np.zeros((len(texts), len(texts)))
    for i, one in enumerate(texts):
        for j, other in enumerate(texts):
            if i != j:
                found[i, j] = sentence_bleu(one, [other]).score / 100.0
    return 1.0 - (found + found.T) / 2.0


def bert_by_pairs(texts: list[str], spec: str) -> Doubles:
    encoder = load_encoder(spec, "en")
    assert isinstance(encoder, Encoder)
    pairs = [(one, other) for one in texts for other in texts]
    values = np.array([one.value for one in encoder.compare(pairs)], dtype=np.float64)
    distance = (1.0 - values) / (1.0 - baseline(encoder, "en"))
    return np.clip(distance, 0.0, 1.0).reshape(len(texts), len(texts))


def test_a_share_of_switched_answers_gives_as_large_a_share_of_chance(at: At, encoder: str) -> None:
    """E q_s(i) = p m2(i), with m2 the mean squared distance of a document from all others.

    Every variant is switched or not by itself, so that the variance of q_s(i) is the mean over
    families of (p m4(i) - p^2 m2(i)^2) / variants, once more divided by the number of families.
    """
    asked = world(DOCUMENTS, "quick")
    answers = Dosed(asked, {}).answers
    sizes = [
        [
            sum(row["role"] == "variant" and row["family"] == family for row in rows)
            for family in asked.families
        ]
        for rows in asked.payloads
    ]
    share_of_one = np.array([np.mean([1.0 / n for n in row]) / len(row) for row in sizes])
    for name, distance in (
        ("x_bleu", bleu_by_sacrebleu(answers)),
        ("x_bert", bert_by_pairs(answers, encoder)),
    ):
        second, fourth = moments(distance)
        assert second.mean() > 0.1
        for p, found in zip(SWITCHED.levels[1:], outcomes(at, SWITCHED)[1:], strict=True):
            variance = (p * fourth - (p * second) ** 2) * share_of_one
            error = math.sqrt(variance.sum()) / DOCUMENTS
            observed = found.squares(name).mean()
            assert abs(observed - p * second.mean()) < 3.0 * error, (name, p)
            # The controls are two of the others, so r is the root of p but for their draw.
            chance = found.squares(name, 1).mean()
            assert chance == pytest.approx(second.mean(), rel=0.1)
            assert found.scores.relative[name].value == pytest.approx(math.sqrt(observed / chance), abs=1e-12)
            assert found.scores.relative[name].value == pytest.approx(math.sqrt(p), abs=0.1)


def test_switched_answers_flip_and_are_wrong(at: At) -> None:
    """All gold answers differ, so a switched answer is a flip and an error, and nothing else is."""
    asked = world(DOCUMENTS, "quick")
    plain = Dosed(asked, {}).answers
    rates = []
    for found in outcomes(at, SWITCHED):
        rows = [row for row in found.records if row["role"] == "variant"]
        place = {document.id: i for i, document in enumerate(asked.documents)}
        switched = [" ".join(row["response"].split()) != plain[place[row["document"]]] for row in rows]
        assert [row["distances"]["flip"] for row in rows] == list(map(float, switched))
        assert [row["correct"] for row in rows] == [int(not one) for one in switched]
        some = {row["document"] for row, one in zip(rows, switched, strict=True) if one}
        assert found.column("acc_worst").mean() == pytest.approx(1.0 - len(some) / DOCUMENTS)
        assert found.column("acc_mean") == pytest.approx(1.0 - found.column("flip"))
        assert (found.column("acc") == 1.0).all()
        rates.append(found.column("flip").mean())
    assert rates[0] == 0.0
    assert (np.diff(rates) > 0.0).all()


def features(asked: World) -> Doubles:
    """Count, for each document, the variants whose operator moves a feature of the text."""
    return np.array([sum(row["feature"] is not None for row in rows) for rows in asked.payloads], dtype=float)


def test_taken_up_spaces_are_all_of_one_feature_and_none_of_the_others(at: At) -> None:
    """A response as wide as its prompt mirrors by 1, the document's other features by 0."""
    asked = world(DOCUMENTS, "quick")
    shares = []
    for one in outcomes(at, SPACED):
        wide = {row["document"] for row in one.records if "  " in row["response"]}
        taken = np.array([document.id in wide for document in asked.documents])
        assert one.column("x_mr") == pytest.approx(taken / features(asked), abs=1e-12)
        assert np.nanmax(np.abs(one.distances("x_mr_floor", "variant"))) == 0.0
        shares.append(taken.mean())
    assert (shares[0], shares[-1]) == (0.0, 1.0)


# ---------------------------------------------------------------- what is no dose of its kind


def test_capitals_that_are_taken_up_are_other_words_to_bleu(encoder: str) -> None:
    """The axes are read off one text: a manner that changes its tokens moves generation as well."""
    calm, loud = (answered({"shouted": share}, encoder, world(20, "default")) for share in (0.0, 1.0))
    assert loud.scores.relative["x_mr"].value > calm.scores.relative["x_mr"].value == 0.0
    assert loud.scores.relative["x_bleu"].value > calm.scores.relative["x_bleu"].value
    # This encoder reads small letters.
    for name in ("x_bert", "x_act", "x_prob", "x_ent", "x_jsd"):
        assert np.array_equal(loud.distances(name), calm.distances(name))


def test_shouting_at_any_variant_is_no_mirroring(encoder: str) -> None:
    """Half of all responses to variants are in capitals, whatever the prompt: the floor takes it off.

    Of the one variant that has capitals m is 0 or 1 by a fair coin, and its floor the mean of the
    coins of the variants without (at least five): the difference is 0 on average.
    """
    asked = world(DOCUMENTS, "default")
    found = answered({"shouting": 0.5}, encoder, asked)
    rows = [row for row in found.records if row["role"] == "variant" and row["feature"] == "upper_share"]
    assert len(rows) == DOCUMENTS
    values, floors = (np.array([row["distances"][name] for row in rows]) for name in ("x_mr", "x_mr_floor"))
    assert set(values) == {0.0, 1.0}
    error = math.sqrt(0.25 * (1.0 + 1.0 / 5.0) / DOCUMENTS)
    assert abs(np.mean(values - floors)) < 3.0 * error < np.mean(values)
    assert found.column("x_mr") == pytest.approx((values - floors) / features(asked), abs=1e-12)


# ---------------------------------------------------------------- over the whole data set


def arrangement(found: Outcome) -> float:
    """Return x_cka, over the states that all documents' prompts leave behind."""
    asked = world(DOCUMENTS, "quick")
    items = []
    start = 0
    for rows, states in zip(asked.payloads, found.states, strict=True):
        records = found.records[start : start + len(rows)]
        start += len(rows)
        kept = [VectorFile.here().put(pack(state)) for state in states]
        items.append(kept_states(rows[0]["document"], records, kept, list(asked.families)))
    return compare_documents(items, ["x_cka"])["x_cka"].value.value


def test_turning_each_prompt_by_itself_moves_their_arrangement(at: At) -> None:
    levels = [arrangement(one) for one in outcomes(at, ROTATED)]
    assert levels[0] == 0.0
    assert (np.diff(levels) > 0.0).all(), levels
    still = arrangement(at(switched=0.0))
    assert still > 0.0
    for kind, level in (("switched", 0.5), ("sharpened", 1.5), ("spaced", 1.0)):
        assert arrangement(at(**{kind: level})) == still
