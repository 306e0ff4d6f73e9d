"""What a study says in short: one line for each question, in words, with the table to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from sago_harness.report.compared_standing import leaderboard
from sago_harness.report.main_score import main_score, over_all
from sago_harness.report.tables import Column, Table, shown
from sago_harness.stats.adjust import adjust
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.ranks import RankTable
from sago_harness.stats.table import Doubles

#: Models that are named from the top of a ranking; the last one is named as well.
_FIRST = 3

_NUMBER, _P, _INTERVAL = Column("value"), Column("p", kind="p"), Column("interval", kind="interval")
_RANKS = Column("ranks", kind="ranks")


def answers(found: Comparison) -> Table:
    """Return the study in a few sentences, of the score by which it is ordered."""
    columns = (
        Column("question", kind="text"),
        Column("see", kind="text"),
        Column("answer", kind="text"),
    )
    rows = [(question, see, said) for question, see, answer in _QUESTIONS if (said := answer(found))]
    return Table("answers", "In short", columns, tuple(rows), wrapped=True)


def _stable(found: Comparison) -> str:
    name = main_score(found)
    if not name:
        over = " over all data sets" if len(found.spanning) > 1 else ""
        return f"no model has a score{over}; the column reasons of the table measures says why"
    quantities, models, place = over_all(found)
    ranks = found.ranks.get(place, {}).get(name)
    if ranks is None:
        quantity = quantities[name]
        sign = -1.0 if quantity.higher_is_better else 1.0
        known = [m for m in np.argsort(sign * quantity.values) if np.isfinite(quantity.values[m])]
        named = [f"{models[m]} {_value(found, place, name, models[m])}" for m in known]
    else:
        named = [_ranked(found, place, ranks, at) for at in range(len(ranks.models))]
    left = len(named) - _FIRST - 1
    if left > 0:
        named = [*named[:_FIRST], f"{left} more", named[-1]]
    sense = "" if quantities[name].higher_is_better else " (lower is more stable)"
    text = f"{name}{sense}, {_over(found, name)}: {'; '.join(named) or 'nobody is ranked'}"
    out = [
        f"{model} {_value(found, place, name, model)} ({why.replace('_', ' ')})"
        for model, why in (ranks.excluded.items() if ranks else ())
        if why != "unscored"
    ]
    lacking = sum(why == "unscored" for why in ranks.excluded.values()) if ranks else 0
    if lacking:
        out.append(f"{lacking} without this score")
    return f"{text}; not ranked: {', '.join(out)}" if out else text


def _ranked(found: Comparison, place: str, ranks: RankTable, at: int) -> str:
    model = ranks.models[at]
    said = f"{model} {_value(found, place, ranks.quantity, model)}"
    if len(ranks.models) < 2:
        return said
    return f"{said} rank {shown((int(ranks.lower[at]), int(ranks.upper[at])), _RANKS)}"


def _value(found: Comparison, place: str, name: str, model: str) -> str:
    quantities, models, _ = over_all(found)
    at = list(models).index(model)
    value = shown(float(quantities[name].values[at]), _NUMBER)
    interval = found.intervals.get(place, {}).get(name)
    if interval is None or not np.isfinite(interval.low[at]):
        return value
    return f"{value} {shown((float(interval.low[at]), float(interval.high[at])), _INTERVAL)}"


def _over(found: Comparison, name: str) -> str:
    if found.total is None:
        return f"on {found.spanning[0]}"
    own, all_of_them = len(found.total.tasks_of[name]), len(found.spanning)
    return (
        f"mean over {own} data sets" if own == all_of_them else f"mean over {own} of {all_of_them} data sets"
    )


def _unstable(found: Comparison) -> str:
    tested = [one for one in found.unstable if np.isfinite(one.adjusted)]
    if not tested:
        return "no measure could be tested"
    level = found.settings.level
    sure = sum(one.adjusted <= level for one in tested)
    return (
        f"{sure} of {len(tested)} tests (model, data set, measure) find it, beyond "
        f"{found.settings.epsilon:g} of what another question does ({_correction(found)}, level {level:g})"
    )


def _pairs(found: Comparison) -> str:
    name, place = main_score(found), over_all(found)[2]
    block = found.pairs.get(place)
    if block is None or name not in block.columns:
        return ""
    c = block.columns[name]
    known = np.isfinite(c.pvalue)
    if not known.any():
        return ""
    adjusted = adjust(c.pvalue, block.correction)
    sure = known & (adjusted <= block.level)
    close = known & ~sure
    if known.sum() == 1:
        k = int(np.flatnonzero(known)[0])
        pair = [block.models[int(side[k])] for side in (block.first, block.second)]
        ends = shown((float(c.low[k]), float(c.high[k])), _INTERVAL)
        numbers = f"{shown(float(c.difference[k]), Column('d', kind='signed'))} {ends}, p {_p(adjusted[k])}"
        said = f"{name}: {pair[0]} - {pair[1]} = {numbers}, n = {c.n[k]}"
        if sure[k]:
            return f"{said}: {pair[0] if c.p_plus[k] < c.p_minus[k] else pair[1]} is more stable"
        return f"{said}: too close to call; {_detectable(c.detectable[close])}"
    text = f"{sure.sum():,} of {known.sum():,} pairs differ in {name} ({_correction(found)})"
    return f"{text}; of the others {_detectable(c.detectable[close])}" if close.any() else text


def _detectable(found: Doubles) -> str:
    if not np.max(found) > 0.0:
        return "no document tells them apart"
    low, high = (shown(float(end(found)), _NUMBER) for end in (np.min, np.max))
    span = low if low == high else f"{low} to {high}"
    return f"a difference of {span} would have been found four times out of five"


def _reversed(found: Comparison) -> str:
    table = found.reversals.get(main_score(found))
    return "" if table is None else table.headline


def _agree(found: Comparison) -> str:
    one = found.agreement.get(main_score(found))
    if one is None or not np.isfinite(one.kendall_w):
        return ""
    return (
        f"{one.name}: Kendall W {shown(one.kendall_w, _NUMBER)} over {len(one.rows)} data sets "
        f"(1 = the same order everywhere), p {_p(one.pvalue)}"
    )


def _axes(found: Comparison) -> str:
    pairs = [one for one in found.independence if one.kind == "axis" and not one.model]
    if not pairs:
        return ""
    said = Counter("blank" if one.reason else one.verdict for one in pairs)
    known = len(pairs) - said["blank"]
    if not known:
        return f"all {len(pairs)} pairs of axes are blank: too noisy, or too few documents"
    text = f"pairs of axes, each data set alone: {said['independent']} of {known} shown to be independent, "
    text += f"{said['related']} related, {said['not shown']} not shown"
    return f"{text}; {said['blank']} blank (too noisy, or too few documents)" if said["blank"] else text


def _firm(found: Comparison) -> str:
    views = [one for one in found.firmness if one.score == main_score(found)]
    known = [one for one in views if np.isfinite(one.tau)]
    if not known:
        return ""
    same, best = sum(one.moved == 0 for one in known), sum(one.best_kept for one in known)
    return (
        f"in {same} of {len(known)} other views of the same records the order of the models stays, "
        f"in {best} the best one"
    )


def _flags(found: Comparison) -> str:
    board = leaderboard(found)
    keys = [column.key for column in board.columns]
    rows = [dict(zip(keys, row, strict=True)) for row in board.rows]
    flagged = [f"{row['model']} ({', '.join(str(row['flags']).split())})" for row in rows if row.get("flags")]
    left = len(flagged) - 2 * _FIRST
    return "; ".join([*flagged[: 2 * _FIRST], f"{left} more"] if left > 0 else flagged)


def _correction(found: Comparison) -> str:
    return "Holm" if found.settings.correction == "holm" else "Benjamini-Hochberg"


def _p(value: float) -> str:
    return shown(float(value), _P)


#: Question, table to look at, function that answers it; "" leaves the question out.
_QUESTIONS: Sequence[tuple[str, str, Callable[[Comparison], str]]] = (
    ("Which model is more stable?", "leaderboard", _stable),
    ("Be careful with", "leaderboard", _flags),
    ("Is a model unstable at all?", "unstable", _unstable),
    ("Do two models differ?", "pairs", _pairs),
    ("Does the ranking turn round?", "reversals", _reversed),
    ("Do data sets agree?", "agreement", _agree),
    ("Do axes catch other failures?", "independence", _axes),
    ("How firm is that?", "firmness", _firm),
)
