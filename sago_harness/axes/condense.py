"""Reduces one document's responses to the numbers that are kept.

Runs where the model's arrays are, document by document, so that hidden states and forced
distributions are gone before the next window. Measures that read texts only come later,
over all documents at once (``record.py``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sago_harness.axes import MEASURES
from sago_harness.axes.activation import layer_angles
from sago_harness.axes.base import Context, Measure
from sago_harness.axes.measures import Ent, Forced, Prob
from sago_harness.axes.script import is_valid_unicode
from sago_harness.data import Response
from sago_harness.jsonsafe import json_safe

#: Half of what a score looks at: a ranking that turns round there hangs on the responses' length.
FIRST_TOKENS = 16

_FIRST: dict[str, Forced] = {"x_prob": Prob(FIRST_TOKENS), "x_ent": Ent(FIRST_TOKENS)}


def unsent(reason: str) -> dict[str, Any]:
    """Return the numbers of a document that is never sent, with the reason.

    Examples
    --------
    >>> unsent("empty_prompt")["reasons"]["x_bleu"]
    'empty_prompt'
    """
    return {
        "distances": {},
        "reasons": dict.fromkeys(MEASURES, reason),
        "raw": {},
        "tokens": {},
        "flags": [reason],
        "document_reason": reason,
    }


def condense(responses: Sequence[Response], payloads: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Reduce one document's responses to the numbers that are kept.

    Parameters
    ----------
    responses : sequence of Response
        The canonical one first.
    payloads : sequence of dict
        Of the same requests.

    Returns
    -------
    list of dict
        Strict JSON, one a response. Distances of measures that need the model's arrays are
        here; those of texts follow later, over all documents at once.
    """
    for response, payload in zip(responses, payloads, strict=True):
        _unscore(response, responses[0], payload)
    canonical = responses[0]
    measures = [m for name in MEASURES if (m := MEASURES.load(name)()).requires != ("text",)]
    return [_numbers(measures, canonical, response) for response in responses]


def _unscore(response: Response, canonical: Response, payload: Mapping[str, Any]) -> None:
    """Write down why a response, or all that is read off it, does not count."""
    if not is_valid_unicode(response.text):
        response.reasons.setdefault("text", "invalid_unicode")
    blocked = ""
    if "prompt_truncated" in response.flags:
        blocked = "prompt_too_long"
    elif payload["role"] == "variant" and response.prompt_ids_digest == canonical.prompt_ids_digest:
        # The variant did not reach the model: no evidence of stability.
        response.flags = (*response.flags, "noop_tokens")
        blocked = "noop_tokens"
    if blocked:
        for signal in ("text", "forced", "hidden"):
            response.reasons[signal] = blocked


def _numbers(measures: Sequence[Measure], canonical: Response, response: Response) -> dict[str, Any]:
    distances: dict[str, float] = {}
    reasons: dict[str, str] = {}
    raw: dict[str, float | None] = {}
    for measure in measures:
        scored = measure.distances([(canonical, response)], Context())[0]
        distances[measure.name] = scored.value
        if scored.reason:
            reasons[measure.name] = scored.reason
        if scored.raw is not None:
            raw[measure.name] = scored.raw
    numbers = {
        "distances": distances,
        "reasons": reasons,
        "raw": raw,
        "tokens": {
            "prompt": response.prompt_tokens,
            "response": len(response.kept_ids) if response.prompt_tokens is not None else None,
            "forced": None if response.forced_logprob is None else int(response.forced_logprob.size),
        },
        "signals": {
            "own_logprob": _summed(response.own_logprob),
            "own_entropy": _mean(response.own_entropy),
            "forced_logprob": _summed(response.forced_logprob),
            "forced_entropy": _mean(response.forced_entropy),
        },
        "flags": list(response.flags),
        "text_reason": response.reasons.get("text", ""),
        "first": {
            **{name: _first(measure, canonical, response) for name, measure in _FIRST.items()},
            # Where the first tokens of the text end: what is read off texts comes later.
            "characters": response.head,
        },
    }
    if response.hidden is not None and canonical.hidden is not None:
        angles = layer_angles(response.hidden, canonical.hidden)
        numbers["layers"] = [float(f"{angle:.7g}") for angle in angles]
    clean: dict[str, Any] = json_safe(numbers)
    return clean


def _first(measure: Forced, canonical: Response, response: Response) -> float | None:
    """Return the distance over the first tokens alone, None where it is unscored."""
    value = measure.distances([(canonical, response)], Context())[0].value
    return value if math.isfinite(value) else None


def _summed(values: npt.NDArray[np.float32] | None) -> float | None:
    return None if values is None else float(np.sum(values, dtype=np.float64))


def _mean(values: npt.NDArray[np.float32] | None) -> float | None:
    return None if values is None or values.size == 0 else float(np.mean(values, dtype=np.float64))
