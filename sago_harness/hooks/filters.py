"""The ``sago`` filter: measures distances over all documents of a task at once.

A filter sees every response of the task on this rank, so each distinct text is embedded
once. It turns each response into the variant's record, one line of strict JSON, which is
what the samples file keeps.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lm_eval.api.filter import Filter
from lm_eval.api.instance import Instance
from lm_eval.filters import build_filter_ensemble

from sago_harness.axes import MEASURES
from sago_harness.axes.answers import flipped, is_correct
from sago_harness.axes.base import Context, Measure
from sago_harness.axes.encoders import Encoder, baseline, load_encoder
from sago_harness.axes.mirroring import Manner, mirroring
from sago_harness.axes.mirroring_rules import mirrors
from sago_harness.axes.refusal import is_refusal
from sago_harness.axes.script import is_empty
from sago_harness.backends.base import Response
from sago_harness.hooks.requests import numbers_of, record_line
from sago_harness.jsonsafe import json_safe

log = logging.getLogger(__name__)

RECORD_VERSION = 1

#: What the host's regex filter gives where nothing matches.
_NO_ANSWER = "[invalid]"


class DistanceFilter(Filter):  # type: ignore[misc]
    """Measures text distances, mirroring and answers; returns records.

    Parameters
    ----------
    task : str
        For the log.
    measures : sequence of str
        Measures of the task.
    language : str
    encoder : str or None
        Encoder spec; None = the language's default.
    answers : str or None
        Field of a document with gold answers.
    match : str
        How a response is compared with them.
    extract : sequence of mapping
        The host's own filters that take the answer out of a response.
    """

    def __init__(
        self,
        task: str = "?",
        measures: Sequence[str] = (),
        language: str = "en",
        encoder: str | None = None,
        answers: str | None = None,
        match: str = "contains",
        extract: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__()
        self.task = task
        self.measures = [MEASURES.load(name)() for name in measures]
        self.language = language
        self.encoder = encoder
        self.answers = answers
        self.match = match
        self.extract = extract

    def apply(self, resps: Iterable[Sequence[Any]], docs: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return one record a response, in order.

        Parameters
        ----------
        resps : iterable of sequence
            Each request's responses; the first one counts.
        docs : sequence of mapping
            Each request's document.
        """
        responses = [next(iter(resp)) for resp in resps]
        records = []
        for response in responses:
            measured, payload = numbers_of(response)
            records.append(_record(measured, payload, str(response)))
        groups = _by_document(records)
        texts = [str(response) for response in responses]
        self._text_distances(records, texts, groups)
        self._mirroring(records, texts, groups)
        self._answers(records, texts, docs, groups)
        for record, text in zip(records, texts, strict=True):
            _flags(record, text)
        self._log_unscored(records)
        return [record_line(json_safe(record)) for record in records]

    def _text_distances(
        self, records: Sequence[dict[str, Any]], texts: Sequence[str], groups: Sequence[Sequence[int]]
    ) -> None:
        text_measures = [m for m in self.measures if m.requires == ("text",)]
        if not text_measures:
            return
        context = self._context()
        pairs, places = [], []
        for group in groups:
            canonical = _as_response(records[group[0]], texts[group[0]])
            for index in group:
                pairs.append((canonical, _as_response(records[index], texts[index])))
                places.append(index)
        for measure in text_measures:
            for index, scored in zip(places, measure.distances(pairs, context), strict=True):
                record = records[index]
                record["distances"][measure.name] = scored.value
                if scored.reason:
                    record["reasons"][measure.name] = scored.reason
                if scored.raw is not None:
                    record["raw"][measure.name] = scored.raw
                record["flags"] = list(dict.fromkeys([*record["flags"], *scored.flags]))

    def _context(self) -> Context:
        needs_encoder = any(isinstance(m, Measure) and m.encoder for m in self.measures)
        if not needs_encoder:
            return Context(language=self.language)
        encoder = load_encoder(self.encoder, self.language)
        b = baseline(encoder, self.language) if isinstance(encoder, Encoder) else None
        return Context(encoder, b, self.language)

    def _mirroring(
        self, records: Sequence[dict[str, Any]], texts: Sequence[str], groups: Sequence[Sequence[int]]
    ) -> None:
        for group in groups:
            first = group[0]
            canonical = Manner(records[first]["text"], texts[first], None)
            # A variant that did not reach the model, or no valid text, mirrors nothing.
            usable = [
                i for i in group if records[i]["role"] == "variant" and not records[i].get("text_reason")
            ]
            manners = [Manner(records[i]["text"], texts[i], records[i]["feature"]) for i in usable]
            language = records[first]["language"]
            for index, found in zip(usable, mirroring(canonical, manners, language), strict=True):
                record = records[index]
                record["distances"]["x_mr"] = found.value
                record["distances"]["x_mr_floor"] = found.floor
                record["prompt_change"] = found.prompt_change
                if found.reason:
                    record["reasons"]["x_mr"] = found.reason
                record["raw"]["mirroring"] = mirrors(
                    record["operator"], record["strength"], texts[index], texts[first]
                )

    def _answers(
        self,
        records: Sequence[dict[str, Any]],
        texts: Sequence[str],
        docs: Sequence[Mapping[str, Any]],
        groups: Sequence[Sequence[int]],
    ) -> None:
        extracted = self._extracted(texts) if self.extract else None
        for group in groups:
            for index in group:
                record = records[index]
                if record["role"] in ("control",) or record.get("document_reason"):
                    continue
                if extracted is not None:
                    record["answer"] = extracted[index]
                    record["distances"]["flip"] = flipped(extracted[index], extracted[group[0]])
                gold = gold_answers(docs[index], self.answers)
                if gold:
                    said = texts[index] if extracted is None else extracted[index] or ""
                    record["correct"] = int(is_correct(said, gold, self.match))

    def _extracted(self, texts: Sequence[str]) -> list[str | None]:
        """Run the task's own chain of host filters over the texts."""
        steps = [
            (step["function"], {k: v for k, v in step.items() if k != "function"}) for step in self.extract
        ]
        chain = build_filter_ensemble("answer", steps)
        instances = [
            Instance("generate_until", doc={}, arguments=("",), idx=i, resps=[text])
            for i, text in enumerate(texts)
        ]
        chain.apply(instances)
        found = [instance.filtered_resps["answer"] for instance in instances]
        return [None if is_empty(str(f)) or str(f) == _NO_ANSWER else str(f) for f in found]

    def _log_unscored(self, records: Sequence[dict[str, Any]]) -> None:
        """Say once a task how many responses each measure could not score, and why."""
        counted: dict[str, Counter[str]] = {}
        total = 0
        for record in records:
            if record["role"] == "canonical":
                continue
            total += 1
            for measure in self.measures:
                value = record["distances"].get(measure.name)
                if value is None or not math.isfinite(value):
                    reason = record["reasons"].get(measure.name, "unknown")
                    counted.setdefault(measure.name, Counter())[reason] += 1
        for name, reasons in counted.items():
            parts = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
            log.warning(
                "[%s] %s: %d of %d responses unscored: %s", self.task, name, reasons.total(), total, parts
            )


def gold_answers(doc: Mapping[str, Any], field: str | None) -> list[str]:
    """Return a document's gold answers as texts, empty where it has none."""
    value = doc.get(field) if field else None
    values = value if isinstance(value, list | tuple) else [value]
    return [str(item) for item in values if item is not None and str(item).strip()]


def _record(measured: Mapping[str, Any], payload: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Join what the request carried with what was read off the model."""
    kept = {key: value for key, value in payload.items() if key not in ("wanted", "reason")}
    response_hash = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return {
        "record": RECORD_VERSION,
        **kept,
        "response_hash": "" if is_empty(text) else response_hash,
        "distances": dict(measured["distances"]),
        "reasons": dict(measured["reasons"]),
        "raw": dict(measured["raw"]),
        "flags": list(measured["flags"]),
        **{k: v for k, v in measured.items() if k not in ("distances", "reasons", "raw", "flags")},
    }


def _by_document(records: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Return positions document by document, the canonical one first."""
    groups: dict[str, list[int]] = {}
    for index, record in enumerate(records):
        groups.setdefault(record["document"], []).append(index)
    for group in groups.values():
        group.sort(key=lambda i: records[i]["role"] != "canonical")
    return list(groups.values())


def _as_response(record: Mapping[str, Any], text: str) -> Response:
    reason = record.get("text_reason") or record.get("document_reason")
    return Response(text=text, reasons={"text": reason} if reason else {})


def _flags(record: dict[str, Any], text: str) -> None:
    """Mark what health counts: empty, very short and declining responses."""
    flags = record["flags"]
    if is_empty(text) and "empty" not in flags:
        flags.append("empty")
    tokens = record.get("tokens", {}).get("response")
    if tokens is not None and tokens < 4:
        flags.append("short")
    if is_refusal(text):
        flags.append("refused")
