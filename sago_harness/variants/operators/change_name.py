"""A name replaced by another one of its kind."""

from __future__ import annotations

import functools
import random
import re

from sago_harness.variants.base import Passage
from sago_harness.variants.parts.contrary import Change, Contrary
from sago_harness.variants.phrases import read_table

_UNKNOWN = "surname"
# A capitalised word after a small one, with no other capital beside it: taken for a surname.
_CAPITAL = re.compile(
    r"(?<!\S)[a-z]+,? ([A-Z][a-z]{3,})(?<!s)(?<!an)(?<!ans)(?<!ish)(?<!ese)(?<!ic)(?<!ment)"
    r"(?=(?:['’]s)?(?:[ ,;?!]|\.?\Z))(?! [A-Z&])"
)
_ARTICLE = re.compile(r"(?:the|an?|this|that|these|those|of)\s", re.I)


class ChangeName(Contrary):
    """Replaces one name, wherever it stands, by another from a short list of its kind.

    Persons, cities, countries, peoples, rivers, months, weekdays and planets are known by
    list. A capitalised word inside a sentence that stands alone and without an article is
    given a surname.

    Examples
    --------
    >>> from sago_harness.variants.base import Passage
    >>> text = ChangeName().apply(Passage("When was Germany founded?"), random.Random(0))
    >>> text.startswith("When was "), "Germany" in text
    (True, False)
    """

    name = "change_name"

    def changes(self, passage: Passage, rng: random.Random) -> list[Change]:
        """Offer another name of the same kind for each one."""
        text, section = passage.text, "zh_name" if passage.language == "zh" else "name"
        kinds = _kinds(section)
        found = [
            (*match.span(), _other(section, kinds[match.group()], match.group(), rng))
            for match in _known(section).finditer(text)
        ]
        if passage.language == "en":
            outside = set(read_table("controls")["name"]["not_names"]) | set(kinds)
            found += [
                (*match.span(1), _other(section, _UNKNOWN, match.group(1), rng))
                for match in _CAPITAL.finditer(text)
                if match.group(1) not in outside and not _ARTICLE.match(match.group())
            ]
        return sorted(found)

    def write(self, text: str, found: list[Change], rng: random.Random) -> str:
        """Replace every place where the chosen name stands."""
        start, end, new = rng.choice(found)
        old = text[start:end]
        for first, last, _ in reversed(found):
            if text[first:last] == old:
                text = text[:first] + new + text[last:]
        return text


@functools.cache
def _kinds(section: str) -> dict[str, str]:
    table = read_table("controls")[section]
    return {name: kind for kind, names in table.items() if kind != "not_names" for name in names}


@functools.cache
def _known(section: str) -> re.Pattern[str]:
    body = "|".join(sorted(_kinds(section), key=lambda name: (-len(name), name)))
    if section == "zh_name":
        return re.compile(body)
    # "New England", "Paris Hilton" and "South Africa" are other names than their last word.
    return re.compile(rf"(?<![\w\-])(?<![A-Z][a-z] )(?<![a-z]{{2}}[A-Z] )(?:{body})(?![\w\-]| [A-Z])", re.A)


def _other(section: str, kind: str, old: str, rng: random.Random) -> str:
    names: list[str] = read_table("controls")[section][kind]
    return rng.choice([name for name in names if name != old])
