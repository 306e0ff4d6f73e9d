"""Verdicts: pass, fail, undecided, and what is refused."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sago_harness.errors import SagoError
from sago_harness.gate.check import check
from sago_harness.gate.joined import joined
from sago_harness.gate.metrics import measured, of_operator
from sago_harness.gate.policy import Policy
from sago_harness.gate.verdicts import holm_levels
from sago_harness.stats.adjust import adjust
from sago_harness.stats.operators import by_operator
from sago_harness.stats.overall import overall
from sago_harness.stats.pairs import pair_block
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import score_task
from sago_harness.stats.table import TaskTable
from tests.gate.made_gate import policy, run, task_table
from tests.runs.made_runs import described


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def verdicts(found: Any) -> list[str]:
    return [rule.verdict for rule in found.rules]


def test_pass_fail_and_undecided() -> None:
    table = run()
    value = score_task(table.load("p")).quantities["sago_core"].values[0]
    for threshold, verdict, status in (
        (value - 0.2, "pass", 0),
        (value + 0.2, "fail", 1),
        (value, "undecided", 3),
    ):
        found = check(policy({"metric": "sago_core", "min": round(float(threshold), 4)}), table)
        (rule,) = found.rules
        assert (found.verdict, found.exit_status) == (verdict, status)
        assert rule.value == pytest.approx(value)
        assert rule.low < rule.value < rule.high
    assert rule.needed is None or rule.needed > 60
    assert "the bounds lie on both sides" in rule.reason


def test_the_values_are_those_of_the_scores() -> None:
    table = task_table()
    scored = score_task(table)
    names = {**scored.quantities, **scored.beside}
    rules = [
        {"metric": name, ("min" if q.higher_is_better else "max"): 0.5 if name != "x_mr" else 1.0}
        for name, q in names.items()
    ]
    rules += [
        {"metric": name, "max": 0.5}
        for name in ("empty", "short", "truncated", "refused", "stock", "unscored")
    ]
    found = check(policy(*rules), run(table))
    for rule in found.rules:
        if rule.metric in names:
            assert rule.value == pytest.approx(float(names[rule.metric].values[0]), abs=1e-12), rule.metric
        else:
            assert rule.value == 0.0
            assert (rule.verdict, rule.method) == ("pass", "clopper_pearson")
            assert rule.high > 1.0 - 0.05 ** (1 / 60) - 1e-12, "no share has an interval of no width"


def test_health_is_counted_by_document() -> None:
    table = task_table()
    flags = {name: values.copy() for name, values in table.flags.items()}
    flags["empty"][0, :9] = True
    responses = table.responses.copy()  # type: ignore[union-attr]
    responses[0, 10:16] = "the same"
    responses[0, 59] = None
    distances = {name: values.copy() for name, values in table.distances.items()}
    distances["x_act"][0, 20:23] = np.nan
    table = replace(table, flags=flags, responses=responses, distances=distances)
    rules = [{"metric": name, "max": 0.5} for name in ("empty", "stock", "unscored")]
    found = {rule.metric: rule for rule in check(policy(*rules), run(table)).rules}
    assert found["empty"].value == pytest.approx(9 / 59), "a document without a response is none"
    assert found["stock"].value == pytest.approx(6 / 59)
    assert found["unscored"].value == pytest.approx(3 / 60)
    assert 60 - score_task(table).scored[0] == 3


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ([{"metric": "sago_cor", "min": 0.4}], "unknown metric 'sago_cor' in .*did you mean sago_core"),
        ([{"metric": "x_bleu_", "max": 0.4}], "did you mean x_bleu"),
        ([{"metric": "sago", "min": 0.4, "task": "q"}], "unknown data set 'q'"),
        ([{"metric": "sago", "min": 0.4, "operator": "polite"}], "did you mean politeness"),
        ([{"metric": "sago", "max": 0.4}], "is better the higher it is: give min, not max"),
        ([{"metric": "flip", "min": 0.4}], "is better the lower it is: give max, not min"),
        ([{"metric": "flip", "max": 1}], "can be shown by no data: give a number between 0 and 1"),
        ([{"metric": "acc", "min": 0}], "can be shown by no data"),
        ([{"metric": "x_act", "max": -1}], "give a number above 0"),
        ([{"metric": "flip", "max": 0.5, "task": "overall"}], "overall is for scores, axes and measures"),
    ],
)
def test_what_the_run_lacks_is_wrong_input(rules: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(SagoError, match=said) as caught:
        check(policy(*rules), run())
    assert "\n" not in str(caught.value)
    assert str(caught.value).count("rule 1") == 1


def test_a_metric_that_was_not_measured_is_no_pass() -> None:
    table = task_table()
    without = {**table.distances, "x_act": np.full_like(table.distances["x_act"], np.nan)}
    table = replace(table, distances=without, correct=None)
    for rule, said in (
        ({"metric": "sago_core", "min": 0.1}, r"no value of sago_core on p \(activation: x_act: no_document"),
        ({"metric": "x_act", "max": 0.9}, "no value of x_act on p"),
        ({"metric": "acc", "min": 0.1}, "has no acc on p"),
    ):
        with pytest.raises(SagoError, match=said):
            check(policy(rule), run(table))
    assert verdicts(check(policy({"metric": "sago_text", "min": 0.1}), run(table))) == ["pass"]


def test_a_rigid_model_is_undecided_whatever_the_policy_allows() -> None:
    table = task_table()
    controls = {**table.controls, "x_bleu": np.full_like(table.controls["x_bleu"], 0.01)}
    found = check(
        policy({"metric": "sago_generation", "max": 0.9}, undecided="allow"),
        run(replace(table, controls=controls)),
    )
    (rule,) = found.rules
    assert (rule.verdict, rule.missing, found.exit_status) == ("undecided", True, 3)
    assert "rigid" in rule.reason


def test_too_few_documents() -> None:
    found = check(policy({"metric": "sago", "min": 0.01}), run(task_table(documents=39)))
    assert verdicts(found) == ["undecided"]
    assert found.rules[0].reason.startswith("39 documents, 40 are the least; about 40 documents would do")
    assert math.isnan(found.rules[0].pvalue)
    assert verdicts(check(policy({"metric": "sago", "min": 0.01}), run(task_table(documents=40)))) == ["pass"]


def test_shares_need_eight_expected_documents_at_the_threshold() -> None:
    table = task_table(documents=80)
    for rule, verdict in (
        ({"metric": "empty", "max": 0.1}, "pass"),
        ({"metric": "empty", "max": 0.0999}, "undecided"),
        ({"metric": "acc", "min": 0.95}, "undecided"),
    ):
        (found,) = check(policy(rule), run(table)).rules
        assert found.verdict == verdict, rule
    assert "under 8 at the threshold" in found.reason
    assert found.needed is not None
    assert found.needed >= 160


@pytest.mark.parametrize(("limit", "verdict"), [(0.1, "undecided"), (0.2, "pass")])
def test_an_unscored_share_above_the_limit(limit: float, verdict: str) -> None:
    table = task_table()
    distances = {name: values.copy() for name, values in table.distances.items()}
    for name in ("x_bleu", "x_bert"):
        distances[name][0, :9] = np.nan
    table = replace(table, distances=distances)
    for top, rule in (({"unscored": limit}, {}), ({}, {"unscored": limit})):
        found = check(policy({"metric": "x_bleu", "max": 0.99, **rule}, undecided="allow", **top), run(table))
        assert verdicts(found) == [verdict]
        assert found.exit_status == (3 if verdict == "undecided" else 0), "missing data block in any case"
    if verdict == "undecided":
        assert "9 of 60 documents are without it, 10 % may be" in found.rules[0].reason


def test_the_policy_says_whether_undecided_blocks() -> None:
    table = run()
    value = float(score_task(table.load("p")).quantities["sago"].values[0])
    rule = {"metric": "sago", "min": round(value, 4)}
    assert check(policy(rule), table).exit_status == 3
    assert check(policy(rule, undecided="allow"), table).exit_status == 0
    failing = {"metric": "sago_core", "min": 0.99}
    assert check(policy(rule, failing), table).exit_status == 1


def test_holms_levels_say_what_adjusted_p_values_say() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        p = np.round(rng.random(rng.integers(1, 8)) * 0.1, 3)
        levels = holm_levels(p, 0.05)
        np.testing.assert_array_equal(p <= levels, adjust(p, "holm") <= 0.05 + 1e-15)


def test_adjusted_p_values_are_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    table = run(task_table(), task_table("q", seed=1))
    found = check(policy({"metric": "sago", "min": 0.52}, {"metric": "flip", "max": 0.27}), table)
    p = [rule.pvalue for rule in found.rules]
    assert len(p) == 4
    np.testing.assert_allclose(
        [rule.pvalue_adjusted for rule in found.rules], multipletests(p, 0.05, "holm")[1]
    )


def test_what_is_shown_is_what_was_decided() -> None:
    """A rule passes exactly where its bound lies on the right side, whatever the correction did to it."""
    table = run(task_table(), task_table("q", seed=1, level=0.5))
    before = run(task_table(model="old", seed=5), task_table("q", model="old", seed=6, level=0.5))
    for shift in (-0.08, -0.04, 0.0, 0.04, 0.08):
        rules: list[dict[str, Any]] = []
        for name in ("sago", "sago_core", "x_act", "sago_generation", "flip", "acc"):
            one = score_task(table.load("p"))
            q = one.quantities.get(name) or one.beside[name]
            side, sign = ("min", 1.0) if q.higher_is_better else ("max", -1.0)
            rules.append({"metric": name, side: float(q.values[0]) + sign * shift})
        rules += [{"metric": "sago", "margin": 0.02 + abs(shift)},
                  {"metric": "x_bleu", "margin": 0.02 + abs(shift), "equivalence": True}]  # fmt: skip
        found = check(policy(*rules, treatment="model"), table, before)
        for rule in found.rules:
            c = rule.threshold
            if "at the threshold" in rule.reason:
                continue
            if rule.kind == "equivalence":
                passes, fails = -c < rule.low and rule.high < c, rule.low > c or rule.high < -c
            elif rule.kind == "min":
                passes, fails = rule.low > c, rule.high < c
            elif rule.kind == "max":
                passes, fails = rule.high < c, rule.low > c
            else:
                passes, fails = rule.low > -c, rule.high < -c
            assert (rule.verdict == "pass", rule.verdict == "fail") == (passes, fails), rule


def test_non_inferiority_against_a_plain_paired_test() -> None:
    """Mirroring is a plain mean: the difference, its error and its test are those of paired documents."""
    from scipy import stats

    new, old = task_table(documents=400), task_table(model="old", seed=3, documents=400)
    both = [score_task(one).reduced["x_mr"].squares()[0] for one in (new, old)]
    theirs = stats.ttest_rel(*both)
    found = check(policy({"metric": "x_mr", "margin": 0.05}, treatment="model"), run(new), run(old)).rules[0]
    assert found.value == pytest.approx(both[0].mean() - both[1].mean())
    assert found.stderr == pytest.approx(found.value / theirs.statistic)
    interval = theirs.confidence_interval(0.90)
    assert found.high == pytest.approx(interval.high, abs=0.1 * found.stderr)
    assert found.verdict == "pass"
    assert math.isclose(found.run - found.baseline, found.value)


def test_differences_are_those_of_the_comparison() -> None:
    """Also where documents are scored on one side alone."""
    new, old = task_table(), task_table(model="old", seed=3, level=0.5)
    distances = {name: values.copy() for name, values in new.distances.items()}
    distances["x_act"][0, :4] = np.nan
    new = replace(new, distances=distances)
    together = joined(new, old)
    pairs = pair_block(score_task(together), Settings(resamples=99))
    names = ("sago", "sago_core", "x_act", "sago_activation", "x_bleu", "x_mr")
    rules = [{"metric": name, "margin": 0.5} for name in names]
    found = check(policy(*rules, treatment="model"), run(new), run(old))
    for rule in found.rules:
        columns = pairs.columns[rule.metric]
        assert rule.value == pytest.approx(float(columns.difference[0]), abs=1e-9), rule.metric
        assert rule.documents == columns.n[0]
        assert rule.stderr == pytest.approx(float(columns.stderr[0]), rel=0.25)
    assert next(rule for rule in found.rules if rule.metric == "x_act").documents == 56


def test_documents_of_one_side_alone_do_not_enter() -> None:
    """A baseline on fewer documents: only what both have is compared, and the rest is unscored."""
    new, old = task_table(), task_table(model="old", seed=3)
    keep = np.ones(60, dtype=bool)
    keep[:5] = False
    less = old.with_documents(keep)
    rules = [{"metric": name, "margin": 0.3} for name in ("sago", "flip", "acc", "empty")]
    found = check(policy(*rules, treatment="model"), run(new), run(less))
    assert [(rule.documents, rule.total) for rule in found.rules] == [(55, 60)] * 4
    flips = [one.distances["flip"][0, 5:].mean(axis=1) for one in (new, old)]
    assert found.rules[1].value == pytest.approx(float(np.mean(flips[0] - flips[1])))


def test_identical_runs_have_bounds_of_some_width() -> None:
    table = task_table(documents=200)
    old = replace(table, models=("old",))
    rules = [{"metric": name, "margin": 0.2} for name in ("sago", "x_bleu", "flip", "acc")]
    found = check(policy(*rules, treatment="model"), run(table), run(old))
    assert verdicts(found) == ["pass"] * 4
    for rule in found.rules:
        assert rule.value == 0.0
        assert rule.low < -0.004
        assert rule.high > 0.004
    tight = check(policy({"metric": "flip", "margin": 0.04}, treatment="model"), run(table), run(old))
    assert verdicts(tight) == ["pass"]
    assert verdicts(
        check(policy({"metric": "sago", "margin": 0.001}, treatment="model"), run(table), run(old))
    ) == ["undecided"]


def test_a_difference_that_rests_on_few_documents_is_undecided() -> None:
    """85 % of the documents unmoved in both runs: bounds were seen to miss in 16 % of all studies."""
    new, old = task_table(documents=100), task_table(model="old", documents=100, seed=3)
    still = np.arange(100) >= 15
    made = [
        replace(t, distances={**t.distances, "x_bleu": np.where(still[:, None], 0.0, t.distances["x_bleu"])})
        for t in (new, old)
    ]
    rules = [{"metric": name, "margin": 0.9} for name in ("x_bleu", "sago", "x_act", "x_mr")]
    found = check(policy(*rules, treatment="model"), *map(run, made))
    assert verdicts(found) == ["undecided", "undecided", "pass", "pass"]
    assert "15 documents were moved by a measure at all, 40 are the least" in found.rules[0].reason
    assert found.rules[0].needed is not None
    assert found.rules[0].needed >= 267


def test_a_worse_run_fails_and_an_equal_one_is_equivalent() -> None:
    old = task_table(model="old", documents=200)
    worse, like = task_table(documents=200, level=0.6, seed=1), task_table(documents=200, seed=2)
    rule = {"metric": "sago_core", "margin": 0.05}
    both = {**rule, "equivalence": True}
    better = task_table(documents=200, level=0.2, seed=1)
    for new, one, verdict in (
        (worse, rule, "fail"), (worse, both, "fail"), (like, rule, "pass"), (like, both, "pass"),
        (better, rule, "pass"), (better, both, "fail"),
    ):  # fmt: skip
        found = check(policy(one, treatment="model"), run(new), run(old))
        assert verdicts(found) == [verdict], found


def test_an_operator_alone_is_as_the_report_has_it() -> None:
    table = task_table()
    of = {f"{one.family}/{one.operator}": one for one in by_operator(table, score_task(table).reduced)}
    for name in ("spaces", "noise/spaces"):
        found = check(policy({"metric": "x_act", "operator": name, "max": 0.9}), run(table)).rules[0]
        assert found.value == pytest.approx(float(of["noise/spaces"].quantities["x_act"].values[0]))
    less = of_operator(measured(table), "spaces", "rule 1")
    assert less.rates["flip"][0] == pytest.approx(table.distances["flip"][0][:, 4:6].mean(axis=1))
    with pytest.raises(SagoError, match="has no acc on p"):
        check(policy({"metric": "acc", "operator": "spaces", "min": 0.1}), run(table))


def test_documents_without_the_operator_are_not_missing() -> None:
    table = task_table()
    distances = {name: values.copy() for name, values in table.distances.items()}
    for values in distances.values():
        values[0, :15, 4:6] = np.nan
    made = np.ones(table.shape, dtype=bool)
    made[0, :15, 4:6] = False
    # Made of all documents, and unscored on some: those are missing.
    for there, total, verdict in ((made, 45, "pass"), (np.ones_like(made), 60, "undecided")):
        one = replace(table, distances=distances, made=there)
        for name, most in (("flip", 0.9), ("x_act", 2.0)):
            found = check(policy({"metric": name, "operator": "spaces", "max": most}), run(one)).rules[0]
            assert (found.documents, found.total, found.verdict) == (45, total, verdict), name
            assert found.missing == (verdict == "undecided")


def test_every_data_set_or_the_mean_over_them() -> None:
    tables = [task_table(documents=45), task_table("q", documents=45, seed=1, level=0.5)]
    each = check(policy({"metric": "sago", "min": 0.2}), run(*tables))
    assert [(rule.task, rule.verdict) for rule in each.rules] == [("p", "pass"), ("q", "pass")]
    mean = check(policy({"metric": "sago", "min": 0.2, "task": "overall"}), run(*tables)).rules[0]
    assert (mean.verdict, mean.documents) == ("pass", 90)
    whole = overall([score_task(one) for one in tables]).quantities["sago"]
    assert mean.value == pytest.approx(float(whole.values[0]))
    assert mean.stderr == pytest.approx(float(whole.stderr[0]))
    old = [task_table(t, model="old", documents=45, seed=7, level=0.7) for t in "pq"]
    rule = {"metric": "sago", "margin": 0.2, "task": "overall"}
    against = check(policy(rule, treatment="model"), run(*tables), run(*old)).rules[0]
    assert (against.verdict, against.documents) == ("pass", 90)
    before = overall([score_task(one) for one in old]).quantities["sago"]
    assert against.value == pytest.approx(float(whole.values[0] - before.values[0]))
    assert against.value > 0.0, "the run is the more stable one"


CHANGED: list[tuple[str, dict[str, Any]]] = [
    ("template", {"changes": {"prompts": "bb"}}),
    ("template", {"changes": {"prompts": "bb", "version": "2.0", "template": True, "shots": 5}}),
    ("template", {"changes": {"generation": {"do_sample": False, "max_gen_toks": 32, "until": ["\nUser:"]}}}),
    ("model", {"model": "other", "said": described(**{"class": "Gemma"}, dtype="bfloat16", adapter="lora")}),
    ("settings", {"changes": {"generation": {"do_sample": True, "max_gen_toks": 64, "until": []}}}),
    ("settings", {"changes": {"canonical_repeats": 3, "prompts": "bb"}}),
]


@pytest.mark.parametrize(("treatment", "changed"), CHANGED)
def test_the_treatment_may_differ_and_is_shown(treatment: str, changed: dict[str, Any]) -> None:
    new = task_table(**changed)
    found = check(
        policy({"metric": "sago", "margin": 0.5}, treatment=treatment), run(new), run(task_table(seed=3))
    )
    assert found.changed
    for one in found.changed:
        assert one.what in str(found)
    assert f"treatment {treatment}: " in str(found)


@pytest.mark.parametrize(
    ("treatment", "changed", "said"),
    [
        (
            "model",
            {"changes": {"prompts": "bb"}},
            "prompts differs, .* has 996f7d75105b2c4e, the run has bb .*template",
        ),
        (
            "template",
            {"model": "other"},
            "model differs, .*the baseline has new, the run has other .*treatment: model",
        ),
        (
            "template",
            {"said": described(dtype="bfloat16")},
            "float32, the run has bfloat16 .*model or settings",
        ),
        ("template", {"changes": {"generation": {"max_gen_toks": 9}}}, "generation arguments differs"),
        ("settings", {"changes": {"version": "2.0"}}, "task version differs, .*1.0, the run has 2.0"),
        ("settings", {"changes": {"pack": "e" * 64}}, "pack differs, .*none, the run has eeee.*no treatment"),
        ("template", {"changes": {"variants": "ff"}}, "variants differs"),
        (
            "model",
            {"changes": {"measures": {"x_bleu": 2}}},
            "versions of measures differs, .*x_bleu 1.*x_bleu 2",
        ),
        ("model", {"changes": {"encoder": "another"}}, "encoder differs"),
        ("template", {"changes": {"scoring": "cc"}}, "gold answers or how they are compared differs"),
        ("model", {"changes": {"seed": 1}}, "seed differs"),
        (
            "model",
            {"changes": {"measures": None}},
            r"the run \(new\) does not state its versions of measures",
        ),
    ],
)
def test_what_is_no_treatment_is_refused_with_both_values(
    treatment: str, changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(SagoError, match=said) as caught:
        check(policy({"metric": "sago", "margin": 0.5}, treatment=treatment),
              run(task_table(**changed)), run(task_table(seed=3)))  # fmt: skip
    assert "\n" not in str(caught.value)


def test_a_baseline_that_is_missing() -> None:
    rule = policy({"metric": "sago", "margin": 0.5}, treatment="model")
    with pytest.raises(SagoError, match="compares with a baseline, and none is given: --baseline"):
        check(rule, run())
    named = policy({"metric": "sago", "margin": 0.5, "task": "p"}, treatment="model")
    for one in (rule, named):
        with pytest.raises(SagoError, match=r"data set q: the baseline \(new\) has it and the run \(new\)"):
            check(one, run(), run(task_table("q")))
    with pytest.raises(SagoError, match="unknown data set 'q' in the baseline"):
        check(
            policy({"metric": "sago", "margin": 0.5, "task": "q"}, treatment="model"),
            run(task_table("q"), task_table()),
            run(),
        )
    old = task_table(model="old")
    old = replace(old, distances={k: v for k, v in old.distances.items() if k != "flip"})
    with pytest.raises(SagoError, match="the baseline has no flip on p"):
        check(policy({"metric": "flip", "margin": 0.5}, treatment="model"), run(), run(old))
    notes = check(policy({"metric": "sago", "min": 0.1}), run(), run()).notes
    assert "no rule compares with the baseline: it was not looked at" in notes


def test_several_models_need_a_name() -> None:
    together = joined(task_table(), task_table(model="old", seed=3))
    table = run(replace(together, models=("new", "old")))
    rule = policy({"metric": "sago", "min": 0.1})
    with pytest.raises(SagoError, match=r"the run holds 2 models \(new, old\): choose one with --model"):
        check(rule, table)
    with pytest.raises(SagoError, match=r"unknown model 'ol' in the run .*did you mean old"):
        check(rule, table, model="ol")
    margin = policy({"metric": "sago", "margin": 0.5}, treatment="model")
    found = check(margin, table, table, model="new", baseline_model="old")
    assert (found.model, found.baseline) == ("new", "old")


def test_a_model_that_does_not_answer_is_named() -> None:
    table = task_table()
    responses = table.responses.copy()  # type: ignore[union-attr]
    responses[0, :12] = ""
    stuck = run(replace(table, responses=responses))
    (note,) = check(policy({"metric": "sago", "min": 0.1}), stuck).notes
    assert "p: 20 % of the answers are empty or equal" in note
    assert not check(policy({"metric": "stock", "max": 0.5}), stuck).notes


def test_same_seed_same_numbers() -> None:
    rules = [{"metric": "sago", "min": 0.5}, {"metric": "flip", "max": 0.3}]
    first, again = (check(policy(*rules), run()) for _ in range(2))
    assert first.rules == again.rules
    assert first.signature == again.signature
    other = check(policy(*rules, seed=1), run())
    assert other.rules != first.rules


def test_a_rule_more_changes_levels_not_values() -> None:
    one: TaskTable = task_table()
    alone = check(policy({"metric": "sago", "min": 0.5}), run(one)).rules[0]
    among = check(policy({"metric": "sago", "min": 0.5}, {"metric": "flip", "max": 0.2}), run(one)).rules[0]
    assert alone.value == among.value
    assert among.low_level in (0.025, 0.05)
    assert among.pvalue == pytest.approx(alone.pvalue)


def test_a_policy_is_more_than_its_file(tmp_path: Any) -> None:
    assert Policy.of({"rules": [{"metric": "sago", "min": 0.4}]}) == Policy.of(
        "rules: [{metric: sago, min: 0.4}]"
    )
