"""The parsed text that all operators on English grammar share.

The pipeline is the packaged model "en-core-web-sm", loaded once a process by its path; the
part that finds names is left out, since no operator reads it.
"""

from __future__ import annotations

import functools
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.models import fetch
from sago_harness.variants.base import Refused

MODEL = "en-core-web-sm"

#: Operators that parse sentence after sentence refuse longer texts.
MOST_CHARACTERS = 5000

#: What an operator that parses declares in ``requires``.
PARSER: tuple[str, ...] = ("spacy", f"model:{MODEL}")

#: And one that makes other forms of a word.
INFLECTOR: tuple[str, ...] = (*PARSER, "lemminflect")

# One document is parsed once while all operators of a recipe look at it.
_CACHED = 64


@functools.cache
def _pipeline() -> Any:
    import spacy

    folder = fetch.resolve(MODEL)
    if folder is None:
        raise SagoError(f"model {MODEL} is not here: run `sago models get {MODEL}`")
    return spacy.load(folder, exclude=["ner", "senter"])


@functools.lru_cache(maxsize=_CACHED)
def parse(text: str) -> Any:
    """Return the parse of a text, a ``spacy.tokens.Doc``; shared, so never changed by a caller.

    Parameters
    ----------
    text : str
        Any text; lone surrogates are read as question marks, of the same length.

    Returns
    -------
    spacy.tokens.Doc
        Tags, lemmas and dependencies (ClearNLP labels, as of the model's own card).

    Raises
    ------
    SagoError
        The model has not been fetched.
    """
    return _pipeline()(text.encode("utf-8", "replace").decode("utf-8"))


def must_be_short(text: str) -> None:
    """Refuse a text whose sentences would take seconds to parse.

    Raises
    ------
    Refused
        It has more than 5,000 characters.

    Examples
    --------
    >>> must_be_short("Who wrote it? " * 300)
    >>> must_be_short("Who wrote it? " * 400)
    Traceback (most recent call last):
    ...
    sago_harness.variants.base.Refused: too long
    """
    if len(text) > MOST_CHARACTERS:
        raise Refused("too long")
