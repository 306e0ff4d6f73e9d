"""The flow, from a document to a score, as six short functions.

Read this file first. Each function is one stage and hands over to the stage's own folder;
the host (``hooks/``) calls them in this order, and so can you, without it::

    expand    document             -> its variants              variants/
    ask       prompts              -> responses                 backends/
    condense  responses            -> numbers, arrays gone      axes/
    measure   texts + numbers      -> records, one a response   axes/
    reduce    a document's records -> its values                scores/
    score     documents' values    -> axes, sago                scores/

What crosses the borders is in ``data.py``. Between ``ask`` and ``measure`` is the expensive
cut: everything after it can be done again from saved records (``scores/table.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sago_harness.axes.condense import condense as _condense
from sago_harness.axes.record import Reading, make_records
from sago_harness.backends.base import Backend, Progress
from sago_harness.data import Document, Prompt, Response, VariantSet, Wanted
from sago_harness.scores.composite import TaskScores, task_scores
from sago_harness.scores.document import document_metrics
from sago_harness.variants.build import build
from sago_harness.variants.recipe import Recipe

Record = dict[str, Any]


def expand(document: Document, recipe: Recipe, seed: int) -> VariantSet:
    """Return the document's variants, the canonical one first, and what was rejected."""
    return build(document, recipe, seed)


def ask(
    backend: Backend, documents: Sequence[Sequence[Prompt]], wanted: Wanted, progress: Progress
) -> Iterator[tuple[int, list[Response]]]:
    """Yield each document's responses, in any order of documents."""
    yield from backend.run(documents, wanted, progress)


def condense(responses: Sequence[Response], payloads: Sequence[Mapping[str, Any]]) -> list[Record]:
    """Reduce one document's responses to numbers; the model's arrays can go then."""
    return _condense(responses, payloads)


def measure(
    texts: Sequence[str],
    measured: Sequence[Mapping[str, Any]],
    payloads: Sequence[Mapping[str, Any]],
    golds: Sequence[Sequence[str]],
    reading: Reading,
) -> list[Record]:
    """Return the record of every response: text distances, mirroring, answers, over all documents."""
    return make_records(texts, measured, payloads, golds, reading)


def reduce(
    records: Sequence[Record],
    measures: Mapping[str, str],
    families: Mapping[str, int],
    own_families: Sequence[str] = (),
) -> dict[str, Any]:
    """Return one document's values, None where unscored."""
    return document_metrics(records, measures, families, own_families)


def score(values: Sequence[Mapping[str, Any]], measures: Mapping[str, str]) -> TaskScores:
    """Return the axes, ``sago``, ``sago_core`` and ``sago_text`` of a task, with standard errors."""
    return task_scores(values, measures)
