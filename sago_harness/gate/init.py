"""Writes a first policy from a run, with thresholds that this run just meets, and says which it does not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sago_harness.errors import SagoError
from sago_harness.gate.bounds import Bounds
from sago_harness.gate.check import RESAMPLES, check
from sago_harness.gate.evidence import Draws, Evidence, of_run
from sago_harness.gate.level import check_level
from sago_harness.gate.metrics import Measured, Metric, measured
from sago_harness.gate.policy import Policy, Rule
from sago_harness.gate.treatment import Side, changes, likely_treatment
from sago_harness.gate.verdicts import EVENTS_AT_THRESHOLD, RuleResult
from sago_harness.report.changes import escape_line
from sago_harness.stats.intervals import FEW_DOCUMENTS
from sago_harness.stats.table import ScoreTable, TaskTable

#: What a first policy looks at, in this order, as far as the run has it.
WATCHED = ("sago", "sago_core", "sago_text", "acc", "flip", "empty", "truncated", "stock", "unscored")

#: Of ``sago``, ``sago_core`` and ``sago_text`` the first one that a data set has is enough.
_SCORES = WATCHED[:3]

_HEAD = """\
# A policy for `sago gate`, written from a run of {model}.
#
#     sago gate RUN --policy {file}
#
# Every max and min below is one that this run's bounds just meet, all rules together. They say what the run
# is, not what you need: set them to what a release must be. Margins are the same whatever the runs. A rule
# that does not pass now says so in the line above it; under 40 documents none passes.
# docs/gate.md explains every line.

version: 1

# Chance that any rule passes though it does not hold, at most; Holm's correction over all rules.
level: {level}

# What a rule that the data do not decide does: block (exit 3) or allow.
undecided: block

# Share of documents that may be without a rule's metric; above it the rule is undecided, and blocks.
unscored: 0.1

# What is being changed, for rules against a baseline: model, template (of the prompt) or settings.
# Everything else must be the same as in the baseline.
{treatment}
# min: at least; max: at most; margin: no worse than the baseline by so much (with equivalence: true no
# better either).
# Without `task` a rule is for every data set of the run; `task: overall` is the mean over them.
rules:
"""

#: Margins of rules against a baseline.
_MARGINS = {"flip": 0.1}
_MARGIN = 0.05


def write_policy(
    table: ScoreTable, baseline: ScoreTable | None = None, *, file: str = "policy.yaml", level: float = 0.05
) -> str:
    """Return a commented policy in YAML.

    Parameters
    ----------
    table : ScoreTable
        The run, of one model.
    baseline : ScoreTable, optional
        Of one model: rules against it are active then, and the treatment is what differs.
    file : str
        Name of the policy in its comments.
    level : float

    Returns
    -------
    str
        It reads as a :class:`sago_harness.gate.policy.Policy`. Rules that the run does not pass, for want of
        documents or against its baseline, have a comment that says what the gate says of them.

    Raises
    ------
    SagoError
        If the run is too small for any threshold, or the level too small for so many rules.
    """
    loaded = [measured(one) for one in table]
    watched = [(one, metric) for one in loaded for metric in _watched(one)]
    against, shared = _against(loaded, baseline)
    # One test more for each rule that stands or may stand against a baseline.
    tests = len(watched) + len(loaded) * 2
    check_level(level, max(1, tests))
    share = level / max(1, tests)
    draws = Draws(max(RESAMPLES, math.ceil(10 / share)), 0)
    lines = []
    for task in loaded:
        named = task.table.task
        found = [(of_run(one, metric, draws), metric) for one, metric in watched if one is task]
        # The first one is the score; shares such as `unscored` are over all documents.
        scored = found[0][0].documents if found else 0
        lines.append(f"  # {_comment(named)}: {task.table.shape[1]} documents, {scored} of them scored")
        if scored < FEW_DOCUMENTS:
            few = all(evidence.documents < FEW_DOCUMENTS for evidence, _ in found)
            which = "every rule on it is" if few else "rules on its scores are"
            lines.append(f"  # (under {FEW_DOCUMENTS} scored: {which} undecided)")
        for evidence, metric in found:
            lines += _rule(evidence, metric, named, share)
    treatment = "# treatment: template\n"
    if baseline is not None and against:
        likely, told = _treatment(table, baseline)
        treatment = "".join(f"# {_comment(line)}\n" for line in told) + f"treatment: {likely}\n"
    head = _HEAD.format(
        model=_comment(table.models[0]), file=_comment(file), level=level, treatment=treatment
    )
    score = next((metric.name for _, metric in watched if metric.name in _SCORES), "sago")
    lines += ["", "  # Against the baseline (--baseline RUN), document by document:"]
    for name in against or (score,):
        lead = "  " if against else "  # "
        lines.append(f"{lead}- metric: {name}")
        if against:
            lines.append(f"{lead}  task: [{', '.join(map(_quoted, shared))}]")
        lines.append(f"{lead}  margin: {_MARGINS.get(name, _MARGIN)}")
    if not any(line.startswith("  - ") for line in lines):
        most = max((one.table.shape[1] for one in loaded), default=0)
        raise SagoError(
            f"a run of {most} documents is too small to write a policy from: {FEW_DOCUMENTS} are the least"
        )
    policy = Policy.of(head + "\n".join(lines) + "\n", file)
    return head + "\n".join(_labelled(lines, policy, table, baseline)) + "\n"


def _labelled(
    lines: Sequence[str], policy: Policy, table: ScoreTable, baseline: ScoreTable | None
) -> Iterable[str]:
    """Yield the lines, and above each rule that does not pass now what the gate says of it."""
    refused = ""
    try:
        results = check(policy, table, baseline).rules
    except SagoError as error:
        if not policy.compares:
            raise
        # The runs are unlike; what is about the run alone has a verdict all the same.
        refused = str(error)
        alone = tuple(rule for rule in policy.rules if not rule.compares)
        results = check(replace(policy, rules=alone), table).rules if alone else ()
    rules = iter(policy.rules)
    for line in lines:
        if line.startswith("  - "):
            rule = next(rules)
            if rule.compares and refused:
                yield f"  # now refused: {_comment(refused)}"
            else:
                yield from _said([one for one in results if _of(one, rule)])
        yield line


def _of(one: RuleResult, rule: Rule) -> bool:
    return (one.metric, one.kind) == (rule.metric, rule.kind) and one.task in rule.tasks


def _said(results: Sequence[RuleResult]) -> Iterable[str]:
    for one in results:
        if one.verdict != "pass":
            yield f"  # now {one.verdict} on {_comment(one.task)}: {one.value:.3f}: {_comment(one.reason)}"


def _against(
    loaded: Sequence[Measured], baseline: ScoreTable | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the metrics that rules against the baseline can name, and the data sets; none without one."""
    if baseline is None:
        return (), ()
    tasks = [one.table.task for one in loaded if one.table.task in baseline.tasks]
    names = [set(one.metrics) for one in loaded if one.table.task in tasks]
    names += [set(measured(baseline.load(task)).metrics) for task in tasks]
    shared = set.intersection(*names) if names else set()
    score = next((name for name in _SCORES if name in shared), "")
    return tuple(name for name in (score, "flip") if name and name in shared), tuple(tasks)


def _watched(one: Measured) -> Iterable[Metric]:
    found = one.metrics
    scores = [name for name in _SCORES if name in found][:1]
    for name in WATCHED:
        if name in scores or (name in found and name not in _SCORES):
            yield found[name]


def _rule(evidence: Evidence, metric: Metric, task: str, level: float) -> list[str]:
    bounds = evidence.bounds
    if not math.isfinite(bounds.value):
        return [f"  # {metric.name}: no value ({_comment(evidence.reason)})"]
    threshold = _threshold(bounds, metric, evidence.documents, level)
    kind = "min" if metric.higher_is_better else "max"
    rule = [f"  - metric: {metric.name}", f"    task: {_quoted(task)}", f"    {kind}: {threshold:g}"]
    inside = metric.low < threshold < metric.high
    value = f"# {bounds.value:.3f} here, {evidence.documents} of {evidence.total} documents"
    if not inside:
        # No threshold inside the range is met: too few documents, or a value at its end.
        rule = [f"  # {line.removeprefix('  ')}" for line in rule]
    rule[0] += f"  {value}"
    return rule


def _threshold(bounds: Bounds, metric: Metric, documents: int, level: float) -> float:
    """Return the nearest hundredth on the far side of the bound; of shares one that can be decided."""
    least = EVENTS_AT_THRESHOLD / max(1, documents) if metric.rate else 0.0
    if metric.higher_is_better:
        bound = bounds.lower(level)
        bound = min(bound, 1.0 - least) if metric.rate else bound
        return round((math.ceil(bound * 100.0 - 1e-9) - 1) / 100.0, 2)
    bound = max(bounds.upper(level), least)
    return round((math.floor(bound * 100.0 + 1e-9) + 1) / 100.0, 2)


def _treatment(table: ScoreTable, baseline: ScoreTable) -> tuple[str, list[str]]:
    """Return the treatment that the differences are, and what they are."""
    found = []
    for task in table.tasks:
        if task in baseline.tasks:
            found += changes(task, _side(baseline.load(task)), _side(table.load(task)))
    likely = likely_treatment(found)
    told = [f"differs: {one}" for one in found] or ["nothing differs that a signature tells"]
    if not likely:
        told.append("no one treatment is all of that: these runs are refused as unlike")
    return likely or "template", told


def _side(table: TaskTable) -> Side:
    return Side(table.models[0], (table.signatures or ({},))[0])


def _quoted(text: str) -> str:
    """Return a text as YAML, whatever is in it."""
    import yaml

    return yaml.safe_dump(text, default_style='"', width=math.inf).strip()


def _comment(text: str) -> str:
    """Return a text that cannot end a comment."""
    return escape_line(text)
