"""Names for documents, and orders that depend on the names alone.

A position changes its meaning with every subset; a name does not. Everything that is
random is ordered by hash(seed, name), so that subsets, ranks and machines agree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def content_id(values: Iterable[Any]) -> str:
    """Return the first 16 hex digits of the sha256 over a document's declared fields.

    Examples
    --------
    >>> content_id(["What is ice?"]) == content_id(["What is ice?"])
    True
    """
    text = "\x1f".join("" if value is None else str(value) for value in values)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def name_rows(
    rows: Sequence[Mapping[str, Any]], fields: Sequence[str], id_field: str | None = None
) -> list[str]:
    """Return an id for every row, in split order; a duplicate gets ``#2``, ``#3`` ...

    Parameters
    ----------
    rows : sequence of mapping
    fields : sequence of str
        Declared fields, hashed where there is no id.
    id_field : str or None
        The task's own id; a row that lacks it falls back on the hash.

    Examples
    --------
    >>> name_rows([{"id": 7}, {"id": 7}, {"id": 8}], ["q"], "id")
    ['7', '7#2', '8']
    """
    bases = []
    for row in rows:
        own = row.get(id_field) if id_field else None
        bases.append(str(own) if own not in (None, "") else content_id(row.get(field) for field in fields))
    taken = set(bases)
    last: dict[str, int] = {}
    names = []
    for base in bases:
        number = last.get(base, 0) + 1
        # Another row may be called `a#2` by its own id.
        while number > 1 and f"{base}#{number}" in taken:
            number += 1
        last[base] = number
        names.append(base if number == 1 else f"{base}#{number}")
    return names


def hash_order(names: Sequence[str], seed: int) -> list[int]:
    """Return positions in the order of sha256(seed, name).

    Examples
    --------
    >>> sorted(hash_order(["a", "b", "c"], 1))
    [0, 1, 2]
    """

    def rank(index: int) -> str:
        return hashlib.sha256(f"{seed}|{names[index]}".encode("utf-8", "surrogatepass")).hexdigest()

    return sorted(range(len(names)), key=rank)


def choose(names: Sequence[str], count: int | None, seed: int) -> list[int]:
    """Return the positions of ``count`` documents, drawn by hash order, in split order.

    A larger count only adds documents.

    Examples
    --------
    >>> set(choose(["a", "b", "c", "d"], 2, 5)) <= set(choose(["a", "b", "c", "d"], 3, 5))
    True
    """
    if count is None or count >= len(names):
        return list(range(len(names)))
    return sorted(hash_order(names, seed)[:count])


def partners(
    names: Sequence[str], texts: Sequence[str], clusters: Sequence[str | None], k: int, seed: int
) -> dict[str, list[str]]:
    """Return, for each document, whose canonical prompts are its chance controls.

    The next ones in the order of hash(seed, name), round the end; equal texts and a shared
    cluster are skipped.

    Parameters
    ----------
    names, texts, clusters : sequences of length N
        Ids, varied spans and clusters of the documents evaluated, on all ranks. A document
        with an empty text neither has nor is a partner.
    k : int
        Controls a document.
    seed : int

    Returns
    -------
    dict of str to list of str
        At most ``k`` names each; fewer where there are no more.

    Examples
    --------
    >>> partners(["a", "b"], ["x", "y"], [None, None], 2, 0)
    {'a': ['b'], 'b': ['a']}
    """
    order = [index for index in hash_order(names, seed) if texts[index].strip()]
    found: dict[str, list[str]] = {name: [] for name in names}
    for place, index in enumerate(order):
        taken = {texts[index]}
        for step in range(1, len(order)):
            other = order[(place + step) % len(order)]
            if len(found[names[index]]) == k:
                break
            same_cluster = clusters[index] is not None and clusters[index] == clusters[other]
            if texts[other] in taken or same_cluster:
                continue
            taken.add(texts[other])
            found[names[index]].append(names[other])
    return found
