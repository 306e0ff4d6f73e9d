"""A subject that is an action, before its predicate or behind it."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.grammar.english import INFLECTOR
from sago_harness.variants.grammar.sentences import replaced, the_question, the_statement, upper_first
from sago_harness.variants.grammar.words import be_form, inflect, kind_of_aux
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table


class Extraposition(Guarded):
    """Turns "Is it legal to own a rifle?" into "Is owning a rifle legal?", and back.

    Examples
    --------
    >>> from sago_harness.variants.needs import missing
    >>> asked = Passage("Is it legal to own a rifle?")
    >>> absent = missing(Extraposition.requires)
    >>> "Is owning a rifle legal?" if absent else Extraposition().apply(asked, random.Random(1))
    'Is owning a rifle legal?'
    """

    name = "extraposition"
    family = "structure"
    languages = ("en",)
    requires: ClassVar[tuple[str, ...]] = INFLECTOR
    tables: ClassVar[tuple[str, ...]] = ("extraposition", "grammar")

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Exchange "it ... to do" and "doing ...", around a form of "be"."""
        del rng
        sentence = the_question(passage) if "?" in passage.text else the_statement(passage)
        doc = sentence.doc()
        if any(token.text in (",", "and", "or", "but", "not", "n't", "n’t") for token in doc):
            raise Refused("more than one clause")
        root = next(token for token in doc if token.dep_ == "ROOT")
        if root.lemma_ != "be":
            raise Refused("no action as a subject")
        return replaced(passage, sentence, _from_it(doc, root) or _to_it(doc, root))


def _from_it(doc: Any, root: Any) -> str:
    """Return the sentence with the action as its subject, "" if it has no "it ... to"."""
    its = [token for token in doc if token.lower_ == "it" and token.head == root and token.dep_ == "nsubj"]
    marks = [token for token in doc if token.tag_ == "TO" and token.dep_ == "aux"]
    if len(its) != 1 or len(marks) != 1:
        return ""
    at, mark = its[0].i, marks[0].i
    verb = doc[mark + 1]
    if (
        verb.tag_ != "VB"
        or verb.lower_ in ("be", "get")
        or verb.dep_ not in ("xcomp", "advcl", "acl", "relcl")
    ):
        raise Refused("a doubtful parse")
    action = f"{inflect(verb.lower_, 'VBG')} {doc[mark + 2 : -1].text}".strip()
    asks = doc[-1].text == "?"
    predicate = doc[(at + 1 if asks else root.i + 1) : mark]
    if len(action.split()) > 9:
        raise Refused("too heavy a subject")
    if asks:
        if root.i != at - 1:
            raise Refused("no action as a subject")
        if len(predicate) == 0 and doc[0].lower_ == "how":
            return f"{doc[:at].text} {action}?"
        _check_predicate(predicate)
        if root.i and doc[0].lower_ != "why":
            raise Refused("no action as a subject")
        return f"{doc[:at].text} {action} {predicate.text}?"
    if at != 0 or root.i != 1:
        raise Refused("no action as a subject")
    _check_predicate(predicate)
    return f"{upper_first(action)} {be_form(root)} {predicate.text}{doc[-1].text}"


def _to_it(doc: Any, root: Any) -> str:
    """Return the sentence with "it", the action behind its predicate."""
    subjects = [child for child in root.children if child.dep_ in ("csubj", "nsubj")]
    acts = [token for token in doc if token.dep_ == "csubj" and token.head == root]
    if len(acts) != 1 or len(subjects) != 1 or acts[0].tag_ not in ("VBG", "VB"):
        raise Refused("no action as a subject")
    (act,) = acts
    left, right = act.left_edge.i, act.right_edge.i
    asks = doc[-1].text == "?"
    start = 1 if asks else 0
    marked = doc[start].tag_ == "TO" and act.i == start + 1
    if left != start or not (act.i == start or marked):
        raise Refused("a doubtful parse")
    if any(child.dep_ in ("det", "amod", "poss", "nsubj") for child in act.children):
        raise Refused("a doubtful parse")
    infinitive = f"to {act.lemma_.lower()} {doc[act.i + 1 : right + 1].text}".rstrip()
    if asks:
        if root.i != 0 or not kind_of_aux(root):
            raise Refused("no action as a subject")
        predicate = doc[right + 1 : -1]
        _check_predicate(predicate)
        return f"{doc[0].text} it {predicate.text} {infinitive}?"
    if root.i != right + 1:
        raise Refused("a doubtful parse")
    predicate = doc[root.i + 1 : -1]
    _check_predicate(predicate)
    return f"It {root.text} {predicate.text} {infinitive}{doc[-1].text}"


def _check_predicate(predicate: Any) -> None:
    """Accept "(very) legal" and "a bad idea" of known words only."""
    table = read_table("extraposition")
    if not 0 < len(predicate) <= 3:
        raise Refused("no known predicate")
    last = predicate[-1].lower_
    noun = last in table["nouns"] and predicate[0].lower_ in ("a", "an")
    adjective = last in table["predicates"] and all(token.tag_ == "RB" for token in predicate[:-1])
    if not noun and not adjective:
        raise Refused("no known predicate")
