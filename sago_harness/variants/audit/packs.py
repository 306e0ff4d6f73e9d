"""Runs the audit of a pack: what was made and refused, and what the checks say of it."""

from __future__ import annotations

import hashlib
import heapq
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from sago_harness.data import CANONICAL, VariantSet
from sago_harness.variants.audit.checker import LANGUAGES, Checker, load_checker
from sago_harness.variants.audit.profile import Profile, divergence, make_profile
from sago_harness.variants.audit.report import markdown, share

#: Texts whose edits are traced for a profile, at most.
_TRACED = 200
_QUANTILES = (0, 0.05, 0.5, 0.95, 1)


class _Tally:
    """What is counted of one operator."""

    def __init__(self) -> None:
        self.family = ""
        self.made = 0
        self.reasons: Counter[str] = Counter()
        self.checks: dict[str, list[float]] = defaultdict(list)
        self.judged = 0
        self.doubted: Counter[str] = Counter()
        self.pairs: list[tuple[str, str]] = []
        #: Texts to be judged where not all are: a heap, the last document of the draw on top.
        self.drawn: list[tuple[int, str, str, str]] = []

    def judge(self, checker: Checker, canonical: str, text: str) -> None:
        """Count what the equivalence check says of a text."""
        self.judged += 1
        same, _, against = checker.judge(canonical, text)
        if not same:
            self.doubted[against] += 1


def pack_figures(
    sets: Iterable[VariantSet], human: Profile | None, seed: int, sample: int = 0
) -> list[dict[str, Any]]:
    """Return a row for every operator of a pack, read once.

    Parameters
    ----------
    sets : iterable of VariantSet
    human : Profile or None
        What people typed, to set noise beside.
    seed : int
    sample : int
        At most so many texts of each operator go through the equivalence check, those of the
        first documents in a seeded order; 0 = all.
    """
    checker = load_checker()
    tallies: dict[str, _Tally] = defaultdict(_Tally)
    rng = random.Random(seed)
    for made in sets:
        canonical = made.document.text
        for variant in made.variants:
            if variant.id == CANONICAL:
                continue
            tally = tallies[variant.operator]
            tally.family = variant.family
            tally.made += 1
            for name, value in variant.checks.items():
                if value is not None:
                    tally.checks[name].append(value)
            readable = made.document.language in LANGUAGES and variant.family != "language"
            if readable and not sample:
                tally.judge(checker, canonical, variant.text)
            elif readable:
                # The sign puts the document that comes last in the order on top.
                drawn = (-_place(seed, made.document.id), variant.id, canonical, variant.text)
                push = heapq.heappush if len(tally.drawn) < sample else heapq.heappushpop
                push(tally.drawn, drawn)
            _keep_some(tally, (canonical, variant.text), rng)
        for reject in made.rejects:
            tallies[reject.operator].family = reject.family
            tallies[reject.operator].reasons[reject.reason] += 1
    for tally in tallies.values():
        for _, _, canonical, text in sorted(tally.drawn):
            tally.judge(checker, canonical, text)
    return [_row(name, tallies[name], human) for name in sorted(tallies)]


def _place(seed: int, document: str) -> int:
    """Return a document's place in an order that follows from the seed, not from the ids' order."""
    digest = hashlib.sha256(f"{seed}\0{document}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big")


def _keep_some(tally: _Tally, pair: tuple[str, str], rng: random.Random) -> None:
    """Hold a fair sample of the pairs, however many come."""
    if len(tally.pairs) < _TRACED:
        tally.pairs.append(pair)
    elif (at := rng.randrange(tally.made)) < _TRACED:
        tally.pairs[at] = pair


def _row(name: str, tally: _Tally, human: Profile | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "operator": name,
        "family": tally.family,
        "made": tally.made,
        "refused": tally.reasons.total(),
        "reasons": dict(sorted(tally.reasons.items(), key=lambda item: (-item[1], item[0]))),
        "checks": {
            check: [float(value) for value in np.quantile(values, _QUANTILES)]
            for check, values in sorted(tally.checks.items())
        },
        "judged": tally.judged,
        "doubted": tally.doubted.total() / tally.judged if tally.judged else None,
        "doubted for": dict(sorted(tally.doubted.items(), key=lambda item: (-item[1], item[0]))),
    }
    if tally.family == "noise" and tally.pairs:
        profile = make_profile(tally.pairs)
        row["profile"] = asdict(profile)
        if human is not None and human.n:
            row["kinds from typed"] = divergence(profile.kinds, human.kinds)
    return row


def pack_report(rows: Sequence[dict[str, Any]], title: str) -> str:
    """Return the rows as Markdown."""
    table: list[Sequence[str]] = [
        (
            "operator",
            "family",
            "made",
            "refused",
            "most frequent reason",
            "equivalence would refuse",
            "mostly for",
            "kinds of edits, from typed",
        )
    ]
    for row in rows:
        reason = next(iter(row["reasons"].items()), None)
        against = next(iter(row["doubted for"]), "")
        table.append(
            (
                row["operator"] or "(the document's own)",
                row["family"],
                str(row["made"]),
                str(row["refused"]),
                f"{reason[0]} ({reason[1]})" if reason else "",
                share(row["doubted"]),
                against,
                share(row.get("kinds from typed"), 2),
            )
        )
    checks: list[Sequence[str]] = [("operator", "constraint", "least", "5 %", "median", "95 %", "most")]
    checks += [
        (row["operator"], name, *(f"{value:.3g}" for value in values))
        for row in rows
        for name, values in row["checks"].items()
    ]
    parts = [f"# Audit of {title}", markdown(table, 0), "## Values of the constraints", markdown(checks, 5)]
    return "\n\n".join(parts) + "\n"
