"""Why a rewritten text may not stand for its passage: the first reason, or none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from sago_harness.variants.base import Passage
from sago_harness.variants.constraints.answer_type import AnswerType
from sago_harness.variants.constraints.changed import Changed
from sago_harness.variants.constraints.length import Length
from sago_harness.variants.constraints.literals import Literals
from sago_harness.variants.constraints.semantic import Semantic
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.meaning import find_meaning
from sago_harness.variants.text.scripts import is_han
from sago_harness.variants.text.spans import find_spans

_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]*\s+|(?<=[。！？])[”’」』）]*")
_TOKEN = re.compile(r"[^\W\d_]+")
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_ASKS = "?？"
#: What a text adds to its meaning by having it.
_ADDED = ("name", "negation")


def find_fault(passage: Passage, text: str, kind: str) -> str:
    """Return in a word or two why ``text`` is no rewriting of the passage; "" if it is one.

    Parameters
    ----------
    passage : Passage
    text : str
        As cleaned.
    kind : str
        ``"length"``, ``"form"`` or ``"free"``: how many words must be shared.

    Examples
    --------
    >>> find_fault(Passage("Who wrote the novel?"), "Who was it that wrote the novel?", "free")
    ''
    >>> find_fault(Passage("Who wrote the novel?"), "Jane Austen wrote the novel.", "free")
    'adds a name'
    """
    if not text:
        return "empty"
    if any(
        unicodedata.category(char) in ("Cc", "Cs", "Co", "Cn") and char not in passage.text + "\n"
        for char in text
    ):
        return "control characters"
    if not Changed().check(passage, text).passed or _letters(text) == _letters(passage.text):
        return "changed"
    for constraint in (Literals(), Semantic()):
        if not constraint.check(passage, text).passed:
            return constraint.name
    if added := _added(passage, text):
        return added
    if _lines(text) > _lines(passage.text):
        return "more lines"
    if _sentences(text) > _sentences(passage.text):
        return "more sentences"
    if sum(map(text.count, _ASKS)) > max(1, sum(map(passage.text.count, _ASKS))):
        return "asks more"
    if _closes(passage, text):
        return "asks for yes or no"
    if kind != "length" and not Length().check(passage, text).passed:
        return "length"
    if _shared(passage.text, text, passage.language) < read_table("rewriter")["shared_words"][kind]:
        return "other words"
    return "" if AnswerType().check(passage, text).passed else "answer_type"


def find_form(text: str, language: str) -> str:
    """Return the form of the last sentence: imperative, interrogative, declarative, or "" if unclear.

    Examples
    --------
    >>> texts = ("A hen. Who is it?", "Name a hen.", "I'd like to know it.", "A hen.")
    >>> [find_form(text, "en") for text in texts]
    ['interrogative', 'imperative', 'declarative', '']
    """
    sentence = [part.strip() for part in _SENTENCE.split(text.strip()) if part.strip()][-1:]
    if not sentence:
        return ""
    return _form_of(sentence[0], language)


def _form_of(sentence: str, language: str) -> str:
    if sentence.rstrip("\"'”’」』）)")[-1:] in tuple(_ASKS):
        return "interrogative"
    folded = sentence.casefold().replace("’", "'").lstrip("\"'“‘「『*(（- ")
    for form, starts in read_table("rewriter")["openers"].items():
        for start in starts[language]:
            if folded.startswith(start) and (language == "zh" or not folded[len(start) :][:1].isalpha()):
                return str(form)
    return ""


def length_ratio(passage: Passage, text: str) -> float:
    """Return how many times as long a text is, white space not counted."""
    before, after = (sum(not char.isspace() for char in one) for one in (passage.text, text))
    return after / before if before else 0.0


def _added(passage: Passage, text: str) -> str:
    """Say what the text has that the passage has not: an answer often brings a number or a name."""
    source = passage.text.casefold()
    literals = find_spans(text, passage.language)
    for span in literals:
        if text[span.start : span.end].casefold() not in source:
            return f"adds a {span.kind}"
    for span in find_meaning(text, passage.language, literals):
        if span.kind in _ADDED and text[span.start : span.end].casefold() not in source:
            return f"adds a {span.kind}"
    return ""


def _closes(passage: Passage, text: str) -> bool:
    """Say whether "what is a good way" has become "is there a good way"."""
    language = passage.language
    if find_form(text, language) != "interrogative" or find_form(passage.text, language) != "interrogative":
        return False
    words = read_table("rewriter")["open_questions"][language]
    if language == "zh":
        asked, asks = (any(word in one for word in words) for one in (passage.text, text))
    else:
        found = (_TOKEN.findall(one.casefold()) for one in (passage.text, text))
        asked, asks = (any(word in words for word in one) for one in found)
    return asked and not asks


def _sentences(text: str) -> int:
    return sum(bool(part.strip()) for part in _SENTENCE.split(text))


def _lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


def _letters(text: str) -> str:
    """Fold what is no rewording: case, white space, punctuation."""
    return "".join(char for char in text.casefold() if char.isalnum())


def _shared(source: str, text: str, language: str) -> float:
    """Return the share of the source's word stems that the text has too."""
    wanted, found = (dict.fromkeys(_stems(one, language)) for one in (source, text))
    return sum(stem in found for stem in wanted) / len(wanted) if wanted else 1.0


def _stems(text: str, language: str) -> Iterator[str]:
    if language == "zh":
        yield from filter(is_han, text)
    asking = read_table("rewriter")["asking"]
    for word in _LONG_WORD.findall(text.casefold()):
        if word not in asking and not is_han(word[0]):
            yield word[:4]
