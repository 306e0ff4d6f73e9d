"""What a pair of texts is, and how pairs are split into two halves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from sago_harness.errors import SagoError


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts that say the same, or look alike and do not.

    Attributes
    ----------
    canonical, other : str
    equivalent : bool
        Whether people meant the same by both.
    source : str
        ``"typed"``, ``"spoken"``, ``"disfluent"``, ``"pattern"``, ``"translation"`` or where the
        canonical text of a changed pair comes from.
    kind : str
        ``"human"`` for an equivalent pair, else what was changed: ``"number"``, ``"name"``,
        ``"negation"``, ``"unit"``, ``"comparison"``, ``"quantifier"``, ``"word"``,
        ``"other-question"``, ``"other-fact"``.
    operator : str
        The operator that made the change, ``""`` where people wrote both texts.
    cluster : str
        Paragraph, fact or problem; a cluster is never in both halves.
    language : str
        ISO 639-1 code of the other text.
    """

    canonical: str
    other: str
    equivalent: bool
    source: str
    kind: str
    operator: str
    cluster: str
    language: str = "en"

    @property
    def half(self) -> str:
        """``"fit"`` or ``"test"``, by a hash of the cluster alone."""
        return "fit" if hashlib.sha256(self.cluster.encode()).digest()[0] % 2 == 0 else "test"


def sample_clusters(pairs: Iterable[Pair], limit: int, seed: int) -> list[Pair]:
    """Return the pairs of at most ``limit`` clusters of each source, chosen by a seeded hash.

    Parameters
    ----------
    pairs : iterable of Pair
    limit : int
        0 takes all.
    seed : int

    Raises
    ------
    SagoError
        If the limit is negative.
    """
    listed = list(pairs)
    if limit < 0:
        raise SagoError(f"--sample {limit}: give 0 for all clusters, or how many of each source")
    if not limit:
        return listed
    chosen: set[tuple[str, str]] = set()
    for source in sorted({pair.source for pair in listed}):
        clusters = sorted({pair.cluster for pair in listed if pair.source == source})
        clusters.sort(key=lambda cluster: hashlib.sha256(f"{seed}\0{cluster}".encode()).digest())
        chosen |= {(source, cluster) for cluster in clusters[:limit]}
    return [pair for pair in listed if (pair.source, pair.cluster) in chosen]
