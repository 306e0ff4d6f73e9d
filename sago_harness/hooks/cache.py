"""What a run keeps under ``--use_cache PATH``: responses with their numbers, in ``PATH.sago.sqlite``.

The host's own cache knows stock requests only, and no model. Here a request is found again
by everything that its numbers depend on: the model and its weights, its own prompt and its
document's canonical one as token ids, generation arguments, role, repeat, what is wanted,
and the versions of the measures. A run that was killed takes up where it stood.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval.api.model import LM

from sago_harness.axes import MEASURES
from sago_harness.backends.base import Backend
from sago_harness.backends.identity import Unidentified, model_identity
from sago_harness.backends.store import Entry, Store
from sago_harness.data import Prompt, Response, Wanted
from sago_harness.logs import warn_once

log = logging.getLogger(__name__)

#: Raised when texts, signals or numbers change in a way that no measure's version tells.
ANSWERS = 2

#: Reasons that may be gone the next time; under any other, a signal is missing for good.
PASSING = frozenset({"no_response"})


#: Marks an entry that says where the first tokens of its text end, or that this cannot be known.
HEAD = "head"


@dataclass(frozen=True, slots=True)
class Asked:
    """A document's requests as they are looked up: its own key, and one for each request."""

    document: str
    keys: tuple[str, ...]
    signals: frozenset[str]


class Kept:
    """Finds and keeps documents; without a store it finds nothing and keeps nothing."""

    def __init__(self, store: Store | None, backend: Backend, model: str) -> None:
        self._store = store
        self._backend = backend
        self._common = [ANSWERS, model, measure_versions()]

    def asked(self, name: str, prompts: Sequence[Prompt], wanted: Wanted) -> Asked | None:
        """Return what a document is looked up by.

        Parameters
        ----------
        name : str
            The document's; two documents that say the same keep numbers of their own.
        prompts : sequence of Prompt
            The canonical one first.
        wanted : Wanted
        """
        if self._store is None:
            return None
        found = [self._backend.identify(prompt, wanted) for prompt in prompts]
        about = [*self._common, wanted.pooling, wanted.layers, wanted.seed, found[0]]
        seen: dict[str, int] = {}
        keys = []
        for prompt, identity in zip(prompts, found, strict=True):
            key = _hash([*about, identity, dict(prompt.gen_kwargs), prompt.role, prompt.repeat])
            # Two variants may be the same token ids.
            seen[key] = seen.get(key, 0) + 1
            keys.append(key if seen[key] == 1 else f"{key}#{seen[key]}")
        signals = frozenset(self._backend.signals) | ({"vectors"} if wanted.vectors else set())
        # Where token ids are known it is asked for too; entries of before are found lacking and replaced.
        heads = {HEAD} if "own" in signals else set()
        return Asked(_hash([name, keys, sorted(signals)]), tuple(keys), signals | heads)

    def find(self, asked: Asked | None) -> list[Entry] | None:
        """Return a document's entries, None if any is missing or lacks a signal."""
        if self._store is None or asked is None:
            return None
        return self._store.get(asked.document, asked.keys, asked.signals)

    def add(self, documents: Iterable[tuple[Asked | None, Iterable[Entry]]]) -> None:
        """Keep a bundle's documents, all or none."""
        if self._store is not None:
            self._store.put(
                (asked.document, zip(asked.keys, entries, strict=True))
                for asked, entries in documents
                if asked is not None
            )

    def say(self, found: int, requests: int) -> None:
        """Log how many responses are there."""
        if self._store is not None:
            log.info(
                "%s: %d of %d responses come from it, %d are to be computed",
                self._store.path,
                found,
                requests,
                requests - found,
            )


@contextmanager
def kept_responses(
    lm: LM, backend: Backend, path: str | None, described: Mapping[str, Any]
) -> Iterator[Kept]:
    """Open the cache of a run.

    Parameters
    ----------
    lm : LM
    backend : Backend
    path : str or None
        Of the host's own cache, ``PATH_rank0.db``; None without ``--use_cache``.
    described : mapping
        The backend's description of itself.

    Raises
    ------
    SagoError
        If the file is damaged, not ours, or cannot be written to.
    """
    if path is None:
        yield Kept(None, backend, "")
        return
    try:
        model = model_identity(lm, described)
    except Unidentified as error:
        warn_once(f"--use_cache: {error}, so that models cannot be told apart: sago responses are not kept")
        yield Kept(None, backend, "")
        return
    with Store(cache_file(path)) as store:
        yield Kept(store, backend, model)


def cache_file(host_path: str) -> Path:
    """Return the project's file for the host's: one for all processes.

    Examples
    --------
    >>> cache_file("runs/cache_rank0.db").as_posix()
    'runs/cache.sago.sqlite'
    """
    return Path(re.sub(r"_rank\d+\.db\Z", "", host_path) + ".sago.sqlite")


def entry_of(
    response: Response, text: str, numbers: Mapping[str, Any], wanted: Wanted, vectors: bytes | None
) -> Entry:
    """Return what is kept of a response.

    Parameters
    ----------
    response : Response
        Its arrays tell which signals it holds.
    text : str
        As it is handed to the host.
    numbers : mapping
        Of :func:`sago_harness.pipeline.condense`.
    wanted : Wanted
    vectors : bytes or None
    """
    there = {
        "text": True,
        "own": response.own_logprob is not None,
        "forced": response.forced_logprob is not None,
        "hidden": response.hidden is not None,
    }
    held = {
        signal
        for signal, present in there.items()
        if response.reasons.get(signal, "") not in PASSING and (present or response.reasons.get(signal))
    }
    if wanted.vectors and "hidden" in held:
        held.add("vectors")
    if "text" in held:
        held.add(HEAD)
    return Entry(text, dict(numbers), frozenset(held), vectors)


def measure_versions() -> dict[str, int]:
    """Return the versions of the measures that are computed where the model is.

    Examples
    --------
    >>> sorted(measure_versions())[:2]
    ['x_act', 'x_ent']
    """
    measures = {name: MEASURES.load(name) for name in MEASURES}
    return {name: m.version for name, m in measures.items() if m.requires != ("text",)}


def _hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()
