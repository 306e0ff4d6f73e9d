"""What is a policy and what is not: one clear line for every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sago_harness.errors import SagoError
from sago_harness.gate.policy import Policy, Rule, read_policy

GOOD = """\
version: 1
level: 0.01
undecided: allow
unscored: 0.2
treatment: template
seed: 7
rules:
  - metric: sago_core
    min: 0.4
  - {metric: x_act, task: [p, q], max: 0.5, operator: noise/case, name: "hidden states, case"}
  - metric: flip
    margin: 0.1
    equivalence: true
    unscored: 0
  - metric: sago
    task: overall
    margin: 0.05
"""


def test_a_policy_is_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(GOOD, encoding="utf-8")
    policy = read_policy(path)
    assert policy == Policy.of(GOOD), "where it was written does not matter"
    assert (policy.level, policy.undecided, policy.unscored) == (0.01, "allow", 0.2)
    assert (policy.treatment, policy.seed, policy.compares) == ("template", 7, True)
    assert policy.rules == (
        Rule("sago_core", "min", 0.4),
        Rule("x_act", "max", 0.5, ("p", "q"), "noise/case", None, "hidden states, case"),
        Rule("flip", "equivalence", 0.1, (), "", 0.0),
        Rule("sago", "margin", 0.05, ("overall",)),
    )
    assert [rule.line for rule in policy.rules] == [8, 10, 11, 15]


def test_defaults() -> None:
    policy = Policy.of({"rules": [{"metric": "flip", "max": 0.25}]})
    assert (policy.level, policy.undecided, policy.unscored, policy.treatment) == (0.05, "block", 0.1, "")
    assert not policy.compares


ONE = "rules:\n  - metric: sago\n    min: 0.4\n"

MISTAKES = [
    ("", "is empty: a policy is a mapping with 'rules'"),
    ("- a", "is a list"),
    ("level: 0.05", "'rules': there is no rule"),
    ("rules: []", "'rules': there is no rule"),
    ("rules: [sago]", "rule 1 must be a mapping"),
    ("level: 0.05\nlevel: 0.1\n" + ONE, "line 2: 'level' stands there twice (first in line 1)"),
    (
        "rules:\n  - metric: sago\n    min: 0.4\n    min: 0.5",
        "line 4: 'min' stands there twice (first in line 3)",
    ),
    ("levle: 0.05\n" + ONE, "line 1: unknown key 'levle': did you mean level? Known: version, level"),
    (
        "rules:\n  - metrik: sago\n    min: 0.4",
        "line 2: unknown key 'metrik' in rule 1: did you mean metric or margin?",
    ),
    ("version: 2\n" + ONE, "line 1: 'version': 2 is not known"),
    ("level: 0.5\n" + ONE, "line 1: 'level': must be a number between 0 and 0.5, it is 0.5"),
    ("level: 0\n" + ONE, "'level': must be a number between 0 and 0.5"),
    ("level: .nan\n" + ONE, "'level': must be a number between 0 and 0.5, it is nan"),
    ("level: true\n" + ONE, "'level': must be a number, it is true or false"),
    ("level: 5e-2\n" + ONE, "'level': must be a number, it is a text: write 0.05"),
    (
        "undecided: blok\n" + ONE,
        "'undecided': 'blok' is not known: did you mean block? choose block or allow",
    ),
    ("treatment: prompt\n" + ONE, "choose model or template or settings"),
    ("unscored: 1.5\n" + ONE, "'unscored': must be a number between 0 and 1"),
    ("seed: -1\n" + ONE, "'seed': must be a whole number from 0 on"),
    ("rules:\n  - min: 0.4", "line 2: rule 1: 'metric': is missing"),
    ("rules:\n  - metric: 3\n    min: 0.4", "line 2: rule 1: 'metric': must be a text, it is a number"),
    ("rules:\n  - metric: sago", "rule 1: 'metric': sago has no threshold: give one of max, min, margin"),
    ("rules:\n  - {metric: sago, min: 0.1, max: 0.5}", "sago has max and min: give one of"),
    ("rules:\n  - {metric: sago, min: .inf}", "'min': must be a finite number"),
    ("rules:\n  - {metric: sago, min: a lot}", "'min': must be a number, it is a text"),
    ("treatment: model\nrules:\n  - {metric: sago, margin: 0}", "'margin': must be a number above 0"),
    ("rules:\n  - {metric: sago, margin: 0.1}", "'treatment' is missing: rules compare with a baseline"),
    (
        "rules:\n  - {metric: sago, min: 0.1, equivalence: true}",
        "'equivalence': goes with margin, not with min",
    ),
    ("rules:\n  - {metric: sago, min: 0.1, equivalence: 1}", "'equivalence': must be true or false"),
    ("rules:\n  - {metric: sago, min: 0.1, task: [p, p]}", "'task': 'p' stands there twice"),
    ("rules:\n  - {metric: sago, min: 0.1, task: [p, overall]}", "'task': overall is the mean over all"),
    ("rules:\n  - {metric: sago, min: 0.1, task: {a: b}}", "'task': must be a text, it is a mapping"),
    (
        "rules:\n  - {metric: sago, min: 0.1}\n  - {metric: sago, min: 0.2}",
        "rule 2 asks for the same as rule 1",
    ),
    ("a: &x 1\nrules: *x", "an alias (*name) is not read"),
    ("rules: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
    ("? [a]\n: b\n", "a key must be a word"),
    ("rules: [", "on line 1, column 9"),
    ("[" * 5000, "cannot be read"),
]


@pytest.mark.parametrize(("text", "said"), MISTAKES)
def test_a_mistake_is_told_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(text, encoding="utf-8")
    for read in (lambda: Policy.of(text), lambda: read_policy(path)):
        with pytest.raises(SagoError) as caught:
            read()
        assert "\n" not in str(caught.value)
        assert said in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SagoError, match="cannot be read: No such file"):
        read_policy(tmp_path / "none.yaml")
    with pytest.raises(SagoError, match="cannot be read: Is a directory"):
        read_policy(tmp_path)
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * 300_000)
    with pytest.raises(SagoError, match="too large"):
        read_policy(large)
    other = tmp_path / "latin.yaml"
    other.write_bytes(b"rules: \xff")
    with pytest.raises(SagoError, match="cannot be read"):
        read_policy(other)


def test_too_many_rules() -> None:
    rules = [{"metric": f"m{i}", "max": 0.5} for i in range(201)]
    with pytest.raises(SagoError, match="201 rules are too many"):
        Policy.of({"rules": rules})


def test_the_same_rule_on_other_data_sets_is_another() -> None:
    rules = [{"metric": "sago", "min": 0.1, "task": "p"}, {"metric": "sago", "min": 0.1, "task": "q"}]
    assert len(Policy.of({"rules": rules}).rules) == 2
    rules.append({"metric": "sago", "min": 0.1, "task": "overall"})
    assert len(Policy.of({"rules": rules}).rules) == 3, "nor is the mean over them any of them"
    with pytest.raises(SagoError, match="rule 2 asks for the same"):
        Policy.of({"rules": [rules[0], {"metric": "sago", "min": 0.1}]})


words = st.text(alphabet=st.characters(codec=None), max_size=8)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["rules", "metric", "max", "min", "margin", "level", "task", "treatment"])
            | words,
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(plain)
def test_no_content_gets_past_the_reader(content: object) -> None:
    """Anything is a policy, or refused in one line."""
    try:
        policy = Policy.of(content if isinstance(content, dict) else {"rules": content})
    except SagoError:
        return
    assert policy.rules
    assert 0.0 < policy.level < 0.5
