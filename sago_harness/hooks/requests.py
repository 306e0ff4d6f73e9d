"""Answers the project's own request type, ``sago_generate``, on whatever model is running.

The host runs a request by ``getattr(lm, request_type)(requests)``. One handler on its base
``LM`` class adapts the model, gets whole documents answered, and reduces what needs the
model's arrays (angles, forced distances) document by document, so that nothing large is
kept. What comes back is text, as the host expects, with the numbers attached. Under
``--use_cache`` documents that were answered before come from the project's own file.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, CacheHook, CachingLM

from sago_harness import pipeline
from sago_harness.axes.condense import unsent
from sago_harness.axes.vectors import VectorFile, VectorRef, pack
from sago_harness.backends import adapt
from sago_harness.backends.base import Backend
from sago_harness.backends.store import Entry
from sago_harness.data import Prompt, Response, Wanted
from sago_harness.hooks.cache import Asked, Kept, entry_of, kept_responses
from sago_harness.hooks.progress import Amount, Progress
from sago_harness.jsonsafe import clean_text, json_safe
from sago_harness.logs import warn_once

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
    vectors : VectorRef or None
        Pooled hidden states, where they are wanted and there are any.
    """

    measured: dict[str, Any]
    payload: dict[str, Any]
    vectors: VectorRef | None

    def __new__(
        cls,
        text: str,
        measured: dict[str, Any],
        payload: dict[str, Any],
        vectors: VectorRef | None = None,
    ) -> SagoText:
        """Make the text and attach the numbers."""
        made = super().__new__(cls, text)
        made.measured = measured
        made.payload = payload
        made.vectors = vectors
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Travel between processes as the text alone."""
        return (str, (str(self),))


def install() -> None:
    """Give every model of the host the handler, and the wrapper of a cached one its path."""
    LM.sago_generate = sago_generate
    # The inner model would keep the hook of a cache that an earlier run used.
    CachingLM.sago_generate = _generate_cached


def _generate_cached(wrapper: CachingLM, requests: list[Instance]) -> list[SagoText]:
    return sago_generate(wrapper.lm, requests, wrapper.cache_db)


def sago_generate(lm: LM, requests: list[Instance], cache: str | None = None) -> list[SagoText]:
    """Answer the requests of whole documents.

    Parameters
    ----------
    lm : LM
        Any model of the host.
    requests : list of Instance
        Arguments (prompt, generation arguments, payload); a document's stand together, the
        canonical one first.
    cache : str, optional
        Path of the host's own cache; the project's stands beside it.

    Returns
    -------
    list of SagoText
        In the order of the requests.

    Raises
    ------
    SagoError
        If the cache cannot be used; nothing has been computed then.
    """
    backend = adapt(lm)
    missing = sorted({"forced", "hidden"} - set(backend.signals))
    if missing:
        warn_once(
            f"model {type(lm).__name__} gives text only: measures of activation and confidence are unscored"
        )
    described = json_safe(backend.describe())
    # What a text backend sends must not land in the host's cache, which knows no model.
    hook, lm.cache_hook = lm.cache_hook, CacheHook(None)
    try:
        with kept_responses(lm, backend, cache, described) as kept:
            return _answer(backend, kept, described, requests, getattr(lm, "rank", 0))
    finally:
        lm.cache_hook = hook


@dataclass(slots=True)
class Waiting:
    """A document that is to be answered: positions of its requests, and what they are."""

    positions: list[int]
    prompts: list[Prompt]
    payloads: list[dict[str, Any]]
    asked: Asked | None = None

    @property
    def amount(self) -> Amount:
        """How much of a run it is."""
        variants = sum(prompt.role == "variant" for prompt in self.prompts)
        return Amount(1, variants, len(self.prompts))


@dataclass(slots=True)
class Bundle:
    """Documents that are computed together, and what is wanted of them."""

    wanted: Wanted
    documents: list[Waiting] = field(default_factory=list)


def _answer(
    backend: Backend, kept: Kept, described: dict[str, Any], requests: list[Instance], rank: int
) -> list[SagoText]:
    answers: dict[int, SagoText] = {}
    bundles = _bundles(requests, answers)
    everything = _count(bundles)
    for bundle in bundles:
        for document in bundle.documents:
            document.asked = kept.asked(
                str(document.payloads[0].get("document")), document.prompts, bundle.wanted
            )
        bundle.documents = [d for d in bundle.documents if not _recall(kept, d, bundle, described, answers)]
    found = everything - _count(bundles)
    kept.say(found.responses, everything.responses)
    steps = 2 if "forced" in backend.signals else 1
    with Progress(everything, found, steps, backend.spent, rank=rank) as progress:
        for bundle in bundles:
            missing = []
            for document in bundle.documents:
                # Another process, or a document that says the same, may have come to it first.
                if _recall(kept, document, bundle, described, answers):
                    progress.found(document.amount)
                else:
                    missing.append(document)
            if missing:
                _compute(backend, kept, Bundle(bundle.wanted, missing), described, answers, progress)
    unanswered = len(requests) - len(answers)
    if unanswered:
        raise RuntimeError(f"{unanswered} of {len(requests)} requests came back without a response")
    return [answers[position] for position in range(len(requests))]


def _count(bundles: Sequence[Bundle]) -> Amount:
    return sum((document.amount for bundle in bundles for document in bundle.documents), Amount())


def _recall(
    kept: Kept, document: Waiting, bundle: Bundle, described: dict[str, Any], answers: dict[int, SagoText]
) -> bool:
    """Take a document's responses from the cache, if all are there."""
    entries = kept.find(document.asked)
    if entries is None:
        return False
    blobs = [entry.vectors if bundle.wanted.vectors else None for entry in entries]
    refs = [None if blob is None else VectorFile.here().put(blob) for blob in blobs]
    _hand_over(document, entries, refs, described, answers)
    return True


def _compute(
    backend: Backend,
    kept: Kept,
    bundle: Bundle,
    described: dict[str, Any],
    answers: dict[int, SagoText],
    progress: Progress,
) -> None:
    """Get a bundle answered, and keep it in one go: a killed run has all of it or nothing."""
    done: list[tuple[Waiting, list[Entry], list[VectorRef | None]]] = []
    prompts = [document.prompts for document in bundle.documents]
    for index, responses in pipeline.ask(backend, prompts, bundle.wanted, progress.step):
        document = bundle.documents[index]
        measured = pipeline.condense(responses, document.payloads)
        refs = [_put_states(response, bundle.wanted) for response in responses]
        entries = [
            entry_of(response, clean_text(response.text), numbers, bundle.wanted, None)
            for response, numbers in zip(responses, measured, strict=True)
        ]
        done.append((document, entries, refs))
        _hand_over(document, entries, refs, described, answers)
        progress.done(document.amount)
    progress.settle()
    # States are read back as they are written: a bundle's together would be large.
    kept.add((document.asked, _with_states(entries, refs)) for document, entries, refs in done)


def _put_states(response: Response, wanted: Wanted) -> VectorRef | None:
    if not wanted.vectors or response.hidden is None:
        return None
    return VectorFile.here().put(pack(response.hidden))


def _with_states(entries: Sequence[Entry], refs: Sequence[VectorRef | None]) -> Iterator[Entry]:
    for entry, ref in zip(entries, refs, strict=True):
        if ref is None:
            yield entry
        elif blob := ref.blob():
            yield dataclasses.replace(entry, vectors=blob)
        else:
            # No room for them in this run: another may have it.
            yield dataclasses.replace(entry, held=entry.held - {"vectors"})


def _hand_over(
    document: Waiting,
    entries: Sequence[Entry],
    refs: Sequence[VectorRef | None],
    described: Mapping[str, Any],
    answers: dict[int, SagoText],
) -> None:
    """Make a document's responses; the first one tells about the model of this run."""
    for place, (position, entry, ref) in enumerate(zip(document.positions, entries, refs, strict=True)):
        numbers = {**entry.measured, **({} if place else {"model": dict(described)})}
        answers[position] = SagoText(entry.text, numbers, document.payloads[place], ref)


def _bundles(requests: Sequence[Instance], answers: dict[int, SagoText]) -> list[Bundle]:
    """Group requests by task, bundle and document; answer what is never sent."""
    found: dict[tuple[str, int, Wanted], dict[int, Waiting]] = {}
    for position, request in enumerate(requests):
        payload = request.arguments[2]
        if payload.get("reason") in _UNSENT:
            answers[position] = SagoText("", unsent(payload["reason"]), payload)
            continue
        key = (str(request.task_name), int(payload.get("bundle", 0)), Wanted(*payload["wanted"]))
        document = found.setdefault(key, {}).setdefault(int(request.doc_id), Waiting([], [], []))
        document.positions.append(position)
        document.prompts.append(_prompt(request))
        document.payloads.append(payload)
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
