"""What differs between the versions of transformers that are supported (4.56 to 5)."""

from __future__ import annotations

import inspect
from typing import Any

_CACHE_NAMES = ("cache", "past_key_values", "cache_params")
"""What ``forward`` calls its cache: first the name of 5.24 (the old ones warn there and end with
5.40), then that of older versions, then Mamba's in older versions."""


def cache_argument(model: Any) -> str:
    """Return the name under which a model's ``forward`` takes the cache.

    Read from the signature, not from the version: models whose code comes from elsewhere may
    keep the old name.

    Parameters
    ----------
    model : PreTrainedModel
        Under an adapter, the base model.

    Returns
    -------
    str
        ``"cache"``, ``"past_key_values"`` or ``"cache_params"``.

    Raises
    ------
    ValueError
        The model takes no cache.

    Examples
    --------
    >>> class Older:
    ...     def forward(self, input_ids, past_key_values=None): ...
    >>> cache_argument(Older())
    'past_key_values'
    """
    parameters = inspect.signature(model.forward).parameters
    for name in _CACHE_NAMES:
        if name in parameters:
            return name
    raise ValueError(f"{type(model).__name__}.forward takes no cache")
