"""A sentence split around "it is ... that"."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.grammar.english import INFLECTOR
from sago_harness.variants.grammar.questions import Question, read_question
from sago_harness.variants.grammar.sentences import replaced, the_question, the_statement, upper_first
from sago_harness.variants.grammar.words import kind_of_aux, words
from sago_harness.variants.guarded import Guarded


class Cleft(Guarded):
    """Makes "Who wrote Emma?" "Who was it that wrote Emma?"; a statement puts its subject first.

    Not with "how" ("How is it that ..." is amazed), and only with "which" and "what" before a
    noun in the singular.

    Examples
    --------
    >>> from sago_harness.variants.needs import missing
    >>> asked = Passage("Who wrote Emma?")
    >>> absent = missing(Cleft.requires)
    >>> "Who was it that wrote Emma?" if absent else Cleft().apply(asked, random.Random(1))
    'Who was it that wrote Emma?'
    """

    name = "cleft"
    family = "structure"
    languages = ("en",)
    requires: ClassVar[tuple[str, ...]] = INFLECTOR
    tables: ClassVar[tuple[str, ...]] = ("grammar",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Ask with "is it that", in the tense of the question."""
        del rng
        if "?" not in passage.text:
            sentence = the_statement(passage)
            return replaced(passage, sentence, _statement(sentence.doc()))
        sentence = the_question(passage)
        doc = sentence.doc()
        question = read_question(doc)
        _check(question)
        form = "was" if _is_past(question.main) else "is"
        asked = f"{upper_first(question.wh)} {form} it that {question.clause}?"
        return replaced(passage, sentence, asked)


def _check(question: Question) -> None:
    if not question.wh or question.named:
        raise Refused("no question word to split from")
    main, asking = question.main, question.wh.split()
    single = len(asking) == 1 and asking[0] in ("who", "what", "where", "when", "why")
    a_noun = len(asking) > 1 and asking[0] in ("which", "what")
    if single:
        if main.lemma_ == "be" and question.phrase.dep_ == "attr":
            raise Refused("asks what something is")
        if main.lemma_ == "be" and asking[0] in ("what", "who", "where", "when"):
            raise Refused("asks what something is")
        if asking[0] == "what" and (question.of_subject and main.lemma_ in ("happen", "be")):
            raise Refused("no natural split")
        if asking[0] == "what" and main.lemma_ in ("mean", "do"):
            raise Refused("no natural split")
    elif a_noun:
        if question.phrase.tag_ not in ("NN", "NNP") or main.lemma_ == "be":
            raise Refused("no natural split")
        if question.phrase.lemma_.lower() in words("two_sided") or not {
            "of",
            "and",
            "more",
            "less",
        }.isdisjoint(asking):
            raise Refused("no natural split")
    else:
        raise Refused("no natural split")
    if any(token.lower_ == "there" for token in main.doc) or " it " in f" {question.clause} ":
        raise Refused("no natural split")


def _is_past(main: Any) -> bool:
    chain = [*(child for child in main.children if child.dep_ in ("aux", "auxpass")), main]
    first = min(chain, key=lambda token: token.i)
    return first.tag_ == "VBD" and kind_of_aux(first) != "modal"


def _statement(doc: Any) -> str:
    root = next(token for token in doc if token.dep_ == "ROOT")
    subjects = [child for child in root.children if child.dep_ in ("nsubj", "nsubjpass")]
    if len(subjects) != 1 or root.tag_ != "VBD" or any(token.text == "," for token in doc):
        raise Refused("no plain statement")
    (subject,) = subjects
    left, right = subject.left_edge.i, subject.right_edge.i
    plain = left == 0 and right - left < 4 and all(token.tag_ == "NNP" for token in doc[: right + 1])
    if not plain or doc[right + 1].i != root.i or root.lemma_ == "be":
        raise Refused("no plain statement")
    if any(child.dep_ in ("conj", "cc", "ccomp", "neg", "dep") for child in root.children):
        raise Refused("more than one clause")
    return f"It was {doc[: right + 1].text} that {doc[right + 1 : -1].text}{doc[-1].text}"
