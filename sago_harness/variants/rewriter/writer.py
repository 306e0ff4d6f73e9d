"""What a writer is: a language model that answers one chat, the same way every time."""

from __future__ import annotations

import abc

from sago_harness.errors import SagoError
from sago_harness.registry import Table

_HERE = "sago_harness.variants.rewriter"


class NoText(Exception):
    """A call gave no text that could be used; ``str(error)`` is the short reason."""


class Writer(abc.ABC):
    """Answers a chat.

    Parameters
    ----------
    spec : str
        What follows the writer's name in ``--rewriter``. Nothing is loaded or called yet.
    """

    @abc.abstractmethod
    def __init__(self, spec: str) -> None: ...

    @property
    @abc.abstractmethod
    def identity(self) -> str:
        """What identifies the model, without secrets or machine paths: a part of every cache key."""

    @abc.abstractmethod
    def write(
        self, messages: list[dict[str, str]], seed: int, max_tokens: int, temperature: float, top_p: float
    ) -> str:
        """Return the answer.

        Parameters
        ----------
        messages : list of dict
            ``{"role": "user", "content": ...}``.
        seed : int
            0 .. 2**31 - 1. The same call gives the same text, as far as the model allows it.
        max_tokens : int
            Longest answer.
        temperature : float
            0 takes the likeliest token each time.
        top_p : float
            Share of the probability that is sampled from.

        Raises
        ------
        NoText
            If this answer is of no use, such as one cut at ``max_tokens``.
        SagoError
            If no answer can be had at all.
        """


#: Name -> class. The name stands before a colon in ``--rewriter``; it may be left out.
WRITERS: Table[type[Writer]] = Table(
    "writers",
    "writer",
    {
        "local": "sago_harness.backends.local_writer:LocalWriter",
        "endpoint": f"{_HERE}.endpoint:EndpointWriter",
        "host": "sago_harness.backends.writer:HostWriter",
    },
)


def make_writer(spec: str) -> Writer:
    """Return the writer that ``--rewriter`` names.

    Parameters
    ----------
    spec : str
        ``"smollm2"``, a folder or a hub id; ``"http..."`` with ``,model=NAME`` for an endpoint;
        ``"model=NAME,..."`` for a model of ``sago run``. A name of :data:`WRITERS` and a colon
        in front says which one is meant.

    Raises
    ------
    SagoError
        If the spec is empty or cannot be read.

    Examples
    --------
    >>> make_writer("http://localhost:8000/v1,model=small").identity
    'endpoint:http://localhost:8000/v1#small'
    """
    spec = spec.strip()
    if not spec:
        raise SagoError("--rewriter is empty: name a model, such as smollm2, or an endpoint")
    name, colon, rest = spec.partition(":")
    if colon and name in WRITERS:
        return WRITERS.load(name)(rest)
    if spec.startswith(("http://", "https://")):
        return WRITERS.load("endpoint")(spec)
    return WRITERS.load("host" if spec.startswith("model=") else "local")(spec)
