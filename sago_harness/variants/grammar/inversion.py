"""Indirect questions made direct: "where he went" is "Where did he go?"."""

from __future__ import annotations

from typing import Any

from sago_harness.variants.base import Refused
from sago_harness.variants.grammar.english import parse
from sago_harness.variants.grammar.questions import read_question
from sago_harness.variants.grammar.sentences import upper_first
from sago_harness.variants.grammar.words import kind_of_aux

_DO = {"VBD": "did", "VBZ": "does", "VBP": "do"}
_SUBJECTS = ("nsubj", "nsubjpass", "expl")


def make_direct(indirect: str) -> str:
    """Return the direct question of an indirect one.

    Reading the result must give the indirect question back, so a wrong parse is refused.

    Parameters
    ----------
    indirect : str
        Such as "where he went" or "whether ice is cold".

    Raises
    ------
    Refused
        The parse leaves a doubt.
    """
    doc = parse(f"Tell me {indirect}.")
    verbs = [
        token for token in doc if token.head == doc[0] and token.dep_ in ("ccomp", "advcl") and token.i > 2
    ]
    if doc[0].dep_ != "ROOT" or len(verbs) != 1:
        raise Refused("a doubtful parse")
    (verb,) = verbs
    direct = upper_first(_invert(doc, verb)) + "?"
    if read_question(parse(direct)).indirect != indirect:
        raise Refused("a doubtful parse")
    return direct


def _invert(doc: Any, verb: Any) -> str:
    subjects = [child for child in verb.children if child.dep_ in _SUBJECTS]
    if len(subjects) != 1:
        raise Refused("a doubtful parse")
    (subject,) = subjects
    left, right = subject.left_edge.i, subject.right_edge.i
    if left == 2 and doc[2].lower_ != "whether":
        return str(doc[2:-1].text)
    asking = "" if doc[2].lower_ == "whether" else doc[2:left].text + " "
    said = doc[left : right + 1].text
    head = doc[right + 1]
    if kind_of_aux(head) and (head == verb or head.head == verb) and (head != verb or verb.lemma_ == "be"):
        return f"{asking}{head.text} {said} {doc[right + 2 : -1].text}".rstrip()
    if any(child.dep_ in ("aux", "auxpass", "neg") for child in verb.children) or verb.tag_ not in _DO:
        raise Refused("a doubtful parse")
    before, after = doc[right + 1 : verb.i].text, doc[verb.i + 1 : -1].text
    words = (_DO[verb.tag_], said, before, verb.lemma_, after)
    return asking + " ".join(word for word in words if word)
