"""Turns any value into strict JSON types: numbers stay numbers, missing ones become null."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Set
from typing import Any

import numpy as np


def json_safe(value: Any) -> Any:
    """Return ``value`` made of dict, list, str, int, float, bool and None only.

    Parameters
    ----------
    value : object
        Arrays and tensors become lists, NumPy scalars numbers, sets sorted lists, NaN and
        infinities None, lone surrogates U+FFFD, anything else its ``str``.

    Returns
    -------
    object

    Examples
    --------
    >>> json_safe({"a": np.float32([1, np.nan]), "b": np.int64(3), "c": np.bool_(True), "d": {2, 1}})
    {'a': [1.0, None], 'b': 3, 'c': True, 'd': [1, 2]}
    """
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return clean_text(str(value))
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {clean_text(str(key)): json_safe(item) for key, item in value.items()}
    if isinstance(value, Set):
        return [json_safe(item) for item in sorted(value, key=lambda item: (type(item).__name__, str(item)))]
    if isinstance(value, list | tuple):
        return [json_safe(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return json_safe(dataclasses.asdict(value))
    if hasattr(value, "tolist"):
        return json_safe(value.tolist())
    return clean_text(str(value))


def clean_text(text: str) -> str:
    r"""Replace lone surrogates, which no UTF-8 file can hold, by U+FFFD.

    Examples
    --------
    >>> clean_text("a\ud800b") == "a\ufffdb"
    True
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def dumps(value: Any) -> str:
    """Return one line of strict JSON.

    Examples
    --------
    >>> dumps({"x": float("nan"), "y": "é"})
    '{"x":null,"y":"é"}'
    """
    return json.dumps(json_safe(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
