"""What a rule can name, and what a name means: its kind, direction and range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sago_harness.axes import MEASURES
from sago_harness.axes.representation import REPRESENTATIONS
from sago_harness.errors import SagoError, nearest, unknown
from sago_harness.gate.beside import with_unscored_measures
from sago_harness.gate.policy import Policy, Rule
from sago_harness.gate.rates import ANSWERS, answers, health, rows_of_variants
from sago_harness.stats.intervals import bounds
from sago_harness.stats.operators import alone
from sago_harness.stats.overall import OVERALL
from sago_harness.stats.quantities import Quantity, quantities
from sago_harness.stats.scored import ScoredTask, score_task
from sago_harness.stats.table import Doubles, Flags, TaskTable

#: Higher is better; of all other shares of documents lower is.
_RIGHT = ("acc", "acc_mean", "acc_worst")

#: Reasons of a missing score that say something of the model, not of what the run lacks.
_SAYS_SOMETHING = ("rigid", "chance_near_noise")


@dataclass(frozen=True)
class Metric:
    """One thing that can be bounded.

    Attributes
    ----------
    name : str
    kind : {"score", "axis", "measure", "answer", "health"}
    higher_is_better : bool
    low, high : float
        The range that it cannot leave.
    """

    name: str
    kind: str
    higher_is_better: bool
    low: float
    high: float

    @property
    def rate(self) -> bool:
        """Say whether it is a share of documents, or a mean of shares."""
        return self.kind in ("answer", "health")


@dataclass(frozen=True)
class Measured:
    """A data set with everything that rules look at; of one model, or of a run and its baseline.

    Attributes
    ----------
    table : TaskTable
    scored : ScoredTask
        With the measures that are in no score.
    rates : dict of str to ndarray of shape (M, D)
    made : ndarray of shape (D,)
        Documents that can have the metrics: those with records of a variant of the operator, scored or not,
        where it is one's.
    """

    table: TaskTable
    scored: ScoredTask
    rates: Mapping[str, Doubles]
    made: Flags

    @property
    def documents(self) -> int:
        """Return how many documents could have the metrics.

        With those that the run, or its baseline, states and that no records are there of.
        """
        stated = (one.get("documents") for one in self.table.signatures)
        numbers = [int(n) for n in stated if isinstance(n, int | float) and math.isfinite(n)]
        known = self.table.shape[1]
        return int(self.made.sum()) + max(0, max(numbers, default=0) - known)

    @property
    def metrics(self) -> dict[str, Metric]:
        """Return what the data set has, by name."""
        found = {
            name: metric_of(quantity)
            for name, quantity in self.scored.quantities.items()
            if np.isfinite(quantity.values).all() or all(map(_tells, quantity.reasons, quantity.values))
        }
        return found | {name: rate_metric(name) for name in self.rates}


def metric_of(quantity: Quantity) -> Metric:
    """Return the metric that a score is."""
    kind = {"composite": "score"}.get(quantity.kind, quantity.kind)
    return Metric(quantity.name, kind, quantity.higher_is_better, *bounds(quantity))


def rate_metric(name: str) -> Metric:
    """Return the metric that a share of documents is.

    Examples
    --------
    >>> rate_metric("flip").higher_is_better, rate_metric("acc").kind
    (False, 'answer')
    """
    return Metric(name, "answer" if name in ANSWERS else "health", name in _RIGHT, 0.0, 1.0)


def measured(table: TaskTable) -> Measured:
    """Return a data set with its scores and shares."""
    scored = score_task(table)
    made: Flags = np.ones(table.shape[1], dtype=bool)
    rates = answers(table) | health(table, scored)
    return Measured(table, with_unscored_measures(scored, table), rates, made)


def of_operator(whole: Measured, operator: str, rule: str) -> Measured:
    """Return the same of one operator's variants alone.

    Parameters
    ----------
    whole : Measured
    operator : str
        Its name, or ``family/operator``.
    rule : str
        Names the rule in messages.

    Raises
    ------
    SagoError
        If the data set has no such operator, with the nearest names, or two of the name.
    """
    table = whole.table
    known = [f"{family}/{name}" for family, name in table.operators]
    found = [p for p, (family, name) in enumerate(table.operators) if operator in (name, f"{family}/{name}")]
    if not found:
        # People leave out the family.
        close = nearest(operator, [*known, *(name.partition("/")[2] for name in known)])
        hint = f"did you mean {' or '.join(close)}? " if close else ""
        raise SagoError(
            f"{rule}: unknown operator {operator!r} on {table.task}: {hint}Known: {', '.join(sorted(known))}"
        )
    if len(found) > 1:
        raise SagoError(f"{rule}: {operator!r} is {' and '.join(known[p] for p in found)}: name one of them")
    (place,) = found
    keep: Flags = table.operator_of == place
    variants = int(keep.sum())
    own = {name: alone(values, place, variants) for name, values in whole.scored.reduced.items()}
    less = table.with_variants(keep)
    made: Flags = np.any(rows_of_variants(less), axis=(0, 2))
    scored = replace(whole.scored, reduced=own, quantities=quantities(own))
    return Measured(less, scored, {n: v for n, v in answers(less).items() if n != "acc"}, made)


def find_metric(name: str, one: Measured, rule: str, run: str = "the run") -> Metric:
    """Return the metric of a rule.

    Parameters
    ----------
    name : str
    one : Measured
    rule, run : str
        Name the rule and the run in messages.

    Raises
    ------
    SagoError
        If the run lacks it: with the reason where it is a known one, else with the nearest names.
    """
    task = one.table.task
    if name in REPRESENTATIONS:
        raise SagoError(
            f"{rule}: {name} is one number for the whole data set, and its error alone gives no bound that "
            "holds (docs/gate.md): name a measure of single documents, such as x_act"
        )
    metrics = one.metrics
    if name in metrics:
        return metrics[name]
    quantity = one.scored.quantities.get(name)
    if quantity is not None:
        reason = next((r for r in quantity.reasons if r), "not scored")
        close = nearest(name, metrics)
        hint = f"; it has {', '.join(close)}" if close else ""
        raise SagoError(
            f"{rule}: {run} has no value of {name} on {task} ({reason}): a gate does not pass on what was "
            f"not measured{hint}"
        )
    if name in MEASURES or name in (*ANSWERS, "stock", "empty", "short", "truncated", "refused", "unscored"):
        close = nearest(name, metrics)
        hint = f" (nearest: {', '.join(close)})" if close else ""
        raise SagoError(
            f"{rule}: {run} has no {name} on {task}{hint}: name the data sets that have it ('task')"
        )
    raise unknown("metric", name, metrics, f"{rule}, data set {task}")


def check_direction(rule: Rule, metric: Metric, said: str) -> None:
    """Refuse a threshold on the wrong side, or one that no data could meet.

    Raises
    ------
    SagoError
    """
    wanted = "min" if metric.higher_is_better else "max"
    if rule.kind in ("min", "max") and rule.kind != wanted:
        better = "higher" if metric.higher_is_better else "lower"
        raise SagoError(f"{said}: {metric.name} is better the {better} it is: give {wanted}, not {rule.kind}")
    low, high = (0.0, metric.high - metric.low) if rule.compares else (metric.low, metric.high)
    if not low < rule.threshold < high:
        span = f"between {low:g} and {high:g}" if math.isfinite(high) else f"above {low:g}"
        raise SagoError(
            f"{said}: {rule.kind} {rule.threshold:g} of {metric.name} can be shown by no data: give a number "
            f"{span}, ends not included"
        )


def tasks_of(rule: Rule, known: Sequence[str], said: str) -> tuple[str, ...]:
    """Return the data sets that a rule is about.

    Raises
    ------
    SagoError
        For one that the run lacks, with the nearest name.
    """
    for task in rule.tasks:
        if task != OVERALL and task not in known:
            raise unknown("data set", task, [*known, OVERALL], said)
    return rule.tasks or tuple(known)


def rule_name(policy: Policy, place: int) -> str:
    """Return how a rule is called in messages."""
    rule = policy.rules[place]
    line = f" line {rule.line}" if rule.line else ""
    return f"{policy.where}{line}: rule {place + 1} ({rule.metric})"


def _tells(reason: str, value: float) -> bool:
    return math.isfinite(value) or _any_of(reason, _SAYS_SOMETHING)


def _any_of(reason: str, words: Iterable[str]) -> bool:
    return reason.rpartition(": ")[2] in words
