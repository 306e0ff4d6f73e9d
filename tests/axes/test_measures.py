"""Every measure: golden values with a derivation, and what it claims of itself."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sago_harness.axes import MEASURES, measures_for
from sago_harness.axes.activation import activation_distance, cosine_raw_delta, layer_angles
from sago_harness.axes.base import AXES, Context
from sago_harness.axes.confidence import FORCED_TOKENS, relative_change
from sago_harness.axes.encoders.base import Encoder, Similarity
from sago_harness.backends.base import Response
from sago_harness.variants.base import Feature, Operator
from sago_harness.variants.features import FEATURES
from sago_harness.variants.operators import OPERATORS

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "measures.json").read_text(encoding="utf-8"))


class FixedEncoder(Encoder):
    """Gives one similarity for every pair of different texts."""

    name, layer, kind, max_tokens = "fixed", None, "token", None
    weights = "none"

    def __init__(self, value: float) -> None:
        self.value = value

    def read(self, texts: Any) -> Any:
        raise NotImplementedError

    def embed(self, readings: Any) -> Any:
        raise NotImplementedError

    def similarity(self, a: Any, b: Any, of_a: Any, of_b: Any) -> float:
        raise NotImplementedError

    def compare(self, pairs: Any, batch_size: int = 64, progress: Any = None) -> list[Similarity]:
        return [Similarity(1.0 if a == b else self.value) for a, b in pairs]


def response(given: dict[str, Any]) -> Response:
    made = Response(text=given.get("text", "x"))
    if "hidden" in given:
        made.hidden = np.array(given["hidden"], dtype=np.float32)
    if "forced_probability" in given:
        made.forced_logprob = np.log(np.array(given["forced_probability"])).astype(np.float64)
    for name in ("forced_entropy", "forced_jsd"):
        if name in given:
            setattr(made, name, np.array(given[name]))
    return made


@pytest.mark.parametrize("case", GOLDEN, ids=lambda c: c["measure"] + ":" + c["derivation"][:30])
def test_golden(case: dict[str, Any]) -> None:
    measure = MEASURES.load(case["measure"])()
    context = Context()
    if "similarity" in case:
        context = Context(FixedEncoder(case["similarity"]), case["baseline"])
    scored = measure.distances([(response(case["canonical"]), response(case["other"]))], context)[0]
    assert scored.value == pytest.approx(case["value"], abs=1e-9)
    assert scored.reason == ""


def test_every_measure_has_a_golden_value() -> None:
    assert {case["measure"] for case in GOLDEN} == set(MEASURES)
    assert all(len(case["derivation"]) > 10 for case in GOLDEN)


@pytest.mark.parametrize("name", list(MEASURES))
def test_declared_facts(name: str) -> None:
    measure = MEASURES.load(name)
    assert measure.name == name
    assert measure.axis in (*AXES, "")
    assert set(measure.requires) <= {"text", "forced", "hidden"}
    assert measure.requires
    assert measure.reference
    assert isinstance(measure.symmetric, bool)
    assert measure.encoder in ("", "token", "sentence")


def test_one_of_the_two_encoder_measures() -> None:
    token = [m.name for m in measures_for("token")]
    sentence = [m.name for m in measures_for("sentence")]
    assert "x_bert" in token
    assert "x_sem" not in token
    assert "x_sem" in sentence
    assert "x_bert" not in sentence


floats = st.floats(-30, 30)


def random_response(draw: Any, tokens: int, layers: int, width: int, text: str) -> Response:
    made = Response(text=text)
    made.hidden = draw(hnp.arrays(np.float32, (layers, width), elements=st.floats(-100, 100, width=32)))
    made.forced_logprob = draw(hnp.arrays(np.float32, tokens, elements=st.floats(-80, 0, width=32)))
    made.forced_entropy = draw(hnp.arrays(np.float32, tokens, elements=st.floats(0, 12, width=32)))
    made.forced_jsd = draw(hnp.arrays(np.float64, tokens, elements=st.floats(0, 1)))
    return made


@st.composite
def pairs(draw: Any) -> tuple[Response, Response]:
    tokens, layers, width = draw(st.integers(1, 40)), draw(st.integers(2, 4)), draw(st.integers(1, 6))
    texts = [draw(st.text(max_size=30)), draw(st.text(max_size=30))]
    first = random_response(draw, tokens, layers, width, texts[0])
    return first, random_response(draw, tokens, layers, width, texts[1])


@settings(max_examples=60, deadline=None)
@given(pairs())
def test_range_symmetry_and_identity(pair: tuple[Response, Response]) -> None:
    context = Context(FixedEncoder(0.7), 0.2)
    for name in MEASURES:
        measure = MEASURES.load(name)()
        there = measure.distances([pair], context)[0]
        assert math.isnan(there.value) == bool(there.reason)
        if not math.isnan(there.value):
            assert 0.0 <= there.value <= 1.0
            if measure.symmetric and name != "x_jsd":
                back = measure.distances([(pair[1], pair[0])], context)[0]
                assert back.value == pytest.approx(there.value, abs=1e-9)
        if name != "x_jsd":
            same = measure.distances([(pair[0], pair[0])], context)[0]
            assert same.value == 0.0 or same.reason == "nan_hidden"


def test_missing_signals_keep_their_reason() -> None:
    whole = response({"hidden": [[1], [1]], "forced_probability": [0.5], "forced_entropy": [1.0]})
    bare = Response(text="x", reasons={"hidden": "no_hidden_states", "forced": "no_logprobs"})
    for name, reason in (("x_act", "no_hidden_states"), ("x_prob", "no_logprobs"), ("x_jsd", "no_logprobs")):
        scored = MEASURES.load(name)().distances([(whole, bare)], Context())[0]
        assert math.isnan(scored.value)
        assert scored.reason == reason


def test_angle_is_accurate_where_arccos_is_not() -> None:
    """The angle between (1, 0) and (cos t, sin t) is t, also for tiny t."""
    for t in (1e-7, 1e-4, 0.3, math.pi / 2):
        turned = np.array([[math.cos(t), math.sin(t)]])
        assert layer_angles(turned, np.array([[1.0, 0.0]]))[0] == pytest.approx(2 * t / math.pi, rel=1e-6)
    one = np.array([[0.1, 0.7, -0.3]], dtype=np.float32)
    assert layer_angles(one, one)[0] == 0.0
    assert layer_angles(3 * one, one)[0] == pytest.approx(0.0, abs=1e-7)


def test_raw_deltas_of_the_published_scheme() -> None:
    """cos - 1 averaged over all layers, embedding included; sums and means of forced values."""
    h0, h1 = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])
    assert cosine_raw_delta(h1, h0) == pytest.approx((0.0 + (math.sqrt(0.5) - 1.0)) / 2)
    a = response({"forced_probability": [0.5, 0.25], "forced_entropy": [1.0, 3.0]})
    b = response({"forced_probability": [0.25, 0.25], "forced_entropy": [2.0, 3.0]})
    prob = MEASURES.load("x_prob")().distances([(a, b)], Context())[0]
    assert prob.raw == pytest.approx(math.log(0.25 * 0.25) - math.log(0.5 * 0.25))
    ent = MEASURES.load("x_ent")().distances([(a, b)], Context())[0]
    assert ent.raw == pytest.approx(0.5)
    bleu = MEASURES.load("x_bleu")().distances([(Response("yes"), Response("no"))], Context())[0]
    assert bleu.raw == 0.0  # the published scheme is blind to answers under four tokens
    assert bleu.value == 1.0


def test_only_the_first_32_tokens_count() -> None:
    a, b = np.zeros(40), np.zeros(40)
    b[FORCED_TOKENS:] = -5.0
    assert relative_change(a, b) == 0.0
    b[0] = -math.log(2.0)
    assert relative_change(a, b) == pytest.approx(0.5 / 32)


def test_nan_values_are_unscored_not_zero() -> None:
    assert math.isnan(relative_change(np.array([np.nan]), np.array([-1.0])))
    assert math.isnan(relative_change(np.array([]), np.array([])))
    assert math.isnan(activation_distance(layer_angles(np.zeros((2, 3)), np.ones((2, 3)))))


@pytest.mark.parametrize("name", list(OPERATORS))
def test_operators_name_features_that_exist(name: str) -> None:
    operator = OPERATORS.load(name)
    assert issubclass(operator, Operator)
    if operator.feature is not None:
        assert issubclass(FEATURES.load(operator.feature), Feature)
