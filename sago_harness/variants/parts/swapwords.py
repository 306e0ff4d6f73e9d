"""Words replaced by others where the words beside them allow it.

A table gives for each word the ones that may stand in its place, as a list, or as an object
with ``new`` and any of ``previous``, ``next`` (one of these must stand directly beside it) and
``not_previous``, ``not_next`` (none of these may).
"""

from __future__ import annotations

import functools
import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.graphemes import is_boundary

_WORD = re.compile(r"(?<![\w'’\-])[A-Za-z]+(?:['’][A-Za-z]+)?(?![\w'’\-])")
_ANY_WORD = re.compile(r"[A-Za-z]+")
_HEAD = re.compile(r"(?:\A|[.!?:\n])[\s\"'“‘(]*\Z")
_AN = frozenset("aeiou")


@dataclass(frozen=True, slots=True)
class Rule:
    """What may stand in a word's place, and beside which words."""

    new: tuple[str, ...]
    previous: frozenset[str] = frozenset()
    next: frozenset[str] = frozenset()
    not_previous: frozenset[str] = frozenset()
    not_next: frozenset[str] = frozenset()

    def fits(self, before: str, after: str) -> bool:
        """Say whether the words beside allow it; "" stands for the text's end or a mark."""
        return (
            (not self.previous or before in self.previous)
            and (not self.next or after in self.next)
            and before not in self.not_previous
            and after not in self.not_next
        )


@dataclass(frozen=True, slots=True)
class Place:
    """A word that may be replaced: ``text[start:end]`` and what may stand there."""

    start: int
    end: int
    new: tuple[str, ...]


@functools.cache
def read_rules(table: str) -> dict[str, Rule]:
    """Return the rules of ``tables/<table>.json`` for English, shared between callers."""
    rules = {}
    for word, entry in read_table(table)["en"].items():
        if isinstance(entry, list):
            rules[word] = Rule(tuple(entry))
        else:
            sets = {key: frozenset(value) for key, value in entry.items() if key != "new"}
            rules[word] = Rule(tuple(entry["new"]), **sets)
    return rules


def find_places(passage: Passage, rules: Mapping[str, Rule]) -> list[Place]:
    """Return the words outside the kept spans that the rules replace, in order.

    A capital is carried over at the head of a sentence; elsewhere it marks a name, which stays.

    Examples
    --------
    >>> find_places(Passage("Tell me whether it rains."), {"whether": Rule(("weather",))})
    [Place(start=8, end=15, new=('weather',))]
    """
    text = passage.text
    words = list(_WORD.finditer(text))
    ranges = passage.free()
    places, at = [], 0
    for index, match in enumerate(words):
        start, end = match.span()
        word = match.group()
        rule = rules.get(word.lower().replace("’", "'"))
        if rule is None:
            continue
        while at < len(ranges) and ranges[at][1] < end:
            at += 1
        if at == len(ranges) or ranges[at][0] > start or not is_boundary(text, end):
            continue
        capital = word[0].isupper()
        if capital and (word.isupper() or not _HEAD.search(text, max(0, start - 8), start)):
            continue
        before = _beside(text, words, index - 1, start) if index else ""
        after = _beside(text, words, index + 1, end) if index + 1 < len(words) else ""
        new = rule.new
        if before in ("a", "an"):
            new = tuple(other for other in new if (other[0] in _AN) == (word[0].lower() in _AN))
        if new and rule.fits(before, after):
            places.append(Place(start, end, tuple(other.capitalize() if capital else other for other in new)))
    return places


def replace_words(passage: Passage, places: list[Place], count: int, rng: random.Random) -> str:
    """Replace ``count`` of the places, chosen by chance.

    Raises
    ------
    Refused
        If there are fewer.

    Examples
    --------
    >>> replace_words(Passage("a car"), [Place(2, 5, ("van",))], 1, random.Random(0))
    'a van'
    """
    if len(places) < count:
        raise Refused(f"fewer than {count} words that have another form")
    return _put(passage.text, [(place, rng.choice(place.new)) for place in rng.sample(places, count)])


def replace_throughout(passage: Passage, places: list[Place], count: int | None, rng: random.Random) -> str:
    """Replace ``count`` different words (None: all), each wherever it stands.

    A word that stands somewhere that may not be touched, or whose other form the text has
    already, is left: two names for one thing read as two things.

    Raises
    ------
    Refused
        If there are fewer such words.

    Examples
    --------
    >>> text = "a car, the car"
    >>> places = [Place(2, 5, ("van",)), Place(11, 14, ("van",))]
    >>> replace_throughout(Passage(text), places, 1, random.Random(0))
    'a van, the van'
    """
    text = passage.text
    groups: dict[str, list[Place]] = {}
    for place in places:
        groups.setdefault(text[place.start : place.end].lower(), []).append(place)
    present = Counter(match.group().lower() for match in _ANY_WORD.finditer(text)) if groups else Counter()
    whole = [
        group
        for word, group in groups.items()
        if present[word] == len(group) and not any(new.lower() in present for new in group[0].new)
    ]
    if len(whole) < (count or 1):
        raise Refused(f"fewer than {count or 1} words that have another form")
    chosen = whole if count is None else rng.sample(whole, count)
    changed = []
    for group in chosen:
        index = rng.randrange(len(group[0].new))
        changed += [(place, place.new[min(index, len(place.new) - 1)]) for place in group]
    return _put(text, changed)


def _put(text: str, changed: list[tuple[Place, str]]) -> str:
    curly = "’" in text
    parts, at = [], 0
    for place, new in sorted(changed, key=lambda item: item[0].start):
        parts += [text[at : place.start], new.replace("'", "’") if curly else new]
        at = place.end
    return "".join([*parts, text[at:]])


def _beside(text: str, words: list[re.Match[str]], index: int, edge: int) -> str:
    """Return the neighbouring word in lower case, "" if more than a space stands between."""
    match = words[index]
    low, high = (match.end(), edge) if match.end() <= edge else (edge, match.start())
    return match.group().lower().replace("’", "'") if text[low:high] == " " else ""
