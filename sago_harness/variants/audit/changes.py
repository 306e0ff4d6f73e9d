"""Pairs that look alike and differ: one thing changed in what people wrote."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

from sago_harness.variants.audit.pairs import Pair
from sago_harness.variants.audit.sources import Question
from sago_harness.variants.base import Operator, Refused
from sago_harness.variants.build import make_passage
from sago_harness.variants.operators import OPERATORS

#: Kinds of changed-literal pairs, each made by the operator ``change_<kind>``.
KINDS = ("number", "name", "negation", "unit", "comparison", "quantifier")
_WORD = re.compile(r"[\w'’$€£]+")
_CAPITAL = re.compile(r"(?<=[a-z] )[A-Z][a-z]{2,}(?=[ ?,.])")
_YEAR = re.compile(r"(?<![\w.,])\d{2,4}(?![\w.,]\d|\w)")


def changed_pairs(texts: Iterable[tuple[str, str]], source: str, seed: int) -> list[Pair]:
    """Return each (cluster, text) beside the text with one literal changed, for every kind that it allows."""
    operators = {kind: OPERATORS.load(f"change_{kind}")() for kind in KINDS}
    pairs = []
    for cluster, text in texts:
        for kind, operator in operators.items():
            other = _apply(operator, text, f"{seed} {kind} {text}")
            if other:
                pairs.append(Pair(text, other, False, source, kind, operator.name, cluster))
    return pairs


def changed_versions(questions: Iterable[Question], seed: int) -> list[Pair]:
    """Return each question beside what people typed or said for it, with one literal changed in that.

    The change is made in the published text and carried over where the words that it touches
    stand exactly once in the other version, so that a word the speaker took back is never it.
    """
    operators = {kind: OPERATORS.load(f"change_{kind}")() for kind in KINDS}
    pairs = []
    for question in questions:
        for kind, operator in operators.items():
            other = _apply(operator, question.published, f"{seed} {kind} {question.published}")
            if not other:
                continue
            old, new = _difference(question.published, other)
            for source in ("typed", "spoken", "disfluent"):
                version = getattr(question, source)
                carried = version and version != question.published and _carry(version, old, new)
                # A word may stand once and yet belong to what was taken back.
                if carried and (source != "disfluent" or _same_end(question.published, version, old)):
                    pairs.append(
                        Pair(
                            question.published, carried, False, source, kind, operator.name, question.cluster
                        )
                    )
    return pairs


def borrowed_pairs(questions: Iterable[Question], seed: int) -> list[Pair]:
    """Return each question with a name or a number replaced by one from another question of the paragraph.

    These come from no word list, so they show what the check does with words it has never seen.
    """
    listed = list(questions)
    by_cluster: dict[str, list[str]] = {}
    for question in listed:
        by_cluster.setdefault(question.cluster, []).append(question.published)
    pairs = []
    for question in listed:
        text = question.published
        for kind, pattern in (("name", _CAPITAL), ("number", _YEAR)):
            own = pattern.findall(text)
            others = sorted(
                {word for other in by_cluster[question.cluster] for word in pattern.findall(other)}
                - set(_WORD.findall(text))
            )
            if not own or not others:
                continue
            rng = random.Random(f"{seed} {kind} {question.id}")
            old, new = rng.choice(own), rng.choice(others)
            other = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, text)
            if other != text:
                pairs.append(Pair(text, other, False, "borrowed", kind, "", question.cluster))
    return pairs


def taken_back_pairs(questions: Iterable[Question]) -> list[Pair]:
    """Return each question with the word that its speaker said first and took back.

    "Of what form are Sophie Germain tests no sorry primes?" gives "... Sophie Germain tests?":
    a word that people chose because it might have been asked, and that asks something else.
    """
    pairs = []
    for question in questions:
        if not question.disfluent:
            continue
        own, said = _WORD.findall(question.published), _WORD.findall(question.disfluent)
        low_own, low_said = [word.lower() for word in own], [word.lower() for word in said]
        head = 0
        while head < min(len(own), len(said)) and low_own[head] == low_said[head]:
            head += 1
        tail = len(own) - head
        # One wrong word, then the marker, then the rest of the question as it should be.
        if (
            not (0 < head < len(own))
            or low_said[-tail:] != low_own[head:]
            or len(said) - len(own) not in (2, 3, 4)
        ):
            continue
        wrong, marker = said[head], low_said[head + 1 : len(said) - tail]
        if (
            not marker
            or marker[0] not in _MARKERS
            or wrong.lower() in _MARKERS
            or wrong[0].isdigit() != own[head][0].isdigit()
        ):
            continue
        at = [match.span() for match in _WORD.finditer(question.published)][head]
        other = question.published[: at[0]] + wrong + question.published[at[1] :]
        if wrong.lower() != own[head].lower():
            pairs.append(Pair(question.published, other, False, "taken-back", "word", "", question.cluster))
    return pairs


_MARKERS = frozenset(
    ("no", "wait", "sorry", "i", "or", "uh", "um", "rather", "actually", "oops", "make", "scratch")
)


def _apply(operator: Operator, text: str, key: str) -> str:
    try:
        return operator.apply(make_passage(text), random.Random(key))
    except Refused:
        return ""


def _difference(old: str, new: str) -> tuple[str, str]:
    """Return the words in which two texts differ, widened to whole words."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    while head and not old[head - 1].isspace():
        head -= 1
    while tail and not old[len(old) - tail].isspace():
        tail -= 1
    return old[head : len(old) - tail].strip(" ?.!,"), new[head : len(new) - tail].strip(" ?.!,")


def _same_end(text: str, version: str, old: str) -> bool:
    """Say whether both go on alike after the words ``old``."""
    ends = [re.split(rf"(?<!\w){re.escape(old)}(?!\w)", one, flags=re.I)[-1] for one in (text, version)]
    return _WORD.findall(ends[0].lower()) == _WORD.findall(ends[1].lower())


def _carry(version: str, old: str, new: str) -> str:
    """Return the version with the words replaced, or "" where they do not stand exactly once."""
    if not old or not new:
        return ""
    found = list(re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", version, re.I))
    if len(found) != 1:
        return ""
    start, end = found[0].span()
    return version[:start] + (new if version[start:end] == old else new.lower()) + version[end:]
