"""Words replaced by others that mean the same."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.swapwords import find_places, read_rules, replace_throughout


class Synonyms(Guarded):
    """Replaces one or two words by near-exact synonyms of a small table ("film", "movie").

    A word is replaced wherever it stands, and not at all where the text has its synonym too.
    The table asks for the words beside where a word has other senses; a sentence-similarity
    constraint has the last word, so a recipe that uses it names that constraint.

    Examples
    --------
    >>> Synonyms(1).apply(Passage("Which films were shot in Rome?"), random.Random(1))
    'Which movies were shot in Rome?'
    """

    name = "synonyms"
    family = "noise"
    languages = ("en",)
    strengths = (1, 2)
    tables: ClassVar[tuple[str, ...]] = ("synonyms",)
    #: Constraints that a recipe must have for this operator.
    needs_constraints: ClassVar[tuple[str, ...]] = ("similarity",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose the words by chance."""
        places = find_places(passage, read_rules("synonyms"))
        return replace_throughout(passage, places, int(self.strength or 0), rng)
