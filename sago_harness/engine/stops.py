"""Where a row ends: end of sequence, a stop string, the token limit; the host's rule, row by row."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any


class Stops:
    """Tells after each token whether a response is over.

    Parameters
    ----------
    tokenizer : PreTrainedTokenizer
    ends : collection of int
        Ids that end a sequence.
    strings : sequence of str
        Stop strings. As the host does, each is looked for in the text of the last tokens, two
        more than it takes to write it.
    """

    def __init__(self, tokenizer: Any, ends: Collection[int], strings: Sequence[str]) -> None:
        self._tokenizer = tokenizer
        self._ends = frozenset(ends)
        self._strings = [
            (string, len(tokenizer.encode(string, add_special_tokens=False)) + 2) for string in strings
        ]

    def over(self, ids: Sequence[int]) -> bool:
        """Return whether the last of these generated tokens ends the response."""
        if ids[-1] in self._ends:
            return True
        texts: dict[int, str] = {}
        for string, back in self._strings:
            if back not in texts:
                texts[back] = self._tokenizer.decode(ids[-back:])
            if string in texts[back]:
                return True
        return False
