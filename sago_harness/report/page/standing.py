"""How each model stands, for a reader in a hurry: one row and a few sentences, made from the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup

from sago_harness.report.compared_standing import leaderboard, ranking
from sago_harness.report.main_score import main_score, over_all
from sago_harness.report.page.markup import document_link, line, one_line
from sago_harness.report.tables import Column, Table, shown
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.quantities import Quantity

#: Axis -> what moves, as the subject of a sentence.
_MOVES = {
    "sago_generation": "the text of its answers",
    "sago_activation": "its hidden states",
    "sago_confidence": "the probabilities of its answer",
    "sago_mirroring": "its manner, which follows the prompt's",
}

#: Flag of a leaderboard -> the words for it.
FLAGS = {
    "stock": "stock answers",
    "sampling": "answers drawn at random",
    "empty": "empty answers",
    "short": "answers under 4 tokens",
    "refused": "refusals",
    "coverage": "many documents unscored",
    "mixed": "runs that differ in more than the model",
    "missing": "not run",
}

_EXCLUDED = {
    "stock_answers": "more than a tenth of its answers are empty or the same for another question",
    "sampling": "its answers are drawn at random, and how they are drawn is part of its score",
    "unscored": "it has no score",
}


@dataclass(frozen=True)
class Value:
    """A number with its interval, NaN where unknown.

    Attributes
    ----------
    name : str
    value, low, high : float
    where : str
        Data set; "" for all.
    """

    name: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    where: str = ""

    @property
    def known(self) -> bool:
        """Say whether there is a value."""
        return bool(np.isfinite(self.value))

    @property
    def number(self) -> str:
        """Return the value as tables have it."""
        return _number(self.value)

    @property
    def interval(self) -> str:
        """Return the interval as tables have it, "" for none."""
        known = np.isfinite(self.low) and np.isfinite(self.high)
        return f"{_number(self.low)} to {_number(self.high)}" if known else ""

    def __str__(self) -> str:
        return f"{self.number} ({self.interval})" if self.interval else self.number


@dataclass(frozen=True)
class Standing:
    """One model.

    Attributes
    ----------
    model : str
    score : Value
        In the study's first score that this model has.
    first : bool
        Whether that is the score by which the study is ordered.
    reason : str
        Why the study's first score is missing.
    higher_is_better : bool
    ranks : tuple of int, optional
        Bounds of the true rank.
    ranked : int
        Models that are ranked.
    unranked : str
        Why it is not ranked.
    axes : tuple of Value
        Relative instability, the largest first.
    weakest : Value, optional
        The score on the data set where it is worst; None for a single data set.
    tests, unstable : int
        Tests of instability, and those that find it.
    beyond_noise : bool
        Whether every test that finds it looked at repeats of the same prompt, too.
    untested : str
        Why there is no test.
    flags : dict of str to tuple of str
        Flag -> data sets.
    row : dict
        Its row of the leaderboard.
    """

    model: str
    score: Value
    first: bool
    reason: str
    higher_is_better: bool
    ranks: tuple[int, int] | None
    ranked: int
    unranked: str
    axes: tuple[Value, ...]
    weakest: Value | None
    tests: int
    unstable: int
    beyond_noise: bool
    untested: str
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    row: Mapping[str, object] = field(default_factory=dict)

    @property
    def rank(self) -> str:
        """Return the rank set as tables have it."""
        if self.ranks is None:
            return "–"
        low, high = self.ranks
        return f"{low}" if low == high else f"{low}–{high}"

    def __str__(self) -> str:
        return f"{self.rank} {self.model}: {self.score}"


def standings(found: Comparison) -> list[Standing]:
    """Return the models in the order of the leaderboard."""
    board = leaderboard(found)
    flags = _flags(found)
    return [_standing(found, row, flags.get(str(row["model"]), {})) for row in _records(board)]


def _standing(found: Comparison, row: Mapping[str, object], flags: Mapping[str, tuple[str, ...]]) -> Standing:
    model = str(row["model"])
    quantities, models, place = over_all(found)
    # Where nothing is scored the first score says why.
    main = main_score(found) or next((name for name in found.scores if name in quantities), "")
    at = models.index(model) if model in models else -1
    scores = [_value(found, place, quantities[n], n, at) for n in found.scores if n in quantities]
    score = next((one for one in scores if one.known), Value(main, float("nan")))
    name = score.name or main
    reason = quantities[main].reasons[at] if main and at >= 0 else ""
    ranks, ranked, unranked = _ranks(found, place, name, model)
    axes = [_value(found, place, q, n, at) for n, q in quantities.items() if q.kind == "axis" and at >= 0]
    known = sorted((one for one in axes if one.known), key=lambda one: (-one.value, one.name))
    tests = [one for one in found.unstable if one.model == model and np.isfinite(one.pvalue)]
    sure = [one for one in tests if one.adjusted <= found.settings.level]
    why = dict.fromkeys(one.reason for one in found.unstable if one.model == model and one.reason)
    higher = quantities[name].higher_is_better if name in quantities else True
    return Standing(
        model=model,
        score=score,
        first=name == main and score.known,
        reason=reason,
        higher_is_better=higher,
        ranks=ranks,
        ranked=ranked,
        unranked=unranked,
        axes=tuple(known),
        weakest=_weakest(found, name, model, higher),
        tests=len(tests),
        unstable=len(sure),
        beyond_noise=bool(sure) and all(np.isfinite(one.pvalue_noise) for one in sure),
        untested="" if tests else ", ".join(why) or "no measure was tested",
        flags=flags,
        row=row,
    )


def _value(found: Comparison, place: str, quantity: Quantity, name: str, at: int, where: str = "") -> Value:
    if at < 0:
        return Value(name, float("nan"), where=where)
    value = float(quantity.values[at])
    interval = found.intervals.get(place, {}).get(name)
    if interval is None or not np.isfinite(value):
        return Value(name, value, where=where)
    return Value(name, value, float(interval.low[at]), float(interval.high[at]), where)


def _ranks(found: Comparison, place: str, name: str, model: str) -> tuple[tuple[int, int] | None, int, str]:
    table = found.ranks.get(place, {}).get(name)
    if table is None:
        return None, 0, "this score has no ranks with bounds"
    if model in table.models:
        at = table.models.index(model)
        return (int(table.lower[at]), int(table.upper[at])), len(table.models), ""
    why = table.excluded.get(model, "unscored")
    return None, len(table.models), _EXCLUDED.get(why, why)


def _weakest(found: Comparison, name: str, model: str, higher: bool) -> Value | None:
    values = []
    for task, one in found.scored.items():
        if name in one.quantities and model in one.models:
            value = _value(found, task, one.quantities[name], name, one.models.index(model), task)
            if value.known:
                values.append(value)
    if len(values) < 2:
        return None
    return min(values, key=lambda one: (one.value if higher else -one.value, one.where))


def _flags(found: Comparison) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return model -> flag -> the data sets that raise it."""
    made: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in _records(ranking(found)):
        for flag in str(row.get("flags") or "").split():
            of = made.setdefault(str(row["model"]), {})
            of[flag] = (*of.get(flag, ()), str(row["task"]))
    return made


def _records(table: Table) -> list[dict[str, object]]:
    """Return rows by key with names as they are: in JSON some of their characters would be others."""
    return [dict(zip((column.key for column in table.columns), row, strict=True)) for row in table.rows]


def _number(value: float) -> str:
    return shown(value, Column("value")).replace("-", "−")


def sentences(one: Standing, found: Comparison, *, linked: bool = False) -> Markup:
    """Return what is to be said of a model, in full sentences.

    Parameters
    ----------
    one : Standing
    found : Comparison
    linked : bool
        Lead to its least stable document in the browser of documents.

    Returns
    -------
    Markup
        Of one to five sentences; names are escaped.
    """
    parts = [_placed(one, found), _weak(one), _tested(one, found), _warned(one, found)]
    if linked:
        parts.append(_least(one, found))
    return Markup(" ").join(part for part in parts if part)


def _placed(one: Standing, found: Comparison) -> Markup:
    level = found.settings.confidence.replace("%", " %")
    if not one.score.known:
        return Markup("has no score: {}.").format(line(_why(one.reason)))
    interval = Markup(" ({} interval {})").format(level, one.score.interval) if one.score.interval else ""
    sense = "" if one.higher_is_better else " (lower is more stable)"
    lacks = (
        ""
        if one.first or not one.reason
        else f"has no {main_score(found)} ({one_line(_why(one.reason))}), but "
    )
    text = Markup("{}scores <strong>{}</strong> in {}{}{}").format(
        line(lacks), one.score.number, line(one.score.name), interval, sense
    )
    if one.ranks is None:
        return Markup("{}; not ranked: {}.").format(text, line(one.unranked))
    if one.ranked < 2:
        alone = "a rank takes a second model" if len(found.models) == 1 else "no other model is ranked"
        return Markup("{}; {}.").format(text, alone)
    low, high = one.ranks
    rank = f"rank {low} of {one.ranked}" if low == high else f"rank between {low} and {high} of {one.ranked}"
    return Markup("{}: {}.").format(text, rank)


def _why(reason: str) -> str:
    """Put the one reason that is about runs and not about answers into words."""
    task, _, why = reason.rpartition(": ")
    if why == "not_run":
        return f"not run on {task}" if task else "not run"
    return reason or "nothing was scored"


def _weak(one: Standing) -> Markup:
    parts = []
    if one.axes:
        worst = one.axes[0]
        if worst.name == "sago_mirroring":
            parts.append(Markup("What gives most is {}: {}").format(_MOVES[worst.name], worst))
        else:
            moved = _MOVES.get(worst.name, worst.name)
            parts.append(
                Markup("Rewording moves {} most, {} of the way to another question").format(moved, worst)
            )
    if one.weakest is not None:
        where = Markup("on {}, with {}").format(line(one.weakest.where), one.weakest)
        head = "it is weakest" if parts else "It is weakest"
        parts.append(Markup("{} {}").format(head, where))
    return Markup("{}.").format(Markup("; ").join(parts)) if parts else Markup("")


#: Why there is no test, for readers of sentences.
_UNTESTED = {
    "one_document": "there is one document only",
    "too_few_events": "too few documents were moved at all",
    "not_measured": "it was not measured",
}


def _tested(one: Standing, found: Comparison) -> Markup:
    if not found.unstable:
        return Markup("")
    if not one.tests:
        why = ", ".join(_UNTESTED.get(word, word) for word in one.untested.split(", "))
        return Markup("Whether it is unstable could not be tested: {}.").format(line(why))
    beyond = "noise and chance" if one.beyond_noise else f"{100 * found.settings.epsilon:g} % of chance"
    count = f"{one.unstable} of {one.tests} tests" if one.tests > 1 else f"{one.unstable} of 1 test"
    if not one.unstable:
        return Markup("Not shown to be unstable ({}).").format(count)
    return Markup("Unstable beyond {} in {}.").format(beyond, count)


def _warned(one: Standing, found: Comparison) -> Markup:
    told = []
    for flag, tasks in one.flags.items():
        everywhere = len(tasks) == len(found.tasks)
        where = Markup(", ").join(line(task) for task in tasks)
        if len(found.tasks) == 1:
            told.append(Markup("{}").format(FLAGS.get(flag, flag)))
        else:
            told.append(
                Markup("{} ({})").format(FLAGS.get(flag, flag), "all data sets" if everywhere else where)
            )
    if not told:
        return Markup("")
    return Markup('<span class="flags"><b>Take care</b>: {}.</span>').format(Markup("; ").join(told))


def _least(one: Standing, found: Comparison) -> Markup:
    cases = [(part.task, case) for part in found.worst if part.model for case in part.cases]
    own = [(task, case) for task, case in cases if case.model == one.model and np.isfinite(case.value)]
    if not own:
        return Markup("")
    task, case = max(own, key=lambda of: of[1].value)
    address = document_link(task, one.model, case.document)
    return Markup('<a href="{}">Its least stable document</a> ({} of {}).').format(
        address, line(case.document, 60), line(task)
    )
