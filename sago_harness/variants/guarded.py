"""The promises every built-in operator keeps, checked in one place."""

from __future__ import annotations

import abc
import random
import unicodedata

from sago_harness.variants.base import Operator, Passage, Refused
from sago_harness.variants.text.spans import keeps_order


class Guarded(Operator):
    """An operator whose output is checked before it is handed on.

    Subclasses implement :meth:`vary`. The output differs from the input, has every kept
    span in order, and is in normal form C if the input is.
    """

    def apply(self, passage: Passage, rng: random.Random) -> str:
        """Return the varied text; see :meth:`Operator.apply`."""
        if not passage.text.strip():
            raise Refused("empty text")
        if passage.language not in self.languages:
            raise Refused(f"not for language {passage.language}")
        text = self.vary(passage, rng)
        if text == passage.text:
            raise Refused("nothing to change")
        if not keeps_order(passage, text):
            raise Refused("would touch a literal")
        if unicodedata.is_normalized("NFC", passage.text) and not unicodedata.is_normalized("NFC", text):
            raise Refused("would leave normal form C")
        return text

    @abc.abstractmethod
    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Return the varied text of a passage that is not blank, unchecked."""
