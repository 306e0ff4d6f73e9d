"""From bounds to verdicts: every rule a test, all of them one family.

A rule passes where its bound lies on the right side, and fails where the bound of the other side does
not reach the threshold: then it is shown that the release is too bad. All else is undecided. Both are
corrected over the policy by Holm's procedure, each for itself: the chance that any rule passes wrongly is
at most the level, and so is the chance that any rule fails wrongly. A bound is shown at the level that
Holm's procedure held its rule to, so that it says what the verdict says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sago_harness.gate.bounds import smallest_level
from sago_harness.gate.evidence import Evidence, Part
from sago_harness.gate.metrics import Metric
from sago_harness.gate.policy import Rule
from sago_harness.stats.adjust import adjust
from sago_harness.stats.intervals import FEW_DOCUMENTS
from sago_harness.stats.overall import OVERALL
from sago_harness.stats.table import Doubles

#: A share of documents is decided from so many expected events at the threshold on.
EVENTS_AT_THRESHOLD = 8

#: Power that a number of documents is told for.
_POWER_Z = 0.8416

#: More documents than this are no advice.
_MOST_DOCUMENTS = 1_000_000


@dataclass(frozen=True)
class Question:
    """One rule on one data set, with what the data say.

    Attributes
    ----------
    rule : Rule
    metric : Metric
    task : str
    evidence : Evidence
    unscored : float
        Share of documents that may be without the metric.
    """

    rule: Rule
    metric: Metric
    task: str
    evidence: Evidence
    unscored: float

    @property
    def edge(self) -> float:
        """Return the number that the bound is held against; of an equivalence the margin."""
        worse_is_less = self.metric.higher_is_better and self.rule.kind == "margin"
        return -self.rule.threshold if worse_is_less else self.rule.threshold

    def passes(self, level: float) -> bool:
        """Say whether the bounds at a level lie on the right side."""
        b, edge = self.evidence.bounds, self.edge
        if self.rule.kind == "equivalence":
            return -edge < b.lower(level) and b.upper(level) < edge
        return b.lower(level) > edge if self.metric.higher_is_better else b.upper(level) < edge

    def fails(self, level: float) -> bool:
        """Say whether the bounds at a level show that the truth lies on the wrong side."""
        b, edge = self.evidence.bounds, self.edge
        if self.rule.kind == "equivalence":
            # Either side may be the wrong one: the level is shared out.
            return b.lower(level / 2.0) > edge or b.upper(level / 2.0) < -edge
        return b.upper(level) < edge if self.metric.higher_is_better else b.lower(level) > edge

    def too_little(self) -> tuple[str, bool]:
        """Return why nothing can be decided whatever the bounds, and whether data are missing."""
        e, rule = self.evidence, self.rule
        if not math.isfinite(e.bounds.value):
            return f"no value ({e.reason or 'no document counts'})", True
        # Of a mean over data sets each must do for itself: large ones do not make up for a small one.
        worst = max(e.each, key=lambda part: part.unscored)
        if worst.unscored > self.unscored:
            return (
                f"{self._where(worst)}{worst.total - worst.documents} of {worst.total} documents are without "
                f"it, {100 * self.unscored:g} % may be",
                True,
            )
        worst = min(e.each, key=lambda part: part.documents)
        if worst.documents < FEW_DOCUMENTS:
            return f"{self._where(worst)}{worst.documents} documents, {FEW_DOCUMENTS} are the least", False
        worst = min(e.each, key=lambda part: part.moved or math.inf)
        if worst.moved is not None and 0 < worst.moved < FEW_DOCUMENTS:
            # A difference of two roots that rest on few documents has no bound that keeps its level.
            return (
                f"{self._where(worst)}{worst.moved} documents were moved by a measure at all, "
                f"{FEW_DOCUMENTS} are the least",
                False,
            )
        share = 1.0 - rule.threshold if rule.kind == "min" else rule.threshold
        if self.metric.rate and e.documents * share < EVENTS_AT_THRESHOLD - 1e-9:
            return (
                f"{e.documents} documents x {share:g} are under {EVENTS_AT_THRESHOLD} at the threshold",
                False,
            )
        return "", False

    def _where(self, part: Part) -> str:
        """Name a data set where the value is a mean over several."""
        return f"{part.task}: " if self.task == OVERALL else ""


@dataclass(frozen=True)
class RuleResult:
    """The verdict on one rule and data set.

    Attributes
    ----------
    rule : str
        The rule in words.
    metric, kind, task, operator : str
    threshold : float
    value : float
        Of the run, or run less baseline.
    run, baseline : float
    low, high : float
        One-sided bounds at ``low_level`` and ``high_level``.
    low_level, high_level : float
    stderr : float
    method : str
    pvalue, pvalue_adjusted : float
        That the rule holds; the second after Holm over the policy.
    pvalue_fails, pvalue_fails_adjusted : float
        That it does not. NaN where nothing can be decided, which counts as 1 in the family.
    documents, total : int
    verdict : {"pass", "fail", "undecided"}
    missing : bool
        Undecided for data that are missing: no policy lets that through.
    reason : str
        Why it is no pass.
    needed : int or None
        Documents that would decide it four times out of five, if things are as they look; None where
        it is decided, or no number would do.
    """

    rule: str
    metric: str
    kind: str
    task: str
    operator: str
    threshold: float
    value: float
    run: float
    baseline: float
    low: float
    high: float
    low_level: float
    high_level: float
    stderr: float
    method: str
    pvalue: float
    pvalue_adjusted: float
    pvalue_fails: float
    pvalue_fails_adjusted: float
    documents: int
    total: int
    verdict: str
    missing: bool = False
    reason: str = ""
    needed: int | None = None

    def __str__(self) -> str:
        tail = f": {self.reason}" if self.reason else ""
        shown = f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.verdict} {self.rule} on {self.task}: {shown}, n={self.documents}{tail}"


def decide(questions: Sequence[Question], level: float) -> list[RuleResult]:
    """Return the verdicts on all rules of a policy.

    Parameters
    ----------
    questions : sequence of Question
        One family.
    level : float
        Chance of any wrong pass, and of any wrong failure.

    Returns
    -------
    list of RuleResult
        In the same order.
    """
    blocked = [question.too_little() for question in questions]
    p_pass = np.array([
        1.0 if why else smallest_level(q.passes) for q, (why, _) in zip(questions, blocked, strict=True)
    ])  # fmt: skip
    p_fail = np.array([
        1.0 if why else smallest_level(q.fails) for q, (why, _) in zip(questions, blocked, strict=True)
    ])  # fmt: skip
    passed, fell = adjust(p_pass, "holm"), adjust(p_fail, "holm")
    at_pass, at_fail = holm_levels(p_pass, level), holm_levels(p_fail, level)
    found = []
    for i, question in enumerate(questions):
        why, missing = blocked[i]
        verdict = (
            "undecided"
            if why
            else "fail"
            if fell[i] <= level
            else "pass"
            if passed[i] <= level
            else "undecided"
        )
        levels = _shown_levels(question, verdict, float(at_pass[i]), float(at_fail[i]))
        tests = (math.nan,) * 4 if why else (p_pass[i], passed[i], p_fail[i], fell[i])
        found.append(_result(question, verdict, why, missing, levels, tests))
    return found


def holm_levels(pvalues: Doubles, level: float) -> Doubles:
    """Return the level that Holm's procedure holds each test to.

    The k-th smallest of m p-values is held to level / (m - k + 1), and all from the first one that
    does not reach its level on to that one's. So a test is significant exactly where its p-value is
    at most its level.

    Examples
    --------
    >>> holm_levels(np.array([0.2, 0.01, 0.03]), 0.06).tolist()
    [0.06, 0.02, 0.03]
    >>> holm_levels(np.array([0.2, 0.04, 0.03]), 0.06).tolist()
    [0.02, 0.02, 0.02]
    """
    m = len(pvalues)
    levels = np.empty(m)
    left, open_ = m, True
    for i in np.argsort(pvalues, kind="stable"):
        levels[i] = level / left
        if open_ and pvalues[i] <= levels[i] and left > 1:
            left -= 1
        else:
            open_ = False
    return levels


def _shown_levels(question: Question, verdict: str, at_pass: float, at_fail: float) -> tuple[float, float]:
    """Return the levels of the lower and of the upper bound that are shown."""
    if question.rule.kind == "equivalence":
        both = {"pass": at_pass, "fail": at_fail / 2.0}.get(verdict, min(at_pass, at_fail / 2.0))
        return both, both
    return (at_pass, at_fail) if question.metric.higher_is_better else (at_fail, at_pass)


def _result(
    question: Question,
    verdict: str,
    why: str,
    missing: bool,
    levels: tuple[float, float],
    tests: tuple[float, float, float, float],
) -> RuleResult:
    e, rule = question.evidence, question.rule
    low, high = e.bounds.lower(levels[0]), e.bounds.upper(levels[1])
    needed = None if verdict != "undecided" or missing else documents_needed(question, levels)
    low_level, high_level = levels
    pvalue, adjusted, fails, fails_adjusted = (float(p) for p in tests)
    return RuleResult(
        rule.name or str(rule), question.metric.name, rule.kind, question.task, rule.operator, rule.threshold,
        e.bounds.value, e.run, e.baseline, low, high, low_level, high_level, e.bounds.stderr, e.bounds.method,
        pvalue, adjusted, fails, fails_adjusted, e.documents, e.total, verdict, missing,
        _reason(question, verdict, why, missing, needed), needed,
    )  # fmt: skip


def _reason(question: Question, verdict: str, why: str, missing: bool, needed: int | None) -> str:
    if verdict == "pass":
        return ""
    if verdict == "fail":
        return "shown to be on the wrong side"
    said = why or "the bounds lie on both sides"
    if missing:
        return said
    if needed is None:
        return f"{said}; the value lies so close to the threshold that no number of documents would do"
    purpose = "would do" if _right_side(question) else "would show that it fails"
    return f"{said}; about {needed:,} documents {purpose}"


def _right_side(question: Question) -> bool:
    value, edge = question.evidence.bounds.value, question.edge
    if question.rule.kind == "equivalence":
        return abs(value) < edge
    return value > edge if question.metric.higher_is_better else value < edge


def documents_needed(question: Question, levels: tuple[float, float]) -> int | None:
    """Return how many documents would decide a rule with probability .8, if the value is the true one.

    Bounds are taken to come closer as 1 / sqrt(documents), and the value to vary by its standard error.
    At least what a policy asks for in any case: 40 documents, and of shares 8 expected at the threshold.
    None where more than a million would be needed.
    """
    e, rule = question.evidence, question.rule
    value, edge, n = e.bounds.value, question.edge, max(2, e.documents)
    low, high = e.bounds.lower(levels[0]), e.bounds.upper(levels[1])
    if rule.kind == "equivalence":
        gap, reach = abs(edge - abs(value)), max(value - low, high - value)
    else:
        gap = abs(value - edge)
        # The bound between the value and the threshold is the one that decides.
        reach = value - low if value > edge else high - value
    least = FEW_DOCUMENTS
    for part in e.each:
        # Of a mean over data sets all grow alike.
        fewest = min(part.documents, part.moved or part.documents)
        if 0 < fewest < FEW_DOCUMENTS:
            least = max(least, math.ceil(FEW_DOCUMENTS * e.documents / fewest))
    if question.metric.rate:
        share = 1.0 - rule.threshold if rule.kind == "min" else rule.threshold
        least = max(least, math.ceil(EVENTS_AT_THRESHOLD / share - 1e-9))
    spread = e.bounds.stderr if math.isfinite(e.bounds.stderr) else 0.0
    wanted = reach + _POWER_Z * spread
    if not gap > 0.0 or not math.isfinite(wanted) or n * (wanted / gap) ** 2 > _MOST_DOCUMENTS:
        return None
    return _rounded(max(least, math.ceil(n * (wanted / gap) ** 2)))


def _rounded(count: int) -> int:
    """Round up to two figures: more would promise too much."""
    step: int = 10 ** max(0, len(str(count)) - 2)
    return math.ceil(count / step) * step
