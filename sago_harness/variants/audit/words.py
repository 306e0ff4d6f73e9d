"""Reads a text into words that two spellings of one thing share.

``10,000`` and ``ten thousand``, ``%`` and ``percent``, ``didn't`` and ``did not``, ``km`` and
``kilometers`` come out equal.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass, field, replace
from typing import Any

from sago_harness.variants.phrases import read_table

_TOKEN = re.compile(
    r"\d+(?:[.,]\d+)*(?:st|nd|rd|th|'?s)?(?![^\W_])|km/h|\d+(?:\.\d+)?(?=[A-Za-z]{1,2}(?![^\W_]))"
    r"|[^\W_]+(?:'[^\W_]+)*|[$€£%‰&]",
    re.I,
)
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*(?:st|nd|rd|th|s)?")
_SENTENCE_END = re.compile(r"[.?!:]\s*\Z|\n\s*\Z")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text.

    Attributes
    ----------
    text : str
        Case-folded and in its common spelling.
    opens : bool
        It begins a sentence or a line.
    form : str
        As it stands in the text, case-folded; misspellings are measured on it.
    kind : str
        ``"number"``, ``"negation"``, ``"quantifier"``, ``"comparison"``, ``"unit"``, ``"wh"``,
        ``"name"``, ``"content"`` or ``"stop"``.
    """

    text: str
    kind: str
    form: str = ""
    opens: bool = field(default=False, compare=False)


def read_words(text: str) -> list[Word]:
    """Return the words of an English text.

    Examples
    --------
    >>> [word.text for word in read_words("It didn't cost $10,000.")]
    ['it', 'did', 'not', 'cost', 'dollar', '10000']
    >>> [word.text for word in read_words("Ten thousand km, 5%")]
    ['10000', 'kilometer', '5', 'percent']
    >>> [word.kind for word in read_words("Did Anna eat two hens?")]
    ['stop', 'name', 'content', 'number', 'content']
    """
    plain = unicodedata.normalize("NFKC", text).translate(_MARKS)
    raw: list[tuple[str, bool]] = []
    opening: set[int] = set()
    contractions: dict[str, str] = _tables()["contractions"]
    for match in _TOKEN.finditer(plain):
        piece = match.group()
        low = _fold(piece)
        opens = not raw or bool(_SENTENCE_END.search(plain[max(0, match.start() - 4) : match.start()]))
        if opens:
            opening.add(len(raw))
        capital = piece[:1].isupper() and not (opens and low in _known())
        if low in contractions:
            raw += [(part, False) for part in contractions[low].split()]
        elif low.endswith("n't"):
            raw += [(low[:-3], False), ("not", False)]
        else:
            raw.append(((low if low[0].isdigit() else low.removesuffix("'s")).replace("'", ""), capital))
    return _numbers([(word or piece, capital) for word, capital in raw], opening)


_MARKS = str.maketrans({"’": "'", "‘": "'", "`": "'"})


@functools.cache
def _tables() -> dict[str, Any]:
    return read_table("equivalence_words")


@functools.cache
def _units() -> dict[str, str]:
    return {form: unit for unit, forms in _tables()["unit"].items() for form in (unit, *forms)}


@functools.cache
def _kinds() -> dict[str, str]:
    kinds = dict.fromkeys(_tables()["stop"], "stop")
    for kind in ("quantifier", "comparison", "negation", "wh"):
        kinds.update(dict.fromkeys(_tables()[kind], kind))
    return kinds


@functools.cache
def _known() -> frozenset[str]:
    """Return the words whose capital at the start of a sentence says nothing."""
    return frozenset((*_kinds(), *_tables()["number"], *_units()))


def _fold(piece: str) -> str:
    low = piece.casefold()
    decomposed = unicodedata.normalize("NFD", low)
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _numbers(raw: list[tuple[str, bool]], opening: set[int]) -> list[Word]:
    """Join number words to one number and give every word its kind."""
    table = _tables()
    units, small, scale, ordinal = _units(), table["number"], table["scale"], table["ordinal"]
    words: list[Word] = []
    at = last = 0
    while at < len(raw):
        if words and last in opening:
            words[-1] = replace(words[-1], opens=True)
        last = at
        low, capital = raw[at]
        if low == "one" and not (at + 1 < len(raw) and raw[at + 1][0] in scale):
            # Mostly a pronoun or an article.
            words.append(Word("1", "stop", low))
            at += 1
            continue
        if _DIGITS.fullmatch(low) or low in small or (low in scale and words and words[-1].kind == "number"):
            value, at = _value(raw, at)
            words.append(Word(value, "number", low))
            continue
        at += 1
        if low in ordinal and not (low == "second" and at < len(raw) and raw[at][0] in ("half",)):
            words.append(Word(ordinal[low], "number", low))
        elif low in units and not (capital and low not in ("celsius", "fahrenheit")):
            words.append(Word(units[low], "unit", low))
        elif low in _kinds():
            words.append(Word(low, _kinds()[low], low))
        else:
            words.append(Word(low, "name" if capital else "content", low))
    if words and last in opening:
        words[-1] = replace(words[-1], opens=True)
    return words


def _value(raw: list[tuple[str, bool]], at: int) -> tuple[str, int]:
    """Return the number that begins at a word, and where the words go on."""
    table = _tables()
    small, scale = table["number"], table["scale"]
    low = raw[at][0]
    if _DIGITS.fullmatch(low):
        plain = re.sub(r",(?=\d{3}(?!\d))", "", low)
        at += 1
        if at < len(raw) and raw[at][0] in scale and re.fullmatch(r"\d+(?:\.\d+)?", plain):
            value = float(plain) * scale[raw[at][0]]
            return f"{value:.10g}", at + 1
        return re.sub(r"\.0+$", "", plain), at
    total, part = 0, 0
    last = 10**9
    start = at
    while at < len(raw):
        low = raw[at][0]
        if low in scale and at > start:
            if scale[low] == 100:
                part *= 100
            else:
                total, part = total + part * scale[low], 0
            last = scale[low]
        elif low in small and (small[low] < last and not (last < 20) and not (last < 100 and small[low] > 9)):
            part += small[low]
            last = small[low] or 1
        else:
            break
        at += 1
    return str(total + part), max(at, start + 1)
