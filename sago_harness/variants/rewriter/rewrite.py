"""Asks for a rewritten passage until an answer passes its checks, or the tries are used up."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.rewriter.checks import find_fault
from sago_harness.variants.rewriter.clean import clean
from sago_harness.variants.rewriter.prompts import make_messages
from sago_harness.variants.rewriter.session import active


def rewrite(
    passage: Passage,
    rng: random.Random,
    kind: str,
    task: str,
    own_fault: Callable[[str], str],
    factor: float = 1.0,
) -> str:
    """Return the first acceptable answer.

    Parameters
    ----------
    passage : Passage
    rng : random.Random
        Asked once; the tries' seeds follow from it.
    kind : str
        ``"length"``, ``"form"`` or ``"free"``.
    task : str
        Template, as :func:`~sago_harness.variants.rewriter.prompts.make_messages` reads it.
    own_fault : callable
        Says why a text is not what the operator wants, "" if it is.
    factor : float
        How many times as long.

    Raises
    ------
    Refused
        If there is no rewriter, or no answer passed; the last reason is told.
    """
    session = active()
    try:
        passage.text.encode("utf-8")
    except UnicodeEncodeError:
        raise Refused("not valid Unicode") from None
    base = rng.getrandbits(64)
    messages = make_messages(task, passage, factor)
    composed = unicodedata.is_normalized("NFC", passage.text)
    tries = session.settings.retries + 1
    reason = ""
    for attempt in range(tries):
        written, key = session.answer(messages, base, attempt)
        if written.text is None:
            reason = written.reason
        else:
            text = clean(written.text, passage.text, passage.language)
            text = unicodedata.normalize("NFC", text) if composed else text
            text = _with_ends(text, passage.text)
            reason = find_fault(passage, text.strip(), kind) or own_fault(text.strip())
            if not reason:
                session.counts["accepted"] += 1
                return text
        session.reject(key, reason)
    raise Refused(f"rewriter: {reason} after {tries} {'try' if tries == 1 else 'tries'}")


def _with_ends(text: str, source: str) -> str:
    """Put the source's outer white space back: it is part of the prompt's form, not of what is said."""
    bare = source.strip()
    at = source.find(bare)
    return source[:at] + text + source[at + len(bare) :]
