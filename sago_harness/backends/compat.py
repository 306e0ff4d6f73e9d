"""What differs between the supported versions of transformers."""

from __future__ import annotations

import inspect
from typing import Any


def cache_argument(model: Any) -> str:
    """Return what a model's ``forward`` calls its cache: ``cache``, before 5.x ``past_key_values``.

    Parameters
    ----------
    model : Module
    """
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
