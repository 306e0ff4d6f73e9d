"""A run in words: one short paragraph a task, one sentence an axis."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from sago_harness.scores.composite import Estimate, TaskScores
from sago_harness.scores.reduce import distance_of
from sago_harness.scores.table import Rescored, Row, measures_in, rescore

_AXIS_SENTENCES = {
    "generation": "the text of the answer moves {share} as far as it does for a different question",
    "activation": "the hidden states turn {share} as far as they do for a different question",
    "confidence": "one fixed answer's probabilities and entropies change {share} as much as for another one",
    "mirroring": "the answer takes over {share} of the prompt's change of manner",
}

#: What the variants of a family beside the score are.
_BESIDE = {"human": "what people wrote", "language": "other languages"}

#: A model that edits of the meaning move less than this many times as far as other variants
#: reacts to a change of meaning no more than to one of manner.
_RIGID_RATIO = 1.2

#: Shares above which health is worth a line.
_HEALTH = {
    "empty": "empty responses",
    "short": "responses under 4 tokens",
    "truncated": "responses that ran into the token limit",
    "refused": "refusals",
}


def describe_task(rows: Sequence[Row], name: str) -> str:
    """Return the paragraph for one task.

    Parameters
    ----------
    rows : sequence of dict
        The task's records.
    name : str
        Shown as the heading.

    Returns
    -------
    str
        Lines; every figure is computed from the records.
    """
    scored = rescore(rows)
    scores = scored.scores
    canonical = [row for row in rows if row["role"] == "canonical"]
    variants = _keeping(rows)
    complete = sum(value["n_scored"] for value in scored.values)
    each = round(len(variants) / max(1, len(canonical)))
    lines = [
        f"{name}: {len(canonical)} documents, {each} variant{'' if each == 1 else 's'} each, "
        f"{complete} scored on every measure"
    ]
    if scored.families:
        lines.append(
            f"  stability  sago {_value(scores.sago)}, sago_core {_value(scores.sago_core)}, "
            f"sago_text {_value(scores.sago_text)} (1 = nothing moves, 0 = as if each were another question)"
        )
        lines += _axes(_only(rows, scored.families), scores)
    for family, words in _BESIDE.items():
        if family in scored.own:
            lines += _beside(rows, family, words, scored)
    lines += _meaning(rows)
    lines += _noise(scored)
    lines += _accuracy(scored)
    lines += _worst(rows, scored)
    lines += _health(canonical, scores.stock_share)
    return "\n".join(lines)


def _keeping(rows: Sequence[Row]) -> list[Row]:
    """Return the variants that are meant to say the same as their document."""
    return [row for row in rows if row["role"] == "variant" and row["family"] != "control"]


def _only(rows: Sequence[Row], families: Collection[str]) -> list[Row]:
    """Leave out the variants of other families."""
    return [row for row in rows if row["role"] != "variant" or row["family"] in families]


def _axes(rows: Sequence[Row], scores: TaskScores) -> list[str]:
    lines = []
    for axis, sentence in _AXIS_SENTENCES.items():
        estimate = scores.axes.get(axis)
        if estimate is None:
            continue
        if math.isfinite(estimate.value):
            lines.append(f"  {axis:<11}{sentence.format(share=_share(estimate))}")
        else:
            lines.append(f"  {axis:<11}unscored ({_why(rows, axis) or estimate.reason})")
    return lines


def _beside(rows: Sequence[Row], family: str, words: str, scored: Rescored) -> list[str]:
    """Tell how far a family beside the score moves the model, by the rules of the score."""
    chosen = _only(rows, (family,))
    operators = ", ".join(dict.fromkeys(row["operator"] for row in chosen if row["role"] == "variant"))
    scores = scored.own[family]
    lines = [
        f"  {family:<11}{words} ({operators}): stability {_value(scores.sago_core)}, in no other score",
        *(f"  {line}" for line in _axes(chosen, scores)),
    ]
    answers = {
        "acc_mean": "are answered right",
        "acc_worst": "of the documents are right on each of them",
        "flip": "get another answer",
    }
    found = {key: _mean(scored.values, f"{family}_{key}") for key in answers}
    parts = [f"{100 * value:.0f} % {answers[key]}" for key, value in found.items() if math.isfinite(value)]
    return lines + ([f"    {'answers':<11}{', '.join(parts)}"] if parts else [])


def _meaning(rows: Sequence[Row]) -> list[str]:
    """Set edits that change the meaning against the variants that keep it, by x_bleu."""
    changing = _spread([row for row in rows if row["role"] == "variant" and row["family"] == "control"])
    # Another language moves the words of the answer whatever it says.
    keeping = _spread([row for row in _keeping(rows) if row["family"] != "language"])
    if not (math.isfinite(changing) and math.isfinite(keeping)):
        return []
    figures = f"(x_bleu {changing:.2f} against {keeping:.2f})"
    if keeping == 0.0:
        moved = "move the answer, the others do not" if changing else "do not move the answer: rigid"
        return [f"  meaning    meaning-changing edits {moved} {figures}"]
    ratio = changing / keeping
    rigid = ": a change of meaning moves it no more than one of manner" if ratio < _RIGID_RATIO else ""
    return [
        f"  meaning    meaning-changing edits move the answer {ratio:.1f} times as far as meaning-keeping "
        f"variants {figures}{rigid}"
    ]


def _spread(rows: Sequence[Row]) -> float:
    """Return the root mean square of x_bleu, NaN for none."""
    values = [value for row in rows if math.isfinite(value := distance_of(row, "x_bleu"))]
    return math.sqrt(float(np.mean(np.square(values)))) if values else float("nan")


def _value(estimate: Estimate) -> str:
    if not math.isfinite(estimate.value):
        return f"unscored ({estimate.reason})"
    error = f" ± {estimate.stderr:.2f}" if math.isfinite(estimate.stderr) else ""
    return f"{estimate.value:.2f}{error}"


def _share(estimate: Estimate) -> str:
    error = f" (± {100 * estimate.stderr:.0f})" if math.isfinite(estimate.stderr) else ""
    return f"{100 * estimate.value:.0f} %{error}"


def _mean(values: Sequence[Mapping[str, Any]], key: str) -> float:
    found = [float(value[key]) for value in values if value.get(key) is not None]
    return float(np.mean(found)) if found else float("nan")


def _accuracy(scored: Rescored) -> list[str]:
    words = {
        "acc": "on the canonical prompt",
        "acc_mean": "over the variants",
        "acc_worst": "where every variant must be right",
    }
    found = {key: _mean(scored.values, key) for key in words}
    known = [f"{100 * value:.0f} % {words[key]}" for key, value in found.items() if math.isfinite(value)]
    lines = [f"  accuracy   {', '.join(known)}"] if known else []
    flip = _mean(scored.values, "flip")
    if math.isfinite(flip):
        lines.append(f"  answers    {100 * flip:.0f} % of the variants get another answer")
    return lines


def _noise(scored: Rescored) -> list[str]:
    """Set the variants against repeats of the canonical prompt, where there are any."""
    scores = scored.scores if scored.families else next(iter(scored.own.values()), scored.scores)
    parts = [f"{name} {floor:.2f}, {over:.2f}" for name, (floor, over) in scores.noise.items()]
    head = "repeats of the prompt alone, and what the variants add (root mean squares)"
    return [f"  noise      {head}: {'; '.join(parts)}"] if parts else []


def _why(rows: Sequence[Row], axis: str) -> str:
    """Return the most frequent reason of an axis's missing distances."""
    names = [name for name, of in measures_in(rows).items() if of == axis]
    reasons = Counter(
        row["reasons"][name]
        for row in rows
        for name in names
        if row["role"] == "variant" and (row.get("reasons") or {}).get(name)
    )
    return reasons.most_common(1)[0][0] if reasons else ""


def _worst(rows: Sequence[Row], scored: Rescored) -> list[str]:
    """Name the operator that moves the text most, by root mean square of x_bleu."""
    by_operator: dict[str, list[Row]] = {}
    for row in _keeping(rows):
        by_operator.setdefault(row["operator"], []).append(row)
    means = {name: found for name, of in by_operator.items() if math.isfinite(found := _spread(of))}
    if not scored.values or len(means) < 2 or max(means.values()) == 0.0:
        return []
    most = max(means, key=lambda name: (means[name], name))
    least = min(means, key=lambda name: (means[name], name))
    return [
        f"  operators  {most} moves the text most (x_bleu {means[most]:.2f}), "
        f"{least} least ({means[least]:.2f})"
    ]


def _health(canonical: Sequence[Row], stock: float) -> list[str]:
    counts = Counter(flag for row in canonical for flag in row.get("flags") or ())
    total = max(1, len(canonical))
    lengths = [row["tokens"]["response"] for row in canonical if (row.get("tokens") or {}).get("response")]
    parts = [f"{counts[flag]} of {total} {words}" for flag, words in _HEALTH.items() if counts[flag]]
    if lengths:
        parts.insert(0, f"{np.mean(lengths):.0f} tokens a response")
    if math.isfinite(stock) and stock > 0:
        parts.append(f"{100 * stock:.0f} % stock answers" + (": not to be ranked" if stock > 0.1 else ""))
    return [f"  health     {', '.join(parts)}"] if parts else []
