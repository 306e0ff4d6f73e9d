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

_MINUS = "\u2212\uff0d\ufe63"
_ARTICLES = re.compile(r"\b(a|an|the)\b")
# Right behind a Latin letter, a digit or a bracket a minus is a hyphen, a range or a
# difference. Han may touch a signed number: there are no spaces.
_NO_SIGN = r"(?<![0-9A-Za-z)\]-])"
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!,?\d)")
_BARE_POINT = re.compile(r"(?<![\w.])\.(?=\d)")
# All but the marks inside a number and the minus before one.
_PUNCTUATION = re.compile(rf"(?!(?<=\d)[.,]\d)(?!{_NO_SIGN}-\d)[^\w\s]")

#: A number as it is written: sign, thousands separators, decimals, exponent. The tasks that
#: extract a number use the same pattern in their YAML.
NUMBER = re.compile(
    r"(?:(?<![0-9A-Za-z)\]-])[-+\u2212])?"
    r"(?:\d+(?:,\d{3}(?!\d))*(?:\.\d+)?|(?<![\w.])\.\d+)"
    r"(?:[eE][-+\u2212]?\d+(?![0-9A-Za-z]))?"
)

_HAN_NUMERALS = frozenset("零〇一二两兩三四五六七八九十百千万萬亿億")


def normalise(text: str) -> str:
    """Return text in the form answers are compared in.

    NFKC, case-folded, English articles and punctuation removed, white space collapsed:
    the normalisation of SQuAD's evaluation (Rajpurkar et al. 2016), for any script. Numbers
    stay whole: marks between digits and a leading minus are kept, thousands commas go.

    Examples
    --------
    >>> normalise("The  Eiffel-Tower!")
    'eiffel tower'
    >>> normalise("-1,300.5, or 5-7?")
    '-1300.5 or 5 7'
    """
    folded = _plain_minus(unicodedata.normalize("NFKC", text).casefold())
    folded = _THOUSANDS.sub(lambda found: found.group().replace(",", ""), folded)
    folded = _BARE_POINT.sub("0.", folded)
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub(" ", folded)).split())


def _plain_minus(text: str) -> str:
    return text.translate(dict.fromkeys(map(ord, _MINUS), "-"))


def number_of(text: str) -> float | None:
    """Return the last number in a text, thousands separators removed; None if there is none.

    Examples
    --------
    >>> number_of("so it is 1,250.50 in all"), number_of("none"), number_of("1e3 or .5")
    (1250.5, None, 0.5)
    """
    found = NUMBER.findall(_plain_minus(text))
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
        ``contains``: a gold answer stands in the answer as whole words and numbers (as
        characters, in scripts without spaces, but never inside a numeral); ``exact``: equal
        after normalising; ``number``: equal last numbers (relative difference at most 1e-9).

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
    """Whole words and numbers; Han and kana have no spaces, digits may touch them."""
    # A look-ahead, so that places that overlap are all seen.
    return any(
        not _joins(want[0], said[: at.start()][-1:])
        and not _joins(want[-1], said[at.start() + len(want) :][:1])
        for at in re.finditer(f"(?={re.escape(want)})", said)
    )


def _joins(inside: str, outside: str) -> bool:
    """Say whether a neighbouring character makes the match part of a longer word or number."""
    if outside in _HAN_NUMERALS:
        return inside in _HAN_NUMERALS
    if _unspaced(inside) or _unspaced(outside):
        return False
    # After normalising, these marks stand in numbers only.
    return outside.isalnum() or (outside != "" and outside in ".,-")


def _unspaced(character: str) -> bool:
    return "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff" or character == "〇"


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
    if not NUMBER.fullmatch(text):
        return text
    value = float(text.replace(",", ""))
    return repr(value) if math.isfinite(value) else text
