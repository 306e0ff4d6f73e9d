"""What is said of a task's run beside its table: coverage, stock answers, what is unscored."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sago_harness import pipeline
from sago_harness.axes.representation.dataset import Comparison, missing_states
from sago_harness.data import VariantSet
from sago_harness.logs import warn_once
from sago_harness.scores.composite import TaskScores, stock_documents
from sago_harness.scores.document import HEALTH_FLAGS
from sago_harness.scores.profile import LayerProfile

log = logging.getLogger(__name__)

#: Under this share of scored documents a warning is given.
COVERAGE_LIMIT = 0.8

#: A sampling run with fewer canonical repeats says nothing about its own noise.
LEAST_REPEATS = 3

#: Above this share of stock answers a model's score must not be ranked.
STOCK_LIMIT = 0.1

#: Reasons of refused variants that one line names.
_MOST_REASONS = 3

#: What a reason of a task's score means.
REASONS = {
    "rigid": "the model answers different questions alike",
    "chance_near_noise": "repeating the prompt moves it nearly as far as another question does",
    "no_document_with_chance": "no document has both a value and a chance control",
    "no_scored_document": "no document was scored",
}


def say_partners(task: str, found: Sequence[int], controls: int) -> None:
    """Warn where documents have fewer chance controls than asked for.

    Parameters
    ----------
    task : str
    found : sequence of int
        Partners of each document that can be varied.
    controls : int
    """
    short = sum(count < controls for count in found)
    if short:
        log.warning(
            "[%s] %d of %d documents have fewer than %d chance controls: "
            "too few other documents to take them from",
            task,
            short,
            len(found),
            controls,
        )


def say_sampling(generation: Mapping[str, Any], repeats: int) -> None:
    """Warn, once, of a sampling run that cannot tell its own noise."""
    if generation.get("do_sample") and repeats < LEAST_REPEATS:
        warn_once(
            f"sampling moves responses by itself: ask for canonical_repeats={LEAST_REPEATS} or more in "
            "--metadata, and rank only what is left over that noise"
        )


def say_rejects(task: str, sets: Iterable[VariantSet]) -> None:
    """Log how many variants could not be made or were not let through, with the most frequent reasons.

    What is missing on this machine is a warning: with it the run would have other variants.

    Parameters
    ----------
    task : str
    sets : iterable of VariantSet
    """
    made = 0
    reasons: Counter[str] = Counter()
    for variants in sets:
        made += len(variants.variants) - 1
        reasons.update(reject.reason for reject in variants.rejects)
    if not reasons:
        return
    most = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))[:_MOST_REASONS]
    said = ", ".join(f"{reason} ({count})" for reason, count in most)
    log.info("[%s] %d variants made, %d refused: %s", task, made, reasons.total(), said)
    for reason, count in sorted(reasons.items()):
        if reason.startswith("missing "):
            remedy = "`sago variants build` says how to get it"
            log.warning("[%s] %d variants left out: %s (%s)", task, count, reason, remedy)


def say_coverage(task: str, column: str, items: Sequence[Any]) -> None:
    """Log how many documents a measure could score, if not all."""
    scored = sum(item is not None for item in items)
    if scored < len(items):
        level = logging.WARNING if scored < COVERAGE_LIMIT * len(items) else logging.INFO
        log.log(level, "[%s] %s: %d of %d documents scored", task, column, scored, len(items))


def say_compared(task: str, compared: Mapping[str, Comparison]) -> None:
    """Log which measures over the data set are unscored, and why."""
    for name, of in compared.items():
        if of.value.reason:
            log.info("[%s] %s: unscored: %s (%d documents)", task, name, of.value.reason, of.value.n)


def say_health(
    task: str, items: Sequence[Mapping[str, Any]], scores: TaskScores, measures: Mapping[str, str]
) -> None:
    """Say how the canonical responses look, and warn of what makes a score not to be believed."""
    counts = ", ".join(f"{flag} {share * len(items):.0f}" for flag, share in health_shares(items).items())
    log.info("[%s] canonical responses of %d documents: %s", task, len(items), counts)
    if scores.stock_share > STOCK_LIMIT:
        stock = stock_documents([item["response"] for item in items])
        rest = [item for item, mark in zip(items, stock, strict=True) if not mark]
        others = f" sago over the other {len(rest)}: {pipeline.score(rest, measures).sago}" if rest else ""
        log.warning(
            "[%s] %d of %d documents have a stock answer (empty, or the same as another document's): "
            "the score is not to be ranked.%s",
            task,
            sum(stock),
            len(items),
            others,
        )
    for measure, estimate in scores.relative.items():
        if not math.isfinite(estimate.value):
            why = REASONS.get(estimate.reason, "")
            log.warning(
                "[%s] %s has no value relative to chance, and so has every score made of it: %s%s",
                task,
                measure,
                estimate.reason,
                f" ({why})" if why else "",
            )


def health_shares(items: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the shares of documents whose canonical response is empty, short, cut off or a refusal.

    Examples
    --------
    >>> health_shares([{"flags": ["short"]}, {"flags": []}])["short"]
    0.5
    """
    total = max(1, len(items))
    return {flag: sum(flag in item["flags"] for item in items) / total for flag in HEALTH_FLAGS}


def results_of(
    scores: TaskScores | None,
    health: Mapping[str, float],
    own: Mapping[str, TaskScores],
    profiles: Mapping[str, LayerProfile],
) -> dict[str, Any]:
    """Return what the results file holds beside the columns: r of each measure and layer, noise, health.

    Parameters
    ----------
    scores : TaskScores or None
        None where the recipe has no variants that form a score.
    health : mapping of str to float
    own : mapping of str to TaskScores
        Family beside the score -> its scores.
    profiles : mapping of str to LayerProfile
        Layer profiles, ``""`` for the score's own.
    """
    first = scores or next(iter(own.values()))
    results = {
        "relative": _relative(scores) if scores else {},
        "noise": {name: {"floor": floor, "excess": over} for name, (floor, over) in first.noise.items()},
        "health": {**health, "stock": first.stock_share},
    }
    if "" in profiles:
        results["layers"] = profiles[""].as_dict()
    if own:
        results["beside"] = {family: _relative(of) for family, of in own.items()}
        results["layers_beside"] = {family: profiles[family].as_dict() for family in own}
    return results


def representation_of(
    compared: Mapping[str, Comparison], asked: int, items: Sequence[Mapping[str, Any] | None]
) -> dict[str, Any]:
    """Return what the results file holds of the measures over the data set.

    Parameters
    ----------
    compared : mapping of str to Comparison
    asked : int
        Documents whose states were asked for.
    items : sequence of (mapping or None)
        What the documents handed over.
    """
    found: dict[str, Any] = {"documents": asked, "missing": missing_states(items)}
    for name, of in compared.items():
        found[name] = {
            **asdict(of.value),
            "families": {
                family: {**asdict(level), "variants": of.variants[family]}
                for family, level in of.families.items()
            },
            "too_few": of.too_few,
            "layers": [
                {
                    "layer": layer,
                    **asdict(level),
                    "families": {
                        family: {"value": levels[layer].value, "stderr": levels[layer].stderr}
                        for family, levels in of.family_layers.items()
                    },
                }
                for layer, level in enumerate(of.layers)
            ],
        }
    return found


def _relative(scores: TaskScores) -> dict[str, Any]:
    return {
        name: {"r": e.value, "stderr": e.stderr, "n": e.n, "reason": e.reason}
        for name, e in scores.relative.items()
    }
