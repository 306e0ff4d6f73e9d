"""Drafts: tokens that a response may go on with, taken from what its document's rows have written.

Answers to one question, however it is put, share phrases. Where the last tokens of a row
stand in another response, what follows there is proposed; the model checks it in the same
pass that would have made one token, so a wrong draft costs a little time and never a token.
"""

from __future__ import annotations

from collections.abc import Sequence

#: Tokens that are compared, at most, to tell which place goes best with a row's last tokens.
_CONTEXT = 6

#: Places looked at for one proposal.
_PLACES = 12

#: Longest draft.
MOST = 8


class Phrases:
    """What the rows of one document have written so far, and where each token pair stands."""

    def __init__(self) -> None:
        self._texts: list[list[int]] = []
        self._pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._single: dict[int, list[tuple[int, int]]] = {}

    def open(self, tokens: Sequence[int] = ()) -> int:
        """Begin a text and return its number."""
        self._texts.append([])
        number = len(self._texts) - 1
        self.add(number, tokens)
        return number

    def add(self, number: int, tokens: Sequence[int]) -> None:
        """Go on with a text."""
        text = self._texts[number]
        for token in tokens:
            text.append(token)
            place = (number, len(text))
            self._single.setdefault(token, []).append(place)
            if len(text) > 1:
                self._pairs.setdefault((text[-2], token), []).append(place)

    def after(self, number: int) -> tuple[list[int], int]:
        """Return what followed where the last tokens of a text stood before, and how well that fits.

        Parameters
        ----------
        number : int

        Returns
        -------
        tokens : list of int
            At most ``MOST``.
        fit : int
            How many tokens before them agree, at most 6; 0 without a place.

        Examples
        --------
        >>> said = Phrases()
        >>> _ = said.open([1, 2, 3, 4, 5])
        >>> row = said.open([9, 2, 3])
        >>> said.after(row)
        ([4, 5], 2)
        """
        text = self._texts[number]
        if not text:
            return [], 0
        places = self._pairs.get((text[-2], text[-1]), []) if len(text) > 1 else []
        places = [p for p in places if p != (number, len(text))] or self._single[text[-1]]
        best: tuple[int, int, tuple[int, int]] | None = None
        for other, end in places[-_PLACES:]:
            source = self._texts[other]
            if end >= len(source):
                continue  # nothing follows yet
            fit = 1
            while (
                fit < _CONTEXT and fit < len(text) and fit < end and source[end - 1 - fit] == text[-1 - fit]
            ):
                fit += 1
            # Of equal fits the one at the same distance from the beginning.
            key = (fit, -abs(end - len(text)), (-other, end))
            if best is None or key > best:
                best = key
        if best is None:
            return [], 0
        fit, _, (negative, end) = best
        return self._texts[-negative][end : end + MOST], fit


class Odds:
    """How often drafts were right, by how well they fitted: what a further token is worth.

    Parameters
    ----------
    pass_tokens : float
        A pass without any token takes as long as this many tokens.
    """

    def __init__(self, pass_tokens: float) -> None:
        self._pass_tokens = pass_tokens
        # Begun as if four tokens had been seen: half of them right, more where more agrees.
        self._seen = {fit: [1.0 + 0.4 * fit, 4.0] for fit in range(1, _CONTEXT + 1)}

    def length(self, fit: int, available: int, rows: int) -> int:
        """Return how many draft tokens are worth their time.

        A token that is accepted saves one row a share of a pass; it pays if its chance is
        above 1 / (1 + pass / rows).

        Examples
        --------
        >>> odds = Odds(60)
        >>> odds.length(6, 8, 4) > odds.length(1, 8, 64)
        True
        """
        if fit == 0:
            return 0
        right, seen = self._seen[fit]
        chance, reached = right / seen, 1.0
        least = 1.0 / (1.0 + self._pass_tokens / max(1, rows))
        length = 0
        while length < available:
            reached *= chance
            if reached < least:
                break
            length += 1
        return length

    def learn(self, fit: int, proposed: int, accepted: int) -> None:
        """Count a draft's outcome."""
        if fit and proposed:
            self._seen[fit][0] += accepted
            self._seen[fit][1] += min(proposed, accepted + 1)
