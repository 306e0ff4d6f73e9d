"""Clauses and phrases that can stand at either end of their sentence."""

from __future__ import annotations

from typing import Any

from sago_harness.variants.base import Refused
from sago_harness.variants.grammar.sentences import lower_first, upper_first
from sago_harness.variants.grammar.words import words
from sago_harness.variants.phrases import read_table

TABLES: tuple[str, ...] = ("fronting", "grammar")


def moved(doc: Any) -> str:
    """Return a sentence with the part at its front at the end, or the last part at the front.

    Raises
    ------
    Refused
        Nothing can be moved, or a pronoun of the third person might change its noun.
    """
    if any(token.lower_ in words("third") and token.tag_ not in ("WDT", "IN", "EX", "CD") for token in doc):
        raise Refused("a pronoun would lose its noun")
    root = next(token for token in doc if token.dep_ == "ROOT")
    commas = [token.i for token in doc if token.text == ","]
    return _to_end(doc, root, commas) if commas else _to_front(doc, root)


def _to_end(doc: Any, root: Any, commas: list[int]) -> str:
    comma = commas[0]
    tops = [token for token in doc[:comma] if token.head.i >= comma or token.head == token]
    if len(commas) != 1 or len(tops) != 1 or not _movable(tops[0], root, doc):
        raise Refused("nothing to move")
    rest = doc[comma + 1 : -1]
    # In "are they allowed to if ..." it would be read with the last verb.
    if any(token.dep_ in ("advcl", "relcl", "ccomp", "acl", "conj", "mark", "pcomp") for token in rest):
        raise Refused("more than one clause")
    if rest[-1].tag_ in ("IN", "TO", "RP") or len(rest) < 2 or rest[0].lower_ in ("then", "so"):
        raise Refused("nothing to move")
    # "How many" alone leans on a noun that would come after it.
    if [token.lower_ for token in rest[:2]] == ["how", "many"] and rest[2].pos_ in ("AUX", "VERB"):
        raise Refused("a number would lose its noun")
    return f"{upper_first(rest.text)} {_lowered(doc, 0, comma)}{doc[-1].text}"


def _to_front(doc: Any, root: Any) -> str:
    parts = [
        child
        for child in root.children
        if child.right_edge.i == len(doc) - 2 and child.left_edge.i > 1 and _movable(child, root, doc)
    ]
    if len(parts) != 1:
        raise Refused("nothing to move")
    left = parts[0].left_edge.i
    if doc[left - 1].lower_ in ("only", "just", "even", "not", "and", "or", "but", "except", "especially"):
        raise Refused("nothing to move")
    # "Who built the pyramids in Egypt?": a phrase beside an object may belong to it.
    beside = parts[0].dep_ == "prep" and doc[left - 1].tag_ in ("NN", "NNS", "NNP", "NNPS")
    asks_be = root.lemma_ == "be"
    if (beside and not asks_be and doc[left - 1].dep_ not in ("nsubj", "nsubjpass")) or doc[
        left - 1
    ].tag_ in ("IN", "TO", "CC", "DT"):
        raise Refused("a doubtful parse")
    front = upper_first(doc[left:-1].text)
    return f"{front}, {_lowered(doc, 0, left)}{doc[-1].text}"


def _movable(top: Any, root: Any, doc: Any) -> bool:
    """Say whether a part of the sentence is a clause or a phrase that can stand at either end."""
    table = read_table("fronting")
    if top.head != root or top == root:
        return False
    span = doc[top.left_edge.i : top.right_edge.i + 1]
    if len(list(top.subtree)) != len(span) or any(token.lower_ in words("wh") for token in span[1:]):
        return False
    first = span[0].lower_
    if top.dep_ == "advcl":
        if first not in table["clauses"] or root.lemma_ in table["no_clause_verbs"] or len(span) < 3:
            return False
        return any(child.dep_ in ("nsubj", "nsubjpass", "expl") for child in top.children)
    if top.dep_ != "prep" or first not in table["phrases"] or top.i != span.start:
        return False
    objects = [child for child in top.children if child.dep_ == "pobj"]
    if len(objects) != 1 or any(token.dep_ in ("relcl", "acl", "conj", "advcl") for token in span):
        return False
    noun = objects[0]
    if noun.tag_ not in ("NN", "NNS", "NNP", "NNPS", "CD") or noun.lower_ in ("way", "order"):
        return False
    deps = {child.dep_ for child in root.children if child.head == root}
    if root.lemma_ == "be" and not ({"attr", "acomp"} & deps and "nsubj" in deps):
        return False
    if first == "in":
        if root.lemma_.lower() in table["no_in_verbs"]:
            return False
        return noun.tag_ in ("NNP", "NNPS") or noun.lower_ in table["places"] or noun.text.isdigit()
    return True


def _lowered(doc: Any, start: int, end: int) -> str:
    head = doc[start]
    if head.lower_ in words("closed") or head.tag_ in ("IN", "DT", "WDT", "WP", "WRB", "MD"):
        return lower_first(doc[start:end].text)
    if head.tag_ in ("NNP", "NNPS") or head.text == "I":
        return str(doc[start:end].text)
    raise Refused("a doubtful capital")
