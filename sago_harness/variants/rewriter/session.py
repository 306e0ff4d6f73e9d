"""The rewriter of this process: a writer, its cache, or both."""

from __future__ import annotations

import functools
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sago_harness.errors import SagoError, unknown
from sago_harness.variants.base import Refused
from sago_harness.variants.phrases import table_hash
from sago_harness.variants.rewriter.cache import Cache, Written, cache_key
from sago_harness.variants.rewriter.prompts import prompt_version
from sago_harness.variants.rewriter.settings import RewriterSettings
from sago_harness.variants.rewriter.writer import NoText, Writer, make_writer

_FROM_CACHE = "cache:"
_ACTIVE: list[Session] = []


class Session:
    """Gives answers: from the cache where it has them, else from the writer.

    Parameters
    ----------
    settings : RewriterSettings

    Raises
    ------
    SagoError
        If the cache or the writer's name cannot be read, or the cache alone does not say whose
        answers are meant.
    """

    def __init__(self, settings: RewriterSettings) -> None:
        self.settings = settings
        #: How often each outcome was seen: "accepted", or why a try was rejected.
        self.counts: Counter[str] = Counter()
        self._cache = Cache(settings.cache) if settings.cache is not None else None
        self._writer: Writer | None = None
        self._given = ""
        makers = _read_makers(self._cache) if self._cache is not None else []
        if settings.writer.startswith(_FROM_CACHE):
            identity = settings.writer.removeprefix(_FROM_CACHE)
            known = [str(maker["writer"]) for maker in makers]
            if identity not in known:
                raise unknown("writer", identity, known, f"rewriter cache {settings.cache}")
            self._given = self._maker_of(identity)
        elif settings.writer:
            self._writer = make_writer(settings.writer)
        else:
            self._given = self._only_maker(makers)

    @functools.cached_property
    def maker(self) -> str:
        """Writer, prompt version and sampling as JSON; a part of every key."""
        return self._maker_of(self._writer.identity) if self._writer else self._given

    def describe(self) -> dict[str, Any]:
        """Return what a pack's manifest says of the rewriter."""
        return {
            **json.loads(self.maker),
            "prompts_sha256": table_hash("rewriter"),
            "retries": self.settings.retries,
        }

    def answer(self, messages: list[dict[str, str]], base: int, attempt: int) -> tuple[Written, str]:
        """Return an answer, and its key if it is new.

        Parameters
        ----------
        messages : list of dict
        base : int
            Where the seeds of a variant's tries come from.
        attempt : int
            Counted from 0.

        Raises
        ------
        Refused
            If there is no writer and the cache has no such answer.
        SagoError
            If the writer fails.
        """
        digest = hashlib.sha256(f"{base}|{attempt}".encode()).digest()
        seed = int.from_bytes(digest[:4], "big") >> 1
        key = cache_key(self.maker, messages, seed, attempt)
        found = self._cache.get(key) if self._cache is not None else None
        if found is not None:
            return found, ""
        if self._writer is None:
            raise Refused("no rewriter and not in its cache")
        chosen = self.settings
        try:
            written = Written(
                self._writer.write(messages, seed, chosen.max_tokens, chosen.temperature, chosen.top_p)
            )
        except NoText as error:
            written = Written(None, str(error) or "no text")
        return (self._cache.put(key, written, self.maker) if self._cache is not None else written), key

    def reject(self, key: str, reason: str) -> None:
        """Count a rejected try, and note it in the cache if its answer is new."""
        self.counts[reason] += 1
        if key and self._cache is not None:
            self._cache.reject(key, reason)

    def _maker_of(self, identity: str) -> str:
        maker = {
            "writer": identity,
            "prompts": prompt_version(),
            "temperature": float(self.settings.temperature),
            "top_p": float(self.settings.top_p),
            "max_tokens": self.settings.max_tokens,
        }
        return json.dumps(maker, sort_keys=True)

    def _only_maker(self, makers: list[dict[str, Any]]) -> str:
        current = [maker for maker in makers if maker["prompts"] == prompt_version()]
        if len(current) == 1:
            return json.dumps(current[0], sort_keys=True)
        where = f"rewriter cache {self.settings.cache}"
        if not makers:
            raise SagoError(f"{where} holds nothing: name a model with --rewriter to fill it")
        if not current:
            raise SagoError(
                f"{where} was made with other prompts than version {prompt_version()}: fill it anew"
            )
        who = ", ".join(
            f"{maker['writer']} at temperature {maker['temperature']:g}, top_p {maker['top_p']:g}"
            for maker in current
        )
        raise SagoError(
            f"{where} holds answers of several writers ({who}): name one with --rewriter cache:NAME"
        )


def _read_makers(cache: Cache) -> list[dict[str, Any]]:
    """Read who wrote a cache; a file from elsewhere may say anything."""
    known = {"writer": str, "prompts": int, "temperature": float, "top_p": float, "max_tokens": int}
    makers = []
    for text in cache.makers:
        try:
            maker = json.loads(text)
        except (ValueError, RecursionError):
            maker = None
        if (
            not isinstance(maker, dict)
            or maker.keys() != known.keys()
            or any(type(maker[key]) is not kind for key, kind in known.items())
        ):
            raise SagoError(f"rewriter cache {cache.path} does not say who wrote it: make it anew")
        makers.append(maker)
    return makers


@contextmanager
def use_rewriter(settings: RewriterSettings | None) -> Iterator[Session | None]:
    """Set the rewriter of this process while the block runs; None sets none.

    Parameters
    ----------
    settings : RewriterSettings or None
        As :func:`~sago_harness.variants.rewriter.settings.settings_from` returns it.

    Examples
    --------
    >>> with use_rewriter(RewriterSettings("https://example.org/v1,model=m")):
    ...     describe()["writer"]
    'endpoint:https://example.org/v1#m'
    >>> describe()
    {}
    """
    if settings is None:
        yield None
        return
    session = Session(settings)
    _ACTIVE.append(session)
    try:
        yield session
    finally:
        _ACTIVE.remove(session)


def active() -> Session:
    """Return the rewriter in use.

    Raises
    ------
    Refused
        If there is none.
    """
    if not _ACTIVE:
        raise Refused("no rewriter")
    return _ACTIVE[-1]


def describe() -> dict[str, Any]:
    """Return the writer's identity, prompt version, sampling and retries; {} where none is in use."""
    return _ACTIVE[-1].describe() if _ACTIVE else {}
