"""Bundles of documents: what is computed together, and goes to one process.

Rounding depends on what shares a batch. So batches are formed inside a bundle only, and
bundles depend on the documents evaluated and on nothing else: one process or several, a
run in one go or one taken up again, give the same numbers to the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sago_harness.documents.identity import hash_order

#: Documents of a bundle on a processor, and where an accelerator wants fuller batches.
ON_CPU, ON_ACCELERATOR = 8, 32


def bundle_documents(names: Sequence[str], seed: int, most: int, processes: int = 1) -> dict[str, int]:
    """Put documents into bundles, in the order in which they are each other's chance controls.

    Neighbours in that order share a bundle, so that most controls are computed already.

    Parameters
    ----------
    names : sequence of str
        Ids of the documents evaluated, on all ranks.
    seed : int
        That of the chance controls.
    most : int
        Documents of a bundle; half of the documents where there are fewer than two bundles'
        worth, so that two processes share them as one would compute them.
    processes : int
        At least as many bundles are made; only here do bundles depend on how a run is launched.

    Returns
    -------
    dict of str to int
        Document -> its bundle, counted from 0.

    Examples
    --------
    >>> sorted(bundle_documents(["a", "b", "c", "d", "e"], 1, 2).values())
    [0, 0, 1, 1, 2]
    >>> sorted(bundle_documents(["a", "b", "c", "d", "e"], 1, 8).values())
    [0, 0, 0, 1, 1]
    """
    count = len(names)
    size = most if count >= 2 * most else max(1, math.ceil(count / 2))
    if math.ceil(count / size) < processes:
        size = max(1, count // processes)
    return {names[index]: place // size for place, index in enumerate(hash_order(names, seed))}
