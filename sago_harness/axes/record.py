"""Makes the record of every response: text distances, mirroring, answers, health flags.

Works over all documents of a task at once, so that each distinct text is embedded once.
A record is strict JSON, carries everything that scores are computed from, and is what the
samples file keeps.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sago_harness.axes.answers import flipped, is_correct
from sago_harness.axes.base import Context, Measure
from sago_harness.axes.encoders import Encoder, baseline, load_encoder
from sago_harness.axes.mirroring import Manner, mirroring
from sago_harness.axes.mirroring_rules import mirrors
from sago_harness.axes.refusal import is_refusal
from sago_harness.axes.script import is_empty
from sago_harness.data import Response
from sago_harness.jsonsafe import json_safe

RECORD_VERSION = 2

Record = dict[str, Any]

#: Takes the answers out of responses; None where there is none.
Extract = Callable[[Sequence[str]], list[str | None]]


@dataclass(frozen=True, slots=True)
class Reading:
    """How the texts of a task are read.

    Attributes
    ----------
    measures : tuple of Measure
        Those of the task; only the ones that read texts alone are computed here.
    language : str
    encoder : str or None
        Encoder spec; None = the language's default.
    match : str
        How an answer is compared with the gold ones.
    extract : callable or None
        Takes the answers out of all responses at once.
    """

    measures: tuple[Measure, ...]
    language: str = "en"
    encoder: str | None = None
    match: str = "contains"
    extract: Extract | None = None


def make_records(
    texts: Sequence[str],
    measured: Sequence[Mapping[str, Any]],
    payloads: Sequence[Mapping[str, Any]],
    golds: Sequence[Sequence[str]],
    reading: Reading,
) -> list[Record]:
    """Return one record a response, in order.

    Parameters
    ----------
    texts : sequence of str
        The responses.
    measured : sequence of mapping
        What was read off the model (:func:`sago_harness.axes.condense.condense`).
    payloads : sequence of mapping
        What the requests carried: document, variant, role, family, operator ...
    golds : sequence of sequence of str
        Gold answers of each response's document; empty where there are none.
    reading : Reading

    Returns
    -------
    list of dict
        Strict JSON.
    """
    records = [_joined(m, p, text) for m, p, text in zip(measured, payloads, texts, strict=True)]
    groups = _by_document(records)
    _text_distances(records, texts, groups, reading)
    _mirroring(records, texts, groups)
    _answers(records, texts, golds, groups, reading)
    for record, text in zip(records, texts, strict=True):
        _flags(record, text)
    return [json_safe(record) for record in records]


def unscored(records: Sequence[Mapping[str, Any]], measures: Sequence[Measure]) -> dict[str, Counter[str]]:
    """Count, per measure, the responses that have no distance, by reason; canonical ones apart."""
    counted: dict[str, Counter[str]] = {}
    for record in records:
        if record["role"] == "canonical" and not record.get("document_reason"):
            continue
        for measure in measures:
            value = record["distances"].get(measure.name)
            if value is None or not math.isfinite(value):
                reason = record["reasons"].get(measure.name, "unknown")
                counted.setdefault(measure.name, Counter())[reason] += 1
    return counted


def _text_distances(
    records: Sequence[Record], texts: Sequence[str], groups: Sequence[Sequence[int]], reading: Reading
) -> None:
    text_measures = [m for m in reading.measures if m.requires == ("text",)]
    if not text_measures:
        return
    context = _context(reading)
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
    _head_distances(records, texts, groups, [m for m in text_measures if m.axis], context)


def _head_distances(
    records: Sequence[Record],
    texts: Sequence[str],
    groups: Sequence[Sequence[int]],
    measures: Sequence[Measure],
    context: Context,
) -> None:
    """Measure the same over the first tokens alone, where it is known where they end."""
    pairs, places, short = [], [], []
    for group in groups:
        first = group[0]
        canonical = _head(records[first], texts[first])
        for index in group:
            head = _head(records[index], texts[index])
            if canonical is None or head is None:
                continue
            if canonical == texts[first] and head == texts[index]:
                short.append(index)
            else:
                pairs.append((_as_response(records[first], canonical), _as_response(records[index], head)))
                places.append(index)
    for measure in measures:
        for index in short:
            records[index]["first"][measure.name] = records[index]["distances"][measure.name]
        # In a call of their own: what shares a batch of the encoder moves the last digit of whole texts.
        found = measure.distances(pairs, context) if pairs else []
        for index, scored in zip(places, found, strict=True):
            records[index]["first"][measure.name] = scored.value


def _head(record: Mapping[str, Any], text: str) -> str | None:
    """Return what the first tokens of a response say; None where it is not known."""
    end = (record.get("first") or {}).get("characters")
    return None if end is None else text[:end]


def _context(reading: Reading) -> Context:
    if not any(measure.encoder for measure in reading.measures):
        return Context(language=reading.language)
    encoder = load_encoder(reading.encoder, reading.language)
    b = baseline(encoder, reading.language) if isinstance(encoder, Encoder) else None
    return Context(encoder, b, reading.language)


def _mirroring(records: Sequence[Record], texts: Sequence[str], groups: Sequence[Sequence[int]]) -> None:
    for group in groups:
        first = group[0]
        canonical = Manner(records[first]["text"], texts[first], None)
        # A variant that did not reach the model, or no valid text, mirrors nothing.
        usable = [i for i in group if records[i]["role"] == "variant" and not records[i].get("text_reason")]
        scored = records[first].get("families") or {}
        manners = [
            Manner(records[i]["text"], texts[i], records[i]["feature"], records[i]["family"] in scored)
            for i in usable
        ]
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
    records: Sequence[Record],
    texts: Sequence[str],
    golds: Sequence[Sequence[str]],
    groups: Sequence[Sequence[int]],
    reading: Reading,
) -> None:
    extracted = reading.extract(texts) if reading.extract else None
    for group in groups:
        for index in group:
            record = records[index]
            if record["role"] == "control" or record.get("document_reason") or record.get("text_reason"):
                continue
            if extracted is not None:
                record["answer"] = extracted[index]
                if not records[group[0]].get("text_reason"):
                    record["distances"]["flip"] = flipped(extracted[index], extracted[group[0]])
            # The gold answer is not that of an edit that changes the meaning.
            if golds[index] and record["family"] != "control":
                said = texts[index] if extracted is None else extracted[index] or ""
                record["correct"] = int(is_correct(said, golds[index], reading.match))


def _joined(measured: Mapping[str, Any], payload: Mapping[str, Any], text: str) -> Record:
    """Join what the request carried with what was read off the model."""
    kept = {key: value for key, value in payload.items() if key not in ("wanted", "reason", "bundle")}
    response_hash = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    nested = ("distances", "reasons", "raw")
    return {
        "record": RECORD_VERSION,
        **kept,
        "response_hash": "" if is_empty(text) else response_hash,
        **{name: dict(measured[name]) for name in nested},
        "flags": list(measured["flags"]),
        **{
            k: dict(v) if isinstance(v, Mapping) else v
            for k, v in measured.items()
            if k not in (*nested, "flags")
        },
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
