"""Line breaks between sentences, or after commas where there is one sentence."""

from __future__ import annotations

import random
import re

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.within import matches_within

_SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=\S)|(?<=[。！？])(?=[^\s。！？”」』）])")
_CLAUSE_END = re.compile(r"(?<=[,;:]) +(?=\S)|(?<=[，；：])(?=[^\s”」』）])")
# A stop after one of these ends no sentence.
_ABBREVIATION = re.compile(r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|No|Jr|Sr|Inc|Ltd|Co)\.)\Z")


class LineBreaks(Guarded):
    r"""Begins a new line with every sentence; a single sentence is broken after its commas.

    Examples
    --------
    >>> LineBreaks().apply(Passage("Emma is a novel. Who wrote it?"), random.Random(1))
    'Emma is a novel.\nWho wrote it?'
    """

    name = "linebreaks"
    family = "structure"
    languages = ("en", "zh")

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Break at every end of a sentence outside the kept spans, else at every clause."""
        del rng
        for pattern in (_SENTENCE_END, _CLAUSE_END):
            parts, at = [], 0
            for match in matches_within(pattern, passage.text, passage.free()):
                if not _ABBREVIATION.search(passage.text[max(0, match.start() - 8) : match.start()]):
                    parts += [passage.text[at : match.start()], "\n"]
                    at = match.end()
            if parts:
                return "".join([*parts, passage.text[at:]])
        raise Refused("no place for a line break")
