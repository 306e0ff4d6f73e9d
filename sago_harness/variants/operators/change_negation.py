"""A negation put in or taken out."""

from __future__ import annotations

import random
import re

from sago_harness.variants.base import Passage
from sago_harness.variants.parts.contrary import Change, Contrary, match_case

_SHORT = {"can't": "can", "won't": "will", "shan't": "shall", "cannot": "can"}
_AUXILIARY = "is|are|was|were|does|did|do|could|would|should|can|will|has|have|had|must"
# Nothing after "only", "whether or", "why": there the word does not deny the clause.
_NOT = re.compile(
    rf"\b(?:{_AUXILIARY})(?P<cut>\s+(?:not|never))(?=\s+\w)(?!\s+(?:only|just|yet|even|necessarily|so)\b)"
    r"|(?<![\w'’])(?P<short>(?:is|are|was|were|does|did|do|could|would|should|ca|wo|has|have|had|must|need)n['’]t|cannot)(?![\w'’])"
    r"|(?<=[a-z] )(?P<never>never )(?=[a-z])",
    re.I,
)
# To be, or the auxiliary that opens a clause: there a negation has one place.
_PLAIN = re.compile(
    r"(?<![\w'’\-])(?P<be>is|are|was|were|can|could|will|would|should|must)(?=\s+[\w\"“])"
    r"|(?:(?:^|[.?!]\s+)|\b(?:what|who|whom|when|where|why|which|how|\w+)\s)(?P<do>does|did|do)(?=\s+(?:(?-i:[A-Z]\w*)|the|a|an|you|we|they|he|she|it|i|people|most|many|all|his|her|their)\b)",
    re.I,
)
_AFTER = re.compile(
    r"\s+(?:not|never|no|nothing|none|nobody|neither|n't|hardly|any)\b|\s+\w+\s+(?:not|never)\b", re.I
)
_SHORTEN = {"can": "can't", "will": "won't"}
# "会不会" and "有没有" ask, and do not deny.
_CHINESE_NO = re.compile(r"(?<![是会能可应需要])不(?=[是会能可应需])(?![是会能]不)|(?<!有)没(?=有)")
_CHINESE_YES = re.compile(
    r"(?<![是不还但可要就总只于或凡正都算也])是(?![否不非的因])|(?<![不社机开体约议才])会(?![议不员计场谈话堂])(?=[\u4e00-\u9fff])"
)


class ChangeNegation(Contrary):
    """Takes one negation out; puts one in only where there is none.

    An auxiliary that opens a question is left alone: "Didn't she win?" asks what "Did she win?" asks.

    Examples
    --------
    >>> from sago_harness.variants.base import Passage
    >>> ChangeNegation().apply(Passage("What is not a mammal?"), random.Random(0))
    'What is a mammal?'
    >>> ChangeNegation().apply(Passage("Who was king?"), random.Random(0))
    "Who wasn't king?"
    """

    name = "change_negation"

    def changes(self, passage: Passage, rng: random.Random) -> list[Change]:
        """Offer the negations that are there, else the first auxiliary."""
        text = passage.text
        if passage.language == "zh":
            taken = [(*match.span(), "") for match in _CHINESE_NO.finditer(text)]
            put = [(match.start(), match.start(), "不") for match in _CHINESE_YES.finditer(text)]
            return taken or put[:1]
        return _taken(text) or _put(text)


def _taken(text: str) -> list[Change]:
    found: list[Change] = []
    for match in _NOT.finditer(text):
        if _opens(text, match.start()):
            continue
        if match.group("short"):
            word = match.group("short").replace("’", "'")
            plain = _SHORT.get(word.lower(), word[:-3])
            found.append((*match.span("short"), match_case(word, plain)))
        elif match.group("cut"):
            found.append((*match.span("cut"), ""))
        else:
            found.append((*match.span("never"), ""))
    return found


def _put(text: str) -> list[Change]:
    for match in _PLAIN.finditer(text):
        group = "be" if match.group("be") else "do"
        if _opens(text, match.start(group)):
            continue
        word = match.group(group)
        if _AFTER.match(text[match.end() : match.end() + 40]):
            return []
        new = _SHORTEN.get(word.lower(), f"{word.lower()}n't")
        return [(*match.span(group), match_case(word, new))]
    return []


def _opens(text: str, at: int) -> bool:
    """Say whether a word opens its sentence, or follows the comma that opens it."""
    before = text[:at].rstrip(" \t\"'“‘(")
    return before[-1:] in ("", ".", "?", "!", ":", ",", "\n")
