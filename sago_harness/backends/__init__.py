"""Backends: who answers the prompts. ``adapt`` picks one for a model of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sago_harness.registry import Table

if TYPE_CHECKING:
    from sago_harness.backends.base import Backend

BACKENDS: Table[Any] = Table(
    "backends",
    "backend",
    {
        "hf": "sago_harness.backends.hf:HFBackend",
        "text": "sago_harness.backends.text:TextBackend",
    },
)


def adapt(lm: Any) -> Backend:
    """Return the backend for one of the host's models.

    A Hugging Face model (stock ``hf`` or ``sago-hf``) gives all signals, weights shared;
    any other model that can generate gives text. A third-party backend in the table says
    with a class method ``accepts(lm)`` whether a model is its own, and is asked first.
    """
    for name in sorted(set(BACKENDS) - {"hf", "text"}):
        backend = BACKENDS.load(name)
        if backend.accepts(lm):
            return backend(lm)  # type: ignore[no-any-return]
    name = "hf" if BACKENDS.load("hf").accepts(lm) else "text"
    return BACKENDS.load(name)(lm)  # type: ignore[no-any-return]
