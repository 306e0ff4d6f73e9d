"""The measures, each a thin class over one formula."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sago_harness.axes.activation import activation_distance, cosine_raw_delta, layer_angles
from sago_harness.axes.base import Context, Measure, Scored
from sago_harness.axes.confidence import FORCED_TOKENS, relative_change
from sago_harness.axes.encoders.base import Missing
from sago_harness.axes.generation import bert_raw_delta, bleu_raw_delta, generation_distances

if TYPE_CHECKING:
    from sago_harness.data import Response

_NAN = float("nan")

#: Stands in where only BLEU is asked for.
_NO_ENCODER = Missing("encoder_not_given", "no encoder was given")


class Bleu(Measure):
    """1 - BLEU/100, mean of both directions."""

    name = "x_bleu"
    axis = "generation"
    requires = ("text",)
    symmetric = True
    reference = "Papineni et al. 2002; Post 2018 (sacrebleu)"

    def distances(self, pairs: Sequence[tuple[Response, Response]], context: Context) -> list[Scored]:
        """See :class:`Measure`."""
        return _generation(self, pairs, context, semantic=False)


class _Semantic(Measure):
    axis = "generation"
    requires = ("text",)
    symmetric = True

    def distances(self, pairs: Sequence[tuple[Response, Response]], context: Context) -> list[Scored]:
        """See :class:`Measure`."""
        return _generation(self, pairs, context, semantic=True)


class Bert(_Semantic):
    """(1 - F1) / (1 - b) of a token encoder, clipped."""

    name = "x_bert"
    encoder = "token"
    reference = "Zhang et al. 2020 (BERTScore)"


class Sem(_Semantic):
    """(1 - cosine) / (1 - b) of a sentence encoder, clipped."""

    name = "x_sem"
    encoder = "sentence"
    reference = "Yang et al. 2020 (multilingual universal sentence encoder)"


def _generation(
    measure: Measure, pairs: Sequence[tuple[Response, Response]], context: Context, *, semantic: bool
) -> list[Scored]:
    """Score what has text; the encoder sees each distinct text once."""
    missing = [measure.missing(canonical, other) for canonical, other in pairs]
    texts = [(c.text, o.text) for (c, o), reason in zip(pairs, missing, strict=True) if not reason]
    encoder = context.encoder if semantic and context.encoder is not None else _NO_ENCODER
    found = iter(generation_distances(texts, encoder, context.baseline))
    scored = []
    for (canonical, other), reason in zip(pairs, missing, strict=True):
        if reason:
            scored.append(Scored(_NAN, reason))
            continue
        one = next(found)
        if semantic:
            value, why = one.semantic, one.semantic_reason
            raw = None if one.similarity is None else bert_raw_delta(one.similarity)
        else:
            value, why = one.bleu, one.bleu_reason
            raw = bleu_raw_delta(canonical.text, other.text) if value is not None else None
        scored.append(Scored(_NAN if value is None else value, why, one.flags, raw))
    return scored


class Act(Measure):
    """Mean angle between hidden states over the layers, in right angles."""

    name = "x_act"
    axis = "activation"
    requires = ("hidden",)
    symmetric = True
    reference = "Kahan 2006 for the angle"

    def distances(self, pairs: Sequence[tuple[Response, Response]], context: Context) -> list[Scored]:
        """See :class:`Measure`."""
        scored = []
        for canonical, other in pairs:
            reason = self.missing(canonical, other)
            if reason or canonical.hidden is None or other.hidden is None:
                scored.append(Scored(_NAN, reason or "no_hidden_states"))
                continue
            value = activation_distance(layer_angles(other.hidden, canonical.hidden))
            raw = cosine_raw_delta(other.hidden, canonical.hidden)
            scored.append(Scored(value, "" if math.isfinite(value) else "nan_hidden", raw=raw))
        return scored


class Forced(Measure):
    """What confidence measures have in common; ``tokens`` = how many forced tokens are looked at."""

    axis = "confidence"
    requires = ("forced",)
    symmetric = True
    reference = "1 - min(p, q) / max(p, q), averaged over tokens; the same for entropies"
    field: ClassVar[str]

    def __init__(self, tokens: int = FORCED_TOKENS) -> None:
        self.tokens = tokens

    def distances(self, pairs: Sequence[tuple[Response, Response]], context: Context) -> list[Scored]:
        """See :class:`Measure`."""
        scored = []
        for canonical, other in pairs:
            a, b = getattr(other, self.field), getattr(canonical, self.field)
            reason = self.missing(canonical, other)
            if reason or a is None or b is None:
                scored.append(Scored(_NAN, reason or "no_logprobs"))
                continue
            value = relative_change(a, b, self.tokens)
            scored.append(Scored(value, "" if math.isfinite(value) else "nan_logits", raw=self.raw(a, b)))
        return scored

    def raw(self, values: np.ndarray, canonical: np.ndarray) -> float:
        """Return the published scheme's raw delta."""
        raise NotImplementedError


class Prob(Forced):
    """Relative change of each forced token's probability."""

    name = "x_prob"
    field = "forced_logprob"

    def raw(self, values: np.ndarray, canonical: np.ndarray) -> float:
        """Summed forced log-probability, variant minus baseline."""
        return float(np.sum(values, dtype=np.float64) - np.sum(canonical, dtype=np.float64))


class Ent(Forced):
    """Change of the full-vocabulary entropy at each forced token."""

    name = "x_ent"
    field = "forced_entropy"

    def raw(self, values: np.ndarray, canonical: np.ndarray) -> float:
        """Mean forced entropy, variant minus baseline."""
        return float(np.mean(values, dtype=np.float64) - np.mean(canonical, dtype=np.float64))


class Jsd(Measure):
    """Jensen-Shannon divergence of the forced distributions; recorded, in no axis."""

    name = "x_jsd"
    axis = ""
    requires = ("forced",)
    symmetric = True
    reference = "Lin 1991"

    def distances(self, pairs: Sequence[tuple[Response, Response]], context: Context) -> list[Scored]:
        """See :class:`Measure`."""
        scored = []
        for canonical, other in pairs:
            reason = self.missing(canonical, other)
            values = other.forced_jsd
            if reason or values is None or values.size == 0:
                scored.append(Scored(_NAN, reason or "no_logprobs"))
                continue
            value = float(np.mean(values[:FORCED_TOKENS]))
            scored.append(Scored(value, "" if math.isfinite(value) else "nan_logits"))
        return scored
