"""Two sentences as one."""

from __future__ import annotations

import itertools
import random
import re
from typing import Any, ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.grammar.english import PARSER, must_be_short
from sago_harness.variants.grammar.sentences import Sentence, lower_first, sentences
from sago_harness.variants.grammar.words import words
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table

_SUBJECTS = ("nsubj", "nsubjpass", "expl")
_MOST_TOKENS = 18
_LINKS = (", and ", "; ")


class Merge(Guarded):
    """Joins two statements that stand side by side with ", and" or a semicolon.

    Not where the first says or thinks something: "He thinks she left, and Bob sat down." would
    make a part of the thought of what follows.

    Examples
    --------
    >>> from sago_harness.variants.needs import missing
    >>> told = Passage("Tom has a dog. The dog is old.")
    >>> absent = missing(Merge.requires)
    >>> joined = "Tom has a dog, and the dog is old."
    >>> joined if absent else Merge().apply(told, random.Random(2))
    'Tom has a dog, and the dog is old.'
    """

    name = "merge"
    family = "structure"
    languages = ("en",)
    version = 2
    requires: ClassVar[tuple[str, ...]] = PARSER
    tables: ClassVar[tuple[str, ...]] = ("grammar", "joining", "fronting")

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Join one pair, chosen by chance."""
        must_be_short(passage.text)
        found = sentences(passage.text)
        pairs = []
        for first, second in itertools.pairwise(found):
            if passage.text[first.end : second.start] not in (" ", "  "):
                continue
            if _is_statement(first) and not _reports(first) and _is_statement(second):
                head = _lowered(passage, second)
                if head:
                    pairs.append((first, second, head))
        if not pairs:
            raise Refused("no two statements side by side")
        first, second, head = rng.choice(pairs)
        text = passage.text
        return f"{text[: first.end - 1]}{rng.choice(_LINKS)}{head}{text[second.end :]}"


def _is_statement(sentence: Sentence) -> bool:
    if not sentence.text.endswith(".") or len(sentence.text) > _MOST_TOKENS * 8:
        return False
    try:
        doc = sentence.doc()
    except Refused:
        return False
    root = next(token for token in doc if token.dep_ == "ROOT")
    openers = read_table("joining")["openers"]
    if len(doc) > _MOST_TOKENS or doc[0].lower_ in openers or doc[-2].text.endswith("."):
        return False
    if any(token.dep_ in ("cc", "conj", "advcl", "parataxis", "intj") for token in root.children):
        return False
    return any(child.dep_ in _SUBJECTS and child.i < root.i for child in root.children) and _is_finite(root)


def _reports(sentence: Sentence) -> bool:
    """Say whether a clause is said, thought or asked in it, so that another could be taken for its twin."""
    doc = sentence.doc()
    if any(token.dep_ == "ccomp" or (token.dep_ == "pcomp" and _is_finite(token)) for token in doc):
        return True
    # A doubtful parse of such a verb: any finite form behind it counts.
    root = next(token for token in doc if token.dep_ == "ROOT")
    saying = root.lemma_.lower() in read_table("fronting")["no_clause_verbs"]
    return saying and any(token.tag_ in ("VBD", "VBZ", "VBP", "MD") for token in doc[root.i + 1 :])


def _is_finite(verb: Any) -> bool:
    chain = [verb, *(child for child in verb.children if child.dep_ in ("aux", "auxpass"))]
    return any(token.tag_ in ("VBD", "VBZ", "VBP", "MD") for token in chain)


def _lowered(passage: Passage, sentence: Sentence) -> str:
    """Return the sentence as it is written inside another one, "" if its capital leaves a doubt."""
    match = re.match(r"[^\W\d_]+", sentence.text)
    if match is None:
        return ""
    if match.group() == "I" or match.group().lower() in words("closed"):
        return lower_first(sentence.text)
    # A name that was found as one keeps its capital.
    named = any(span.kind == "name" and span.start == sentence.start for span in passage.leave)
    return sentence.text if named else ""
