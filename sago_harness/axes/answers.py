"""Answers: is a response right, and did the extracted answer flip?

Beside the axes, for tasks with a gold answer. The extraction is the task's own chain of
host filters; what is here only compares.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

MATCHES: tuple[str, ...] = ("contains", "exact", "number")

_PUNCTUATION = re.compile(r"[^\w\s]", re.UNICODE)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
# A minus right behind a digit is an operator or a range, not a sign.
_NUMBER = re.compile(r"(?<!\d)[-+]?\d[\d,]*(?:\.\d+)?")


def normalise(text: str) -> str:
    """Return text in the form answers are compared in.

    NFKC, case-folded, English articles and punctuation removed, white space collapsed:
    the normalisation of SQuAD's evaluation (Rajpurkar et al. 2016), for any script.

    Examples
    --------
    >>> normalise("The  Eiffel-Tower!")
    'eiffel tower'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub(" ", folded)).split())


def number_of(text: str) -> float | None:
    """Return the last number in a text, thousands separators removed; None if there is none.

    Examples
    --------
    >>> number_of("so it is 1,250.50 in all"), number_of("none")
    (1250.5, None)
    """
    found = _NUMBER.findall(text)
    if not found:
        return None
    value = float(found[-1].replace(",", ""))
    return value if math.isfinite(value) else None


def is_correct(answer: str, gold: Sequence[str], match: str) -> bool:
    """Say whether an answer agrees with one of the gold answers.

    Parameters
    ----------
    answer : str
        The extracted answer, or the response where the task extracts none.
    gold : sequence of str
        Every accepted answer.
    match : {"contains", "exact", "number"}
        ``contains``: a gold answer stands in the answer as whole words (as characters, in
        scripts without spaces); ``exact``: equal after normalising; ``number``: equal last
        numbers (relative difference at most 1e-9).

    Returns
    -------
    bool

    Examples
    --------
    >>> is_correct("It is Paris.", ["paris"], "contains"), is_correct("Parisian", ["Paris"], "contains")
    (True, False)
    >>> is_correct("18.0", ["18"], "number"), is_correct("一周有7天", ["7"], "contains")
    (True, True)
    """
    if match == "number":
        value = number_of(answer)
        wanted = [number_of(text) for text in gold]
        return value is not None and any(
            w is not None and math.isclose(value, w, rel_tol=1e-9) for w in wanted
        )
    said = normalise(answer)
    for text in gold:
        want = normalise(text)
        if not want:
            continue
        if match == "exact" and said == want:
            return True
        if match == "contains" and _contains(said, want):
            return True
    return False


def _contains(said: str, want: str) -> bool:
    """Whole words where words are set apart; Han and kana have no spaces, digits may touch them."""
    if any(map(_unspaced, want)):
        return want in said
    return any(
        not _joins(said[: at.start()][-1:]) and not _joins(said[at.end() :][:1])
        for at in re.finditer(re.escape(want), said)
    )


def _joins(outside: str) -> bool:
    """Say whether a neighbouring character makes the match part of a longer word or number."""
    return outside.isalnum() and not _unspaced(outside)


def _unspaced(character: str) -> bool:
    return "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff"


def gold_answers(value: Any) -> list[str]:
    """Return a document's gold answers as texts, empty where it has none.

    Examples
    --------
    >>> gold_answers(["7", None, ""]), gold_answers(7), gold_answers(None)
    (['7'], ['7'], [])
    """
    values = value if isinstance(value, list | tuple) else [value]
    return [str(item) for item in values if item is not None and str(item).strip()]


def flipped(answer: str | None, canonical: str | None) -> float:
    """Return 1.0 if the extracted answer differs from the canonical one.

    Parameters
    ----------
    answer, canonical : str or None
        Extracted answers; None = none found.

    Returns
    -------
    float
        0.0 or 1.0; NaN when both are missing, 1.0 when one is.

    Examples
    --------
    >>> flipped("12", "12"), flipped("12", None), flipped(None, None)
    (0.0, 1.0, nan)
    """
    if answer is None and canonical is None:
        return float("nan")
    if answer is None or canonical is None:
        return 1.0
    return float(_key(answer) != _key(canonical))


def _key(answer: str) -> str:
    """Equal numbers written differently are one answer."""
    text = normalise(answer)
    bare = answer.strip().rstrip(".").replace(",", "")
    try:
        value = float(bare)
    except ValueError:
        return text
    return repr(value) if math.isfinite(value) else text
