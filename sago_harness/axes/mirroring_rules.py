"""The published scheme's rules for "the response mirrors the prompt" (arXiv 2610.01428).

Kept so that its mirroring delta can be computed from any saved run. There is a rule for
added spaces, repeated punctuation and letter case; politeness and length need a judge
model there and are unscored here, and there is none for form.
"""

from __future__ import annotations

import re

from sago_harness.axes.script import is_empty

# strength up to (inclusive) -> (least increase, least rate per 100 characters)
_SPACES = ((20.0, 3.0, 5.0), (50.0, 5.0, 8.0), (float("inf"), 10.0, 12.0))
_MARKS = ((5.0, 2.0, 3.0), (10.0, 4.0, 5.0), (float("inf"), 6.0, 8.0))
# strength up to -> least rate in per cent; the increase asked for is 5 points throughout
_CASE = ((25.0, 5.0, 8.0), (50.0, 5.0, 15.0), (float("inf"), 5.0, 25.0))

_RUNS_OF_SPACES = re.compile(r" {2,}")
_RUNS_OF_MARKS = re.compile(r"([!?,;])\1+")
_RUNS_OF_DOTS = re.compile(r"\.{4,}")
_WORDS = re.compile(r"[^\W\d_]+")


def mirrors(operator: str, strength: float | None, response: str, canonical: str) -> float | None:
    """Say whether a response mirrors, by the rule for the operator.

    Parameters
    ----------
    operator : str
        ``"spaces"``, ``"punctuation"`` or ``"case"`` have a rule.
    strength : float or None
        Step of the operator (added spaces, added marks, per cent of letters).
    response, canonical : str
        Response to the variant and to the canonical prompt.

    Returns
    -------
    float or None
        1.0 or 0.0; None where the operator has no rule.

    Examples
    --------
    >>> mirrors("punctuation", 5, "Yes!!!!", "Yes.")
    1.0
    >>> mirrors("politeness", 2, "Yes", "Yes") is None
    True
    """
    counters = {"spaces": (_extra_spaces, _SPACES), "punctuation": (_extra_marks, _MARKS)}
    if operator in counters and strength is not None:
        count, steps = counters[operator]
        _, increase, rate = next(step for step in steps if strength <= step[0])
        added, base = count(response), count(canonical)
        per_hundred = 100.0 * added / len(response) if response else 0.0
        return float(added - base >= increase and per_hundred >= rate)
    if operator == "case" and strength is not None:
        _, increase, rate = next(step for step in _CASE if strength <= step[0])
        now, before = _odd_case(response), _odd_case(canonical)
        return float(now - before >= increase and now >= rate)
    return None


def _extra_spaces(text: str) -> int:
    return sum(len(run.group()) - 1 for run in _RUNS_OF_SPACES.finditer(text))


def _extra_marks(text: str) -> int:
    marks = sum(len(run.group()) - 1 for run in _RUNS_OF_MARKS.finditer(text))
    return marks + sum(len(run.group()) - 3 for run in _RUNS_OF_DOTS.finditer(text))


def _odd_case(text: str) -> float:
    """Per cent of letters in all-caps words of more than 4 letters or in mixed-case, not Title, words."""
    if is_empty(text):
        return 0.0
    letters = odd = 0
    for match in _WORDS.finditer(text):
        word = match.group()
        letters += len(word)
        shouting = word.isupper() and len(word) > 4
        mixed = not (word.isupper() or word.islower() or word.istitle())
        odd += len(word) if shouting or mixed else 0
    return 100.0 * odd / letters if letters else 0.0
