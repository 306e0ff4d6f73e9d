"""Active made passive, and passive active."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.grammar.english import INFLECTOR
from sago_harness.variants.grammar.sentences import replaced, the_question, the_statement, upper_first
from sago_harness.variants.grammar.voices import is_plural, noun_phrase, plain_parts, tail_after
from sago_harness.variants.grammar.words import inflect, words
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table

_SUBJECTS = ("nsubj", "nsubjpass")


class Voice(Guarded):
    """Makes "Who wrote Emma?" "Who was Emma written by?", and the other way round.

    Only with verbs of a list, whose passive is as usual as their active.

    Examples
    --------
    >>> from sago_harness.variants.needs import missing
    >>> asked = Passage("Who wrote Emma?")
    >>> absent = missing(Voice.requires)
    >>> "Who was Emma written by?" if absent else Voice().apply(asked, random.Random(1))
    'Who was Emma written by?'
    """

    name = "voice"
    family = "structure"
    languages = ("en",)
    requires: ClassVar[tuple[str, ...]] = INFLECTOR
    tables: ClassVar[tuple[str, ...]] = ("passive_verbs", "grammar")

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Turn the only question, or the only statement."""
        del rng
        sentence = the_question(passage) if "?" in passage.text else the_statement(passage)
        doc = sentence.doc()
        parts = plain_parts(doc)
        verb = parts["verb"]
        passive = "agent" in parts
        lemma = verb.lemma_.lower()
        if lemma not in read_table("passive_verbs")["passive" if passive else "active"]:
            raise Refused("a verb that is not on the list")
        turn = _activate if passive else _passivate
        return replaced(passage, sentence, turn(doc, parts, lemma))


def _passivate(doc: Any, parts: dict[str, Any], lemma: str) -> str:
    verb, subject, thing = parts["verb"], parts.get("nsubj"), parts.get("dobj")
    if subject is None or thing is None or "auxpass" in parts:
        raise Refused("no plain clause")
    participle = inflect(lemma, "VBN")
    asking = doc[0].lower_ in words("wh")
    adverbs = [child for child in verb.children if child.dep_ == "advmod" and child.tag_ != "WRB"]
    if any(token.i != verb.i - 1 or token.tag_ != "RB" for token in adverbs):
        raise Refused("no plain clause")
    adverb = f"{adverbs[0].text} " if adverbs else ""
    if asking and subject.left_edge.i == 0:
        if "aux" in parts or verb.i - len(adverbs) != subject.right_edge.i + 1:
            raise Refused("no plain clause")
        _check_after(verb, thing)
        phrase = noun_phrase(doc, thing)
        tail = tail_after(doc, verb, thing.right_edge.i + 1)
        be = _be(verb.tag_, is_plural(thing))
        wh = doc[: subject.right_edge.i + 1].text.lower() if subject.i == 0 else ""
        if wh in ("who", "what") and not tail:
            return f"{upper_first(wh)} {be} {phrase} {adverb}{participle} by?"
        if wh == "who":
            return f"By whom {be} {phrase} {adverb}{participle} {tail}?"
        if subject.i == 0 or subject.tag_ not in ("NN", "NNS") or adverb:
            raise Refused("no natural passive")
        asked = doc[: subject.right_edge.i + 1].text
        asked = asked[0].lower() + asked[1:]
        return f"By {asked} {be} {phrase} {participle}{' ' * bool(tail)}{tail}?"
    aux = parts.get("aux")
    if doc[-1].text == "?":
        if aux is None or aux.lower_ != "did" or adverb:
            raise Refused("no plain clause")
        agent = noun_phrase(doc, subject)
        if subject.left_edge.i != aux.i + 1 or verb.i != subject.right_edge.i + 1:
            raise Refused("no plain clause")
        if aux.i == 0:
            _check_after(verb, thing)
            tail = tail_after(doc, verb, thing.right_edge.i + 1)
            be, phrase = _be("VBD", is_plural(thing)), noun_phrase(doc, thing)
            return f"{upper_first(be)} {phrase} {participle} by {agent}{' ' * bool(tail)}{tail}?"
        if not asking and doc[1].lower_ not in words("wh"):
            raise Refused("no plain clause")
        if thing.i > verb.i:
            return _when(doc, parts, participle, agent)
        if thing.left_edge.i != 0 or thing.right_edge.i != aux.i - 1:
            raise Refused("no plain clause")
        tail = tail_after(doc, verb, verb.i + 1)
        be = _be("VBD", thing.tag_ == "NNS")
        return f"{doc[: aux.i].text} {be} {participle} by {agent}{' ' * bool(tail)}{tail}?"
    if (
        aux is not None
        or verb.tag_ != "VBD"
        or adverb
        or subject.left_edge.i
        or subject.right_edge.i != verb.i - 1
    ):
        raise Refused("no plain clause")
    _check_after(verb, thing)
    agent, phrase = noun_phrase(doc, subject), noun_phrase(doc, thing)
    tail = tail_after(doc, verb, thing.right_edge.i + 1)
    be = _be("VBD", is_plural(thing))
    return f"{upper_first(phrase)} {be} {participle} by {agent}{' ' * bool(tail)}{tail}{doc[-1].text}"


def _when(doc: Any, parts: dict[str, Any], participle: str, agent: str) -> str:
    """Return "When was it found by them?" of "When did they find it?"."""
    verb, thing, aux = parts["verb"], parts["dobj"], parts["aux"]
    _check_after(verb, thing)
    phrase = doc[: aux.i]
    tops = [token for token in phrase if token.head not in phrase]
    if thing.right_edge.i != len(doc) - 2 or [token.head for token in tops] != [verb]:
        raise Refused("no plain clause")
    if tops[0].dep_ not in ("advmod", "prep", "npadvmod") or phrase[0].lower_ in ("how", "why"):
        raise Refused("no plain clause")
    be = _be("VBD", is_plural(thing))
    return f"{phrase.text} {be} {noun_phrase(doc, thing)} {participle} by {agent}?"


def _activate(doc: Any, parts: dict[str, Any], lemma: str) -> str:
    verb, subject, agent = parts["verb"], parts.get("nsubjpass"), parts["agent"]
    be = parts.get("auxpass")
    if subject is None or be is None or "aux" in parts or "dobj" in parts or be.lower_ not in words("be"):
        raise Refused("no plain clause")
    doers = [child for child in agent.children if child.dep_ == "pobj"]
    if len(doers) != 1 or agent.lower_ != "by" or agent.i != verb.i + 1 or len(list(agent.children)) != 1:
        raise Refused("no plain clause")
    (doer,) = doers
    who = noun_phrase(doc, doer)
    tail = tail_after(doc, verb, doer.right_edge.i + 1)
    tail = f" {tail}" if tail else ""
    adverbs = [child for child in verb.children if child.dep_ == "advmod" and child.tag_ != "WRB"]
    if any(token.i != verb.i - 1 or token.tag_ != "RB" for token in adverbs):
        raise Refused("no plain clause")
    adverb = f"{adverbs[0].text} " if adverbs else ""
    past = be.lower_ in ("was", "were")
    left, right = subject.left_edge.i, subject.right_edge.i
    helper = "did" if past else ("do" if is_plural(doer) else "does")
    if be.i == 0:
        if doc[-1].text != "?" or left != 1 or right != verb.i - 1 - len(adverbs):
            raise Refused("no plain clause")
        return f"{upper_first(helper)} {who} {adverb}{lemma} {noun_phrase(doc, subject)}{tail}?"
    if left != 0 or right != be.i - 1 or be.i != verb.i - 1 - len(adverbs):
        raise Refused("no plain clause")
    if doc[-1].text == "?":
        if doc[0].lower_ not in ("what", "which", "whose"):
            raise Refused("no plain clause")
        return f"{doc[: be.i].text} {helper} {who} {adverb}{lemma}{tail}?"
    form = inflect(lemma, "VBD" if past else ("VBP" if is_plural(doer) else "VBZ"))
    return f"{upper_first(who)} {adverb}{form} {noun_phrase(doc, subject)}{tail}{doc[-1].text}"


def _check_after(verb: Any, thing: Any) -> None:
    if thing.left_edge.i != verb.i + 1:
        raise Refused("no plain clause")


def _be(tag: str, plural: bool) -> str:
    if tag not in ("VBD", "VBZ", "VBP"):
        raise Refused("a doubtful parse")
    return {(True, True): "were", (True, False): "was", (False, True): "are", (False, False): "is"}[
        tag == "VBD", plural
    ]
