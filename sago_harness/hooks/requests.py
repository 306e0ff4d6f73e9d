"""Answers the project's own request type, ``sago_generate``, on whatever model is running.

The host runs a request by ``getattr(lm, request_type)(requests)``. One handler on its base
``LM`` class adapts the model, gets whole documents answered, and reduces what needs the
model's arrays (angles, forced distances) document by document, so that nothing large is
kept. What comes back is text, as the host expects, with the numbers attached.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, CacheHook
from tqdm import tqdm

from sago_harness.axes import MEASURES
from sago_harness.axes.activation import layer_angles
from sago_harness.axes.base import Context, Measure
from sago_harness.axes.script import is_valid_unicode
from sago_harness.backends import adapt
from sago_harness.backends.base import Backend, Prompt, Response, Wanted
from sago_harness.jsonsafe import clean_text, json_safe
from sago_harness.logs import warn_once

log = logging.getLogger(__name__)

REQUEST_TYPE = "sago_generate"

#: Reasons of a document or prompt that is never sent.
_UNSENT = ("missing_field", "span_not_found", "empty_prompt")


class SagoText(str):
    """A response: its text, with the numbers that were read off the model.

    Attributes
    ----------
    measured : dict
        Strict JSON: distances, reasons, raw deltas, angles, token counts, flags.
    payload : dict
        What the request carried.
    """

    measured: dict[str, Any]
    payload: dict[str, Any]

    def __new__(cls, text: str, measured: dict[str, Any], payload: dict[str, Any]) -> SagoText:
        """Make the text and attach the numbers."""
        made = super().__new__(cls, text)
        made.measured = measured
        made.payload = payload
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Travel between processes as the text alone."""
        return (str, (str(self),))


def install() -> None:
    """Give every model of the host the handler."""
    LM.sago_generate = sago_generate


def sago_generate(lm: LM, requests: list[Instance]) -> list[SagoText]:
    """Answer the requests of whole documents.

    Parameters
    ----------
    lm : LM
        Any model of the host.
    requests : list of Instance
        Arguments (prompt, generation arguments, payload); a document's stand together, the
        canonical one first.

    Returns
    -------
    list of SagoText
        In the order of the requests.
    """
    backend = adapt(lm)
    missing = sorted({"forced", "hidden"} - set(backend.signals))
    if missing:
        warn_once(
            f"model {type(lm).__name__} gives text only: measures of activation and confidence are unscored"
        )
    hook, lm.cache_hook = lm.cache_hook, CacheHook(None)
    if hook.dbdict is not None:
        warn_once("--use_cache keeps responses of stock requests only; sago requests are computed anew")
    try:
        return _answer(backend, requests, quiet=getattr(lm, "rank", 0) != 0)
    finally:
        lm.cache_hook = hook


def _answer(backend: Backend, requests: list[Instance], *, quiet: bool) -> list[SagoText]:
    answers: list[SagoText | None] = [None] * len(requests)
    described = json_safe(backend.describe())
    per_prompt = 2 if "forced" in backend.signals else 1
    groups = _documents(requests, answers)
    total = per_prompt * sum(len(positions) for documents in groups.values() for positions in documents)
    documents_done = 0
    with tqdm(total=total, desc="sago: variants", unit="step", disable=quiet, file=sys.stderr) as bar:
        for wanted, documents in groups.items():
            prompts = [[_prompt(requests[p]) for p in positions] for positions in documents]
            for index, responses in backend.run(prompts, wanted, lambda n, step: _advance(bar, n, step)):
                positions = documents[index]
                payloads = [requests[p].arguments[2] for p in positions]
                measured = condense(responses, payloads)
                measured[0]["model"] = described
                for position, response, numbers, payload in zip(
                    positions, responses, measured, payloads, strict=True
                ):
                    answers[position] = SagoText(clean_text(response.text), numbers, payload)
                documents_done += 1
    unanswered = sum(answer is None for answer in answers)
    if unanswered:
        raise RuntimeError(f"{unanswered} of {len(requests)} requests came back without a response")
    return [answer for answer in answers if answer is not None]


def _advance(bar: tqdm[Any], count: int, step: str) -> None:
    bar.set_postfix_str(step, refresh=False)
    bar.update(count)


def _documents(requests: Sequence[Instance], answers: list[SagoText | None]) -> dict[Wanted, list[list[int]]]:
    """Group positions by what is wanted and by document; answer what is never sent."""
    groups: dict[Wanted, dict[tuple[str, int], list[int]]] = {}
    for position, request in enumerate(requests):
        payload = request.arguments[2]
        if payload.get("reason") in _UNSENT:
            answers[position] = SagoText("", _unsent(payload["reason"]), payload)
            continue
        pooling, layers, seed = payload["wanted"]
        documents = groups.setdefault(Wanted(pooling, layers, seed), {})
        documents.setdefault((str(request.task_name), int(request.doc_id)), []).append(position)
    return {wanted: list(documents.values()) for wanted, documents in groups.items()}


def _prompt(request: Instance) -> Prompt:
    text, gen_kwargs, payload = request.arguments
    return Prompt(text, payload["role"], gen_kwargs, span=payload["text"], repeat=payload.get("repeat", 0))


def _unsent(reason: str) -> dict[str, Any]:
    return {
        "distances": {},
        "reasons": dict.fromkeys(MEASURES, reason),
        "raw": {},
        "tokens": {},
        "flags": [reason],
        "document_reason": reason,
    }


def condense(responses: Sequence[Response], payloads: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
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


def _unscore(response: Response, canonical: Response, payload: dict[str, Any]) -> None:
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
    }
    if response.hidden is not None and canonical.hidden is not None:
        angles = layer_angles(response.hidden, canonical.hidden)
        numbers["layers"] = [float(f"{angle:.7g}") for angle in angles]
    clean: dict[str, Any] = json_safe(numbers)
    return clean


def _summed(values: np.ndarray | None) -> float | None:
    return None if values is None else float(np.sum(values, dtype=np.float64))


def _mean(values: np.ndarray | None) -> float | None:
    return None if values is None or values.size == 0 else float(np.mean(values, dtype=np.float64))


def numbers_of(response: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (measured, payload) of a response, or stop when it is not one of ours."""
    if not isinstance(response, SagoText):
        raise TypeError(
            f"a sago task got a response of {type(response).__name__}, not of its own request type"
        )
    return response.measured, response.payload


def record_line(record: dict[str, Any]) -> str:
    """Return a record as one line of strict JSON."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
