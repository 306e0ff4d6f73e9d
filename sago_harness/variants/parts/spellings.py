"""Pairs of British and American spellings that mean the same in every place.

An own list: that of ``breame`` 0.1.2 (last release 2021) is not fit for changing texts. It turns
"tonne" to "ton" and "aesthetic" to "esthetic", and it pairs words that mean two things on
one side (metre and meter, practise and practice, tyre and tire, programme and program). Such
words are left out here. Where both lists have a word, the tests hold them to one answer.
"""

from __future__ import annotations

import functools

from sago_harness.variants.phrases import read_table


@functools.cache
def british_to_american() -> dict[str, str]:
    """Return British -> American, shared between callers.

    Stems stand with all endings of their group; a form that no one uses does no harm.

    Examples
    --------
    >>> british_to_american()["neighbourhood"], british_to_american()["travelled"]
    ('neighborhood', 'traveled')
    """
    return {
        stem + british: stem + american
        for group in read_table("spellings")["en"]
        for stem in group["stems"]
        for british, american in group["endings"]
    }


@functools.cache
def american_to_british() -> dict[str, str]:
    """Return American -> British, shared between callers.

    Examples
    --------
    >>> american_to_british()["center"]
    'centre'
    """
    return {american: british for british, american in british_to_american().items()}
