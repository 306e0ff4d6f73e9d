"""Spoken fillers: "um", "well", "you know"."""

from __future__ import annotations

import functools
import random
import re
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table
from sago_harness.variants.wrap import put_before

_BORDER = {"en": re.compile(r"(?<=[a-z][,;] )(?=[a-z])"), "zh": re.compile(r"(?<=\w[，；。？！])(?=\w)")}
_FIRST_WORD = re.compile(r"[A-Z][a-z'’]*(?![\w'’\-])")
# A word and, behind the space, the next one.
_PAIR = re.compile(r"(?<![\w'’\-])([A-Za-z][a-z]*)(?= ([a-z]{3,})(?![\w'’\-]))")
# Two fillers nearer than this sound like a stammer.
_APART = 12


class Fillers(Guarded):
    """Adds as many spoken fillers as the strength says.

    They stand before the text, after a comma, or before the first content word of a phrase
    ("the, um, novel"), never beside a number, a name or another word on which meaning hangs.

    Examples
    --------
    >>> Fillers(1).apply(Passage("Who is the author of it?"), random.Random(2))
    'Who is the, um, author of it?'
    """

    name = "fillers"
    family = "register"
    languages = ("en", "zh")
    strengths = (1, 2, 3)
    feature = "filler_words"
    tables: ClassVar[tuple[str, ...]] = ("fillers",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose places first, then a filler for each, no two alike."""
        count = int(self.strength or 0)
        places = [(0, "start"), *_borders(passage)]
        if passage.language == "en":
            places += _insides(passage)
        rng.shuffle(places)
        chosen: list[tuple[int, str]] = []
        for place in places:
            if len(chosen) < count and all(abs(place[0] - other) >= _APART for other, _ in chosen):
                chosen.append(place)
        chosen += [(0, "start")] * (count - len(chosen))
        return _insert(passage, sorted(chosen), rng)


def _insert(passage: Passage, chosen: list[tuple[int, str]], rng: random.Random) -> str:
    text, table = passage.text, read_table("fillers")[passage.language]
    opening: list[str] = []
    parts: list[str] = []
    used: set[str] = set()
    at = 0
    for place, kind in chosen:
        fresh = [word for word in table[kind] if word.lower() not in used]
        offered = [word for word in fresh if kind != "inside" or _suits(word, text[:place])]
        if not offered:
            raise Refused("no filler left")
        word = rng.choice(offered)
        used.add(word.lower())
        if kind == "start":
            opening.append(word)
        elif passage.language == "zh":
            parts += [text[at:place], f"{word}，"]
            at = place
        else:
            parts += [text[at:place], f", {word}," if kind == "inside" else f"{word}, "]
            at = place
    varied = "".join([*parts, text[at:]])
    return _open(passage, varied, opening) if opening else varied


def _open(passage: Passage, varied: str, opening: list[str]) -> str:
    """Put fillers before the text; its first word loses the capital if it is a plain one."""
    if passage.language == "zh":
        return put_before(Passage(varied, "zh"), "".join(f"{word}，" for word in opening))
    # All but the first stand inside the sentence now.
    said = ", ".join([opening[0], *(word.lower() for word in opening[1:])])
    first = _FIRST_WORD.match(varied)
    plain = first is not None and first[0].lower().replace("’", "'") in _lists()["lower"]
    ranges = passage.free(forms=("negation",))
    if plain and first and ranges and ranges[0][0] == 0 and ranges[0][1] >= first.end():
        return put_before(Passage(varied[0].lower() + varied[1:]), f"{said},")
    return put_before(Passage(varied), f"{said}...")


def _borders(passage: Passage) -> list[tuple[int, str]]:
    pattern = _BORDER[passage.language]
    return [
        (match.start(), "border")
        for start, end in passage.free()
        for match in pattern.finditer(passage.text, start, end)
        if start < match.start() < end
    ]


def _insides(passage: Passage) -> list[tuple[int, str]]:
    before = _lists()["before"]
    function = _lists()["function"]
    return [
        (match.end(), "inside")
        for start, end in passage.free()
        for match in _PAIR.finditer(passage.text, start, end)
        if match.end(2) <= end and match[1].lower() in before and match[2] not in function
    ]


def _suits(word: str, before: str) -> bool:
    """Say whether a filler stands well after the word before: "like" says "about" after a preposition."""
    listed = {"like": "like", "you know": "you_know"}.get(word)
    return listed is None or re.split(r"[^A-Za-z]", before)[-1].lower() in _lists()[listed]


@functools.cache
def _lists() -> dict[str, frozenset[str]]:
    table = read_table("fillers")["en"]
    return {name: frozenset(table[name]) for name in ("before", "function", "lower", "like", "you_know")}
