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
from dataclasses import dataclass
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, CacheHook
from tqdm import tqdm

from sago_harness import pipeline
from sago_harness.axes.condense import unsent
from sago_harness.backends import adapt
from sago_harness.backends.base import Backend
from sago_harness.data import Prompt, Wanted
from sago_harness.jsonsafe import clean_text, json_safe
from sago_harness.logs import warn_once

log = logging.getLogger(__name__)

REQUEST_TYPE = "sago_generate"

#: Reasons of a document or prompt that is never sent.
_UNSENT = ("missing_field", "span_not_found", "empty_prompt", "language_without_variants")


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
    bundles = _bundles(requests, answers)
    total = per_prompt * sum(len(positions) for bundle in bundles for positions in bundle.documents)
    with tqdm(total=total, desc="sago: variants", unit="step", disable=quiet, file=sys.stderr) as bar:
        for bundle in bundles:
            prompts = [[_prompt(requests[p]) for p in positions] for positions in bundle.documents]
            for index, responses in pipeline.ask(
                backend, prompts, bundle.wanted, lambda n, step: _advance(bar, n, step)
            ):
                positions = bundle.documents[index]
                payloads = [requests[p].arguments[2] for p in positions]
                measured = pipeline.condense(responses, payloads)
                measured[0]["model"] = described
                for position, response, numbers, payload in zip(
                    positions, responses, measured, payloads, strict=True
                ):
                    answers[position] = SagoText(clean_text(response.text), numbers, payload)
    unanswered = sum(answer is None for answer in answers)
    if unanswered:
        raise RuntimeError(f"{unanswered} of {len(requests)} requests came back without a response")
    return [answer for answer in answers if answer is not None]


def _advance(bar: tqdm[Any], count: int, step: str) -> None:
    bar.set_postfix_str(step, refresh=False)
    bar.update(count)


@dataclass(frozen=True, slots=True)
class Bundle:
    """Documents that are computed together: positions of their requests, and what is wanted."""

    wanted: Wanted
    documents: list[list[int]]


def _bundles(requests: Sequence[Instance], answers: list[SagoText | None]) -> list[Bundle]:
    """Group positions by task, bundle and document; answer what is never sent."""
    found: dict[tuple[str, int, Wanted], dict[int, list[int]]] = {}
    for position, request in enumerate(requests):
        payload = request.arguments[2]
        if payload.get("reason") in _UNSENT:
            answers[position] = SagoText("", unsent(payload["reason"]), payload)
            continue
        key = (str(request.task_name), int(payload.get("bundle", 0)), Wanted(*payload["wanted"]))
        found.setdefault(key, {}).setdefault(int(request.doc_id), []).append(position)
    return [Bundle(key[2], list(documents.values())) for key, documents in found.items()]


def _prompt(request: Instance) -> Prompt:
    text, gen_kwargs, payload = request.arguments
    return Prompt(text, payload["role"], gen_kwargs, span=payload["text"], repeat=payload.get("repeat", 0))


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
