"""Names, negations, comparatives and quantifiers must still stand in the variant."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sago_harness.variants.base import Check, Constraint, Passage
from sago_harness.variants.text.alike import edits_allowed, fold, one_script, within_edits
from sago_harness.variants.text.meaning import WORD, english_kind, find_meaning, is_common, is_known_name

# Negations that a hasty typist leaves without their apostrophe.
_BARE = frozenset(
    [
        "dont", "doesnt", "didnt", "isnt", "arent", "wasnt", "werent", "cant", "couldnt", "wont",
        "wouldnt", "shouldnt", "havent", "hasnt", "hadnt",
    ]
)  # fmt: skip
_SENTENCE = re.compile(r"(?<=[.!?:;])\s|\n")
_GUARDED = ("negation", "comparative")


class Semantic(Constraint):
    """Passes if every semantic span of the canonical text is in the variant, and no new one turns it.

    Words are compared case-folded, within one edit per four letters; a word that is itself on a
    list is never a slip for another one ("older", "colder"; "Iran", "Iraq"). A negation is one
    in any form ("do not", "don't"). A negation or comparative that the canonical text lacks may
    stand only around the unchanged text, as in "I'm not sure how to ask this: ...". Words of the
    levels that change places while all others stay ("Is Ann older than Bob?") are no variant.
    The value is the share of spans that are kept. What other words turn ("bought", "sold") is
    not seen here.

    Examples
    --------
    >>> from sago_harness.variants.build import make_passage
    >>> canonical = make_passage("Why did Anna not leave?")
    >>> Semantic().check(canonical, "why didn't Ana leave?").passed
    True
    >>> Semantic().check(canonical, "Why did Anna leave?").reason
    "negation 'not' is lost"
    """

    name = "semantic"

    def check(self, canonical: Passage, variant: str) -> Check:
        """Look for each span's word, then for new words that would turn the meaning."""
        text = canonical.text
        if canonical.language == "zh":
            return _check_chinese(canonical, variant)
        words = _words(variant)
        before, after = list(map(_form, _words(text))), list(map(_form, words))
        here, left = Counter(before), Counter(after)
        # A word that the canonical text has elsewhere is no slip of another one.
        slips = [word for word in left - here if not is_common(word)]
        lost = [
            span
            for span in canonical.leave
            if not _take(_form(fold(text[span.start : span.end])), span.kind, left, slips)
        ]
        value = 1 - len(lost) / len(canonical.leave) if canonical.leave else 1.0
        if lost:
            word = text[lost[0].start : lost[0].end]
            return Check(False, value, f"{lost[0].kind} {word!r} is lost")
        new = [word for word in left.elements() if english_kind(word) in _GUARDED]
        if new and not _stands(text, words):
            # A word that the canonical text has, said twice, is no new word.
            new = [word for word in new if word not in here]
            if new:
                return Check(False, value, f"{english_kind(new[0])} {new[0]!r} is new")
        if canonical.leave and (moved := _moved(canonical, before, after)):
            return Check(False, value, f"{moved!r} has changed places")
        return Check(True, value)


def _words(text: str) -> list[str]:
    return [fold(match.group()) for match in WORD.finditer(text)]


def _form(word: str) -> str:
    """Return a folded word without its possessive; every form of "not" is "not"."""
    if word.endswith("n't") or word in _BARE or word == "cannot":
        return "not"
    return word.removesuffix("'s").removesuffix("'")


def _take(word: str, kind: str, left: Counter[str], slips: Sequence[str]) -> bool:
    """Use up a word, or a slip of it; say whether there was one."""
    if left[word] > 0:
        left[word] -= 1
        return True
    if not edits_allowed(word):
        # A name that lost its apostrophe: "AFI's" typed as "AFIs".
        return kind == "name" and left[f"{word}s"] > 0
    for other in slips:
        listed = english_kind(other) is not None if kind != "name" else is_known_name(other)
        if left[other] > 0 and not listed and within_edits(word, other):
            left[other] -= 1
            return True
    return False


def _moved(canonical: Passage, before: Sequence[str], after: Sequence[str]) -> str:
    """Return a word of the levels that stands elsewhere among otherwise equal words, "" if none does."""
    text = canonical.text
    if before == after or Counter(before) != Counter(after):
        return ""
    held = {_form(fold(text[span.start : span.end])) for span in (*canonical.leave, *canonical.keep)}
    if [word for word in before if word not in held] != [word for word in after if word not in held]:
        return ""
    order = [[word for word in side if word in held] for side in (before, after)]
    for word, other in zip(order[0], order[1], strict=True):
        if word != other:
            return word
    for span in canonical.leave:
        word = _form(fold(text[span.start : span.end]))
        # A word that takes no neighbour along works on other words now ("only you", "you only").
        if span.kind != "name" and not _beside(word, before) & _beside(word, after):
            return word
    return ""


def _beside(word: str, words: Sequence[str]) -> set[tuple[str, int]]:
    """Return the neighbours of a word with the side on which they stand; the border is one, too."""
    padded = ["", *words, ""]
    return {
        (padded[at + side], side)
        for at in range(1, len(padded) - 1)
        if padded[at] == word
        for side in (-1, 1)
    }


def _stands(text: str, words: Sequence[str]) -> bool:
    """Say whether every sentence of a text stands unbroken among the words, in order."""
    at = 0
    for sentence in _SENTENCE.split(text):
        wanted = _words(sentence)
        while at <= len(words) - len(wanted) and list(words[at : at + len(wanted)]) != wanted:
            at += 1
        if at > len(words) - len(wanted):
            return False
        at += len(wanted)
    return True


def _check_chinese(canonical: Passage, variant: str) -> Check:
    """Compare counts of words in one script; there are no word borders to align."""
    # Spaces between Chinese characters are noise inside a word.
    text = one_script("".join(fold(canonical.text).split()))
    folded = one_script("".join(fold(variant).split()))
    here, there = _counted(text), _counted(folded)
    latin = {word for word in WORD.findall(folded) if word.isascii()}
    lost = []
    for span in canonical.leave:
        word = one_script("".join(fold(canonical.text[span.start : span.end]).split()))
        key = (word, span.kind)
        if there[key] >= max(1, here[key]) or (span.kind == "name" and word in folded):
            continue
        if not (word.isascii() and any(within_edits(word, other) for other in latin)):
            lost.append(key)
    value = 1 - len(lost) / len(canonical.leave) if canonical.leave else 1.0
    if lost:
        return Check(False, value, f"{lost[0][1]} {lost[0][0]!r} is lost")
    if text not in folded:
        for (word, kind), count in there.items():
            if kind in _GUARDED and count > here[(word, kind)]:
                return Check(False, value, f"{kind} {word!r} is new")
    return Check(True, value)


def _counted(text: str) -> Counter[tuple[str, str]]:
    return Counter((text[span.start : span.end], span.kind) for span in find_meaning(text, "zh"))
