"""Generated noise beside human noise: the same questions, typed by people and by operators."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from sago_harness.variants.audit.pairs import Pair
from sago_harness.variants.audit.profile import Profile, divergence, make_profile
from sago_harness.variants.base import Refused
from sago_harness.variants.build import make_passage
from sago_harness.variants.needs import missing
from sago_harness.variants.operators import OPERATORS

#: Questions that each operator is tried on.
QUESTIONS = 200


def human_profiles(pairs: Iterable[Pair]) -> dict[str, Profile]:
    """Return the profiles of what people typed and of what was heard."""
    listed = [pair for pair in pairs if pair.equivalent]
    return {
        source: make_profile([(pair.canonical, pair.other) for pair in listed if pair.source == source])
        for source in ("typed", "spoken")
    }


def noise_figures(pairs: Sequence[Pair], seed: int) -> list[dict[str, Any]]:
    """Return the profile of every noise operator at each strength, with its distance from people's.

    Parameters
    ----------
    pairs : sequence of Pair
        Their canonical texts are varied.
    seed : int
    """
    human = human_profiles(pairs)
    rows = [_row(f"people, {source}", profile, human) for source, profile in human.items() if profile.n]
    texts = sorted({pair.canonical for pair in pairs if pair.source == "typed"})
    texts = random.Random(seed).sample(texts, min(QUESTIONS, len(texts)))
    passages = [make_passage(text) for text in texts]
    for name in sorted(OPERATORS):
        kind = OPERATORS.load(name)
        if kind.family != "noise" or "en" not in kind.languages or missing(kind.requires):
            continue
        operator = kind()
        made = []
        for passage in passages:
            try:
                made.append((passage.text, operator.apply(passage, random.Random(f"{seed} {passage.text}"))))
            except Refused:
                continue
        if made:
            rows.append(_row(operator.variant_id, make_profile(made), human))
    return rows


def _row(name: str, profile: Profile, human: dict[str, Profile]) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, **asdict(profile)}
    for source, other in human.items():
        row[f"kinds from {source}"] = divergence(profile.kinds, other.kinds)
        row[f"places from {source}"] = divergence(profile.places, other.places)
        row[f"words from {source}"] = divergence(profile.words_hit, other.words_hit)
    return row
