"""Where a response ends: the visible text, and which of its tokens are kept.

Reasoning is removed first, then the text is cut at the first stop string, as the host
does. Token k is kept if the text of ids[:k], an incomplete character held back, is
shorter than the cut; a token that straddles the cut is kept and flagged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Decode = Callable[[Sequence[int]], str]


@dataclass(frozen=True, slots=True)
class Cut:
    """Outcome of :func:`cut_response`: the visible text, how many ids are kept, a straddle or not."""

    text: str
    kept: int
    straddles: bool


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
    Cut(text='Hi', kept=2, straddles=False)
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
    if end == len(whole):
        # Nothing was cut off: every token that adds text is kept, found from the end.
        kept = len(ids) - skipped
        while kept > 0 and len(_steady(decode(ids[skipped : skipped + kept - 1]))) >= end:
            kept -= 1
        return Cut(visible, skipped + kept, False)
    kept = _kept_tokens(ids[skipped:], decode, end)
    straddles = kept > 0 and len(_steady(decode(ids[skipped : skipped + kept]))) > end
    return Cut(visible, skipped + kept, straddles)


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
