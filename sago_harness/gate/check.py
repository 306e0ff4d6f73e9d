"""Holds a run against a policy. Read :func:`check` first: it is the whole gate in its order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sago_harness.errors import SagoError, unknown
from sago_harness.gate.data_sets import check_both, check_listed
from sago_harness.gate.evidence import Draws, Evidence, of_pair, of_run, over_data_sets
from sago_harness.gate.joined import joined
from sago_harness.gate.level import check_level
from sago_harness.gate.metrics import (
    Measured,
    check_direction,
    find_metric,
    measured,
    of_operator,
    rule_name,
    tasks_of,
)
from sago_harness.gate.policy import Policy, Rule
from sago_harness.gate.result import GateResult
from sago_harness.gate.treatment import Change, Side, check_treatment
from sago_harness.gate.verdicts import Question, decide
from sago_harness.stats.overall import OVERALL
from sago_harness.stats.scored import STOCK_LIMIT
from sago_harness.stats.table import ScoreTable, TaskTable

#: Draws of each bound, and how many of them must lie beyond the bound of the smallest level.
RESAMPLES = 9999
_BEYOND = 10


def check(
    policy: Policy,
    table: ScoreTable,
    baseline: ScoreTable | None = None,
    *,
    model: str = "",
    baseline_model: str = "",
) -> GateResult:
    """Hold a run against a policy, and against a baseline where the policy compares with one.

    Parameters
    ----------
    policy : Policy
        Of :func:`sago_harness.gate.policy.read_policy`, or ``Policy.of(text)``.
    table : ScoreTable
        Of :func:`sago_harness.runs.read.read_table`; of one model, or of several and ``model`` names it.
    baseline : ScoreTable, optional
        The same of the baseline; may be ``table`` itself, with another model.
    model, baseline_model : str
        Chosen models; the only one by default.

    Returns
    -------
    GateResult

    Raises
    ------
    SagoError
        For a metric, operator or data set that a rule names and the run lacks, a data set that the baseline
        or the results file has and the run lacks, a threshold on the wrong side, and a baseline that is
        missing or differs in more than the treatment.
    """
    run = _Runs(table, _only(table, model, "the run", "--model"))
    before = None
    if baseline is not None:
        before = _Runs(baseline, _only(baseline, baseline_model, "the baseline", "--baseline-model"))
    elif policy.compares:
        first = next(place for place, rule in enumerate(policy.rules) if rule.compares)
        raise SagoError(
            f"{rule_name(policy, first)}: compares with a baseline, and none is given: --baseline RUN"
        )
    check_listed(run.sources, f"the run ({run.model})")
    if before is not None:
        check_listed(before.sources, f"the baseline ({before.model})")
        check_both(policy, run.tasks, before.tasks, (run.model, before.model))
    asked = [(place, task) for place, task in _asked(policy, run)]
    check_level(policy.level, len(asked), policy.where)
    level = policy.level / max(1, len(asked))
    draws = Draws(max(RESAMPLES, math.ceil(_BEYOND / level)), policy.seed)
    changed = _changed(policy, run, before, asked)
    found = [_question(policy, place, task, run, before, draws) for place, task in asked]
    notes = [*table.notes, *_notes(policy, run, before, asked)]
    if before is not None and policy.compares:
        notes += [f"baseline: {note}" for note in before.table.notes]
    signatures = {task: {"run": run.side(task).signature} for task in run.tasks}
    if before is not None:
        for task in before.tasks:
            signatures.setdefault(task, {})["baseline"] = before.side(task).signature
    return GateResult(
        policy,
        run.model,
        before.model if before is not None else "",
        tuple(decide(found, policy.level)),
        tuple(changed),
        tuple(dict.fromkeys(notes)),
        signatures,
    )


@dataclass
class _Runs:
    """One model's data sets, each read and scored once."""

    table: ScoreTable
    model: str
    loaded: dict[str, TaskTable] = field(default_factory=dict)
    scored: dict[str, Measured] = field(default_factory=dict)
    pairs: dict[str, Measured] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for task in self.table.tasks:
            read = self.table.load(task)
            if self.model in read.models:
                self.loaded[task] = read.with_models([self.model])

    @property
    def tasks(self) -> tuple[str, ...]:
        """Data sets that the model has."""
        return tuple(self.loaded)

    @property
    def spanning(self) -> tuple[str, ...]:
        """Data sets of the mean over them: not those that are another one under another filter."""
        return tuple(task for task in self.table.spanning if task in self.loaded)

    @property
    def sources(self) -> list[str]:
        """Files that the records came from."""
        return [source for one in self.loaded.values() for source in one.sources]

    def measured(self, task: str) -> Measured:
        """Return a data set of the run alone."""
        if task not in self.scored:
            self.scored[task] = measured(self.loaded[task])
        return self.scored[task]

    def paired(self, task: str, before: _Runs) -> Measured:
        """Return a data set of the run and its baseline."""
        if task not in self.pairs:
            self.pairs[task] = measured(joined(self.loaded[task], before.loaded[task]))
        return self.pairs[task]

    def side(self, task: str) -> Side:
        """Return what identifies the run on a data set."""
        signatures = self.loaded[task].signatures
        return Side(self.model, signatures[0] if signatures else {})


def _only(table: ScoreTable, model: str, what: str, flag: str) -> str:
    if model:
        if model not in table.models:
            raise unknown("model", model, table.models, f"{what} ({flag})")
        return model
    if len(table.models) != 1:
        named = ", ".join(table.models[:5]) + (", ..." if len(table.models) > 5 else "")
        raise SagoError(f"{what} holds {len(table.models)} models ({named}): choose one with {flag}")
    return table.models[0]


def _asked(policy: Policy, run: _Runs) -> Iterable[tuple[int, str]]:
    """Yield every rule with every data set that it is about."""
    for place, rule in enumerate(policy.rules):
        for task in tasks_of(rule, run.tasks, rule_name(policy, place)):
            yield place, task


def _changed(
    policy: Policy, run: _Runs, before: _Runs | None, asked: Sequence[tuple[int, str]]
) -> list[Change]:
    """Refuse a baseline that differs in more than the treatment; return what differs."""
    found: list[Change] = []
    if before is None:
        return found
    needed: dict[str, str] = {}
    for place, task in asked:
        if policy.rules[place].compares:
            for one in run.spanning if task == OVERALL else (task,):
                needed.setdefault(one, rule_name(policy, place))
    for task, rule in needed.items():
        if task not in before.tasks:
            raise unknown("data set", task, before.tasks, f"the baseline, which {rule} compares with")
        found += check_treatment(task, before.side(task), run.side(task), policy.treatment)
    return found


def _question(
    policy: Policy, place: int, task: str, run: _Runs, before: _Runs | None, draws: Draws
) -> Question:
    """Return one rule on one data set with what the data say."""
    rule, said = policy.rules[place], rule_name(policy, place)
    limit = policy.unscored if rule.unscored is None else rule.unscored
    tasks = run.spanning if task == OVERALL else (task,)
    many = [_look(rule, run.measured(one), said) for one in tasks]
    metrics = [find_metric(rule.metric, one, said) for one in many]
    metric = metrics[0]
    check_direction(rule, metric, said)
    if task == OVERALL and metric.rate:
        raise SagoError(
            f"{said}: {OVERALL} is for scores, axes and measures: name the data sets of {metric.name}"
        )
    if rule.compares:
        assert before is not None
        for one in tasks:
            find_metric(rule.metric, _look(rule, before.measured(one), said), said, "the baseline")
        many = [_look(rule, run.paired(one, before), said) for one in tasks]
    if task == OVERALL:
        evidence: Evidence = over_data_sets(many, metric, draws, pair=rule.compares)
    else:
        evidence = (of_pair if rule.compares else of_run)(many[0], metric, draws)
    return Question(rule, metric, task, evidence, limit)


def _look(rule: Rule, one: Measured, said: str) -> Measured:
    return of_operator(one, rule.operator, said) if rule.operator else one


def _notes(
    policy: Policy, run: _Runs, before: _Runs | None, asked: Sequence[tuple[int, str]]
) -> Iterable[str]:
    """Say what a verdict does not tell by itself."""
    if before is not None and not policy.compares:
        yield "no rule compares with the baseline: it was not looked at"
    watched = {task for place, task in asked if policy.rules[place].metric == "stock"}
    for task, one in run.scored.items():
        share = float(one.scored.stock[0])
        if share > STOCK_LIMIT and task not in watched:
            yield (
                f"{task}: {100 * share:.0f} % of the answers are empty or equal to another question's: the "
                "model looks stable there because it does not answer (a rule on stock would hold it back)"
            )
