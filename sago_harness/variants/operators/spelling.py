"""British spellings for American ones, and the other way."""

from __future__ import annotations

import functools
import random
from typing import ClassVar

from sago_harness.variants.base import Passage
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.spellings import american_to_british, british_to_american
from sago_harness.variants.parts.swapwords import Rule, find_places, replace_throughout


class Spelling(Guarded):
    """Writes every word that is spelled differently in Britain and America the other way.

    Each word by what stands there, in all its places or none; capitals inside a sentence mark
    names, which stay.

    Examples
    --------
    >>> Spelling().apply(Passage("What color did they recognise?"), random.Random(1))
    'What colour did they recognize?'
    """

    name = "spelling"
    family = "noise"
    languages = ("en",)
    feature = "british_spellings"
    tables: ClassVar[tuple[str, ...]] = ("spellings",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Respell all such words outside the kept spans."""
        return replace_throughout(passage, find_places(passage, _rules()), None, rng)


@functools.cache
def _rules() -> dict[str, Rule]:
    both = {**american_to_british(), **british_to_american()}
    return {word: Rule((other,)) for word, other in both.items()}
