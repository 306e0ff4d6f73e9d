"""Direct questions read as indirect ones: "Where did he go?" is "where he went".

Labels are checked for every step, and a question whose parse leaves a doubt is refused: the
order of the words is where a wrong parse would show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sago_harness.variants.base import Refused
from sago_harness.variants.grammar.sentences import lower_first
from sago_harness.variants.grammar.words import be_form, inflect, kind_of_aux, words

_SUBJECTS = ("nsubj", "nsubjpass", "expl")
_BETWEEN = ("aux", "auxpass", "advmod", "neg")
_PREDICATES = (
    "acomp",
    "attr",
    "prep",
    "advmod",
    "npadvmod",
    "xcomp",
    "ccomp",
    "oprd",
    "neg",
    "agent",
    "advcl",
)
#: A longer subject would be too heavy before its verb.
_HEAVY = 9


@dataclass(frozen=True, slots=True)
class Question:
    """A direct question, taken apart.

    Attributes
    ----------
    wh : str
        The question phrase in lower case, "" for a yes/no question.
    clause : str
        The rest in the order of a statement, without a closing mark.
    main : object
        The main verb, a token of the parse.
    of_subject : bool
        Does the question phrase ask for the subject?
    phrase : object or None
        Head token of the question phrase.
    named : str
        Where "name ..." says the same better ("What is a country where ..."), what is named.
    """

    wh: str
    clause: str
    main: Any
    of_subject: bool = False
    phrase: Any = None
    named: str = ""

    @property
    def indirect(self) -> str:
        """The indirect question, without a closing mark."""
        return f"{self.wh or 'whether'} {self.clause}"


def read_question(doc: Any) -> Question:
    """Take a direct question apart.

    Parameters
    ----------
    doc : spacy.tokens.Doc
        One question with its mark.

    Raises
    ------
    Refused
        It is not a plain question, or its parse leaves a doubt.
    """
    if doc[-1].text != "?" or any(token.text in "?!" for token in doc[:-1]):
        raise Refused("not one question")
    root = next(token for token in doc if token.dep_ == "ROOT")
    if any(child.dep_ in ("conj", "cc", "parataxis", "dep", "intj") for child in root.children):
        raise Refused("more than one clause")
    first = doc[0]
    if kind_of_aux(first):
        if any(token.text == "," for token in doc):
            raise Refused("not a plain question")
        return Question("", _uninvert(doc, 0, asks_predicate=False), root)
    asking = next((token for token in doc[:2] if token.lower_ in words("wh")), None)
    if asking is None or (asking.i == 1 and first.tag_ not in ("IN", "TO")):
        raise Refused("not a plain question")
    return _read_wh(doc, root)


def _read_wh(doc: Any, root: Any) -> Question:
    helpers = [child for child in root.children if child.dep_ in ("aux", "auxpass") and child.i < root.i]
    verb = min([root, *helpers], key=lambda token: token.i)
    phrase = [
        token for token in doc[: verb.i] if not (token.dep_ == "advmod" and token.head == root and token.i)
    ]
    tops = [token for token in phrase if token.head not in phrase]
    if not phrase or len(tops) != 1 or "," in [token.text for token in phrase]:
        raise Refused("not a plain question")
    if [token.lower_ for token in doc[:2]] in (["what", "if"], ["how", "come"], ["what", "about"]):
        raise Refused("not a plain question")
    (top,) = tops
    if top.left_edge.i != 0 or any(token.i >= verb.i for token in top.subtree):
        raise Refused("not a plain question")
    if any(kind_of_aux(token) in ("do", "modal") for token in phrase):
        raise Refused("a doubtful parse")
    end = phrase[-1].i + 1
    if [token.i for token in phrase] != list(range(end)):
        raise Refused("not a plain question")
    wh = lower_first(doc[:end].text)
    subject = top.dep_ in _SUBJECTS and top.head == root
    others = [child for child in root.children if child.dep_ in _SUBJECTS and child != top]
    if subject:
        if others or kind_of_aux(verb) == "do":
            raise Refused("a doubtful parse")
        if root.lemma_ == "be" and not helpers and top.lemma_.lower() in words("two_sided"):
            raise Refused("a doubtful parse")
        if root.lemma_ == "be" and doc[root.i + 1].lower_ == "there":
            return Question(wh, _glue("there", be_form(root), doc[root.i + 2 : -1].text), root, False, top)
        following = next((child for child in root.children if child.dep_ == "attr"), None)
        if root.lemma_ == "be" and following is not None and not helpers:
            return _of_be(doc, root, wh, top, following)
        if root.tag_ not in ("VBD", "VBZ", "VBP", "VB", "VBN", "VBG"):
            raise Refused("a doubtful parse")
        if doc[verb.i + 1].lower_ in ("you", "i", "he", "she", "we", "they"):
            raise Refused("a doubtful parse")
        tail = doc[end:-1].text
        if verb.lower_.startswith(("'", "’")):
            if root.lemma_ != "be" and verb.lower_ not in words("be"):
                raise Refused("a short form")
            tail = f"{be_form(verb)} {doc[verb.i + 1 : -1].text}"
        return Question(wh, tail, root, True, top)
    if end != verb.i:
        raise Refused("not a plain question")
    if root.lemma_ == "be" and top.dep_ == "attr" and verb == root and len(others) == 1:
        return _of_be(doc, root, wh, top, others[0])
    if root.tag_ == "VBN" and (top.dep_ == "attr" or not _takes_what(doc, root, top, wh)):
        raise Refused("a doubtful parse")
    asks_predicate = top.dep_ in ("attr", "acomp") or (
        top.dep_ == "advmod" and top.lower_ in ("where", "when", "how")
    )
    return Question(wh, _uninvert(doc, verb.i, asks_predicate), root, False, top)


def _takes_what(doc: Any, root: Any, top: Any, wh: str) -> bool:
    """Say whether a passive has a place for "what": "What was it called?", "What was it used for?"."""
    if wh not in ("what", "who") or top.dep_ == "advmod" or kind_of_aux(doc[1]) != "be":
        return True
    stranded = doc[-2].tag_ in ("IN", "RP", "TO")
    return stranded or root.lemma_ in words("naming") or any(c.dep_ == "xcomp" for c in root.children)


def _of_be(doc: Any, root: Any, wh: str, top: Any, other: Any) -> Question:
    """Read "What is X", where the model's choice of the subject is no help."""
    if other.left_edge.i != root.i + 1 or doc[root.i + 1].dep_ == "neg":
        raise Refused("a doubtful parse")
    head = doc[root.i + 1]
    rest = doc[root.i + 1 : -1].text
    alone = len(wh.split()) == 1
    if alone and wh in ("what", "who"):
        loose = head.lower_ in ("a", "an", "some", "one", "something")
        if loose and (len(list(other.subtree)) > 3 or head.lower_ in ("some", "something")):
            if wh != "what" or any(token.text == "," for token in doc):
                raise Refused("a doubtful parse")
            return Question(wh, "", root, False, top, rest)
        if not loose and head.tag_ not in ("DT", "PRP", "PRP$", "NNP", "NNPS", "EX", "NN", "NNS", "JJ"):
            raise Refused("a doubtful parse")
        if loose and wh == "who":
            return Question(wh, f"{be_form(root)} {rest}", root, True, top)
        if wh == "who" and head.tag_ in ("NN", "NNS", "JJ"):
            return Question(wh, f"{be_form(root)} {rest}", root, True, top)
        if len(doc) - root.i - 2 > _HEAVY and head.lower_ == "the" and wh == "what":
            if any(token.text == "," for token in doc):
                raise Refused("a doubtful parse")
            return Question(wh, "", root, False, top, rest)
        return Question(wh, _uninvert(doc, root.i, True, other), root, False, top)
    if top.dep_ in _SUBJECTS:
        named = head.tag_ in ("DT", "PRP", "PRP$", "NNP") and head.lower_ not in ("a", "an")
        if top.lemma_.lower() in words("two_sided") or (wh.startswith("how") and named):
            raise Refused("a doubtful parse")
        return Question(wh, f"{be_form(root)} {rest}", root, True, top)
    return Question(wh, _uninvert(doc, root.i, True, other), root, False, top)


def _uninvert(doc: Any, at: int, asks_predicate: bool, subject: Any = None) -> str:
    """Return the clause whose auxiliary or form of "be" stands at ``at``, before its subject."""
    aux = doc[at]
    kind = kind_of_aux(aux)
    main = aux if aux.dep_ == "ROOT" else aux.head
    if not kind or main.dep_ != "ROOT" or (main == aux and kind != "be"):
        raise Refused("a doubtful parse")
    if kind != "be" and aux.lower_.startswith(("'", "’")):
        raise Refused("a short form")
    after = at + 1
    short_not = doc[after].lower_ in ("n't", "n’t")
    if short_not:
        after += 1
        if aux.lower_ in ("ca", "wo", "sha", "am", "ai"):
            raise Refused("a short form")
    if subject is None:
        found = [child for child in main.children if child.dep_ in _SUBJECTS and child.i >= after]
        if len(found) != 1:
            raise Refused("a doubtful parse")
        (subject,) = found
    left, right = subject.left_edge.i, subject.right_edge.i
    if left != after or any(
        doc[i] != subject and not subject.is_ancestor(doc[i]) for i in range(left, right + 1)
    ):
        raise Refused("a doubtful parse")
    if any(token.text == "," for token in doc[left : right + 1]):
        raise Refused("a doubtful parse")
    if any(token.lower_ == "than" for token in doc[left : right + 1]):
        raise Refused("a doubtful parse")
    if right + 1 - left > _HEAVY:
        raise Refused("too heavy a subject")
    said = doc[left : right + 1].text
    if main == aux:
        _check_predicate(doc, main, subject, right, asks_predicate)
        tail = doc[right + 1 : -1].text
        return _glue(said, be_form(aux) + (doc[at + 1].lower_ if short_not else ""), tail)
    between = doc[right + 1 : main.i]
    if any(token.head != main or token.dep_ not in _BETWEEN for token in between):
        raise Refused("a doubtful parse")
    if any(child.dep_ in ("dobj", "attr", "acomp") and at < child.i < main.i for child in main.children):
        raise Refused("a doubtful parse")
    _check_verb(kind, main, [token for token in between if token.dep_ in ("aux", "auxpass")])
    refusing = short_not or any(token.lower_ == "not" for token in between)
    if kind == "do" and not refusing:
        tag = {"did": "VBD", "does": "VBZ", "do": "VBP"}[aux.lower_]
        form = inflect(main.lower_, tag)
        return _glue(said, between.text, form, doc[main.i + 1 : -1].text)
    helper = be_form(aux) if kind == "be" else aux.lower_
    helper += doc[at + 1].lower_ if short_not else ""
    return _glue(said, helper, doc[right + 1 : -1].text)


def _glue(*parts: str) -> str:
    return " ".join(part for part in parts if part).replace(" ,", ",")


def _check_predicate(doc: Any, main: Any, subject: Any, right: int, asks_predicate: bool) -> None:
    following = doc[right + 1]
    if subject.dep_ == "expl":
        return
    if following.i == len(doc) - 1:
        if not asks_predicate:
            raise Refused("a doubtful parse")
    else:
        ahead = [child for child in main.children if child.left_edge.i == following.i]
        if not ahead or ahead[0].dep_ not in _PREDICATES:
            raise Refused("a doubtful parse")
    # An adjective or a participle on the noun's right is mostly the predicate, wrongly attached.
    wrong = ("amod", "advmod", "acl", "npadvmod", "acomp", "appos")
    tail = doc[right + 1 : -1]
    # "What was it written on?" and "What are winters like?" lose their last words to the subject.
    stranded = doc[right].tag_ in ("IN", "RP", "TO") or any(
        child.lower_ == "like" and child.i > subject.i for child in subject.children
    )
    if stranded or (asks_predicate and [token.dep_ for token in tail] == ["advmod"]):
        raise Refused("a doubtful parse")
    asks_what = main.i and doc[0].lower_ in ("what", "who")
    if doc[right].tag_ in ("VBN", "VBD", "VBG") and right > subject.i:
        raise Refused("a doubtful parse")
    if asks_what and main.i == 1 and len(tail) and (tail[0].tag_ == "TO" or tail[0].pos_ in ("NOUN", "DET")):
        raise Refused("a doubtful parse")
    # "What is Anna studying?" read as "what studying Anna is": a bare noun with a participle.
    bare = doc[subject.left_edge.i].tag_ not in ("DT", "PRP$", "CD") and subject.left_edge.dep_ != "poss"
    if asks_what and bare and any(child.i > subject.i and child.dep_ == "acl" for child in subject.children):
        raise Refused("a doubtful parse")
    if not asks_what and doc[right].tag_ in ("VBN", "VBD", "VBG", "JJ", "JJR", "RB"):
        raise Refused("a doubtful parse")
    if not asks_what and any(child.i > subject.i and child.dep_ in wrong for child in subject.children):
        raise Refused("a doubtful parse")


def _check_verb(kind: str, main: Any, helpers: list[Any]) -> None:
    """Check that the verb has a form that can follow its auxiliaries."""
    allowed = {
        "do": ("VB", "VBP"),
        "modal": ("VB", "VBP"),
        "have": ("VBN", "VBD"),
        "be": ("VBG", "VBN", "VBD"),
    }[kind]
    if helpers:
        allowed = ("VB", "VBN", "VBD", "VBG")
    if main.tag_ not in allowed:
        raise Refused("a doubtful parse")
    if not helpers and kind in ("do", "modal") and main.lemma_.lower() != main.lower_:
        raise Refused("a doubtful parse")
