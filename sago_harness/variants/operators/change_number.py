"""A number replaced by another plausible one."""

from __future__ import annotations

import functools
import random
import re

from sago_harness.variants.base import Passage
from sago_harness.variants.parts.contrary import Change, Contrary, match_case
from sago_harness.variants.phrases import read_table

# A number that stands by itself: no part of a time, a date, a ratio, a range or a name.
_DIGITS = re.compile(r"(?<![\w:/\-^_.,'’])(\d{1,3}(?:,\d{3})+|\d+)((?:\.\d+)?)(?![\w:/^_'’\-]|[.,]\d)", re.A)
_CHINESE = re.compile(
    r"(?<![第零一二三四五六七八九十百千万两几])[两三四五六七八九](?=[个名位只条张本块头年天人岁])"
)


class ChangeNumber(Contrary):
    """Replaces one number, in digits or in words, by one of the same length and kind.

    Years move by at most twenty; nothing becomes 0 or 1, whose nouns stand in the singular.

    Examples
    --------
    >>> from sago_harness.variants.base import Passage
    >>> ChangeNumber().apply(Passage("Who won in 1966?"), random.Random(0)) in [
    ...     f"Who won in {year}?" for year in range(1946, 1987) if year != 1966
    ... ]
    True
    """

    name = "change_number"

    def changes(self, passage: Passage, rng: random.Random) -> list[Change]:
        """Offer another number for each one."""
        text, found = passage.text, []
        for match in _DIGITS.finditer(text):
            if new := _another(match.group(1), rng):
                found.append((match.start(1), match.end(1), new))
        if passage.language == "zh":
            words = read_table("controls")["number"]["zh"]
            found += [(*m.span(), _pick(words, m.group(), rng)) for m in _CHINESE.finditer(text)]
        for match in _words().finditer(text):
            table = read_table("controls")["number"]
            group = table["en"] if match.group().lower() in table["en"] else table["tens"]
            new = match_case(match.group(), _pick(group, match.group().lower(), rng))
            found.append((*match.span(), new))
        return sorted(found)


@functools.cache
def _words() -> re.Pattern[str]:
    table = read_table("controls")["number"]
    body = "|".join((*table["en"], *table["tens"]))
    return re.compile(rf"(?<![\w'’\-])(?:{body})(?![\w'’\-])", re.I | re.A)


def _pick(words: list[str], old: str, rng: random.Random) -> str:
    return rng.choice([word for word in words if word != old])


def _another(digits: str, rng: random.Random) -> str:
    """Return another number with as many digits, or "" for what cannot be one."""
    plain = digits.replace(",", "")
    if plain.startswith("0") or plain == "1" or len(plain) > 15:
        return ""
    value = int(plain)
    low, high = max(2, 10 ** (len(plain) - 1)), 10 ** len(plain) - 1
    reach = 20 if len(digits) == 4 and 1000 <= value <= 2100 else max(3, value // 2)
    # A round number stays as round, so that the text stays one a person would write.
    step = 10 ** (len(plain) - len(plain.rstrip("0")))
    first, last = max(low, value - reach), min(high, value + reach)
    offered = [at for at in range(-20, 21) if at and first <= value + at * step <= last]
    if not offered:
        return ""
    new = str(value + rng.choice(offered) * step)
    return f"{int(new):,}" if "," in digits else new
