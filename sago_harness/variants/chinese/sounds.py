"""Which frequent characters sound alike, tone included; readings are those of ``pypinyin``."""

from __future__ import annotations

import functools

from sago_harness.variants.phrases import read_table


@functools.lru_cache(maxsize=16384)
def reading(word: str) -> tuple[str, ...]:
    """Return the syllables of a word with tone numbers, 5 for the neutral tone.

    Examples
    --------
    >>> reading("银行"), reading("行走")
    (('yin2', 'hang2'), ('xing2', 'zou3'))
    """
    from pypinyin import Style, lazy_pinyin

    syllables = lazy_pinyin(word, style=Style.TONE3, neutral_tone_with_five=True)
    return tuple(str(syllable) for syllable in syllables)


@functools.cache
def alike() -> dict[str, str]:
    """Return the frequent characters of each syllable, the most frequent first.

    Examples
    --------
    >>> "力" in alike()["li4"] and "立" in alike()["li4"]
    True
    """
    groups: dict[str, str] = {}
    for char in read_table("zh_characters")["characters"]:
        (syllable,) = reading(char)
        groups[syllable] = groups.get(syllable, "") + char
    return groups
