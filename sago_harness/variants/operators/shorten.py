"""A shorter text that says as much."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterator
from typing import Any, ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.grammar.english import INFLECTOR, must_be_short
from sago_harness.variants.grammar.inversion import make_direct
from sago_harness.variants.grammar.sentences import Sentence, sentences, upper_first
from sago_harness.variants.grammar.words import words
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.within import holds
from sago_harness.variants.phrases import read_table

#: Less than this share shorter is no shortening.
LEAST = 0.1
_NEGATED = re.compile(r"\b(?:no|not|never|nobody|nothing|none|nor|neither)\b|n['’]t\b", re.I)


class Shorten(Guarded):
    """Drops what carries nothing: "Can you tell me", "please", "in order to", "that are".

    Words that could weigh in the meaning stay, and so does every kept span; a text that would
    not be a tenth shorter is refused.

    Examples
    --------
    >>> from sago_harness.variants.needs import missing
    >>> asked = Passage("Can you tell me who wrote Emma?")
    >>> absent = missing(Shorten.requires)
    >>> "Who wrote Emma?" if absent else Shorten().apply(asked, random.Random(1))
    'Who wrote Emma?'
    """

    name = "shorten"
    family = "structure"
    languages = ("en",)
    strengths = (0.75,)
    feature = "log_length"
    requires: ClassVar[tuple[str, ...]] = INFLECTOR
    tables: ClassVar[tuple[str, ...]] = ("shorten", "forms", "grammar")

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Make the last sentence direct, or else swap and drop words outside the kept spans."""
        del rng
        text = _direct(passage) or _drop(passage)
        if len(text) > (1 - LEAST) * len(passage.text):
            raise Refused("has nothing empty to drop")
        return text


def _direct(passage: Passage) -> str:
    found = sentences(passage.text)
    if not found or not found[-1].plain:
        return ""
    last = found[-1]
    opener, claim = _openers()
    asked, claimed = opener.fullmatch(last.text), claim.fullmatch(last.text)
    if asked:
        indirect = asked["body"]
    elif claimed and not _NEGATED.search(claimed["body"]):
        indirect = f"whether {claimed['body']}"
    else:
        return ""
    try:
        direct = make_direct(indirect)
    except Refused:
        return ""
    return passage.text[: last.start] + direct + passage.text[last.end :]


@functools.cache
def _openers() -> tuple[re.Pattern[str], re.Pattern[str]]:
    openers = "|".join(read_table("shorten")["openers"])
    asking = "what|who|which|when|where|why|how|whether"
    return (
        re.compile(rf"(?i:{openers}) (?P<body>(?:{asking}) [^?.]+)[?.]"),
        re.compile(r"Is it true that (?P<body>[^?.]+)\?"),
    )


@functools.cache
def _swaps() -> tuple[re.Pattern[str], dict[str, str]]:
    table = read_table("shorten")
    swaps = {**table["swaps"], **dict.fromkeys(table["empty"], "")}
    longest = sorted(swaps, key=lambda word: (-len(word), word))
    body = "|".join(re.escape(word) for word in longest)
    return re.compile(rf"(?<![\w'’\-])(?<!not )(?<!n't )(?:{body})(?= [^\W\d_])", re.I), swaps


def _drop(passage: Passage) -> str:
    """Return the text without empty words; what stands within kept spans stays."""
    pattern, swaps = _swaps()
    edits = [
        (match.start(), match.end(), swaps[match.group().lower()]) for match in pattern.finditer(passage.text)
    ]
    must_be_short(passage.text)
    for sentence in sentences(passage.text):
        edits += _grammatical(sentence)
    free = passage.free(semantic=False)
    parts: list[str] = []
    at = 0
    for start, end, short in sorted(edits):
        # One letter more on the right: it takes a capital where the first word goes.
        if start < at or not holds(free, start, end + 2):
            continue
        capital = passage.text[start].isupper()
        parts += [passage.text[at:start], upper_first(short) if capital else short]
        at = end
        if not short:
            at = end + 1
            if capital:
                parts.append(passage.text[at].upper())
                at += 1
    return "".join([*parts, passage.text[at:]])


def _grammatical(sentence: Sentence) -> Iterator[tuple[int, int, str]]:
    """Yield what only its place in the sentence shows to be empty."""
    try:
        doc = sentence.doc()
    except Refused:
        return
    for token in doc[:-1]:
        start, end = sentence.start + token.idx, sentence.start + token.idx + len(token)
        if token.lower_ in read_table("shorten")["emphasis"] and _is_loose(token, doc):
            yield start, end, ""
        elif token.lower_ in ("that", "which", "who") and _is_reducible(token, doc):
            be = doc[token.i + 1]
            yield start, sentence.start + be.idx + len(be), ""


def _is_loose(token: Any, doc: Any) -> bool:
    """Say whether "really" stresses the verb, not the degree of an adjective.

    After a question word it asks for the truth behind a belief ("Who really wrote it?"), and stays.
    """
    if doc[0].tag_ in ("WP", "WP$", "WDT", "WRB"):
        return False
    neighbours = doc[max(0, token.i - 1) : token.i + 2]
    if any(near.tag_ == "CC" or near.lower_ in ("not", "n't", "n’t") for near in neighbours):
        return False
    if token.i and doc[token.i - 1].lower_ == token.lower_:
        return False
    following = doc[token.i + 1]
    return bool(
        token.dep_ == "advmod"
        and token.head.pos_ in ("VERB", "AUX")
        and following.tag_ not in ("JJ", "JJR", "JJS", "RB", "RBR", "RBS", "NN", "NNS", "NNP", "NNPS")
        and following.lower_ != token.lower_
    )


def _is_reducible(token: Any, doc: Any) -> bool:
    """Say whether "that are" before a participle can go ("books that are still banned")."""
    if token.dep_ not in ("nsubj", "nsubjpass") or token.head.dep_ != "relcl" or token.i < 2:
        return False
    verb, be = token.head, doc[token.i + 1]
    if be.lower_ not in words("be") or "'" in be.text or be.dep_ not in ("aux", "auxpass") or be.head != verb:
        return False
    if verb.tag_ not in ("VBN", "VBG") or verb.i > be.i + 2 or verb.i + 1 >= len(doc) - 1:
        return False
    if any(child.dep_ in ("neg", "conj", "cc") for child in verb.children):
        return False
    before = doc[token.i - 1]
    return before == verb.head and before.tag_ in ("NN", "NNS", "NNP")
