"""How far the text of a response moved: ``x_bleu``, ``x_bert`` and ``x_sem``."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sago_harness.axes.encoders.base import Encoder, Missing, Similarity
from sago_harness.axes.script import is_empty, is_valid_unicode, script_of
from sago_harness.errors import SagoError

#: Longest n-gram of BLEU.
_ORDERS = 4

#: Reasons why a pair has no value.
INVALID_UNICODE = "invalid_unicode"

#: Flags beside a value.
EMPTY = "empty"
TRUNCATED = "encoder_truncated"


@dataclass(frozen=True, slots=True)
class GenerationDistance:
    """Text distances of one response from the canonical one.

    Attributes
    ----------
    bleu : float or None
        ``x_bleu`` in [0, 1]; 0 = same text.
    bleu_reason : str
        Why ``bleu`` is None; ``""`` otherwise.
    similarity : float or None
        Raw BERTScore F1 (token encoder) or cosine (sentence encoder), not rescaled; None
        also where exactly one text is empty, for there is nothing to embed.
    semantic : float or None
        ``x_bert`` or ``x_sem`` in [0, 1], by the encoder's kind; 0 = same text.
    semantic_reason : str
        Why ``semantic`` is None; ``""`` otherwise.
    flags : tuple of str
        ``"empty"`` (a text is empty), ``"encoder_truncated"`` (a text was longer than the
        encoder takes).
    """

    bleu: float | None
    bleu_reason: str
    similarity: float | None
    semantic: float | None
    semantic_reason: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Grams:
    """A text's n-grams of orders 1 to 4 with their counts, and its length in tokens."""

    counts: tuple[Counter[tuple[str, ...]], ...]
    length: int


@functools.cache
def _tokenizer(name: str) -> Callable[[str], str]:
    """Return one of sacrebleu's tokenizers."""
    from sacrebleu.metrics.bleu import BLEU

    found: Callable[[str], str] = BLEU(tokenize=name).tokenizer
    return found


# A canonical response is in every pair of its document. Few are kept: a long text has many n-grams.
@functools.lru_cache(maxsize=2**6)
def _grams(text: str, tokenizer: str) -> _Grams:
    tokens = _tokenizer(tokenizer)(text.rstrip()).split()
    orders = range(1, min(_ORDERS, len(tokens)) + 1)
    counts = (Counter(zip(*(tokens[at:] for at in range(order)), strict=False)) for order in orders)
    return _Grams(tuple(counts), len(tokens))


# Both directions and the published scheme's delta need the same number.
@functools.lru_cache(maxsize=2**14)
def _matches(a: str, b: str, tokenizer: str) -> tuple[tuple[int, ...], int, int]:
    """Return the clipped n-gram matches by order, which are the same both ways, and both lengths."""
    one, other = _grams(a, tokenizer), _grams(b, tokenizer)
    matches = [0] * _ORDERS
    for order, (mine, yours) in enumerate(zip(one.counts, other.counts, strict=False)):
        shared = mine.keys() & yours.keys()
        if not shared:
            # A longer n-gram that is shared would share this one, too.
            break
        once = len(mine) == one.length - order or len(yours) == other.length - order
        matches[order] = len(shared) if once else sum(min(mine[gram], yours[gram]) for gram in shared)
    return tuple(matches), one.length, other.length


def _bleu(matches: Sequence[int], length: int, reference: int, *, effective_order: bool) -> float:
    """Return BLEU as sacrebleu does with exponential smoothing, in points.

    Step by step its ``BLEU.compute_bleu``: brevity penalty, precisions by order, geometric mean.
    """
    if not any(matches):
        return 0.0
    brevity = math.exp(1 - reference / length) if length < reference else 1.0
    logs, smooth = [], 1.0
    for order in range(min(_ORDERS, length)):
        total = length - order
        if matches[order]:
            logs.append(math.log(100.0 * matches[order] / total))
        else:
            smooth *= 2
            logs.append(math.log(100.0 / (smooth * total)))
    if not effective_order and len(logs) < _ORDERS:
        # An order without n-grams has precision 0, and so has the mean.
        return 0.0
    return brevity * math.exp(sum(logs) / len(logs))


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))


@functools.lru_cache(maxsize=2**14)
def bleu_distance(a: str, b: str) -> float:
    r"""Return 1 - B / 100, B = mean of sacrebleu's sentence BLEU in both directions.

    Exponential smoothing, effective order on, tokenizer by script (:func:`script_of`).
    Sentence BLEU as in Papineni et al. 2002 with "method 3" of Chen and Cherry 2014, as
    sacrebleu computes it. Symmetric in its arguments.

    Parameters
    ----------
    a, b : str
        Two texts.

    Returns
    -------
    float
        In [0, 1]. Exactly 0.0 for identical texts and for two empty ones, 1.0 if exactly
        one is empty.

    Examples
    --------
    >>> bleu_distance("Blue lamp", "Blue lamp"), bleu_distance("\x0c", "yes"), bleu_distance("", " ")
    (0.0, 1.0, 0.0)
    >>> round(bleu_distance("a b c d", "a b e f"), 4)
    0.6805
    """
    if a == b:
        return 0.0
    empty = is_empty(a) + is_empty(b)
    if empty:
        return float(empty == 1)
    matches, of_a, of_b = _matches(a, b, script_of(a, b))
    forth = _bleu(matches, of_a, of_b, effective_order=True)
    back = _bleu(matches, of_b, of_a, effective_order=True)
    return _clip(1.0 - (forth + back) / 200.0)


def bleu_raw_delta(canonical: str, variant: str) -> float | None:
    """Return the published scheme's BLEU delta, in BLEU points (-100 to 100).

    sacrebleu's corpus BLEU of one pair with the library's defaults (13a, exponential
    smoothing, effective order off), the response against the baseline, minus that of the
    baseline with itself. With fewer than four tokens both are 0 (arXiv 2610.01428).

    Parameters
    ----------
    canonical, variant : str
        Response to the original prompt and to the variant.

    Returns
    -------
    float or None
        None if either text has a lone surrogate.

    Examples
    --------
    >>> bleu_raw_delta("yes", "no")
    0.0
    >>> round(bleu_raw_delta("one two three four", "one two five six"), 4)
    -68.0528
    """
    if not (is_valid_unicode(canonical) and is_valid_unicode(variant)):
        return None
    matches, of_canonical, of_variant = _matches(canonical, variant, "13a")
    itself = [max(0, of_canonical - order) for order in range(_ORDERS)]
    against = _bleu(matches, of_variant, of_canonical, effective_order=False)
    return against - _bleu(itself, of_canonical, of_canonical, effective_order=False)


def bert_raw_delta(f1: float | None) -> float | None:
    """Return the published scheme's BERT delta, F1 - 1; None stays None.

    Examples
    --------
    >>> bert_raw_delta(0.75)
    -0.25
    """
    return None if f1 is None else f1 - 1.0


def similarity_distance(value: float, b: float) -> float:
    """Return clip((1 - value) / (1 - b), 0, 1): 0 = same, 1 = as far as unrelated texts.

    Parameters
    ----------
    value : float
        BERTScore F1 or cosine, not rescaled.
    b : float
        Mean similarity of unrelated texts for the same encoder and layer; below 1.

    Raises
    ------
    SagoError
        If ``b`` is not below 1 (NaN included).

    Examples
    --------
    >>> similarity_distance(0.75, 0.5), similarity_distance(0.25, 0.5)
    (0.5, 1.0)
    """
    if not b < 1.0:
        raise SagoError(f"mean similarity of unrelated texts is {b}: it must be below 1; check the encoder")
    return _clip((1.0 - value) / (1.0 - b))


def generation_distances(
    pairs: Sequence[tuple[str, str]],
    encoder: Encoder | Missing,
    b: float | None = None,
    *,
    batch_size: int = 64,
    progress: Callable[[int, int], Any] | None = None,
) -> list[GenerationDistance]:
    """Measure all pairs at once; each distinct text is embedded once.

    Parameters
    ----------
    pairs : sequence of (str, str)
        (canonical response, response to the variant).
    encoder : Encoder or Missing
        What :func:`sago_harness.axes.encoders.load_encoder` gave. With a missing encoder
        every ``semantic`` is None, also for identical texts: scoring only those would
        make a model look stable.
    b : float or None
        Mean similarity of unrelated texts
        (:func:`sago_harness.axes.encoders.baseline`); needed with an encoder.
    batch_size : int
        At most this many texts per forward pass; without effect on the values beyond rounding.
    progress : callable or None
        Called with (texts embedded so far, texts to embed).

    Returns
    -------
    list of GenerationDistance
        In the order of ``pairs``. Identical texts: exactly 0.0. Both empty: 0.0, one
        empty: 1.0, both flagged ``"empty"``. A lone surrogate in either text: None.

    Raises
    ------
    SagoError
        If there is an encoder but no ``b``, or ``b`` is not below 1.

    Examples
    --------
    >>> missing = Missing("encoder_unavailable", "run `sago models get minilm`")
    >>> row = generation_distances([("Blue lamp", "")], missing)[0]
    >>> row.bleu, row.semantic, row.semantic_reason, row.flags
    (1.0, None, 'encoder_unavailable', ('empty',))
    """
    if isinstance(encoder, Encoder):
        if b is None:
            raise SagoError("an encoder needs b, the mean similarity of unrelated texts: see baseline()")
        found = encoder.compare(pairs, batch_size=batch_size, progress=progress)
        return [_distance(pair, similarity, b) for pair, similarity in zip(pairs, found, strict=True)]
    return [_distance(pair, Similarity(None, encoder.reason), None) for pair in pairs]


def _distance(pair: tuple[str, str], similarity: Similarity, b: float | None) -> GenerationDistance:
    """Put the two distances of a pair side by side; ``b`` is None without an encoder."""
    if not all(map(is_valid_unicode, pair)):
        return GenerationDistance(None, INVALID_UNICODE, None, None, INVALID_UNICODE)
    bleu = bleu_distance(*pair)
    empty = is_empty(pair[0]) + is_empty(pair[1])
    flags = (EMPTY,) * bool(empty) + (TRUNCATED,) * similarity.truncated
    if b is None:
        return GenerationDistance(bleu, "", None, None, similarity.reason, flags)
    if empty:
        raw = None if empty == 1 else 1.0
        return GenerationDistance(bleu, "", raw, float(empty == 1), "", flags)
    if similarity.value is None:
        return GenerationDistance(bleu, "", None, None, similarity.reason, flags)
    semantic = 0.0 if pair[0] == pair[1] else similarity_distance(similarity.value, b)
    return GenerationDistance(bleu, "", similarity.value, semantic, "", flags)
