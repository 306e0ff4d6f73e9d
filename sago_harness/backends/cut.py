"""Where a response ends: the visible text, and which of its tokens are kept.

Reasoning is removed first, then the text is cut at the first stop string, as the host
does. Token k is kept if the text of ids[:k], an incomplete character held back, is
shorter than the cut; a token that straddles the cut is kept and flagged. Where the text of the first
tokens ends is counted in characters, since only here texts and token ids are known together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sago_harness.axes.condense import FIRST_TOKENS

Decode = Callable[[Sequence[int]], str]


@dataclass(frozen=True, slots=True)
class Cut:
    """Outcome of :func:`cut_response`.

    Attributes
    ----------
    text : str
        The visible text.
    kept : int
        How many ids are kept.
    straddles : bool
        The last kept one crosses the cut.
    head : int
        Characters of the text that its first 16 tokens give; all of them where it has no more.
    """

    text: str
    kept: int
    straddles: bool
    head: int


def cut_response(
    ids: Sequence[int], decode: Decode, stops: Sequence[str], think_end: str | int | None = None
) -> Cut:
    r"""Cut a generated sequence as the host cuts its text.

    Parameters
    ----------
    ids : sequence of int
        Generated ids, end-of-sequence and padding already removed.
    decode : callable
        ids -> text, special tokens skipped.
    stops : sequence of str
        Stop strings; empty ones are ignored.
    think_end : str, int or None
        Mark at which reasoning ends: the visible response is what follows its last occurrence.

    Returns
    -------
    Cut

    Examples
    --------
    >>> letters = lambda ids: "".join(map(chr, ids))
    >>> cut_response([72, 105, 10, 10, 81], letters, ["\n\n"])
    Cut(text='Hi', kept=2, straddles=False, head=2)
    """
    ids = list(ids)
    skipped = 0
    if isinstance(think_end, int) and think_end in ids:
        skipped = len(ids) - ids[::-1].index(think_end)
    whole = decode(ids[skipped:])
    start = 0
    if isinstance(think_end, int) or think_end:
        # The host strips the start whether or not the mark was found.
        last = whole.split(think_end)[-1] if isinstance(think_end, str) else whole
        start = len(whole) - len(last.lstrip())
    visible = whole[start:]
    for stop in stops:
        if stop:
            visible = visible.split(stop)[0]
    end = start + len(visible)
    rest = ids[skipped:]
    straddles = False
    if end == len(whole):
        # Nothing was cut off: every token that adds text is kept, found from the end.
        kept = len(rest)
        while kept > 0 and len(_steady(decode(rest[: kept - 1]))) >= end:
            kept -= 1
    else:
        kept = _kept_tokens(rest, decode, end)
        straddles = kept > 0 and len(_steady(decode(rest[:kept]))) > end
    return Cut(visible, skipped + kept, straddles, _head(rest[:kept], decode, start, len(visible)))


def _head(ids: Sequence[int], decode: Decode, start: int, length: int) -> int:
    """Count the characters of the visible text, ``length`` of them, that its first tokens give."""
    first = 0
    if start:
        first = _kept_tokens(ids, decode, start)
        # A token that crosses the end of the reasoning is the first of the visible text.
        first -= first > 0 and len(_steady(decode(ids[:first]))) > start
    if len(ids) - first <= FIRST_TOKENS:
        return length
    return min(length, max(0, len(_steady(decode(ids[: first + FIRST_TOKENS]))) - start))


def _kept_tokens(ids: Sequence[int], decode: Decode, end: int) -> int:
    """Count the tokens k with len(text(ids[:k])) < end, by bisection: text only grows."""
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) // 2
        if len(_steady(decode(ids[:middle]))) < end:
            low = middle + 1
        else:
            high = middle
    return low


def _steady(text: str) -> str:
    """Hold back the mark of a character whose bytes are not all there yet."""
    return text.rstrip("�")
