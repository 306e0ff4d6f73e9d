"""The variant must ask for the same kind of answer."""

from __future__ import annotations

import functools
import re

from sago_harness.variants.base import Check, Constraint, Passage
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.alike import fold, one_script
from sago_harness.variants.text.meaning import WORD


class AnswerType(Constraint):
    """Passes if every question word of the canonical text is there, or another of its kind.

    Kinds are person, time, place, reason, quantity, manner, choice; one slip of the finger is
    forgiven. A text without a question word is not judged. The value is the share of kinds
    that are kept.

    Examples
    --------
    >>> AnswerType().check(Passage("Who wrote it?"), "Tell me whoo wrote it.").passed
    True
    >>> AnswerType().check(Passage("Who wrote it?"), "When was it written?").reason
    'asks for no person any more'
    """

    name = "answer_type"

    def check(self, canonical: Passage, variant: str) -> Check:
        """Compare the kinds of answers asked for."""
        asked = _kinds(canonical.text, canonical.language)
        if not asked:
            return Check(True, None)
        offered = _kinds(variant, canonical.language, also=True)
        lost = [
            kind for kind in asked if kind not in offered and not _misspelt(kind, variant, canonical.language)
        ]
        value = 1 - len(lost) / len(asked)
        return Check(not lost, value, f"asks for no {lost[0]} any more" if lost else "")


def _kinds(text: str, language: str, also: bool = False) -> list[str]:
    """Return the kinds of question words in a text, with `also` those that a noun asks for too."""
    pattern, kinds = _words("zh" if language == "zh" else "en", also)
    # Spaces between Chinese characters are noise inside a word.
    folded = one_script("".join(text.split())) if language == "zh" else fold(text)
    return list(dict.fromkeys(kinds[" ".join(match.group().split())] for match in pattern.finditer(folded)))


def _misspelt(kind: str, text: str, language: str) -> bool:
    """Say whether a word of the text is a question word of the kind with one slip in it."""
    if language == "zh":
        return False
    from rapidfuzz.distance import OSA

    table = read_table("question_words")["en"]
    known = {word for words in table.values() for word in words}
    words = [match.group() for match in WORD.finditer(fold(text))]
    for asked in table[kind]:
        size = asked.count(" ") + 1
        for at in range(len(words) - size + 1):
            typed = " ".join(words[at : at + size])
            strange = typed not in known and typed not in _COMMON
            if strange and OSA.distance(typed, asked, score_cutoff=1) <= 1:
                return True
    return False


#: Words one edit from a question word.
_COMMON = frozenset(["that", "hat", "then", "hen", "there", "here", "now", "cow", "show", "two", "was", "we"])


@functools.cache
def _words(language: str, also: bool) -> tuple[re.Pattern[str], dict[str, str]]:
    """Return one pattern, longest words first ("how many" asks for no manner), and each word's kind."""
    table = read_table("question_words")
    kinds = {word: kind for kind, words in table[language].items() for word in words}
    if also:
        kinds = {word: kind for kind, words in table[f"{language}_nouns"].items() for word in words} | kinds
    longest_first = sorted(kinds, key=lambda word: (-len(word), word))
    body = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in longest_first)
    return re.compile(body if language == "zh" else rf"(?<![\w'\-])(?:{body})(?![\w\-])"), kinds
