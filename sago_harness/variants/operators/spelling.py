"""British spellings for American ones, and the other way."""

from __future__ import annotations

import functools
import random
import re
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.grammar.sentences import sentences
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.spellings import american_to_british, british_to_american
from sago_harness.variants.parts.swapwords import Rule, find_places, replace_throughout
from sago_harness.variants.parts.within import overlaps

# "What does the word color mean?" mentions the word, and "How do you spell color?" asks for its letters.
_OF_WORDS = re.compile(
    r"\b(?:words?|spell(?:s|ed|ings?)?|spelt|letters?|characters?|terms?|mean(?:s|t|ings?)?|synonyms?"
    r"|antonyms?|syllables?|vowels?|consonants?|rhym(?:es?|ing)|nouns?|verbs?|adjectives?|anagrams?|palindromes?"
    r"|prefix(?:es)?|suffix(?:es)?|pronounc(?:es?|ed|ing)|pronunciations?|etymolog(?:y|ies))\b",
    re.I,
)


class Spelling(Guarded):
    """Writes every word that is spelled differently in Britain and America the other way.

    Each word by what stands there, in all its places or none; capitals inside a sentence mark
    names, which stay. A text with such a word in a sentence on words or letters is refused: there
    the spelling may be what is asked for.

    Examples
    --------
    >>> Spelling().apply(Passage("What color did they recognise?"), random.Random(1))
    'What colour did they recognize?'
    """

    name = "spelling"
    family = "noise"
    languages = ("en",)
    feature = "british_spellings"
    version = 2
    tables: ClassVar[tuple[str, ...]] = ("spellings",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Respell all such words outside the kept spans."""
        spoken_of = [
            (sentence.start, sentence.end)
            for sentence in sentences(passage.text)
            if _OF_WORDS.search(sentence.text)
        ]
        places = find_places(passage, _rules())
        if any(overlaps(spoken_of, place.start, place.end) for place in places):
            raise Refused("a word that may be spoken of")
        return replace_throughout(passage, places, None, rng)


@functools.cache
def _rules() -> dict[str, Rule]:
    both = {**american_to_british(), **british_to_american()}
    return {word: Rule((other,)) for word, other in both.items()}
